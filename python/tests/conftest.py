"""What tests share: a server of the program under test, and a memory of each kind."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import everlore


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs tests that are coroutines."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


def everlore_program() -> str:
    """Returns the program: ``EVERLORE``, or the command beside this Python."""
    beside = Path(sys.executable).parent / "everlore"
    found = os.environ.get("EVERLORE") or (str(beside) if beside.exists() else shutil.which("everlore"))
    assert found, "set EVERLORE to the everlore program"
    return found


@pytest.fixture(autouse=True)
def _no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps tests away from the memory of whoever runs them."""
    for name in [name for name in os.environ if name.startswith("EVERLORE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("EVERLORE_HOME", str(tmp_path / "default-home"))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Runs a server and returns its address and the owner's token."""
    home = tmp_path_factory.mktemp("server")
    log = (home / "server.log").open("w")
    command = [everlore_program(), "--home", str(home), "serve", "--port", "0"]
    process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield wait_for_url(process, home), (home / "server.token").read_text().strip()
    finally:
        process.terminate()
        process.wait(30)
        log.close()


def wait_for_url(process: subprocess.Popen[bytes], home: Path) -> str:
    """Waits until the server has written its address and answers."""
    while process.poll() is None:
        try:
            url = f"http://{json.loads((home / 'server.json').read_text())['address']}"
            everlore.Client(url, (home / "server.token").read_text().strip()).list(limit=1)
            return url
        except (OSError, ValueError, everlore.Unavailable):
            time.sleep(0.05)
    raise AssertionError((home / "server.log").read_text())
