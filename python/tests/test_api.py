"""The shape of the package. Needs no extension module."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import everlore
from everlore import _calls, _client, _errors

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "crates" / "everlore-python" / "src"


def signatures(kind: type) -> dict[str, str]:
    members = inspect.getmembers(kind, inspect.isfunction)
    return {name: str(inspect.signature(member)) for name, member in members if not name.startswith("_")}


def test_sync_and_async_have_the_same_methods():
    assert signatures(everlore.MemoryApi) == signatures(everlore.AsyncMemoryApi)


def test_every_public_method_has_a_docstring():
    for kind in (everlore.MemoryApi, everlore.AsyncMemoryApi, everlore.Client, everlore.AsyncClient):
        missing = [name for name, member in inspect.getmembers(kind) if not name.startswith("_") and not member.__doc__]
        assert not missing, (kind, missing)


def test_stubs_name_what_the_module_has():
    stub = ast.parse((ROOT / "python/src/everlore/_native.pyi").read_text())
    declared = {node.name for node in ast.walk(stub) if isinstance(node, ast.FunctionDef)}
    sources = "".join(path.read_text() for path in NATIVE.glob("*.rs"))
    blocks = re.findall(r"#\[pymethods\]\nimpl \w+ \{\n(.*?)\n\}\n", sources, re.DOTALL)
    defined = {name for block in blocks for name in re.findall(r"\n    fn (\w+)", f"\n{block}")}
    assert declared == defined | set(re.findall(r"#\[pyfunction\]\n(?:#\[.*\]\n)*fn (\w+)", sources))


def test_every_operation_is_known_to_engine_and_server():
    operations = set(re.findall(r'^            "(\w+)" =>', (NATIVE / "operations.rs").read_text(), re.MULTILINE))
    called = set(re.findall(r'Call\("(\w+)"', inspect.getsource(_calls)))
    assert operations == called == set(_client._ROUTES)


def test_every_code_of_the_engine_has_an_error():
    codes = set(re.findall(r'=> "(\w+)",', (ROOT / "crates/everlore/src/error.rs").read_text()))
    assert {"not_found", "invalid", "conflict"} <= codes
    assert not codes - set(_errors._BY_CODE) - {"remote"}


def test_errors_say_what_to_do_and_can_be_pickled():
    import pickle

    error = everlore.NotFound("memory `7` not found", "list the memories", "not_found")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == "memory `7` not found: list the memories" and again.code == "not_found"
