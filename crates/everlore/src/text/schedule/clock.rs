//! Times of day as people write them: 9:30, half past nine, 三点一刻.

use super::part::{ClockTime, Cursor, HalfDay, Part};
use super::word::{Unit, Word};

/// Reads a time of day. `is_expected` allows a bare number: after "at", or in a list of times.
pub(super) fn clock(c: &mut Cursor<'_>, is_expected: bool) -> Option<ClockTime> {
    c.attempt(named)
        .or_else(|| c.attempt(before_hour))
        .or_else(|| c.attempt(spoken))
        .or_else(|| c.attempt(chinese))
        .or_else(|| c.attempt(|c| digital(c, is_expected)))
        .or_else(|| is_expected.then(|| c.attempt(bare)).flatten())
}

/// Reads the first hour of "from ten to four", which is not 3:50.
pub(super) fn clock_before_to(c: &mut Cursor<'_>) -> Option<ClockTime> {
    c.attempt(bare)
}

/// Reads "20 past every hour", 每小时的第20分钟, "every hour at :15".
pub(super) fn past_hour(c: &mut Cursor<'_>) -> Option<Part> {
    if let (Word::Ordinal(minute), Word::Unit(Unit::Minute) | Word::MinuteMark) =
        (c.peek(0), c.peek(1))
    {
        c.at += 2;
        return Some(Part::PastHour(minute));
    }
    if let (
        Word::Colon,
        Word::Number { value, digits: 2 },
        Word::At | Word::Adverb(_) | Word::Every | Word::Unit(_),
    ) = (c.peek(0), c.peek(1), c.previous())
        && c.is_glued(1)
    {
        c.at += 2;
        return Some(Part::PastHour(value));
    }
    if c.eat(Word::OnTheHalfHour) {
        return Some(Part::PastHour(30));
    }
    if let Some(part) = c.attempt(minute_of_hour) {
        return Some(part);
    }
    c.attempt(|c| {
        // "every 20 minutes past the hour" is said for "at 20 minutes past every hour".
        c.eat(Word::Every);
        let minute = match c.peek(0) {
            Word::Half => 30,
            Word::Quarter => 15,
            Word::Article if c.peek(1) == Word::Quarter => {
                c.at += 1;
                15
            }
            Word::Number { value, .. } => value,
            _ => return None,
        };
        c.at += 1;
        c.eat(Word::Unit(Unit::Minute));
        let is_before = c.peek(0) == Word::Event && c.width(0) == "before".len();
        let is_to = is_before || c.peek(0) == Word::To;
        (c.eat(Word::Past) || c.eat(Word::Event) || c.eat(Word::To)).then_some(())?;
        if c.previous() == Word::Past && ends_here(c) && follows_hour(c) {
            return Some(Part::PastHour(minute));
        }
        let has_every = c.eat(Word::Every) || c.eat(Word::The);
        let is_hourly = c.eat(Word::Unit(Unit::Hour)) || c.eat(Word::Adverb(Unit::Hour));
        let minute = if is_to { 60u32.checked_sub(minute)? } else { minute };
        (has_every && is_hourly).then_some(Part::PastHour(minute))
    })
}

/// Reads 20分 after 每小时, 每小时的 or 每小时过.
fn minute_of_hour(c: &mut Cursor<'_>) -> Option<Part> {
    let is_hour = |word| matches!(word, Word::Unit(Unit::Hour) | Word::Adverb(Unit::Hour));
    (is_hour(c.previous()) || c.previous() == Word::Of && follows_hour(c)).then_some(())?;
    c.eat_any(&[Word::Within, Word::Of]);
    let Word::Number { value, .. } = c.peek(0) else { return None };
    c.at += 1;
    c.eat(Word::MinuteMark).then_some(Part::PastHour(value))
}

fn ends_here(c: &Cursor<'_>) -> bool {
    matches!(c.peek(0), Word::End | Word::Comma | Word::Punctuation)
}

/// Returns `true` if the phrase has named every hour: "every hour at 10 past".
fn follows_hour(c: &Cursor<'_>) -> bool {
    c.follows(|word| matches!(word, Word::Unit(Unit::Hour) | Word::Adverb(Unit::Hour)))
}

fn exact(hour: u32, minute: u32) -> ClockTime {
    ClockTime { hour, minute, half: None, is_exact: true, is_midnight: false }
}

fn loose(hour: u32, minute: u32) -> ClockTime {
    ClockTime { hour, minute, half: None, is_exact: hour == 0 || hour > 12, is_midnight: false }
}

fn named(c: &mut Cursor<'_>) -> Option<ClockTime> {
    let clock = match c.peek(0) {
        Word::Noon => exact(12, 0),
        Word::Midnight => ClockTime { is_midnight: true, ..exact(0, 0) },
        _ => return None,
    };
    c.at += 1;
    Some(clock)
}

/// Reads "half past nine", "quarter to six", "ten past 8 pm".
fn spoken(c: &mut Cursor<'_>) -> Option<ClockTime> {
    if c.peek(0) == Word::Article && c.peek(1) == Word::Quarter {
        c.at += 1;
    }
    let minutes = match c.peek(0) {
        Word::Half => 30,
        Word::Quarter => 15,
        Word::Number { value: value @ 1..=59, .. } => value,
        _ => return None,
    };
    c.at += 1;
    c.eat(Word::Unit(Unit::Minute));
    // "after" and "before" are event words: ten after eight. They differ in length.
    let is_event =
        |c: &Cursor<'_>, letters: usize| c.peek(0) == Word::Event && c.width(0) == letters;
    let is_before = is_event(c, 6) && c.eat(Word::Event);
    let is_past = c.eat(Word::Past) || is_event(c, 5) && c.eat(Word::Event);
    let is_to = is_before || !is_past && c.eat(Word::To);
    // British "half nine" is half past nine.
    let is_british = minutes == 30
        && !is_past
        && !is_to
        && matches!(c.peek(0), Word::Number { value: 1..=12, .. });
    (is_past || is_to || is_british).then_some(())?;
    if is_to && !is_before && !matches!(minutes, 5 | 10 | 15 | 20 | 25) {
        return None;
    }
    let mut clock = match c.peek(0) {
        Word::Noon | Word::Midnight => named(c)?,
        _ => loose(c.number().filter(|hour| (1..=24).contains(hour))?, 0),
    };
    clock.half = half_day(c);
    // Range of hours in figures, not minutes to the hour: 10 to 5pm.
    Some(if is_to { earlier(clock, minutes) } else { ClockTime { minute: minutes, ..clock } })
}

fn earlier(clock: ClockTime, minutes: u32) -> ClockTime {
    let hour = match clock.hour {
        0 => 23,
        1 if !clock.is_exact => 12,
        hour => hour - 1,
    };
    let half = if clock.hour == 12 { clock.half.map(other_half) } else { clock.half };
    ClockTime { hour, minute: 60 - minutes, half, is_midnight: false, ..clock }
}

fn other_half(half: HalfDay) -> HalfDay {
    if half == HalfDay::Am { HalfDay::Pm } else { HalfDay::Am }
}

/// Reads 三点, 8点半, 九点一刻, 八点二十, 23点59分.
fn chinese(c: &mut Cursor<'_>) -> Option<ClockTime> {
    let Word::Number { value: hour, digits } = c.peek(0) else { return None };
    c.at += 1;
    c.eat(Word::HourMark).then_some(())?;
    let is_padded = digits == 2 && hour < 10;
    let minute = chinese_minutes(c)?;
    let clock = loose(hour, minute.0);
    let clock = if minute.1 { earlier(clock, minute.0) } else { clock };
    Some(ClockTime { is_exact: clock.is_exact || is_padded, ..clock })
}

/// Reads the minutes after 点, and whether they are missing to the hour.
fn chinese_minutes(c: &mut Cursor<'_>) -> Option<(u32, bool)> {
    if c.eat(Word::Sharp) {
        return Some((0, false));
    }
    if c.peek(0) == Word::Half && !matches!(c.peek(1), Word::Unit(_)) {
        c.at += 1;
        return Some((30, false));
    }
    let is_short = c.eat(Word::Short);
    match (c.peek(0), c.peek(1)) {
        (Word::Number { value: value @ 1..=3, .. }, Word::Quarter) => {
            c.at += 2;
            Some((value * 15, is_short))
        }
        (Word::Number { value, .. }, Word::MinuteMark) => {
            c.at += 2;
            Some((value, is_short))
        }
        (Word::Number { value, digits }, next)
            if c.is_glued(0) && !is_counted(next) && (value >= 10 || digits == 2) =>
        {
            c.at += 1;
            Some((value, is_short))
        }
        _ => Some((0, false)),
    }
}

/// Returns `true` for a word that makes the number before it a count: 八点两个人.
fn is_counted(word: Word) -> bool {
    matches!(
        word,
        Word::Measure
            | Word::Times
            | Word::Unit(_)
            | Word::HourMark
            | Word::DayMark
            | Word::MonthMark
            | Word::Colon
    )
}

/// Reads 差五分八点.
fn before_hour(c: &mut Cursor<'_>) -> Option<ClockTime> {
    c.eat(Word::Short).then_some(())?;
    let minutes = match (c.number()?, c.peek(0)) {
        (n, Word::MinuteMark | Word::Unit(Unit::Minute)) => n,
        (1, Word::Quarter) => 15,
        _ => return None,
    };
    c.at += 1;
    Some(earlier(chinese(c)?, minutes))
}

/// Reads 9:30, 9.30am, 9am, 0930 hours, five o'clock, seven thirty.
fn digital(c: &mut Cursor<'_>, is_expected: bool) -> Option<ClockTime> {
    let digits = if let Word::Number { digits, .. } = c.peek(0) { digits } else { 0 };
    let hour = c.number()?;
    if let Some(minute) = minutes_after(c, digits, is_expected) {
        let is_padded = digits == 2 && hour < 10;
        let clock = loose(hour, minute);
        let half = half_day(c);
        return Some(ClockTime { half, is_exact: clock.is_exact || is_padded, ..clock });
    }
    if is_expected && digits == 4 && hour < 10_000 {
        c.eat(Word::Unit(Unit::Hour));
        return Some(exact(hour / 100, hour % 100));
    }
    if is_expected && digits > 0 && c.is_glued(0) && c.eat(Word::Unit(Unit::Hour)) {
        return Some(exact(hour, 0));
    }
    let half = half_day(c);
    let has_mark = c.eat(Word::OClock);
    let half = half.or_else(|| half_day(c));
    let is_clock = half.is_some() || has_mark;
    is_clock.then(|| ClockTime { half, ..loose(hour, 0) })
}

fn minutes_after(c: &mut Cursor<'_>, digits: u8, is_expected: bool) -> Option<u32> {
    match (c.peek(0), c.peek(1)) {
        (Word::Colon, Word::Number { value, digits: 2 }) if c.is_glued(0) && c.is_glued(1) => {
            c.at += 2;
            if c.peek(0) == Word::Colon && matches!(c.peek(1), Word::Number { value: 0, digits: 2 })
            {
                c.at += 2;
            }
            Some(value)
        }
        (Word::Dot, Word::Number { value, digits: 2 })
            if c.is_glued(0) && (is_expected || matches!(c.peek(2), Word::Am | Word::Pm)) =>
        {
            c.at += 2;
            Some(value)
        }
        (Word::Number { value: value @ (5 | 10..=59), digits: 0 }, next)
            if digits == 0 && !matches!(next, Word::Unit(_) | Word::Past | Word::To) =>
        {
            c.at += 1;
            Some(value)
        }
        _ => None,
    }
}

fn half_day(c: &mut Cursor<'_>) -> Option<HalfDay> {
    let half = match c.peek(0) {
        Word::Am => HalfDay::Am,
        Word::Pm => HalfDay::Pm,
        _ => return None,
    };
    c.at += 1;
    Some(half)
}

/// Reads a bare hour where one is expected.
fn bare(c: &mut Cursor<'_>) -> Option<ClockTime> {
    let digits = if let Word::Number { digits, .. } = c.peek(0) { digits } else { 0 };
    let hour = c.number().filter(|hour| *hour < 100)?;
    let is_counted = matches!(
        c.peek(0),
        Word::Unit(_)
            | Word::Measure
            | Word::Times
            | Word::Colon
            | Word::Dot
            | Word::DayMark
            | Word::MonthMark
    );
    let clock = loose(hour, 0);
    (!is_counted)
        .then_some(ClockTime { is_exact: clock.is_exact || digits == 2 && hour < 10, ..clock })
}
