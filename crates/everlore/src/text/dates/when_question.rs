//! Questions whose answer is a time.

/// English phrases that ask for a time, matched at word boundaries.
#[rustfmt::skip]
const ENGLISH_PHRASES: &[&str] = &[
    "when did", "when do", "when does", "when was", "when were", "when is", "when are", "when am", "when's", "when will",
    "when would", "when have", "when has", "when had", "when can", "when could", "when should", "when exactly", "since when",
    "until when", "till when", "by when", "how long", "how soon", "how recently", "how much time", "how many minutes",
    "how many hours", "how many days", "how many weeks", "how many months", "how many years", "what date", "what day",
    "what month", "what year", "what time", "what week", "what season", "what weekday", "which date", "which day",
    "which month", "which year", "which week", "which weekend", "which season", "which weekday", "what is the date",
    "what's the date", "what was the date", "the exact date", "the date of", "the date when",
];

/// Words of which each of these phrases has one: most texts have none, and need not be searched for all.
const QUESTION_WORDS: &[&str] = &["when", "how ", "what", "which", "date"];

/// Chinese phrases that ask for a time.
#[rustfmt::skip]
const CHINESE_PHRASES: &[&str] = &[
    "什么时候", "甚么时候", "什麼時候", "啥时候", "何时", "何時", "哪天", "哪一天", "哪年", "哪一年", "哪个月", "哪一个月",
    "哪月", "哪周", "哪一周", "几月", "幾月", "几号", "幾號", "几点", "幾點", "几时", "多久", "多长时间", "多長時間",
    "什么时间", "什么日期", "什么日子", "星期几", "周几", "礼拜几", "多少天", "多少年", "多少周", "多少个月", "多少个小时",
    "几年了", "几天了", "几个月了", "哪个季度", "哪个季节", "日期是",
];

/// Returns `true` if the question in `text` asks for a time.
pub(crate) fn asks_when(text: &str) -> bool {
    let lower = text.to_ascii_lowercase().replace('’', "'");
    let bare = lower.trim_matches(|c: char| !c.is_alphanumeric());
    let chinese =
        || !lower.is_ascii() && CHINESE_PHRASES.iter().any(|phrase| lower.contains(phrase));
    bare == "when" || has_phrase(&lower) || chinese()
}

fn has_phrase(lower: &str) -> bool {
    QUESTION_WORDS.iter().any(|word| lower.contains(word))
        && ENGLISH_PHRASES.iter().any(|phrase| {
            let mut found = lower.match_indices(phrase);
            found.any(|(at, _)| {
                is_word_boundary(&lower[..at], true)
                    && is_word_boundary(&lower[at + phrase.len()..], false)
            })
        })
}

/// Returns `true` if the side of a phrase that ends (or begins) `side` is not inside a word.
fn is_word_boundary(side: &str, at_end: bool) -> bool {
    let neighbour = if at_end { side.chars().next_back() } else { side.chars().next() };
    !neighbour.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_for_a_time_are_seen() {
        let cases = [
            "When did Caroline go to the museum?",
            "when is my flight",
            "How long have I lived here?",
            "What date was it?",
            "what day did we meet",
            "What year did she graduate",
            "which month is the trip",
            "Since when do I own it",
            "when?",
            "How many years ago was that?",
            "What's the date of the exam",
            "Do you know when is it?",
            "你什么时候去的",
            "我哪天生日",
            "我们认识多久了",
            "婚礼是几月",
            "会议几点开始",
            "哪一年毕业的",
            "今天星期几",
            "何时出发",
        ];
        for text in cases {
            assert!(asks_when(text), "{text}");
        }
    }

    #[test]
    fn every_english_phrase_has_a_question_word() {
        let has_one = |phrase: &&str| QUESTION_WORDS.iter().any(|word| phrase.contains(word));
        assert!(ENGLISH_PHRASES.iter().all(has_one));
    }

    #[test]
    fn other_questions_are_not() {
        let cases = [
            "When I was in Paris, what did I eat?",
            "Who called yesterday?",
            "whenever you like",
            "what daylight lamp is it",
            "how do I sort a list",
            "昨天吃了什么",
            "我住在哪里",
            "他是谁",
            "有时候我喜欢跑步",
        ];
        for text in cases {
            assert!(!asks_when(text), "{text}");
        }
    }
}
