//! basic-memory: a project of notes, each with observations (`- [category] fact #tag (context)`) and relations
//! (`- relation [[Target]]`) among its text.

mod statement;

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::{
    ExternalDraft, ImportDecision, ParsedImport, SourceFile,
    markdown_notes::{kind_from_heading, shorten_title},
    parse_time,
};
use crate::{
    error::Result,
    files::{
        front_matter::{FrontMatter, YamlValue},
        sections::MarkdownSections,
    },
    types::{Kind, Timestamp},
};
use statement::{NoteRelation, NoteText};

/// Type that basic-memory gives to a note without one; it says nothing.
const DEFAULT_TYPE: &str = "note";

/// Classifies a file: notes lie in any folder that is not hidden.
pub(super) fn classify_file(path: &str) -> ImportDecision {
    let is_note = path.ends_with(".md") && !path.split('/').any(|part| part.starts_with('.'));
    if is_note { ImportDecision::Import } else { ImportDecision::Ignore }
}

/// Returns `true` for a folder that may hold notes.
pub(super) fn descends_into(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    !name.starts_with('.') && name != "node_modules"
}

/// Returns `true` if a text begins with the front matter that basic-memory writes.
pub(super) fn is_note(text: &str) -> bool {
    let head = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---"));
    let has =
        |key: &str| head.is_some_and(|(head, _)| head.lines().any(|line| line.starts_with(key)));
    has("permalink:") && has("title:")
}

/// Parses a note of the project in the folder `root`.
pub(super) fn parse(file: &SourceFile, root: &str, import: &mut ParsedImport) {
    let text = match file.text() {
        Ok(text) => text,
        Err(skipped) => return import.skipped.push(skipped),
    };
    match BasicMemoryNote::read(file, &text) {
        Ok(note) => note.import_into(root, import),
        Err(error) => import.skip(&file.path, error.to_string()),
    }
}

/// Note with its front matter.
struct BasicMemoryNote<'a> {
    path: &'a str,
    title: String,
    /// Name that stays when the note is moved; the path without one.
    permalink: String,
    note_type: Option<String>,
    tags: Vec<String>,
    at: Option<Timestamp>,
    body: &'a str,
}

impl<'a> BasicMemoryNote<'a> {
    fn read(file: &'a SourceFile, text: &'a str) -> Result<Self> {
        let matter = FrontMatter::parse(text)?;
        let value = |key: &str| text_value(matter.as_ref()?, key);
        let time = |key: &str| parse_time(&Value::String(value(key)?));
        let stem = file.name().trim_end_matches(".md");
        Ok(Self {
            path: &file.path,
            title: shorten_title(&value("title").unwrap_or_else(|| stem.to_owned())),
            permalink: value("permalink").unwrap_or_else(|| file.path.clone()),
            note_type: value("type").filter(|of_type| of_type != DEFAULT_TYPE),
            tags: matter.as_ref().map(listed_tags).unwrap_or_default(),
            at: time("modified").or_else(|| time("created")).or_else(|| time("date")),
            body: matter.as_ref().map_or(text, FrontMatter::body),
        })
    }

    /// Imports what comes before the first section and all statements as one memory, and the text of each section as
    /// another.
    fn import_into(self, root: &str, import: &mut ParsedImport) {
        let (mut whole, mut sections) = (NoteText::default(), Vec::new());
        let parsed = MarkdownSections::parse(self.body);
        for (heading, part, body) in parsed.headed_texts() {
            let mut text = NoteText::parse(body, &self.title);
            if part.trim_start().starts_with("## ") {
                sections.push((heading, std::mem::take(&mut text.prose)));
            }
            whole.append(text);
        }
        sections.retain(|(_, prose)| !prose.trim().is_empty());
        let content = whole.content();
        if content.is_empty() && sections.is_empty() {
            return import.skip(self.path, "it is empty");
        }
        if !content.is_empty() {
            import.drafts.push(self.whole_draft(root, content, whole));
        }
        self.import_sections(root, &sections, import);
    }

    fn whole_draft(&self, root: &str, content: String, whole: NoteText) -> ExternalDraft {
        let mut draft = self.draft(root, self.permalink.clone(), content);
        draft.kind = self.kind();
        let is_new = |tag: &String| !self.tags.contains(tag);
        draft.tags.extend(whole.tags.into_iter().filter(is_new));
        if !whole.relations.is_empty() {
            let triple = |it: NoteRelation| json!([self.title, it.relation_type, it.target]);
            let relations: Vec<Value> = whole.relations.into_iter().map(triple).collect();
            draft.metadata.insert("relations".to_owned(), Value::Array(relations));
        }
        draft
    }

    fn import_sections(&self, root: &str, sections: &[(&str, String)], import: &mut ParsedImport) {
        let mut occurrences: HashMap<&str, usize> = HashMap::new();
        for (heading, prose) in sections {
            let nth = occurrences.entry(heading).or_insert(0);
            *nth += 1;
            let key = format!("{}\n{heading}\n{nth}", self.permalink);
            let mut draft = self.draft(root, key, prose.trim().to_owned());
            draft.location = format!("{}: {}", self.path, shorten_title(heading));
            draft.name = Some(shorten_title(&format!("{}: {heading}", self.title)));
            draft.kind = kind_from_heading(heading).or(self.kind());
            import.drafts.push(draft);
        }
    }

    /// Returns a draft with what all memories of the note share.
    fn draft(&self, root: &str, key: String, content: String) -> ExternalDraft {
        let mut metadata = Map::new();
        metadata.insert("permalink".to_owned(), json!(self.permalink));
        let of_type = self.note_type.iter().map(|of_type| shorten_title(of_type));
        ExternalDraft {
            location: self.path.to_owned(),
            source: root.to_owned(),
            key: Some(key),
            name: Some(self.title.clone()),
            content,
            tags: of_type.chain(self.tags.iter().cloned()).collect(),
            at: self.at,
            metadata,
            ..ExternalDraft::default()
        }
    }

    /// Returns the kind that the type names, or the title announces.
    fn kind(&self) -> Option<Kind> {
        let named = self.note_type.as_deref().and_then(|of_type| of_type.parse::<Kind>().ok());
        named.filter(|kind| kind.is_statement()).or_else(|| kind_from_heading(&self.title))
    }
}

fn text_value(matter: &FrontMatter<'_>, key: &str) -> Option<String> {
    match matter.get(key)? {
        YamlValue::Text(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        _ => None,
    }
}

/// Returns the tags: a list, or one text with commas.
fn listed_tags(matter: &FrontMatter<'_>) -> Vec<String> {
    let tags: Vec<String> = match matter.get("tags") {
        Some(YamlValue::List(tags)) => tags.clone(),
        Some(YamlValue::Text(tags)) => tags.split(',').map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let tags = tags.iter().map(|tag| shorten_title(tag.trim().trim_start_matches('#')));
    tags.filter(|tag| !tag.is_empty()).collect()
}
