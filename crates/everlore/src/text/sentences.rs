//! Sentence boundaries in English and Chinese.

/// Iterates over sentences with their separators, in both languages.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (sentence, tail) = rest.split_at(sentence_end(rest));
        rest = tail;
        Some(sentence)
    })
}

fn sentence_end(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((_, c)) = characters.next() {
        let next = characters.peek().copied();
        let ends = match c {
            '。' | '！' | '？' | '\n' => true,
            '.' | '!' | '?' => next.is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if ends {
            // The blanks after a sentence belong to it.
            let blank = |(_, c): &(usize, char)| c.is_whitespace();
            while characters.next_if(blank).is_some() {}
            return characters.peek().map_or(text.len(), |(index, _)| *index);
        }
    }
    text.len()
}
