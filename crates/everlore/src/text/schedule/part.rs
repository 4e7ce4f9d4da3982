//! Parts that a phrase is made of, before they are put together, and the cursor that reads them.

use super::counted::CountedRole;
use super::lexer::Token;
use super::word::{PartOfDay, Unit, Word};

/// One thing that a phrase says about time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Part {
    /// every 3 days, daily. `is_adjective` if it may describe the task: daily sync.
    Every {
        count: u32,
        unit: Unit,
        is_adjective: bool,
    },
    /// Minutes that a whole number of units does not give: every hour and a half.
    EveryMinutes(u32),
    /// twice a day, 三次.
    Frequency {
        times: u32,
        unit: Option<Unit>,
    },
    Weekdays {
        set: u8,
        is_recurring: bool,
        week: Option<i8>,
    },
    /// next week, without a weekday.
    Week(i8),
    /// first Monday, last workday of the month; the set is empty for days of any kind.
    Nth {
        ordinal: i8,
        set: u8,
    },
    MonthDay(i8),
    Date {
        year: Option<i16>,
        month: i8,
        day: i8,
    },
    Month(i8),
    MonthParity(i8),
    /// Months from this one.
    NextMonth(i8),
    /// Years from this one.
    NextYear(i8),
    /// Days from today.
    Day(i8),
    Offset(Offset),
    /// Days after a weekday or another day: three weeks from Friday.
    DayAfter {
        set: u8,
        days: i32,
    },
    /// The time of day at which the phrase is said.
    SameTime,
    Clock(ClockTime),
    OfDay {
        part: PartOfDay,
        is_recurring: bool,
    },
    /// Minute past every hour.
    PastHour(u32),
    Zone(&'static str),
    Between,
    To,
    Except,
    ExceptSuffix,
    Starting,
    StartSuffix,
    Until,
    /// for the next 5 days, 连续三天.
    Span {
        days: i32,
        months: i32,
        seconds: i64,
    },
    /// 之前 after the day that ends a recurrence.
    UntilSuffix,
    /// end of the month, without "every".
    MonthEdge(i8),
    /// Word that names no certain time.
    Vague,
    /// Choice that is left open.
    Or,
}

/// Distance from now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Offset {
    pub(super) months: i32,
    pub(super) days: i32,
    pub(super) seconds: i64,
    /// Set for "from today": no time of day of its own.
    pub(super) is_dated: bool,
}

/// Time of day as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClockTime {
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) half: Option<HalfDay>,
    /// Set if the 24-hour clock is certain: 06:30.
    pub(super) is_exact: bool,
    /// Set for the word midnight.
    pub(super) is_midnight: bool,
}

/// am or pm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HalfDay {
    Am,
    Pm,
}

/// Part with its place in the tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Placed {
    pub(super) part: Part,
    pub(super) first: usize,
    pub(super) end: usize,
}

/// Position in the tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    tokens: &'a [Token],
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(tokens: &'a [Token], at: usize) -> Self {
        Self { tokens, at }
    }

    /// Returns the word `n` positions ahead.
    pub(super) fn peek(&self, n: usize) -> Word {
        self.tokens.get(self.at + n).map_or(Word::End, |token| token.word)
    }

    /// Returns the word before.
    pub(super) fn previous(&self) -> Word {
        self.at.checked_sub(1).map_or(Word::End, |at| self.tokens[at].word)
    }

    /// Returns `true` if the token `n` ahead touches the one before it.
    pub(super) fn is_glued(&self, n: usize) -> bool {
        let at = self.at + n;
        at > 0 && at < self.tokens.len() && self.tokens[at - 1].end == self.tokens[at].start
    }

    /// Returns the word `n` positions behind the cursor; the one before it is the first.
    pub(super) fn behind(&self, n: usize) -> Word {
        self.at.checked_sub(n).map_or(Word::End, |at| self.tokens[at].word)
    }

    /// Returns the part that the token `n` ahead may play behind an ordinal.
    pub(super) fn role(&self, n: usize) -> CountedRole {
        self.tokens.get(self.at + n).map_or(CountedRole::Other, |token| token.role)
    }

    /// Returns the part that the token `n` positions behind may play.
    pub(super) fn role_behind(&self, n: usize) -> CountedRole {
        self.at.checked_sub(n).map_or(CountedRole::Other, |at| self.tokens[at].role)
    }

    /// Returns the number of characters of the token `n` ahead.
    pub(super) fn width(&self, n: usize) -> usize {
        self.tokens.get(self.at + n).map_or(0, |token| token.end - token.start)
    }

    pub(super) fn eat(&mut self, word: Word) -> bool {
        let is_next = self.peek(0) == word;
        self.at += usize::from(is_next);
        is_next
    }

    pub(super) fn eat_any(&mut self, words: &[Word]) -> bool {
        let is_next = words.contains(&self.peek(0));
        self.at += usize::from(is_next);
        is_next
    }

    /// Reads a number; an article counts as one.
    pub(super) fn number(&mut self) -> Option<u32> {
        let value = match self.peek(0) {
            Word::Number { value, .. } => value,
            Word::Article => 1,
            _ => return None,
        };
        self.at += 1;
        Some(value)
    }

    pub(super) fn unit(&mut self) -> Option<Unit> {
        let unit = match self.peek(0) {
            Word::Unit(unit) => unit,
            Word::MonthMark => Unit::Month,
            Word::YearMark => Unit::Year,
            Word::DayMark if self.width(0) == 1 => Unit::Day,
            _ => return None,
        };
        self.at += 1;
        Some(unit)
    }

    /// Runs a parser and steps back if it finds nothing.
    pub(super) fn attempt<T>(&mut self, parse: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let start = self.at;
        let found = parse(self);
        if found.is_none() {
            self.at = start;
        }
        found
    }
}

impl Cursor<'_> {
    /// Returns `true` if the token before is 最后一天 or another word for a last day.
    pub(super) fn is_last_day(&self) -> bool {
        self.at.checked_sub(1).is_some_and(|at| self.tokens[at].ends_in_day)
    }

    /// Returns `true` if a word before has this meaning.
    pub(super) fn follows(&self, is_meant: impl Fn(Word) -> bool) -> bool {
        self.tokens[..self.at].iter().any(|token| is_meant(token.word))
    }

    /// Returns `true` if a word before makes months, quarters or years recur: every six months, quarterly.
    pub(super) fn follows_period(&self) -> bool {
        let is_long = |word| {
            matches!(word, Word::Quarter | Word::Unit(Unit::Month | Unit::Quarter | Unit::Year))
        };
        let is_adverb =
            |word| matches!(word, Word::Adverb(Unit::Month | Unit::Quarter | Unit::Year));
        self.follows(is_adverb) || self.follows(|word| word == Word::Every) && self.follows(is_long)
    }

    /// Returns `true` if the sentence ends here, or goes on with a time.
    pub(super) fn ends_day(&self) -> bool {
        matches!(
            self.peek(0),
            Word::End
                | Word::At
                | Word::Comma
                | Word::Punctuation
                | Word::And
                | Word::Number { .. }
        )
    }

    /// Returns `true` if the token before is an ordinal in letters, which may count anything.
    pub(super) fn is_spelled_ordinal(&self) -> bool {
        self.at.checked_sub(1).is_some_and(|at| self.tokens[at].is_spelled)
    }

    /// Returns `true` if a month follows: "of March", "of every month".
    pub(super) fn precedes_month(&self) -> bool {
        matches!(
            (self.peek(0), self.peek(1), self.peek(2)),
            (Word::Month { .. }, _, _)
                | (Word::Of, Word::Month { .. }, _)
                | (Word::Of, _, Word::Unit(Unit::Month))
                | (Word::Of, Word::Unit(Unit::Month), _)
        )
    }
}
