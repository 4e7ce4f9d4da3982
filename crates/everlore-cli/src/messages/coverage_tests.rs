//! Every text of help has a translation, and translations say what the originals say.

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    path::Path,
};

use clap::{Arg, Command, CommandFactory};

use super::{
    CHINESE, CHINESE_MESSAGES,
    catalogue::{Piece, pairs, pieces},
    help_in_chinese,
    source_texts::{SourceText, source_texts},
};
use crate::cli::Cli;

#[test]
fn every_command_is_described_in_chinese_with_all_its_options() {
    let mut missing = BTreeSet::new();
    walk(&Cli::command(), &mut |command| {
        let about = [command.get_about(), command.get_long_about()];
        let options = command.get_arguments().flat_map(|arg| [arg.get_help(), arg.get_long_help()]);
        let values = command.get_arguments().flat_map(Arg::get_possible_values);
        let values = values.filter_map(|value| value.get_help().map(ToString::to_string));
        let texts = options.chain(about).flatten().map(ToString::to_string);
        let lines: Vec<String> = texts.chain(values).flat_map(|text| lines(&text)).collect();
        missing.extend(lines.into_iter().filter(|line| help_in_chinese(line).is_none()));
    });
    assert!(missing.is_empty(), "no Chinese for: {missing:#?}");
}

/// Calls whose texts a person reads.
const READ_BY_PEOPLE: [&str; 12] = [
    "CliError::invalid",
    "CliError::new",
    "CliError::io",
    "Error::invalid",
    "everlore::Error::invalid",
    "crate::error::CliError::invalid",
    "with_hint",
    "note",
    "say",
    "say_text",
    "answer_line",
    "confirm",
];

/// Files whose texts are in English in every language.
const ENGLISH_FILES: [(&str, &str); 5] = [
    ("everlore-server/src/compat/", "answers of interfaces of other systems"),
    ("everlore/src/files/memory_folder/", "answers to the tool of an agent"),
    ("everlore/src/tools/compat/", "answers to the tool of an agent"),
    ("everlore/src/store/", "texts of faults inside of a store, which a person cannot act upon"),
    ("everlore-cli/src/reference.rs", "a page of the documentation"),
];

/// Texts that only look like messages.
const NO_MESSAGES: [(&str, &str); 5] = [
    (
        "{}: {would}imported {}{kinds}, updated {}, unchanged {}, skipped {}",
        "put together; both forms have Chinese",
    ),
    (
        "{would}added {}, updated {}, unchanged {}, erased before {}, rejected {}",
        "put together; both forms have Chinese",
    ),
    ("the key of {} {done} {path}", "put together; both forms have Chinese"),
    ("{} is set{}", "put together; both forms have Chinese"),
    (
        "no {form} yet: everlore reflect suggests, everlore proposals approve makes one",
        "put together; both forms have Chinese",
    ),
];

#[test]
fn every_error_hint_and_note_has_chinese() {
    let mut missing = BTreeSet::new();
    for folder in ["everlore/src", "everlore-cli/src"] {
        for text in source_texts(folder).iter().filter(|text| is_read_by_people(text)) {
            let found = ["7", "upkeep"].iter().any(|value| is_translated(&text.sample(value)));
            if !found {
                missing.insert(format!("{}: {}", text.file, text.text));
            }
        }
    }
    assert!(missing.is_empty(), "{} without Chinese: {missing:#?}", missing.len());
}

fn is_read_by_people(text: &SourceText) -> bool {
    let is_read = text.calls.iter().any(|call| READ_BY_PEOPLE.contains(&call.as_str()));
    let is_english = ENGLISH_FILES.iter().any(|(file, _)| text.file.starts_with(file));
    let is_none = NO_MESSAGES.iter().any(|(message, _)| *message == text.text);
    // A call of `choose` has the Chinese beside it.
    let is_both = text.calls.iter().any(|call| call == "choose") || text.text.starts_with(is_wide);
    let has_words = text.sample(" ").split_whitespace().filter(|word| is_word(word)).count() > 1;
    is_read && has_words && !is_english && !is_none && !is_both
}

fn is_wide(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}')
}

fn is_word(word: &str) -> bool {
    word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn is_translated(text: &str) -> bool {
    let has_letters = |line: &&str| line.contains(|c: char| c.is_ascii_alphabetic());
    CHINESE.find(text).is_some()
        || text.lines().filter(has_letters).all(|line| CHINESE.find(line).is_some())
}

/// A sentence must not be cut up by the pattern of another message.
#[test]
fn no_text_of_the_sources_is_taken_for_another_message() {
    let mut swallowed = BTreeSet::new();
    for folder in ["everlore/src", "everlore-cli/src", "everlore-server/src"] {
        for text in source_texts(folder) {
            let sample = text.sample("7");
            if ENGLISH_FILES.iter().any(|(file, _)| text.file.starts_with(file)) {
                continue;
            }
            // Neither queries nor regular expressions nor pages are printed as messages.
            if sample.contains('\n') || ["FROM", "INTO", "(?:"].iter().any(|it| sample.contains(it))
            {
                continue;
            }
            let values = CHINESE.values_in(&sample).into_iter().filter(|(value, is_free)| {
                let words = value.split_whitespace().filter(|word| is_word(word)).count();
                !is_free && words > 2 && !value.contains('7')
            });
            let is_list = |value: &str| value.contains(", ") || value.starts_with("everlore ");
            let values: Vec<_> = values.filter(|(value, _)| !is_list(value)).collect();
            if !values.is_empty() && CHINESE.find(&values[0].0).is_none() {
                swallowed.insert(format!("{}: {sample}: {values:?}", text.file));
            }
        }
    }
    assert!(swallowed.is_empty(), "{swallowed:#?}");
}

/// Outputs that were garbled once: the English of another message, cut up.
#[test]
fn sentences_with_the_form_of_a_count_are_not_counts() {
    for (english, chinese) in [
        (
            "change the value or delete the line to use the default",
            "请改一个值，或删除这一行以使用默认值",
        ),
        ("there is nothing to change", "没有要改的内容"),
        ("`everlore layer history` lists changes", "`everlore layer history` 列出改动"),
        ("copied; writers wait for the last changes", "已复制；写入方等待最后的改动"),
        (
            "start it with its own command; if it is elsewhere, check base_url in [chat]",
            "用它自己的命令启动它；如果它在别处，请检查 [chat] 里的 base_url",
        ),
        ("there is no text", "没有写内容"),
        ("the following required arguments were not provided:\n  <ID>", "缺少必需的参数：\n  <ID>"),
        (
            "give the text to remember as an argument or on standard input",
            "请把要记住的内容写成参数，或从标准输入给出",
        ),
        ("skill `x` not found", "找不到技能 `x`"),
        ("change `5` not found", "找不到改动 `5`"),
        ("run `x` not found", "找不到运行 `x`"),
        (
            "reading /tmp/a b.txt: No such file or directory (os error 2)",
            "读取 /tmp/a b.txt：没有这个文件或文件夹（系统错误 2）",
        ),
        (
            "masked 1 secret (password): the value was not stored",
            "已遮盖 1 个机密（密码）：内容没有保存",
        ),
    ] {
        assert_eq!(CHINESE.find(english).as_deref(), Some(chinese), "{english}");
    }
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
    let index = WordIndex::new(&sources);
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
        if !is_composed && !phrases.into_iter().all(|phrase| index.contains(&phrase)) {
            lost.push(english);
        }
    }
    assert!(lost.is_empty(), "no longer in the sources: {lost:#?}");
}

/// Beginnings of messages that clap and the standard library write, of counts, of those that begin with an option, and of
/// those that are put together from parts.
const COMPOSED_MESSAGES: [&str; 21] = [
    "you asked for",
    "you said this",
    "another memory says",
    "{memory~} was extracted",
    "{what~}: ",
    "would be ",
    "{format}: ",
    "{session~}: ",
    "forgotten: erased",
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

/// Places of the words of a text, by which a phrase is found without reading all of it.
struct WordIndex<'a> {
    text: &'a str,
    places: HashMap<&'a str, Vec<usize>>,
}

impl<'a> WordIndex<'a> {
    fn new(text: &'a str) -> Self {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for word in text.split(' ') {
            places.entry(word).or_default().push(word.as_ptr().addr() - text.as_ptr().addr());
        }
        Self { text, places }
    }

    /// A word between two others stands in the text as it is; the first and the last may be parts.
    fn contains(&self, phrase: &str) -> bool {
        let words: Vec<&str> = phrase.split(' ').collect();
        let inner = words.get(1..words.len().saturating_sub(1)).unwrap_or_default();
        let Some(longest) = inner.iter().max_by_key(|word| word.len()) else {
            return self.text.contains(phrase);
        };
        let offset = phrase.find(&format!(" {longest} ")).map_or(0, |at| at + 1);
        let places = self.places.get(longest).map(Vec::as_slice).unwrap_or_default();
        places.iter().any(|place| {
            let start = place.checked_sub(offset);
            start.is_some_and(|at| self.text.as_bytes()[at..].starts_with(phrase.as_bytes()))
        })
    }
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
