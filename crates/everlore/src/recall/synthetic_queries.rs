//! Questions made from stored texts, for which the right answer is known.

use super::memory_need::capitalized_names;
use crate::text::{language::is_cjk, terms::terms};

/// A question says a few things, not all of a text.
const MAX_UNITS: usize = 5;

/// From a shorter text nothing can be left out.
const MIN_UNITS: usize = 4;

/// A Chinese word and the beginning of the next: pairs across the border are lost, as in a real paraphrase.
const CJK_UNIT: usize = 3;

/// The words of a text that say something, in order; in Chinese, short runs of characters.
pub(crate) fn content_units(text: &str) -> Vec<String> {
    let mut units = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '\'') {
        let characters: Vec<char> = word.chars().collect();
        for run in characters.chunk_by(|a, b| is_cjk(*a) == is_cjk(*b)) {
            let size = if is_cjk(run[0]) { CJK_UNIT } else { run.len() };
            units.extend(run.chunks(size).map(|part| part.iter().collect::<String>()));
        }
    }
    // Names give a question away, as nothing else does, and not every question has one.
    let named: Vec<&str> = capitalized_names(text).collect();
    units.retain(|unit| !terms(unit).is_empty() && !named.contains(&unit.as_str()));
    units
}

/// A question that `text` answers: every second of its words, and one that it does not have, as people say things in words
/// of their own. None if the text is too short to leave anything out.
pub(crate) fn synthetic_query(text: &str, foreign: Option<&String>) -> Option<String> {
    let units = content_units(text);
    if units.len() < MIN_UNITS {
        return None;
    }
    let kept = units.into_iter().step_by(2).take(MAX_UNITS);
    Some(kept.chain(foreign.cloned()).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_some_of_the_words_in_both_languages() {
        let foreign = "umbrella".to_owned();
        let english = synthetic_query("The boiler lost pressure twice in January", Some(&foreign));
        assert_eq!(english.unwrap(), "boiler pressure umbrella");
        let chinese = synthetic_query("上次洗衣机漏水是因为排水管松了", Some(&"雨伞".to_owned()));
        let chinese = chinese.unwrap();
        assert!(chinese.ends_with(" 雨伞") && chinese.contains("上次洗"), "{chinese}");
    }

    #[test]
    fn a_short_text_gives_no_question() {
        assert_eq!(synthetic_query("Thanks, Anna!", None), None);
        assert_eq!(synthetic_query("好的", None), None);
    }
}
