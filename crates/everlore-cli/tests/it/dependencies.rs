//! Licences, bans and sources of all dependencies, by the rules of `deny.toml`, without a network and without cargo-deny,
//! which takes minutes to build. Known vulnerabilities need a database from the network: `make deny` checks them.

use std::{collections::BTreeSet, path::Path, process::Command};

use serde_json::Value;

/// Source of packages that come from crates.io, as Cargo.lock names it.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

#[test]
fn licences_bans_and_sources_of_dependencies_follow_the_rules() {
    let rules: toml::Table =
        std::fs::read_to_string(root().join("deny.toml")).unwrap().parse().unwrap();
    let allowed: BTreeSet<&str> = rules["licenses"]["allow"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_str().unwrap())
        .collect();
    assert_eq!(rules["bans"]["wildcards"].as_str(), Some("deny"));
    assert_eq!(rules["sources"]["unknown-registry"].as_str(), Some("deny"));
    let packages = packages();
    assert!(packages.len() > 100, "{} packages", packages.len());
    for package in &packages {
        let name = format!("{} {}", package["name"], package["version"]);
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(is_allowed(licence, &allowed), "{name} has the licence `{licence}`");
        match package["source"].as_str() {
            Some(source) => assert_eq!(source, CRATES_IO, "{name}"),
            None => assert_no_wildcards(package),
        }
    }
}

#[test]
fn licence_expressions_are_evaluated() {
    let allowed = BTreeSet::from(["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"]);
    for (licence, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("Apache-2.0/MIT", true),
        ("MIT AND ISC", true),
        ("MIT AND GPL-3.0", false),
        ("Apache-2.0", false),
        ("Apache-2.0 WITH LLVM-exception OR GPL-3.0", true),
        ("(MIT OR GPL-3.0) AND ISC", true),
        ("(MIT OR GPL-3.0) AND Zlib", false),
        ("", false),
    ] {
        assert_eq!(is_allowed(licence, &allowed), expected, "{licence}");
    }
}

/// Returns the packages of the workspace and of all its dependencies. If crates of other systems or features were never
/// downloaded, only those of this build are known.
fn packages() -> Vec<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let metadata = |args: &[&str]| {
        let mut command = Command::new(&cargo);
        command.args(["metadata", "--offline", "--locked", "--format-version", "1"]).args(args);
        command.current_dir(root()).output().unwrap()
    };
    let mut output = metadata(&["--all-features"]);
    if !output.status.success() {
        output = metadata(&["--filter-platform", &host()]);
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Returns the target triple of this machine.
fn host() -> String {
    let output = Command::new("rustc").arg("-vV").current_dir(root()).output().unwrap();
    let version = String::from_utf8(output.stdout).unwrap();
    version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Fails if a package of the workspace takes any version of a dependency from a registry.
fn assert_no_wildcards(package: &Value) {
    for dependency in package["dependencies"].as_array().unwrap() {
        let is_local = dependency["path"].is_string();
        assert!(
            is_local || dependency["req"] != "*",
            "{}: {}",
            package["name"],
            dependency["name"]
        );
    }
}

/// Returns `true` if an SPDX expression can be satisfied by the allowed licences. `/` is the old form of `OR`.
fn is_allowed(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (value, rest) = any_of(&words, allowed);
    !words.is_empty() && value && rest.is_empty()
}

fn any_of<'a>(words: &'a [&'a str], allowed: &BTreeSet<&str>) -> (bool, &'a [&'a str]) {
    let (mut value, mut rest) = all_of(words, allowed);
    while let ["OR", after @ ..] = rest {
        let (next, after) = all_of(after, allowed);
        (value, rest) = (value || next, after);
    }
    (value, rest)
}

fn all_of<'a>(words: &'a [&'a str], allowed: &BTreeSet<&str>) -> (bool, &'a [&'a str]) {
    let (mut value, mut rest) = licence(words, allowed);
    while let ["AND", after @ ..] = rest {
        let (next, after) = licence(after, allowed);
        (value, rest) = (value && next, after);
    }
    (value, rest)
}

fn licence<'a>(words: &'a [&'a str], allowed: &BTreeSet<&str>) -> (bool, &'a [&'a str]) {
    match words {
        ["(", inside @ ..] => {
            let (value, rest) = any_of(inside, allowed);
            (value && rest.first() == Some(&")"), rest.get(1..).unwrap_or_default())
        }
        [id, "WITH", exception, rest @ ..] => {
            (allowed.contains(format!("{id} WITH {exception}").as_str()), rest)
        }
        [id, rest @ ..] => (allowed.contains(id), rest),
        [] => (false, words),
    }
}
