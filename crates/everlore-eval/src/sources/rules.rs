//! Rules for the source of every crate: file heads and lengths, unique type names, prose, and the crates that may
//! print.
//!
//! The arrows between the engine's modules are in `crates/everlore/tests/it/architecture.rs`.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use super::{
    SourceFile, items, lexer,
    prose::{BANNED_OPENINGS, doc_openings, has_requirement_id, requirement_ids},
    read_workspace,
};

/// Longest file, tests aside; a longer one holds more than one thing.
const MAX_LINES: usize = 400;

/// Crates whose limit holds for whole files, tests included.
const SHORT_TEST_CRATES: [&str; 1] = ["everlore-cli"];

/// Data tables, which may be longer.
const DATA_TABLES: [&str; 3] =
    ["src/text/stop_words.rs", "src/recall/synonyms.rs", "src/recall/query/synonyms.rs"];

/// Type names that a crate defines twice: (crate, name, reason).
const SHARED_TYPE_NAMES: [(&str, &str, &str); 2] = [
    ("everlore", "FolderHandle", "one definition for Unix, one for systems without openat"),
    ("everlore", "FolderNode", "one definition for Unix, one for systems without openat"),
];

/// Libraries that never print and never read the environment: their callers pass values in.
const SILENT_CRATES: [&str; 4] =
    ["everlore", "everlore-kernel", "everlore-mock-llm", "everlore-server"];
const PRINTS_OR_READS_ENVIRONMENT: [&str; 6] =
    ["println!", "eprintln!", "print!", "eprint!", "dbg!", "std::env"];

/// The command line prints through `Output` only; `lib.rs` installs the log.
const PRINTING_FILES: [&str; 2] = ["src/output.rs", "src/lib.rs"];
const PRINTS: [&str; 7] =
    ["print!", "println!", "eprint!", "eprintln!", "io::stdout", "io::stderr", "Term::"];

/// Files and folders beside the crates whose lines name no requirement id either.
const OTHER_SOURCES: [&str; 5] = ["Cargo.toml", "Makefile", "examples", "integrations", "tools"];

/// Result of a rule that finds nothing.
const NONE: [&str; 0] = [];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn workspace() -> Vec<SourceFile> {
    let files = read_workspace(&root()).unwrap();
    assert!(files.len() > 500, "{} files: the sources were not found", files.len());
    files
}

fn assert_none(rule: impl Fn(&SourceFile) -> Vec<String>) {
    let violations: Vec<String> = workspace().iter().flat_map(rule).collect();
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

#[test]
fn every_file_opens_with_a_module_doc() {
    assert_none(missing_head);
}

#[test]
fn no_file_is_too_long() {
    assert_none(too_long);
}

#[test]
fn libraries_never_print_nor_read_the_environment() {
    assert_none(prints_or_reads_environment);
}

#[test]
fn the_command_line_prints_through_output() {
    assert_none(prints_past_output);
}

#[test]
fn type_names_are_unique_in_their_crate() {
    let violations = shared_type_names(&workspace());
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

#[test]
fn no_doc_comment_begins_with_a_question_word() {
    assert_none(banned_openings);
}

#[test]
fn no_comment_names_a_requirement_id() {
    assert_none(ids);
    let violations: Vec<String> =
        OTHER_SOURCES.iter().flat_map(|path| ids_below(&root().join(path))).collect();
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

fn missing_head(file: &SourceFile) -> Vec<String> {
    let message = || format!("{}: must start with `//! ` and its purpose", location(file));
    (!file.text.starts_with("//! ")).then(message).into_iter().collect()
}

fn too_long(file: &SourceFile) -> Vec<String> {
    let whole = SHORT_TEST_CRATES.contains(&file.crate_name.as_str());
    let lines = if whole { file.text.lines().count() } else { file.code.lines().count() };
    let message = || format!("{}: {lines} lines, at most {MAX_LINES}", location(file));
    let too_long = lines > MAX_LINES && !DATA_TABLES.contains(&file.path.as_str());
    too_long.then(message).into_iter().collect()
}

fn prints_or_reads_environment(file: &SourceFile) -> Vec<String> {
    if !SILENT_CRATES.contains(&file.crate_name.as_str()) {
        return Vec::new();
    }
    let grouped = names_environment_in_braces(&file.code).then_some("std::env");
    let plain = PRINTS_OR_READS_ENVIRONMENT.into_iter().filter(|word| has_word(&file.code, word));
    let message = |word| format!("{}: a library never uses `{word}`", location(file));
    plain.chain(grouped).map(message).collect()
}

fn prints_past_output(file: &SourceFile) -> Vec<String> {
    let is_bound = file.crate_name == "everlore-cli"
        && file.path.starts_with("src/")
        && !PRINTING_FILES.contains(&file.path.as_str());
    let prints = PRINTS.iter().filter(|print| is_bound && file.text.contains(**print));
    prints
        .map(|print| format!("{}: uses `{print}`: print through Output", location(file)))
        .collect()
}

/// Lists the definitions of each name that a crate defines more than once, test types included.
fn shared_type_names(files: &[SourceFile]) -> Vec<String> {
    let mut places: HashMap<(&str, String), Vec<String>> = HashMap::new();
    for file in files {
        for definition in items::type_definitions(&file.masked) {
            let place = format!("{}:{}", location(file), definition.line);
            places.entry((&file.crate_name, definition.name)).or_default().push(place);
        }
    }
    let is_excepted = |crate_name: &str, name: &str| {
        SHARED_TYPE_NAMES
            .iter()
            .any(|(in_crate, excepted, _)| (crate_name, name) == (in_crate, excepted))
    };
    let shared = places
        .into_iter()
        .filter(|((crate_name, name), places)| places.len() > 1 && !is_excepted(crate_name, name));
    shared
        .map(|((_, name), places)| format!("`{name}` is defined in {}", places.join(", ")))
        .collect()
}

fn banned_openings(file: &SourceFile) -> Vec<String> {
    let openings = doc_openings(&file.text, &file.masked).into_iter();
    let banned = openings.filter(|opening| opening.begins_with(&BANNED_OPENINGS));
    banned.map(|it| format!("{}:{}: {}", location(file), it.line, it.text)).collect()
}

fn ids(file: &SourceFile) -> Vec<String> {
    let lines = requirement_ids(&file.text, &file.masked).into_iter();
    lines.map(|line| format!("{}:{line}: a requirement id", location(file))).collect()
}

/// Lists the lines with a requirement id in a file, or in every file below a folder; skips files that are not UTF-8.
fn ids_below(path: &Path) -> Vec<String> {
    if path.is_dir() {
        let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        return entries.flat_map(|entry| ids_below(&entry)).collect();
    }
    // Sentences that models are trained on name paper sizes and licence classes.
    if path.extension().is_some_and(|extension| extension == "tsv") {
        return Vec::new();
    }
    let text = fs::read(path).map(String::from_utf8).unwrap().unwrap_or_default();
    let lines = text.lines().enumerate().filter(|(_, line)| has_requirement_id(line));
    lines.map(|(index, _)| format!("{}:{}: a requirement id", path.display(), index + 1)).collect()
}

fn location(file: &SourceFile) -> String {
    format!("{}/{}", file.crate_name, file.path)
}

/// Returns `true` if `word` occurs where no longer name ends: `eprintln!` is not `println!`.
fn has_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| !code[..at].ends_with(lexer::is_name_char))
}

/// Returns `true` for `use std::{fs, env}`.
fn names_environment_in_braces(code: &str) -> bool {
    let groups = code.split("std::{").skip(1).filter_map(|rest| rest.split_once(';'));
    groups
        .into_iter()
        .any(|(group, _)| group.split([',', '{', '}', ':']).any(|name| name.trim() == "env"))
}

fn file(path: &str, text: &str) -> SourceFile {
    SourceFile::new("everlore", path, text)
}

#[test]
fn a_file_without_a_head_is_caught() {
    assert_eq!(missing_head(&file("src/a.rs", "use std::fs;\n")).len(), 1);
    assert_eq!(missing_head(&file("src/a.rs", "//! Purpose.\n")), NONE);
}

#[test]
fn a_long_file_is_caught_and_its_tests_do_not_count() {
    let (long, short) = ("let x;\n".repeat(MAX_LINES + 1), "let x;\n".repeat(MAX_LINES - 1));
    assert_eq!(too_long(&file("src/a.rs", &long)).len(), 1);
    assert_eq!(too_long(&file("src/a.rs", &"// comment\n".repeat(MAX_LINES + 1))).len(), 1);
    let tests = format!("{short}#[cfg(test)]\nmod tests {{\n{long}}}");
    assert_eq!(too_long(&file("src/a.rs", &tests)), NONE);
    assert_eq!(too_long(&file("src/text/stop_words.rs", &long)), NONE);
    assert_eq!(too_long(&SourceFile::new("everlore-cli", "src/a.rs", &tests)).len(), 1);
}

#[test]
fn printing_and_reading_the_environment_are_caught() {
    let samples = [
        "println!(\"x\")",
        "eprint!(\"x\")",
        "dbg!(x)",
        "std::env::var(\"HOME\")",
        "use std::{fs, env};",
        "use std::{env::{self, var}, fs};",
    ];
    for sample in samples {
        assert_eq!(prints_or_reads_environment(&file("src/a.rs", sample)).len(), 1, "{sample}");
    }
    let fine = "// println!\nconst V: &str = env!(\"CARGO_PKG_VERSION\");\n#[cfg(test)]\nfn f() { println!() }";
    assert_eq!(prints_or_reads_environment(&file("src/a.rs", fine)), NONE);
    let print = SourceFile::new("everlore-cli", "src/commands/list.rs", "println!(\"x\")");
    assert_eq!(prints_past_output(&print).len(), 1);
    assert_eq!(prints_or_reads_environment(&print), NONE);
}

#[test]
fn a_type_name_in_two_files_of_a_crate_is_caught() {
    let one = |crate_name: &str, text: &str| SourceFile::new(crate_name, "src/a.rs", text);
    let twice =
        [one("everlore", "struct A;"), one("everlore", "#[cfg(test)]\nmod t { enum A {} }")];
    assert_eq!(shared_type_names(&twice).len(), 1);
    let apart = [one("everlore", "struct A;"), one("everlore-cli", "struct A;")];
    assert_eq!(shared_type_names(&apart), NONE);
    let excepted = [one("everlore", "struct FolderNode;"), one("everlore", "enum FolderNode {}")];
    assert_eq!(shared_type_names(&excepted), NONE);
}

#[test]
fn banned_openings_and_ids_are_caught() {
    let text = "/// Whether it is.\nfn f() {}\n/// Returns it.\nfn g() {}\n/// Returns that (A12).\nfn h() {}";
    assert_eq!(banned_openings(&file("src/a.rs", text)).len(), 1);
    assert_eq!(ids(&file("src/a.rs", text)).len(), 1);
}
