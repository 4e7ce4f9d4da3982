//! Times that a text names, in English and Chinese: "last Friday", "5 months ago", 上周三, 三个月前.
//!
//! `lex` cuts the text into words of one lexicon for both languages, `grammar` reads what they mean without knowing
//! what time it is, and `resolve` turns that into a range, given `now`. Where a year or week is not told, the latest
//! that has begun is meant, because questions to a memory look back.
//!
//! Invariant: reading looks ahead a fixed number of tokens, so the time taken is linear in the length of the text.

mod words;
mod numerals;
mod lex;
mod when;
mod cursor;
mod grammar;
mod figures;
mod distance;
mod english;
mod chinese;
mod holidays;
mod resolve;
mod session;
mod question;

#[cfg(test)]
mod tests;

use std::ops::Range;

use jiff::{Timestamp, Zoned};

use cursor::Cursor;
use lex::{Token, lex};
use when::When;
use words::{Trust, Word};

pub use question::asks_when;
pub use session::{SessionMention, SessionOrdinal, Sessions, find_sessions};

/// A time that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeMention {
    /// The first moment of it; [`Timestamp::MIN`] where it is open ("before June").
    pub start: Timestamp,
    /// The first moment after it; [`Timestamp::MAX`] where it is open ("since March").
    pub end: Timestamp,
    /// Where in the text it stands, in bytes.
    pub span: Range<usize>,
    /// Only what is over of it is meant: "earlier today".
    pub is_earlier: bool,
    /// What may be meant if nothing was said then: days are miscounted by one, and who says "this morning" may mean
    /// noon.
    pub wider: (Timestamp, Timestamp),
}

/// Finds the times that `text` names, in order, as seen from `now` and in its zone.
pub fn find_times(text: &str, now: &Zoned) -> Vec<TimeMention> {
    let tokens = lex(text);
    let mut times = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some((when, next)) = read(&tokens, at) else {
            at += 1;
            continue;
        };
        if let Some((start, end)) = resolve::resolve(when, now) {
            let span = tokens[at].start..tokens[next - 1].end;
            let is_earlier = matches!(when, When::Earlier(_));
            let wider = resolve::wider(when, now).unwrap_or((start, end));
            times.push(TimeMention { start, end, span, is_earlier, wider });
        }
        at = next;
    }
    times
}

/// Whether `text` names a time at all: any that [`find_times`] finds, a clock time, a weekday, a length of time.
pub fn mentions_time(text: &str) -> bool {
    let tokens = lex(text);
    (0..tokens.len()).any(|at| hints_at_time(&tokens, at) || read(&tokens, at).is_some())
}

/// The time expression that begins at token `at`, and the token after it.
fn read(tokens: &[Token], at: usize) -> Option<(When, usize)> {
    let mut cursor = Cursor::new(tokens, at);
    let when = grammar::when(&mut cursor)?;
    Some((when, cursor.at()))
}

fn hints_at_time(tokens: &[Token], at: usize) -> bool {
    let cursor = Cursor::new(tokens, at);
    match cursor.word() {
        Word::Cue | Word::Clock | Word::Habit | Word::Weekday(_, Trust::Sure) => true,
        Word::Each => matches!(cursor.ahead(1), Word::Unit(_) | Word::Weekday(..) | Word::Part(_)),
        Word::Number { value: ..24, .. } if is_clock(cursor) => true,
        Word::Number { .. } | Word::Few | Word::Half | Word::Article => {
            distance::tells_length(cursor)
        }
        _ => false,
    }
}

/// 3:30, 三点, 3 pm.
fn is_clock(cursor: Cursor<'_>) -> bool {
    match cursor.ahead(1) {
        Word::Hour => true,
        Word::Colon => {
            cursor.glued(1)
                && cursor.glued(2)
                && matches!(cursor.ahead(2), Word::Number { value: ..60, digits: 2 })
        }
        _ => false,
    }
}
