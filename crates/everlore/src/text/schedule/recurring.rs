//! Puts the parts of a recurring phrase together.

use jiff::ToSpan;
use jiff::Zoned;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::day_patterns::pattern;
use super::facts::{Facts, WeekdayFact};
use super::rule::{
    ALL_WEEKDAYS, CalendarRule, DayPattern, END_OF_DAY, RecurrenceRule, RuleCycle, TimeSlot, moment,
};
use super::times::{ResolvedTime, Times};
use super::trouble::Trouble;
use super::word::Unit;

const DEFAULT_MINUTE: u16 = 9 * 60;
const MINUTES_PER_DAY: u32 = 24 * 60;

/// Returns the rule of a phrase that recurs.
pub(super) fn rule_of(
    facts: &Facts,
    times: &Times,
    zone: TimeZone,
    now: &Zoned,
) -> Result<RecurrenceRule, Trouble> {
    let has_single_day = facts.day.is_some()
        || facts.week.is_some()
        || facts.next_month.is_some()
        || facts.next_year.is_some()
        || facts.offset.is_some()
        || facts.month_edge.is_some()
        || facts.day_after.is_some()
        || facts.weekdays.iter().any(|w| w.week.is_some())
        || facts.dates.iter().any(|d| d.0.is_some());
    if has_single_day {
        return Err(Trouble::SeveralTimes);
    }
    if let Some(seconds) = free_interval(facts, times)? {
        return Ok(RecurrenceRule::Interval { from: now.timestamp(), seconds });
    }
    let facts = &with_days_of_start(facts);
    let mut slots = Vec::new();
    check_overnight(facts, times)?;
    for (weekdays, single) in groups(facts, times) {
        let minutes = minutes_of(facts, &single, times.window)?;
        check_midnight(facts, weekdays, &single)?;
        check_frequency(facts, weekdays, &minutes)?;
        slots.push(TimeSlot { days: pattern(facts, weekdays)?, minutes });
    }
    let slots = slots.into_iter().flat_map(split_midnight).collect();
    let mut rule = CalendarRule { slots, zone, start: facts.start, until: facts.until, end: None };
    bound(&mut rule, facts, now)?;
    anchor(&mut rule, now)?;
    rule.runs(now, 1).first().ok_or(Trouble::NoSuchDate(date_text(facts)))?;
    Ok(RecurrenceRule::Calendar(rule))
}

/// Returns the facts with the days that only the start names: "every 2 weeks starting this Friday".
fn with_days_of_start(facts: &Facts) -> Facts {
    let mut facts = facts.clone();
    let has_days = !facts.weekdays.is_empty()
        || !facts.month_days.is_empty()
        || !facts.dates.is_empty()
        || !facts.nth.is_empty();
    let (Some(start), false, &[(_, unit)]) = (facts.start, has_days, &facts.every[..]) else {
        return facts;
    };
    match unit {
        Unit::Week => {
            let set = 1 << start.weekday().to_monday_zero_offset();
            facts.weekdays.push(WeekdayFact { set, week: None, first: 0 });
        }
        Unit::Month => facts.month_days.push(start.day()),
        Unit::Year => facts.dates.push((None, start.month(), start.day())),
        _ => {}
    }
    facts
}

/// Ends a rule after its span: "for 5 days" has five days with runs, today among them if its first run is still to come.
fn bound(rule: &mut CalendarRule, facts: &Facts, now: &Zoned) -> Result<(), Trouble> {
    if let Some(seconds) = facts.span_seconds {
        rule.end = now.timestamp().checked_add(seconds.seconds()).ok();
    }
    let Some((days, months)) = facts.span else { return Ok(()) };
    if rule.until.is_some() {
        return Err(Trouble::SeveralTimes);
    }
    let today = now.with_time_zone(rule.zone.clone()).date();
    let first = rule.slots.iter().flat_map(|slot| &slot.minutes).min().copied().unwrap_or(0);
    let has_passed = moment(today, first, &rule.zone).is_some_and(|at| at <= now.timestamp());
    let tomorrow = today.saturating_add(1.day());
    let from = rule.start.unwrap_or(if has_passed { tomorrow } else { today });
    let end = from.checked_add(months.months().days(days)).map_err(|_| Trouble::Past)?;
    rule.until = Some(end.saturating_sub(1.day()));
    Ok(())
}

fn date_text(facts: &Facts) -> String {
    let dates = facts.dates.iter().map(|date| format!("{}/{}", date.1, date.2));
    let days = facts.month_days.iter().map(i8::to_string);
    dates.chain(days).collect::<Vec<_>>().join(", ")
}

/// Returns the interval of minutes or hours, if the phrase has one.
pub(super) fn interval_minutes(facts: &Facts) -> Option<u32> {
    let of_unit = |unit, minutes| facts.every.iter().find(|e| e.1 == unit).map(|e| e.0 * minutes);
    facts.every_minutes.or_else(|| of_unit(Unit::Minute, 1)).or_else(|| of_unit(Unit::Hour, 60))
}

/// Returns the seconds of an interval that no wall clock holds: it counts from now.
fn free_interval(facts: &Facts, times: &Times) -> Result<Option<i64>, Trouble> {
    if let Some((seconds, _)) = facts.every.iter().find(|e| e.1 == Unit::Second) {
        let is_pure = facts.every.len() == 1
            && times.single.is_empty()
            && facts.span_seconds.is_none()
            && facts.span.is_none();
        return if is_pure && *seconds > 0 {
            Ok(Some(i64::from(*seconds)))
        } else {
            Err(Trouble::WhichTimes)
        };
    }
    let Some(minutes) = interval_minutes(facts) else { return Ok(None) };
    if minutes == 0 {
        return Err(Trouble::NoSuchTime("0".to_owned()));
    }
    let is_hours = facts.every.iter().any(|e| e.1 == Unit::Hour);
    let is_regular = if is_hours {
        MINUTES_PER_DAY.is_multiple_of(minutes)
    } else {
        60u32.is_multiple_of(minutes)
    };
    // A length in minutes that an hour does not hold counts from its start: every 90 minutes starting at 8.
    let is_phased = facts.starts_at_time && MINUTES_PER_DAY.is_multiple_of(minutes);
    if is_regular || is_phased || times.window.is_some() {
        return Ok(None);
    }
    let is_pure = facts.weekdays.is_empty()
        && facts.months.is_empty()
        && facts.except == 0
        && times.single.is_empty()
        && facts.start.is_none()
        && facts.month_days.is_empty()
        && facts.dates.is_empty()
        && facts.nth.is_empty()
        && facts.past_hour.is_none()
        && facts.span_seconds.is_none()
        && facts.span.is_none()
        && facts.until.is_none();
    if is_pure { Ok(Some(i64::from(minutes) * 60)) } else { Err(Trouble::WhichTimes) }
}

/// Returns weekdays with their own times: one group, or several for 周一九点、周四三点.
fn groups(facts: &Facts, times: &Times) -> Vec<(u8, Vec<ResolvedTime>)> {
    let all = facts.weekdays.iter().fold(0, |set, w| set | w.set);
    let one = vec![(all, times.single.clone())];
    let mut marks: Vec<(usize, Option<u8>, Option<ResolvedTime>)> =
        facts.weekdays.iter().map(|w| (w.first, Some(w.set), None)).collect();
    marks.extend(times.single.iter().map(|time| (time.first, None, Some(*time))));
    marks.sort_by_key(|mark| mark.0);
    let days_first = marks.first().is_some_and(|mark| mark.1.is_some());
    let mut groups: Vec<(u8, Vec<ResolvedTime>)> = Vec::new();
    let mut previous_is_day = !days_first;
    for (_, set, time) in marks {
        let begins =
            groups.is_empty() || set.is_some() == days_first && previous_is_day != days_first;
        if begins {
            groups.push((0, Vec::new()));
        }
        if let Some(group) = groups.last_mut() {
            group.0 |= set.unwrap_or(0);
            group.1.extend(time);
        }
        previous_is_day = set.is_some();
    }
    let is_paired =
        groups.len() > 1 && groups.iter().all(|group| group.0 != 0 && !group.1.is_empty());
    if is_paired { groups } else { one }
}

/// Returns the minutes of the day.
fn minutes_of(
    facts: &Facts,
    single: &[ResolvedTime],
    window: Option<(u16, u16)>,
) -> Result<Vec<u16>, Trouble> {
    let interval = interval_minutes(facts).or(facts.past_hour.map(|_| 60));
    let Some(step) = interval else {
        if window.is_some() {
            return Err(Trouble::WhichTimes);
        }
        let mut minutes: Vec<u16> = single.iter().map(|time| time.minute).collect();
        if minutes.is_empty() {
            minutes.push(DEFAULT_MINUTE);
        }
        minutes.sort_unstable();
        minutes.dedup();
        return Ok(minutes);
    };
    if let ([start], true, None) = (single, facts.starts_at_time, window)
        && facts.past_hour.is_none()
        && facts.start.is_none()
        && MINUTES_PER_DAY.is_multiple_of(step)
    {
        let first = u32::from(start.minute) % step;
        return Ok((first..MINUTES_PER_DAY).step_by(step as usize).map(|m| m as u16).collect());
    }
    if !single.is_empty() {
        return Err(Trouble::SeveralTimes);
    }
    let past = facts.past_hour.unwrap_or(0);
    if past > 59 {
        return Err(Trouble::NoSuchTime(past.to_string()));
    }
    let (from, to) =
        window.map_or((0, MINUTES_PER_DAY - 1), |(from, to)| (u32::from(from), u32::from(to)));
    let is_overnight = to < from;
    let last = if is_overnight { to + MINUTES_PER_DAY } else { to };
    let runs = (from + past..=last).step_by(step as usize).map(|m| (m % MINUTES_PER_DAY) as u16);
    let mut minutes: Vec<u16> = runs.collect();
    minutes.sort_unstable();
    minutes.dedup();
    Ok(minutes)
}

/// Rejects nights of chosen days: whose morning would be another day's.
fn check_overnight(facts: &Facts, times: &Times) -> Result<(), Trouble> {
    let is_overnight = times.window.is_some_and(|(from, to)| to < from);
    let is_daily = facts.weekdays.is_empty()
        && facts.except == 0
        && facts.nth.is_empty()
        && facts.month_days.is_empty()
        && facts.dates.is_empty();
    if is_overnight && !is_daily { Err(Trouble::SeveralTimes) } else { Ok(()) }
}

/// Rejects "every Friday at midnight", which may begin or end the Friday, and "Friday night at 2am".
fn check_midnight(facts: &Facts, weekdays: u8, single: &[ResolvedTime]) -> Result<(), Trouble> {
    let is_some_days = !matches!(weekdays, 0 | ALL_WEEKDAYS)
        || facts.except != 0
        || facts.nth.iter().any(|n| n.1 != 0);
    let is_open = single.iter().any(|time| time.is_midnight && time.minute == 0);
    if is_some_days && single.iter().any(|time| time.is_late) {
        return Err(Trouble::WhichNight);
    }
    if is_some_days && is_open { Err(Trouble::WhichMidnight) } else { Ok(()) }
}

/// Checks "twice a day" against the times that follow.
fn check_frequency(facts: &Facts, weekdays: u8, minutes: &[u16]) -> Result<(), Trouble> {
    let Some((times, unit)) = facts.frequency else { return Ok(()) };
    let unit = unit
        .or_else(|| facts.every.iter().map(|e| e.1).find(|u| *u != Unit::Hour))
        .unwrap_or(Unit::Day);
    let (found, trouble) = match unit {
        Unit::Day => (minutes.len(), Trouble::WhichTimes),
        Unit::Week => (weekdays.count_ones() as usize, Trouble::WhichDays),
        Unit::Month => (facts.month_days.len() + facts.nth.len(), Trouble::WhichDays),
        Unit::Year => (facts.dates.len(), Trouble::WhichDays),
        _ => return Err(Trouble::WhichTimes),
    };
    if found == times as usize { Ok(()) } else { Err(trouble) }
}

/// Moves midnight at the end of a day to the next day, where its days allow.
fn split_midnight(slot: TimeSlot) -> Vec<TimeSlot> {
    if !slot.minutes.contains(&END_OF_DAY) {
        return vec![slot];
    }
    let days = DayPattern { weekdays: ALL_WEEKDAYS, ..slot.days.clone() };
    if days != DayPattern::default() {
        return vec![slot];
    }
    let set = slot.days.weekdays;
    let next = (set << 1 | set >> 6) & ALL_WEEKDAYS;
    let mut rest: Vec<u16> = slot.minutes.iter().copied().filter(|m| *m != END_OF_DAY).collect();
    if next == set {
        rest.insert(0, 0);
        rest.dedup();
        return vec![TimeSlot { minutes: rest, ..slot }];
    }
    let shifted =
        TimeSlot { days: DayPattern { weekdays: next, ..slot.days.clone() }, minutes: vec![0] };
    let same = TimeSlot { minutes: rest, ..slot };
    if same.minutes.is_empty() { vec![shifted] } else { vec![same, shifted] }
}

/// Anchors cycles at the first day that has a run after now.
fn anchor(rule: &mut CalendarRule, now: &Zoned) -> Result<(), Trouble> {
    let Some(RuleCycle { every, period, .. }) = rule.slots.iter().find_map(|slot| slot.days.cycle)
    else {
        return Ok(());
    };
    for slot in &mut rule.slots {
        slot.days.cycle = None;
    }
    let today = now.with_time_zone(rule.zone.clone()).date();
    let first = rule.start.unwrap_or(today).max(today);
    let runs = |day: &Date| {
        rule.slots
            .iter()
            .filter(|slot| slot.days.contains(*day))
            .flat_map(|slot| &slot.minutes)
            .any(|minute| moment(*day, *minute, &rule.zone).is_some_and(|at| at > now.timestamp()))
    };
    let anchor =
        first.series(1.day()).take(366 * 9).find(runs).ok_or(Trouble::NoSuchDate(String::new()))?;
    for slot in &mut rule.slots {
        slot.days.cycle = Some(RuleCycle { every, period, anchor });
    }
    Ok(())
}
