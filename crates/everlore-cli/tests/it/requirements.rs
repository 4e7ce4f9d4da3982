//! `tools/requirements.sh`, which `make run` and `make test` call first: one message names everything that is missing.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output},
};

use crate::readme::read_page;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/requirements.sh");

/// Programs that tests run, of which the script asks no more than that they work.
const TEST_PROGRAMS: [&str; 5] = ["curl", "git", "lsof", "setpriv", "ipcrm"];

/// Programs that fetch packages.
const FETCH_PROGRAMS: [&str; 3] = ["npm", "apt-get", "dpkg"];

/// Runs the script with only these programs on the path, each a shell script.
fn check(target: &str, programs: &[(&str, &str)], downloads: &Path) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    for (name, script) in programs {
        let path = folder.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new("/bin/sh");
    command.args([SCRIPT, target]).env_clear().env("PATH", folder.path());
    command.env("MODEL", downloads).env("CLIENTS", downloads).env("DATABASES", downloads);
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(stdout.is_empty(), "{stdout:?}");
    (status.code(), String::from_utf8(stderr).unwrap())
}

/// Returns a program that does nothing, with success.
fn works(name: &'static str) -> (&'static str, &'static str) {
    (name, "exit 0")
}

#[test]
fn everything_that_is_missing_is_named_at_once() {
    let empty = tempfile::tempdir().unwrap();
    let (code, message) = check("test", &[], empty.path());
    assert_eq!(code, Some(1), "{message}");
    let parts = ["Rust (cargo)", "C compiler", "Python 3 with venv and pip", "npm", "curl", "git"];
    let others =
        ["lsof", "setpriv and ipcrm", "apt-get and dpkg", "rustup", "xcode-select", "Debian 12"];
    for part in parts.into_iter().chain(others) {
        assert!(message.contains(part), "{part} in {message}");
    }
    let apt = "sudo apt install build-essential python3 python3-venv python3-pip npm curl git lsof util-linux\n";
    assert!(message.contains(apt), "{message}");
    assert!(message.contains("brew install python node curl git\n"), "{message}");
    let (code, message) = check("run", &[], empty.path());
    assert!(
        code == Some(1) && !message.contains("npm") && !message.contains("Python"),
        "{message}"
    );
}

#[test]
fn nothing_is_printed_if_everything_works() {
    let cargo = ("cargo", "echo cargo 1.95.0");
    let empty = tempfile::tempdir().unwrap();
    let build = [cargo, works("cc")];
    let fetch = [&FETCH_PROGRAMS.map(works)[..], &[works("python3")]].concat();
    let all = [&build[..], &fetch, &TEST_PROGRAMS.map(works)].concat();
    assert_eq!(check("run", &build, empty.path()), (Some(0), String::new()));
    assert_eq!(check("test", &all, empty.path()), (Some(0), String::new()));
    // With everything downloaded, neither pip nor npm nor apt-get is needed.
    let no_pip = ("python3", "case $* in *pip*) exit 1;; esac");
    let test = [&build[..], &[no_pip], &TEST_PROGRAMS.map(works)].concat();
    assert_eq!(check("test", &test, empty.path()).0, Some(1));
    for name in ["model.safetensors", "python/ready", "node/ready", "packages.lock"] {
        fs::create_dir_all(empty.path().join(name).parent().unwrap()).unwrap();
        fs::write(empty.path().join(name), "").unwrap();
    }
    assert_eq!(check("test", &test, empty.path()), (Some(0), String::new()));
}

#[test]
fn the_readme_names_everything_that_is_needed() {
    let empty = tempfile::tempdir().unwrap();
    let (_, message) = check("test", &[], empty.path());
    let readme = read_page("README.md");
    let (_, install) = readme.split_once("\n## Install\n").unwrap();
    let install = install.split("\n## ").next().unwrap();
    let after = |line, manager| Some(str::split_once(line, manager)?.1);
    let packages = message
        .lines()
        .filter_map(|line| after(line, "apt install ").or_else(|| after(line, "brew install ")));
    let named: Vec<&str> = packages.flat_map(str::split_whitespace).collect();
    assert!(named.len() > 8, "{message}");
    for package in named.iter().chain(&["rustup", "C compiler", "make", "xcode-select"]) {
        assert!(install.contains(package), "{package}");
    }
}

#[test]
fn tools_that_do_not_work_count_as_missing() {
    let empty = tempfile::tempdir().unwrap();
    let old = [("cargo", "echo cargo 1.63.0"), ("cc", "exit 1")];
    let (_, message) = check("run", &old, empty.path());
    assert!(
        message.contains("or newer (here is 1.63)") && message.contains("C compiler"),
        "{message}"
    );
    let no_clippy = "case $1 in clippy) exit 1;; *) echo cargo 1.95.0;; esac";
    let no_venv = "case $* in *venv*) exit 1;; esac";
    let programs = [("cargo", no_clippy), ("cc", "exit 0"), ("python3", no_venv)];
    let programs = [&programs[..], &TEST_PROGRAMS.map(works), &FETCH_PROGRAMS.map(works)].concat();
    let (_, message) = check("test", &programs, empty.path());
    assert!(message.contains("rustfmt and clippy, venv of python3\n"), "{message}");
    assert!(message.contains("sudo apt install python3-venv\n"), "{message}");
}
