"""Examples of the documents and the docstrings: all of them run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import everlore

ROOT = Path(__file__).parents[2]
MODULES = [
    module.name for module in pkgutil.iter_modules(everlore.__path__, "everlore.") if not module.ispkg
]


@pytest.mark.parametrize("name", [name for name in MODULES if "__main__" not in name and "_native" not in name])
def test_docstrings_run(name):
    module = importlib.import_module(name)
    names = {"Memory": everlore.Memory, "AsyncMemory": everlore.AsyncMemory}
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    assert doctest.testmod(module, extraglobs=names, optionflags=flags).failed == 0


def test_the_module_docstring_runs():
    tried = doctest.testmod(everlore, extraglobs={"Memory": everlore.Memory})
    assert tried.failed == 0 and tried.attempted > 0


def snippets(path: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / path).read_text(), re.DOTALL)


CORE = [
    pytest.param(code, id=f"{path}:{index}")
    for path in ("README.md", "docs/python.md", "python/README.md")
    for index, code in enumerate(snippets(path))
    if "everlore.adapters" not in code
]


@pytest.mark.parametrize("code", CORE)
def test_snippets_run(code, server, monkeypatch, tmp_path):
    monkeypatch.setenv("EVERLORE_URL", server[0])
    monkeypatch.setenv("EVERLORE_KEY", server[1])
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "snippet", "exec"), {"__name__": "__main__"})


def test_there_are_snippets():
    assert len(CORE) >= 5
