"""The ``everlore`` command, inside Python: one file holds the engine for both."""

from __future__ import annotations

import shutil
import signal
import sys

from ._native import run_command


def main() -> int:
    """Runs the command line of this process and returns its exit code."""
    # Ctrl-C ends the command or is its own affair; Python's handler would wait until it is done.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run_command([launcher(sys.argv[0]), *sys.argv[1:]])


def launcher(script: str) -> str:
    """Returns the path by which other programs start this command again; ``python -m everlore`` has no script."""
    if script.endswith("__main__.py"):
        return shutil.which("everlore") or script
    return script
