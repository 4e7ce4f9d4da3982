//! Commands that were probably meant by words that are none: whole lines to type.

use clap::{Command, CommandFactory};

use crate::{
    cli::Cli,
    near_words::{
        begins_sentence, is_greeting, is_question, is_reminder, is_sentence, meant_below, meant_by,
        nearest, setting_change, setting_meant_by, split_command,
    },
    render::shell_quote,
    word_tables::{API_KEY, FORGET_ALL},
};

/// Commands that take no words.
const WITHOUT_WORDS: &[&str] = &[
    "onboard",
    "list",
    "serve",
    "serve --open",
    "serve --stop",
    "serve --status",
    "config show",
    "memory export",
    "memory stats",
    "memory history",
    "doctor",
    "--help",
    "--version",
    "demo",
    "upkeep",
    "undo",
    "redo",
    "scopes",
    "profile",
    "vault sync",
    "schedule list",
    "skill list",
    "trajectory list",
    "connect --list",
    "embed status",
    "layer list",
    "list --tag TAG",
    "memory import FILE",
    "store copy --to URL",
];

/// Commands that take the id of a memory.
const WITH_IDS: &[&str] = &["show", "forget", "memory delete", "memory edit", "memory restore"];

/// Words for everything there is.
const EVERYTHING: &[&str] = &[
    "all",
    "everything",
    "memory",
    "memories",
    "所有",
    "全部",
    "一切",
    "记忆",
    "所有记忆",
    "全部记忆",
];

/// Values of the language, as people write them.
const LANGUAGES: &[(&str, &str)] =
    &[("中文", "zh"), ("chinese", "zh"), ("英文", "en"), ("英语", "en"), ("english", "en")];

/// Short options of other programs, and ours.
const SHORT_OPTIONS: &[(&str, &str)] = &[("-a", "--all"), ("-n", "--limit"), ("-l", "--limit")];

/// Fewest characters of an id that are taken for one.
const MIN_ID_CHARS: usize = 4;

/// Returns what was meant by a word that is no command.
pub(crate) fn command_tips(typed: &str, words: &[String]) -> Vec<String> {
    let at = words.iter().position(|word| word == typed).unwrap_or(0);
    let (before, after) = (&words[..at], words.get(at + 1..).unwrap_or_default());
    let root = Cli::command();
    let parent = before.iter().rev().find_map(|word| root.find_subcommand(word));
    match parent {
        Some(parent) => tips_below(&root, parent, typed, after),
        None => tips_at_root(&root, typed, after),
    }
}

/// Returns what was meant by an argument or option that a command does not have.
pub(crate) fn option_tips(typed: &str, words: &[String]) -> Vec<String> {
    let root = Cli::command();
    let Some(command) = words.iter().find_map(|word| root.find_subcommand(word)) else {
        return Vec::new();
    };
    if let Some(meant) = meant_below(command.get_name(), typed) {
        return vec![command_line(meant, &[])];
    }
    let Some((_, long)) = SHORT_OPTIONS.iter().find(|(short, _)| *short == typed) else {
        return Vec::new();
    };
    let has_long = command.get_arguments().any(|arg| arg.get_long() == long.strip_prefix("--"));
    let rewrite =
        |word: &String| if word == typed { (*long).to_owned() } else { shell_quote(word) };
    let line: Vec<String> = words.iter().map(rewrite).collect();
    if has_long { vec![format!("everlore {}", line.join(" "))] } else { Vec::new() }
}

/// Returns what was meant by a word below a command that does not have it.
fn tips_below(root: &Command, parent: &Command, typed: &str, after: &[String]) -> Vec<String> {
    let name = parent.get_name();
    if let Some(setting) = setting_meant_by(typed).filter(|_| name == "config") {
        return setting_lines(setting, after);
    }
    if let Some(meant) = meant_below(name, typed) {
        return vec![meant_line(meant, after)];
    }
    if let Some(near) = below(parent, typed) {
        return vec![command_line(&near, after)];
    }
    if let Some(known) = root.find_subcommand(typed) {
        return vec![command_line(known.get_name(), after)];
    }
    if let Some(meant) = meant_by(typed) {
        return meant_lines(meant, after);
    }
    // The name of a model, which the command for local models does not know.
    if name == "model" && after.is_empty() {
        return setting_lines("chat.model", &[typed.to_owned()]);
    }
    exactly_below(root, typed, after).unwrap_or_else(|| sentence_tips(typed, after))
}

/// Returns what was meant by a first word that is no command.
fn tips_at_root(root: &Command, typed: &str, after: &[String]) -> Vec<String> {
    let words: Vec<&str> = std::iter::once(typed).chain(after.iter().map(String::as_str)).collect();
    if let Some((setting, count)) = setting_change(&words) {
        return setting_lines(setting, &after[count - 1..]);
    }
    let said = said(typed, after);
    if is_reminder(&said) && said != typed || is_reminder(typed) && is_sentence(typed) {
        return vec![format!("everlore schedule add {}", shell_quote(&said))];
    }
    if is_greeting(typed) {
        return vec![format!("everlore chat {}", shell_quote(&said))];
    }
    if let Some(meant) = meant_by(typed) {
        return meant_lines(meant, after);
    }
    if let Some((command, about)) = split_command(typed) {
        let about = Some(about.to_owned()).filter(|about| !about.is_empty());
        let after: Vec<String> = about.into_iter().chain(after.iter().cloned()).collect();
        return meant_lines(command, &after);
    }
    if begins_sentence(typed) && is_sentence(&said) {
        return sentence_tips(typed, after);
    }
    if let Some(listed) = plural(root, typed) {
        return vec![listed];
    }
    let names = root.get_subcommands().flat_map(|command| {
        std::iter::once(command.get_name()).chain(command.get_visible_aliases())
    });
    if let Some(name) = nearest(typed, names) {
        return vec![command_line(name, after)];
    }
    exactly_below(root, typed, after).unwrap_or_else(|| sentence_tips(typed, after))
}

/// Returns the lines for a setting: to change it, if there is a value.
fn setting_lines(setting: &str, values: &[String]) -> Vec<String> {
    if setting == API_KEY {
        return vec!["everlore config key PROVIDER".to_owned()];
    }
    let value = match values {
        [] if setting == "chat.model" => {
            let other = format!("everlore config set {setting} NAME");
            return vec!["everlore onboard".to_owned(), other];
        }
        [] => "VALUE".to_owned(),
        values => values.join(" "),
    };
    let known = LANGUAGES.iter().find(|(name, _)| *name == value.to_lowercase());
    let value = known.map_or(value.as_str(), |(_, code)| code);
    vec![format!("everlore config set {setting} {}", shell_quote(value))]
}

/// Returns the lines for a word of the table. What can be undone comes before what cannot.
fn meant_lines(meant: &str, after: &[String]) -> Vec<String> {
    let about = after.join(" ");
    let is_removal = ["forget", "memory delete"].contains(&meant);
    if meant == FORGET_ALL || is_removal && EVERYTHING.contains(&about.to_lowercase().as_str()) {
        let delete = FORGET_ALL.replacen("forget", "memory delete", 1);
        return vec![command_line(&delete, &[]), command_line(FORGET_ALL, &[])];
    }
    if meant == "show" && EVERYTHING.contains(&about.to_lowercase().as_str()) {
        return vec![command_line("list", &[])];
    }
    let is_named = after.first().is_some_and(|word| is_id(word));
    if WITH_IDS.contains(&meant) && !after.is_empty() && !is_named {
        return vec![command_line("search", after), format!("everlore {meant} ID")];
    }
    match meant {
        "memory delete" => vec![command_line(meant, after), command_line("forget", after)],
        "memory restore" if after.is_empty() => {
            vec![format!("everlore {meant} ID"), "everlore memory import FILE".to_owned()]
        }
        _ => vec![meant_line(meant, after)],
    }
}

fn meant_line(meant: &str, after: &[String]) -> String {
    let options = after.iter().position(|word| word.starts_with('-')).unwrap_or(after.len());
    let after = if WITHOUT_WORDS.contains(&meant) { &after[options..] } else { after };
    command_line(meant, after)
}

/// Returns `true` for an id, a part of one, or a uri.
fn is_id(word: &str) -> bool {
    let is_hex = word.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    word.starts_with('-') || word.contains("://") || is_hex && word.len() >= MIN_ID_CHARS
}

fn below(parent: &Command, typed: &str) -> Option<String> {
    let names = parent.get_subcommands().map(Command::get_name);
    nearest(typed, names).map(|name| format!("{} {name}", parent.get_name()))
}

/// Returns the commands that have one of this name below them.
fn exactly_below(root: &Command, typed: &str, after: &[String]) -> Option<Vec<String>> {
    let line = |parent: &Command| {
        let child = parent.find_subcommand(typed)?;
        Some(command_line(&format!("{} {}", parent.get_name(), child.get_name()), after))
    };
    let found: Vec<String> = root.get_subcommands().filter_map(line).collect();
    (!found.is_empty()).then_some(found)
}

/// Returns the list of the things that a plural names.
fn plural(root: &Command, typed: &str) -> Option<String> {
    let singular = root.find_subcommand(typed.to_lowercase().strip_suffix('s')?)?;
    singular.find_subcommand("list")?;
    Some(format!("everlore {} list", singular.get_name()))
}

/// Returns the commands for a sentence that was typed without one.
fn sentence_tips(typed: &str, after: &[String]) -> Vec<String> {
    let said = said(typed, after);
    if !is_sentence(&said) {
        return Vec::new();
    }
    let command = if is_question(&said) { "recall" } else { "remember" };
    vec![format!("everlore {command} {}", shell_quote(&said))]
}

/// Returns the words before the first option.
fn said(typed: &str, after: &[String]) -> String {
    let after = after.iter().map(String::as_str).take_while(|word| !word.starts_with('-'));
    std::iter::once(typed).chain(after).collect::<Vec<_>>().join(" ")
}

fn command_line(command: &str, after: &[String]) -> String {
    let words = after.iter().map(|word| format!(" {}", shell_quote(word))).collect::<String>();
    format!("everlore {command}{words}")
}
