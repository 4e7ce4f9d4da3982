"""Checks the files of a release as somebody who downloads them would meet them, in temporary folders.

    python3 check.py --folder FOLDER --target x86_64-unknown-linux-gnu

Checksums are right; install.sh installs the archive from a server on this machine, and what it installs remembers and recalls;
the Debian package holds the same program; the wheel is small enough and made for old systems.
"""

import argparse
import functools
import hashlib
import http.server
import os
import subprocess
import tempfile
import threading
import zipfile
from pathlib import Path

import package

#: Largest wheel, in bytes; python/check.py has the same limit.
MAX_WHEEL_BYTES = 30_500_000


def check_checksums(folder):
    """Ends unless SHA256SUMS lists every other file with its checksum."""
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    listed = {name: sum for sum, name in (line.split("  ", 1) for line in lines)}
    found = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir() if file.name != "SHA256SUMS"}
    require(listed == found, "SHA256SUMS is not that of the files")


def require(condition, message):
    if not condition:
        raise SystemExit(message)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves the files under any path, as a page of releases does for each version."""

    def translate_path(self, path):
        return super().translate_path(path.rsplit("/", 1)[-1])

    def log_message(self, *_):
        pass


def check_installer(folder):
    """Installs the archive by install.sh from this machine, and returns what was installed."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=folder))
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    with tempfile.TemporaryDirectory() as prefix:
        releases = f"http://127.0.0.1:{server.server_port}"
        run("sh", package.ROOT / "install.sh", "--prefix", prefix, "--from", releases)
        program = Path(prefix, "bin/everlore")
        check_use(program)
        content = program.read_bytes()
    server.shutdown()
    server.server_close()
    return content


def check_use(program):
    """Saves and recalls with a program in a home of its own."""
    with tempfile.TemporaryDirectory() as home:
        run(program, "--home", home, "remember", "I'm allergic to peanuts")
        found = run(program, "--home", home, "recall", "am I allergic to anything?")
    require("peanuts" in found, f"{program} does not recall what it saved: {found}")


def run(*command):
    """Runs a command and returns what it prints."""
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}
    done = subprocess.run([str(part) for part in command], env=env, capture_output=True, text=True)
    require(done.returncode == 0, f"failed: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_deb(file, content):
    """Unpacks the Debian package; it has the same program, and the sums of its files are right."""
    with tempfile.TemporaryDirectory() as root:
        run("dpkg-deb", "--raw-extract", file, root)
        require(Path(root, "usr/bin/everlore").read_bytes() == content, f"{file.name} has another program")
        for line in Path(root, "DEBIAN/md5sums").read_text().splitlines():
            sum, name = line.split("  ", 1)
            require(hashlib.md5(Path(root, name).read_bytes()).hexdigest() == sum, f"{file.name}: wrong sum of {name}")


def check_wheel(wheel, is_linux):
    """Ends if the wheel is too large, or needs a newer system than its name says."""
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.1f} MB")
    require(size <= MAX_WHEEL_BYTES, f"the wheel may have at most {MAX_WHEEL_BYTES / 1e6:.0f} MB")
    if is_linux:
        require("manylinux_2_17" in wheel.name, f"{wheel.name} is not for old systems")
        with zipfile.ZipFile(wheel) as packed, tempfile.TemporaryDirectory() as folder:
            module = next(name for name in packed.namelist() if name.endswith(".so"))
            package.check_glibc(Path(packed.extract(module, folder)))


def main():
    """Checks every file that is there; archive and wheel must be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="folder with the files")
    parser.add_argument("--target", required=True, choices=package.SYSTEMS, help="target that they are for")
    args = parser.parse_args()
    check_checksums(args.folder)
    content = check_installer(args.folder)
    for file in args.folder.glob("*.deb"):
        check_deb(file, content)
    wheels = list(args.folder.glob("*.whl"))
    require(len(wheels) == 1, "there must be one wheel")
    check_wheel(wheels[0], "linux" in args.target)
    print("the files of the release are as they should be")


if __name__ == "__main__":
    main()
