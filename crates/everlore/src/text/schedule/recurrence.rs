//! Recurrences and distances: every 3 days, 每隔一周, in 20 minutes, 半小时后.

use super::part::{Cursor, Offset, Part};
use super::word::{Unit, Word};

/// Reads what recurs how often, without its days and times.
pub(super) fn recurrence(c: &mut Cursor<'_>) -> Option<Part> {
    c.attempt(frequency)
        .or_else(|| c.attempt(adverb))
        .or_else(|| c.attempt(gap))
        .or_else(|| c.attempt(every))
        .or_else(|| c.attempt(of_period))
}

fn each(count: u32, unit: Unit) -> Part {
    Part::Every { count, unit, is_adjective: false }
}

fn adverb(c: &mut Cursor<'_>) -> Option<Part> {
    match c.peek(0) {
        Word::Adverb(unit) => {
            c.at += 1;
            let is_adjective = matches!(c.peek(0), Word::Task);
            Some(Part::Every { count: 1, unit, is_adjective })
        }
        Word::OnTheHour => {
            c.at += 1;
            Some(each(1, Unit::Hour))
        }
        _ => None,
    }
}

/// Reads "twice a day", "3 times a week", "once a month", 每天两次's 两次.
fn frequency(c: &mut Cursor<'_>) -> Option<Part> {
    if let Some(part) = c.attempt(times_of_one) {
        return Some(part);
    }
    let times = match c.peek(0) {
        Word::Once => 1,
        Word::Twice => 2,
        Word::Number { value, .. } if c.peek(1) == Word::Times => {
            c.at += 1;
            value
        }
        _ => return None,
    };
    c.at += 1;
    let has_every = c.eat_any(&[Word::Article, Word::Every, Word::The]);
    let unit = c.unit().or_else(|| adverb_unit(c));
    if unit.is_none() && (has_every || matches!(c.previous(), Word::Once)) {
        return None;
    }
    Some(match (times, unit) {
        (1, Some(unit)) => each(1, unit),
        _ => Part::Frequency { times, unit },
    })
}

/// Reads 一天三次, 一周两次.
fn times_of_one(c: &mut Cursor<'_>) -> Option<Part> {
    (c.number()? == 1).then_some(())?;
    c.eat(Word::Measure);
    let unit = c.unit()?;
    let times = c.number()?;
    c.eat(Word::Times).then_some(Part::Frequency { times, unit: Some(unit) })
}

fn adverb_unit(c: &mut Cursor<'_>) -> Option<Unit> {
    let Word::Adverb(unit) = c.peek(0) else { return None };
    c.at += 1;
    Some(unit)
}

/// Reads 每隔一天 (each second day), 每隔15分钟 (each 15 minutes), "every other week".
fn gap(c: &mut Cursor<'_>) -> Option<Part> {
    if let Word::Alternate(unit) = c.peek(0) {
        c.at += 1;
        return Some(each(2, unit));
    }
    if c.eat(Word::EveryOther) {
        let is_weekday = matches!(c.peek(0), Word::Weekdays { .. });
        return Some(each(2, if is_weekday { Unit::Week } else { c.unit()? }));
    }
    c.eat(Word::EveryGap).then_some(())?;
    if let Some(minutes) = c.attempt(minutes_of) {
        return every_minutes(minutes);
    }
    let count = c.number().unwrap_or(1);
    c.eat(Word::Measure);
    let unit = c.unit()?;
    match (unit, count) {
        (Unit::Second | Unit::Minute | Unit::Hour, _) => Some(each(count, unit)),
        (_, 1) => Some(each(2, unit)),
        // 每隔三天 is each third day to some and each fourth to others.
        _ => Some(Part::Vague),
    }
}

/// Reads "of the month", which recurs like "of every month".
fn of_period(c: &mut Cursor<'_>) -> Option<Part> {
    c.eat_any(&[Word::Of, Word::In]).then_some(())?;
    c.eat_any(&[Word::The, Word::Every]);
    let unit = if c.eat(Word::Quarter) { Unit::Quarter } else { c.unit()? };
    matches!(unit, Unit::Month | Unit::Quarter | Unit::Year).then(|| each(1, unit))
}

fn every(c: &mut Cursor<'_>) -> Option<Part> {
    c.eat(Word::Every).then_some(())?;
    if let Some(minutes) = c.attempt(minutes_of) {
        return every_minutes(minutes);
    }
    if c.peek(0) == Word::Quarter && !matches!(c.peek(1), Word::Past | Word::To) {
        return Some(every_quarter(c));
    }
    if c.eat(Word::Half) {
        return every_half(c);
    }
    let count = ordinal_count(c).or_else(|| c.number());
    c.eat(Word::Measure);
    // 每3月 could be March; 每5日 the fifth.
    if count.is_some()
        && matches!(c.peek(0), Word::MonthMark | Word::DayMark)
        && c.previous() != Word::Measure
    {
        return None;
    }
    let unit = c.unit()?;
    if unit == Unit::Hour && count.is_none() && c.attempt(half_more).is_some() {
        return Some(Part::EveryMinutes(90));
    }
    if unit == Unit::Fortnight {
        return Some(each(2 * count.unwrap_or(1), Unit::Week));
    }
    let is_workday = unit == Unit::Workday;
    (!is_workday).then(|| each(count.unwrap_or(1), unit))
}

/// Reads 每刻钟, "every quarter of an hour", "every quarter".
fn every_quarter(c: &mut Cursor<'_>) -> Part {
    let is_chinese = c.width(0) <= 2;
    c.at += 1;
    c.attempt(|c| {
        let is_of_hour = c.eat(Word::Of) && c.eat(Word::Article);
        (is_of_hour && c.peek(0) == Word::Unit(Unit::Hour)).then_some(())
    });
    if is_chinese || c.eat(Word::Unit(Unit::Hour)) {
        each(15, Unit::Minute)
    } else {
        each(1, Unit::Quarter)
    }
}

/// Reads what follows "every half".
fn every_half(c: &mut Cursor<'_>) -> Option<Part> {
    c.eat(Word::Article);
    match c.unit()? {
        Unit::Hour => Some(each(30, Unit::Minute)),
        Unit::Year => Some(each(6, Unit::Month)),
        Unit::Day => Some(each(12, Unit::Hour)),
        _ => Some(Part::Vague),
    }
}

/// Reads "second" in "every second week".
fn ordinal_count(c: &mut Cursor<'_>) -> Option<u32> {
    let count = match c.peek(0) {
        Word::Ordinal(count) => count,
        Word::Unit(Unit::Second) => 2,
        _ => return None,
    };
    matches!(c.peek(1), Word::Unit(_)).then(|| {
        c.at += 1;
        count
    })
}

fn every_minutes(minutes: u32) -> Option<Part> {
    match minutes {
        0 => None,
        1..=60 => Some(each(minutes, Unit::Minute)),
        _ if minutes.is_multiple_of(60) => Some(each(minutes / 60, Unit::Hour)),
        _ => Some(Part::EveryMinutes(minutes)),
    }
}

/// Reads durations that mix hours and halves or minutes: an hour and a half, 一个半小时, 1.5 hours, 1h30m, 一刻钟.
fn minutes_of(c: &mut Cursor<'_>) -> Option<u32> {
    if c.peek(0) == Word::Half {
        c.at += 1;
        c.eat(Word::Article);
        return c.eat(Word::Unit(Unit::Hour)).then_some(30);
    }
    if matches!(c.peek(0), Word::Article) && c.peek(1) == Word::Half {
        c.at += 2;
        return c.eat(Word::Unit(Unit::Hour)).then_some(30);
    }
    let count = c.number()?;
    match (c.peek(0), c.peek(1)) {
        (Word::Quarter, next)
            if c.is_glued(0) || next == Word::Of || next == Word::Unit(Unit::Hour) =>
        {
            c.at += 1;
            let is_long = c.eat(Word::Of) && c.eat(Word::Article) || !c.is_glued(0);
            let has_hour = c.eat(Word::Unit(Unit::Hour));
            return (has_hour || !is_long || c.previous() == Word::Quarter).then_some(count * 15);
        }
        (Word::Dot, Word::Number { value, digits: 1 }) if c.is_glued(0) && c.is_glued(1) => {
            c.at += 2;
            return c.eat(Word::Unit(Unit::Hour)).then_some(count * 60 + value * 6);
        }
        _ => {}
    }
    let has_half = c.attempt(half_more).is_some();
    c.eat(Word::Measure);
    let has_half = has_half || c.eat(Word::Half);
    c.eat(Word::Unit(Unit::Hour)).then_some(())?;
    if has_half || c.attempt(half_more).is_some() {
        return Some(count * 60 + 30);
    }
    let more = c.attempt(|c| {
        c.eat(Word::And);
        let more = c.number()?;
        (c.eat(Word::Unit(Unit::Minute)) || c.eat(Word::MinuteMark)).then_some(more)
    });
    more.map(|more| count * 60 + more)
}

/// Reads "and a half".
fn half_more(c: &mut Cursor<'_>) -> Option<()> {
    (c.eat(Word::And) && c.eat(Word::Article) && c.eat(Word::Half)).then_some(())
}

/// Reads a distance from now: in 20 minutes, 半小时后, a week from today, 过三天.
pub(super) fn offset(c: &mut Cursor<'_>) -> Option<Part> {
    c.attempt(|c| {
        let is_led = c.eat(Word::In) || c.eat(Word::Within);
        if is_led && let Some(offset) = c.attempt(hours_and_minutes) {
            return Some(Part::Offset(offset));
        }
        let mut offset = duration(c)?;
        while let Some(more) = c.attempt(|c| {
            c.eat(Word::And);
            duration(c)
        }) {
            offset = add(offset, more);
        }
        let is_dated = c.peek(0) == Word::FromToday;
        let has_suffix = c.eat(Word::Later) || c.eat(Word::FromToday) || (!is_led && later_word(c));
        (is_led || has_suffix).then_some(Part::Offset(Offset { is_dated, ..offset }))
    })
}

/// Reads "1h30" or "1:30" after "in", which is a length and no time of day.
fn hours_and_minutes(c: &mut Cursor<'_>) -> Option<Offset> {
    let (
        Word::Number { value: hours @ 0..=99, .. },
        Word::Colon,
        Word::Number { value, digits: 2 },
    ) = (c.peek(0), c.peek(1), c.peek(2))
    else {
        return None;
    };
    c.at += 3;
    let is_length =
        c.is_glued(0) && value < 60 || matches!(c.peek(0), Word::End | Word::Comma | Word::Task);
    is_length.then(|| Offset { seconds: i64::from(hours * 3600 + value * 60), ..Offset::default() })
}

/// Reads "three weeks from Friday", "10 days after tomorrow", "a week on Thursday".
pub(super) fn days_after(c: &mut Cursor<'_>) -> Option<Part> {
    let Offset { months: 0, days, seconds: 0, .. } = duration(c)? else { return None };
    let is_from = c.eat(Word::From);
    let is_after = !is_from && c.peek(0) == Word::Event && c.width(0) == 5 && c.eat(Word::Event);
    // "a week on Thursday" counts from it; "a week on Thursdays" does not.
    (is_from || is_after || days % 7 == 0 && c.eat(Word::On)).then_some(())?;
    c.eat_any(&[Word::This, Word::The]);
    let part = match c.peek(0) {
        Word::Day(shift) => Part::Day(i8::try_from(days + i32::from(shift)).ok()?),
        Word::Weekdays { set, is_recurring: false } if set.count_ones() == 1 => {
            Part::DayAfter { set, days }
        }
        _ => return None,
    };
    c.at += 1;
    Some(part)
}

/// Reads "later" after a duration, which alone would be vague.
fn later_word(c: &mut Cursor<'_>) -> bool {
    c.peek(0) == Word::Vague && c.width(0) == 5 && c.eat(Word::Vague)
}

fn add(a: Offset, b: Offset) -> Offset {
    Offset {
        months: a.months + b.months,
        days: a.days + b.days,
        seconds: a.seconds + b.seconds,
        is_dated: false,
    }
}

/// Reads a length of time.
pub(super) fn duration(c: &mut Cursor<'_>) -> Option<Offset> {
    if let Some(minutes) = c.attempt(minutes_of) {
        return Some(Offset { seconds: i64::from(minutes) * 60, ..Offset::default() });
    }
    c.attempt(|c| {
        if c.peek(0) == Word::Half && c.peek(1) == Word::YearMark {
            c.at += 2;
            return Some(Offset { months: 6, ..Offset::default() });
        }
        let count = c.number().filter(|count| *count < 100_000)? as i32;
        let has_measure = c.eat(Word::Measure);
        let is_month_name = c.peek(0) == Word::MonthMark && !has_measure;
        let is_date = c.peek(0) == Word::DayMark;
        let unit = if c.eat(Word::MinuteMark) { Unit::Minute } else { c.unit()? };
        let none = Offset::default();
        let seconds = |n: i32| Offset { seconds: i64::from(count) * i64::from(n), ..none };
        let offset = match unit {
            Unit::Second => seconds(1),
            Unit::Minute => seconds(60),
            Unit::Hour => seconds(3600),
            Unit::Day => Offset { days: count, ..none },
            Unit::Week => Offset { days: count * 7, ..none },
            Unit::Fortnight => Offset { days: count * 14, ..none },
            Unit::Month => Offset { months: count, ..none },
            Unit::Quarter => Offset { months: count * 3, ..none },
            Unit::Year => Offset { months: count * 12, ..none },
            Unit::Workday => return None,
        };
        (!is_month_name && !is_date).then_some(offset)
    })
}
