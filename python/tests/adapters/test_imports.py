"""Adapters and their frameworks: an adapter brings its own one only, and its examples in the documents run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"


def examples(page: str) -> dict[str, str]:
    """Returns the examples of a page by the adapter that they use."""
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    return {re.search(r"everlore\.adapters\.(\w+)", code).group(1): code for code in blocks if "everlore.adapters" in code}


EXAMPLES = examples("python.md")
FRAMEWORKS = {
    "langgraph": "langgraph",
    "langchain": "langchain_core",
    "llama_index": "llama_index",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
    "crewai": "crewai",
}


def run(code: str, **options) -> str:
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, **options)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def test_the_package_brings_no_framework():
    names = ", ".join(map(repr, FRAMEWORKS.values()))
    assert run(f"import everlore, everlore.adapters, sys; print([n for n in ({names},) if n in sys.modules])") == "[]"


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_example_of_the_document_runs(name, tmp_path):
    run(EXAMPLES[name], cwd=tmp_path)


def test_the_recipe_of_the_cookbook_runs(tmp_path):
    run(examples("cookbook.md")["langgraph"], cwd=tmp_path)
