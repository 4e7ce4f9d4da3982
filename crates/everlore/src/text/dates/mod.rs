//! Times that a text names, in English and Chinese: "last Friday", "5 months ago", 上周三, 三个月前.
//!
//! `lexer` splits the text into words of one lexicon for both languages, `grammar` parses them into expressions that do
//! not depend on the present, and `resolve` turns an expression into a range, given `now`. An expression without a year
//! or week means the latest that has begun, because questions to a memory look back.
//!
//! Invariant: the parser looks ahead a fixed number of tokens, so the time taken is linear in the length of the text.

mod lexicon;
mod numerals;
mod lexer;
mod expr;
mod cursor;
mod grammar;
mod numeric;
mod relative;
mod weekday_of_month;
mod anchored;
mod english;
mod chinese;
mod holidays;
mod resolve;
mod session_mention;
mod when_question;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod anchored_tests;

use std::ops::Range;

use jiff::{Timestamp, Zoned};

use cursor::TokenCursor;
use expr::TimeExpr;
use lexer::{TimeToken, lex};
use lexicon::{NameAmbiguity, TimeWord};

pub(in crate::text) use numerals::{CARDINALS, ORDINALS, TENS};
pub(crate) use session_mention::{SessionMention, find_sessions};
pub use session_mention::{SessionOrdinal, SessionRange};
pub(crate) use when_question::asks_when;

/// Time that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeMention {
    /// First moment; [`Timestamp::MIN`] for an open range ("before June").
    pub start: Timestamp,
    /// First moment after it; [`Timestamp::MAX`] for an open range ("since March").
    pub end: Timestamp,
    /// Bytes of the text that name it.
    pub span: Range<usize>,
    /// Set if only the past part is meant: "earlier today".
    pub is_earlier: bool,
    /// Wider range, for when nothing was said in the narrow one: people miscount days by one, and "this morning" may be
    /// noon.
    pub widened: (Timestamp, Timestamp),
    /// Coming occurrence of a holiday that is named without a year; `start` and `end` are those of the latest.
    pub coming: Option<(Timestamp, Timestamp)>,
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
            let coming = resolve::coming_holiday(when, now);
            times.push(TimeMention { start, end, span, is_earlier, widened: wider, coming });
        }
        at = next;
    }
    times
}

/// Returns `true` if `text` names a time at all: any that [`find_times`] finds, a clock time, a weekday, a duration.
pub(crate) fn mentions_time(text: &str) -> bool {
    let tokens = lex(text);
    (0..tokens.len()).any(|at| has_time_hint(&tokens, at) || parse_at(&tokens, at).is_some())
}

/// Parses the time expression at token `at`; returns it with the token after it.
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

/// Returns `true` for 3:30, 三点, 3 pm.
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
