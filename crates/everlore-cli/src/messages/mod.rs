//! Language of what the program says, and the translation of its messages at the edge
//! (`docs/decisions/0010-messages.md`).

mod catalogue;
#[cfg(test)]
mod coverage_tests;

use std::{
    borrow::Cow,
    ffi::OsString,
    sync::{
        LazyLock,
        atomic::{AtomicBool, Ordering},
    },
};

use everlore::engine::Language;

use catalogue::Catalogue;

/// Pairs of English and Chinese messages.
const CHINESE_MESSAGES: &str = include_str!("zh.txt");

static CHINESE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::parse(CHINESE_MESSAGES));

static IS_CHINESE: AtomicBool = AtomicBool::new(false);

/// Chooses the language of everything that is printed from now on.
pub(crate) fn speak(language: Language) {
    IS_CHINESE.store(language == Language::Chinese, Ordering::Relaxed);
}

/// Returns `true` if messages are printed in Chinese.
pub(crate) fn is_chinese() -> bool {
    IS_CHINESE.load(Ordering::Relaxed)
}

/// Returns a message in the chosen language; as it is, if it has no translation.
pub(crate) fn translate(message: &str) -> Cow<'_, str> {
    if is_chinese() { translate_to_chinese(message) } else { Cow::Borrowed(message) }
}

/// Returns an error as it is printed, its message in the chosen language.
pub(crate) fn error_line(message: &str) -> String {
    format!("{}{}", if is_chinese() { "错误：" } else { "error: " }, translate(message))
}

/// Returns a hint as it is printed, in the chosen language.
pub(crate) fn hint_line(hint: &str) -> String {
    format!("{}{}", if is_chinese() { "提示：" } else { "hint: " }, translate(hint))
}

/// Returns the Chinese of a message; line by line, if it has none as a whole.
fn translate_to_chinese(message: &str) -> Cow<'_, str> {
    if let Some(translated) = CHINESE.find(message) {
        return Cow::Owned(translated);
    }
    if !message.contains('\n') {
        return Cow::Borrowed(message);
    }
    let lines = message.split('\n').map(|line| CHINESE.find(line).unwrap_or_else(|| line.into()));
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// Returns the language of the arguments (`--lang`), else of the locale, before anything else is known.
pub(crate) fn language_of(args: &[OsString]) -> Language {
    lang_option(args)
        .as_deref()
        .and_then(parse_language)
        .or_else(locale_language)
        .unwrap_or(Language::English)
}

/// Returns the language of the locale, if one is set.
pub(crate) fn locale_language() -> Option<Language> {
    ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(|variable| {
        let value = std::env::var(variable).ok().filter(|value| !value.is_empty())?;
        Some(if value.starts_with("zh") { Language::Chinese } else { Language::English })
    })
}

/// Parses a value of `--lang`.
pub(crate) fn parse_language(name: &str) -> Option<Language> {
    match name {
        "zh" => Some(Language::Chinese),
        "en" => Some(Language::English),
        _ => None,
    }
}

/// Returns the value of `--lang`, wherever it stands before `--`.
fn lang_option(args: &[OsString]) -> Option<String> {
    let words: Vec<_> = args.iter().take_while(|arg| *arg != "--").collect();
    let text = |word: &OsString| word.to_str().map(str::to_owned);
    words.iter().enumerate().find_map(|(index, word)| {
        match word.to_str()?.strip_prefix("--lang")? {
            "" => words.get(index + 1).and_then(|value| text(value)),
            value => value.strip_prefix('=').map(str::to_owned),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_option_counts_wherever_it_stands() {
        let of = |args: &[&str]| lang_option(&args.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of(&["everlore", "--lang", "zh", "list"]).as_deref(), Some("zh"));
        assert_eq!(of(&["everlore", "list", "--lang=en"]).as_deref(), Some("en"));
        assert_eq!(of(&["everlore", "remember", "--", "--lang", "zh"]), None);
        assert_eq!(of(&["everlore", "onboard", "--language", "zh"]), None);
    }

    #[test]
    fn english_stays_as_it_is_and_chinese_is_looked_up() {
        assert_eq!(translate_to_chinese("nothing found"), "没有找到");
        assert_eq!(translate_to_chinese("memory `01a1` not found"), "找不到记忆 `01a1`");
        assert_eq!(translate_to_chinese("no such message at all"), "no such message at all");
        assert!(matches!(translate("nothing found"), Cow::Borrowed(_)));
    }
}
