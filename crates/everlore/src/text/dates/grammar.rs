//! Grammar that both languages share: prepositions, days, last and next.

use super::anchored;
use super::chinese;
use super::cursor::TokenCursor;
use super::english;
use super::expr::{AnnualPeriod, DateExpr, DayPart, TimeExpr, TimeUnit, WeekdayChoice, YearRef};
use super::lexicon::TimeWord;
use super::numeric;
use super::relative;
use super::weekday_of_month;

/// Parses a time expression at the cursor.
pub(super) fn parse_time_expr(c: &mut TokenCursor<'_>) -> Option<TimeExpr> {
    match c.word() {
        TimeWord::Between => c.attempt(between),
        TimeWord::From => c.attempt(from),
        TimeWord::Since => c.attempt(|c| after_preposition(c).map(TimeExpr::Since)),
        TimeWord::Before => c.attempt(|c| after_preposition(c).map(TimeExpr::Before)),
        TimeWord::After => c.attempt(|c| after_preposition(c).map(TimeExpr::After)),
        TimeWord::Until => c.attempt(|c| after_preposition(c).map(TimeExpr::Until)),
        TimeWord::Earlier => c.attempt(earlier),
        _ => c.attempt(anchored::prefix).or_else(|| date_or_range(c)),
    }
}

/// Parses one date expression at the cursor. Its first word decides which forms can begin there; most words begin none.
pub(super) fn parse_date_expr(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    c.attempt(weekday_of_month::parse).or_else(|| parse_by_first_word(c))
}

fn parse_by_first_word(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    match c.word() {
        TimeWord::Day(_) | TimeWord::SameDay | TimeWord::DayPart(..) | TimeWord::HalfDay(_) => {
            c.attempt(day)
        }
        TimeWord::Shift(_) => c.attempt(shifted),
        TimeWord::Holiday(_) => c.attempt(holiday),
        TimeWord::Article | TimeWord::Few | TimeWord::Half => c.attempt(relative::parse),
        TimeWord::Past | TimeWord::Coming | TimeWord::In | TimeWord::Ago => {
            c.attempt(relative::parse)
        }
        TimeWord::Year(_) | TimeWord::HalfYear(_) => c.attempt(chinese::parse),
        TimeWord::Number { .. } | TimeWord::Ordinal(_) | TimeWord::Unit(_) => numbered(c),
        TimeWord::Month(..)
        | TimeWord::Weekday(..)
        | TimeWord::Season(_)
        | TimeWord::Quarter(_) => c.attempt(english::parse),
        TimeWord::SpelledOrdinal(_) | TimeWord::The => c.attempt(english::parse),
        _ => None,
    }
}

fn numbered(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    None.or_else(|| c.attempt(numeric::date))
        .or_else(|| c.attempt(relative::parse))
        .or_else(|| c.attempt(chinese::parse))
        .or_else(|| c.attempt(english::parse))
}

fn date_or_range(c: &mut TokenCursor<'_>) -> Option<TimeExpr> {
    let first = parse_date_expr(c)?;
    let related = c
        .attempt(|c| range_end(c, first))
        .or_else(|| c.attempt(|c| anchored::suffix(c, first)))
        .or_else(|| c.attempt(|c| suffix_relation(c, first)));
    Some(related.unwrap_or(TimeExpr::In(first)))
}

fn between(c: &mut TokenCursor<'_>) -> Option<TimeExpr> {
    let first = after_preposition(c)?;
    c.take_if_some(|word| {
        matches!(word, TimeWord::And | TimeWord::To | TimeWord::Dash).then_some(())
    })?;
    second_date(c, first)
}

fn from(c: &mut TokenCursor<'_>) -> Option<TimeExpr> {
    let first = after_preposition(c)?;
    let related =
        c.attempt(|c| range_end(c, first)).or_else(|| c.attempt(|c| suffix_relation(c, first)));
    Some(related.unwrap_or_else(|| {
        if c.eat(TimeWord::On) { TimeExpr::Since(first) } else { TimeExpr::In(first) }
    }))
}

/// Parses earlier today, earlier this week, earlier in the morning.
fn earlier(c: &mut TokenCursor<'_>) -> Option<TimeExpr> {
    c.skip();
    c.take_if_some(|word| matches!(word, TimeWord::In | TimeWord::On).then_some(()));
    let todays = |c: &mut TokenCursor<'_>| {
        c.eat(TimeWord::The);
        let part = day_part(c);
        (part != DayPart::Whole).then_some(DateExpr::Day { offset: 0, part })
    };
    let moment = c.attempt(todays).or_else(|| c.attempt(expected_date))?;
    Some(TimeExpr::Earlier(moment))
}

/// Skips the preposition and parses the date expression that it needs.
fn after_preposition(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    c.skip();
    expected_date(c)
}

pub(super) fn expected_date(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    c.expect_time();
    parse_date_expr(c)
        .or_else(|| c.attempt(|c| c.eat(TimeWord::The).then(|| parse_date_expr(c))?))
}

/// Parses the rest of "May to July".
fn range_end(c: &mut TokenCursor<'_>, first: DateExpr) -> Option<TimeExpr> {
    c.take_if_some(|word| {
        matches!(word, TimeWord::To | TimeWord::Dash | TimeWord::Until).then_some(())
    })?;
    second_date(c, first)
}

fn second_date(c: &mut TokenCursor<'_>, first: DateExpr) -> Option<TimeExpr> {
    let second = c.attempt(expected_date).or_else(|| c.attempt(|c| same_month(c, first)))?;
    Some(TimeExpr::Between(first, second))
}

/// Parses the 10 of "May 8-10" and "5月8日到10日".
fn same_month(c: &mut TokenCursor<'_>, first: DateExpr) -> Option<DateExpr> {
    let day = c.take_if_some(day_of_month)?;
    c.take_if_some(|word| matches!(word, TimeWord::DayMark | TimeWord::DateMark).then_some(()));
    match first {
        DateExpr::Annual { period: AnnualPeriod::Date { month, .. }, year, part } => {
            let year =
                if year == YearRef::Recent { english::year_of(c).unwrap_or(year) } else { year };
            Some(DateExpr::Annual { period: AnnualPeriod::Date { month, day }, year, part })
        }
        DateExpr::MonthDay { month, part, .. } => Some(DateExpr::MonthDay { day, month, part }),
        _ => None,
    }
}

/// Parses a relation behind its date expression: 之前, 以来, 和…之间.
fn suffix_relation(c: &mut TokenCursor<'_>, first: DateExpr) -> Option<TimeExpr> {
    match c.word() {
        TimeWord::Ago => c.skip_with(TimeExpr::Before(first)),
        TimeWord::Later => c.skip_with(TimeExpr::After(first)),
        TimeWord::SinceSuffix => c.skip_with(TimeExpr::Since(first)),
        TimeWord::Earlier => c.skip_with(TimeExpr::Earlier(first)),
        TimeWord::Of if c.peek(1) == TimeWord::Earlier => {
            c.advance(2);
            Some(TimeExpr::Earlier(first))
        }
        TimeWord::And => {
            c.skip();
            let both = second_date(c, first)?;
            c.eat(TimeWord::BetweenSuffix).then_some(both)
        }
        _ => None,
    }
}

/// Returns `value` if it lies between 1 and `most`.
pub(super) fn in_range(value: u32, most: i8) -> Option<i8> {
    i8::try_from(value).ok().filter(|value| (1..=most).contains(value))
}

/// Returns a number that can be a day of a month.
pub(super) fn day_of_month(word: TimeWord) -> Option<i8> {
    match word {
        TimeWord::Number { value, digits } if digits <= 2 => in_range(value, 31),
        TimeWord::Ordinal(value) | TimeWord::SpelledOrdinal(value) => in_range(value, 31),
        _ => None,
    }
}

/// Parses today, yesterday evening, 昨晚, 今天上午.
fn day(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    match c.word() {
        TimeWord::Day(offset) => {
            c.skip();
            Some(DateExpr::Day { offset: offset.into(), part: day_part(c) })
        }
        TimeWord::DayPart(offset, part) => {
            c.skip_with(DateExpr::Day { offset: offset.into(), part })
        }
        TimeWord::HalfDay(part) => c.skip_with(DateExpr::Day { offset: 0, part }),
        TimeWord::SameDay => {
            c.skip();
            Some(DateExpr::Day { offset: 0, part: day_part(c) })
        }
        _ => None,
    }
}

/// Parses Christmas, New Year's Eve 2022, 春节.
fn holiday(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    let period = annual_holiday(c)?;
    let year = english::year_of(c).unwrap_or(YearRef::Recent);
    Some(DateExpr::Annual { period, year, part: day_part(c) })
}

pub(super) fn annual_holiday(c: &mut TokenCursor<'_>) -> Option<AnnualPeriod> {
    let TimeWord::Holiday(holiday) = c.word() else { return None };
    c.skip();
    c.take_if_some(|word| {
        matches!(word, TimeWord::HolidaySuffix | TimeWord::Unit(TimeUnit::Day)).then_some(())
    });
    Some(AnnualPeriod::Holiday(holiday))
}

/// Parses the part of the day after a day, or takes the whole.
pub(super) fn day_part(c: &mut TokenCursor<'_>) -> DayPart {
    let named = c.attempt(|c| {
        c.eat(TimeWord::Of);
        c.take_if_some(|word| match word {
            TimeWord::Part(part) | TimeWord::HalfDay(part) => Some(part),
            _ => None,
        })
    });
    named.unwrap_or(DayPart::Whole)
}

/// Parses last week, this morning, next Friday, the last 3 days, 上周三, 上个月8号, 这几天.
fn shifted(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    // "Last week" is the calendar's, "the last week" and "this last week" are the seven days up to now.
    let rolling = matches!(c.look_back(1), TimeWord::The | TimeWord::Shift(0));
    let shift = c.take_if_some(|word| match word {
        TimeWord::Shift(shift) => Some(i32::from(shift)),
        _ => None,
    })?;
    if rolling && shift == -1 && is_whole_unit(c) {
        return relative::rolling_window(c, false);
    }
    None.or_else(|| c.attempt(|c| shifted_part(c, shift)))
        .or_else(|| c.attempt(|c| chinese::in_shifted_period(c, shift)))
        .or_else(|| c.attempt(|c| shifted_period(c, shift)))
        .or_else(|| c.attempt(|c| relative::rolling_window(c, shift.signum() > 0)))
        .or_else(|| c.attempt(|c| english::shifted_weekday(c, shift)))
        .or_else(|| c.attempt(|c| shifted_annual(c, shift)))
}

/// Parses this morning, last night.
fn shifted_part(c: &mut TokenCursor<'_>, shift: i32) -> Option<DateExpr> {
    let part = day_part(c);
    let sensible = shift == 0 || shift == -1 && matches!(part, DayPart::Night | DayPart::Evening);
    (part != DayPart::Whole && sensible).then_some(DateExpr::Day { offset: shift, part })
}

/// Parses last week, but not "the last week of May".
fn shifted_period(c: &mut TokenCursor<'_>, shift: i32) -> Option<DateExpr> {
    let unit = c.take_if_some(|word| match word {
        TimeWord::Unit(TimeUnit::Minute | TimeUnit::Hour | TimeUnit::Day) => None,
        TimeWord::Unit(unit) => Some(unit),
        TimeWord::MonthMark => Some(TimeUnit::Month),
        TimeWord::YearMark => Some(TimeUnit::Year),
        _ => None,
    })?;
    let on_weekday = c.attempt(|c| english::weekday_in_week(c, unit, shift));
    on_weekday.or_else(|| {
        let is_part_of_more = c.word() == TimeWord::Of && is_month(c.peek(1));
        (!is_part_of_more).then_some(DateExpr::Period { unit, offset: Some(shift) })
    })
}

/// Returns `true` if a unit follows that is no part of a larger one: not the week of "the last week of May".
fn is_whole_unit(c: &TokenCursor<'_>) -> bool {
    let is_unit = matches!(
        c.word(),
        TimeWord::Unit(TimeUnit::Week | TimeUnit::Month | TimeUnit::Quarter | TimeUnit::Year)
            | TimeWord::YearMark
    );
    is_unit && c.peek(1) != TimeWord::Of
}

fn is_month(word: TimeWord) -> bool {
    matches!(word, TimeWord::Month(..) | TimeWord::The | TimeWord::Shift(_))
}

/// Parses last May, this summer, next Christmas.
fn shifted_annual(c: &mut TokenCursor<'_>, shift: i32) -> Option<DateExpr> {
    let year = match shift {
        ..=-1 => YearRef::Ended,
        0 => YearRef::Current,
        1.. => YearRef::Coming,
    };
    let period = english::month_and_day(c).or_else(|| annual_holiday(c)).or_else(|| season(c))?;
    Some(DateExpr::Annual { period, year, part: day_part(c) })
}

pub(super) fn season(c: &mut TokenCursor<'_>) -> Option<AnnualPeriod> {
    c.take_if_some(|word| match word {
        TimeWord::Season(season) => Some(AnnualPeriod::Season(season)),
        _ => None,
    })
}

/// Returns the expression of a named weekday, with the part of the day after it.
pub(super) fn weekday(weekday: i8, which: WeekdayChoice, c: &mut TokenCursor<'_>) -> DateExpr {
    DateExpr::Weekday { weekday, which, part: day_part(c) }
}
