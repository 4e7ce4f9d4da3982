//! Recurrence rules and the moments at which they run.

use std::collections::BTreeSet;

use jiff::civil::{Date, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Span, Timestamp, ToSpan, Zoned};

use serde::{Deserialize, Serialize};

use super::cron_text;

/// Days that a search for the next run looks ahead: a Friday the 13th in one month, or 29 February of every fourth year.
const MAX_DAYS_AHEAD: usize = 366 * 41;

/// Minute of midnight at the end of a day; it belongs to the day before.
pub(super) const END_OF_DAY: u16 = 24 * 60;

/// All seven weekdays, Monday in the lowest bit.
pub(super) const ALL_WEEKDAYS: u8 = 0b111_1111;
/// Monday to Friday.
pub(super) const WORKDAYS: u8 = 0b001_1111;
/// Saturday and Sunday.
pub(super) const WEEKEND: u8 = 0b110_0000;

/// RecurrenceRule by which something recurs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RecurrenceRule {
    /// Times of day on chosen days.
    Calendar(CalendarRule),
    /// Seconds between runs, counted from a moment.
    Interval {
        /// Moment from which the seconds count; it is no run itself.
        from: Timestamp,
        /// Seconds from one run to the next.
        seconds: i64,
    },
    /// Five-field cron on the wall clock of the user.
    Cron(String),
}

/// Times of day on chosen days, on the wall clock of one zone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CalendarRule {
    /// Days, each with its own times.
    pub(crate) slots: Vec<TimeSlot>,
    /// Zone of the wall clock.
    #[serde(with = "jiff::fmt::serde::tz::required")]
    pub(crate) zone: TimeZone,
    /// First day.
    pub(crate) start: Option<Date>,
    /// Last day.
    pub(crate) until: Option<Date>,
    /// Last moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) end: Option<Timestamp>,
}

/// Times on the days of one pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TimeSlot {
    /// Days.
    pub(crate) days: DayPattern,
    /// Minutes of the day, sorted; 1440 is midnight at the end of the day.
    pub(crate) minutes: Vec<u16>,
}

/// Days that meet all conditions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DayPattern {
    /// Bits of weekdays, Monday lowest.
    pub(crate) weekdays: u8,
    /// Days of the month; negative ones count from its end. Empty for any.
    pub(crate) month_days: Vec<i8>,
    /// Months; empty for any.
    pub(crate) months: Vec<i8>,
    /// Ordinals of the `weekdays` in the month: 1 is the first, -1 the last. Empty for any.
    pub(crate) ordinals: Vec<i8>,
    /// Month and day pairs; empty for any.
    pub(crate) dates: Vec<(i8, i8)>,
    /// CyclePeriod of which only each nth counts.
    pub(crate) cycle: Option<RuleCycle>,
}

/// Each nth day, week, month or year, counted from an anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RuleCycle {
    /// Periods from one to the next.
    pub(crate) every: u32,
    /// Length of a period.
    pub(crate) period: CyclePeriod,
    /// A day of the first period.
    pub(crate) anchor: Date,
}

/// Length of a calendar period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CyclePeriod {
    /// One day.
    Day,
    /// Monday to Sunday.
    Week,
    /// A calendar month.
    Month,
    /// A calendar year.
    Year,
}

impl RecurrenceRule {
    /// Returns the first `count` runs after `now`, in the zone of `now`.
    pub(crate) fn next_runs(&self, now: &Zoned, count: usize) -> Vec<Zoned> {
        match self {
            Self::Interval { from, seconds } => interval_runs(*from, *seconds, now, count),
            Self::Cron(cron) => cron_runs(cron, now, count),
            Self::Calendar(rule) => match rule.cron(now.time_zone()) {
                Some(cron) => cron_runs(&cron, now, count),
                None => rule.runs(now, count),
            },
        }
    }

    /// Returns the rule as a line of five-field cron on the wall clock of `zone`, if there is one.
    pub(crate) fn cron(&self, zone: &TimeZone) -> Option<String> {
        match self {
            Self::Interval { .. } => None,
            Self::Cron(cron) => Some(cron.clone()),
            Self::Calendar(rule) => rule.cron(zone),
        }
    }
}

fn interval_runs(from: Timestamp, seconds: i64, now: &Zoned, count: usize) -> Vec<Zoned> {
    let passed = (now.timestamp().as_second() - from.as_second()).max(0) / seconds;
    let moment = |n: i64| from.checked_add(((passed + n) * seconds).seconds()).ok();
    let after_now = |at: &Timestamp| *at > now.timestamp();
    let moments = (0..).map_while(moment).filter(after_now).take(count);
    moments.map(|at| at.to_zoned(now.time_zone().clone())).collect()
}

/// Returns the runs of a cron line on the wall clock of `now`.
fn cron_runs(cron: &str, now: &Zoned, count: usize) -> Vec<Zoned> {
    let Ok(cron) = cron.parse::<croner::Cron>() else { return Vec::new() };
    cron.iter_after(now.clone()).take(count).collect()
}

impl CalendarRule {
    fn cron(&self, zone: &TimeZone) -> Option<String> {
        let [slot] = &self.slots[..] else { return None };
        let is_open = self.start.is_none() && self.until.is_none() && self.end.is_none();
        if is_open && self.zone == *zone { cron_text::cron_line(slot) } else { None }
    }

    /// Returns the runs after `now` without the help of cron.
    pub(super) fn runs(&self, now: &Zoned, count: usize) -> Vec<Zoned> {
        let today = now.with_time_zone(self.zone.clone()).date();
        // Midnight at the end of yesterday is a run of today.
        let first = self.start.unwrap_or(today).max(today).yesterday().unwrap_or(today);
        let mut runs: BTreeSet<Timestamp> = BTreeSet::new();
        for day in first.series(1.day()).take(MAX_DAYS_AHEAD) {
            let is_over = self.end.is_some_and(|end| {
                moment(day, 0, &self.zone).is_some_and(|midnight| midnight > end)
            });
            if is_over || self.until.is_some_and(|until| day > until) || runs.len() > count {
                break;
            }
            if self.start.is_none_or(|start| day >= start) {
                let is_between =
                    |at: &Timestamp| *at > now.timestamp() && self.end.is_none_or(|end| *at <= end);
                runs.extend(self.moments_of(day).filter(is_between));
            }
        }
        let in_zone = |at: Timestamp| at.to_zoned(now.time_zone().clone());
        runs.into_iter().take(count).map(in_zone).collect()
    }

    fn moments_of(&self, day: Date) -> impl Iterator<Item = Timestamp> {
        let slots = self.slots.iter().filter(move |slot| slot.days.contains(day));
        slots.flat_map(|slot| &slot.minutes).filter_map(move |m| moment(day, *m, &self.zone))
    }
}

/// Returns the moment of a wall clock time: the first of two, or the first after a gap that swallows it.
pub(super) fn moment(day: Date, minute: u16, zone: &TimeZone) -> Option<Timestamp> {
    let (day, minute) =
        if minute >= END_OF_DAY { (day.tomorrow().ok()?, 0) } else { (day, minute) };
    let time = Time::new((minute / 60) as i8, (minute % 60) as i8, 0, 0).ok()?;
    let at = zone.to_ambiguous_timestamp(day.to_datetime(time));
    match at.offset() {
        AmbiguousOffset::Gap { .. } => {
            let inside = at.later().ok()?;
            let before = at.earlier().ok()?;
            zone.following(before.min(inside)).next().map(|change| change.timestamp())
        }
        _ => at.earlier().ok(),
    }
}

impl Default for DayPattern {
    fn default() -> Self {
        Self {
            weekdays: ALL_WEEKDAYS,
            month_days: Vec::new(),
            months: Vec::new(),
            ordinals: Vec::new(),
            dates: Vec::new(),
            cycle: None,
        }
    }
}

impl DayPattern {
    /// Returns `true` if `day` meets all conditions.
    pub(crate) fn contains(&self, day: Date) -> bool {
        let from_end = day.day() - day.days_in_month() - 1;
        let is_in = |list: &[i8], value: i8| list.is_empty() || list.contains(&value);
        has_weekday(self.weekdays, day)
            && is_in(&self.months, day.month())
            && (is_in(&self.month_days, day.day()) || self.month_days.contains(&from_end))
            && (self.dates.is_empty() || self.dates.contains(&(day.month(), day.day())))
            && (self.ordinals.is_empty() || self.is_nth(day))
            && self.cycle.is_none_or(|cycle| cycle.contains(day))
    }

    /// Returns the first day from `from` on that meets all conditions.
    pub(super) fn first_from(&self, from: Date) -> Option<Date> {
        from.series(1.day()).take(MAX_DAYS_AHEAD).find(|day| self.contains(*day))
    }

    fn is_nth(&self, day: Date) -> bool {
        let count = |days: std::ops::RangeInclusive<i8>| {
            days.filter_map(|d| Date::new(day.year(), day.month(), d).ok())
                .filter(|d| has_weekday(self.weekdays, *d))
                .count() as i8
        };
        self.ordinals.contains(&count(1..=day.day()))
            || self.ordinals.contains(&-count(day.day()..=day.days_in_month()))
    }
}

impl RuleCycle {
    fn contains(self, day: Date) -> bool {
        let distance = match self.period {
            CyclePeriod::Day => days_between(self.anchor, day),
            CyclePeriod::Week => days_between(monday_of(self.anchor), monday_of(day)) / 7,
            CyclePeriod::Month => months_of(day) - months_of(self.anchor),
            CyclePeriod::Year => i32::from(day.year()) - i32::from(self.anchor.year()),
        };
        distance >= 0 && distance % self.every as i32 == 0
    }
}

fn days_between(from: Date, to: Date) -> i32 {
    from.until(to).map_or(0, |span: Span| span.get_days())
}

fn months_of(day: Date) -> i32 {
    i32::from(day.year()) * 12 + i32::from(day.month())
}

/// Returns the Monday of the week of `day`.
pub(super) fn monday_of(day: Date) -> Date {
    day.saturating_sub(i64::from(day.weekday().to_monday_zero_offset()).days())
}

/// Returns `true` if the weekday of `day` is in `set`.
pub(super) fn has_weekday(set: u8, day: Date) -> bool {
    set >> day.weekday().to_monday_zero_offset() & 1 == 1
}
