//! Commands and settings that other words, slips of the finger and sentences mean.

use crate::word_tables::{
    JOINED_VERBS, NEAR_WORDS, POLITE_WORDS, SETTING_VERBS, SETTING_WORDS, WORDS_BELOW,
};

/// Names that differ by this many letters at most are taken for a slip, if they are long enough.
const MAX_SLIPS: usize = 2;

/// Shortest sentence in Chinese, which has no blanks between words.
const MIN_SENTENCE_CHARS: usize = 5;

/// Shortest sentence in Chinese that begins with the one it is about.
const MIN_SUBJECT_CHARS: usize = 3;

/// First words of questions.
const QUESTION_WORDS: [&str; 16] = [
    "what", "who", "when", "where", "why", "how", "which", "whose", "do", "does", "did", "is",
    "are", "am", "was", "can",
];

/// Returns the setting that a word means; [`crate::word_tables::API_KEY`] for a key.
pub(crate) fn setting_meant_by(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    let found = SETTING_WORDS.iter().find(|(_, words)| words.contains(&word.as_str()));
    found.map(|(setting, _)| *setting)
}

/// Returns the setting that a verb and its object mean, such as `set model`, and how many of the words they are.
pub(crate) fn setting_change(words: &[&str]) -> Option<(&'static str, usize)> {
    let (first, rest) = words.split_first()?;
    if SETTING_VERBS.contains(&first.to_lowercase().as_str()) {
        return setting_meant_by(rest.first()?).map(|setting| (setting, 2));
    }
    let joined = SETTING_VERBS.iter().find_map(|verb| setting_meant_by(first.strip_prefix(verb)?));
    // More words make a sentence that begins with such a word.
    let alone = || setting_meant_by(first).filter(|_| rest.len() < 2);
    joined.or_else(alone).map(|setting| (setting, 1))
}

/// Returns the command that a word means below another command, which does not have it.
pub(crate) fn meant_below(parent: &str, word: &str) -> Option<&'static str> {
    let found = WORDS_BELOW.iter().find(|(above, typed, _)| *above == parent && *typed == word);
    found.map(|(.., command)| *command)
}

/// Splits Chinese text that begins with the word for a command: the command, and what it is about.
pub(crate) fn split_command(text: &str) -> Option<(&'static str, &str)> {
    let text = POLITE_WORDS.iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text);
    let (verb, about) = JOINED_VERBS
        .iter()
        .find_map(|verb| Some((*verb, text.strip_prefix(verb)?)))
        .filter(|(_, about)| !about.is_empty())?;
    if let Some(shown) = shown_by(verb, about) {
        return Some((shown, ""));
    }
    // A story that begins with the verb, not an order.
    let is_told = about.starts_with(['了', '过', '着', '的']);
    let command = meant_by(text).or_else(|| meant_by(verb)).filter(|_| !is_told)?;
    Some((command, if meant_by(text).is_some() { "" } else { about }))
}

/// Returns the command that shows something, if the verb asks for that.
fn shown_by(verb: &str, about: &str) -> Option<&'static str> {
    let about = about.strip_prefix("我的").unwrap_or(about);
    let is_shown = ["查看", "看看", "显示", "列出"].contains(&verb);
    match about {
        _ if !is_shown => None,
        "记忆" => Some("list"),
        "提醒" => Some("schedule list"),
        about => meant_by(about),
    }
}

/// Returns `true` for a word that greets.
pub(crate) fn is_greeting(word: &str) -> bool {
    ["hi", "hello", "hey", "你好", "您好", "嗨", "在吗"].contains(&word.to_lowercase().as_str())
}

/// Returns `true` if a sentence asks to be reminded.
pub(crate) fn is_reminder(text: &str) -> bool {
    let text = text.trim().to_lowercase();
    text.starts_with("remind me") || text.contains("提醒我") || text.starts_with("提醒")
}

/// Returns `true` for the first word of a sentence, which no name of a command resembles by a slip.
pub(crate) fn begins_sentence(word: &str) -> bool {
    const SUBJECTS: [&str; 20] = [
        "i",
        "i'm",
        "i've",
        "my",
        "we",
        "our",
        "you",
        "your",
        "he",
        "she",
        "they",
        "it",
        "it's",
        "the",
        "this",
        "that",
        "there",
        "please",
        "today",
        "yesterday",
    ];
    let word = word.to_lowercase();
    SUBJECTS.contains(&word.as_str()) || QUESTION_WORDS.contains(&word.as_str())
}

/// Returns the command that another word means.
pub(crate) fn meant_by(word: &str) -> Option<&'static str> {
    let word = word.trim_start_matches('/').to_lowercase();
    NEAR_WORDS.iter().find(|near| near.words.contains(&word.as_str())).map(|near| near.command)
}

/// Returns the name that a slip of the finger meant, the nearest first.
pub(crate) fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed =
        |name: &str| if name.chars().count().min(word.chars().count()) < 6 { 1 } else { MAX_SLIPS };
    let near = names.into_iter().map(|name| (slips(word, name), name));
    near.filter(|(slips, name)| *slips <= allowed(name)).min().map(|(_, name)| name)
}

/// Returns `true` for what is said rather than commanded: several words, or some Chinese characters.
pub(crate) fn is_sentence(text: &str) -> bool {
    let is_chinese = |c: char| ('\u{3400}'..='\u{9fff}').contains(&c);
    let has_subject = text.trim().starts_with(['我', '你', '您', '他', '她']);
    let min_chars = if has_subject { MIN_SUBJECT_CHARS } else { MIN_SENTENCE_CHARS };
    text.trim().contains(char::is_whitespace)
        || text.contains(is_chinese) && text.chars().count() >= min_chars
}

/// Returns `true` if a sentence asks.
pub(crate) fn is_question(text: &str) -> bool {
    const ASKING: [&str; 8] = ["什么", "谁", "哪", "吗", "怎么", "多少", "几", "为何"];
    let text = text.trim().to_lowercase();
    let first = text.split_whitespace().next().unwrap_or_default();
    text.ends_with(['?', '？'])
        || QUESTION_WORDS.contains(&first)
        || ASKING.iter().any(|word| text.contains(word))
}

/// Counts the letters that were left out, added, replaced or swapped with the next one.
fn slips(typed: &str, name: &str) -> usize {
    let (typed, name): (Vec<char>, Vec<char>) =
        (typed.to_lowercase().chars().collect(), name.chars().collect());
    let mut rows = vec![(0..=name.len()).collect::<Vec<usize>>()];
    for (i, a) in typed.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in name.iter().enumerate() {
            let replaced = rows[i][j] + usize::from(a != b);
            let mut best = replaced.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && typed[i - 1] == *b && name[j - 1] == *a {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[typed.len()][name.len()]
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::{
        cli::Cli,
        word_tables::{API_KEY, NearWords},
    };

    #[test]
    fn other_words_lead_to_commands_that_exist() {
        let root = Cli::command();
        for NearWords { command, words } in NEAR_WORDS {
            let mut parent = &root;
            let is_name = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
            for word in command.split(' ').take_while(is_name) {
                parent = parent.find_subcommand(word).unwrap_or_else(|| panic!("{command}"));
            }
            for word in *words {
                assert!(root.find_subcommand(word).is_none(), "{word} is a command itself");
                assert_eq!(meant_by(word), Some(*command), "{word} is listed twice");
            }
        }
    }

    #[test]
    fn words_below_lead_to_commands_that_exist() {
        let root = Cli::command();
        for (parent, typed, command) in WORDS_BELOW {
            let above = root.find_subcommand(parent).unwrap();
            assert!(above.find_subcommand(typed).is_none(), "{parent} {typed} exists");
            let mut found = &root;
            for word in command.split(' ').take_while(|word| !word.starts_with("--")) {
                found = found.find_subcommand(word).unwrap_or_else(|| panic!("{command}"));
            }
        }
    }

    #[test]
    fn settings_are_known_by_their_words() {
        assert_eq!(setting_change(&["set", "model", "x"]), Some(("chat.model", 2)));
        assert_eq!(setting_change(&["设置", "模型", "x"]), Some(("chat.model", 2)));
        assert_eq!(setting_change(&["换模型", "x"]), Some(("chat.model", 1)));
        assert_eq!(setting_change(&["密钥"]), Some((API_KEY, 1)));
        assert_eq!(setting_change(&["set", "tea"]), None);
    }

    #[test]
    fn an_order_in_one_word_is_split_and_a_story_is_not() {
        assert_eq!(split_command("忘掉茶"), Some(("forget", "茶")));
        assert_eq!(split_command("帮我记住密码本在抽屉里"), Some(("remember", "密码本在抽屉里")));
        assert_eq!(split_command("列出提醒"), Some(("schedule list", "")));
        assert_eq!(split_command("看看我的记忆"), Some(("list", "")));
        assert_eq!(split_command("删除了旧账号之后很轻松"), None);
        assert_eq!(split_command("我忘记带伞了"), None);
        assert!(is_reminder("明天提醒我交房租") && !is_reminder("我喜欢喝茶"));
    }

    #[test]
    fn a_slip_is_told_from_another_word() {
        let names = ["remember", "recall", "list", "serve"];
        assert_eq!(nearest("remeber", names), Some("remember"));
        assert_eq!(nearest("recal", names), Some("recall"));
        assert_eq!(nearest("lsit", names), Some("list"));
        assert_eq!(nearest("search", names), None);
        assert_eq!(nearest("restore", ["store"]), None);
        assert_eq!(nearest("rember", names), Some("remember"));
        assert_eq!(nearest("查找", names), None);
    }

    #[test]
    fn sentences_and_questions_are_known_in_both_languages() {
        assert!(is_sentence("I like tea") && !is_question("I like tea"));
        assert!(is_sentence("我喜欢喝绿茶") && !is_question("我喜欢喝绿茶"));
        assert!(is_sentence("我爱茶") && !is_sentence("你好"));
        assert!(is_question("What tea do I like?") && is_question("我喜欢喝什么茶"));
        assert!(!is_sentence("find") && !is_sentence("查找"));
    }
}
