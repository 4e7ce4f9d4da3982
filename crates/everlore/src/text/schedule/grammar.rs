//! Reads the parts of a phrase from its tokens, from left to right.

use super::clock::past_hour;
use super::day_times::{part_of_day, timed};
use super::days::days;
use super::exceptions::excepts_day;
use super::lexer::Token;
use super::part::{Cursor, Offset, Part, Placed};
use super::recurrence::{days_after, duration, offset, recurrence};
use super::word::{Unit, Word};

/// Returns the parts of a phrase in order.
pub(super) fn parse(tokens: &[Token]) -> Vec<Placed> {
    let mut parts: Vec<Placed> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let mut c = Cursor::new(tokens, at);
        let found = parts_at(&mut c, parts.last());
        if found.is_empty() || c.at == at {
            at += 1;
            continue;
        }
        parts.extend(found.into_iter().map(|part| Placed { part, first: at, end: c.at }));
        at = c.at;
    }
    parts
}

fn parts_at(c: &mut Cursor<'_>, last: Option<&Placed>) -> Vec<Part> {
    if let Some(parts) = c.attempt(every_second_weekday).or_else(|| c.attempt(period_edge)) {
        return parts;
    }
    if let Some(span) = c.attempt(span) {
        return vec![span];
    }
    if let Some(part) = c
        .attempt(days_after)
        .or_else(|| past_hour(c))
        .or_else(|| offset(c))
        .or_else(|| recurrence(c))
    {
        return vec![part];
    }
    let mut found = Vec::new();
    // "every Monday", "each 5th": the day says it recurs.
    let is_every = c.peek(0) == Word::Every
        && c.attempt(|c| {
            c.eat(Word::Every);
            if matches!((c.peek(0), c.peek(1)), (Word::Number { value: 1, .. }, Word::Measure)) {
                c.at += 1;
            }
            c.eat(Word::Measure);
            days(c, &mut found).then_some(())
        })
        .is_some();
    if is_every {
        // "every fourth Thursday in November".
        let is_nth = found.iter().any(|part| matches!(part, Part::Nth { .. }));
        let is_of_month =
            matches!(c.peek(0), Word::In | Word::Of) && matches!(c.peek(1), Word::Month { .. });
        let year = Part::Every { count: 1, unit: Unit::Year, is_adjective: false };
        found.extend((is_nth && is_of_month).then_some(year));
        return recurring(found);
    }
    if days(c, &mut found) {
        return found;
    }
    if let Some(parts) = c.attempt(part_of_day) {
        return parts;
    }
    if let Some(clock) = c.attempt(|c| timed(c, last)) {
        return vec![clock];
    }
    single(c, last).into_iter().collect()
}

/// Reads "every second Tuesday": of the month where one is named, otherwise each second week.
fn every_second_weekday(c: &mut Cursor<'_>) -> Option<Vec<Part>> {
    let is_ordinal = c.peek(0) == Word::EveryOther && c.width(0) == "every 2nd".len();
    let is_spelled = c.peek(0) == Word::Every
        && c.peek(1) == Word::Unit(Unit::Second)
        && c.width(1) == "second".len();
    c.at += if is_spelled { 2 } else { 1 };
    let Word::Weekdays { set, .. } = c.peek(0) else { return None };
    c.at += 1;
    let is_monthly = c.precedes_month();
    let weeks = Part::Every { count: 2, unit: Unit::Week, is_adjective: false };
    let days = Part::Weekdays { set, is_recurring: true, week: None };
    let parts = if is_monthly { vec![Part::Nth { ordinal: 2, set }] } else { vec![weeks, days] };
    (is_ordinal || is_spelled).then_some(parts)
}

/// Reads "end of every month", 每月底, 月底: the last or the first day of a period.
fn period_edge(c: &mut Cursor<'_>) -> Option<Vec<Part>> {
    if let Some(parts) = c.attempt(named_month_edge) {
        return Some(parts);
    }
    let edge = |ordinal, unit| {
        vec![Part::Nth { ordinal, set: 0 }, Part::Every { count: 1, unit, is_adjective: false }]
    };
    let is_every = c.eat(Word::Every);
    let shift = if is_every { None } else { month_shift(c) };
    if is_every || shift.is_some() {
        c.eat(Word::Measure);
        c.eat_any(&[Word::MonthMark, Word::Unit(Unit::Month), Word::Unit(Unit::Quarter)]);
        c.eat(Word::Of);
    }
    let Word::PeriodEdge { ordinal, unit } = c.peek(0) else { return None };
    c.at += 1;
    let once = |shift: Option<i8>| {
        let month = shift.map(Part::NextMonth).into_iter();
        month.chain([Part::MonthEdge(ordinal)]).collect()
    };
    match unit {
        Some(unit) if is_every => Some(edge(ordinal, unit)),
        Some(Unit::Month) => Some(once(shift)),
        Some(_) => Some(vec![Part::Vague]),
        None if c.eat(Word::Every) => {
            let unit = if c.eat(Word::Quarter) { Unit::Quarter } else { c.unit()? };
            matches!(unit, Unit::Month | Unit::Quarter | Unit::Year).then(|| edge(ordinal, unit))
        }
        None => {
            let shift = month_shift(c)?;
            c.eat(Word::Unit(Unit::Month)).then(|| once(Some(shift)))
        }
    }
}

/// Reads "end of June", 六月底.
fn named_month_edge(c: &mut Cursor<'_>) -> Option<Vec<Part>> {
    let (month, ordinal) = match (c.peek(0), c.peek(1)) {
        (Word::PeriodEdge { ordinal, unit: None }, Word::Month { month, .. }) => (month, ordinal),
        (
            Word::Number { value: value @ 1..=12, .. },
            Word::PeriodEdge { ordinal, unit: Some(Unit::Month) },
        ) if c.is_glued(1) => (value as i8, ordinal),
        _ => return None,
    };
    c.at += 2;
    Some(vec![Part::Month(month), Part::Nth { ordinal, set: 0 }])
}

/// Reads "this" or "next" before a month and returns the months from this one.
fn month_shift(c: &mut Cursor<'_>) -> Option<i8> {
    let shift = match c.peek(0) {
        Word::This => 0,
        Word::Next => 1,
        Word::AfterNext => 2,
        _ => return None,
    };
    c.at += 1;
    Some(shift)
}

/// Reads "for the next 5 days", "for two weeks", 接下来五天, 连续三天.
fn span(c: &mut Cursor<'_>) -> Option<Part> {
    if c.eat(Word::For) {
        c.eat(Word::The);
        c.eat(Word::Next);
    } else {
        c.eat(Word::Ahead).then_some(())?;
        c.eat(Word::Of);
    }
    let hour = c.attempt(|c| c.eat(Word::Unit(Unit::Hour)).then_some(()));
    if hour.is_some() {
        return Some(Part::Span { days: 0, months: 0, seconds: 3600 });
    }
    let Offset { months, days, seconds, .. } = duration(c)?;
    Some(Part::Span { days, months, seconds })
}

/// Marks days after "every" as recurring.
fn recurring(mut parts: Vec<Part>) -> Vec<Part> {
    let yearly = parts
        .iter()
        .any(|part| matches!(part, Part::Date { .. } | Part::Month(_) | Part::MonthParity(_)));
    let monthly = parts.iter().any(|part| matches!(part, Part::MonthDay(_)));
    for part in &mut parts {
        if let Part::Weekdays { is_recurring, .. } = part {
            *is_recurring = true;
        }
    }
    let unit = if yearly { Some(Unit::Year) } else { monthly.then_some(Unit::Month) };
    parts.extend(unit.map(|unit| Part::Every { count: 1, unit, is_adjective: false }));
    parts
}

/// Reads words that stand alone.
fn single(c: &mut Cursor<'_>, last: Option<&Placed>) -> Option<Part> {
    let is_beside = last.is_some_and(|l| c.at - l.end == 0);
    let before_time =
        matches!(c.peek(1), Word::Number { .. } | Word::Noon | Word::Midnight | Word::Part { .. });
    let follows_clock = last.is_some_and(|l| matches!(l.part, Part::Clock(_)));
    let follows_edge = last.is_some_and(|l| matches!(l.part, Part::MonthEdge(_)));
    let follows_excepted =
        last.is_some_and(|l| matches!(l.part, Part::Weekdays { .. } | Part::Month(_)));
    let has_clock = c.follows(|word| {
        matches!(word, Word::Am | Word::Pm | Word::Noon | Word::Midnight | Word::Number { .. })
    });
    let part = match c.peek(0) {
        Word::Zone(zone) => Part::Zone(zone),
        Word::CityZone(zone) | Word::ShortZone(zone) if is_beside && follows_clock => {
            Part::Zone(zone)
        }
        // "at 9 every day in New York".
        Word::CityZone(zone) if is_beside && has_clock && ends_zone(c.peek(1)) => Part::Zone(zone),
        Word::SameTime => Part::SameTime,
        Word::Gone if c.width(0) <= 2 && follows_edge && is_beside => Part::UntilSuffix,
        Word::BareZone(zone) if is_beside && follows_clock && ends_zone(c.peek(1)) => {
            Part::Zone(zone)
        }
        Word::Between => Part::Between,
        Word::From if before_time => Part::Between,
        Word::To if is_beside && begins_date(c) => Part::Until,
        Word::Dash | Word::To if is_beside && before_time => Part::To,
        Word::Except if excepts_day(c) => Part::Except,
        // 周六不用早起 excepts nothing.
        Word::ExceptSuffix
            if is_beside && follows_excepted && !(c.peek(1) == Word::Task && c.is_glued(1)) =>
        {
            Part::ExceptSuffix
        }
        Word::Starting => Part::Starting,
        Word::From if begins_months(c) => return None,
        Word::From if is_day(c.peek(1)) || begins_date(c) => Part::Starting,
        Word::StartSuffix if is_beside => Part::StartSuffix,
        // "from 9 until 5", 从9点直到18点.
        Word::Until if is_beside && follows_clock && before_time && !begins_date(c) => Part::To,
        // 到周五为止: the word stands behind its day.
        Word::Until if is_beside && c.width(0) <= 2 && !is_day(c.peek(1)) && !begins_date(c) => {
            Part::UntilSuffix
        }
        Word::Until => Part::Until,
        Word::To if is_beside && (is_day(c.peek(1)) || begins_edge(c)) => Part::Until,
        Word::Vague => Part::Vague,
        Word::WeakVague if is_vague_here(c) => Part::Vague,
        Word::Or if is_beside => Part::Or,
        _ => return None,
    };
    c.at += 1;
    Some(part)
}

/// Returns `true` for "from June to August".
fn begins_months(c: &Cursor<'_>) -> bool {
    matches!(
        (c.peek(1), c.peek(2), c.peek(3)),
        (Word::Month { .. }, Word::To | Word::Dash, Word::Month { .. })
    )
}

/// Returns `true` if 12月, 5号, 六月底 or "24 December" follows.
fn begins_date(c: &Cursor<'_>) -> bool {
    let is_mark = matches!(
        c.peek(2),
        Word::MonthMark
            | Word::DayMark
            | Word::YearMark
            | Word::PeriodEdge { .. }
            | Word::Month { .. }
    );
    matches!(c.peek(1), Word::Number { .. }) && is_mark
}

/// Returns `true` if "the end of" follows.
fn begins_edge(c: &Cursor<'_>) -> bool {
    c.peek(1) == Word::The && matches!(c.peek(2), Word::PeriodEdge { .. })
}

/// Returns `true` if a city right behind a time names its zone: nothing of a task follows.
fn ends_zone(next: Word) -> bool {
    matches!(
        next,
        Word::End
            | Word::Comma
            | Word::Punctuation
            | Word::Every
            | Word::Adverb(_)
            | Word::On
            | Word::Day(_)
            | Word::Weekdays { .. }
    )
}

/// Returns `true` if a word such as "some" counts or names times: every few days, 几个小时后.
fn is_vague_here(c: &Cursor<'_>) -> bool {
    let is_time = |word| {
        matches!(
            word,
            Word::Unit(_)
                | Word::Part { .. }
                | Word::Weekdays { .. }
                | Word::Month { .. }
                | Word::MonthMark
                | Word::Times
        )
    };
    is_time(c.peek(1)) || matches!(c.previous(), Word::Every | Word::At | Word::EveryGap)
}

fn is_day(word: Word) -> bool {
    matches!(
        word,
        Word::Weekdays { .. }
            | Word::Month { .. }
            | Word::Date { .. }
            | Word::Day(_)
            | Word::Holiday(..)
            | Word::PeriodEdge { .. }
            | Word::Next
            | Word::This
    )
}
