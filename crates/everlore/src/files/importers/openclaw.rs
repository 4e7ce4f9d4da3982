//! OpenClaw: a workspace of markdown files, with a log for each day.

use jiff::{civil::Date, tz::TimeZone};

use super::{
    ExternalDraft, ImportDecision, ParsedImport, SourceFile, markdown_notes::MarkdownNotes,
};
use crate::{
    files::layers::Layer,
    text::language::{Language, detect_language},
    types::Kind,
};

/// Characters of a date at the start of a name.
const DATE_CHARS: usize = 10;

/// Classifies a file of the workspace.
pub(super) fn classify_file(path: &str) -> ImportDecision {
    match path {
        "SOUL.md" | "USER.md" | "IDENTITY.md" | "MEMORY.md" | "TOOLS.md" => ImportDecision::Import,
        "AGENTS.md" | "HEARTBEAT.md" | "BOOT.md" | "BOOTSTRAP.md" => {
            ImportDecision::Reject("it has instructions for the agent, not memories")
        }
        "skills" => ImportDecision::Reject("skills are not memories"),
        path if path.starts_with("memory/") && path.ends_with(".md") => ImportDecision::Import,
        _ => ImportDecision::Ignore,
    }
}

/// Parses a file.
pub(super) fn parse(file: &SourceFile, source: &str, import: &mut ParsedImport) {
    let text = match file.text() {
        Ok(text) => text,
        Err(skipped) => return import.skipped.push(skipped),
    };
    if let Some(day) = date_from_name(file.name()) {
        return import.add_day(file, source, day, &text);
    }
    let (kind, layer) = match file.name() {
        "SOUL.md" | "IDENTITY.md" => (Some(Kind::Feedback), Some(Layer::Soul)),
        "USER.md" => (Some(Kind::User), Some(Layer::User)),
        "MEMORY.md" => (None, Some(Layer::Memory)),
        "TOOLS.md" => (Some(Kind::Reference), None),
        _ => (None, None),
    };
    MarkdownNotes { file, source, kind, layer, tags: Vec::new() }.import_into(&text, import);
}

impl ParsedImport {
    /// Adds a day as one memory, like a day of the daily log.
    fn add_day(&mut self, file: &SourceFile, source: &str, day: Date, text: &str) {
        if text.trim().is_empty() {
            return self.skip(&file.path, "it is empty");
        }
        let rest = file.name().trim_end_matches(".md")[DATE_CHARS..].trim_start_matches('-');
        let about = if rest.is_empty() { String::new() } else { format!(" ({rest})") };
        let name = match detect_language(text) {
            Language::Chinese => format!("{day} 的日志{about}"),
            _ => format!("Daily log of {day}{about}"),
        };
        self.drafts.push(ExternalDraft {
            location: file.path.clone(),
            source: source.to_owned(),
            key: Some(String::new()),
            kind: Some(Kind::Session),
            name: Some(super::markdown_notes::shorten_title(&name)),
            content: text.trim().to_owned(),
            tags: vec!["daily".to_owned()],
            // Noon is that day in every zone nearby.
            at: day.at(12, 0, 0, 0).to_zoned(TimeZone::UTC).ok().map(|noon| noon.timestamp()),
            ..ExternalDraft::default()
        });
    }
}

/// Returns the date that a name begins with: `2026-03-02.md`, `2026-03-02-standup.md`.
fn date_from_name(name: &str) -> Option<Date> {
    let rest = name.strip_suffix(".md")?;
    let (date, rest) = (rest.get(..DATE_CHARS)?, rest.get(DATE_CHARS..)?);
    let is_named = rest.is_empty() || rest.starts_with('-');
    is_named.then(|| date.parse().ok())?
}
