"""Tests of archives, packages and checksums: python3 -m unittest discover --start-directory tools/release"""

import os
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

import check
import package

TARGET = "x86_64-unknown-linux-gnu"
VERSIONS = """\
  0x0020:   Name: GLIBC_2.3.4  Flags: none  Version: 5
  0x0030:   Name: GLIBC_2.14  Flags: none  Version: 4
  0x0040:   Name: GCC_3.3  Flags: none  Version: 3
"""


class Packages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = self.folder / "program"
        self.program.write_text("#!/bin/sh\necho $0 $*\n")
        self.program.chmod(0o755)
        self.files = self.folder / "files"
        self.files.mkdir()
        os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
        self.addCleanup(os.environ.pop, "SOURCE_DATE_EPOCH")

    def test_an_archive_holds_program_and_licences(self):
        packed = package.archive(self.program, TARGET, self.files)
        self.assertEqual(packed.name, f"everlore-{package.version()}-x86_64-linux.tar.gz")
        with tarfile.open(packed) as tar:
            members = {Path(member.name).name: member for member in tar.getmembers()}
        self.assertEqual(members["everlore"].mode, 0o755)
        self.assertEqual(members["everlore"].mtime, 1700000000)
        self.assertLessEqual({"LICENSE-MIT", "LICENSE-APACHE", "LICENSES-THIRD-PARTY.txt", "README.md"}, set(members))

    def test_the_same_program_gives_the_same_archive(self):
        first = package.archive(self.program, TARGET, self.files).read_bytes()
        self.assertEqual(package.archive(self.program, TARGET, self.files).read_bytes(), first)

    @unittest.skipUnless(shutil.which("dpkg-deb"), "only Debian and its children have dpkg-deb")
    def test_a_debian_package_holds_what_its_sums_say(self):
        packed = package.deb(self.program, TARGET, self.files)
        check.check_deb(packed, self.program.read_bytes())
        with self.assertRaisesRegex(SystemExit, "another program"):
            check.check_deb(packed, b"other")
        fields = subprocess.check_output(["dpkg-deb", "--field", packed, "Package", "Version", "Depends"], text=True)
        self.assertIn(f"Version: {package.version()}", fields)
        self.assertIn("libc6 (>= 2.17)", fields)
        listed = subprocess.check_output(["dpkg-deb", "--contents", packed], text=True)
        self.assertIn("./usr/share/bash-completion/completions/everlore", listed)
        self.assertIn("root/root", listed)

    def test_checksums_are_those_of_sha256sum_and_a_changed_file_is_noticed(self):
        (self.files / "a.txt").write_text("a\n")
        (self.files / "b.txt").write_text("b\n")
        package.checksums(self.files)
        check.check_checksums(self.files)
        done = subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=self.files, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "a.txt: OK\nb.txt: OK\n"))
        (self.files / "b.txt").write_text("c\n")
        with self.assertRaisesRegex(SystemExit, "SHA256SUMS"):
            check.check_checksums(self.files)

    def test_the_newest_c_library_that_is_named_counts(self):
        self.assertEqual(package.needed_glibc(VERSIONS), "2.14")

    def test_a_program_that_is_too_large_is_refused(self):
        self.program.write_bytes(bytes(package.MAX_PROGRAM_BYTES + 1))
        with self.assertRaisesRegex(SystemExit, "may have at most"):
            package.check_program(self.program)


if __name__ == "__main__":
    unittest.main()
