//! OpenClaw: a workspace of markdown files, with a log for each day.

use jiff::{civil::Date, tz::TimeZone};

use super::{ForeignDraft, Found, SourceFile, Want, pieces::Notes};
use crate::{
    files::layers::Layer,
    text::language::{Language, language_of},
    types::Kind,
};

/// So long is a date at the start of a name.
const DATE_CHARS: usize = 10;

/// What a file of the workspace is.
pub(super) fn wants(path: &str) -> Want {
    match path {
        "SOUL.md" | "USER.md" | "IDENTITY.md" | "MEMORY.md" | "TOOLS.md" => Want::Take,
        "AGENTS.md" | "HEARTBEAT.md" | "BOOT.md" | "BOOTSTRAP.md" => {
            Want::Refuse("it tells the agent how to work there, and is no memory")
        }
        "skills" => Want::Refuse("skills are no memories"),
        path if path.starts_with("memory/") && path.ends_with(".md") => Want::Take,
        _ => Want::Pass,
    }
}

/// Takes a file apart.
pub(super) fn parse(file: &SourceFile, source: &str, found: &mut Found) {
    let text = match file.text() {
        Ok(text) => text,
        Err(skipped) => return found.skipped.push(skipped),
    };
    if let Some(day) = day_of(file.name()) {
        return found.take_day(file, source, day, &text);
    }
    let (kind, layer) = match file.name() {
        "SOUL.md" | "IDENTITY.md" => (Some(Kind::Feedback), Some(Layer::Soul)),
        "USER.md" => (Some(Kind::User), Some(Layer::User)),
        "MEMORY.md" => (None, Some(Layer::Memory)),
        "TOOLS.md" => (Some(Kind::Reference), None),
        _ => (None, None),
    };
    Notes { file, source, kind, layer, tags: Vec::new() }.take(&text, found);
}

impl Found {
    /// A day is one memory, as in the daily log here.
    fn take_day(&mut self, file: &SourceFile, source: &str, day: Date, text: &str) {
        if text.trim().is_empty() {
            return self.skip(&file.path, "it is empty");
        }
        let rest = file.name().trim_end_matches(".md")[DATE_CHARS..].trim_start_matches('-');
        let about = if rest.is_empty() { String::new() } else { format!(" ({rest})") };
        let name = match language_of(text) {
            Language::Chinese => format!("{day} 的日志{about}"),
            _ => format!("Daily log of {day}{about}"),
        };
        self.drafts.push(ForeignDraft {
            place: file.path.clone(),
            source: source.to_owned(),
            key: Some(String::new()),
            kind: Some(Kind::Session),
            name: Some(super::pieces::shortened(&name)),
            content: text.trim().to_owned(),
            tags: vec!["daily".to_owned()],
            // Noon is that day in every zone nearby.
            at: day.at(12, 0, 0, 0).to_zoned(TimeZone::UTC).ok().map(|noon| noon.timestamp()),
            ..ForeignDraft::default()
        });
    }
}

/// The day that a name begins with: `2026-03-02.md`, `2026-03-02-standup.md`.
fn day_of(name: &str) -> Option<Date> {
    let rest = name.strip_suffix(".md")?;
    let (date, rest) = (rest.get(..DATE_CHARS)?, rest.get(DATE_CHARS..)?);
    let is_named = rest.is_empty() || rest.starts_with('-');
    is_named.then(|| date.parse().ok())?
}
