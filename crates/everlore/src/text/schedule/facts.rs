//! Sorts the parts of a phrase by what they say.

use jiff::civil::Date;

use super::once;
use super::part::{Offset, Part, Placed};
use super::trouble::Trouble;
use super::word::Unit;

/// Statements of a phrase, sorted by what they are about.
#[derive(Debug, Default, Clone)]
pub(super) struct Facts {
    pub(super) every: Vec<(u32, Unit)>,
    pub(super) every_minutes: Option<u32>,
    pub(super) frequency: Option<(u32, Option<Unit>)>,
    pub(super) weekdays: Vec<WeekdayFact>,
    pub(super) nth: Vec<(i8, u8)>,
    pub(super) month_days: Vec<i8>,
    pub(super) dates: Vec<(Option<i16>, i8, i8)>,
    pub(super) months: Vec<i8>,
    pub(super) next_month: Option<i8>,
    pub(super) next_year: Option<i8>,
    pub(super) week: Option<i8>,
    pub(super) day: Option<i8>,
    pub(super) offset: Option<Offset>,
    pub(super) past_hour: Option<u32>,
    pub(super) zone: Option<&'static str>,
    pub(super) except: u8,
    /// Months that are taken from the rest.
    pub(super) except_months: Vec<i8>,
    pub(super) start: Option<Date>,
    pub(super) until: Option<Date>,
    /// Days and months from the first day on.
    pub(super) span: Option<(i32, i32)>,
    /// Seconds from now on.
    pub(super) span_seconds: Option<i64>,
    /// Days after the coming weekday: three weeks from Friday.
    pub(super) day_after: Option<(u8, i32)>,
    /// Set if the time of day is that of now.
    pub(super) is_same_time: bool,
    /// Set if the time of day begins an interval: every 6 hours starting at 8.
    pub(super) starts_at_time: bool,
    /// Last (-1) or first (1) day of the coming month end or start.
    pub(super) month_edge: Option<i8>,
    /// Set if a word says that it recurs: Mondays, mornings.
    pub(super) is_recurring: bool,
    /// Set if a part of each day says that it recurs: 每晚, mornings.
    pub(super) is_daily: bool,
}

/// Weekdays with their place.
#[derive(Debug, Clone, Copy)]
pub(super) struct WeekdayFact {
    pub(super) set: u8,
    pub(super) week: Option<i8>,
    pub(super) first: usize,
}

/// Sorts parts; `today` dates the bounds.
pub(super) fn sort(parts: &[Placed], today: Date) -> Result<Facts, Trouble> {
    let mut facts = Facts::default();
    let mut rest: Vec<Placed> = Vec::new();
    let mut at = 0;
    while at < parts.len() {
        facts.starts_at_time |= starts_at_time(parts, at);
        let (bound, next) = bound_at(parts, at);
        match bound {
            Bound::Start(days) => facts.start = Some(bound_date(days, today)?),
            Bound::Until(days) => facts.until = Some(bound_date(days, today)?),
            Bound::Except(days) => {
                facts.except |= weekday_set(days);
                facts.except_months.extend(months_of(days));
            }
            Bound::None => rest.push(parts[at]),
        }
        at = next;
    }
    let has_days = rest.iter().any(|p| {
        matches!(
            p.part,
            Part::Weekdays { .. } | Part::Day(_) | Part::Nth { .. } | Part::MonthDay(_)
        )
    });
    for placed in rest {
        add(&mut facts, placed, has_days);
    }
    take_months(&mut facts);
    Ok(facts)
}

/// Days that bound a recurrence or are taken from it.
enum Bound<'a> {
    None,
    Start(&'a [Placed]),
    Until(&'a [Placed]),
    Except(&'a [Placed]),
}

/// Returns the bound at a position and the position after it.
fn bound_at(parts: &[Placed], at: usize) -> (Bound<'_>, usize) {
    let count = |from: usize| parts[from..].iter().take_while(|p| is_day(&p.part)).count();
    let excepted = |from: usize| {
        let weekdays = |p: &&Placed| matches!(p.part, Part::Weekdays { .. });
        let months = |p: &&Placed| matches!(p.part, Part::Month(_));
        let days = parts[from..].iter().take_while(weekdays).count();
        if days > 0 { days } else { parts[from..].iter().take_while(months).count() }
    };
    let suffix = |end: usize, kind: &Part| parts.get(end).is_some_and(|p| p.part == *kind);
    match parts[at].part {
        Part::Starting => starting_bound(parts, at),
        Part::Until => {
            let end = at + 1 + count(at + 1);
            (Bound::Until(&parts[at + 1..end]), end)
        }
        Part::Except => {
            // The first weekday or month after it and those listed with it.
            let end = at + 1 + listed(&parts[at + 1..at + 1 + excepted(at + 1)]);
            (
                Bound::Except(&parts[at + 1..end]),
                end + usize::from(suffix(end, &Part::ExceptSuffix)),
            )
        }
        Part::ExceptSuffix | Part::StartSuffix | Part::UntilSuffix => (Bound::None, at + 1),
        _ => {
            let end = at + count(at).min(2);
            if end > at && suffix(end, &Part::UntilSuffix) {
                (Bound::Until(&parts[at..end]), end + 1)
            } else if end > at && suffix(end, &Part::StartSuffix) {
                (Bound::Start(&parts[at..end]), end + 1)
            } else if is_excepted(parts, at, excepted(at)) {
                let end = at + excepted(at);
                (Bound::Except(&parts[at..end]), end + 1)
            } else {
                (Bound::None, at + 1)
            }
        }
    }
}

/// Returns `true` if so many days or months of one list stand before 除外.
fn is_excepted(parts: &[Placed], at: usize, count: usize) -> bool {
    let is_one_list = listed(&parts[at..at + count]) == count;
    let is_suffixed = parts.get(at + count).is_some_and(|p| p.part == Part::ExceptSuffix);
    count > 0 && is_one_list && is_suffixed
}

/// Returns `true` if a time of day follows "starting", or stands before 开始.
fn starts_at_time(parts: &[Placed], at: usize) -> bool {
    let is_time = |part: Option<&Placed>| {
        part.is_some_and(|p| matches!(p.part, Part::Clock(_) | Part::OfDay { .. }))
    };
    match parts[at].part {
        Part::Starting => is_time(parts.get(at + 1)),
        Part::StartSuffix => at > 0 && is_time(parts.get(at - 1)),
        _ => false,
    }
}

/// Returns the start after "starting"; "from Monday to Friday" is a set of days and bounds nothing.
fn starting_bound(parts: &[Placed], at: usize) -> (Bound<'_>, usize) {
    let next = parts.get(at + 1).map(|p| p.part);
    let is_set = matches!(next, Some(Part::Weekdays { is_recurring: true, .. }));
    if is_set || starts_at_time(parts, at) {
        return (Bound::Except(&[]), at + 1);
    }
    let days = parts[at + 1..].iter().take_while(|p| is_day(&p.part)).count();
    let end = at + 1 + days.min(2);
    let has_suffix = parts.get(end).is_some_and(|p| p.part == Part::StartSuffix);
    (Bound::Start(&parts[at + 1..end]), end + usize::from(has_suffix))
}

/// Returns how many days stand in one list, with at most one word between them.
fn listed(parts: &[Placed]) -> usize {
    // Months of one range have the same tokens.
    let is_joined = |pair: &&[Placed]| pair[1].first.saturating_sub(pair[0].end) <= 1;
    let joined = parts.windows(2).take_while(is_joined).count();
    if parts.is_empty() { 0 } else { joined + 1 }
}

fn is_day(part: &Part) -> bool {
    matches!(
        part,
        Part::Weekdays { .. }
            | Part::Day(_)
            | Part::Date { .. }
            | Part::MonthDay(_)
            | Part::Month(_)
            | Part::NextMonth(_)
            | Part::Week(_)
            | Part::Offset(_)
            | Part::MonthEdge(_)
            | Part::Nth { set: 0, .. }
    )
}

fn weekday_set(parts: &[Placed]) -> u8 {
    parts.iter().fold(0, |set, p| {
        if let Part::Weekdays { set: more, .. } = p.part { set | more } else { set }
    })
}

fn months_of(parts: &[Placed]) -> impl Iterator<Item = i8> {
    parts.iter().filter_map(|p| if let Part::Month(month) = p.part { Some(month) } else { None })
}

/// Takes the excepted months from those that the phrase names, or from the whole year.
fn take_months(facts: &mut Facts) {
    if facts.except_months.is_empty() {
        return;
    }
    if facts.months.is_empty() {
        facts.months = (1..=12).collect();
    }
    let excepted = std::mem::take(&mut facts.except_months);
    facts.months.retain(|month| !excepted.contains(month));
    facts.is_recurring = true;
}

fn bound_date(parts: &[Placed], today: Date) -> Result<Date, Trouble> {
    let mut facts = Facts::default();
    for placed in parts {
        add(&mut facts, *placed, false);
    }
    if !facts.months.is_empty() && facts.month_days.is_empty() && facts.nth.is_empty() {
        facts.month_days.push(1);
    }
    once::date(&facts, today)?.ok_or(Trouble::WhichDays)
}

fn add(facts: &mut Facts, placed: Placed, has_days: bool) {
    match placed.part {
        // "daily sync" on weekdays is a name.
        Part::Every { is_adjective: true, unit: Unit::Day | Unit::Week, .. } if has_days => {}
        Part::Every { count, unit, .. } => facts.every.push((count, unit)),
        Part::EveryMinutes(minutes) => facts.every_minutes = Some(minutes),
        Part::Frequency { times, unit } => facts.frequency = Some((times, unit)),
        Part::Weekdays { set, is_recurring, week } => {
            facts.is_recurring |= is_recurring && week.is_none();
            facts.weekdays.push(WeekdayFact { set, week, first: placed.first });
        }
        Part::Nth { ordinal, set } => facts.nth.push((ordinal, set)),
        Part::MonthDay(day) => facts.month_days.push(day),
        Part::Date { year, month, day } => facts.dates.push((year, month, day)),
        Part::Month(month) => facts.months.push(month),
        Part::MonthParity(parity) => {
            facts.months.extend((1..=12).filter(|month| month % 2 == parity));
            facts.is_recurring = true;
        }
        Part::NextMonth(shift) => facts.next_month = Some(shift),
        Part::Span { seconds, .. } if seconds > 0 => facts.span_seconds = Some(seconds),
        Part::Span { days, months, .. } => facts.span = Some((days, months)),
        Part::DayAfter { set, days } => facts.day_after = Some((set, days)),
        Part::SameTime => facts.is_same_time = true,
        Part::MonthEdge(ordinal) => facts.month_edge = Some(ordinal),
        Part::NextYear(shift) => facts.next_year = Some(shift),
        Part::Week(shift) => facts.week = Some(shift),
        Part::Day(days) => facts.day = Some(days),
        Part::Offset(offset) => facts.offset = Some(offset),
        Part::OfDay { is_recurring, .. } => {
            facts.is_recurring |= is_recurring;
            facts.is_daily |= is_recurring;
        }
        Part::PastHour(minute) => facts.past_hour = Some(minute),
        Part::Zone(zone) => facts.zone = Some(zone),
        _ => {}
    }
}
