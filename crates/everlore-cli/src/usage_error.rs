//! Errors in the command line itself: what was wrong, and the command that was probably meant.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::{
    command_tips::{command_tips, option_tips},
    help,
    messages::{error_line, is_chinese, translate},
    output::terminal_width,
    render::shell_quote,
    text_width::fit_terminal,
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
    let is_wide = terminal_width()
        .is_some_and(|cells| rendered(usage, false).lines().any(|line| line.width() > cells));
    if usage.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return rendered(usage, is_colored);
    }
    if tips.is_empty() && !is_chinese() && usage.kind() != ErrorKind::InvalidSubcommand {
        let text = rendered(usage, is_colored && !is_wide);
        return if is_wide { fit_terminal(&text) } else { text };
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
    format!("{}\n{gap}{tips}{usage_line}\n{more}\n", fit_terminal(&error))
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
        ErrorKind::MissingRequiredArgument if is_missing(usage, "<id>") => {
            vec!["everlore list".to_owned(), "everlore search WORDS".to_owned()]
        }
        ErrorKind::MissingRequiredArgument if is_missing(usage, "<format>") => {
            vec!["everlore import auto PATH".to_owned()]
        }
        ErrorKind::UnknownArgument => {
            let typed = text_of(usage, ContextKind::InvalidArg).unwrap_or_default();
            option_tips(&typed, words)
        }
        ErrorKind::ValueValidation => file_tips(usage),
        _ => Vec::new(),
    }
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

/// Returns `true` if the error lacks an argument with this name.
fn is_missing(usage: &clap::Error, argument: &str) -> bool {
    let is_meant = |name: &str| name.trim_end_matches('.').eq_ignore_ascii_case(argument);
    match usage.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(names)) => names.iter().any(|name| is_meant(name)),
        Some(ContextValue::String(name)) => is_meant(name),
        _ => false,
    }
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
    fn a_sentence_or_a_question_is_no_slip() {
        assert_eq!(tips_for(&["what", "do", "I", "like"]), ["everlore recall 'what do I like'"]);
        assert_eq!(tips_for(&["who", "am", "I"]), ["everlore recall 'who am I'"]);
        assert_eq!(tips_for(&["我爱茶"]), ["everlore remember 我爱茶"]);
        assert_eq!(tips_for(&["remeber", "I", "like", "tea"]), ["everlore remember I like tea"]);
        assert_eq!(tips_for(&["recal", "我喜欢什么？"]), ["everlore recall '我喜欢什么？'"]);
    }

    #[test]
    fn a_setting_leads_to_its_key() {
        assert_eq!(
            tips_for(&["config", "model", "gpt-4"]),
            ["everlore config set chat.model gpt-4"]
        );
        assert_eq!(tips_for(&["设置", "模型", "qwen3"]), ["everlore config set chat.model qwen3"]);
        assert_eq!(tips_for(&["model", "gpt-4"]), ["everlore config set chat.model gpt-4"]);
        assert_eq!(
            tips_for(&["set", "language", "中文"]),
            ["everlore config set general.language zh"]
        );
        assert_eq!(tips_for(&["密钥"]), ["everlore config key PROVIDER"]);
        assert_eq!(tips_for(&["模型"])[0], "everlore onboard");
        assert_eq!(tips_for(&["设置", "绿茶"]), ["everlore onboard"]);
    }

    #[test]
    fn a_reminder_is_scheduled() {
        assert_eq!(
            tips_for(&["remind", "me", "tomorrow"]),
            ["everlore schedule add 'remind me tomorrow'"]
        );
        assert_eq!(tips_for(&["提醒我明天九点开会"]), ["everlore schedule add 提醒我明天九点开会"]);
        assert_eq!(tips_for(&["reminder"]), ["everlore schedule add"]);
    }

    #[test]
    fn words_where_an_id_is_wanted_are_searched_for_first() {
        assert_eq!(tips_for(&["忘掉茶"]), ["everlore search 茶", "everlore forget ID"]);
        assert_eq!(tips_for(&["delete", "green tea"])[0], "everlore search 'green tea'");
        assert_eq!(tips_for(&["delete", "all"])[1], "everlore forget --all-of-user USER");
        assert_eq!(tips_for(&["reset"])[1], "everlore forget --all-of-user USER");
        assert_eq!(
            tips_for(&["restore"]),
            ["everlore memory restore ID", "everlore memory import FILE"]
        );
    }

    #[test]
    fn words_below_a_command_and_options_are_known() {
        assert_eq!(tips_for(&["embed", "list"]), ["everlore embed status"]);
        assert_eq!(tips_for(&["layer", "check"]), ["everlore layer list"]);
        assert_eq!(tips_for(&["mcp", "install"]), ["everlore connect"]);
        assert_eq!(tips_for(&["list", "-a"]), ["everlore list --all"]);
        assert_eq!(tips_for(&["list", "-n", "3"]), ["everlore list --limit 3"]);
        assert_eq!(tips_for(&["skills"]), ["everlore skill list"]);
        assert_eq!(tips_for(&["import"]), ["everlore import auto PATH"]);
    }

    #[test]
    fn what_can_be_undone_comes_first() {
        let expected = ["everlore memory delete 01a1", "everlore forget 01a1"];
        assert_eq!(tips_for(&["rm", "01a1"]), expected);
        assert_eq!(tips_for(&["删除", "01a1"]), expected);
    }
}
