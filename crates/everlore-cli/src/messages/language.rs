//! Language of what the program says, before the settings are loaded: help and mistakes in the command line need it.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use everlore::{
    engine::Language,
    internal::files::regular_file::{self, MAX_SETTINGS_BYTES},
};

/// Values of `--lang`, each with other spellings that are understood.
pub(crate) const LANGUAGE_NAMES: [(&str, &[&str]); 2] = [
    ("en", &["en-US", "en_US", "en-GB", "en_GB", "english", "English", "英文", "英语"]),
    (
        "zh",
        &[
            "cn", "CN", "zh-CN", "zh_CN", "zh-cn", "zh-Hans", "zh-TW", "zh_TW", "chinese",
            "Chinese", "中文", "汉语",
        ],
    ),
];

/// Returns the language of the arguments (`--lang`), else of the settings, else of the locale, before anything else is known.
pub(crate) fn language_of(args: &[OsString]) -> Language {
    option(args, "--lang")
        .as_deref()
        .and_then(parse_language)
        .or_else(|| settings_language(args))
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
    let is = |(known, others): &(&str, &[&str])| *known == name || others.contains(&name);
    match LANGUAGE_NAMES.iter().position(is)? {
        0 => Some(Language::English),
        _ => Some(Language::Chinese),
    }
}

/// Returns `general.language` of the environment or of the settings file, unless it is `auto`.
fn settings_language(args: &[OsString]) -> Option<Language> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if let Some(value) = variable("EVERLORE_GENERAL__LANGUAGE") {
        return parse_language(&value);
    }
    let named = |name: &str, of_environment: &str| {
        option(args, name).filter(|value| !value.is_empty()).or_else(|| variable(of_environment))
    };
    let path = named("--config", "EVERLORE_CONFIG").map(PathBuf::from).or_else(|| {
        let home = named("--home", "EVERLORE_HOME").map(PathBuf::from);
        let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".everlore")))?;
        Some(home.join("config.toml"))
    })?;
    language_in_file(&path)
}

fn language_in_file(path: &Path) -> Option<Language> {
    let text = regular_file::read_to_string(path, MAX_SETTINGS_BYTES).ok()?;
    parse_language(&language_setting(&text)?)
}

/// Returns the value of `general.language`. The lines are read one by one, so that a mistake elsewhere in the file is still
/// reported in the chosen language.
fn language_setting(text: &str) -> Option<String> {
    let mut section = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            name.trim().clone_into(&mut section);
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let wanted = match section.as_str() {
            "" => "general.language",
            "general" => "language",
            _ => continue,
        };
        if key.trim() == wanted {
            return value.trim().split(['"', '\'']).nth(1).map(str::to_owned);
        }
    }
    None
}

/// Returns the value of an option, wherever it stands before `--`.
fn option(args: &[OsString], name: &str) -> Option<String> {
    let words: Vec<_> = args.iter().take_while(|arg| *arg != "--").collect();
    let text = |word: &OsString| word.to_str().map(str::to_owned);
    words.iter().enumerate().find_map(|(index, word)| match word.to_str()?.strip_prefix(name)? {
        "" => words.get(index + 1).and_then(|value| text(value)),
        value => value.strip_prefix('=').map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_option_counts_wherever_it_stands() {
        let of =
            |args: &[&str]| option(&args.iter().map(OsString::from).collect::<Vec<_>>(), "--lang");
        assert_eq!(of(&["everlore", "--lang", "zh", "list"]).as_deref(), Some("zh"));
        assert_eq!(of(&["everlore", "list", "--lang=en"]).as_deref(), Some("en"));
        assert_eq!(of(&["everlore", "remember", "--", "--lang", "zh"]), None);
        assert_eq!(of(&["everlore", "onboard", "--language", "zh"]), None);
    }

    #[test]
    fn other_spellings_of_a_language_are_understood() {
        for name in ["zh", "cn", "zh-CN", "zh_CN", "中文"] {
            assert_eq!(parse_language(name), Some(Language::Chinese), "{name}");
        }
        assert_eq!(parse_language("en_US"), Some(Language::English));
        assert_eq!(parse_language("fr"), None);
    }

    #[test]
    fn the_language_of_the_settings_is_found_even_in_a_damaged_file() {
        let of = |text: &str| language_setting(text);
        assert_eq!(
            of("[general]\nagent = \"a\"\nlanguage = \"zh\" # Chinese").as_deref(),
            Some("zh")
        );
        assert_eq!(of("general.language = 'zh'\n[memory").as_deref(), Some("zh"));
        assert_eq!(of("[chat]\nlanguage = \"zh\""), None);
        assert_eq!(of("# language = \"zh\""), None);
    }
}
