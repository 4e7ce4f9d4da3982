//! Word diff of two texts; in Chinese, character by character.

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// Longest pair of texts that is compared; of longer ones only the sizes are shown.
const MAX_DIFF_BYTES: usize = 20_000;

/// Returns the new text with `[-deletions-]` and `{+insertions+}` marked.
pub(crate) fn word_diff(old: &str, new: &str) -> String {
    if old.len() + new.len() > MAX_DIFF_BYTES {
        return format!("{} bytes → {} bytes", old.len(), new.len());
    }
    let (old, new) = (split_words(old), split_words(new));
    let mut text = String::new();
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        let (tag, old_range, new_range) = op.as_tag_tuple();
        let (removed, added) = (old[old_range].concat(), new[new_range].concat());
        text += &match tag {
            DiffTag::Equal => added,
            DiffTag::Delete => format!("[-{removed}-]"),
            DiffTag::Insert => format!("{{+{added}+}}"),
            DiffTag::Replace => format!("[-{removed}-]{{+{added}+}}"),
        };
    }
    text
}

/// Splits a text into words, and everything else into single characters.
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

/// Returns `true` for letters of languages with blanks between words; scripts from U+2E80 on have none.
fn is_letter(c: char) -> bool {
    c.is_alphanumeric() && c < '\u{2e80}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_and_added_words_are_marked() {
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
