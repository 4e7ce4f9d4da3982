"""Checks a built wheel as a stranger would meet it: size, first use, all tests, and the adapters with the real frameworks.

    python3 check.py --wheels FOLDER --folder FOLDER [--bench]

Environments are made anew in ``--folder``, so nothing but the wheel can be what is tested.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

HERE = Path(__file__).parent
#: It has 29.8 MB, 16.8 of them the built-in models, which do not compress; the goal is 25 MB.
MAX_WHEEL_BYTES = 30_500_000
#: From the installed package's first command to a recalled memory; the installation counts too.
MAX_FIRST_USE_SECONDS = 10.0


def newest_wheel(folder: Path) -> Path:
    """Returns the newest wheel of a folder."""
    wheels = sorted(folder.glob("everlore-*.whl"), key=lambda wheel: wheel.stat().st_mtime)
    if not wheels:
        sys.exit(f"there is no wheel in {folder}: run `make wheel`")
    return wheels[-1]


def environment(folder: Path, *packages: str) -> Path:
    """Makes a clean environment with packages and returns its folder of programs."""
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    if packages:
        run(programs / "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return programs


def run(*command: str | Path, cwd: Path | None = None) -> None:
    """Runs a command and ends with its failure."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "EVERLORE")}
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=env)
    if done.returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}")


def check_size(wheel: Path) -> None:
    """Ends if the wheel is too large."""
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.1f} MB")
    if size > MAX_WHEEL_BYTES:
        sys.exit(f"the wheel may have at most {MAX_WHEEL_BYTES / 1e6:.0f} MB")


def check_first_use(wheel: Path, folder: Path) -> None:
    """Installs the wheel alone, saves and recalls with the command and with the package, and takes the time."""
    programs = environment(folder)
    with tempfile.TemporaryDirectory() as home:
        began = time.monotonic()
        run(programs / "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", wheel)
        installed = time.monotonic()
        run(programs / "everlore", "--home", home, "remember", "I'm allergic to peanuts")
        run(programs / "everlore", "--home", home, "recall", "am I allergic to anything?")
        used = time.monotonic()
    print(f"first use: installed in {installed - began:.1f} s, saved and recalled in {used - installed:.1f} s")
    if used - began > MAX_FIRST_USE_SECONDS:
        sys.exit(f"the first use may take at most {MAX_FIRST_USE_SECONDS:.0f} s")


def check_uvx(wheel: Path, programs: Path) -> None:
    """Runs the command as ``uvx everlore`` does, from the wheel and without a network."""
    with tempfile.TemporaryDirectory() as cache:
        uvx = [programs / "uv", "tool", "run", "--offline", "--cache-dir", cache, "--python", programs / "python"]
        run(*uvx, "--from", wheel, "everlore", "--version")


def check_tests(wheel: Path, folder: Path) -> None:
    """Runs all tests, the examples of the documents and the type checker."""
    programs = environment(folder, str(wheel), "--requirement", str(HERE / "requirements-test.txt"))
    run(programs / "pip", "check")
    check_uvx(wheel, programs)
    tests = [HERE / "tests"]
    run(programs / "python", "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=5", *tests, cwd=folder)
    with tempfile.TemporaryDirectory() as cache:
        run(programs / "python", "-m", "mypy", "--strict", "--cache-dir", cache, "-p", "everlore", cwd=folder)


def bench(wheel: Path, folder: Path) -> None:
    """Measures the wheel beside its server and other systems."""
    ours = environment(folder / "bench-everlore", str(wheel))
    peers = folder / "bench-peers"
    wanted = (HERE / "bench" / "requirements.txt").read_text()
    if not (peers / "ready").exists() or (peers / "ready").read_text() != wanted:
        environment(peers, "--requirement", str(HERE / "bench" / "requirements.txt"))
        (peers / "ready").write_text(wanted)
    script = HERE / "bench" / "run.py"
    run(ours / "python", "-B", script, "--everlore", ours / "python", "--peers", peers / "bin" / "python")


def main() -> None:
    """Checks the newest wheel, or measures it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, required=True, help="folder with the wheel")
    parser.add_argument("--folder", type=Path, required=True, help="folder for the environments")
    parser.add_argument("--bench", action="store_true", help="measure instead")
    args = parser.parse_args()
    wheel = newest_wheel(args.wheels.resolve())
    folder = args.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if args.bench:
        bench(wheel, folder)
        return
    check_size(wheel)
    check_first_use(wheel, folder / "first-use")
    check_tests(wheel, folder / "tests")
    print("the wheel is as it should be")


if __name__ == "__main__":
    main()
