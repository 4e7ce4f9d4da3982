//! Cutting of messages: own words without code and quoted lines, in sentences and, where these are long, clause groups.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use crate::{
    ingest::extract::withdrawal::withdrawal_boundary,
    text::{language::is_cjk, secrets::find_mask, sentences::sentences},
};

/// Most sentences of a message that are judged, half of them at its beginning and half at its end: each costs some
/// milliseconds, and a longer message is a text that was pasted.
const MAX_SENTENCES: usize = 40;

/// Width of a sentence that is cut into clause groups, and of a group: the classifier reads some 45 words.
const MAX_SENTENCE_WIDTH: usize = 240;
const MIN_GROUP_WIDTH: usize = 110;

/// Widest group: a longer stretch without a comma was not written by a person.
const MAX_GROUP_WIDTH: usize = 1_000;

/// Longest quotation that is kept in one piece: a mark that is never closed must not make one sentence of a whole text.
const MAX_QUOTE_BYTES: usize = 1_000;

/// Separators between the clauses of a long sentence.
static CLAUSE_BREAKS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[,;]\s+|[，；;]\s*|\s[-–—]+\s|——|\.\.\.\s*|…+").expect("valid"));

/// Marks around a quotation.
const QUOTES: [(char, char); 4] = [('“', '”'), ('「', '」'), ('『', '』'), ('"', '"')];

/// Own words of a message with their sentences.
#[derive(Debug, Default)]
pub(super) struct CutMessage {
    /// Own words.
    pub(super) text: String,
    /// Sentences or clause groups, in order.
    pub(super) parts: Vec<CutPart>,
}

/// Sentence, or clause group of a long one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CutPart {
    /// Bytes of the own words.
    pub(super) span: Range<usize>,
    /// Number of the sentence that it belongs to.
    pub(super) sentence: usize,
}

impl CutMessage {
    /// Cuts a message.
    pub(super) fn new(message: &str) -> Self {
        let text = own_lines(message);
        let mut parts = Vec::new();
        let mut sentence = 0;
        for span in sentence_spans(&text).into_iter().flat_map(|span| cut_withdrawal(&text, span)) {
            // What stands beside a masked secret is worth keeping without it.
            let is_masked = find_mask(&text[span.clone()]).is_some();
            let longest = if is_masked { 0 } else { MAX_SENTENCE_WIDTH };
            for span in clause_groups(&text, span, longest) {
                sentence += usize::from(is_masked);
                parts.push(CutPart { span, sentence });
            }
            sentence += 1;
        }
        parts.retain(|part| is_own_statement(&text[part.span.clone()]));
        if parts.len() > MAX_SENTENCES {
            parts.drain(MAX_SENTENCES / 2..parts.len() - MAX_SENTENCES / 2);
        }
        Self { text, parts }
    }

    /// Returns the words of a part.
    pub(super) fn words(&self, part: usize) -> &str {
        self.parts.get(part).map_or("", |part| &self.text[part.span.clone()])
    }

    /// Returns the words from one part to another on one line.
    pub(super) fn words_between(&self, first: usize, last: usize) -> String {
        let span = self.parts[first].span.start..self.parts[last].span.end;
        self.text[span].split('\n').map(str::trim).collect::<Vec<_>>().join(" ")
    }
}

/// Returns the lines of a message that are no code and no quotation.
fn own_lines(message: &str) -> String {
    let mut own = String::new();
    let mut in_fence = false;
    for line in message.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            in_fence = !in_fence;
        } else if !in_fence && !line.starts_with('>') {
            own.push_str(line);
            own.push('\n');
        }
    }
    own
}

/// Returns the sentences of a text, line by line. A quotation is not cut.
fn sentence_spans(text: &str) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    for line in text.lines() {
        let line_start = line.as_ptr() as usize - text.as_ptr() as usize;
        let mut open: Option<Range<usize>> = None;
        for sentence in sentences(line).flat_map(split_before_cjk) {
            let span = span_in(text, sentence);
            // A quotation is followed by the rest of its sentence.
            let is_rest = text[span.clone()].starts_with(|c: char| c.is_ascii_lowercase())
                && spans.last().is_some_and(|last| {
                    last.end > line_start && text[..last.end].ends_with(['"', '”', '」', '』'])
                });
            let before = open.take().or_else(|| if is_rest { spans.pop() } else { None });
            let joined = before.map_or(span.clone(), |before| before.start..span.end);
            if joined.len() <= MAX_QUOTE_BYTES && has_open_quote(&text[joined.clone()]) {
                open = Some(joined);
            } else {
                spans.push(joined);
            }
        }
        spans.extend(open);
    }
    spans
}

/// Splits a sentence at the Latin question and exclamation marks that Chinese text follows without a blank.
fn split_before_cjk(sentence: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut chars = sentence.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let ends = matches!(c, '?' | '!') && chars.peek().is_some_and(|(_, next)| is_cjk(*next));
        if ends {
            parts.push(&sentence[start..=at]);
            start = at + 1;
        }
    }
    parts.push(&sentence[start..]);
    parts
}

/// Returns the place of a part, blanks around it aside.
fn span_in(text: &str, part: &str) -> Range<usize> {
    let part = part.trim();
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}

fn has_open_quote(text: &str) -> bool {
    QUOTES.iter().any(|(open, close)| {
        let count = |mark: char| text.chars().filter(|c| *c == mark).count();
        if open == close { count(*open) % 2 == 1 } else { count(*open) > count(*close) }
    })
}

/// Cuts a request to forget something from the statement beside it.
fn cut_withdrawal(text: &str, span: Range<usize>) -> Vec<Range<usize>> {
    let sentence = &text[span.clone()];
    let boundary = Some(sentence).filter(|it| width(it) <= MAX_SENTENCE_WIDTH);
    let Some(at) = boundary.and_then(withdrawal_boundary) else { return vec![span] };
    let marks = |c: char| c.is_whitespace() || matches!(c, ',' | '，' | ';' | '；' | ':' | '：');
    let (first, rest) = (&sentence[..at], sentence[at..].trim_start_matches(marks));
    vec![span_in(text, first), span_in(text, rest)]
}

/// Cuts a sentence that is wider than `longest` into groups of clauses.
fn clause_groups(text: &str, span: Range<usize>, longest: usize) -> Vec<Range<usize>> {
    let sentence = &text[span.clone()];
    if width(sentence) <= longest {
        return vec![span];
    }
    let mut groups = Vec::new();
    let mut start = 0;
    for found in CLAUSE_BREAKS.find_iter(sentence) {
        if width(&sentence[start..found.start()]) >= MIN_GROUP_WIDTH.min(longest) {
            groups.push(span_in(text, &sentence[start..found.end()]));
            start = found.end();
        }
    }
    groups.push(span_in(text, &sentence[start..]));
    groups
}

/// Returns the width of a text: a Chinese character says as much as two letters.
fn width(text: &str) -> usize {
    text.chars().map(|c| if is_cjk(c) { 2 } else { 1 }).sum()
}

/// Returns `true` for a part that has words, was written by a person, and is more than a quotation.
fn is_own_statement(part: &str) -> bool {
    let is_quotation = QUOTES.iter().any(|(open, close)| {
        let inside = part
            .strip_prefix(*open)
            .and_then(|rest| rest.trim_end_matches(['.', '。', ',', '，']).strip_suffix(*close));
        inside.is_some_and(|inside| !inside.contains([*open, *close]))
    });
    !is_quotation && part.chars().any(char::is_alphanumeric) && width(part) <= MAX_GROUP_WIDTH
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(message: &str) -> Vec<String> {
        let cut = CutMessage::new(message);
        (0..cut.parts.len()).map(|part| cut.words(part).to_owned()).collect()
    }

    #[test]
    fn a_message_is_cut_into_the_sentences_that_a_person_said() {
        assert_eq!(
            parts(
                "Hi! I live in the U.S. now.\nno nuts please\n> I live in Rome\n```\nlet me = 1;\n```"
            ),
            ["Hi!", "I live in the U.S. now.", "no nuts please"]
        );
        assert_eq!(
            parts("我叫张伟。对花生过敏!你记一下吧？"),
            ["我叫张伟。", "对花生过敏!", "你记一下吧？"]
        );
    }

    #[test]
    fn a_quotation_is_not_cut_and_is_no_statement_of_its_own() {
        assert_eq!(
            parts("She said \"I quit. I am done.\" and left. Fine."),
            ["She said \"I quit. I am done.\" and left.", "Fine."]
        );
        assert!(parts("\"I live in Rome. I love it.\"\n“我住在罗马。”").is_empty());
    }

    #[test]
    fn long_paragraphs_are_read_and_their_long_sentences_cut_at_clauses() {
        let paragraph = "The weather was grey and the train was late again, as ever. ".repeat(12);
        let message = format!("{paragraph}My daughter Zoe is allergic to peanuts.");
        assert!(message.len() > 700);
        assert_eq!(parts(&message).last().unwrap(), "My daughter Zoe is allergic to peanuts.");
        let chain = "we packed the car, we drove to the coast, ".repeat(8) + "and we stayed there";
        let cut = CutMessage::new(&chain);
        assert!(cut.parts.len() > 2 && cut.parts.iter().all(|part| part.sentence == 0));
        assert_eq!(cut.words_between(0, cut.parts.len() - 1), chain);
    }

    #[test]
    fn the_cost_of_a_message_is_bounded() {
        let long = "I like tea. ".repeat(5_000);
        assert_eq!(parts(&long).len(), MAX_SENTENCES);
        assert!(parts(&"I live in ".repeat(20_000)).is_empty());
        assert!(parts(&"，。？".repeat(20_000)).is_empty());
    }
}
