//! Checks the source tree itself: which module may use which, how long a file may be, and what the engine never does.
//!
//! `types ◀ text ◀ {llm, files ◀ store} ◀ {ingest, recall, upkeep, growth} ◀ prompt ◀ engine ◀ tools ◀ chat`: a module uses
//! what stands to its left, never what stands to its right or beside it. Test code is exempt.

#![expect(clippy::unwrap_used, reason = "a check that cannot read the tree must stop")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Who may use whom. A module may always use itself. `lib` is the root of the crate: it names everything.
const MAY_USE: [(&str, &[&str]); 17] = [
    ("error", &[]),
    ("sync", &["error"]),
    ("types", &["error"]),
    ("config", &["error", "types"]),
    ("text", &["error", "config", "types"]),
    ("store", &["error", "sync", "config", "types", "text", "files"]),
    ("llm", &["error", "sync", "config", "types", "text"]),
    ("files", &["error", "sync", "config", "types", "text"]),
    ("ingest", STEP),
    ("recall", STEP),
    ("upkeep", STEP),
    ("growth", STEP),
    ("prompt", &["types", "text", "files", "recall"]),
    ("engine", ANY),
    ("tools", ANY),
    ("chat", CONVERSATION),
    ("lib", ANY),
];

/// What a step of the write path, the read path or the work between turns may use.
const STEP: &[&str] = &["error", "sync", "config", "types", "text", "store", "llm", "files"];

const ANY: &[&str] = &[
    "error", "sync", "config", "types", "text", "store", "llm", "files", "ingest", "recall",
    "upkeep", "growth", "prompt", "engine",
];

/// A conversation stands on everything, the tools included.
const CONVERSATION: &[&str] = &[
    "error", "sync", "config", "types", "text", "llm", "files", "ingest", "recall", "prompt",
    "engine", "tools", "store",
];

/// A file longer than this, tests aside, holds more than one thing.
const MAX_LINES: usize = 400;

/// Files that are tables of data and may be longer.
const DATA_TABLES: [&str; 2] = ["text/stop_words.rs", "recall/query/synonyms.rs"];

/// Files that hold nothing but tests end like this.
const TEST_FILES: [&str; 2] = ["tests.rs", "conformance.rs"];

/// What a library that never prints and never looks around does not contain.
const NEVER: [&str; 6] = ["println!", "eprintln!", "print!", "eprint!", "dbg!", "std::env"];

/// What a good sample yields.
const NONE: [&str; 0] = [];

#[test]
fn modules_use_only_what_the_arrows_allow() {
    assert_none(forbidden_uses);
}

#[test]
fn every_file_opens_with_what_it_is_for() {
    assert_none(missing_head);
}

#[test]
fn no_file_is_too_long() {
    assert_none(too_long);
}

#[test]
fn the_engine_never_prints_nor_reads_the_environment() {
    assert_none(sees_or_prints);
}

/// A source file of the engine.
struct RustSource {
    /// Its path below `src`, with forward slashes.
    path: String,
    /// The file as it is.
    text: String,
    /// The same without comments, the insides of strings, and test code.
    code: String,
}

impl RustSource {
    fn new(path: &str, text: &str) -> Self {
        let is_test = TEST_FILES.iter().any(|end| path.ends_with(end));
        let code = if is_test { String::new() } else { without_tests(&code_only(text)) };
        Self { path: path.to_owned(), text: text.to_owned(), code }
    }

    /// The names of the modules that lead to this file: `recall/score.rs` is `recall`, `score`.
    fn module(&self) -> Vec<&str> {
        let path = self.path.trim_end_matches(".rs");
        path.trim_end_matches("/mod").split('/').collect()
    }
}

fn assert_none(check: impl Fn(&RustSource) -> Vec<String>) {
    let found: Vec<String> = sources().iter().flat_map(check).collect();
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

fn forbidden_uses(file: &RustSource) -> Vec<String> {
    let module = file.module();
    let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == module[0]) else {
        return vec![format!(
            "{}: module `{}` has no place in the arrows; add it to MAY_USE",
            file.path, module[0]
        )];
    };
    let known = |name: &String| MAY_USE.iter().any(|(known, _)| known == name);
    used_modules(&file.code, &module)
        .into_iter()
        .filter(|used| known(used) && used != module[0] && !allowed.contains(&used.as_str()))
        .map(|used| format!("{}: `{}` may not use `{used}`", file.path, module[0]))
        .collect()
}

fn missing_head(file: &RustSource) -> Vec<String> {
    let good = file.text.starts_with("//! ");
    if good {
        vec![]
    } else {
        vec![format!("{}: must start with `//! ` and what it is for", file.path)]
    }
}

fn too_long(file: &RustSource) -> Vec<String> {
    let lines = file.code.lines().count();
    let good = lines <= MAX_LINES || DATA_TABLES.contains(&file.path.as_str());
    if good {
        vec![]
    } else {
        vec![format!("{}: {lines} lines, at most {MAX_LINES} before the tests", file.path)]
    }
}

fn sees_or_prints(file: &RustSource) -> Vec<String> {
    let grouped = first_names(&file.code, "std::").contains("env").then_some("std::env");
    let plain = NEVER.into_iter().filter(|never| has_word(&file.code, never));
    let found: BTreeSet<&str> = plain.chain(grouped).collect();
    found
        .into_iter()
        .map(|never| format!("{}: the engine never uses `{never}`", file.path))
        .collect()
}

/// Whether `word` occurs where no longer name ends: `eprintln!` is not `println!`.
fn has_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| !code[..at].ends_with(is_name_char))
}

/// The modules at the root of the crate that `code` names, by `crate::` or by enough `super::`.
fn used_modules(code: &str, module: &[&str]) -> BTreeSet<String> {
    let to_root = "super::".repeat(module.len());
    first_names(code, "crate::").into_iter().chain(first_names(code, &to_root)).collect()
}

/// The names that directly follow `prefix`, one by one or in braces.
fn first_names(code: &str, prefix: &str) -> BTreeSet<String> {
    let starts = code.match_indices(prefix).filter(|(at, _)| !code[..*at].ends_with(is_name_char));
    starts.flat_map(|(at, _)| names_at(&code[at + prefix.len()..])).collect()
}

fn names_at(rest: &str) -> Vec<String> {
    match rest.trim_start().strip_prefix('{') {
        Some(group) => top_level_parts(group).iter().map(|part| name(part)).collect(),
        None => vec![name(rest)],
    }
}

fn name(text: &str) -> String {
    text.trim_start().chars().take_while(|c| is_name_char(*c)).collect()
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Splits what follows an opening brace at the commas that no inner brace holds, up to the closing one.
fn top_level_parts(group: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            ',' if depth == 0 => parts.push(String::new()),
            _ => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                parts.last_mut().unwrap().push(c);
            }
        }
    }
    parts
}

/// Cuts every item marked `#[cfg(test)]`, up to its semicolon or its closing brace.
fn without_tests(code: &str) -> String {
    let Some((before, rest)) = code.split_once("#[cfg(test)]") else { return code.to_owned() };
    before.to_owned() + &without_tests(&rest[item_end(rest)..])
}

fn item_end(code: &str) -> usize {
    let mut depth = 0;
    for (at, c) in code.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 && (c == '}' || c == ';') {
            return at + 1;
        }
    }
    code.len()
}

/// Blanks comments and the insides of string and character literals; line ends stay.
fn code_only(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = literal_len(rest, &code);
        if skipped == 0 {
            code.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            code.extend(rest[..skipped].chars().filter(|c| *c == '\n'));
            rest = &rest[skipped..];
        }
    }
    code
}

/// How many bytes at the start of `rest` are a comment or a literal; 0 if they are code.
fn literal_len(rest: &str, before: &str) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return rest.find("*/").map_or(rest.len(), |end| end + 2);
    }
    if rest.starts_with('"') {
        return closing(rest, 1, '"');
    }
    if rest.starts_with('r') && !before.ends_with(|c: char| is_name_char(c) && c != 'b') {
        return raw_string_len(rest);
    }
    if rest.starts_with('\'') { char_len(rest) } else { 0 }
}

/// The length of a literal whose inside starts at `from` and ends at `quote`, escapes passed over.
fn closing(rest: &str, from: usize, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest[from..].char_indices() {
        if c == quote && !escaped {
            return from + at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    rest.len()
}

fn raw_string_len(rest: &str) -> usize {
    let hashes = rest[1..].chars().take_while(|c| *c == '#').count();
    let inside = 1 + hashes + 1;
    if !rest[1 + hashes..].starts_with('"') {
        return 0;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    rest[inside..].find(&end).map_or(rest.len(), |at| inside + at + end.len())
}

/// A lifetime is not a character: it has no closing quote after one character.
fn char_len(rest: &str) -> usize {
    let mut inside = rest[1..].chars();
    match (inside.next(), inside.next()) {
        (Some('\\'), _) => closing(rest, 1, '\''),
        (Some(c), Some('\'')) => 2 + c.len_utf8(),
        _ => 0,
    }
}

/// Every source file of the engine but those that hold only tests.
fn sources() -> Vec<RustSource> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    collect(&root, "", &mut all);
    let tests: BTreeSet<String> = all.iter().flat_map(test_files).collect();
    all.retain(|file| !tests.contains(&file.path));
    assert!(all.len() > 5, "the sources were not found below {}", root.display());
    all
}

fn collect(folder: &Path, above: &str, all: &mut Vec<RustSource>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = format!("{above}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{path}/"), all);
        } else if path.ends_with(".rs") {
            all.push(RustSource::new(&path, &fs::read_to_string(entry.path()).unwrap()));
        }
    }
}

/// The files that `#[cfg(test)] mod name;` in this file points to.
fn test_files(file: &RustSource) -> Vec<String> {
    let module = file.module().join("/");
    let code = code_only(&file.text);
    let marked = code
        .split("#[cfg(test)]")
        .skip(1)
        .filter_map(|rest| rest.trim_start().strip_prefix("mod "));
    let outside = marked.filter(|rest| rest[name(rest).len()..].starts_with(';'));
    outside.map(|rest| format!("{module}/{}.rs", name(rest))).collect()
}

fn uses(path: &str, text: &str) -> Vec<String> {
    forbidden_uses(&RustSource::new(path, text))
}

#[test]
fn a_sibling_is_caught_however_it_is_written() {
    let expected = ["recall/score.rs: `recall` may not use `ingest`"];
    let samples = [
        "use crate::ingest::gate;",
        "use crate::{error::Error, ingest::{gate, buffer}};",
        "use crate::{\n    types::{Memory, Kind},\n    ingest,\n};",
        "pub(crate) use crate::ingest as other;",
        "fn f() { crate::ingest::run() }",
        "use super::super::ingest::gate;",
        "fn f<'a>(c: char) -> bool { c == '\"' && crate::ingest::is(\"x\") }",
    ];
    for sample in samples {
        assert_eq!(uses("recall/score.rs", sample), expected, "{sample}");
    }
}

#[test]
fn an_arrow_against_the_order_is_caught_at_every_step() {
    let cases = [
        ("types/memory.rs", "text"),
        ("config/mod.rs", "text"),
        ("error.rs", "types"),
        ("text/mod.rs", "store"),
        ("store/sqlite/rows.rs", "recall"),
        ("store/mod.rs", "llm"),
        ("files/vault.rs", "store"),
        ("growth/skills.rs", "upkeep"),
        ("upkeep.rs", "engine"),
        ("engine/mod.rs", "tools"),
    ];
    for (path, used) in cases {
        assert_eq!(uses(path, &format!("use crate::{used}::x;")).len(), 1, "{path} uses {used}");
    }
}

#[test]
fn what_the_arrows_allow_passes() {
    let fine = "use crate::{config::RecallConfig, error::Result};\nuse crate::store::Store;\nuse super::fuse;";
    assert_eq!(uses("recall/score.rs", fine), NONE);
    assert_eq!(uses("engine.rs", "use crate::{recall, ingest, growth, upkeep};"), NONE);
    assert_eq!(uses("tools/save.rs", "use crate::{engine::Engine, ingest::Edit};"), NONE);
}

#[test]
fn comments_texts_and_test_code_are_exempt() {
    let exempt = r##"
        //! See [`crate::recall`].
        /* crate::recall */
        const TEXT: &str = "crate::recall \" crate::recall";
        const RAW: &str = r#"crate::recall "quoted" crate::recall"#;
        #[cfg(test)]
        use crate::recall::x;
        #[cfg(test)]
        mod tests { use crate::recall::{a, b}; fn f() { if true {} } }
    "##;
    assert_eq!(uses("store/mod.rs", exempt), NONE);
    assert_eq!(
        uses("store/mod.rs", &format!("{exempt}use crate::recall;")).len(),
        1,
        "code after tests is not"
    );
}

#[test]
fn a_module_without_a_place_is_caught() {
    assert_eq!(uses("util.rs", "").len(), 1);
}

#[test]
fn a_file_of_tests_is_found_by_its_mark() {
    let file = RustSource::new(
        "config/mod.rs",
        "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod inner {}\nmod read;\n",
    );
    assert_eq!(test_files(&file), ["config/tests.rs"]);
}

#[test]
fn a_file_without_a_head_is_caught() {
    assert_eq!(missing_head(&RustSource::new("a.rs", "use std::fs;\n")).len(), 1);
    assert_eq!(missing_head(&RustSource::new("a.rs", "//! What.\n")), NONE);
}

#[test]
fn a_long_file_is_caught_and_its_tests_do_not_count() {
    let (long, short) = ("let x;\n".repeat(MAX_LINES + 1), "let x;\n".repeat(MAX_LINES - 1));
    assert_eq!(too_long(&RustSource::new("a.rs", &long)).len(), 1);
    assert_eq!(too_long(&RustSource::new("a.rs", &"// comment\n".repeat(MAX_LINES + 1))).len(), 1);
    assert_eq!(
        too_long(&RustSource::new("a.rs", &format!("{short}#[cfg(test)]\nmod tests {{\n{long}}}"))),
        NONE
    );
    assert_eq!(too_long(&RustSource::new("text/stop_words.rs", &long)), NONE);
}

#[test]
fn printing_and_looking_around_are_caught() {
    let samples = [
        "println!(\"x\")",
        "eprint!(\"x\")",
        "dbg!(x)",
        "std::env::var(\"HOME\")",
        "use std::{fs, env};",
        "use std::{env::{self, var}, fs};",
    ];
    for sample in samples {
        assert_eq!(sees_or_prints(&RustSource::new("a.rs", sample)).len(), 1, "{sample}");
    }
    let fine = "// println!\nconst V: &str = env!(\"CARGO_PKG_VERSION\");\n#[cfg(test)]\nfn f() { println!() }";
    assert_eq!(sees_or_prints(&RustSource::new("a.rs", fine)), NONE);
}
