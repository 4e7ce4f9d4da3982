//! Coverage of a line by a memory: the share of its words that the memory has, in their order.

/// Share of a fact's words that a memory must have to tell it.
pub(super) const FOUND_SHARE: f64 = 0.7;

/// Share of a line's words with which a memory counts as made from it.
pub(super) const MADE_SHARE: f64 = 0.5;

/// Returns the words of a text in lower case, each Chinese character as a word.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut in_word = false;
    for c in text.to_lowercase().chars() {
        let is_latin = c.is_alphanumeric() && (c as u32) < 0x2E80;
        match words.last_mut() {
            Some(word) if is_latin && in_word => word.push(c),
            _ if c.is_alphanumeric() => words.push(c.to_string()),
            _ => {}
        }
        // An apostrophe belongs to its word.
        in_word = is_latin || in_word && matches!(c, '\'' | '’');
    }
    words
}

/// Returns the share of a line's words that a memory has in the same order.
pub(super) fn coverage(line: &[String], memory: &[String]) -> f64 {
    let mut lengths = vec![0_usize; memory.len() + 1];
    for word in line {
        let mut diagonal = 0;
        for (index, other) in memory.iter().enumerate() {
            let above = lengths[index + 1];
            lengths[index + 1] =
                if word == other { diagonal + 1 } else { above.max(lengths[index]) };
            diagonal = above;
        }
    }
    lengths[memory.len()] as f64 / line.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_in_their_order() {
        assert_eq!(words("I'm 43, 我住 Rome"), ["im", "43", "我", "住", "rome"]);
        let share = |line: &str, memory: &str| coverage(&words(line), &words(memory));
        assert!((share("I live in Rome", "btw I live in Rome now") - 1.0).abs() < 1e-9);
        assert!((share("a b c d", "d c b a") - 0.25).abs() < 1e-9);
        assert!((share("我住罗马", "罗马") - 0.5).abs() < 1e-9);
    }
}
