//! Lexer: splits a text into the tokens of time expressions.

use super::lexicon::{TimeWord, is_han, look_up};
use super::numerals;

/// Word, number, mark or Chinese word of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeToken {
    pub(super) word: TimeWord,
    /// First byte and end in the text.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Set if no blank precedes it.
    pub(super) follows_directly: bool,
    /// Set if it has a capital letter that is not owed to the start of a sentence.
    pub(super) is_capitalized: bool,
}

/// Most digits of a number in a date.
const MAX_DIGITS: usize = 6;

/// Splits `text` into tokens, in one pass.
pub(super) fn lex(text: &str) -> Vec<TimeToken> {
    let lower = text.to_ascii_lowercase();
    // A Chinese character takes three bytes, an English word more.
    let mut tokens = Vec::with_capacity(text.len() / 3);
    let (mut at, mut glued, mut opens) = (0, false, true);
    while let Some(c) = lower[at..].chars().next() {
        if c.is_whitespace() {
            opens |= c == '\n';
            (at, glued) = (at + c.len_utf8(), false);
            continue;
        }
        let rest = &lower[at..];
        let (word, length) = read_word(rest, c);
        let capital = !opens && text.as_bytes()[at].is_ascii_uppercase();
        tokens.push(TimeToken {
            word,
            start: at,
            end: at + length,
            follows_directly: glued,
            is_capitalized: capital,
        });
        opens = matches!(c, '.' | '!' | '?' | '。' | '！' | '？')
            || opens && !c.is_alphanumeric() && word != TimeWord::Comma;
        at += length + possessive_len(&rest[length..]);
        glued = true;
    }
    tokens
}

/// Returns the word at the start of `rest`, whose first character is `c`, and its length.
fn read_word(rest: &str, c: char) -> (TimeWord, usize) {
    if digit(c).is_some() {
        digit_number(rest)
    } else if c.is_ascii_alphabetic() || c == '_' {
        look_up(rest).map(|(word, length)| compound(rest, word, length)).unwrap_or_else(|| {
            (TimeWord::Other, run_length(rest, |c| c.is_alphanumeric() || c == '_'))
        })
    } else if is_han(c) {
        look_up(rest)
            .or_else(|| begins_number(c).then(|| chinese_number(rest))?)
            .unwrap_or((TimeWord::Other, c.len_utf8()))
    } else if c.is_alphabetic() {
        (TimeWord::Other, run_length(rest, char::is_alphabetic))
    } else {
        (punctuation(c), c.len_utf8())
    }
}

/// Joins the word with the next one if the two are one number: twenty-eighth. Two Chinese numerals never are.
fn compound(rest: &str, word: TimeWord, length: usize) -> (TimeWord, usize) {
    let after = rest[length..].strip_prefix(['-', ' ']);
    let ones = after.filter(|after| after.starts_with(|c: char| c.is_ascii_alphabetic()));
    let joined = ones.and_then(look_up).and_then(|(ones, ones_length)| {
        Some((numerals::compound(word, ones)?, length + 1 + ones_length))
    });
    joined.unwrap_or((word, length))
}

/// Returns the bytes at the start of `rest` that satisfy `belongs`, Chinese characters excepted.
fn run_length(rest: &str, belongs: impl Fn(char) -> bool) -> usize {
    rest.find(|c: char| is_han(c) || !belongs(c)).unwrap_or(rest.len())
}

fn punctuation(c: char) -> TimeWord {
    match c {
        '-' | '–' | '—' | '~' | '～' => TimeWord::Dash,
        '/' => TimeWord::Slash,
        '.' => TimeWord::Dot,
        ',' | '，' => TimeWord::Comma,
        ':' | '：' => TimeWord::Colon,
        _ => TimeWord::Other,
    }
}

/// Reads a number in digits with its suffix: 8, 8th, 3pm. A number glued to other letters is none.
fn digit_number(rest: &str) -> (TimeWord, usize) {
    let length = run_length(rest, |c| digit(c).is_some());
    let tail = &rest[length..];
    let suffix = run_length(tail, |c| c.is_alphanumeric() || c == '_');
    let value = rest[..length].chars().filter_map(digit);
    let digits = value.clone().count();
    if digits > MAX_DIGITS {
        return (TimeWord::Other, length + suffix);
    }
    let value = value.fold(0, |sum, digit| sum * 10 + digit);
    match &tail[..suffix] {
        "" => (TimeWord::Number { value, digits: digits as u8 }, length),
        "st" | "nd" | "rd" | "th" => (TimeWord::Ordinal(value), length + suffix),
        "am" | "pm" => (TimeWord::Clock, length + suffix),
        time if is_iso_time(time) => (TimeWord::Number { value, digits: digits as u8 }, length),
        _ => (TimeWord::Other, length + suffix),
    }
}

/// Returns `true` for the `t10` of `2023-05-08t10:00`.
fn is_iso_time(suffix: &str) -> bool {
    suffix.strip_prefix('t').is_some_and(|hour| hour.starts_with(|c: char| c.is_ascii_digit()))
}

fn begins_number(c: char) -> bool {
    matches!(c, '第' | '十') || han_digit(c).is_some()
}

/// Reads a number in Chinese characters, or an ordinal with 第.
fn chinese_number(rest: &str) -> Option<(TimeWord, usize)> {
    match rest.strip_prefix('第') {
        Some(counted) => chinese_ordinal(counted),
        None => chinese_year(rest).or_else(|| chinese_count(rest)),
    }
}

/// Reads 第 and what follows it as one word.
fn chinese_ordinal(rest: &str) -> Option<(TimeWord, usize)> {
    let in_figures = rest.starts_with(|c| digit(c).is_some());
    let (word, length) = if in_figures { digit_number(rest) } else { chinese_count(rest)? };
    match word {
        TimeWord::Number { value, .. } => {
            Some((TimeWord::Ordinal(value), '第'.len_utf8() + length))
        }
        _ => None,
    }
}

/// Reads a year spelled digit by digit: 二〇二三.
fn chinese_year(rest: &str) -> Option<(TimeWord, usize)> {
    let figures = rest.chars().map_while(han_digit).take(5);
    let (count, value) =
        figures.fold((0, 0), |(count, sum), figure| (count + 1, sum * 10 + figure));
    // A year has four digits, each a character of three bytes.
    (count == 4).then_some((TimeWord::Number { value, digits: 4 }, 4 * 3))
}

/// Reads a number up to 99: 三, 十, 十一, 二十, 二十三.
fn chinese_count(rest: &str) -> Option<(TimeWord, usize)> {
    let mut chars = rest.chars().peekable();
    let tens = chars.peek().copied().and_then(han_digit).filter(|value| *value > 0);
    if tens.is_some() {
        chars.next();
    }
    let (value, count) = if chars.peek() == Some(&'十') {
        chars.next();
        let ones = chars.next().and_then(han_digit).filter(|value| *value > 0);
        let count = 1 + usize::from(tens.is_some()) + usize::from(ones.is_some());
        (tens.unwrap_or(1) * 10 + ones.unwrap_or(0), count)
    } else {
        (tens?, 1)
    };
    let length = rest.chars().take(count).map(char::len_utf8).sum();
    Some((TimeWord::Number { value, digits: 0 }, length))
}

fn digit(c: char) -> Option<u32> {
    match c {
        '0'..='9' => c.to_digit(10),
        '０'..='９' => Some(u32::from(c) - u32::from('０')),
        _ => None,
    }
}

fn han_digit(c: char) -> Option<u32> {
    let figures = ['零', '一', '二', '三', '四', '五', '六', '七', '八', '九'];
    match c {
        '〇' => Some(0),
        '两' | '兩' => Some(2),
        _ => figures.iter().position(|figure| *figure == c).map(|value| value as u32),
    }
}

/// Returns the length of the `'s` at the start of `rest`.
fn possessive_len(rest: &str) -> usize {
    let ending = ["'s", "’s"].into_iter().find(|ending| rest.starts_with(ending));
    let is_end = |ending: &&str| !rest[ending.len()..].starts_with(char::is_alphanumeric);
    ending.filter(is_end).map_or(0, str::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<TimeWord> {
        lex(text).iter().map(|token| token.word).collect()
    }

    fn spelled(value: u32) -> TimeWord {
        TimeWord::Number { value, digits: 0 }
    }

    #[test]
    fn chinese_numbers_are_read() {
        let cases = [("三", 3), ("十", 10), ("十一", 11), ("二十", 20), ("二十三", 23), ("两", 2)];
        for (text, value) in cases {
            assert_eq!(words(text), [spelled(value)], "{text}");
        }
        assert_eq!(words("二〇二三"), [TimeWord::Number { value: 2023, digits: 4 }]);
        assert_eq!(words("第三"), [TimeWord::Ordinal(3)]);
        assert_eq!(words("第12"), [TimeWord::Ordinal(12)]);
    }

    #[test]
    fn numbers_glued_to_letters_are_no_numbers() {
        for text in ["3d", "v2", "2010s", "x2023", "1234567890", "5k"] {
            assert_eq!(words(text), [TimeWord::Other], "{text}");
        }
    }

    #[test]
    fn a_capital_at_the_start_of_a_sentence_says_nothing() {
        let capitals =
            |text| lex(text).iter().map(|token| token.is_capitalized).collect::<Vec<_>>();
        assert_eq!(capitals("May I"), [false, true]);
        assert_eq!(capitals("So. May"), [false, false, false]);
        assert_eq!(capitals("so May"), [false, true]);
    }
}
