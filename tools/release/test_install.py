"""Tests of install.sh against a server on this machine: python3 -m unittest discover --start-directory tools/release"""

import functools
import hashlib
import http.server
import io
import os
import platform
import subprocess
import tarfile
import tempfile
import threading
import unittest
from pathlib import Path

INSTALLER = Path(__file__).resolve().parents[2] / "install.sh"
SYSTEM = {
    ("Linux", "x86_64"): "x86_64-linux",
    ("Linux", "aarch64"): "aarch64-linux",
    ("Darwin", "arm64"): "aarch64-macos",
    ("Darwin", "x86_64"): "x86_64-macos",
}[platform.system(), platform.machine()]


def archive(version, script=None):
    """Returns the bytes of an archive whose program is a shell script that prints a version."""
    program = (script or f"#!/bin/sh\necho everlore {version}\n").encode()
    member = tarfile.TarInfo(f"everlore-{version}-{SYSTEM}/everlore")
    member.size, member.mode = len(program), 0o755
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        tar.addfile(member, io.BytesIO(program))
    return packed.getvalue()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Installer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, self.prefix = Path(folder.name, "releases"), Path(folder.name, "prefix with space")
        self.temporary = Path(folder.name, "tmp")
        self.temporary.mkdir()
        self.publish("latest/download", "0.2.0", archive("0.2.0"))
        self.publish("download/v0.1.9", "0.1.9", archive("0.1.9"))
        handler = functools.partial(QuietHandler, directory=self.root)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_port}"

    def publish(self, folder, version, packed):
        self.folder = self.root / folder
        self.folder.mkdir(parents=True)
        name = f"everlore-{version}-{SYSTEM}.tar.gz"
        (self.folder / name).write_bytes(packed)
        lines = [f"{'0' * 64}  everlore_{version}_amd64.deb", f"{hashlib.sha256(packed).hexdigest()}  {name}"]
        (self.folder / "SHA256SUMS").write_text("\n".join(lines) + "\n")

    def latest(self, name=f"everlore-0.2.0-{SYSTEM}.tar.gz"):
        return self.root / "latest/download" / name

    def install(self, *arguments, path=None):
        env = {"PATH": path or os.environ["PATH"], "TMPDIR": str(self.temporary), "EVERLORE_RELEASES": self.url}
        command = ["sh", INSTALLER, "--prefix", self.prefix, *arguments]
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)

    def program(self):
        return self.prefix / "bin/everlore"

    def assert_refused(self, done, *words):
        """Nothing is left behind: neither a program nor a temporary file."""
        self.assertEqual(done.returncode, 1, done.stdout)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse(self.program().exists())
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_the_latest_release_is_installed(self):
        done = self.install()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("installed everlore 0.2.0", done.stdout)
        self.assertIn("put it on your path", done.stdout)
        self.assertEqual(subprocess.check_output([self.program()], text=True), "everlore 0.2.0\n")
        self.assertEqual([file.name for file in (self.prefix / "bin").iterdir()], ["everlore"])
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_a_named_release_replaces_another(self):
        self.install()
        done = self.install("--version", "v0.1.9", path=f"{self.prefix}/bin:{os.environ['PATH']}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("try it: everlore demo", done.stdout)
        self.assertEqual(subprocess.check_output([self.program()], text=True), "everlore 0.1.9\n")

    def test_a_damaged_archive_is_refused(self):
        packed = bytearray(self.latest().read_bytes())
        packed[len(packed) // 2] ^= 1
        self.latest().write_bytes(packed)
        self.assert_refused(self.install(), "the checksum of", "nothing was installed")

    def test_an_archive_that_broke_off_is_refused(self):
        self.latest().write_bytes(self.latest().read_bytes()[:-10])
        self.assert_refused(self.install(), "the checksum of")

    def test_a_refused_archive_leaves_the_old_program(self):
        self.install("--version", "0.1.9")
        self.latest().write_bytes(b"no archive")
        self.assertEqual(self.install().returncode, 1)
        self.assertEqual(subprocess.check_output([self.program()], text=True), "everlore 0.1.9\n")

    def test_a_missing_archive_is_refused(self):
        self.latest().unlink()
        self.assert_refused(self.install(), "cannot download", "nothing was installed")

    def test_missing_checksums_are_refused(self):
        self.latest("SHA256SUMS").unlink()
        self.assert_refused(self.install(), "cannot download", "SHA256SUMS")

    def test_an_archive_without_a_checksum_is_refused(self):
        self.latest("SHA256SUMS").write_text(f"{'0' * 64}  another-file\n")
        self.assert_refused(self.install(), f"no program for {SYSTEM}")

    def test_a_name_that_leads_elsewhere_is_refused(self):
        self.latest("SHA256SUMS").write_text(f"{'0' * 64}  everlore-../../{SYSTEM}/x-{SYSTEM}.tar.gz\n")
        self.assert_refused(self.install(), f"no program for {SYSTEM}")

    def test_an_unknown_version_is_refused(self):
        self.assert_refused(self.install("--version", "9.9.9"), "cannot download")

    def test_a_program_that_does_not_run_is_refused(self):
        packed = archive("0.2.0", "#!/bin/sh\nexit 3\n")
        self.latest().write_bytes(packed)
        line = f"{hashlib.sha256(packed).hexdigest()}  {self.latest().name}\n"
        self.latest("SHA256SUMS").write_text(line)
        self.assert_refused(self.install(), "does not run on this system")

    def test_other_machines_need_tls(self):
        self.assert_refused(self.install("--from", "http://192.0.2.1/releases"), "not a safe address", "https://")
        self.assert_refused(self.install("--from", "http://127.0.0.1.example/releases"), "not a safe address")

    def test_a_tool_to_verify_with_is_needed(self):
        few = Path(self.temporary.parent, "few")
        few.mkdir()
        for tool in "sh uname mktemp rm curl tar cut mkdir cp chmod mv".split():
            found = subprocess.check_output(["sh", "-c", f"command -v {tool}"], text=True).strip()
            (few / tool).symlink_to(found)
        self.assert_refused(self.install(path=str(few)), "sha256sum or shasum is needed")

    def test_arguments_are_checked(self):
        self.assert_refused(self.install("--verbose"), "unknown argument: --verbose", "usage:")
        self.assert_refused(self.install("--version"), "--version needs a value")


if __name__ == "__main__":
    unittest.main()
