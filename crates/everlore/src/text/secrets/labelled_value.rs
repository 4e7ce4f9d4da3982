//! Value behind a label: skips what stands between the two (the rest of a name, quotes, marks, words such as "is" or
//! 是) and reads as far as the value goes. Looks at a bounded part of the text, so that a text of nothing but labels
//! takes linear time.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::bounded;

/// Bytes behind a label that are read: a name's rest, a separator and the longest value.
const MAX_BYTES: usize = 400;

/// Bytes between a label and the verb of its sentence: "passcode for the door of the garage is …".
const MAX_GAP_BYTES: usize = 60;

/// Bytes of a remark in brackets between a label and its value.
const MAX_REMARK_BYTES: usize = 60;

/// Words of a name after a label that speak about the secret: `password_hash`, `token_count`.
const ABOUT_WORDS: [&str; 26] = [
    "hash", "len", "min", "max", "count", "limit", "policy", "field", "type", "file", "path",
    "url", "hint", "manager", "expire", "name", "ttl", "required", "regex", "header", "shorter",
    "usage", "budget", "bucket", "rules", "digest",
];

/// Words between a label and its value.
static VERB: LazyLock<Regex> = LazyLock::new(|| {
    let english = r"(?:is now|is set to|was set to|is|was|are|to|equals)\b";
    let chinese = "设置为|设为|设成|设定为|改为|改成了|改成|换成了|换成|应该是|还是|就是|是|为|叫";
    // Particles of Japanese and Korean.
    let particles = "は|が|는|은|이|가";
    Regex::new(&format!("^(?i:{english}|{chinese}|{particles})")).expect("valid")
});

/// Verb or mark within the sentence of a label.
static VERB_IN_SENTENCE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:is|was)\b|[:：=]|是|为").expect("valid"));

/// Next parameter of a URL, or next field of a connection string.
static NEXT_FIELD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?-u)(?:&|&amp;|;)[A-Za-z_][A-Za-z0-9_ ]{0,40}=").expect("valid")
});

/// Separator between a label and its value, surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// `=`, `:` and the like, or the end of an opening tag.
    Mark,
    /// "is", 是 and the like.
    Word,
    /// Blanks only.
    Blank,
    /// Nothing, behind a Chinese label.
    Adjacent,
}

/// Value with its place.
#[derive(Debug, Clone)]
pub(super) struct LabelledValue<'t> {
    pub(super) separator: Separator,
    /// Set when the value stands in quotes.
    pub(super) quoted: bool,
    pub(super) text: &'t str,
    pub(super) span: Range<usize>,
}

/// Reads the value behind the label at `label_start..label_end`; `None` if the label belongs to a longer word.
pub(super) fn read_value(
    text: &str,
    label_start: usize,
    label_end: usize,
) -> Option<LabelledValue<'_>> {
    let rest = bounded(&text[label_end..], MAX_BYTES);
    let is_ascii_label = text[..label_end].ends_with(|c: char| c.is_ascii());
    let after_name = if is_ascii_label { skip_name_rest(rest)? } else { rest };
    // "My password's …".
    let short_is = ["'s ", "’s "].iter().find_map(|short| after_name.strip_prefix(short));
    if let Some(value) = short_is.filter(|_| is_ascii_label) {
        return value_at(text, value, Separator::Word);
    }
    let after_quotes = after_name.trim_start_matches(['"', '\'', '`', '\\', '*', '”', '’', '」']);
    let after_blanks = after_quotes.trim_start_matches([' ', '\t', '\u{3000}']);
    let after_remark = skip_remark(after_blanks);
    let is_tag = text[..label_start].ends_with(['<', '_', '-']);
    let (separator, value) = match skip_separator(after_remark, is_tag) {
        Some(found) => found,
        None if after_blanks.len() < after_quotes.len()
            || after_remark.len() < after_blanks.len() =>
        {
            (Separator::Blank, after_remark)
        }
        None if !is_ascii_label => (Separator::Adjacent, after_remark),
        None => return None,
    };
    value_at(text, value, separator)
}

/// Reads the value of a sentence that names it some words after the label.
pub(super) fn read_value_after_gap(text: &str, label_end: usize) -> Option<LabelledValue<'_>> {
    let rest = bounded(&text[label_end..], MAX_BYTES);
    let sentence =
        rest.split(['\n', '.', '!', '?', '。', '！', '？', ';', '；']).next().unwrap_or_default();
    let gap = bounded(sentence, MAX_GAP_BYTES);
    let verb = VERB_IN_SENTENCE.find(gap)?;
    let before = gap[..verb.start()].to_ascii_lowercase();
    let joins = before.is_empty() || before.starts_with([' ', '\t']) || !before.is_ascii();
    let value = rest[verb.end()..].trim_start_matches([' ', '\t', ':', '：']);
    (joins && !names_other_thing(&before)).then(|| value_at(text, value, Separator::Word)).flatten()
}

/// Returns `true` if the words behind a label speak about the secret: "password manager", "token count".
pub(super) fn names_other_thing(gap: &str) -> bool {
    let mut words = gap.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| ABOUT_WORDS.iter().any(|about| word.eq_ignore_ascii_case(about)))
}

/// Reads a value in brackets right behind its label, if it is one word: 密码（…）.
pub(super) fn read_remark(text: &str, label_end: usize) -> Option<LabelledValue<'_>> {
    let rest = bounded(&text[label_end..], MAX_REMARK_BYTES);
    let rest = rest.trim_start_matches([' ', '\t']);
    let inside = rest.strip_prefix(['(', '（', '【', '[', '「'])?;
    let end = inside.find([')', '）', '】', ']', '」'])?;
    let value = value_at(text, inside[..end].trim(), Separator::Word)?;
    (value.text == inside[..end].trim()).then_some(value)
}

/// Reads a value that stands alone on the line after its label.
pub(super) fn read_next_line(text: &str, label_end: usize) -> Option<LabelledValue<'_>> {
    let rest = bounded(&text[label_end..], MAX_BYTES);
    let (end_of_line, rest) = rest.split_once('\n')?;
    let is_label = end_of_line.chars().all(|c| c.is_whitespace() || ":：=*`\"'".contains(c));
    let line = rest.trim_start().lines().next()?.trim();
    let value = value_at(text, line, Separator::Word)?;
    (is_label && value.text.len() == line.trim_matches(['"', '\'', '`']).len()).then_some(value)
}

/// Skips the rest of a name such as `_PROD` or `2`; `None` if it makes the label another word.
fn skip_name_rest(rest: &str) -> Option<&str> {
    let len = rest
        .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-'))
        .unwrap_or(rest.len());
    let name = rest[..len].to_ascii_lowercase();
    // The `-` of `->` is no part of the name.
    let len = if rest[len..].starts_with('>') && name.ends_with('-') { len - 1 } else { len };
    let is_longer_word = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_about =
        name.split(['_', '-']).any(|word| ABOUT_WORDS.iter().any(|about| word.starts_with(about)));
    (!is_longer_word && !is_about).then_some(&rest[len..])
}

/// Skips a short remark in brackets.
fn skip_remark(rest: &str) -> &str {
    let close = match rest.chars().next() {
        Some('(') => ')',
        Some('（') => '）',
        _ => return rest,
    };
    let inside = bounded(rest, MAX_REMARK_BYTES);
    let end = inside.find(close).map(|at| at + close.len_utf8());
    end.map_or(rest, |end| rest[end..].trim_start_matches([' ', '\t']))
}

fn skip_separator(rest: &str, is_tag: bool) -> Option<(Separator, &str)> {
    let blanks = [' ', '\t', '\u{3000}'];
    let marks = ["=>", "->", ":=", "==", "=", ":", "：", "＝", "|"];
    if let Some(after) = marks.iter().find_map(|mark| rest.strip_prefix(mark)) {
        return Some((Separator::Mark, after.trim_start_matches(blanks)));
    }
    if let Some(after) = rest.strip_prefix('>').filter(|_| is_tag) {
        return Some((Separator::Mark, after));
    }
    let after = &rest[VERB.find(rest)?.end()..];
    Some((
        Separator::Word,
        after.trim_start_matches(|c: char| blanks.contains(&c) || matches!(c, ':' | '：')),
    ))
}

/// Returns the value at the beginning of `rest`, a part of `text`.
fn value_at<'t>(text: &'t str, rest: &'t str, separator: Separator) -> Option<LabelledValue<'t>> {
    let bare = rest.trim_start_matches('\\');
    let quote = bare.chars().next().and_then(|open| Some((open, closing_quote(open)?)));
    let in_quotes = quote.and_then(|(open, close)| {
        let inside = &bare[open.len_utf8()..];
        let end = inside.find([close, '\n'])?;
        inside[end..].starts_with(close).then(|| inside[..end].trim_end_matches('\\'))
    });
    let quoted = in_quotes.is_some();
    let value = match (in_quotes, quote) {
        (Some(value), _) => value,
        (None, Some((open, _))) => unquoted(&bare[open.len_utf8()..]),
        (None, None) => unquoted(bare),
    };
    // A quotation that names a word tells no more than the word alone.
    let separator = match separator {
        Separator::Blank | Separator::Adjacent if quoted => Separator::Word,
        other => other,
    };
    let start = value.as_ptr() as usize - text.as_ptr() as usize;
    let span = start..start + value.len();
    (!value.is_empty()).then_some(LabelledValue { separator, quoted, text: value, span })
}

fn closing_quote(open: char) -> Option<char> {
    Some(match open {
        '"' | '\'' | '`' => open,
        '“' | '”' => '”',
        '‘' => '’',
        '「' => '」',
        '『' => '』',
        '【' => '】',
        _ => return None,
    })
}

/// Returns the printable ASCII characters at the beginning of a text, without the marks of the sentence around them.
fn unquoted(rest: &str) -> &str {
    let end = rest
        .find(|c: char| !c.is_ascii_graphic() || matches!(c, '"' | '\'' | '`'))
        .unwrap_or(rest.len());
    let value = &rest[..end];
    let value = value.find("</").map_or(value, |at| &value[..at]);
    let value = NEXT_FIELD.find(value).map_or(value, |next| &value[..next.start()]);
    value.trim_end_matches(['.', ':', ',', ';', ')', ']', '}', '\\'])
}
