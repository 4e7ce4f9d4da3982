//! Checks the source of the binary itself: file heads, lengths, and that one file prints.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A file longer than this holds more than one thing.
const MAX_LINES: usize = 400;

/// What only `output.rs` may do; `main.rs` tells the log where to go.
const PRINTS: [&str; 7] =
    ["print!", "println!", "eprint!", "eprintln!", "io::stdout", "io::stderr", "Term::"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries.flat_map(below).filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

#[test]
fn every_file_says_what_it_is_for_is_short_and_prints_through_output() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = [sources(&root.join("src")), sources(&root.join("tests"))].concat();
    assert!(files.len() > 20);
    for path in files {
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//! "), "{name} must start with what it is for");
        assert!(text.lines().count() <= MAX_LINES, "{name} is too long");
        let may_print = ["src/output.rs", "src/main.rs"].contains(&name.as_str());
        for print in PRINTS.iter().filter(|_| name.starts_with("src/") && !may_print) {
            assert!(!text.contains(print), "{name} uses {print}: print through Output");
        }
    }
}
