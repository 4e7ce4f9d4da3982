//! Hermes: two files of entries, separated by lines with a section sign.

use super::{
    ExternalDraft, ImportDecision, ParsedImport, SourceFile, markdown_notes::MarkdownNotes,
};
use crate::{files::layers::Layer, types::Kind};

/// Line between two entries.
pub(super) const SEPARATOR: &str = "§";

/// Classifies a file of the home.
pub(super) fn classify_file(path: &str) -> ImportDecision {
    match path.strip_prefix("memories/").unwrap_or(path) {
        "MEMORY.md" | "USER.md" => ImportDecision::Import,
        "SOUL.md" if !path.contains('/') => ImportDecision::Import,
        "ARCHIVE.jsonl" => ImportDecision::Reject("entries that Hermes archived are not read"),
        _ => ImportDecision::Ignore,
    }
}

/// Parses a file. An entry has no name: only its text identifies it.
pub(super) fn parse(file: &SourceFile, source: &str, import: &mut ParsedImport) {
    let text = match file.text() {
        Ok(text) => text,
        Err(skipped) => return import.skipped.push(skipped),
    };
    let (kind, layer) = match file.name() {
        "SOUL.md" => {
            let (kind, layer) = (Some(Kind::Feedback), Some(Layer::Soul));
            return MarkdownNotes { file, source, kind, layer, tags: Vec::new() }
                .import_into(&text, import);
        }
        "USER.md" => (Some(Kind::User), Layer::User),
        _ => (None, Layer::Memory),
    };
    let entries = split_entries(&text);
    if entries.is_empty() {
        import.skip(&file.path, "it is empty");
    }
    import.drafts.extend(entries.into_iter().map(|(line, content)| ExternalDraft {
        location: format!("{}:{line}", file.path),
        source: source.to_owned(),
        kind,
        content: content.clone(),
        layer: Some((layer, content)),
        ..ExternalDraft::default()
    }));
}

/// Returns the entries of a text, each with its first line.
fn split_entries(text: &str) -> Vec<(usize, String)> {
    let mut entries = vec![(1, String::new())];
    for (index, line) in text.lines().enumerate() {
        match entries.last_mut() {
            _ if line.trim() == SEPARATOR => entries.push((index + 2, String::new())),
            Some((_, entry)) => {
                entry.push_str(line);
                entry.push('\n');
            }
            None => {}
        }
    }
    let trimmed = entries.into_iter().map(|(line, entry)| (line, entry.trim().to_owned()));
    trimmed.filter(|(_, entry)| !entry.is_empty()).collect()
}
