//! Checks of the binary's own sources: file heads, lengths, doc comments, and that one file prints.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Most lines of a file.
const MAX_LINES: usize = 400;

/// Calls that only `output.rs` may contain; `main.rs` sets up the log.
const PRINTS: [&str; 7] =
    ["print!", "println!", "eprint!", "eprintln!", "io::stdout", "io::stderr", "Term::"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries.flat_map(below).filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

#[test]
fn every_file_has_a_head_is_short_and_prints_through_output() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = [sources(&root.join("src")), sources(&root.join("tests"))].concat();
    assert!(files.len() > 20);
    for path in files {
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//! "), "{name} must start with a module comment");
        assert!(text.lines().count() <= MAX_LINES, "{name} is too long");
        let may_print = ["src/output.rs", "src/main.rs"].contains(&name.as_str());
        for print in PRINTS.iter().filter(|_| name.starts_with("src/") && !may_print) {
            assert!(!text.contains(print), "{name} uses {print}: print through Output");
        }
    }
}

#[test]
fn doc_comments_begin_with_a_verb_or_a_noun() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for path in sources(&root.join("src")) {
        let text = fs::read_to_string(&path).unwrap();
        let comments = text
            .lines()
            .map(str::trim_start)
            .filter_map(|line| line.strip_prefix("/// ").or_else(|| line.strip_prefix("//! ")));
        // A line that continues a sentence may begin with any word.
        let first = comments.filter(|line| line.starts_with(char::is_uppercase));
        for line in first {
            let word = line.split([' ', ',']).next().unwrap_or_default();
            let banned = ["What", "Whether", "Who", "How", "Those"];
            assert!(!banned.contains(&word), "{}: {line}", path.display());
        }
    }
}
