//! Clauses that assert something: questions do not, but "I am allergic to nuts, can I eat this?" does in its first part.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::sentences::sentences;

/// Start of an English clause that asks. "When I lived in Oslo" and "where we live" do not.
static ASKING_START: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)^(?:(?:hey|hi|hello|so|and|but|or|ok|okay|also|then|please|well|oh)\W+)*
        (?:(?:what|where|when|why|how|which|who|whom|whose)(?:'s|’s|'re|\b)
        |(?:do|does|did|don't|doesn't|didn't|is|isn't|are|aren't|am|was|were|can|can't|could|couldn't|will|would|wouldn't
        |should|shouldn't|shall|may|might|must|have|haven't|has|had|any|right|correct|really)\b)",
    )
    .expect("valid")
});

/// Start of a subordinate clause, which tells something even within a question.
static TELLING_START: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)^(?:(?:when|where|what|how|who|which)\s+(?:i|we|my|our)\b|(?:who|which|whose)\s+\w+s\b
        |(?:since|because|given|as|considering|now\s+that|although|though)\b|因为|由于|毕竟|既然)",
    )
    .expect("valid")
});

/// Words that make a question a request to remember: what follows them is told.
static ASKS_TO_REMEMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:remember|note|keep in mind|write down|save)\b.*\b(?:that|my|i)\b|记住|记一下|记下|记得|别忘")
        .expect("valid")
});

/// Words of a Chinese clause that asks, with or without a question mark.
static CHINESE_QUESTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[吗嘛]\s*[？?。.!！]*$|怎么样|怎样|什么|哪[里儿个些年天]|多少|是否|能不能|可不可以|有没有|是不是|会不会|谁[？?]")
        .expect("valid")
});

/// Breaks between clauses; "not A but B" has two.
static CLAUSE_BREAK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)[,;:，；：、\n]|\s+[-–—]+\s+|\s+(?:but|although|though|however|while|whereas)\s+|但是|但|而是|然而|可是")
        .expect("valid")
});

/// Returns the clauses of a text; with `and_questions` also those that only ask.
pub(crate) fn clauses(text: &str, and_questions: bool) -> Vec<&str> {
    let mut found = Vec::new();
    for sentence in sentences(text) {
        let parts: Vec<&str> = clauses_of(sentence);
        if and_questions || !is_question(sentence) || ASKS_TO_REMEMBER.is_match(sentence) {
            found.extend(parts);
            continue;
        }
        let last = parts.len().saturating_sub(1);
        let tells = |(at, part): &(usize, &str)| {
            TELLING_START.is_match(part)
                || *at < last && !ASKING_START.is_match(part) && !CHINESE_QUESTION.is_match(part)
        };
        found.extend(parts.into_iter().enumerate().filter(tells).map(|(_, part)| part));
    }
    found
}

fn clauses_of(sentence: &str) -> Vec<&str> {
    let parts = CLAUSE_BREAK.split(sentence).map(str::trim);
    parts.filter(|part| part.chars().any(char::is_alphanumeric)).collect()
}

fn is_question(sentence: &str) -> bool {
    let end = sentence.trim().trim_end_matches(['"', '”', '’', ')', '）', '」', ' ']);
    end.ends_with(['?', '？']) || is_unmarked_question(end)
}

/// Returns `true` for a Chinese question that ends in 吗 without a question mark.
fn is_unmarked_question(sentence: &str) -> bool {
    sentence.trim_end_matches(['。', '.', '！', '!', '~']).ends_with('吗')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_assert_nothing_but_what_stands_beside_them() {
        for (text, told) in [
            ("Do you know if I could move to Oslo?", &[][..]),
            ("What is the weather in Lisbon?", &[]),
            ("里斯本天气怎么样？", &[]),
            ("我能搬到奥斯陆吗", &[]),
            ("I'm allergic to nuts, can I eat this?", &["I'm allergic to nuts"]),
            (
                "What can I cook, since my wife hates mushrooms?",
                &["since my wife hates mushrooms?"],
            ),
            ("我对花生过敏，这个能吃吗？", &["我对花生过敏"]),
            ("Can you remember that I live in Oslo?", &["Can you remember that I live in Oslo?"]),
            ("你能记住我住在上海吗？", &["你能记住我住在上海吗？"]),
            ("I am not a nurse but a doctor.", &["I am not a nurse", "a doctor."]),
        ] {
            assert_eq!(clauses(text, false), told, "{text}");
        }
        assert_eq!(clauses("Could you answer in German?", true).len(), 1);
    }
}
