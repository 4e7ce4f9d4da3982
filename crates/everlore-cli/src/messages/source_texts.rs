//! Texts of the sources: the string literals outside of tests, each with the calls that it stands in.

use std::{fs, path::Path};

/// String literal of the sources.
#[derive(Debug)]
pub(super) struct SourceText {
    /// File in which it stands, from the crates folder.
    pub(super) file: String,
    /// Text as the program has it.
    pub(super) text: String,
    /// Functions and macros that it is an argument of, the outermost first.
    pub(super) calls: Vec<String>,
}

impl SourceText {
    /// Returns the text as it is printed, with this value in place of each placeholder.
    pub(super) fn sample(&self, value: &str) -> String {
        let mut sample = String::new();
        let mut rest = self.text.replace("{{", "\u{1}").replace("}}", "\u{2}");
        while let Some(start) = rest.find('{') {
            let Some(end) = rest[start..].find('}') else { break };
            sample += &rest[..start];
            sample += value;
            rest = rest.split_off(start + end + 1);
        }
        sample += &rest;
        sample.replace('\u{1}', "{").replace('\u{2}', "}")
    }
}

/// Reads the literals of a folder below the crates folder.
pub(super) fn source_texts(folder: &str) -> Vec<SourceText> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut texts = Vec::new();
    read_folder(&crates.join(folder), &crates, &mut texts);
    texts
}

fn read_folder(folder: &Path, crates: &Path, texts: &mut Vec<SourceText>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            read_folder(&path, crates, texts);
        } else if name.ends_with(".rs") && !name.contains("test") {
            let file = path.strip_prefix(crates).unwrap().display().to_string();
            let source = fs::read_to_string(&path).unwrap();
            let end = source.find("#[cfg(test)]\nmod tests").unwrap_or(source.len());
            read_literals(&source[..end], &file, texts);
        }
    }
}

/// Reads the literals of a source.
fn read_literals(source: &str, file: &str, texts: &mut Vec<SourceText>) {
    let mut calls: Vec<String> = Vec::new();
    let mut rest = source;
    let mut before = String::new();
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
            continue;
        }
        if let Some((literal, after)) = literal(rest, &before) {
            let calls = calls.iter().filter(|call| !call.is_empty()).cloned().collect();
            texts.push(SourceText { file: file.to_owned(), text: literal, calls });
            (rest, before) = (after, String::new());
            continue;
        }
        match c {
            '(' | '[' | '{' => calls.push(called(&before)),
            ')' | ']' | '}' => drop(calls.pop()),
            _ => {}
        }
        let length = char_literal(rest).unwrap_or(c.len_utf8());
        before.push_str(&rest[..length]);
        rest = &rest[length..];
    }
}

/// Returns a string literal at the beginning, and what follows it.
fn literal<'a>(rest: &'a str, before: &str) -> Option<(String, &'a str)> {
    let is_word = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    if let Some(raw) = rest.strip_prefix('r').filter(|_| !is_word) {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let text = raw[hashes..].strip_prefix('"')?;
        let end = text.find(&format!("\"{}", "#".repeat(hashes)))?;
        return Some((text[..end].to_owned(), &text[end + 1 + hashes..]));
    }
    let text = rest.strip_prefix('"')?;
    let mut literal = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((literal, &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => literal.push('\n'),
                '\n' => {
                    let skipped = chars.as_str().len() - chars.as_str().trim_start().len();
                    for _ in 0..skipped {
                        chars.next();
                    }
                }
                other => literal.push(other),
            },
            c => literal.push(c),
        }
    }
    None
}

/// Returns the length of a character literal at the beginning. A lifetime is none.
fn char_literal(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix('\'')?;
    let end = if body.starts_with('\\') {
        2 + body.get(2..)?.find('\'')?
    } else {
        body.char_indices().nth(1).filter(|(_, c)| *c == '\'')?.0
    };
    Some(end + 2)
}

/// Returns the name at the end of a text.
fn called(before: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || "_:!".contains(c);
    let start = before.trim_end_matches(is_part).len();
    before[start..].to_owned()
}

#[test]
fn literals_are_read_with_their_calls() {
    let source = r##"fn a() { out.note(&format!("one {x} \
        two", 'c', '"')); } // "no"
        const B: &str = r#"raw "text""#; fn c<'a>() { Error::invalid("x\n{{}}") }"##;
    let mut texts = Vec::new();
    read_literals(source, "a.rs", &mut texts);
    let found: Vec<_> = texts.iter().map(|text| text.sample("7")).collect();
    assert_eq!(found, ["one 7 two", "raw \"text\"", "x\n{}"]);
    assert_eq!(texts[0].calls.last().unwrap(), "format!");
    assert!(texts[0].calls.contains(&"note".to_owned()), "{texts:?}");
    assert!(texts[2].calls.contains(&"Error::invalid".to_owned()), "{texts:?}");
}
