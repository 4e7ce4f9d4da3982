//! Days as people name them: next Friday, the 5th, March 3, 每月最后一个周五.

use super::counted::{OrdinalMeaning, ordinal_meaning};
use super::part::{Cursor, Part};
use super::rule::WORKDAYS;
use super::word::{Unit, Word};

/// Reads one day, weekday, date or month; appends its parts.
pub(super) fn days(c: &mut Cursor<'_>, parts: &mut Vec<Part>) -> bool {
    let found = c
        .attempt(nth)
        .or_else(|| c.attempt(dated))
        .or_else(|| c.attempt(relative).map(|part| vec![part]))
        .or_else(|| c.attempt(weekdays).map(|part| vec![part]))
        .or_else(|| c.attempt(month_range))
        .or_else(|| c.attempt(day_parity))
        .or_else(|| c.attempt(month_only).map(|part| vec![part]));
    let is_found = found.is_some();
    parts.extend(found.into_iter().flatten());
    is_found
}

fn weekdays(c: &mut Cursor<'_>) -> Option<Part> {
    let Word::Weekdays { set, is_recurring } = c.peek(0) else { return None };
    c.at += 1;
    if let Some(last) = c.attempt(|c| range_end(c, set)) {
        return Some(Part::Weekdays { set: last, is_recurring: true, week: None });
    }
    Some(Part::Weekdays { set, is_recurring, week: None })
}

/// Reads the end of "Mon-Thu", 周一到周五 and returns all days of the range.
fn range_end(c: &mut Cursor<'_>, first: u8) -> Option<u8> {
    (c.eat(Word::To) || c.eat(Word::Dash)).then_some(())?;
    let Word::Weekdays { set: last, .. } = c.peek(0) else { return None };
    c.at += 1;
    let is_single = first.count_ones() == 1 && last.count_ones() == 1;
    let (from, to) = (first.trailing_zeros(), last.trailing_zeros());
    let length = (to + 7 - from) % 7;
    is_single.then(|| (0..=length).fold(0, |set, n| set | 1 << ((from + n) % 7)))
}

/// Reads ordinals with what they count: first and third Wednesday of the month, 最后一天, 15th.
fn nth(c: &mut Cursor<'_>) -> Option<Vec<Part>> {
    c.eat(Word::The);
    let mut ordinals = vec![ordinal(c)?];
    ordinals.extend(c.attempt(|c| ordinal_range(c, ordinals[0])).into_iter().flatten());
    while let Some(more) = c.attempt(|c| {
        c.eat(Word::Measure);
        c.eat_any(&[Word::And, Word::Comma, Word::Slash]).then_some(())?;
        c.eat(Word::And);
        c.eat(Word::The);
        ordinal(c)
    }) {
        ordinals.push(more);
    }
    c.eat(Word::Measure);
    let counted = match c.peek(0) {
        Word::Weekdays { set, .. } => Some(set),
        Word::Unit(Unit::Workday) => Some(WORKDAYS),
        Word::Unit(Unit::Day) => Some(0),
        _ => None,
    };
    match counted {
        // "first day at the new job": no month has it.
        Some(0)
            if c.is_spelled_ordinal()
                && ordinals == [1]
                && !is_of_period(c)
                && !c.follows_period() =>
        {
            None
        }
        Some(set) => {
            c.at += 1;
            Some(ordinals.into_iter().map(|ordinal| Part::Nth { ordinal, set }).collect())
        }
        // 最后一天 is one word of the lexicon.
        None if ordinals == [-1] && c.is_last_day() => {
            Some(vec![Part::Nth { ordinal: -1, set: 0 }])
        }
        None => month_days(c, &ordinals),
    }
}

/// Returns `true` if the counted day belongs to a period: the first day of each month, 每月第一天.
fn is_of_period(c: &Cursor<'_>) -> bool {
    matches!(c.peek(1), Word::Of | Word::In | Word::Every | Word::Adverb(_))
}

/// Returns days of the month that stand alone: the 1st and 15th, 23rd of March.
fn month_days(c: &mut Cursor<'_>, ordinals: &[i8]) -> Option<Vec<Part>> {
    let is_time_unit = matches!(c.peek(0), Word::Unit(_) | Word::MinuteMark);
    if is_time_unit
        || ordinals.iter().any(|day| *day < 1)
        || c.is_spelled_ordinal() && !c.precedes_month() && !(c.follows_period() && c.ends_day())
    {
        return None;
    }
    if ordinals.len() == 1 && !c.is_spelled_ordinal() && !c.precedes_month() && !c.follows_period()
    {
        match ordinal_meaning(c) {
            OrdinalMeaning::Day => {}
            OrdinalMeaning::Thing => return None,
            OrdinalMeaning::Open => return Some(vec![Part::Vague]),
        }
    }
    let month = c.attempt(|c| {
        c.eat(Word::Of);
        month(c)
    });
    let Some(month) = month else {
        return Some(ordinals.iter().map(|day| Part::MonthDay(*day)).collect());
    };
    let year = year(c);
    Some(ordinals.iter().map(|day| Part::Date { year, month, day: *day }).collect())
}

/// Reads the end of "1st to 5th" and returns the days after the first.
fn ordinal_range(c: &mut Cursor<'_>, first: i8) -> Option<Vec<i8>> {
    c.eat_any(&[Word::To, Word::Dash]).then_some(())?;
    c.eat(Word::The);
    let last = ordinal(c).filter(|last| first > 0 && *last > first && *last <= 31)?;
    Some((first + 1..=last).collect())
}

fn ordinal(c: &mut Cursor<'_>) -> Option<i8> {
    let value = match c.peek(0) {
        Word::Ordinal(value) if value < 100 => value as i8,
        Word::Last => -1,
        Word::FromEnd(value @ 1..=31) => -(value as i8),
        Word::Unit(Unit::Second) if c.width(0) == 6 => {
            let counts = matches!(
                c.peek(1),
                Word::Weekdays { .. } | Word::Unit(_) | Word::And | Word::Slash | Word::Comma
            );
            counts.then_some(2)?
        }
        _ => return None,
    };
    c.at += 1;
    Some(value)
}

/// Reads dates with a month: March 3 2026, 17 August, 3月29日, 2026-05-14, 每月1号's 1号.
fn dated(c: &mut Cursor<'_>) -> Option<Vec<Part>> {
    c.attempt(numeric)
        .or_else(|| c.attempt(month_first))
        .or_else(|| c.attempt(day_first))
        .or_else(|| c.attempt(chinese_date))
        .or_else(|| c.attempt(holiday))
}

fn numeric(c: &mut Cursor<'_>) -> Option<Vec<Part>> {
    let Word::Date { year, month, day } = c.peek(0) else { return None };
    c.at += 1;
    if month == 0 && day == 0 {
        return Some(vec![Part::Vague]);
    }
    Some(vec![Part::Date { year: (year > 0).then_some(year), month, day }])
}

fn month(c: &mut Cursor<'_>) -> Option<i8> {
    let Word::Month { month, .. } = c.peek(0) else { return None };
    c.at += 1;
    c.eat(Word::Dot);
    Some(month)
}

fn month_first(c: &mut Cursor<'_>) -> Option<Vec<Part>> {
    let month = month(c)?;
    c.eat(Word::The);
    let mut days = vec![month_day(c)?];
    while let Some(day) = c.attempt(|c| {
        c.eat_any(&[Word::And, Word::Comma]).then_some(())?;
        month_day(c)
    }) {
        days.push(day);
    }
    let year = year(c);
    Some(days.into_iter().map(|day| Part::Date { year, month, day }).collect())
}

/// Reads the number of a day that is not the hour of a time.
fn month_day(c: &mut Cursor<'_>) -> Option<i8> {
    let day = match c.peek(0) {
        Word::Number { value: value @ 1..=99, .. } => value,
        Word::Ordinal(value @ 1..=99) => value,
        _ => return None,
    };
    c.at += 1;
    let is_other = matches!(
        c.peek(0),
        Word::Colon | Word::Am | Word::Pm | Word::OClock | Word::Unit(_) | Word::HourMark
    );
    (!is_other).then_some(day as i8)
}

fn day_first(c: &mut Cursor<'_>) -> Option<Vec<Part>> {
    c.eat(Word::The);
    let day = match c.peek(0) {
        Word::Number { value: value @ 1..=99, .. } | Word::Ordinal(value @ 1..=99) => value as i8,
        _ => return None,
    };
    c.at += 1;
    c.eat(Word::Of);
    c.eat(Word::Dot);
    let month = month(c)?;
    Some(vec![Part::Date { year: year(c), month, day }])
}

/// Reads a year after a date.
fn year(c: &mut Cursor<'_>) -> Option<i16> {
    c.attempt(|c| {
        c.eat(Word::Comma);
        let Word::Number { value: value @ 1900..=2999, digits: 4 } = c.peek(0) else { return None };
        c.at += 1;
        Some(value as i16)
    })
}

/// Reads 2026年3月5日, 3月和9月的5号, 1号和15号.
fn chinese_date(c: &mut Cursor<'_>) -> Option<Vec<Part>> {
    let year = c.attempt(|c| {
        let year = c.number().filter(|year| (1900..3000).contains(year))?;
        c.eat(Word::YearMark).then_some(year as i16)
    });
    let mut months: Vec<i8> = Vec::new();
    while let Some(month) = c.attempt(|c| marked(c, Word::MonthMark, !months.is_empty())) {
        months.push(month);
    }
    extend_range(c, &mut months, Word::MonthMark, 12);
    let mut days: Vec<i8> = Vec::new();
    let day = |c: &mut Cursor<'_>, is_more| {
        c.eat(Word::Of);
        marked(c, Word::DayMark, is_more)
    };
    while let Some(found) = c.attempt(|c| day(c, !days.is_empty())) {
        days.push(found);
    }
    extend_range(c, &mut days, Word::DayMark, 31);
    // 3月15 without 号.
    if days.is_empty()
        && months.len() == 1
        && let Some(found) = c.attempt(|c| c.is_glued(0).then(|| month_day(c)).flatten())
    {
        days.push(found);
    }
    let dates = months
        .iter()
        .flat_map(|month| days.iter().map(|day| Part::Date { year, month: *month, day: *day }));
    match (months.is_empty(), days.is_empty()) {
        (true, true) => None,
        (true, false) => year.is_none().then(|| days.into_iter().map(Part::MonthDay).collect()),
        (false, true) => Some(months.into_iter().map(Part::Month).collect()),
        (false, false) => Some(dates.collect()),
    }
}

/// Reads the end of 六月到八月 or 1号到5号 and adds the values between.
fn extend_range(c: &mut Cursor<'_>, values: &mut Vec<i8>, mark: Word, most: i8) {
    let &[first] = &values[..] else { return };
    let last = c.attempt(|c| {
        c.eat_any(&[Word::To, Word::Dash]).then_some(())?;
        marked(c, mark, false).filter(|last| *last > first && *last <= most)
    });
    values.extend(last.into_iter().flat_map(|last| first + 1..=last));
}

/// Reads a number with its mark: 5号, 和15号.
fn marked(c: &mut Cursor<'_>, mark: Word, is_more: bool) -> Option<i8> {
    if is_more {
        let separators = [Word::And, Word::Comma, Word::Slash];
        c.eat_any(&separators).then_some(())?;
    }
    let value = c.number().filter(|value| *value < 100)?;
    // 1、15号, 1到5号: the mark stands after the last.
    let shared = || matches!((c.peek(0), c.peek(1), c.peek(2)), (Word::And | Word::Comma | Word::Slash | Word::To | Word::Dash, Word::Number { .. }, next) if next == mark);
    if c.peek(0) == mark {
        c.at += 1;
    } else if !shared() {
        return None;
    }
    Some(value as i8)
}

fn holiday(c: &mut Cursor<'_>) -> Option<Vec<Part>> {
    let Word::Holiday(month, day) = c.peek(0) else { return None };
    let is_date = matches!(
        c.previous(),
        Word::Every
            | Word::On
            | Word::At
            | Word::End
            | Word::Adverb(Unit::Year)
            | Word::YearMark
            | Word::Until
            | Word::To
            | Word::From
            | Word::Starting
    ) || matches!(c.peek(1), Word::At | Word::Part { .. } | Word::Number { .. });
    c.at += 1;
    is_date.then(|| vec![Part::Date { year: None, month, day }])
}

/// Reads tomorrow, next Friday, 下个月, next week.
fn relative(c: &mut Cursor<'_>) -> Option<Part> {
    c.eat(Word::The);
    if let Word::Day(days) = c.peek(0) {
        c.at += 1;
        return Some(Part::Day(days));
    }
    if let Word::YearShift(years) = c.peek(0) {
        c.at += 1;
        return Some(Part::NextYear(years));
    }
    // "the week after next"; a weekday after next is one thing to some and another to others.
    if c.peek(1) == Word::AfterNextSuffix {
        let part = match c.peek(0) {
            Word::Unit(Unit::Week) => Part::Week(2),
            Word::Unit(Unit::Month) => Part::NextMonth(2),
            Word::Unit(Unit::Year) => Part::NextYear(2),
            Word::Weekdays { .. } => Part::Vague,
            _ => return None,
        };
        c.at += 2;
        return Some(part);
    }
    let shift = match c.peek(0) {
        Word::This => 0,
        Word::Next => 1,
        Word::AfterNext => 2,
        _ => return None,
    };
    c.at += 1;
    c.eat(Word::Measure);
    shifted(c, shift)
}

/// Reads the weekday, week, month or year that is `shift` of them from this one.
fn shifted(c: &mut Cursor<'_>, shift: i8) -> Option<Part> {
    let weekdays = |set| Part::Weekdays { set, is_recurring: false, week: Some(shift) };
    let part = match c.peek(0) {
        Word::Weekdays { set, .. } => weekdays(set),
        Word::Unit(Unit::Week) => {
            c.at += 1;
            c.eat(Word::Of);
            let on = c.attempt(|c| {
                c.eat(Word::On);
                let Word::Weekdays { set, .. } = c.peek(0) else { return None };
                c.at += 1;
                Some(set)
            });
            return Some(on.map_or(Part::Week(shift), weekdays));
        }
        Word::Unit(Unit::Month) | Word::MonthMark => Part::NextMonth(shift),
        Word::Unit(Unit::Year) | Word::YearMark => Part::NextYear(shift),
        _ => return None,
    };
    c.at += 1;
    Some(part)
}

/// Reads "June through August".
fn month_range(c: &mut Cursor<'_>) -> Option<Vec<Part>> {
    let first = month(c)?;
    (c.eat(Word::To) || c.eat(Word::Dash)).then_some(())?;
    let last = month(c)?;
    let length = (last + 12 - first) % 12;
    (length > 0).then(|| (0..=length).map(|n| Part::Month((first - 1 + n) % 12 + 1)).collect())
}

/// Reads 单号: the odd days of the month.
fn day_parity(c: &mut Cursor<'_>) -> Option<Vec<Part>> {
    let Word::DayParity(parity) = c.peek(0) else { return None };
    c.at += 1;
    Some((1..=31).filter(|day| day % 2 == parity).map(Part::MonthDay).collect())
}

/// Reads a month without a day: in December.
fn month_only(c: &mut Cursor<'_>) -> Option<Part> {
    if let Word::MonthParity(parity) = c.peek(0) {
        c.at += 1;
        return Some(Part::MonthParity(parity));
    }
    let Word::Month { month, is_common_word } = c.peek(0) else { return None };
    let is_led = matches!(
        c.previous(),
        Word::In
            | Word::Every
            | Word::Of
            | Word::And
            | Word::Comma
            | Word::Until
            | Word::Starting
            | Word::This
    );
    c.at += 1;
    (is_led || !is_common_word).then_some(Part::Month(month))
}
