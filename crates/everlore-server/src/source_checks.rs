//! Checks of the server's own source: module docs, file lengths, and no printing or environment access.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A longer file, tests aside, holds more than one thing.
const MAX_LINES: usize = 400;

/// Calls that a library does not make; this file names them.
const FORBIDDEN: [&str; 6] = ["println!", "eprintln!", "print!", "eprint!", "dbg!", "std::env"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries.flat_map(below).filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

#[test]
fn every_file_has_module_docs_is_short_and_never_prints() {
    let files = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(files.len() > 20);
    for path in files.iter().filter(|path| !path.ends_with("source_checks.rs")) {
        let (name, text) = (path.display(), fs::read_to_string(path).unwrap());
        assert!(text.starts_with("//! "), "{name} must start with module docs");
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        assert!(code.lines().count() <= MAX_LINES, "{name} is too long");
        for never in FORBIDDEN {
            assert!(!code.contains(never), "{name} uses {never}");
        }
    }
}
