"""Packs what a release offers: archives, a Debian package, checksums.

    python3 package.py archive --program FILE --target x86_64-unknown-linux-gnu --folder FOLDER
    python3 package.py deb --program FILE --target x86_64-unknown-linux-gnu --folder FOLDER
    python3 package.py checksums --folder FOLDER

The same program and sources give the same bytes: times are that of the last commit, or `SOURCE_DATE_EPOCH`.
"""

import argparse
import gzip
import hashlib
import io
import os
import re
import subprocess
import tarfile
import tempfile
import tomllib
from pathlib import Path

import sbom

ROOT = sbom.ROOT
#: Largest program that ships, in bytes; it has 46.9 MB, 18.4 of them the built-in models. The goal is 30 MB.
MAX_PROGRAM_BYTES = 48_000_000
#: The C library of RHEL 7, Debian 8 and Ubuntu 14.04, which the program is linked for.
OLDEST_GLIBC = "2.17"
CONTROL = """\
Package: everlore
Version: {version}
Architecture: {architecture}
Maintainer: Everlore maintainers <maintainers@everlore.invalid>
Installed-Size: {kilobytes}
Depends: libc6 (>= {glibc})
Recommends: ca-certificates
Section: utils
Priority: optional
Homepage: https://github.com/everlore/everlore
Description: long-term memory for LLM agents
 One program without a cloud: it stores what was said, recalls what matters for
 the next answer, and serves coding agents by hooks, MCP and HTTP. English and
 Chinese.
"""
#: How archives name the system of a target; install.sh uses the same names.
SYSTEMS = {
    "x86_64-unknown-linux-gnu": "x86_64-linux",
    "aarch64-unknown-linux-gnu": "aarch64-linux",
    "aarch64-apple-darwin": "aarch64-macos",
    "x86_64-apple-darwin": "x86_64-macos",
}
ARCHITECTURES = {"x86_64-unknown-linux-gnu": "amd64", "aarch64-unknown-linux-gnu": "arm64"}
COMPLETIONS = {
    "bash": "usr/share/bash-completion/completions/everlore",
    "zsh": "usr/share/zsh/vendor-completions/_everlore",
    "fish": "usr/share/fish/vendor_completions.d/everlore.fish",
}


def version():
    """Returns the version of the workspace."""
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def timestamp():
    """Returns the time that all files get."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given or subprocess.check_output(["git", "log", "-1", "--format=%ct"], cwd=ROOT))


def check_program(program):
    """Ends if the program is too large, or needs a newer C library than promised."""
    size = program.stat().st_size
    print(f"{program}: {size / 1e6:.1f} MB")
    if size > MAX_PROGRAM_BYTES:
        raise SystemExit(f"the program may have at most {MAX_PROGRAM_BYTES / 1e6:.0f} MB")
    check_glibc(program)


def check_glibc(file):
    """Ends if a program or a library for Linux needs a newer C library than promised."""
    if file.read_bytes()[:4] != b"\x7fELF":
        return
    needed = needed_glibc(subprocess.check_output(["readelf", "--version-info", "--wide", file], text=True))
    print(f"{file.name} needs glibc {needed}")
    if number(needed) > number(OLDEST_GLIBC):
        raise SystemExit(f"{file.name} needs glibc {needed}, but {OLDEST_GLIBC} is promised; build it with `make dist-program`")


def needed_glibc(version_info):
    """Returns the newest version of the C library that the output of readelf names."""
    return max(re.findall(r"Name: GLIBC_([0-9.]+)", version_info), key=number, default="0")


def number(version):
    return [int(part) for part in version.split(".")]


def archive(program, target, folder):
    """Writes the archive with the program, and returns its path."""
    name = f"everlore-{version()}-{SYSTEMS[target]}"
    entries = {"everlore": (program.read_bytes(), 0o755), "LICENSES-THIRD-PARTY.txt": (third_party(target), 0o644)}
    for file in ("LICENSE-APACHE", "LICENSE-MIT", "README.md", "README.zh.md", "CHANGELOG.md"):
        entries[file] = ((ROOT / file).read_bytes(), 0o644)
    packed = folder / f"{name}.tar.gz"
    with gzip.GzipFile(packed, "wb", compresslevel=9, mtime=timestamp()) as out, tarfile.open(fileobj=out, mode="w") as tar:
        for file, (content, mode) in sorted(entries.items()):
            tar.addfile(member(f"{name}/{file}", len(content), mode), io.BytesIO(content))
    return packed


def member(name, size, mode):
    """Returns the header of a file in an archive."""
    header = tarfile.TarInfo(name)
    header.size, header.mode, header.mtime = size, mode, timestamp()
    return header


def third_party(target):
    return sbom.licences("everlore-cli", target).encode()


def deb(program, target, folder):
    """Writes the Debian package, and returns its path."""
    packed = folder / f"everlore_{version()}_{ARCHITECTURES[target]}.deb"
    with tempfile.TemporaryDirectory() as root:
        fill_deb(Path(root), program, target)
        env = {**os.environ, "SOURCE_DATE_EPOCH": str(timestamp())}
        command = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, packed]
        subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    return packed


def fill_deb(root, program, target):
    """Lays out the files of the package. The program itself writes its completions."""
    root.chmod(0o755)
    install(root / "usr/bin/everlore", program.read_bytes(), 0o755)
    for shell, path in COMPLETIONS.items():
        install(root / path, subprocess.check_output([program, "completions", shell]))
    install(root / "usr/share/doc/everlore/copyright", copyright_text(target).encode())
    changes = gzip.compress((ROOT / "CHANGELOG.md").read_bytes(), 9, mtime=0)
    install(root / "usr/share/doc/everlore/changelog.gz", changes)
    files = sorted(file for file in root.rglob("*") if file.is_file())
    sums = [f"{hashlib.md5(file.read_bytes()).hexdigest()}  {file.relative_to(root)}\n" for file in files]
    kilobytes = sum(file.stat().st_size for file in files) // 1024
    control = CONTROL.format(version=version(), architecture=ARCHITECTURES[target], kilobytes=kilobytes, glibc=OLDEST_GLIBC)
    install(root / "DEBIAN/control", control.encode())
    install(root / "DEBIAN/md5sums", "".join(sums).encode())


def install(path, content, mode=0o644):
    """Writes a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    for folder in path.parents:
        if folder.name in ("usr", "DEBIAN"):
            break
        folder.chmod(0o755)


def copyright_text(target):
    """Returns our licences and those of all parts."""
    ours = [(ROOT / name).read_text().strip() for name in ("LICENSE-MIT", "LICENSE-APACHE")]
    return sbom.RULE.join(["Everlore: Apache-2.0 OR MIT", *ours, sbom.licences("everlore-cli", target)])


def checksums(folder):
    """Writes SHA256SUMS of all files in a folder, in the format of sha256sum."""
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (folder / "SHA256SUMS").write_text("".join(lines))
    for file in files:
        print(f"{file.stat().st_size / 1e6:7.1f} MB  {file.name}")


def main():
    """Packs what the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["archive", "deb", "checksums"])
    parser.add_argument("--program", type=Path, help="program to pack")
    parser.add_argument("--target", default="x86_64-unknown-linux-gnu", choices=SYSTEMS, help="target of the program")
    parser.add_argument("--folder", type=Path, required=True, help="folder for the files")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.what == "checksums":
        return checksums(args.folder)
    check_program(args.program)
    if args.what == "archive":
        return archive(args.program, args.target, args.folder)
    return deb(args.program.resolve(), args.target, args.folder)


if __name__ == "__main__":
    main()
