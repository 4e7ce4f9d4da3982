//! Grammar of Chinese date expressions.

use super::cursor::TokenCursor;
use super::english::year_of;
use super::expr::{AnnualPeriod, DateExpr, DayPart, TimeUnit, WeekdayChoice, YearRef};
use super::grammar::{annual_holiday, day_of_month, day_part, in_range, season, weekday};
use super::lexicon::TimeWord;

/// Parses a date expression in Chinese.
pub(super) fn parse(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    match c.word() {
        TimeWord::Year(offset) => {
            c.skip();
            Some(in_year(c, YearRef::Relative(offset.into())))
        }
        TimeWord::Number { .. } | TimeWord::Ordinal(_) => c
            .attempt(numbered_year)
            .or_else(|| c.attempt(date))
            .or_else(|| c.attempt(date_of_month)),
        TimeWord::HalfYear(_) => date(c),
        TimeWord::Unit(TimeUnit::Week) if !c.is_habit() => {
            c.skip();
            let day = weekday_number(c)?;
            Some(weekday(day, WeekdayChoice::Past, c))
        }
        _ => None,
    }
}

/// Parses 2023年, 2023年5月8日, 23年5月.
fn numbered_year(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    let TimeWord::Number { value, digits } = c.word() else { return None };
    c.skip();
    if !c.eat(TimeWord::YearMark) {
        return None;
    }
    match digits {
        4 => Some(in_year(c, YearRef::Absolute(i16::try_from(value).ok()?))),
        // Two digits are a year of this century only if a month follows: 23年前 is an age.
        2 if month_follows(c) => {
            Some(in_year(c, YearRef::Absolute(2000 + i16::try_from(value).ok()?)))
        }
        _ => None,
    }
}

fn month_follows(c: &TokenCursor<'_>) -> bool {
    matches!(c.word(), TimeWord::Number { .. }) && c.peek(1) == TimeWord::MonthMark
}

/// Parses the part of the year that follows, or takes all of it.
fn in_year(c: &mut TokenCursor<'_>, year: YearRef) -> DateExpr {
    let period = c.attempt(|c| {
        c.eat(TimeWord::Of);
        month_and_day(c).or_else(|| annual_holiday(c)).or_else(|| season(c)).or_else(|| quarter(c))
    });
    match period {
        Some(period) => DateExpr::Annual { period, year, part: day_part(c) },
        None => DateExpr::Annual { period: AnnualPeriod::WholeYear, year, part: DayPart::Whole },
    }
}

/// Parses 5月8日, 五月, 第一季度: of the latest year in which they have begun.
fn date(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    let period = month_and_day(c).or_else(|| quarter(c))?;
    let year = year_of(c).unwrap_or(YearRef::Recent);
    Some(DateExpr::Annual { period, year, part: day_part(c) })
}

fn month_and_day(c: &mut TokenCursor<'_>) -> Option<AnnualPeriod> {
    let month = c.attempt(|c| {
        let month = c.take_if_some(small_number(12))?;
        c.eat(TimeWord::MonthMark).then_some(month)
    })?;
    let day = c.attempt(marked_day);
    Some(day.map_or(AnnualPeriod::Month(month), |day| AnnualPeriod::Date { month, day }))
}

fn marked_day(c: &mut TokenCursor<'_>) -> Option<i8> {
    let day = c.take_if_some(day_of_month)?;
    c.take_if_some(|word| matches!(word, TimeWord::DayMark | TimeWord::DateMark).then_some(day))
}

/// Parses 8号 alone; 8日 alone is mostly a duration.
fn date_of_month(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    let day = c.take_if_some(day_of_month)?;
    let found = c.eat(TimeWord::DateMark);
    found.then(|| DateExpr::MonthDay { day, month: None, part: day_part(c) })
}

fn quarter(c: &mut TokenCursor<'_>) -> Option<AnnualPeriod> {
    c.attempt(|c| {
        let quarter = c.take_if_some(small_number(4))?;
        c.eat(TimeWord::Unit(TimeUnit::Quarter)).then_some(AnnualPeriod::Quarter(quarter))
    })
    .or_else(|| {
        c.take_if_some(|word| match word {
            TimeWord::Quarter(quarter) => Some(AnnualPeriod::Quarter(quarter)),
            TimeWord::HalfYear(half) => Some(AnnualPeriod::Half(half)),
            _ => None,
        })
    })
}

fn small_number(most: i8) -> impl Fn(TimeWord) -> Option<i8> {
    move |word| match word {
        TimeWord::Number { value, digits: 0..=2 } | TimeWord::Ordinal(value) => {
            in_range(value, most)
        }
        _ => None,
    }
}

/// Parses the 三 of 周三 and the 天 of 星期天, but not the 三 of 上周三次.
pub(super) fn weekday_number(c: &mut TokenCursor<'_>) -> Option<i8> {
    if !c.follows_directly(0) {
        return None;
    }
    let day = c.take_if_some(|word| match word {
        TimeWord::Number { value, digits: 0 } => in_range(value, 6),
        TimeWord::DayMark | TimeWord::Unit(TimeUnit::Day) => Some(7),
        _ => None,
    })?;
    let counts = matches!(
        c.word(),
        TimeWord::Counter | TimeWord::Unit(TimeUnit::Day | TimeUnit::Month | TimeUnit::Hour)
    );
    (!counts || !c.follows_directly(0)).then_some(day)
}

/// Parses what lies in 上周 or 上个月: 上周三, 上个月8号.
pub(super) fn in_shifted_period(c: &mut TokenCursor<'_>, shift: i32) -> Option<DateExpr> {
    match c.word() {
        TimeWord::Unit(TimeUnit::Week) => {
            c.skip();
            c.eat(TimeWord::Of);
            c.eat(TimeWord::Unit(TimeUnit::Week));
            let day = weekday_number(c)?;
            Some(weekday(day, WeekdayChoice::InWeek(shift), c))
        }
        TimeWord::MonthMark => {
            c.skip();
            c.eat(TimeWord::Of);
            let day = marked_day(c)?;
            Some(DateExpr::MonthDay { day, month: Some(shift), part: day_part(c) })
        }
        _ => None,
    }
}
