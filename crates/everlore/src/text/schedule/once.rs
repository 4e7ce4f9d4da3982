//! Single moments: tomorrow at 7, next Friday, in 20 minutes.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};

use super::facts::Facts;
use super::part::Offset;
use super::rule::{END_OF_DAY, has_weekday, moment, monday_of};
use super::times::{ResolvedTime, Times};
use super::trouble::Trouble;

/// Minute of the day when a day is named without a time.
const DEFAULT_MINUTE: u16 = 9 * 60;

/// Takes the time of day of `now` for "this time tomorrow"; "this time next week" is the same weekday.
pub(super) fn take_time_of(
    now: &Zoned,
    facts: &mut Facts,
    times: &mut Times,
) -> Result<(), Trouble> {
    if !times.single.is_empty()
        || times.window.is_some()
        || facts.offset.is_some()
        || facts.zone.is_some()
    {
        return Err(Trouble::SeveralTimes);
    }
    let minute = now.hour() as u16 * 60 + now.minute() as u16;
    let (is_midnight, is_default, is_late) = (false, false, false);
    times.single.push(ResolvedTime { minute, first: 0, is_midnight, is_default, is_late });
    if facts.weekdays.is_empty()
        && let Some(weeks) = facts.week.take()
    {
        facts.day = weeks.checked_mul(7);
    }
    Ok(())
}

/// Returns the moment that a phrase names.
pub(super) fn moment_of(
    facts: &Facts,
    times: &Times,
    zone: &TimeZone,
    now: &Zoned,
) -> Result<Timestamp, Trouble> {
    if times.window.is_some() || times.single.len() > 1 {
        return Err(Trouble::SeveralTimes);
    }
    let time = times.single.first().copied();
    if let Some(offset) = facts.offset {
        return from_now(offset, time, facts, zone, now);
    }
    let today = now.date();
    let Some(date) = date(facts, today)? else {
        return next_at(time.ok_or(Trouble::NoTime)?, zone, now);
    };
    let Some(time) = time else {
        return at(date, DEFAULT_MINUTE, zone)
            .and_then(|at| future(at, now))
            .map_err(|_| Trouble::WhichTimes);
    };
    if time.is_late && date != today {
        return Err(Trouble::WhichNight);
    }
    let minute = midnight_of(time, facts, date, today)?;
    let at = at(date, minute, zone)?;
    if at > now.timestamp() { Ok(at) } else { after_passed(facts, date, minute, zone) }
}

/// Returns the next moment of a day that recurs by itself and has passed this time: "Friday at 8" on a Friday at 10.
fn after_passed(
    facts: &Facts,
    date: Date,
    minute: u16,
    zone: &TimeZone,
) -> Result<Timestamp, Trouble> {
    let is_undated = facts.dates.is_empty() && facts.month_days.is_empty() && facts.day.is_none();
    let is_weekday =
        facts.weekdays.len() == 1 && facts.weekdays[0].week.is_none_or(|week| week == 0);
    if is_weekday && is_undated {
        return at(date.saturating_add(7.days()), minute, zone);
    }
    let is_open_date =
        facts.dates.len() == 1 && facts.dates[0].0.is_none() && facts.next_year.is_none();
    if is_open_date {
        return at(date.checked_add(1.year()).map_err(|_| Trouble::Past)?, minute, zone);
    }
    if facts.month_days.len() == 1 && facts.next_month.is_none() && facts.months.is_empty() {
        let next = month_day(facts.month_days[0], date.saturating_add(1.day()), None)?;
        return at(next, minute, zone);
    }
    Err(Trouble::Past)
}

/// Returns the minute, with "tonight at midnight" at the end of the day.
fn midnight_of(time: ResolvedTime, facts: &Facts, date: Date, today: Date) -> Result<u16, Trouble> {
    if !time.is_midnight || time.minute == END_OF_DAY {
        return Ok(time.minute);
    }
    let is_dated = !facts.dates.is_empty() || !facts.month_days.is_empty();
    match date == today {
        true if !is_dated => Ok(END_OF_DAY),
        _ if is_dated => Ok(time.minute),
        _ => Err(Trouble::WhichMidnight),
    }
}

fn future(at: Timestamp, now: &Zoned) -> Result<Timestamp, Trouble> {
    if at > now.timestamp() { Ok(at) } else { Err(Trouble::Past) }
}

fn at(date: Date, minute: u16, zone: &TimeZone) -> Result<Timestamp, Trouble> {
    moment(date, minute, zone).ok_or(Trouble::Past)
}

fn from_now(
    offset: Offset,
    time: Option<ResolvedTime>,
    facts: &Facts,
    zone: &TimeZone,
    now: &Zoned,
) -> Result<Timestamp, Trouble> {
    let has_day = facts.day.is_some()
        || !facts.weekdays.is_empty()
        || !facts.dates.is_empty()
        || !facts.month_days.is_empty()
        || facts.week.is_some()
        || facts.next_month.is_some();
    if has_day || time.is_some() && offset.seconds != 0 {
        return Err(Trouble::SeveralTimes);
    }
    let span = offset.months.months().days(offset.days);
    let day = now.checked_add(span).map_err(|_| Trouble::Past)?;
    match time {
        Some(time) => at(day.date(), time.minute, zone),
        None if offset.is_dated => at(day.date(), DEFAULT_MINUTE, zone),
        None => {
            let at = day.timestamp().saturating_add(offset.seconds.seconds());
            at.map_err(|_| Trouble::Past).and_then(|at| future(at, now))
        }
    }
}

/// Returns the next moment with a time of day.
fn next_at(time: ResolvedTime, zone: &TimeZone, now: &Zoned) -> Result<Timestamp, Trouble> {
    let today = now.with_time_zone(zone.clone()).date();
    let days = [today, today.saturating_add(1.day())];
    let moments = days.iter().filter_map(|day| moment(*day, time.minute, zone));
    moments.into_iter().find(|at| *at > now.timestamp()).ok_or(Trouble::Past)
}

/// Returns the day that a phrase names, if it names one.
pub(super) fn date(facts: &Facts, today: Date) -> Result<Option<Date>, Trouble> {
    let mut days: Vec<Date> = Vec::new();
    if let Some(offset) = facts.offset {
        let span = offset.months.months().days(offset.days);
        days.push(today.checked_add(span).map_err(|_| Trouble::Past)?);
    }
    days.extend(facts.day.map(|shift| today.saturating_add(i64::from(shift).days())));
    days.extend(facts.day_after.map(|(set, after)| {
        weekday_date(set, None, today).saturating_add(i64::from(after).days())
    }));
    for (year, month, day) in &facts.dates {
        let year = year.or(facts.next_year.map(|shift| today.year() + i16::from(shift)));
        days.push(dated(year, *month, *day, today)?);
    }
    if !facts.nth.is_empty() {
        days.push(nth(facts, today)?);
    }
    days.extend(facts.month_edge.map(|ordinal| month_edge(facts, ordinal, today)));
    for day in &facts.month_days {
        days.push(month_day_of(facts, *day, today)?);
    }
    let has_month_only =
        !facts.months.is_empty() && facts.month_days.is_empty() && facts.nth.is_empty();
    let has_period_only =
        (facts.next_month.is_some() || facts.next_year.is_some()) && days.is_empty();
    if has_month_only || has_period_only {
        return Err(Trouble::WhichDays);
    }
    by_weekday(facts, days, today)
}

/// Checks weekdays against the dates, or lets them name the day.
fn by_weekday(facts: &Facts, mut days: Vec<Date>, today: Date) -> Result<Option<Date>, Trouble> {
    for weekday in &facts.weekdays {
        if weekday.set.count_ones() != 1 {
            return Err(Trouble::SeveralTimes);
        }
        match days.first() {
            // 这周五和下周五: two days.
            Some(day)
                if weekday.week.is_some()
                    && facts.weekdays.len() > 1
                    && *day != weekday_date(weekday.set, weekday.week, today) =>
            {
                return Err(Trouble::SeveralTimes);
            }
            Some(day) if has_weekday(weekday.set, *day) => {}
            Some(day) => return Err(Trouble::Contradiction(day.strftime("%A %F").to_string())),
            None => days.push(weekday_date(weekday.set, weekday.week.or(facts.week), today)),
        }
    }
    if facts.week.is_some() && facts.weekdays.is_empty() {
        return Err(Trouble::WhichDays);
    }
    match days.first() {
        Some(first) if days.iter().all(|day| day == first) => Ok(Some(*first)),
        Some(_) => Err(Trouble::SeveralTimes),
        None => Ok(None),
    }
}

/// Returns the coming weekday, or that of the week `week` weeks from this.
fn weekday_date(set: u8, week: Option<i8>, today: Date) -> Date {
    let index = i64::from(set.trailing_zeros());
    let this_week = monday_of(today).saturating_add(index.days());
    match week {
        Some(weeks @ 1..) => this_week.saturating_add((7 * i64::from(weeks)).days()),
        _ if this_week < today => this_week.saturating_add(7.days()),
        _ => this_week,
    }
}

fn dated(year: Option<i16>, month: i8, day: i8, today: Date) -> Result<Date, Trouble> {
    let wrong = || Trouble::NoSuchDate(format!("{month}/{day}"));
    if let Some(year) = year {
        return Date::new(year, month, day).map_err(|_| wrong());
    }
    // A leap day may be years ahead.
    (0..9)
        .filter_map(|ahead| Date::new(today.year() + ahead, month, day).ok())
        .find(|date| *date >= today)
        .ok_or_else(wrong)
}

fn month_day_of(facts: &Facts, day: i8, today: Date) -> Result<Date, Trouble> {
    match (facts.next_month, facts.months.first()) {
        (Some(shift), _) => month_day(day, today, Some(shift)),
        (None, Some(month)) => {
            dated(facts.next_year.map(|shift| today.year() + i16::from(shift)), *month, day, today)
        }
        (None, None) => month_day(day, today, None),
    }
}

/// Returns the coming day of a month, or that of the month `shift` months from this.
fn month_day(day: i8, from: Date, shift: Option<i8>) -> Result<Date, Trouble> {
    let wrong = || Trouble::NoSuchDate(day.to_string());
    let first = from.first_of_month();
    let in_month = |months: i8| {
        let month = first.saturating_add(i64::from(months).months());
        Date::new(month.year(), month.month(), day).ok()
    };
    match shift {
        Some(shift) => in_month(shift).ok_or_else(wrong),
        None => (0..12).filter_map(in_month).find(|date| *date >= from).ok_or_else(wrong),
    }
}

/// Returns the coming last or first day of a month, or that of the month that the phrase names.
fn month_edge(facts: &Facts, ordinal: i8, today: Date) -> Date {
    let shift = match (facts.next_month, ordinal) {
        (Some(shift), _) => i64::from(shift),
        (None, 1) if today.day() > 1 => 1,
        (None, _) => 0,
    };
    let month = today.first_of_month().saturating_add(shift.months());
    if ordinal < 0 { month.last_of_month() } else { month }
}

/// Returns the nth weekday of a named month.
fn nth(facts: &Facts, today: Date) -> Result<Date, Trouble> {
    let [(ordinal, set)] = facts.nth[..] else { return Err(Trouble::SeveralTimes) };
    let month = match (facts.next_month, facts.months.first()) {
        (Some(shift), _) => {
            Some(today.first_of_month().saturating_add(i64::from(shift).months()).month())
        }
        (None, month) => month.copied(),
    };
    let month = month.ok_or(Trouble::WhichDays)?;
    let pattern = super::day_patterns::nth_pattern(&[(ordinal, set)], vec![month])?;
    let from = if facts.next_month == Some(1) { today.last_of_month() } else { today };
    pattern.first_from(from).ok_or(Trouble::NoSuchDate(ordinal.to_string()))
}
