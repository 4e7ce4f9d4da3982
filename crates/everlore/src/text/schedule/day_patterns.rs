//! Days on which a recurring phrase runs.

use jiff::civil::Date;

use super::facts::Facts;
use super::recurring::interval_minutes;
use super::rule::{ALL_WEEKDAYS, CyclePeriod, DayPattern, RuleCycle};
use super::trouble::Trouble;
use super::word::Unit;

/// Returns the periods of days and longer that a phrase counts, without those that say nothing more.
fn counted_periods(facts: &Facts, weekdays: u8) -> Vec<(u32, Unit)> {
    let is_of_days = |e: &&(u32, Unit)| !matches!(e.1, Unit::Hour | Unit::Minute | Unit::Second);
    let mut every: Vec<(u32, Unit)> = facts.every.iter().filter(is_of_days).copied().collect();
    every.extend(facts.frequency.and_then(|f| f.1).map(|unit| (1, unit)));
    every.dedup();
    let (day, year) = ((1, Unit::Day), (1, Unit::Year));
    // "each July and August, every day": the year says nothing more.
    if !facts.months.is_empty() && every.contains(&year) && every.contains(&day) {
        every.retain(|e| *e != year);
    }
    let has_sub_day = interval_minutes(facts).is_some() || facts.past_hour.is_some();
    if every.len() > 1 || has_sub_day || weekdays.count_ones() > 1 {
        every.retain(|e| *e != day);
    }
    // "each week ... every other Monday": the sparser one holds.
    if let Some(sparse) = every.iter().copied().find(|e| e.0 > 1) {
        every.retain(|e| *e == sparse || e.1 != sparse.1);
    }
    every.dedup();
    every
}

/// Returns the days of the phrase.
pub(super) fn pattern(facts: &Facts, weekdays: u8) -> Result<DayPattern, Trouble> {
    let every = counted_periods(facts, weekdays);
    let pattern = match every[..] {
        [] => unspecified(facts, weekdays)?,
        [(count, unit)] => by_period(facts, weekdays, count, unit)?,
        [(1, Unit::Month), (1, Unit::Year)] | [(1, Unit::Year), (1, Unit::Month)]
            if !facts.nth.is_empty() && !facts.months.is_empty() =>
        {
            by_period(facts, weekdays, 1, Unit::Year)?
        }
        _ => return Err(Trouble::SeveralTimes),
    };
    let weekdays = pattern.weekdays & !facts.except;
    let is_changed = facts.except != 0 && weekdays == pattern.weekdays;
    if weekdays == 0 || is_changed {
        return Err(Trouble::WhichDays);
    }
    Ok(DayPattern { weekdays, ..pattern })
}

/// Returns the days of a phrase without "every" and a period.
fn unspecified(facts: &Facts, weekdays: u8) -> Result<DayPattern, Trouble> {
    if !facts.nth.is_empty() || !facts.dates.is_empty() {
        return Err(Trouble::WhichDays);
    }
    let base = DayPattern { months: facts.months.clone(), ..DayPattern::default() };
    // 每晚 and a day of the month: one of them is not about the schedule.
    if !facts.month_days.is_empty() && (weekdays.count_ones() > 1 || facts.is_daily) {
        return Err(Trouble::SeveralTimes);
    }
    let weekdays = if weekdays == 0 { ALL_WEEKDAYS } else { weekdays };
    Ok(DayPattern { weekdays, month_days: days_of_month(facts)?, ..base })
}

fn days_of_month(facts: &Facts) -> Result<Vec<i8>, Trouble> {
    let wrong = facts.month_days.iter().find(|day| !(1..=31).contains(*day));
    match wrong {
        Some(day) => Err(Trouble::NoSuchDate(day.to_string())),
        None => Ok(facts.month_days.clone()),
    }
}

fn by_period(facts: &Facts, weekdays: u8, count: u32, unit: Unit) -> Result<DayPattern, Trouble> {
    if count == 0 {
        return Err(Trouble::NoSuchTime("0".to_owned()));
    }
    let has_dates =
        !facts.month_days.is_empty() || !facts.dates.is_empty() || !facts.nth.is_empty();
    let months = facts.months.clone();
    match unit {
        Unit::Day if has_dates || weekdays != 0 => Err(Trouble::SeveralTimes),
        Unit::Day => Ok(DayPattern {
            cycle: cycle(count, CyclePeriod::Day),
            months,
            ..DayPattern::default()
        }),
        Unit::Week if has_dates => Err(Trouble::SeveralTimes),
        Unit::Week if weekdays == 0 => Err(Trouble::WhichDays),
        Unit::Week => Ok(DayPattern {
            weekdays,
            months,
            cycle: cycle(count, CyclePeriod::Week),
            ..DayPattern::default()
        }),
        Unit::Month => monthly(facts, weekdays, count),
        Unit::Quarter => quarterly(facts, weekdays, count),
        Unit::Year => yearly(facts, weekdays, count),
        _ => Err(Trouble::WhichDays),
    }
}

/// Returns a cycle whose anchor [`anchor`] sets.
fn cycle(every: u32, period: CyclePeriod) -> Option<RuleCycle> {
    (every > 1).then_some(RuleCycle { every, period, anchor: Date::ZERO })
}

fn monthly(facts: &Facts, weekdays: u8, count: u32) -> Result<DayPattern, Trouble> {
    // 每月15号和最后一天: both are days of the month.
    let are_days = weekdays == 0
        && !facts.month_days.is_empty()
        && facts.nth.iter().all(|(ordinal, set)| *set == 0 && (-31..=31).contains(ordinal));
    let base = if facts.nth.is_empty() || are_days {
        if facts.month_days.is_empty() {
            return Err(Trouble::WhichDays);
        }
        let weekdays = if weekdays == 0 { ALL_WEEKDAYS } else { weekdays };
        let mut month_days = days_of_month(facts)?;
        month_days.extend(facts.nth.iter().map(|nth| nth.0).filter(|ordinal| *ordinal != 0));
        DayPattern { weekdays, month_days, months: facts.months.clone(), ..DayPattern::default() }
    } else {
        if weekdays != 0 || !facts.month_days.is_empty() {
            return Err(Trouble::SeveralTimes);
        }
        nth_pattern(&facts.nth, facts.months.clone())?
    };
    if !facts.dates.is_empty() {
        return Err(Trouble::SeveralTimes);
    }
    Ok(DayPattern { cycle: cycle(count, CyclePeriod::Month), ..base })
}

/// Returns the days of first Mondays, last days and the like.
pub(super) fn nth_pattern(nth: &[(i8, u8)], months: Vec<i8>) -> Result<DayPattern, Trouble> {
    let set = nth.first().map_or(0, |n| n.1);
    if nth.iter().any(|n| n.1 != set) {
        return Err(Trouble::SeveralTimes);
    }
    let ordinals: Vec<i8> = nth.iter().map(|n| n.0).collect();
    let most = if set == 0 {
        31
    } else if set.count_ones() == 1 {
        5
    } else {
        23
    };
    if let Some(wrong) = ordinals.iter().find(|n| !(-most..=most).contains(*n) || **n == 0) {
        return Err(Trouble::NoSuchDate(wrong.to_string()));
    }
    Ok(if set == 0 {
        DayPattern { month_days: ordinals, months, ..DayPattern::default() }
    } else {
        DayPattern { weekdays: set, ordinals, months, ..DayPattern::default() }
    })
}

/// Returns the days of each quarter: its first, unless the phrase names another.
fn quarterly(facts: &Facts, weekdays: u8, count: u32) -> Result<DayPattern, Trouble> {
    if count > 1 || weekdays != 0 || !facts.dates.is_empty() || !facts.months.is_empty() {
        return Err(Trouble::SeveralTimes);
    }
    let firsts = vec![1, 4, 7, 10];
    let lasts = vec![3, 6, 9, 12];
    if facts.nth.is_empty() {
        let days = days_of_month(facts)?;
        let month_days = if days.is_empty() { vec![1] } else { days };
        return Ok(DayPattern { month_days, months: firsts, ..DayPattern::default() });
    }
    let is_last = facts.nth.iter().all(|n| n.0 < 0);
    nth_pattern(&facts.nth, if is_last { lasts } else { firsts })
}

fn yearly(facts: &Facts, weekdays: u8, count: u32) -> Result<DayPattern, Trouble> {
    let cycle = cycle(count, CyclePeriod::Year);
    let has_other_months = !facts.dates.is_empty() && !facts.months.is_empty();
    if weekdays != 0 && facts.nth.is_empty() || has_other_months {
        return Err(Trouble::SeveralTimes);
    }
    if !facts.dates.is_empty() {
        let dates: Vec<(i8, i8)> = facts.dates.iter().map(|date| (date.1, date.2)).collect();
        let wrong = dates.iter().find(|date| Date::new(2024, date.0, date.1).is_err());
        return match wrong {
            Some((month, day)) => Err(Trouble::NoSuchDate(format!("{month}/{day}"))),
            None => Ok(DayPattern { dates, cycle, ..DayPattern::default() }),
        };
    }
    if !facts.nth.is_empty() {
        let is_last = facts.nth.iter().all(|n| n.0 < 0);
        let months = if !facts.months.is_empty() {
            facts.months.clone()
        } else if is_last {
            vec![12]
        } else {
            vec![1]
        };
        return Ok(DayPattern { cycle, ..nth_pattern(&facts.nth, months)? });
    }
    if facts.months.is_empty() || facts.month_days.is_empty() {
        return Err(Trouble::WhichDays);
    }
    Ok(DayPattern {
        months: facts.months.clone(),
        month_days: days_of_month(facts)?,
        cycle,
        ..DayPattern::default()
    })
}
