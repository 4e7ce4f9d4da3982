"""Tests of the bill of materials against Cargo.lock: python3 -m unittest discover --start-directory tools/release"""

import hashlib
import json
import tomllib
import unittest

import sbom

TARGET = "x86_64-unknown-linux-gnu"


def locked_packages():
    """Returns the packages of Cargo.lock by name and version."""
    lock = tomllib.loads((sbom.ROOT / "Cargo.lock").read_text())
    return {(package["name"], package["version"]): package for package in lock["package"]}


def reachable(root, locked):
    """Returns every package that Cargo.lock leads to from one, whatever it is needed for."""
    by_name = {}
    for name, version in locked:
        by_name.setdefault(name, []).append((name, version))
    waiting, found = [root], set()
    while waiting:
        key = waiting.pop()
        if key not in found:
            found.add(key)
            for line in locked[key].get("dependencies", []):
                name, *version = line.split()
                waiting += [(name, version[0])] if version else by_name[name]
    return found


class BillOfMaterials(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bill = sbom.bill("everlore-cli", TARGET)
        cls.locked = locked_packages()
        cls.crates = {(entry["name"], entry["version"]): entry for entry in cls.bill["components"] if "pkg:cargo" in entry["bom-ref"]}

    def test_every_crate_has_the_version_and_the_checksum_of_the_lock(self):
        self.assertGreater(len(self.crates), 200)
        for key, entry in self.crates.items():
            hashes = [found["content"] for found in entry.get("hashes", [])]
            checksum = self.locked[key].get("checksum")
            self.assertEqual(hashes, [checksum] if checksum else [], key)
            self.assertTrue(checksum or key[0].startswith("everlore"), key)

    def test_the_lock_leads_to_every_crate(self):
        root = next(key for key in self.locked if key[0] == "everlore-cli")
        self.assertEqual(set(self.crates) - reachable(root, self.locked), set())

    def test_what_the_program_needs_is_in_it_and_what_builds_it_is_not(self):
        names = {name for name, _ in self.crates}
        wanted = {"libsqlite3-sys", "ring", "rustls", "tokio", "axum", "mysql_async", "tokio-postgres", "everlore-kernel"}
        self.assertEqual(wanted - names, set())
        self.assertEqual({"syn", "cc", "insta", "serde_derive", "windows-sys", "pyo3"} & names, set())

    def test_every_dependency_of_our_crates_is_in_it(self):
        names = {name for name, _ in self.crates}
        for crate in ("everlore", "everlore-server", "everlore-cli"):
            manifest = tomllib.loads((sbom.ROOT / "crates" / crate / "Cargo.toml").read_text())
            optional = {"pdf-extract", "utoipa"}
            macros = {"async-recursion", "async-trait"}
            self.assertEqual(set(manifest["dependencies"]) - names - optional - macros, set(), crate)

    def test_every_reference_leads_to_a_component_and_the_root_leads_to_all(self):
        edges = {entry["ref"]: entry["dependsOn"] for entry in self.bill["dependencies"]}
        waiting, found = [self.bill["metadata"]["component"]["bom-ref"]], set()
        while waiting:
            ref = waiting.pop()
            if ref not in found:
                found.add(ref)
                waiting += edges.get(ref, [])
        self.assertEqual(found, {entry["bom-ref"] for entry in self.bill["components"]} | {"pkg:cargo/everlore-cli@" + self.version()})

    def version(self):
        return tomllib.loads((sbom.ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]

    def test_models_and_the_page_are_in_it(self):
        found = {entry["name"]: entry for entry in self.bill["components"]}
        weights = (sbom.ASSETS / "encoder/model.safetensors").read_bytes()
        self.assertEqual(found["everlore-encoder"]["hashes"][0]["content"], hashlib.sha256(weights).hexdigest())
        self.assertTrue(found["svelte"]["purl"].startswith("pkg:npm/svelte@"))

    def test_the_same_sources_give_the_same_bill(self):
        self.assertEqual(json.dumps(sbom.bill("everlore-cli", TARGET)), json.dumps(self.bill))

    def test_the_licences_name_every_crate_and_every_package_of_the_page(self):
        text = sbom.licences("everlore-cli", TARGET)
        for entry in self.bill["components"]:
            if entry["type"] == "library":
                self.assertIn(f"{entry['name']}", text)
        self.assertIn("Permission is hereby granted, free of charge", text)


if __name__ == "__main__":
    unittest.main()
