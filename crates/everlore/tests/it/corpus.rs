//! Replay of fuzz seeds and findings: every input goes through the check of its target.

use std::{fs, path::Path};

use proptest::prelude::*;

#[path = "../../../../fuzz/checks.rs"]
pub(crate) mod checks;

/// Runs a check on every seed of its folder, and on the findings: one input a line, in hexadecimal digits.
fn run(target: &str, check: impl Fn(&[u8])) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    for file in fs::read_dir(fuzz.join("seeds").join(target)).unwrap() {
        check(&fs::read(file.unwrap().path()).unwrap());
    }
    let findings = fs::read_to_string(fuzz.join(format!("found/{target}.txt"))).unwrap();
    findings.lines().for_each(|line| check(&from_hex(line)));
}

fn from_hex(line: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&line[at..at + 2], 16).unwrap();
    (0..line.len()).step_by(2).map(byte).collect()
}

/// Runs a check of a target that takes text only.
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
fn seeds_of_documents() {
    run("documents", checks::check_documents);
}

#[test]
fn seeds_of_front_matter() {
    run_on_text("front_matter", checks::check_front_matter);
}

#[test]
fn seeds_of_pack() {
    run_on_text("pack", checks::check_pack);
}

#[test]
fn seeds_of_sanitize() {
    run_on_text("sanitize", checks::check_sanitize);
}

#[test]
fn seeds_of_sections() {
    run_on_text("sections", checks::check_sections);
}

/// Generates lines of both kinds of files, whole and broken.
fn lines() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "(---|name: |type: user|tags: \\[a, 茶\\]|- x|  key: 'v|# 注释|id: |: |\\||>|&a |\\*a|\\{\\})",
        "(## 标题|# One|## A|### b|```|~~~|<!--|-->|    code|> quote|- item|---|===|<pre>|</pre>)",
        "[ a-z茶\u{feff}\\r\\t\"'#:`~<>-]{0,12}",
    ];
    prop::collection::vec((line, "(\\n|\\r\\n|\\r| )"), 0..16)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line + &end).collect())
}

/// Generates texts of pieces that form tags in ways that nobody thought of.
fn hostile_text() -> impl Strategy<Value = String> {
    let pieces = "< ＜ ﹤ ≮ ‹ « 〈 《 ⟨ ᐸ ˂ ❮ > ＞ / ／ ∕ ⁄ \\ | ! ? = \" : _ memory-context memory_context memory -context ‐context \
        MEMORY mеmоry соntеxt ｍｅｍｏｒｙ－ｃｏｎｔｅｘｔ user-profile agent-identity recent-activity system ѕуѕtem sys tem assistant \
        |im_start|> x: [INST] [/INST] &lt; ❤ a 的 1 क tool_result conversation-so-far 𝐦𝐞𝐦𝐨𝐫𝐲 ⓢⓨⓢⓣⓔⓜ";
    let blanks = "\n\r\t \u{a0}\u{85}\u{b}\u{1680}\u{3000}\u{2800}\u{2028}\u{200b}\u{200c}\u{200d}\u{fe0f}\u{301}\u{338}\u{34f}\u{202e}\u{e0041}";
    let pieces =
        pieces.split_whitespace().map(str::to_owned).chain(blanks.chars().map(String::from));
    let piece = prop::sample::select(pieces.collect::<Vec<_>>());
    let any = any::<char>().prop_map(String::from);
    prop::collection::vec(prop_oneof![9 => piece, 1 => any], 1..16)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_generated_text_gets_out_of_its_block(text in hostile_text()) {
        checks::check_sanitize(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_lines_pass_the_checks_of_sections_and_front_matter(text in lines()) {
        checks::check_sections(&text);
        checks::check_front_matter(&text);
        checks::check_front_matter(&format!("---\n{text}\n---\n{text}"));
    }
}

#[test]
fn every_target_has_inputs_that_are_run_here() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let names = |folder: &str| -> Vec<String> {
        let entries = fs::read_dir(fuzz.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<_> =
            entries.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(
        names("fuzz_targets"),
        [
            "analyze",
            "config",
            "documents",
            "front_matter",
            "import",
            "pack",
            "sanitize",
            "sections",
            "terms"
        ]
    );
    assert_eq!(names("fuzz_targets"), names("seeds"));
    assert_eq!(names("fuzz_targets"), names("found"));
}
