//! Time expressions as Chinese forms them.

use super::cursor::Cursor;
use super::english::year_of;
use super::grammar::{annual_feast, day_of_month, in_range, part, season, weekday};
use super::when::{Annual, Moment, Part, Unit, Which, Year};
use super::words::Word;

/// Reads a moment in Chinese.
pub(super) fn moment(c: &mut Cursor<'_>) -> Option<Moment> {
    match c.word() {
        Word::Year(offset) => {
            c.skip();
            Some(in_year(c, Year::Relative(offset.into())))
        }
        Word::Number { .. } | Word::Ordinal(_) => c
            .attempt(numbered_year)
            .or_else(|| c.attempt(date))
            .or_else(|| c.attempt(date_of_month)),
        Word::HalfYear(_) => date(c),
        Word::Unit(Unit::Week) if !c.is_habit() => {
            c.skip();
            let day = weekday_number(c)?;
            Some(weekday(day, Which::Past, c))
        }
        _ => None,
    }
}

/// 2023年, 2023年5月8日, 23年5月.
fn numbered_year(c: &mut Cursor<'_>) -> Option<Moment> {
    let Word::Number { value, digits } = c.word() else { return None };
    c.skip();
    if !c.eat(Word::YearMark) {
        return None;
    }
    match digits {
        4 => Some(in_year(c, Year::Absolute(i16::try_from(value).ok()?))),
        // Two figures are a year of this century only if a month follows: 23年前 is an age.
        2 if month_follows(c) => {
            Some(in_year(c, Year::Absolute(2000 + i16::try_from(value).ok()?)))
        }
        _ => None,
    }
}

fn month_follows(c: &Cursor<'_>) -> bool {
    matches!(c.word(), Word::Number { .. }) && c.ahead(1) == Word::MonthMark
}

/// What of the year is meant, or all of it.
fn in_year(c: &mut Cursor<'_>, year: Year) -> Moment {
    let what = c.attempt(|c| {
        c.eat(Word::Of);
        month_and_day(c).or_else(|| annual_feast(c)).or_else(|| season(c)).or_else(|| quarter(c))
    });
    match what {
        Some(what) => Moment::Annual { what, year, part: part(c) },
        None => Moment::Annual { what: Annual::All, year, part: Part::Whole },
    }
}

/// 5月8日, 五月, 第一季度: of the latest year in which they have begun.
fn date(c: &mut Cursor<'_>) -> Option<Moment> {
    let what = month_and_day(c).or_else(|| quarter(c))?;
    let year = year_of(c).unwrap_or(Year::Recent);
    Some(Moment::Annual { what, year, part: part(c) })
}

fn month_and_day(c: &mut Cursor<'_>) -> Option<Annual> {
    let month = c.attempt(|c| {
        let month = c.take(small_number(12))?;
        c.eat(Word::MonthMark).then_some(month)
    })?;
    let day = c.attempt(marked_day);
    Some(day.map_or(Annual::Month(month), |day| Annual::Date { month, day }))
}

fn marked_day(c: &mut Cursor<'_>) -> Option<i8> {
    let day = c.take(day_of_month)?;
    c.take(|word| matches!(word, Word::DayMark | Word::DateMark).then_some(day))
}

/// 8号 alone; 8日 alone is mostly a length.
fn date_of_month(c: &mut Cursor<'_>) -> Option<Moment> {
    let day = c.take(day_of_month)?;
    let found = c.eat(Word::DateMark);
    found.then(|| Moment::MonthDay { day, month: None, part: part(c) })
}

fn quarter(c: &mut Cursor<'_>) -> Option<Annual> {
    c.attempt(|c| {
        let quarter = c.take(small_number(4))?;
        c.eat(Word::Unit(Unit::Quarter)).then_some(Annual::Quarter(quarter))
    })
    .or_else(|| {
        c.take(|word| match word {
            Word::Quarter(quarter) => Some(Annual::Quarter(quarter)),
            Word::HalfYear(half) => Some(Annual::Half(half)),
            _ => None,
        })
    })
}

fn small_number(most: i8) -> impl Fn(Word) -> Option<i8> {
    move |word| match word {
        Word::Number { value, digits: 0..=2 } | Word::Ordinal(value) => in_range(value, most),
        _ => None,
    }
}

/// The 三 of 周三 and the 天 of 星期天, but not the 三 of 上周三次.
fn weekday_number(c: &mut Cursor<'_>) -> Option<i8> {
    if !c.glued(0) {
        return None;
    }
    let day = c.take(|word| match word {
        Word::Number { value, digits: 0 } => in_range(value, 6),
        Word::DayMark | Word::Unit(Unit::Day) => Some(7),
        _ => None,
    })?;
    let counts =
        matches!(c.word(), Word::Counter | Word::Unit(Unit::Day | Unit::Month | Unit::Hour));
    (!counts || !c.glued(0)).then_some(day)
}

/// What lies in 上周 or 上个月: 上周三, 上个月8号.
pub(super) fn in_shifted_period(c: &mut Cursor<'_>, shift: i32) -> Option<Moment> {
    match c.word() {
        Word::Unit(Unit::Week) => {
            c.skip();
            c.eat(Word::Of);
            c.eat(Word::Unit(Unit::Week));
            let day = weekday_number(c)?;
            Some(weekday(day, Which::InWeek(shift), c))
        }
        Word::MonthMark => {
            c.skip();
            c.eat(Word::Of);
            let day = marked_day(c)?;
            Some(Moment::MonthDay { day, month: Some(shift), part: part(c) })
        }
        _ => None,
    }
}
