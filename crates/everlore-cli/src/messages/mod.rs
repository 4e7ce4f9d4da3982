//! Language of what the program says, and the translation of its messages at the edge
//! (`docs/decisions/0010-messages.md`).

mod catalogue;
#[cfg(test)]
mod coverage_tests;
mod language;
mod placeholder;
#[cfg(test)]
mod source_texts;

use std::{
    borrow::Cow,
    sync::{
        LazyLock,
        atomic::{AtomicBool, Ordering},
    },
};

use everlore::engine::Language;

use catalogue::Catalogue;

pub(crate) use language::{LANGUAGE_NAMES, language_of, locale_language, parse_language};

/// Pairs of English and Chinese messages.
const CHINESE_MESSAGES: &str = include_str!("zh.txt");

static CHINESE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::parse(CHINESE_MESSAGES));

static IS_CHINESE: AtomicBool = AtomicBool::new(false);

/// Chooses the language of everything that is printed from now on.
pub(crate) fn set_language(language: Language) {
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

/// Returns a text of the help in the chosen language, paragraph by paragraph. Help is not put together from parts, so that
/// only the very same text counts.
pub(crate) fn translate_help(text: &str) -> String {
    if !is_chinese() {
        return text.to_owned();
    }
    let line = |line: &str| help_in_chinese(line).unwrap_or(line).to_owned();
    match help_in_chinese(text) {
        Some(translated) => translated.to_owned(),
        None => text.split('\n').map(line).collect::<Vec<_>>().join("\n"),
    }
}

/// Returns the Chinese of a text of the help, if there is one.
pub(crate) fn help_in_chinese(text: &str) -> Option<&'static str> {
    CHINESE.find_exact(text)
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
    if !message.contains('\n') && !message.starts_with(' ') {
        return Cow::Borrowed(message);
    }
    Cow::Owned(message.split('\n').map(line_in_chinese).collect::<Vec<_>>().join("\n"))
}

/// Returns a line in Chinese. It may be indented.
fn line_in_chinese(line: &str) -> String {
    let words = line.trim_start();
    let indent = &line[..line.len() - words.len()];
    CHINESE.find(line).unwrap_or_else(|| match CHINESE.find(words) {
        Some(translated) => format!("{indent}{translated}"),
        None => line.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_stays_as_it_is_and_chinese_is_looked_up() {
        assert_eq!(translate_to_chinese("nothing found"), "没有找到");
        assert_eq!(translate_to_chinese("memory `01a1` not found"), "找不到记忆 `01a1`");
        assert_eq!(translate_to_chinese("no such message at all"), "no such message at all");
        assert!(matches!(translate("nothing found"), Cow::Borrowed(_)));
    }
}
