//! Grammar of English date expressions.

use super::cursor::TokenCursor;
use super::expr::{AnnualPeriod, DateExpr, DayPart, TimeUnit, WeekdayChoice, YearRef};
use super::grammar::{day_of_month, day_part, season, weekday};
use super::lexicon::{NameAmbiguity, TimeWord};

/// Years that a number means anywhere, and after a word such as "in".
const BARE_YEARS: std::ops::RangeInclusive<u32> = 1990..=2039;
const YEARS: std::ops::RangeInclusive<u32> = 1900..=2100;

/// Parses a date expression in English.
pub(super) fn parse(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    match c.word() {
        TimeWord::Month(..) => month_first(c),
        TimeWord::Weekday(..) => named_weekday(c),
        TimeWord::Number { .. } | TimeWord::Ordinal(_) => {
            c.attempt(day_first).or_else(|| bare_year(c))
        }
        TimeWord::Season(_) | TimeWord::Quarter(_) => part_of_year(c),
        TimeWord::SpelledOrdinal(_) => c.attempt(day_first).or_else(|| part_of_year(c)),
        TimeWord::The => after_the(c),
        TimeWord::Unit(_) => before_last(c),
        _ => None,
    }
}

/// Parses May, May 8th, May 8, 2023, May of last year.
fn month_first(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    let believed = is_certain_month(c);
    // A spelled day proves nothing: "you may first ask".
    let is_spelled = matches!(c.peek(1), TimeWord::SpelledOrdinal(_));
    let period = month_and_day(c)?;
    let year = year_of(c);
    let is_dated = matches!(period, AnnualPeriod::Date { .. }) && !is_spelled;
    let certain = believed || year.is_some() || is_dated;
    let moment =
        DateExpr::Annual { period, year: year.unwrap_or(YearRef::Recent), part: day_part(c) };
    certain.then_some(moment)
}

/// Parses a month with the day that follows it, if any.
pub(super) fn month_and_day(c: &mut TokenCursor<'_>) -> Option<AnnualPeriod> {
    let month = c.take_if_some(month)?;
    let day = c.attempt(written_day);
    Some(day.map_or(AnnualPeriod::Month(month), |day| AnnualPeriod::Date { month, day }))
}

/// Parses a day in digits that counts nothing: not the two of "May two years ago".
fn written_day(c: &mut TokenCursor<'_>) -> Option<i8> {
    let is_spelled = matches!(c.word(), TimeWord::Number { digits: 0, .. });
    let day = c.take_if_some(day_of_month)?;
    (!is_spelled && !is_quantity(c)).then_some(day)
}

fn month(word: TimeWord) -> Option<i8> {
    match word {
        TimeWord::Month(month, _) => Some(month),
        _ => None,
    }
}

fn is_certain_month(c: &TokenCursor<'_>) -> bool {
    match c.word() {
        TimeWord::Month(_, NameAmbiguity::Unambiguous) => true,
        TimeWord::Month(_, NameAmbiguity::NeedsCapital) => {
            c.is_capitalized() || c.is_time_expected()
        }
        _ => c.is_time_expected(),
    }
}

/// Parses 8 May 2023, the 8th of May.
fn day_first(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    let is_plain_number = matches!(c.word(), TimeWord::Number { .. });
    let is_spelled = matches!(c.word(), TimeWord::SpelledOrdinal(_));
    let day = c.take_if_some(day_of_month)?;
    let has_of = c.eat(TimeWord::Of);
    if is_spelled && !has_of {
        return None;
    }
    let is_plain = is_plain_number && !has_of;
    // "the other 5 may come": without a capital, "of" or a year, this is the verb.
    let is_verb = is_plain
        && matches!(c.word(), TimeWord::Month(_, NameAmbiguity::NeedsCapital))
        && !c.is_capitalized();
    let month = c.take_if_some(month)?;
    let year = year_of(c);
    let period = AnnualPeriod::Date { month, day };
    let moment =
        DateExpr::Annual { period, year: year.unwrap_or(YearRef::Recent), part: day_part(c) };
    (year.is_some() || !is_verb).then_some(moment)
}

/// Parses the year after a month, a season or a holiday: 2023, of 2023, last year, two years ago.
pub(super) fn year_of(c: &mut TokenCursor<'_>) -> Option<YearRef> {
    c.attempt(|c| {
        c.take_if_some(|word| {
            matches!(word, TimeWord::Comma | TimeWord::Of | TimeWord::In).then_some(())
        });
        match c.word() {
            TimeWord::Number { .. } => c.attempt(year_number).or_else(|| years_ago(c)),
            TimeWord::Shift(shift) => {
                c.skip();
                c.eat(TimeWord::Unit(TimeUnit::Year)).then_some(YearRef::Relative(shift.into()))
            }
            TimeWord::Year(offset) => c.take_if_some(|_| Some(YearRef::Relative(offset.into()))),
            _ => None,
        }
    })
}

fn year_number(c: &mut TokenCursor<'_>) -> Option<YearRef> {
    let year = c.take_if_some(|word| number_of_year(word, &YEARS))?;
    (!is_quantity(c)).then_some(YearRef::Absolute(year))
}

fn number_of_year(word: TimeWord, years: &std::ops::RangeInclusive<u32>) -> Option<i16> {
    match word {
        TimeWord::Number { value, digits: 4 } if years.contains(&value) => {
            i16::try_from(value).ok()
        }
        _ => None,
    }
}

/// Returns `true` if the number before the cursor continues or counts something: 2000 years, 2023.5, 2023:1.
fn is_quantity(c: &TokenCursor<'_>) -> bool {
    let goes_on =
        matches!(c.word(), TimeWord::Dot | TimeWord::Comma | TimeWord::Colon | TimeWord::Slash)
            && c.follows_directly(0)
            && c.follows_directly(1)
            && matches!(c.peek(1), TimeWord::Number { .. });
    goes_on || matches!(c.word(), TimeWord::Unit(_) | TimeWord::YearMark)
}

fn years_ago(c: &mut TokenCursor<'_>) -> Option<YearRef> {
    let TimeWord::Number { value, .. } = c.word() else { return None };
    c.skip();
    let ago = c.eat(TimeWord::Unit(TimeUnit::Year)) && c.eat(TimeWord::Ago);
    ago.then(|| i32::try_from(value).ok().map(|years| YearRef::Relative(-years)))?
}

/// Parses 2023, 2024 Q1.
fn bare_year(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    let years = if c.is_time_expected() { YEARS } else { BARE_YEARS };
    let stands_alone = !c.follows_directly(0)
        || !matches!(
            c.look_back(1),
            TimeWord::Other | TimeWord::Dot | TimeWord::Slash | TimeWord::Colon
        );
    let year = c.take_if_some(|word| number_of_year(word, &years))?;
    let quarter = c.take_if_some(quarter);
    let period = quarter.map_or(AnnualPeriod::WholeYear, AnnualPeriod::Quarter);
    let certain = stands_alone && !is_quantity(c);
    certain.then_some(DateExpr::Annual {
        period,
        year: YearRef::Absolute(year),
        part: DayPart::Whole,
    })
}

fn quarter(word: TimeWord) -> Option<i8> {
    match word {
        TimeWord::Quarter(quarter) => Some(quarter),
        _ => None,
    }
}

/// Parses Q1 2024, the first quarter of 2024, summer 2023, in the summer.
fn part_of_year(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    let linked = c.is_time_expected();
    let is_season = matches!(c.word(), TimeWord::Season(_));
    let period = c
        .take_if_some(quarter)
        .map(AnnualPeriod::Quarter)
        .or_else(|| c.attempt(nth_quarter))
        .or_else(|| season(c))?;
    let year = year_of(c);
    // A season alone is mostly no time: "fall", "spring", "summer camp".
    let certain = !is_season || linked || year.is_some();
    certain.then_some(DateExpr::Annual {
        period,
        year: year.unwrap_or(YearRef::Recent),
        part: DayPart::Whole,
    })
}

fn nth_quarter(c: &mut TokenCursor<'_>) -> Option<AnnualPeriod> {
    let nth = c.take_if_some(|word| match word {
        TimeWord::SpelledOrdinal(nth @ 1..=4) => i8::try_from(nth).ok(),
        _ => None,
    })?;
    c.eat(TimeWord::Unit(TimeUnit::Quarter)).then_some(AnnualPeriod::Quarter(nth))
}

/// Parses on the 8th, over the weekend, the week before last.
fn after_the(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    let on = matches!(c.look_back(1), TimeWord::On | TimeWord::In);
    c.skip();
    if let Some(moment) = c.attempt(day_first).or_else(|| c.attempt(before_last)) {
        return Some(moment);
    }
    match c.word() {
        TimeWord::Ordinal(_) if on => {
            let day = c.take_if_some(day_of_month)?;
            Some(DateExpr::MonthDay { day, month: None, part: day_part(c) })
        }
        TimeWord::Unit(TimeUnit::Weekend) if on => {
            c.take_if_some(|_| Some(DateExpr::Period { unit: TimeUnit::Weekend, offset: None }))
        }
        _ => None,
    }
}

/// Parses week before last, year before last.
fn before_last(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    let TimeWord::Unit(unit) = c.word() else { return None };
    c.skip();
    let found = c.eat(TimeWord::Before) && c.eat(TimeWord::Shift(-1));
    found.then_some(DateExpr::Period { unit, offset: Some(-2) })
}

/// Parses Friday, on Monday evening, Friday of last week, Monday, May 8th.
fn named_weekday(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    let linked = c.is_time_expected() || c.look_back(1) == TimeWord::On;
    let habit = c.is_habit();
    let (day, trust) = c.take_if_some(weekday_name)?;
    if let Some(date) = c.attempt(date_of_weekday) {
        return Some(date);
    }
    let believed = !habit && (linked || trust == NameAmbiguity::Unambiguous);
    let which = c.attempt(week_of).unwrap_or(WeekdayChoice::Past);
    believed.then(|| weekday(day, which, c))
}

pub(super) fn weekday_name(word: TimeWord) -> Option<(i8, NameAmbiguity)> {
    match word {
        TimeWord::Weekday(day, trust) => Some((day, trust)),
        _ => None,
    }
}

fn date_of_weekday(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    c.eat(TimeWord::Comma);
    c.eat(TimeWord::The);
    let date = c.attempt(month_first).or_else(|| c.attempt(day_first))?;
    matches!(date, DateExpr::Annual { period: AnnualPeriod::Date { .. }, .. }).then_some(date)
}

fn week_of(c: &mut TokenCursor<'_>) -> Option<WeekdayChoice> {
    c.eat(TimeWord::Of);
    let shift = c.take_if_some(|word| match word {
        TimeWord::Shift(shift) => Some(shift.into()),
        _ => None,
    })?;
    c.eat(TimeWord::Unit(TimeUnit::Week)).then_some(WeekdayChoice::InWeek(shift))
}

/// Parses the weekday after last, this or next.
pub(super) fn shifted_weekday(c: &mut TokenCursor<'_>, shift: i32) -> Option<DateExpr> {
    let (day, _) = c.take_if_some(weekday_name)?;
    let which = match shift {
        ..=-1 => WeekdayChoice::Past,
        0 => WeekdayChoice::InWeek(0),
        1.. => WeekdayChoice::Coming,
    };
    let parsed = weekday(day, which, c);
    // "The last Friday of every month" is not the one before today.
    (c.word() != TimeWord::Of).then_some(parsed)
}

/// Parses the Friday of "last week on Friday".
pub(super) fn weekday_in_week(
    c: &mut TokenCursor<'_>,
    unit: TimeUnit,
    shift: i32,
) -> Option<DateExpr> {
    c.eat(TimeWord::On);
    let (day, _) = c.take_if_some(weekday_name)?;
    (unit == TimeUnit::Week).then(|| weekday(day, WeekdayChoice::InWeek(shift), c))
}
