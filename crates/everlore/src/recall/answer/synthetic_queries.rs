//! Synthetic queries: questions derived from stored texts, whose answers are known, to calibrate the confidence model.

use crate::{
    recall::query::capitalized_names,
    text::{language::is_cjk, terms::terms},
};

/// Maximum number of units in a question: it mentions a few things, not the whole text.
const MAX_UNITS: usize = 5;

/// Minimum number of units in a text: from a shorter one nothing can be left out.
const MIN_UNITS: usize = 4;

/// Characters of a Chinese unit: a word and the beginning of the next. Pairs across the border are lost, as in a real
/// paraphrase.
const CJK_UNIT: usize = 3;

/// Returns the content words of a text in order; in Chinese, short runs of characters.
pub(crate) fn content_units(text: &str) -> Vec<String> {
    let mut units = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '\'') {
        let characters: Vec<char> = word.chars().collect();
        for run in characters.chunk_by(|a, b| is_cjk(*a) == is_cjk(*b)) {
            let size = if is_cjk(run[0]) { CJK_UNIT } else { run.len() };
            units.extend(run.chunks(size).map(|part| part.iter().collect::<String>()));
        }
    }
    // A name gives the answer away like no other word, and not every real question has one.
    let names: Vec<&str> = capitalized_names(text).collect();
    units.retain(|unit| !terms(unit).is_empty() && !names.contains(&unit.as_str()));
    units
}

/// Derives a question that `text` answers: every second of its words, and one foreign word, as people use words of
/// their own. `None` if the text is too short to leave anything out.
pub(crate) fn synthetic_query(text: &str, foreign: Option<&String>) -> Option<String> {
    let units = content_units(text);
    if units.len() < MIN_UNITS {
        return None;
    }
    let sampled = units.into_iter().step_by(2).take(MAX_UNITS);
    Some(sampled.chain(foreign.cloned()).collect::<Vec<_>>().join(" "))
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
