//! Every text of help has a translation, and translations say what the originals say.

use std::{collections::BTreeSet, fs, path::Path};

use clap::{Command, CommandFactory};

use super::{
    CHINESE, CHINESE_MESSAGES,
    catalogue::{Piece, pairs, pieces},
};
use crate::{cli::Cli, help::GROUPS};

#[test]
fn every_command_is_described_in_chinese() {
    let mut missing = BTreeSet::new();
    walk(&Cli::command(), &mut |command| {
        let about = command.get_about().map(ToString::to_string);
        missing.extend(about.filter(|text| is_missing(text)));
    });
    assert!(missing.is_empty(), "no Chinese for: {missing:#?}");
}

#[test]
fn the_daily_commands_are_described_in_chinese_with_all_their_options() {
    let root = Cli::command();
    let mut missing = BTreeSet::new();
    let daily = GROUPS[0]
        .1
        .iter()
        .chain(&["redo", "onboard"])
        .filter_map(|name| root.find_subcommand(name));
    for command in std::iter::once(&root).chain(daily) {
        let texts = command.get_arguments().flat_map(|arg| [arg.get_help(), arg.get_long_help()]);
        let texts = texts.chain([command.get_long_about()]).flatten().map(ToString::to_string);
        let lines: Vec<String> = texts.flat_map(|text| lines(&text)).collect();
        missing.extend(lines.into_iter().filter(|line| is_missing(line)));
    }
    assert!(missing.is_empty(), "no Chinese for: {missing:#?}");
}

#[test]
fn both_sides_have_the_same_placeholders_and_commands() {
    for (english, chinese) in pairs(CHINESE_MESSAGES) {
        assert!(!chinese.is_empty(), "{english}");
        assert_eq!(placeholders(&english), placeholders(&chinese), "{english}");
        for command in english.split('`').skip(1).step_by(2).filter(|text| is_command(text)) {
            assert!(chinese.contains(command), "{english} names {command}: {chinese}");
        }
    }
}

#[test]
fn no_message_is_translated_twice() {
    let mut seen = BTreeSet::new();
    for (english, _) in pairs(CHINESE_MESSAGES) {
        assert!(seen.insert(english.clone()), "{english}");
    }
}

/// A message that was reworded in the sources must not lose its translation silently.
#[test]
fn every_message_still_occurs_in_the_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = ["everlore-cli/src", "everlore/src", "everlore-server/src"];
    let sources: String = folders.iter().map(|folder| read_sources(&root.join(folder))).collect();
    let mut lost = Vec::new();
    for (english, _) in pairs(CHINESE_MESSAGES) {
        let parts = pieces(&english).into_iter().filter_map(|piece| match piece {
            Piece::Literal(text) => Some(text),
            Piece::Placeholder { .. } => None,
        });
        // Punctuation may join parts that the sources have in several places.
        let phrases = parts.flat_map(|text| {
            text.split(['\n', ':', ';', '(', ')', ',', '`']).map(squeeze).collect::<Vec<_>>()
        });
        let is_composed = COMPOSED_MESSAGES.iter().any(|begin| english.starts_with(begin));
        if !is_composed && !phrases.into_iter().all(|phrase| sources.contains(&phrase)) {
            lost.push(english);
        }
    }
    assert!(lost.is_empty(), "no longer in the sources: {lost:#?}");
}

/// Beginnings of messages that clap and the standard library write, of counts, of those that begin with an option, and of
/// those that are put together from parts.
const COMPOSED_MESSAGES: [&str; 16] = [
    "you asked for",
    "you said this",
    "another memory says",
    "{memory} was extracted",
    "no workflow yet",
    "--min-",
    "invalid digit",
    "invalid float",
    "number too large",
    "unexpected argument",
    "the following required",
    "invalid value",
    "a value is required",
    "the argument",
    "'{command}' requires",
    "{count} ",
];

fn walk(command: &Command, each: &mut dyn FnMut(&Command)) {
    each(command);
    command.get_subcommands().for_each(|child| walk(child, each));
}

fn is_missing(text: &str) -> bool {
    CHINESE.find(text).is_none()
}

fn lines(text: &str) -> Vec<String> {
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn placeholders(message: &str) -> BTreeSet<String> {
    let name = |piece: Piece| match piece {
        Piece::Placeholder { name, .. } => Some(name),
        Piece::Literal(_) => None,
    };
    pieces(message).into_iter().filter_map(name).collect()
}

/// Returns `true` for a command line that is typed as it stands.
fn is_command(text: &str) -> bool {
    text.starts_with("everlore ") && !text.contains(['{', '}']) && !text.contains("COMMAND")
}

/// Reads the texts of all sources as one, in which comments, quotes and breaks between lines do not divide a message.
fn read_sources(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text += &read_sources(&path);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            text += &joined(&fs::read_to_string(&path).unwrap());
        }
    }
    text
}

fn joined(source: &str) -> String {
    let line =
        |line: &str| line.trim().trim_start_matches("///").trim_end_matches('\\').trim().to_owned();
    let text = source.lines().map(line).collect::<Vec<_>>().join(" ");
    squeeze(&text.replace("\\\"", "\""))
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
