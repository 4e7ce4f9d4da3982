//! Statements as comparable words: one subject for the user, no tense of the third person, and what a denial leaves.

use crate::text::language::is_cjk;

/// Words that say that something holds beside what is known.
const ALSO: &[&str] = &["also", "too", "another", "besides", "additionally", "也", "还", "另"];

/// English words that deny a statement.
const DENIALS: &[&str] =
    &["not", "no", "never", "longer", "anymore", "stopped", "quit", "used", "without"];

/// English words that say nothing about what is denied.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "do", "did", "am", "are", "is", "be", "been", "being", "have", "a", "an", "the", "any", "more", "again", "now", "currently", "still",
    "already", "just", "really", "actually", "to", "so", "and", "but",
];

/// Chinese words that deny a statement, longest first.
const CHINESE_DENIALS: &[&str] = &["再也不", "不再", "没有", "不", "没"];

/// Chinese words that say nothing about what is denied.
const CHINESE_FILLERS: &[&str] =
    &["已经", "现在", "目前", "如今", "又", "重新", "开始", "是", "了", "一个", "个", "的"];

/// Spellings that are split into two words.
const CONTRACTIONS: &[(&str, &str)] = &[
    ("i'm", "i am"),
    ("i've", "i have"),
    ("can't", "can not"),
    ("won't", "will not"),
    ("let's", "let us"),
];

/// Names of the user in statements of an agent; `’s` is left to [`first_person`].
const USER_NAMES: &[&str] = &["the user", "this user", "user"];

/// Returns the words of a statement in lower case, each Chinese character as a word. The user is "i" or 我, however the
/// statement calls them, and verbs have no ending of the third person.
pub(super) fn normalized_words(text: &str) -> Vec<String> {
    let lower =
        text.to_lowercase().replace('’', "'").replace("用户的", "我的").replace("用户", "我");
    let mut words: Vec<String> = Vec::new();
    for word in lower.split(|c: char| !(c.is_alphanumeric() || "'.:/@-%".contains(c))) {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        if word.contains(is_cjk) {
            words.extend(split_cjk(word));
        } else if !word.is_empty() {
            words.extend(expanded(word).split(' ').map(str::to_owned));
        }
    }
    first_person(&words)
}

/// Returns `true` if a statement adds to what is known instead of replacing it.
pub(super) fn says_also(words: &[String]) -> bool {
    words.iter().any(|word| ALSO.contains(&word.as_str()))
}

/// Returns `true` if one statement denies the other: all other words are the same.
pub(super) fn denies(new: &[String], old: &[String]) -> bool {
    let ((new, is_denied), (old, was_denied)) = (denied(new), denied(old));
    is_denied != was_denied && !new.is_empty() && new == old
}

/// Returns a statement without its denial, and `true` if it has one.
fn denied(words: &[String]) -> (Vec<String>, bool) {
    if words.iter().any(|word| word.contains(is_cjk)) {
        return denied_chinese(&words.concat());
    }
    let is_denied = words.iter().any(|word| DENIALS.contains(&word.as_str()));
    let says =
        |word: &&String| !DENIALS.contains(&word.as_str()) && !FILLERS.contains(&word.as_str());
    let mut rest: Vec<String> = words.iter().filter(says).cloned().collect();
    // "I" alone says nothing that could be denied.
    if rest == ["i"] {
        rest.clear();
    }
    (rest, is_denied)
}

fn denied_chinese(text: &str) -> (Vec<String>, bool) {
    let is_denied = CHINESE_DENIALS.iter().any(|word| text.contains(word));
    let removed = CHINESE_DENIALS.iter().chain(CHINESE_FILLERS);
    let rest = removed.fold(text.to_owned(), |rest, word| rest.replace(word, ""));
    let says = rest.chars().any(|c| c != '我');
    (if says { vec![rest] } else { Vec::new() }, is_denied)
}

fn split_cjk(word: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut in_latin = false;
    for c in word.chars() {
        match parts.last_mut() {
            Some(last) if in_latin && !is_cjk(c) => last.push(c),
            _ => parts.push(c.to_string()),
        }
        in_latin = !is_cjk(c);
    }
    parts
}

/// Splits contractions: "don't" is "do not".
fn expanded(word: &str) -> String {
    if let Some((_, full)) = CONTRACTIONS.iter().find(|(short, _)| *short == word) {
        return (*full).to_owned();
    }
    match word.strip_suffix("n't") {
        Some(verb) => format!("{verb} not"),
        None => word.to_owned(),
    }
}

/// Calls the user "i" and gives verbs the form that follows it.
fn first_person(words: &[String]) -> Vec<String> {
    let mut text = words.join(" ");
    for name in USER_NAMES {
        if let Some(rest) = text.strip_prefix(&format!("{name}'s ")) {
            text = format!("my {rest}");
        } else if let Some(rest) = text.strip_prefix(&format!("{name} ")) {
            text = format!("i {rest}");
        }
    }
    text.split(' ').filter(|word| !word.is_empty()).map(plain_verb).collect()
}

/// Returns verbs of statements as they follow "i"; other words stay.
fn plain_verb(word: &str) -> String {
    let plain = match word {
        "is" => return "am".to_owned(),
        "does" => "do",
        "has" => "have",
        "lives" | "living" | "lived" => "live",
        "works" | "working" | "worked" => "work",
        "moves" | "moving" => "move",
        "runs" | "running" => "run",
        "listens" | "listening" => "listen",
        "resides" | "residing" => "reside",
        "joins" => "joined",
        "likes" => "like",
        "loves" => "love",
        "hates" => "hate",
        "drinks" | "drinking" => "drink",
        "eats" | "eating" => "eat",
        "smokes" | "smoking" => "smoke",
        "uses" | "using" => "use",
        "wants" => "want",
        "prefers" => "prefer",
        "plays" | "playing" => "play",
        "speaks" => "speak",
        "owns" => "own",
        other => other,
    };
    plain.to_owned()
}
