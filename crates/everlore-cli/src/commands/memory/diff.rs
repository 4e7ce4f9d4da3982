//! What is different between two texts, word by word, and in Chinese character by character.

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// Longer texts are only measured: a diff of them says less than it costs.
const MAX_DIFF_BYTES: usize = 20_000;

/// The new text with `[-what went-]` and `{+what came+}` marked.
pub(crate) fn word_diff(old: &str, new: &str) -> String {
    if old.len() + new.len() > MAX_DIFF_BYTES {
        return format!("{} bytes → {} bytes", old.len(), new.len());
    }
    let (old, new) = (split_words(old), split_words(new));
    let mut text = String::new();
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        let (tag, gone, come) = op.as_tag_tuple();
        let (gone, come) = (old[gone].concat(), new[come].concat());
        text += &match tag {
            DiffTag::Equal => come,
            DiffTag::Delete => format!("[-{gone}-]"),
            DiffTag::Insert => format!("{{+{come}+}}"),
            DiffTag::Replace => format!("[-{gone}-]{{+{come}+}}"),
        };
    }
    text
}

/// Words, and everything else as single characters.
fn split_words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if is_letter(first) {
            rest.find(|c| !is_letter(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, tail) = rest.split_at(end);
        words.push(word);
        rest = tail;
    }
    words
}

/// Letters of languages that put blanks between words; those from U+2E80 on do not.
fn is_letter(c: char) -> bool {
    c.is_alphanumeric() && c < '\u{2e80}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_went_and_came_are_marked() {
        assert_eq!(
            word_diff("I like green tea", "I like black tea"),
            "I like [-green-]{+black+} tea"
        );
        assert_eq!(word_diff("tea", "tea and milk"), "tea{+ and milk+}");
        assert_eq!(word_diff("我喜欢绿茶", "我喜欢红茶"), "我喜欢[-绿-]{+红+}茶");
    }

    #[test]
    fn long_texts_are_only_measured() {
        assert_eq!(word_diff(&"a".repeat(30_000), "b"), "30000 bytes → 1 bytes");
    }
}
