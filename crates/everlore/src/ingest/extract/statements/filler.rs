//! Fillers at the beginning of a sentence, which may go without changing what it says.

use std::sync::LazyLock;

use regex::Regex;

static FILLERS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^(?:(?:btw|by the way|fyi)[,:]?\s+|(?:oh|ok|okay|well|um|uh|hmm|hm|hi|hello|hey|anyway|also|so|right|yeah)(?: there)?[,:!.]+\s+|(?:对了|顺便说一下|顺便说|顺便|话说|那个|嗯|哦|噢|啊|你好|您好|另外|还有)[，,！!：:]\s*)+",
    )
    .expect("valid")
});

/// Returns a sentence without its leading fillers.
pub(super) fn without_filler(sentence: &str) -> &str {
    let end = FILLERS.find(sentence).map_or(0, |found| found.end());
    let rest = &sentence[end..];
    if rest.is_empty() { sentence } else { rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_say_nothing_go() {
        for (sentence, rest) in [
            ("btw, I'm vegan", "I'm vegan"),
            ("Oh, by the way I moved", "I moved"),
            ("So I moved", "So I moved"),
            ("no, I moved", "no, I moved"),
            ("对了，我吃素", "我吃素"),
            ("其实我吃素", "其实我吃素"),
            ("Hello!", "Hello!"),
        ] {
            assert_eq!(without_filler(sentence), rest);
        }
    }
}
