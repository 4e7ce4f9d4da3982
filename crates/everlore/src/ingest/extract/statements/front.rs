//! Text in front of a sentence that cannot be understood without it: the sentence before it, or the question that it
//! answers.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::{language::is_cjk, sentences::sentences};

/// Most words of an answer that needs its question: a longer one says what it is about.
const MAX_ANSWER_WORDS: usize = 6;

/// Most Chinese characters of such an answer.
const MAX_ANSWER_CHARS: usize = 12;

/// Longest question that is put in front of an answer.
const MAX_QUESTION_CHARS: usize = 200;

/// Sentences that begin with a word for something said before.
static REFERS_BACK: LazyLock<Regex> = LazyLock::new(|| {
    let english = r"^(?:(?:and|but|so|also|because|though|yeah|yes|no|well|oh|plus|which means)[ ,]+)*(?:he|she|they|it|that|those|these|this|his|her|hers|their|its|him|them|same|both|neither|he['’]s|she['’]s|they['’]re|it['’]s|that['’]s|its|no need to (?:worry|bother|renew))\b";
    let chinese = r"^(?:所以|但是?|不过|而且|因为|然后|还有|结果)?[，,]?(?:他|她|它|牠|这(?:个|些|边|里|家|位|种|样|事|是|人|次|孩子|家伙)|那(?:个|些|边|里|家|位|种|天|是|人|次|孩子|家伙)|其中|前者|后者|俩人|两人|(?:终于|总算|这下|以后|再也)*(?:不用|不必)再?(?:担心|操心|发愁|愁|怕|续签|办))";
    Regex::new(&format!("(?i){english}|{chinese}")).expect("valid")
});

/// Beginnings of answers that say by themselves who or what they are about.
static OWN_SUBJECT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:i|i['’]m|im|i['’]ve|my|we|we['’]re|our|call me)\b|我|咱|俺")
        .expect("valid")
});

/// Returns `true` if a sentence begins with a word that refers to what was said before.
pub(super) fn refers_back(sentence: &str) -> bool {
    REFERS_BACK.is_match(sentence)
}

/// Returns the question of a reply that a short sentence answers; `None` if the sentence needs none.
pub(super) fn question_of(reply: &str, answer: &str) -> Option<String> {
    let question = last_question(reply)?;
    let cjk = answer.chars().filter(|c| is_cjk(*c)).count();
    let words = answer.split_whitespace().count();
    let is_short = if cjk > 0 { cjk <= MAX_ANSWER_CHARS } else { words <= MAX_ANSWER_WORDS };
    (is_short && !OWN_SUBJECT.is_match(answer)).then(|| question.to_owned())
}

/// Returns the question with which a reply ends.
pub(super) fn last_question(reply: &str) -> Option<&str> {
    let last = sentences(reply).last()?.trim();
    let fits = last.chars().count() <= MAX_QUESTION_CHARS && last.ends_with(['?', '？']);
    fits.then_some(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_needs_the_question_that_it_answers() {
        let question = |reply, answer| question_of(reply, answer);
        assert_eq!(question("Sure. Which size?", "43").as_deref(), Some("Which size?"));
        assert_eq!(question("好的。你穿多大的鞋？", "四十三码").as_deref(), Some("你穿多大的鞋？"));
        assert_eq!(question("Sure. Which size?", "I wear 43"), None);
        assert_eq!(question("Here you are.", "43"), None);
        let long = "the blue ones in the window of the shop on Vine Street";
        assert_eq!(question("Which ones?", long), None);
    }

    #[test]
    fn pronouns_and_consequences_refer_back() {
        for sentence in [
            "She is a nurse.",
            "and it's in June",
            "no need to worry about the visa",
            "他对虾过敏",
            "那个月底到期",
            "不用再担心签证。",
        ] {
            assert!(refers_back(sentence), "{sentence}");
        }
        for sentence in ["Sheila is a nurse.", "my sister is one", "那下周二带她去", "我住上海"]
        {
            assert!(!refers_back(sentence), "{sentence}");
        }
    }
}
