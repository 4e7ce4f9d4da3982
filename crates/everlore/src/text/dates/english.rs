//! Time expressions as English forms them.

use super::cursor::Cursor;
use super::grammar::{day_of_month, part, season, weekday};
use super::when::{Annual, Moment, Part, Unit, Which, Year};
use super::words::{Trust, Word};

/// Years that a number means wherever it stands, and after a word such as "in".
const BARE_YEARS: std::ops::RangeInclusive<u32> = 1990..=2039;
const YEARS: std::ops::RangeInclusive<u32> = 1900..=2100;

/// Reads a moment in English.
pub(super) fn moment(c: &mut Cursor<'_>) -> Option<Moment> {
    match c.word() {
        Word::Month(..) => month_first(c),
        Word::Weekday(..) => named_weekday(c),
        Word::Number { .. } | Word::Ordinal(_) => c.attempt(day_first).or_else(|| bare_year(c)),
        Word::Season(_) | Word::Quarter(_) => part_of_year(c),
        Word::Nth(_) => c.attempt(day_first).or_else(|| part_of_year(c)),
        Word::The => definite(c),
        Word::Unit(_) => before_last(c),
        _ => None,
    }
}

/// May, May 8th, May 8, 2023, May of last year.
fn month_first(c: &mut Cursor<'_>) -> Option<Moment> {
    let believed = is_believed_month(c);
    // A spelled day proves nothing: "you may first ask".
    let is_spelled = matches!(c.ahead(1), Word::Nth(_));
    let what = month_and_day(c)?;
    let year = year_of(c);
    let is_dated = matches!(what, Annual::Date { .. }) && !is_spelled;
    let certain = believed || year.is_some() || is_dated;
    let moment = Moment::Annual { what, year: year.unwrap_or(Year::Recent), part: part(c) };
    certain.then_some(moment)
}

/// A month with the day that follows it, if one does.
pub(super) fn month_and_day(c: &mut Cursor<'_>) -> Option<Annual> {
    let month = c.take(month)?;
    let day = c.attempt(written_day);
    Some(day.map_or(Annual::Month(month), |day| Annual::Date { month, day }))
}

/// A day in figures that counts nothing: not the two of "May two years ago".
fn written_day(c: &mut Cursor<'_>) -> Option<i8> {
    let is_spelled = matches!(c.word(), Word::Number { digits: 0, .. });
    let day = c.take(day_of_month)?;
    (!is_spelled && !is_quantity(c)).then_some(day)
}

fn month(word: Word) -> Option<i8> {
    match word {
        Word::Month(month, _) => Some(month),
        _ => None,
    }
}

fn is_believed_month(c: &Cursor<'_>) -> bool {
    match c.word() {
        Word::Month(_, Trust::Sure) => true,
        Word::Month(_, Trust::Capital) => c.capital() || c.is_linked(),
        _ => c.is_linked(),
    }
}

/// 8 May 2023, the 8th of May.
fn day_first(c: &mut Cursor<'_>) -> Option<Moment> {
    let is_plain_number = matches!(c.word(), Word::Number { .. });
    let is_spelled = matches!(c.word(), Word::Nth(_));
    let day = c.take(day_of_month)?;
    let has_of = c.eat(Word::Of);
    if is_spelled && !has_of {
        return None;
    }
    let is_plain = is_plain_number && !has_of;
    // "the other 5 may come": without a capital, "of" or a year, this is the verb.
    let is_verb = is_plain && matches!(c.word(), Word::Month(_, Trust::Capital)) && !c.capital();
    let month = c.take(month)?;
    let year = year_of(c);
    let what = Annual::Date { month, day };
    let moment = Moment::Annual { what, year: year.unwrap_or(Year::Recent), part: part(c) };
    (year.is_some() || !is_verb).then_some(moment)
}

/// The year that follows a month, a season or a holiday: 2023, of 2023, last year, two years ago.
pub(super) fn year_of(c: &mut Cursor<'_>) -> Option<Year> {
    c.attempt(|c| {
        c.take(|word| matches!(word, Word::Comma | Word::Of | Word::In).then_some(()));
        match c.word() {
            Word::Number { .. } => c.attempt(year_number).or_else(|| years_ago(c)),
            Word::Shift(shift) => {
                c.skip();
                c.eat(Word::Unit(Unit::Year)).then_some(Year::Relative(shift.into()))
            }
            Word::Year(offset) => c.take(|_| Some(Year::Relative(offset.into()))),
            _ => None,
        }
    })
}

fn year_number(c: &mut Cursor<'_>) -> Option<Year> {
    let year = c.take(|word| number_of_year(word, &YEARS))?;
    (!is_quantity(c)).then_some(Year::Absolute(year))
}

fn number_of_year(word: Word, years: &std::ops::RangeInclusive<u32>) -> Option<i16> {
    match word {
        Word::Number { value, digits: 4 } if years.contains(&value) => i16::try_from(value).ok(),
        _ => None,
    }
}

/// Whether the number before the cursor goes on or counts something: 2000 years, 2023.5, 2023:1.
fn is_quantity(c: &Cursor<'_>) -> bool {
    let goes_on = matches!(c.word(), Word::Dot | Word::Comma | Word::Colon | Word::Slash)
        && c.glued(0)
        && c.glued(1)
        && matches!(c.ahead(1), Word::Number { .. });
    goes_on || matches!(c.word(), Word::Unit(_) | Word::YearMark)
}

fn years_ago(c: &mut Cursor<'_>) -> Option<Year> {
    let Word::Number { value, .. } = c.word() else { return None };
    c.skip();
    let ago = c.eat(Word::Unit(Unit::Year)) && c.eat(Word::Ago);
    ago.then(|| i32::try_from(value).ok().map(|years| Year::Relative(-years)))?
}

/// 2023, 2024 Q1.
fn bare_year(c: &mut Cursor<'_>) -> Option<Moment> {
    let years = if c.is_linked() { YEARS } else { BARE_YEARS };
    let stands_alone =
        !c.glued(0) || !matches!(c.behind(1), Word::Other | Word::Dot | Word::Slash | Word::Colon);
    let year = c.take(|word| number_of_year(word, &years))?;
    let quarter = c.take(quarter);
    let what = quarter.map_or(Annual::All, Annual::Quarter);
    let certain = stands_alone && !is_quantity(c);
    certain.then_some(Moment::Annual { what, year: Year::Absolute(year), part: Part::Whole })
}

fn quarter(word: Word) -> Option<i8> {
    match word {
        Word::Quarter(quarter) => Some(quarter),
        _ => None,
    }
}

/// Q1 2024, the first quarter of 2024, summer 2023, in the summer.
fn part_of_year(c: &mut Cursor<'_>) -> Option<Moment> {
    let linked = c.is_linked();
    let is_season = matches!(c.word(), Word::Season(_));
    let what = c
        .take(quarter)
        .map(Annual::Quarter)
        .or_else(|| c.attempt(nth_quarter))
        .or_else(|| season(c))?;
    let year = year_of(c);
    // A season alone is mostly no time: "fall", "spring", "summer camp".
    let certain = !is_season || linked || year.is_some();
    certain.then_some(Moment::Annual {
        what,
        year: year.unwrap_or(Year::Recent),
        part: Part::Whole,
    })
}

fn nth_quarter(c: &mut Cursor<'_>) -> Option<Annual> {
    let nth = c.take(|word| match word {
        Word::Nth(nth @ 1..=4) => i8::try_from(nth).ok(),
        _ => None,
    })?;
    c.eat(Word::Unit(Unit::Quarter)).then_some(Annual::Quarter(nth))
}

/// on the 8th, over the weekend, the week before last.
fn definite(c: &mut Cursor<'_>) -> Option<Moment> {
    let on = matches!(c.behind(1), Word::On | Word::In);
    c.skip();
    if let Some(moment) = c.attempt(day_first).or_else(|| c.attempt(before_last)) {
        return Some(moment);
    }
    match c.word() {
        Word::Ordinal(_) if on => {
            let day = c.take(day_of_month)?;
            Some(Moment::MonthDay { day, month: None, part: part(c) })
        }
        Word::Unit(Unit::Weekend) if on => {
            c.take(|_| Some(Moment::Period { unit: Unit::Weekend, offset: None }))
        }
        _ => None,
    }
}

/// week before last, year before last.
fn before_last(c: &mut Cursor<'_>) -> Option<Moment> {
    let Word::Unit(unit) = c.word() else { return None };
    c.skip();
    let found = c.eat(Word::Before) && c.eat(Word::Shift(-1));
    found.then_some(Moment::Period { unit, offset: Some(-2) })
}

/// Friday, on Monday evening, Friday of last week, Monday, May 8th.
fn named_weekday(c: &mut Cursor<'_>) -> Option<Moment> {
    let linked = c.is_linked() || c.behind(1) == Word::On;
    let habit = c.is_habit();
    let (day, trust) = c.take(weekday_name)?;
    if let Some(date) = c.attempt(date_of_weekday) {
        return Some(date);
    }
    let believed = !habit && (linked || trust == Trust::Sure);
    let which = c.attempt(week_of).unwrap_or(Which::Past);
    believed.then(|| weekday(day, which, c))
}

fn weekday_name(word: Word) -> Option<(i8, Trust)> {
    match word {
        Word::Weekday(day, trust) => Some((day, trust)),
        _ => None,
    }
}

fn date_of_weekday(c: &mut Cursor<'_>) -> Option<Moment> {
    c.eat(Word::Comma);
    c.eat(Word::The);
    let date = c.attempt(month_first).or_else(|| c.attempt(day_first))?;
    matches!(date, Moment::Annual { what: Annual::Date { .. }, .. }).then_some(date)
}

fn week_of(c: &mut Cursor<'_>) -> Option<Which> {
    c.eat(Word::Of);
    let shift = c.take(|word| match word {
        Word::Shift(shift) => Some(shift.into()),
        _ => None,
    })?;
    c.eat(Word::Unit(Unit::Week)).then_some(Which::InWeek(shift))
}

/// The weekday after last, this or next.
pub(super) fn shifted_weekday(c: &mut Cursor<'_>, shift: i32) -> Option<Moment> {
    let (day, _) = c.take(weekday_name)?;
    let which = match shift {
        ..=-1 => Which::Past,
        0 => Which::InWeek(0),
        1.. => Which::Coming,
    };
    Some(weekday(day, which, c))
}

/// The Friday of "last week on Friday".
pub(super) fn weekday_in_week(c: &mut Cursor<'_>, unit: Unit, shift: i32) -> Option<Moment> {
    c.eat(Word::On);
    let (day, _) = c.take(weekday_name)?;
    (unit == Unit::Week).then(|| weekday(day, Which::InWeek(shift), c))
}
