//! What fuzzing started from and what it found, kept: every seed goes through the check of its target.

use std::{fs, path::Path};

#[path = "../../../../fuzz/checks.rs"]
mod checks;

/// Runs a check on every seed of its folder.
fn run(target: &str, check: impl Fn(&[u8])) {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let files = fs::read_dir(&seeds).unwrap().map(|file| file.unwrap().path());
    let count = files.inspect(|file| check(&fs::read(file).unwrap())).count();
    assert!(count > 0, "no seeds in {}", seeds.display());
}

/// The same for a target that is given text only.
fn run_on_text(target: &str, check: impl Fn(&str)) {
    run(target, |bytes| {
        if let Ok(text) = std::str::from_utf8(bytes) {
            check(text);
        }
    });
}

#[test]
fn seeds_of_terms() {
    run_on_text("terms", checks::check_terms);
}

#[test]
fn seeds_of_analyze() {
    run_on_text("analyze", checks::check_analyze);
}

#[test]
fn seeds_of_config() {
    run_on_text("config", checks::check_config);
}

#[test]
fn seeds_of_import() {
    run("import", checks::check_import);
}

#[test]
fn seeds_of_pack() {
    run_on_text("pack", checks::check_pack);
}

#[test]
fn every_target_has_seeds_that_are_run_here() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let names = |folder: &str| -> Vec<String> {
        let entries = fs::read_dir(fuzz.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<_> =
            entries.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names("fuzz_targets"), ["analyze", "config", "import", "pack", "terms"]);
    assert_eq!(names("fuzz_targets"), names("seeds"));
}
