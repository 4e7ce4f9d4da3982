//! Sentence boundaries in English and Chinese.

/// Words that a name or a number follows; their full stop never ends a sentence.
#[rustfmt::skip]
const NEVER_END: &[&str] = &[
    "dr", "mr", "mrs", "ms", "prof", "st", "mt", "gen", "col", "capt", "lt", "sgt", "rev", "hon", "gov", "sen", "rep", "fr", "e.g", "i.e", "eg", "ie", "vs", "cf", "fig", "figs", "approx", "ca", "no", "nos", "vol", "pp", "ed", "eds", "ch", "sec", "messrs", "mme", "viz", "v",
];

/// Abbreviations that may end a sentence; one ends there if the next word begins another.
#[rustfmt::skip]
const MAY_END: &[&str] = &[
    "etc", "jr", "sr", "inc", "ltd", "co", "corp", "llc", "dept", "est", "ave", "blvd", "rd", "apt", "al", "a.m", "p.m", "min", "max", "tel", "ext", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun",
];

/// Words that begin a sentence far more often than they follow an abbreviation.
#[rustfmt::skip]
const STARTERS: &[&str] = &[
    "the", "a", "an", "i", "i'm", "i've", "i'll", "we", "we're", "you", "he", "she", "it", "it's", "they", "this", "that", "these", "those", "my", "our", "your", "his", "her", "its", "their", "there", "here", "but", "and", "so", "or", "if", "when", "while", "after", "before", "in", "on", "at", "then", "now", "please", "what", "why", "who", "how", "where", "do", "does", "did", "is", "are", "can", "let's", "no", "yes", "not", "as", "for", "with",
];

/// Closing quotation marks and brackets, which belong to the sentence before them.
const CLOSERS: &[char] = &['"', '\'', '”', '’', '」', '』', ')', '）', '】', ']', '》'];

/// Iterates over sentences with their separators, in both languages. A full stop after an abbreviation ("Dr.", "U.S."),
/// an initial or the number of a list ends none.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    split(text, |before, rest| !is_abbreviation(before, rest))
}

/// Iterates over the parts between sentence marks, abbreviations or not: what [`sentences`] gave in 0.1.0, and so what
/// the day logs of that time contain.
pub(crate) fn parts_at_marks(text: &str) -> impl Iterator<Item = &str> {
    split(text, |_, _| true)
}

/// Returns `true` if the text ends with an abbreviation, whose full stop belongs to it.
pub(crate) fn ends_with_abbreviation(text: &str) -> bool {
    text.strip_suffix('.').is_some_and(|before| is_abbreviation(before, ""))
}

/// Splits a text after sentence marks; `ends` decides on full stops from the text before and after them.
fn split(text: &str, ends: impl Fn(&str, &str) -> bool) -> impl Iterator<Item = &str> {
    let mut rest = text.trim();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (sentence, tail) = rest.split_at(sentence_end(rest, &ends));
        rest = tail;
        Some(sentence)
    })
}

fn sentence_end(text: &str, ends: impl Fn(&str, &str) -> bool) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let closes = |(_, c): &(usize, char)| c != &'\n' && CLOSERS.contains(c);
        if is_mark(c) {
            while characters.next_if(closes).is_some() {}
        }
        let next = characters.peek().copied();
        let is_spaced = next.is_none_or(|(_, next)| next.is_whitespace());
        let ended = match c {
            '。' | '！' | '？' | '\n' => true,
            '!' | '?' => is_spaced,
            '.' => is_spaced && ends(&text[..at], next.map_or("", |(next, _)| &text[next..])),
            _ => false,
        };
        if ended {
            // The blanks after a sentence belong to it.
            let blank = |(_, c): &(usize, char)| c.is_whitespace();
            while characters.next_if(blank).is_some() {}
            return characters.peek().map_or(text.len(), |(index, _)| *index);
        }
    }
    text.len()
}

fn is_mark(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '.' | '!' | '?')
}

/// Returns `true` if the full stop between these texts belongs to an abbreviation, an initial or the number of a list.
fn is_abbreviation(before: &str, after: &str) -> bool {
    let is_number_of_list = !before.is_empty() && before.bytes().all(|b| b.is_ascii_digit());
    if after.starts_with('\n') {
        return false;
    }
    let word = before.rsplit(|c: char| !c.is_alphanumeric() && c != '.').next().unwrap_or_default();
    let lower = word.to_ascii_lowercase();
    let is_acronym = word.contains('.') && word.split('.').all(|part| part.chars().count() == 1);
    let is_initial = word.chars().count() == 1 && word.chars().all(|c| c.is_ascii_uppercase());
    is_number_of_list && !after.is_empty()
        || NEVER_END.contains(&lower.as_str()) && is_followed(&lower, after)
        || (is_acronym || is_initial && word != "I" || MAY_END.contains(&lower.as_str()))
            && !begins_sentence(after)
}

/// Returns `true` if a text goes on as the abbreviation needs it: "no." is one before a number only.
fn is_followed(abbreviation: &str, after: &str) -> bool {
    let next = after.trim_start().chars().next();
    match abbreviation {
        "no" | "nos" | "fig" | "figs" | "ch" | "sec" | "vol" | "pp" | "ed" | "eds" => {
            next.is_some_and(|next| next.is_ascii_digit())
        }
        _ => next.is_some(),
    }
}

fn begins_sentence(after: &str) -> bool {
    let next = after.split_whitespace().next().unwrap_or_default();
    let bare = next.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'');
    next.starts_with(|c: char| c.is_uppercase() || !c.is_ascii())
        && (STARTERS.contains(&bare.to_lowercase().as_str()) || !next.is_ascii())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(expected: &[&str]) {
        let text = expected.join(" ");
        let found: Vec<_> = sentences(&text).map(str::trim).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn abbreviations_initials_and_lists_end_no_sentence() {
        check(&["Dr. Smith is my dentist.", "He is nice."]);
        check(&["I moved to the U.S. in May.", "My cat came too."]);
        check(&["I moved to the U.S.", "The move was hard."]);
        check(&["Mr. and Mrs. J. K. Lee live next door.", "Fine!"]);
        check(&["We meet at 9 a.m. on Friday.", "Bring tea, e.g. green tea."]);
        check(&["Buy milk, eggs, etc. for Prof. Wu.", "Thanks?"]);
        check(&["1. Buy milk and No. 5 screws.", "So it is."]);
        check(&["I said no.", "He left."]);
        check(&["She said \"stop.\"", "I stopped."]);
        check(&["It was you and I.", "Really?"]);
    }

    #[test]
    fn chinese_sentences_keep_their_closing_quotes() {
        let text = "他说：“好。”然后走了。Dr. Wang 是我的牙医。价格是3.5元。";
        let expected = ["他说：“好。”", "然后走了。", "Dr. Wang 是我的牙医。", "价格是3.5元。"];
        assert_eq!(sentences(text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_last_abbreviation_keeps_its_full_stop() {
        assert!(ends_with_abbreviation("I live in the U.S."));
        assert!(ends_with_abbreviation("at 9 a.m."));
        assert!(!ends_with_abbreviation("I said no."));
        assert!(!ends_with_abbreviation("I like tea."));
    }

    proptest! {
        #[test]
        fn sentences_make_up_the_text(text in "[a-zA-Z1 .?!。\n\"”茶]{0,40}") {
            prop_assert_eq!(sentences(&text).collect::<String>(), text.trim());
            prop_assert_eq!(parts_at_marks(&text).collect::<String>(), text.trim());
        }
    }
}
