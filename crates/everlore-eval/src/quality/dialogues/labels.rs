//! Labelled dialogues: the form of `data/dialogues`, described in `data/README.md`.

use anyhow::{Context, Result, bail};
use everlore::types::{Role, Timestamp};
use jiff::{ToSpan, civil::Date, tz::TimeZone};

/// Modes of lines that sound like facts and are none.
const TRAP_MODES: [&str; 6] = ["hypothetical", "quoted", "acted", "joke", "translation", "pasted"];

/// Hour at which the messages of a session begin, a minute apart.
const FIRST_HOUR: i8 = 10;

/// Labelled dialogue: sessions with one person or group.
#[derive(Debug)]
pub(crate) struct Dialogue {
    pub(crate) id: String,
    pub(crate) sessions: Vec<DialogueSession>,
}

/// Session of a dialogue.
#[derive(Debug)]
pub(crate) struct DialogueSession {
    pub(crate) date: Date,
    pub(crate) messages: Vec<DialogueMessage>,
}

/// Message of a person, with its labelled lines, or reply of the assistant.
#[derive(Debug)]
pub(crate) struct DialogueMessage {
    pub(crate) role: Role,
    /// Name of the speaker; `None` for the user and the assistant.
    pub(crate) speaker: Option<String>,
    /// Reply of the assistant; empty for people.
    reply: String,
    pub(crate) lines: Vec<LabelledLine>,
}

/// Line of a message with its label.
#[derive(Debug, Clone)]
pub(crate) struct LabelledLine {
    /// `yes`, `maybe` or `no`.
    pub(crate) keep: String,
    /// Mode, such as `asserted`.
    pub(crate) mode: String,
    pub(crate) text: String,
}

impl LabelledLine {
    /// Returns `true` for a fact that holds to the end.
    pub(crate) fn is_fact(&self) -> bool {
        self.keep == "yes" && !self.is_retracted()
    }

    /// Returns `true` for a statement that is taken back later.
    pub(crate) fn is_retracted(&self) -> bool {
        self.mode == "retracted"
    }

    /// Returns `true` for a statement that changes an earlier one.
    pub(crate) fn is_correction(&self) -> bool {
        self.mode == "correction"
    }

    /// Returns `true` for a line that may be remembered.
    pub(crate) fn is_right(&self) -> bool {
        self.keep != "no"
    }

    /// Returns `true` for a line that must not be remembered though it sounds like a fact.
    pub(crate) fn is_trap(&self) -> bool {
        self.keep == "no" && TRAP_MODES.contains(&self.mode.as_str())
    }
}

impl Dialogue {
    /// Iterates over all labelled lines.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &LabelledLine> {
        let messages = self.sessions.iter().flat_map(|session| &session.messages);
        messages.flat_map(|message| &message.lines)
    }
}

impl DialogueSession {
    /// Returns the time of a message.
    pub(crate) fn time_of(&self, message: usize) -> Result<Timestamp> {
        let begun = self.date.at(FIRST_HOUR, 0, 0, 0).to_zoned(TimeZone::UTC)?;
        Ok(begun.checked_add(i64::try_from(message)?.minutes())?.timestamp())
    }
}

impl DialogueMessage {
    /// Returns the text of the message: a line that ends with a mark goes on after a blank, or directly in Chinese, any
    /// other ends with a line break.
    pub(crate) fn text(&self) -> String {
        let mut text = self.reply.clone();
        for line in &self.lines {
            text.push_str(joint(&text));
            text.push_str(&line.text);
        }
        text
    }
}

fn joint(before: &str) -> &'static str {
    match before.chars().last() {
        None => "",
        Some('。' | '！' | '？' | '…' | '～' | '，' | '；') => "",
        Some('.' | '!' | '?' | ',' | ';' | ':') => " ",
        Some(_) => "\n",
    }
}

/// Parses dialogues.
pub(crate) fn parse_dialogues(text: &str) -> Result<Vec<Dialogue>> {
    let mut dialogues = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        add_line(&mut dialogues, line.trim_end())
            .with_context(|| format!("in line {}: `{line}`", number + 1))?;
    }
    Ok(dialogues)
}

fn add_line(dialogues: &mut Vec<Dialogue>, line: &str) -> Result<()> {
    if let Some(head) = line.strip_prefix("## ") {
        let (id, date) = head.split_once(' ').context("it has no date")?;
        let sessions = vec![new_session(date)?];
        dialogues.push(Dialogue { id: id.to_owned(), sessions });
        return Ok(());
    }
    let dialogue = dialogues.last_mut().context("it stands before the first dialogue")?;
    if let Some(date) = line.strip_prefix("--- ") {
        dialogue.sessions.push(new_session(date)?);
        return Ok(());
    }
    let messages = &mut dialogue.sessions.last_mut().context("no session")?.messages;
    if let Some(label) = parse_label(line) {
        messages.last_mut().context("it belongs to no message")?.lines.push(label);
        return Ok(());
    }
    if let Some(reply) = line.strip_prefix("assistant:") {
        messages.push(new_message(Role::Assistant, None, reply.trim()));
        return Ok(());
    }
    let Some(name) = line.trim().strip_suffix([':', '：']) else { bail!("it has no label") };
    let speaker = (name != "user").then(|| name.to_owned());
    messages.push(new_message(Role::User, speaker, ""));
    Ok(())
}

fn new_session(date: &str) -> Result<DialogueSession> {
    Ok(DialogueSession { date: date.trim().parse()?, messages: Vec::new() })
}

fn new_message(role: Role, speaker: Option<String>, reply: &str) -> DialogueMessage {
    DialogueMessage { role, speaker, reply: reply.to_owned(), lines: Vec::new() }
}

/// Parses `KEEP KIND ABOUT MODE | text`; a name in ABOUT may have blanks.
fn parse_label(line: &str) -> Option<LabelledLine> {
    let (label, text) = line.split_once(" | ")?;
    let words: Vec<&str> = label.split(' ').collect();
    let (keep, mode) = (words.first()?, words.last()?);
    let is_label = words.len() >= 4 && ["yes", "maybe", "no"].contains(keep);
    is_label.then(|| LabelledLine {
        keep: (*keep).to_owned(),
        mode: (*mode).to_owned(),
        text: text.trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialogue_is_read_with_its_sessions_speakers_and_labels() {
        let text = "## x-1 2026-03-02\nuser:\nno none user smalltalk | hi\nyes family name:Ana B asserted | Ana is six.\n\
            maybe plan user asserted | we go\nassistant: Nice.\n--- 2026-04-01\nBen:\nno none user joke | ha";
        let dialogue = parse_dialogues(text).unwrap().remove(0);
        assert_eq!(dialogue.id, "x-1");
        let first = &dialogue.sessions[0];
        assert_eq!(first.messages[0].text(), "hi\nAna is six. we go");
        assert_eq!(first.messages[1].text(), "Nice.");
        assert_eq!(first.time_of(1).unwrap().to_string(), "2026-03-02T10:01:00Z");
        let ben = &dialogue.sessions[1].messages[0];
        assert_eq!(ben.speaker.as_deref(), Some("Ben"));
        assert!(ben.lines[0].is_trap() && dialogue.lines().filter(|it| it.is_fact()).count() == 1);
        assert!(parse_dialogues("user:").is_err());
    }
}
