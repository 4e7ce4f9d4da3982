//! Lines of an identity file, and where a statement belongs among them.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use super::proposal::LayerLineEdit;
use crate::{
    files::{layers::Layer, sections::MarkdownSections},
    text::{
        language::{Language, detect_language},
        statement_terms::StatementTerms,
        text_sketch::TextSketch,
    },
};

/// Titles of the section that a statement goes to, the one that is created first in each language.
fn titles(layer: Layer, is_fact: bool) -> [&'static str; 4] {
    match layer {
        Layer::User if is_fact => ["About", "基本情况", "About the user", "关于用户"],
        Layer::Soul => ["Wishes of the user", "用户的要求", "Behaviour", "行为方式"],
        _ => ["Preferences", "偏好", "User preferences", "用户偏好"],
    }
}

/// Identity file, read line by line.
pub(crate) struct LayerLines<'a> {
    layer: Layer,
    text: &'a str,
    sections: MarkdownSections<'a>,
    /// Keys of the statements of its lines, with section and line.
    by_key: HashMap<u64, (String, &'a str)>,
    sketches: Vec<TextSketch>,
}

impl<'a> LayerLines<'a> {
    /// Reads an identity file.
    pub(crate) fn new(layer: Layer, text: &'a str) -> Self {
        let sections = MarkdownSections::parse(text);
        let mut by_key = HashMap::new();
        let mut title = String::new();
        for line in text.lines() {
            if let Some(heading) = line.strip_prefix("## ") {
                title = heading.trim().to_owned();
            }
            let statement = StatementTerms::of(bare(line));
            if !statement.is_empty() && !line.starts_with('#') {
                by_key.insert(statement.key(), (title.clone(), line));
            }
        }
        let sketches = text.lines().map(|line| TextSketch::of(bare(line))).collect();
        Self { layer, text, sections, by_key, sketches }
    }

    /// Returns `true` if a line says what a statement says.
    pub(crate) fn says(&self, statement: &str) -> bool {
        let sketch = TextSketch::of(statement);
        self.by_key.contains_key(&StatementTerms::of(statement).key())
            || self.sketches.iter().any(|line| sketch.is_covered_by(line))
    }

    /// Returns the edit that puts a statement in the place of the line that says an older one; `None` if no line does.
    pub(crate) fn replacing(&self, older: &str, statement: &str) -> Option<LayerLineEdit> {
        if self.by_key.is_empty() {
            return None;
        }
        let (section, line) = self.by_key.get(&StatementTerms::of(older).key())?;
        let mark = &line[..line.len() - bare(line).len()];
        // A line before the first section belongs to none, and cannot be named.
        (!section.is_empty()).then(|| LayerLineEdit {
            layer: self.layer,
            section: section.clone(),
            old: Some((*line).to_owned()),
            new: format!("{mark}{}", one_line(statement)),
            base: section_base(self.text, section),
        })
    }

    /// Returns the edit that adds a statement: a fact about the user, or something that they want.
    pub(crate) fn adding(&self, statement: &str, is_fact: bool) -> LayerLineEdit {
        let section = self.section_for(statement, is_fact);
        LayerLineEdit {
            layer: self.layer,
            old: None,
            new: format!("- {}", one_line(statement)),
            base: section_base(self.text, &section),
            section,
        }
    }

    /// Returns the section for such statements that the file has, or the title of a new one in the statement's language.
    fn section_for(&self, statement: &str, is_fact: bool) -> String {
        let titles = titles(self.layer, is_fact);
        let is_chinese = detect_language(statement) == Language::Chinese;
        let has = |title: &&&str| self.sections.iter().any(|section| section.title == **title);
        let found = titles.iter().find(has).copied();
        found.unwrap_or(titles[usize::from(is_chinese)]).to_owned()
    }
}

/// Returns the digest of a section, with its heading; that of nothing if there is no such section.
pub(crate) fn section_base(text: &str, title: &str) -> String {
    let sections = MarkdownSections::parse(text);
    let found = sections.iter().find(|section| section.title == title);
    let digest = Sha256::digest(found.map_or("", |section| section.text));
    digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a line without the mark of a list.
fn bare(line: &str) -> &str {
    line.trim_start().trim_start_matches(['-', '*', '+', ' '])
}

fn one_line(statement: &str) -> String {
    statement.split_whitespace().collect::<Vec<_>>().join(" ")
}
