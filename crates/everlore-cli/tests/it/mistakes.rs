//! Mistakes of someone new, in both languages: each answer names the command to type next, and that command exists.

use serde::Deserialize;

use crate::{
    home::{CommandOutput, TestHome},
    readme::read_page,
};

/// Mistakes that the file holds at least.
const MIN_MISTAKES: usize = 20;

#[derive(Deserialize)]
struct MistakeList {
    mistake: Vec<Mistake>,
}

/// Command line with a mistake, in each language.
#[derive(Deserialize)]
struct Mistake {
    what: String,
    en: Vec<String>,
    zh: Vec<String>,
    next: NextCommand,
}

/// Command that the answer must name.
#[derive(Deserialize)]
#[serde(untagged)]
enum NextCommand {
    Same(String),
    ByLanguage { en: String, zh: String },
}

impl NextCommand {
    fn for_language(&self, language: &str) -> &str {
        match self {
            Self::Same(next) => next,
            Self::ByLanguage { en, .. } if language == "en" => en,
            Self::ByLanguage { zh, .. } => zh,
        }
    }
}

#[test]
fn twenty_mistakes_of_someone_new_lead_to_the_right_command() {
    assert_answers("en", &[]);
}

#[test]
fn the_same_mistakes_are_answered_in_chinese() {
    assert_answers("zh", &[("LC_ALL", "zh_CN.UTF-8")]);
}

#[test]
fn the_commands_that_answers_name_exist() {
    let home = TestHome::new();
    for mistake in mistakes() {
        for language in ["en", "zh"] {
            let next = mistake.next.for_language(language);
            let words = next.split_whitespace().skip(1).take_while(|word| !word.contains('.'));
            let args: Vec<&str> = words.chain(["--help"]).collect();
            assert_eq!(home.run(&args).code, 0, "{next}");
        }
    }
}

/// Makes every mistake on a home with one memory, and looks for the next command in the answer.
fn assert_answers(language: &str, env: &[(&str, &str)]) {
    let home = TestHome::new();
    home.remember("I like green tea in the morning");
    let mistakes = mistakes();
    assert!(mistakes.len() >= MIN_MISTAKES, "{}", mistakes.len());
    for mistake in mistakes {
        let typed = if language == "en" { &mistake.en } else { &mistake.zh };
        let output = home.command(typed).envs(env.iter().copied()).output().unwrap();
        let ran = CommandOutput::from(output);
        let (answer, next) = (ran.out + &ran.err, mistake.next.for_language(language));
        assert_eq!(ran.code, 2, "{}, {typed:?}: {answer}", mistake.what);
        assert!(answer.contains(next), "{}, {typed:?} lacks `{next}`: {answer}", mistake.what);
        let is_chinese = answer.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        assert!(language == "en" || is_chinese, "{typed:?}: {answer}");
        assert!(!answer.contains("Usage:") || language == "en", "{typed:?}: {answer}");
    }
}

fn mistakes() -> Vec<Mistake> {
    let text = read_page("crates/everlore-cli/tests/data/mistakes.toml");
    toml::from_str::<MistakeList>(&text).unwrap().mistake
}
