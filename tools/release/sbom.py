"""Writes what a release is made of: a bill of materials (CycloneDX 1.6), or the licences of it.

    python3 sbom.py [--package everlore-cli] [--target x86_64-unknown-linux-gnu] --sbom FILE --licences FILE

Cargo says which crates are linked into the program for a target; Cargo.lock has their checksums. Crates that only build or
test, and macros, are left out. The web page and the built-in models are parts too, though no package manager brings them.
"""

import argparse
import functools
import hashlib
import json
import os
import re
import subprocess
import tomllib
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ASSETS = ROOT / "crates/everlore/assets"
PAGE_LICENCES = ROOT / "crates/everlore-server/src/page/ui/licenses.txt"
RULE = "\n\n" + "-" * 80 + "\n\n"
#: Name of a file with a licence or a notice, whatever its ending.
LICENCE_FILE = re.compile(r"^(licen[cs]e|copying|notice|unlicense)", re.IGNORECASE)


@functools.cache
def cargo(*arguments):
    """Returns what a command of cargo prints."""
    return subprocess.check_output([os.environ.get("CARGO", "cargo"), *arguments], cwd=ROOT, text=True)


def linked(package, target):
    """Returns the packages that are linked into a package, itself included, and the ids that each of them names."""
    everything = json.loads(cargo("metadata", "--locked", "--format-version", "1", "--filter-platform", target))
    names = linked_names(package, target)
    packages = {found["id"]: found for found in everything["packages"] if (found["name"], found["version"]) in names}
    nodes = [node for node in everything["resolve"]["nodes"] if node["id"] in packages]
    edges = {node["id"]: [dep["pkg"] for dep in node["deps"] if is_linked(dep, packages)] for node in nodes}
    return packages, edges


def linked_names(package, target):
    """Returns names and versions. Unlike the metadata, the tree has only the features that this package asks for."""
    kinds = ["--edges", "normal,no-proc-macro", "--target", target]
    lines = cargo("tree", "--locked", "--package", package, *kinds, "--prefix", "none", "--format", "{p}").splitlines()
    return {(name, version.removeprefix("v")) for name, version, *_ in map(str.split, filter(None, lines))}


def is_linked(dep, packages):
    """Tells normal dependencies from those of builds and tests."""
    return dep["pkg"] in packages and any(kind["kind"] is None for kind in dep["dep_kinds"])


@functools.cache
def checksums():
    """Returns the checksum of each package of Cargo.lock by name and version; those of this repository have none."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    return {(found["name"], found["version"]): found.get("checksum") for found in lock["package"]}


def reference(package):
    """Returns the package URL, which also is its id in the bill."""
    return f"pkg:cargo/{package['name']}@{package['version']}"


def crate_component(package):
    """Returns the entry of a crate."""
    entry = {
        "type": "library",
        "bom-ref": reference(package),
        "name": package["name"],
        "version": package["version"],
        "licenses": [{"expression": expression(package)}],
        "purl": reference(package),
    }
    checksum = checksums()[package["name"], package["version"]]
    if checksum:
        entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package.get("repository"):
        entry["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return entry


def expression(package):
    """Returns the licence as SPDX writes it now; old crates put a stroke for OR."""
    return re.sub(r"\s*/\s*", " OR ", package["license"])


def page_components():
    """Returns the packages of the web page; the page's licences and its lock name them."""
    lock = json.loads((ROOT / "ui/package-lock.json").read_text())["packages"]
    found = [(name, lock[f"node_modules/{name}"]) for name in page_packages()]
    return [page_component(name, package) for name, package in found]


def page_packages():
    return [part.strip().split("\n", 1)[0] for part in PAGE_LICENCES.read_text().split(RULE.strip())]


def page_component(name, package):
    purl = f"pkg:npm/{name.replace('@', '%40')}@{package['version']}"
    licences = [{"expression": package["license"]}]
    return {"type": "library", "bom-ref": purl, "name": name, "version": package["version"], "licenses": licences, "purl": purl}


def model_components(version):
    """Returns the built-in models with the checksums of their weights."""
    return [model_component(name, version) for name in ("embedder/table.i4", "encoder/model.safetensors")]


def model_component(name, version):
    model = f"everlore-{name.split('/')[0]}"
    return {
        "type": "machine-learning-model",
        "bom-ref": f"model:{model}@{version}",
        "name": model,
        "version": version,
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256((ASSETS / name).read_bytes()).hexdigest()}],
    }


def bill(package, target):
    """Returns the bill of materials. The same sources give the same bill."""
    packages, edges = linked(package, target)
    main = next(found for found in packages.values() if found["name"] == package)
    others = [crate_component(found) for found in packages.values() if found is not main]
    embedded = page_components() + model_components(main["version"])
    depends = [
        {"ref": reference(packages[id]), "dependsOn": sorted(reference(packages[dep]) for dep in deps)} for id, deps in edges.items()
    ]
    engine = next(entry for entry in depends if entry["ref"].startswith("pkg:cargo/everlore@"))
    engine["dependsOn"] += sorted(entry["bom-ref"] for entry in embedded)
    made = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**crate_component(main), "type": "application"}},
        "components": sorted(others + embedded, key=lambda entry: entry["bom-ref"]),
        "dependencies": sorted(depends, key=lambda entry: entry["ref"]),
    }
    content = json.dumps(made, sort_keys=True)
    return {**made, "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}"}


def licences(package, target):
    """Returns the licence texts of all crates, models and packages of the page; equal texts stand once."""
    packages, _ = linked(package, target)
    texts = {}
    for found in sorted(packages.values(), key=lambda found: (found["name"], found["version"])):
        title = f"{found['name']} {found['version']} ({expression(found)})"
        for text in licence_files(Path(found["manifest_path"]).parent) or [""]:
            texts.setdefault(text, []).append(title)
    for folder in ("embedder", "encoder", "han"):
        for text in licence_files(ASSETS / folder):
            texts.setdefault(text, []).append(f"built-in {folder}")
    parts = ["\n".join(titles) + ("\n\n" + text if text else "") for text, titles in texts.items()]
    return RULE.join([*parts, PAGE_LICENCES.read_text().strip()]) + "\n"


def licence_files(folder):
    """Returns the texts of the licences and notices in a folder."""
    files = sorted(file for file in folder.iterdir() if file.is_file() and LICENCE_FILE.match(file.name))
    return [file.read_text(errors="replace").strip() for file in files]


def main():
    """Writes the files that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", default="everlore-cli", help="crate that is shipped")
    parser.add_argument("--target", default="x86_64-unknown-linux-gnu", help="target that it is built for")
    parser.add_argument("--sbom", type=Path, help="file for the bill of materials")
    parser.add_argument("--licences", type=Path, help="file for the licences")
    args = parser.parse_args()
    if args.sbom:
        args.sbom.write_text(json.dumps(bill(args.package, args.target), indent=1) + "\n")
    if args.licences:
        args.licences.write_text(licences(args.package, args.target))


if __name__ == "__main__":
    main()
