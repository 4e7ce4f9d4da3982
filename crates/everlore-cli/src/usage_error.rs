//! Errors in the command line itself: what was wrong, and the command that was probably meant.

use clap::{
    Command, CommandFactory,
    error::{ContextKind, ContextValue, ErrorKind},
};
use serde_json::{Value, json};

use crate::{
    cli::Cli,
    help,
    messages::{error_line, is_chinese, translate},
    near_words::{is_question, is_sentence, meant_by, nearest},
    render::shell_quote,
};

/// Returns the error for programs, as one line of JSON.
pub(crate) fn for_programs(usage: &clap::Error, words: &[String]) -> Value {
    let (message, hint) = (message(usage), json_hint(&tips(usage, words)));
    json!({ "error": { "code": "usage", "message": message, "hint": hint } })
}

/// Returns help or an error as clap writes it, with or without colours.
pub(crate) fn rendered(usage: &clap::Error, is_colored: bool) -> String {
    let text = usage.render();
    help::translate_clap(if is_colored { text.ansi().to_string() } else { text.to_string() })
}

/// Returns the error in English, on one line.
fn message(usage: &clap::Error) -> String {
    let rendered = usage.render().to_string();
    let message = rendered.lines().next().unwrap_or_default();
    message.strip_prefix("error: ").unwrap_or(message).to_owned()
}

fn json_hint(tips: &[String]) -> String {
    match tips {
        [] => "see `everlore --help`, or `everlore COMMAND --help`".to_owned(),
        tips => format!(
            "try {}",
            tips.iter().map(|tip| format!("`{tip}`")).collect::<Vec<_>>().join(" or ")
        ),
    }
}

/// Returns the error for people: clap's own words where they lead somewhere, and the commands that were meant.
pub(crate) fn for_people(usage: &clap::Error, words: &[String], is_colored: bool) -> String {
    let tips = tips(usage, words);
    if usage.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return rendered(usage, is_colored);
    }
    if tips.is_empty() && !is_chinese() && usage.kind() != ErrorKind::InvalidSubcommand {
        return rendered(usage, is_colored);
    }
    let usage_line = match usage.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(line)) if tips.is_empty() => {
            format!("\n{}\n", help::translate_clap(line.to_string()))
        }
        _ => String::new(),
    };
    let similar = text_of(usage, ContextKind::SuggestedArg);
    let similar = similar.map(|name| format!("  tip: a similar option exists: `{name}`"));
    let tips = tips.iter().map(|tip| format!("  tip: try `{tip}`")).chain(similar);
    let tips: String = tips.map(|tip| format!("{}\n", translate(&tip))).collect();
    let gap = if tips.is_empty() { "" } else { "\n" };
    let error = error_line(&plain_message(usage));
    let more = translate("`everlore --help` lists the commands");
    format!("{error}\n{gap}{tips}{usage_line}\n{more}\n")
}

/// Returns the message of an error, with what stood on its further lines.
fn plain_message(usage: &clap::Error) -> String {
    let rendered = usage.render().to_string();
    let text = rendered.strip_prefix("error: ").unwrap_or(&rendered);
    let end = ["\n\n  tip:", "\n\nUsage:", "\n\nFor more"]
        .iter()
        .filter_map(|mark| text.find(mark))
        .min();
    match usage.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = text_of(usage, ContextKind::InvalidSubcommand).unwrap_or_default();
            format!("there is no command `{word}`")
        }
        _ => text[..end.unwrap_or(text.len())].trim_end().to_owned(),
    }
}

/// Returns the commands that were probably meant, whole lines to type.
fn tips(usage: &clap::Error, words: &[String]) -> Vec<String> {
    match usage.kind() {
        ErrorKind::InvalidSubcommand => {
            let typed = text_of(usage, ContextKind::InvalidSubcommand).unwrap_or_default();
            command_tips(&typed, words)
        }
        ErrorKind::MissingRequiredArgument if missing_id(usage) => {
            vec!["everlore list".to_owned(), "everlore search WORDS".to_owned()]
        }
        ErrorKind::ValueValidation => file_tips(usage),
        _ => Vec::new(),
    }
}

/// Returns what was meant by a word that is no command.
fn command_tips(typed: &str, words: &[String]) -> Vec<String> {
    let at = words.iter().position(|word| word == typed).unwrap_or(0);
    let (before, after) = (&words[..at], words.get(at + 1..).unwrap_or_default());
    let root = Cli::command();
    let parent = before.iter().rev().find_map(|word| root.find_subcommand(word));
    let line = |command: &str| command_line(command, after);
    if let Some(near) = parent.and_then(|parent| below(parent, typed)) {
        return vec![line(&near)];
    }
    if let Some(known) = root.find_subcommand(typed) {
        return vec![line(known.get_name())];
    }
    if let Some(meant) = meant_by(typed) {
        return meant_lines(meant, after);
    }
    let names = root.get_subcommands().flat_map(|command| {
        std::iter::once(command.get_name()).chain(command.get_visible_aliases())
    });
    if let Some(name) = nearest(typed, names.filter(|_| parent.is_none())) {
        return vec![line(name)];
    }
    let found: Vec<String> = root
        .get_subcommands()
        .filter_map(|parent| exactly_below(parent, typed))
        .map(|name| line(&name))
        .collect();
    if !found.is_empty() {
        return found;
    }
    sentence_tips(typed, after)
}

/// Returns the lines for a word of the table. What can be undone comes before what cannot.
fn meant_lines(meant: &str, after: &[String]) -> Vec<String> {
    let mut lines = vec![command_line(meant, after)];
    if meant == "memory delete" {
        lines.push(command_line("forget", after));
    }
    lines
}

fn below(parent: &Command, typed: &str) -> Option<String> {
    let names = parent.get_subcommands().map(Command::get_name);
    nearest(typed, names).map(|name| format!("{} {name}", parent.get_name()))
}

fn exactly_below(parent: &Command, typed: &str) -> Option<String> {
    parent.find_subcommand(typed).map(|child| format!("{} {}", parent.get_name(), child.get_name()))
}

/// Returns the commands for a sentence that was typed without one.
fn sentence_tips(typed: &str, after: &[String]) -> Vec<String> {
    let said: Vec<&str> = std::iter::once(typed)
        .chain(after.iter().map(String::as_str).take_while(|word| !word.starts_with('-')))
        .collect();
    let said = said.join(" ");
    if !is_sentence(&said) {
        return Vec::new();
    }
    let command = if is_question(&said) { "recall" } else { "remember" };
    vec![format!("everlore {command} {}", shell_quote(&said))]
}

/// Returns what to do with a file that was given where the name of a format is wanted.
fn file_tips(usage: &clap::Error) -> Vec<String> {
    let of_format = text_of(usage, ContextKind::InvalidArg).is_some_and(|arg| arg == "<FORMAT>");
    let value = text_of(usage, ContextKind::InvalidValue).unwrap_or_default();
    if !of_format || !value.contains(['.', '/']) {
        return Vec::new();
    }
    let file = shell_quote(&value);
    vec![format!("everlore ingest {file}"), format!("everlore import auto {file}")]
}

/// Returns `true` if the error lacks the id of a memory.
fn missing_id(usage: &clap::Error) -> bool {
    let is_id = |name: &str| name.trim_end_matches('.').eq_ignore_ascii_case("<id>");
    match usage.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(names)) => names.iter().any(|name| is_id(name)),
        Some(ContextValue::String(name)) => is_id(name),
        _ => false,
    }
}

fn command_line(command: &str, after: &[String]) -> String {
    let words = after.iter().map(|word| format!(" {}", shell_quote(word))).collect::<String>();
    format!("everlore {command}{words}")
}

fn text_of(usage: &clap::Error, kind: ContextKind) -> Option<String> {
    match usage.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tips_for(words: &[&str]) -> Vec<String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let args = std::iter::once("everlore".to_owned()).chain(words.iter().cloned());
        let usage = help::command().try_get_matches_from(args).unwrap_err();
        tips(&usage, &words)
    }

    #[test]
    fn a_tip_is_a_line_to_type() {
        assert_eq!(tips_for(&["find", "green tea"]), ["everlore search 'green tea'"]);
        assert_eq!(tips_for(&["--json", "查找", "绿茶"]), ["everlore search 绿茶"]);
        assert_eq!(tips_for(&["lsit", "--all"]), ["everlore list --all"]);
        assert_eq!(tips_for(&["memory", "shwo", "01a1"]), ["everlore memory show 01a1"]);
        assert_eq!(tips_for(&["memory", "remember", "x"]), ["everlore remember x"]);
        assert_eq!(tips_for(&["I", "like", "tea"]), ["everlore remember 'I like tea'"]);
        assert_eq!(tips_for(&["archive", "01a1"]), ["everlore memory archive 01a1"]);
        assert_eq!(tips_for(&["import", "notes.md"])[0], "everlore ingest notes.md");
        assert_eq!(tips_for(&["forget"])[0], "everlore list");
        assert!(tips_for(&["xyzzy"]).is_empty());
    }

    #[test]
    fn what_can_be_undone_comes_first() {
        let expected = ["everlore memory delete 01a1", "everlore forget 01a1"];
        assert_eq!(tips_for(&["rm", "01a1"]), expected);
        assert_eq!(tips_for(&["删除", "01a1"]), expected);
    }
}
