//! Times that a text names, in English and Chinese: "last Friday", "5 months ago", 上周三, 三个月前.
//!
//! `lex` cuts the text into words of one lexicon for both languages, `grammar` reads what they mean without knowing
//! what time it is, and `resolve` turns that into a range, given `now`. Where a year or week is not told, the latest
//! that has begun is meant, because questions to a memory look back.
//!
//! Invariant: reading looks ahead a fixed number of tokens, so the time taken is linear in the length of the text.

mod lexicon;
mod numerals;
mod lexer;
mod expr;
mod cursor;
mod grammar;
mod numeric;
mod relative;
mod english;
mod chinese;
mod holidays;
mod resolve;
mod session_mention;
mod when_question;

#[cfg(test)]
mod tests;

use std::ops::Range;

use jiff::{Timestamp, Zoned};

use cursor::TokenCursor;
use expr::TimeExpr;
use lexer::{TimeToken, lex};
use lexicon::{NameAmbiguity, TimeWord};

pub use session_mention::{SessionMention, SessionOrdinal, SessionRange, find_sessions};
pub use when_question::asks_when;

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
    pub widened: (Timestamp, Timestamp),
}

/// Finds the times that `text` names, in order, as seen from `now` and in its zone.
pub fn find_times(text: &str, now: &Zoned) -> Vec<TimeMention> {
    let tokens = lex(text);
    let mut times = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some((when, next)) = parse_at(&tokens, at) else {
            at += 1;
            continue;
        };
        if let Some((start, end)) = resolve::resolve(when, now) {
            let span = tokens[at].start..tokens[next - 1].end;
            let is_earlier = matches!(when, TimeExpr::Earlier(_));
            let wider = resolve::widen(when, now).unwrap_or((start, end));
            times.push(TimeMention { start, end, span, is_earlier, widened: wider });
        }
        at = next;
    }
    times
}

/// Whether `text` names a time at all: any that [`find_times`] finds, a clock time, a weekday, a length of time.
pub fn mentions_time(text: &str) -> bool {
    let tokens = lex(text);
    (0..tokens.len()).any(|at| has_time_hint(&tokens, at) || parse_at(&tokens, at).is_some())
}

/// The time expression that begins at token `at`, and the token after it.
fn parse_at(tokens: &[TimeToken], at: usize) -> Option<(TimeExpr, usize)> {
    let mut cursor = TokenCursor::new(tokens, at);
    let when = grammar::parse_time_expr(&mut cursor)?;
    Some((when, cursor.position()))
}

fn has_time_hint(tokens: &[TimeToken], at: usize) -> bool {
    let cursor = TokenCursor::new(tokens, at);
    match cursor.word() {
        TimeWord::TimeHint
        | TimeWord::Clock
        | TimeWord::PluralWeekday
        | TimeWord::Weekday(_, NameAmbiguity::Unambiguous) => true,
        TimeWord::Each => {
            matches!(cursor.peek(1), TimeWord::Unit(_) | TimeWord::Weekday(..) | TimeWord::Part(_))
        }
        TimeWord::Number { value: ..24, .. } if is_clock_time(cursor) => true,
        TimeWord::Number { .. } | TimeWord::Few | TimeWord::Half | TimeWord::Article => {
            relative::is_duration(cursor)
        }
        _ => false,
    }
}

/// 3:30, 三点, 3 pm.
fn is_clock_time(cursor: TokenCursor<'_>) -> bool {
    match cursor.peek(1) {
        TimeWord::Hour => true,
        TimeWord::Colon => {
            cursor.follows_directly(1)
                && cursor.follows_directly(2)
                && matches!(cursor.peek(2), TimeWord::Number { value: ..60, digits: 2 })
        }
        _ => false,
    }
}
