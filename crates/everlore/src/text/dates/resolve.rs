//! Resolution of expressions to moments in time, given the present.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

use super::anchored::{days_at, feast_days};
use super::expr::{
    AnchorOffset, AnnualPeriod, CalendarDelta, DateExpr, DayPart, MonthRef, Season, TimeExpr,
    TimeUnit, WeekdayChoice, YearRef,
};
use super::holidays::holiday_dates;

/// Half-open range of time.
type TimestampRange = (Timestamp, Timestamp);

/// Returns the range that `when` means at `now`, in the zone of `now`; `None` beyond the calendar.
pub(super) fn resolve(when: TimeExpr, now: &Zoned) -> Option<TimestampRange> {
    let (start, end) = match when {
        TimeExpr::In(moment) => resolve_date(moment, now)?,
        TimeExpr::Between(first, last) => between(first, last, now)?,
        TimeExpr::Since(moment) => (resolve_date(moment, now)?.0, Timestamp::MAX),
        TimeExpr::Before(moment) => (Timestamp::MIN, resolve_date(moment, now)?.0),
        TimeExpr::After(moment) => (resolve_date(moment, now)?.1, Timestamp::MAX),
        TimeExpr::Until(moment) => (Timestamp::MIN, resolve_date(moment, now)?.1),
        TimeExpr::Earlier(moment) => {
            let (start, end) = resolve_date(moment, now)?;
            (start, end.min(now.timestamp()))
        }
        TimeExpr::Anchored(anchor, offset) => resolve_anchored(anchor, offset, now)?,
    };
    (start < end).then_some((start, end))
}

/// Returns the next occurrence of a holiday that is named without a year; `None` for all else.
pub(super) fn coming_holiday(when: TimeExpr, now: &Zoned) -> Option<TimestampRange> {
    let TimeExpr::In(DateExpr::Annual { period, year: YearRef::Recent, part }) = when else {
        return None;
    };
    let AnnualPeriod::Holiday(_) = period else { return None };
    resolve_date(DateExpr::Annual { period, year: YearRef::Coming, part }, now)
}

/// Returns the wider range that a part of a day or a number of days may mean.
pub(super) fn widen(when: TimeExpr, now: &Zoned) -> Option<TimestampRange> {
    let whole = |moment| match moment {
        DateExpr::Day { offset, .. } => Some(DateExpr::Day { offset, part: DayPart::Whole }),
        DateExpr::Weekday { weekday, which, .. } => {
            Some(DateExpr::Weekday { weekday, which, part: DayPart::Whole })
        }
        DateExpr::Offset { from, to, slack } if from == to && slack == CalendarDelta::default() => {
            Some(DateExpr::Offset { from, to, slack: CalendarDelta::days(1) })
        }
        _ => None,
    };
    match when {
        TimeExpr::In(moment) => resolve(TimeExpr::In(whole(moment)?), now),
        TimeExpr::Earlier(moment) => resolve(TimeExpr::Earlier(whole(moment)?), now),
        // People miscount days beside a holiday, too, and its last day may be its first to others.
        TimeExpr::Anchored(anchor, AnchorOffset::Days { from, to, edge, .. }) => {
            let part = DayPart::Whole;
            let wider = AnchorOffset::Days { from: from - 1, to: to + 1, edge, part };
            resolve(TimeExpr::Anchored(anchor, wider), now)
        }
        _ => None,
    }
}

fn resolve_anchored(anchor: DateExpr, offset: AnchorOffset, now: &Zoned) -> Option<TimestampRange> {
    let (first, end) = days_at(offset, anchor_days(anchor, now)?)?;
    match offset {
        AnchorOffset::Days { part, .. } if part != DayPart::Whole => {
            resolve_day_part(first, part, now.time_zone())
        }
        _ => date_range((first, end), now.time_zone()),
    }
}

/// Returns the days of an anchor: of a holiday, the feast itself.
fn anchor_days(anchor: DateExpr, now: &Zoned) -> Option<(Date, Date)> {
    match anchor {
        DateExpr::Annual { period: AnnualPeriod::Holiday(holiday), year, .. } => {
            feast_days(holiday, resolve_annual(AnnualPeriod::Holiday(holiday), year, now.date())?)
        }
        _ => {
            let (start, _) = resolve_date(whole_day(anchor), now)?;
            let first = start.to_zoned(now.time_zone().clone()).date();
            Some((first, first.tomorrow().ok()?))
        }
    }
}

/// Returns the whole day of a day with a part.
fn whole_day(moment: DateExpr) -> DateExpr {
    let part = DayPart::Whole;
    match moment {
        DateExpr::Day { offset, .. } => DateExpr::Day { offset, part },
        DateExpr::Weekday { weekday, which, .. } => DateExpr::Weekday { weekday, which, part },
        DateExpr::MonthDay { day, month, .. } => DateExpr::MonthDay { day, month, part },
        DateExpr::Annual { period, year, .. } => DateExpr::Annual { period, year, part },
        other => other,
    }
}

/// Returns the range from the start of one expression to the end of another. A year in one of them counts for both; an
/// expression without one follows, or precedes, the other.
fn between(first: DateExpr, last: DateExpr, now: &Zoned) -> Option<TimestampRange> {
    if is_floating(last) {
        let start = resolve_date(first, now)?.0;
        let then = add_delta(&start.to_zoned(now.time_zone().clone()), cycle_length(last))?;
        return Some((start, resolve_date(last, &then)?.1));
    }
    let (last_start, end) = resolve_date(last, now)?;
    let then = last_start.to_zoned(now.time_zone().clone());
    let at =
        if is_floating(first) && matches!(first, DateExpr::Annual { .. }) { &then } else { now };
    Some((resolve_date(first, at)?.0, end))
}

/// Returns `true` if the expression means "the latest", with no week, month or year of its own.
fn is_floating(moment: DateExpr) -> bool {
    match moment {
        DateExpr::Annual { year, .. } => year == YearRef::Recent,
        DateExpr::Weekday { which, .. } => which == WeekdayChoice::Past,
        DateExpr::MonthDay { month, .. } => month.is_none(),
        DateExpr::Day { .. }
        | DateExpr::WeekdayOfMonth { .. }
        | DateExpr::Period { .. }
        | DateExpr::Months { .. }
        | DateExpr::Offset { .. } => false,
    }
}

/// Returns the distance ahead to look back from, so that the latest is the first that is not earlier: one cycle less
/// one day, except that weekdays never mean the day itself.
fn cycle_length(moment: DateExpr) -> CalendarDelta {
    match moment {
        DateExpr::Annual { .. } => CalendarDelta { months: 12, days: -1, minutes: 0 },
        DateExpr::MonthDay { .. } => CalendarDelta { months: 1, days: -1, minutes: 0 },
        _ => CalendarDelta::days(7),
    }
}

fn resolve_date(moment: DateExpr, now: &Zoned) -> Option<TimestampRange> {
    let (today, zone) = (now.date(), now.time_zone());
    match moment {
        DateExpr::Day { offset, part } => resolve_day_part(plus_days(today, offset)?, part, zone),
        DateExpr::Weekday { weekday, which, part } => {
            resolve_day_part(weekday_date(weekday, which, today)?, part, zone)
        }
        DateExpr::MonthDay { day, month, part } => {
            resolve_day_part(month_date(day, month, today)?, part, zone)
        }
        DateExpr::WeekdayOfMonth { nth, weekday, month } => {
            resolve_day_part(weekday_of_month(nth, weekday, month, today)?, DayPart::Whole, zone)
        }
        DateExpr::Period { unit, offset } => date_range(resolve_period(unit, offset, today)?, zone),
        DateExpr::Annual { period, year, part } => {
            let (first, end) = resolve_annual(period, year, today)?;
            if part == DayPart::Whole {
                date_range((first, end), zone)
            } else {
                resolve_day_part(first, part, zone)
            }
        }
        DateExpr::Months { from, to } => date_range(month_range(today, from, to - from + 1)?, zone),
        DateExpr::Offset { from, to, slack } => resolve_offset(from, to, slack, now),
    }
}

fn date_range((first, end): (Date, Date), zone: &TimeZone) -> Option<TimestampRange> {
    Some((instant(first.into(), zone)?, instant(end.into(), zone)?))
}

fn instant(local: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    Some(local.to_zoned(zone.clone()).ok()?.timestamp())
}

fn resolve_day_part(date: Date, part: DayPart, zone: &TimeZone) -> Option<TimestampRange> {
    let (from, to) = day_part_hours(part);
    Some((instant(at_hour(date, from)?, zone)?, instant(at_hour(date, to)?, zone)?))
}

/// Returns the hours of a part of the day. They overlap, because people's words do; the night ends when the morning
/// begins.
fn day_part_hours(part: DayPart) -> (i8, i8) {
    match part {
        DayPart::Whole => (0, 24),
        DayPart::Dawn => (0, 6),
        // People who are still up say "this morning", too.
        DayPart::Morning => (0, 12),
        DayPart::Noon => (11, 14),
        DayPart::Afternoon => (12, 18),
        DayPart::Evening => (17, 24),
        DayPart::Night => (18, 24 + 4),
    }
}

fn at_hour(date: Date, hour: i8) -> Option<DateTime> {
    let date = plus_days(date, i32::from(hour / 24))?;
    Some(date.to_datetime(Time::new(hour % 24, 0, 0, 0).ok()?))
}

fn weekday_date(weekday: i8, which: WeekdayChoice, today: Date) -> Option<Date> {
    let current = today.weekday().to_monday_one_offset();
    let days = match which {
        WeekdayChoice::InWeek(weeks) => i32::from(weekday - current) + 7 * weeks,
        // One to seven days: never today.
        WeekdayChoice::Past => -i32::from((current - weekday - 1).rem_euclid(7) + 1),
        WeekdayChoice::Coming => i32::from((weekday - current - 1).rem_euclid(7) + 1),
    };
    plus_days(today, days)
}

/// Returns the day of a weekday counted within a month; `None` for a fifth that the month lacks.
fn weekday_of_month(nth: i8, weekday: i8, month: MonthRef, today: Date) -> Option<Date> {
    let (first, end) = match month {
        MonthRef::Relative(months) => month_range(today, months, 1)?,
        MonthRef::Named { month, year } => resolve_annual(AnnualPeriod::Month(month), year, today)?,
    };
    let days_until =
        |from: Date| i32::from((weekday - from.weekday().to_monday_one_offset()).rem_euclid(7));
    if nth < 0 {
        let last_week = plus_days(end, -7)?;
        return plus_days(last_week, days_until(last_week));
    }
    plus_days(first, days_until(first) + 7 * i32::from(nth - 1)).filter(|date| *date < end)
}

fn month_date(day: i8, month: Option<i32>, today: Date) -> Option<Date> {
    let in_month = |months| {
        let first = plus_months(today.first_of_month(), months)?;
        Date::new(first.year(), first.month(), day).ok()
    };
    match month {
        Some(months) => in_month(months),
        // Of any two months in a row, one has 31 days.
        None => [0, -1, -2].into_iter().filter_map(in_month).find(|date| *date <= today),
    }
}

/// Resolves a calendar period counted from the current one. Weeks begin on Monday.
fn resolve_period(unit: TimeUnit, offset: Option<i32>, today: Date) -> Option<(Date, Date)> {
    let from_monday = i32::from(today.weekday().to_monday_zero_offset());
    // A weekend begins on the sixth day.
    let latest = if unit == TimeUnit::Weekend && from_monday < 5 { -1 } else { 0 };
    let offset = offset.unwrap_or(latest);
    let month = i32::from(today.month());
    let monday = || plus_days(today, 7 * offset - from_monday);
    match unit {
        TimeUnit::Minute | TimeUnit::Hour | TimeUnit::Day => None,
        TimeUnit::Week => Some((monday()?, plus_days(monday()?, 7)?)),
        TimeUnit::Weekend => Some((plus_days(monday()?, 5)?, plus_days(monday()?, 7)?)),
        TimeUnit::Month => month_range(today, offset, 1),
        TimeUnit::Quarter => month_range(today, 3 * offset - (month - 1) % 3, 3),
        TimeUnit::Year => month_range(today, 12 * offset - (month - 1), 12),
    }
}

/// Returns so many whole months, beginning so many months from the current one.
fn month_range(today: Date, offset: i32, count: i32) -> Option<(Date, Date)> {
    let first = plus_months(today.first_of_month(), offset)?;
    Some((first, plus_months(first, count)?))
}

/// Most years between two leap days.
const LEAP_GAP: i32 = 8;

fn resolve_annual(period: AnnualPeriod, year: YearRef, today: Date) -> Option<(Date, Date)> {
    let current = i32::from(today.year());
    let of = |year: i32| days_in_year(period, i16::try_from(year).ok()?);
    // New Year begins in the year before; winter ends in the year after.
    let mut back = (current - LEAP_GAP..=current + 1).rev().filter_map(of);
    match year {
        YearRef::Recent => back.find(|days| days.0 <= today),
        YearRef::Ended => back.find(|days| days.1 <= today),
        YearRef::Current => {
            back.find(|days| days.0 <= today && today < days.1).or_else(|| of(current))
        }
        YearRef::Coming => {
            (current - 1..=current + LEAP_GAP).filter_map(of).find(|days| days.0 > today)
        }
        YearRef::Relative(years) => of(current + years),
        YearRef::Absolute(year) => of(i32::from(year)),
    }
}

fn days_in_year(period: AnnualPeriod, year: i16) -> Option<(Date, Date)> {
    let span = |month: i8, count: i32| month_range(Date::new(year, month, 1).ok()?, 0, count);
    match period {
        AnnualPeriod::WholeYear => span(1, 12),
        AnnualPeriod::Half(half) => span(6 * half - 5, 6),
        AnnualPeriod::Quarter(quarter) => span(3 * quarter - 2, 3),
        AnnualPeriod::Season(season) => span(first_month(season), 3),
        AnnualPeriod::Month(month) => span(month, 1),
        AnnualPeriod::Date { month, day } => {
            let date = Date::new(year, month, day).ok()?;
            Some((date, date.tomorrow().ok()?))
        }
        AnnualPeriod::Holiday(holiday) => holiday_dates(holiday, year),
    }
}

/// Returns the first month of a season as weather services count; a winter is that of the year in which it begins.
fn first_month(season: Season) -> i8 {
    match season {
        Season::Spring => 3,
        Season::Summer => 6,
        Season::Autumn => 9,
        Season::Winter => 12,
    }
}

/// Resolves an offset to whole days, unless hours or minutes were said.
fn resolve_offset(
    from: CalendarDelta,
    to: CalendarDelta,
    slack: CalendarDelta,
    now: &Zoned,
) -> Option<TimestampRange> {
    let start = add_delta(&add_delta(now, from)?, slack.times(-1))?;
    let end = add_delta(&add_delta(now, to)?, slack)?;
    if from.minutes != 0 || to.minutes != 0 {
        return Some((start.timestamp(), end.timestamp()));
    }
    date_range((start.date(), end.date().tomorrow().ok()?), now.time_zone())
}

fn add_delta(now: &Zoned, amount: CalendarDelta) -> Option<Zoned> {
    let span = Span::new().try_months(amount.months).ok()?;
    // Days and minutes are added on their own, as their signs may differ from that of the months.
    let days = Span::new().try_days(amount.days).ok()?;
    let minutes = Span::new().try_minutes(amount.minutes).ok()?;
    now.checked_add(span).ok()?.checked_add(days).ok()?.checked_add(minutes).ok()
}

fn plus_days(date: Date, days: i32) -> Option<Date> {
    date.checked_add(Span::new().try_days(days).ok()?).ok()
}

fn plus_months(date: Date, months: i32) -> Option<Date> {
    date.checked_add(Span::new().try_months(months).ok()?).ok()
}
