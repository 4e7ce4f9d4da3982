//! From what was said to moments in time, given what time it is now.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

use super::holidays::days_of;
use super::when::{Amount, Annual, Moment, Part, Season, Unit, When, Which, Year};

/// A half-open range of time.
type Range = (Timestamp, Timestamp);

/// The range that `when` means at `now`, in the zone of `now`; `None` where no calendar reaches.
pub(super) fn resolve(when: When, now: &Zoned) -> Option<Range> {
    let (start, end) = match when {
        When::In(moment) => range_of(moment, now)?,
        When::Between(first, last) => between(first, last, now)?,
        When::Since(moment) => (range_of(moment, now)?.0, Timestamp::MAX),
        When::Before(moment) => (Timestamp::MIN, range_of(moment, now)?.0),
        When::After(moment) => (range_of(moment, now)?.1, Timestamp::MAX),
        When::Until(moment) => (Timestamp::MIN, range_of(moment, now)?.1),
        When::Earlier(moment) => {
            let (start, end) = range_of(moment, now)?;
            (start, end.min(now.timestamp()))
        }
    };
    (start < end).then_some((start, end))
}

/// The wider range that may be meant by a part of a day or a number of days.
pub(super) fn wider(when: When, now: &Zoned) -> Option<Range> {
    let whole = |moment| match moment {
        Moment::Day { offset, .. } => Some(Moment::Day { offset, part: Part::Whole }),
        Moment::Weekday { weekday, which, .. } => {
            Some(Moment::Weekday { weekday, which, part: Part::Whole })
        }
        Moment::Offset { from, to, slack } if from == to && slack == Amount::default() => {
            Some(Moment::Offset { from, to, slack: Amount::days(1) })
        }
        _ => None,
    };
    match when {
        When::In(moment) => resolve(When::In(whole(moment)?), now),
        When::Earlier(moment) => resolve(When::Earlier(whole(moment)?), now),
        _ => None,
    }
}

/// From the start of one moment to the end of another. A year told for one counts for both; what has none follows,
/// or precedes, the other.
fn between(first: Moment, last: Moment, now: &Zoned) -> Option<Range> {
    if is_floating(last) {
        let start = range_of(first, now)?.0;
        let then = add(&start.to_zoned(now.time_zone().clone()), cycle(last))?;
        return Some((start, range_of(last, &then)?.1));
    }
    let (last_start, end) = range_of(last, now)?;
    let then = last_start.to_zoned(now.time_zone().clone());
    let at = if is_floating(first) && matches!(first, Moment::Annual { .. }) { &then } else { now };
    Some((range_of(first, at)?.0, end))
}

/// Whether the moment means "the latest", with no week, month or year of its own.
fn is_floating(moment: Moment) -> bool {
    match moment {
        Moment::Annual { year, .. } => year == Year::Recent,
        Moment::Weekday { which, .. } => which == Which::Past,
        Moment::MonthDay { month, .. } => month.is_none(),
        Moment::Day { .. }
        | Moment::Period { .. }
        | Moment::Months { .. }
        | Moment::Offset { .. } => false,
    }
}

/// How far ahead to look back from, so that the latest is the first that is not earlier: one round less one day,
/// except that weekdays never mean the day itself.
fn cycle(moment: Moment) -> Amount {
    match moment {
        Moment::Annual { .. } => Amount { months: 12, days: -1, minutes: 0 },
        Moment::MonthDay { .. } => Amount { months: 1, days: -1, minutes: 0 },
        _ => Amount::days(7),
    }
}

fn range_of(moment: Moment, now: &Zoned) -> Option<Range> {
    let (today, zone) = (now.date(), now.time_zone());
    match moment {
        Moment::Day { offset, part } => part_of(plus_days(today, offset)?, part, zone),
        Moment::Weekday { weekday, which, part } => {
            part_of(weekday_date(weekday, which, today)?, part, zone)
        }
        Moment::MonthDay { day, month, part } => {
            part_of(month_date(day, month, today)?, part, zone)
        }
        Moment::Period { unit, offset } => days(period(unit, offset, today)?, zone),
        Moment::Annual { what, year, part } => {
            let (first, end) = annual(what, year, today)?;
            if part == Part::Whole { days((first, end), zone) } else { part_of(first, part, zone) }
        }
        Moment::Months { from, to } => days(months(today, from, to - from + 1)?, zone),
        Moment::Offset { from, to, slack } => offset(from, to, slack, now),
    }
}

fn days((first, end): (Date, Date), zone: &TimeZone) -> Option<Range> {
    Some((instant(first.into(), zone)?, instant(end.into(), zone)?))
}

fn instant(local: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    Some(local.to_zoned(zone.clone()).ok()?.timestamp())
}

fn part_of(date: Date, part: Part, zone: &TimeZone) -> Option<Range> {
    let (from, to) = hours(part);
    Some((instant(at_hour(date, from)?, zone)?, instant(at_hour(date, to)?, zone)?))
}

/// The hours of a part of the day. They overlap, because people's words do; the night ends when the morning begins.
fn hours(part: Part) -> (i8, i8) {
    match part {
        Part::Whole => (0, 24),
        Part::Dawn => (0, 6),
        // Who is still up speaks of this morning, too.
        Part::Morning => (0, 12),
        Part::Noon => (11, 14),
        Part::Afternoon => (12, 18),
        Part::Evening => (17, 24),
        Part::Night => (18, 24 + 4),
    }
}

fn at_hour(date: Date, hour: i8) -> Option<DateTime> {
    let date = plus_days(date, i32::from(hour / 24))?;
    Some(date.to_datetime(Time::new(hour % 24, 0, 0, 0).ok()?))
}

fn weekday_date(weekday: i8, which: Which, today: Date) -> Option<Date> {
    let current = today.weekday().to_monday_one_offset();
    let days = match which {
        Which::InWeek(weeks) => i32::from(weekday - current) + 7 * weeks,
        // One to seven days: never today.
        Which::Past => -i32::from((current - weekday - 1).rem_euclid(7) + 1),
        Which::Coming => i32::from((weekday - current - 1).rem_euclid(7) + 1),
    };
    plus_days(today, days)
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

/// A calendar period so many from the current one. Weeks begin on Monday.
fn period(unit: Unit, offset: Option<i32>, today: Date) -> Option<(Date, Date)> {
    let from_monday = i32::from(today.weekday().to_monday_zero_offset());
    // A weekend begins on the sixth day.
    let latest = if unit == Unit::Weekend && from_monday < 5 { -1 } else { 0 };
    let offset = offset.unwrap_or(latest);
    let month = i32::from(today.month());
    let monday = || plus_days(today, 7 * offset - from_monday);
    match unit {
        Unit::Minute | Unit::Hour | Unit::Day => None,
        Unit::Week => Some((monday()?, plus_days(monday()?, 7)?)),
        Unit::Weekend => Some((plus_days(monday()?, 5)?, plus_days(monday()?, 7)?)),
        Unit::Month => months(today, offset, 1),
        Unit::Quarter => months(today, 3 * offset - (month - 1) % 3, 3),
        Unit::Year => months(today, 12 * offset - (month - 1), 12),
    }
}

/// So many whole months, beginning so many months from the current one.
fn months(today: Date, offset: i32, count: i32) -> Option<(Date, Date)> {
    let first = plus_months(today.first_of_month(), offset)?;
    Some((first, plus_months(first, count)?))
}

/// The leap day comes once in eight years at worst.
const LEAP_GAP: i32 = 8;

fn annual(what: Annual, year: Year, today: Date) -> Option<(Date, Date)> {
    let current = i32::from(today.year());
    let of = |year: i32| days_in_year(what, i16::try_from(year).ok()?);
    // New Year begins in the year before; winter ends in the year after.
    let mut back = (current - LEAP_GAP..=current + 1).rev().filter_map(of);
    match year {
        Year::Recent => back.find(|days| days.0 <= today),
        Year::Ended => back.find(|days| days.1 <= today),
        Year::Current => {
            back.find(|days| days.0 <= today && today < days.1).or_else(|| of(current))
        }
        Year::Coming => {
            (current - 1..=current + LEAP_GAP).filter_map(of).find(|days| days.0 > today)
        }
        Year::Relative(years) => of(current + years),
        Year::Absolute(year) => of(i32::from(year)),
    }
}

fn days_in_year(what: Annual, year: i16) -> Option<(Date, Date)> {
    let span = |month: i8, count: i32| months(Date::new(year, month, 1).ok()?, 0, count);
    match what {
        Annual::All => span(1, 12),
        Annual::Half(half) => span(6 * half - 5, 6),
        Annual::Quarter(quarter) => span(3 * quarter - 2, 3),
        Annual::Season(season) => span(first_month(season), 3),
        Annual::Month(month) => span(month, 1),
        Annual::Date { month, day } => {
            let date = Date::new(year, month, day).ok()?;
            Some((date, date.tomorrow().ok()?))
        }
        Annual::Holiday(holiday) => days_of(holiday, year),
    }
}

/// Seasons as weather services count them; a winter is that of the year in which it begins.
fn first_month(season: Season) -> i8 {
    match season {
        Season::Spring => 3,
        Season::Summer => 6,
        Season::Autumn => 9,
        Season::Winter => 12,
    }
}

/// Whole days, unless hours or minutes were told.
fn offset(from: Amount, to: Amount, slack: Amount, now: &Zoned) -> Option<Range> {
    let start = add(&add(now, from)?, slack.times(-1))?;
    let end = add(&add(now, to)?, slack)?;
    if from.minutes != 0 || to.minutes != 0 {
        return Some((start.timestamp(), end.timestamp()));
    }
    days((start.date(), end.date().tomorrow().ok()?), now.time_zone())
}

fn add(now: &Zoned, amount: Amount) -> Option<Zoned> {
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
