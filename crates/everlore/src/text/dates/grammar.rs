//! What time expressions of both languages share: relations, days, last and next.

use super::chinese;
use super::cursor::Cursor;
use super::distance;
use super::english;
use super::figures;
use super::when::{Annual, Moment, Part, Unit, When, Which, Year};
use super::words::Word;

/// Reads a time expression at the cursor.
pub(super) fn when(c: &mut Cursor<'_>) -> Option<When> {
    match c.word() {
        Word::Between => c.attempt(between),
        Word::From => c.attempt(from),
        Word::Since => c.attempt(|c| after_word(c).map(When::Since)),
        Word::Before => c.attempt(|c| after_word(c).map(When::Before)),
        Word::After => c.attempt(|c| after_word(c).map(When::After)),
        Word::Until => c.attempt(|c| after_word(c).map(When::Until)),
        Word::Earlier => c.attempt(earlier),
        _ => plain(c),
    }
}

/// Reads one moment at the cursor. Its first word tells which forms can begin there; most words begin none.
pub(super) fn moment(c: &mut Cursor<'_>) -> Option<Moment> {
    match c.word() {
        Word::Day(_) | Word::DayPart(..) | Word::HalfDay(_) => c.attempt(day),
        Word::Shift(_) => c.attempt(shifted),
        Word::Holiday(_) => c.attempt(holiday),
        Word::Article | Word::Few | Word::Half => c.attempt(distance::moment),
        Word::Past | Word::Coming | Word::In | Word::Ago => c.attempt(distance::moment),
        Word::Year(_) | Word::HalfYear(_) => c.attempt(chinese::moment),
        Word::Number { .. } | Word::Ordinal(_) | Word::Unit(_) => numbered(c),
        Word::Month(..) | Word::Weekday(..) | Word::Season(_) | Word::Quarter(_) => {
            c.attempt(english::moment)
        }
        Word::Nth(_) | Word::The => c.attempt(english::moment),
        _ => None,
    }
}

fn numbered(c: &mut Cursor<'_>) -> Option<Moment> {
    None.or_else(|| c.attempt(figures::date))
        .or_else(|| c.attempt(distance::moment))
        .or_else(|| c.attempt(chinese::moment))
        .or_else(|| c.attempt(english::moment))
}

fn plain(c: &mut Cursor<'_>) -> Option<When> {
    let first = moment(c)?;
    let related = c.attempt(|c| up_to(c, first)).or_else(|| c.attempt(|c| relation(c, first)));
    Some(related.unwrap_or(When::In(first)))
}

fn between(c: &mut Cursor<'_>) -> Option<When> {
    let first = after_word(c)?;
    c.take(|word| matches!(word, Word::And | Word::To | Word::Dash).then_some(()))?;
    second(c, first)
}

fn from(c: &mut Cursor<'_>) -> Option<When> {
    let first = after_word(c)?;
    let related = c.attempt(|c| up_to(c, first)).or_else(|| c.attempt(|c| relation(c, first)));
    Some(
        related
            .unwrap_or_else(|| if c.eat(Word::On) { When::Since(first) } else { When::In(first) }),
    )
}

/// earlier today, earlier this week, earlier in the morning.
fn earlier(c: &mut Cursor<'_>) -> Option<When> {
    c.skip();
    c.take(|word| matches!(word, Word::In | Word::On).then_some(()));
    let todays = |c: &mut Cursor<'_>| {
        c.eat(Word::The);
        let part = part(c);
        (part != Part::Whole).then_some(Moment::Day { offset: 0, part })
    };
    let moment = c.attempt(todays).or_else(|| c.attempt(linked))?;
    Some(When::Earlier(moment))
}

/// Skips the relation's word and reads the moment it needs.
fn after_word(c: &mut Cursor<'_>) -> Option<Moment> {
    c.skip();
    linked(c)
}

fn linked(c: &mut Cursor<'_>) -> Option<Moment> {
    c.link();
    moment(c).or_else(|| c.attempt(|c| c.eat(Word::The).then(|| moment(c))?))
}

/// The rest of "May to July".
fn up_to(c: &mut Cursor<'_>, first: Moment) -> Option<When> {
    c.take(|word| matches!(word, Word::To | Word::Dash | Word::Until).then_some(()))?;
    second(c, first)
}

fn second(c: &mut Cursor<'_>, first: Moment) -> Option<When> {
    let second = c.attempt(linked).or_else(|| c.attempt(|c| same_month(c, first)))?;
    Some(When::Between(first, second))
}

/// The 10 of "May 8-10" and "5月8日到10日".
fn same_month(c: &mut Cursor<'_>, first: Moment) -> Option<Moment> {
    let day = c.take(day_of_month)?;
    c.take(|word| matches!(word, Word::DayMark | Word::DateMark).then_some(()));
    match first {
        Moment::Annual { what: Annual::Date { month, .. }, year, part } => {
            let year =
                if year == Year::Recent { english::year_of(c).unwrap_or(year) } else { year };
            Some(Moment::Annual { what: Annual::Date { month, day }, year, part })
        }
        Moment::MonthDay { month, part, .. } => Some(Moment::MonthDay { day, month, part }),
        _ => None,
    }
}

/// What stands behind its moment: 之前, 以来, 和…之间.
fn relation(c: &mut Cursor<'_>, first: Moment) -> Option<When> {
    match c.word() {
        Word::Ago => c.skip_to(When::Before(first)),
        Word::Later => c.skip_to(When::After(first)),
        Word::Onward => c.skip_to(When::Since(first)),
        Word::Earlier => c.skip_to(When::Earlier(first)),
        Word::Of if c.ahead(1) == Word::Earlier => {
            c.advance(2);
            Some(When::Earlier(first))
        }
        Word::And => {
            c.skip();
            let both = second(c, first)?;
            c.eat(Word::Amid).then_some(both)
        }
        _ => None,
    }
}

/// `value` if it lies between 1 and `most`.
pub(super) fn in_range(value: u32, most: i8) -> Option<i8> {
    i8::try_from(value).ok().filter(|value| (1..=most).contains(value))
}

/// A number that can be a day of a month.
pub(super) fn day_of_month(word: Word) -> Option<i8> {
    match word {
        Word::Number { value, digits } if digits <= 2 => in_range(value, 31),
        Word::Ordinal(value) | Word::Nth(value) => in_range(value, 31),
        _ => None,
    }
}

/// today, yesterday evening, 昨晚, 今天上午.
fn day(c: &mut Cursor<'_>) -> Option<Moment> {
    match c.word() {
        Word::Day(offset) => {
            c.skip();
            Some(Moment::Day { offset: offset.into(), part: part(c) })
        }
        Word::DayPart(offset, part) => c.skip_to(Moment::Day { offset: offset.into(), part }),
        Word::HalfDay(part) => c.skip_to(Moment::Day { offset: 0, part }),
        _ => None,
    }
}

/// Christmas, New Year's Eve 2022, 春节.
fn holiday(c: &mut Cursor<'_>) -> Option<Moment> {
    let what = annual_feast(c)?;
    let year = english::year_of(c).unwrap_or(Year::Recent);
    Some(Moment::Annual { what, year, part: part(c) })
}

pub(super) fn annual_feast(c: &mut Cursor<'_>) -> Option<Annual> {
    let Word::Holiday(holiday) = c.word() else { return None };
    c.skip();
    c.take(|word| matches!(word, Word::Eve | Word::Unit(Unit::Day)).then_some(()));
    Some(Annual::Holiday(holiday))
}

/// The part of the day that follows a day, or the whole.
pub(super) fn part(c: &mut Cursor<'_>) -> Part {
    let named = c.attempt(|c| {
        c.eat(Word::Of);
        c.take(|word| match word {
            Word::Part(part) | Word::HalfDay(part) => Some(part),
            _ => None,
        })
    });
    named.unwrap_or(Part::Whole)
}

/// last week, this morning, next Friday, the last 3 days, 上周三, 上个月8号, 这几天.
fn shifted(c: &mut Cursor<'_>) -> Option<Moment> {
    // "Last week" is the calendar's, "the last week" and "this last week" are the seven days up to now.
    let rolling = matches!(c.behind(1), Word::The | Word::Shift(0));
    let shift = c.take(|word| match word {
        Word::Shift(shift) => Some(i32::from(shift)),
        _ => None,
    })?;
    if rolling && shift == -1 && is_length(c) {
        return distance::stretch(c, false);
    }
    None.or_else(|| c.attempt(|c| shifted_part(c, shift)))
        .or_else(|| c.attempt(|c| chinese::in_shifted_period(c, shift)))
        .or_else(|| c.attempt(|c| shifted_period(c, shift)))
        .or_else(|| c.attempt(|c| distance::stretch(c, shift.signum() > 0)))
        .or_else(|| c.attempt(|c| english::shifted_weekday(c, shift)))
        .or_else(|| c.attempt(|c| shifted_annual(c, shift)))
}

/// this morning, last night.
fn shifted_part(c: &mut Cursor<'_>, shift: i32) -> Option<Moment> {
    let part = part(c);
    let sensible = shift == 0 || shift == -1 && matches!(part, Part::Night | Part::Evening);
    (part != Part::Whole && sensible).then_some(Moment::Day { offset: shift, part })
}

/// last week, but not "the last week of May".
fn shifted_period(c: &mut Cursor<'_>, shift: i32) -> Option<Moment> {
    let unit = c.take(|word| match word {
        Word::Unit(Unit::Minute | Unit::Hour | Unit::Day) => None,
        Word::Unit(unit) => Some(unit),
        Word::MonthMark => Some(Unit::Month),
        Word::YearMark => Some(Unit::Year),
        _ => None,
    })?;
    let on_weekday = c.attempt(|c| english::weekday_in_week(c, unit, shift));
    on_weekday.or_else(|| {
        let is_part_of_more = c.word() == Word::Of && is_month(c.ahead(1));
        (!is_part_of_more).then_some(Moment::Period { unit, offset: Some(shift) })
    })
}

/// Whether a unit follows that is no part of a larger one: not the week of "the last week of May".
fn is_length(c: &Cursor<'_>) -> bool {
    let is_unit = matches!(
        c.word(),
        Word::Unit(Unit::Week | Unit::Month | Unit::Quarter | Unit::Year) | Word::YearMark
    );
    is_unit && c.ahead(1) != Word::Of
}

fn is_month(word: Word) -> bool {
    matches!(word, Word::Month(..) | Word::The | Word::Shift(_))
}

/// last May, this summer, next Christmas.
fn shifted_annual(c: &mut Cursor<'_>, shift: i32) -> Option<Moment> {
    let year = match shift {
        ..=-1 => Year::Ended,
        0 => Year::Current,
        1.. => Year::Coming,
    };
    let what = english::month_and_day(c).or_else(|| annual_feast(c)).or_else(|| season(c))?;
    Some(Moment::Annual { what, year, part: part(c) })
}

pub(super) fn season(c: &mut Cursor<'_>) -> Option<Annual> {
    c.take(|word| match word {
        Word::Season(season) => Some(Annual::Season(season)),
        _ => None,
    })
}

/// A weekday that was named; the latest before today unless told otherwise.
pub(super) fn weekday(weekday: i8, which: Which, c: &mut Cursor<'_>) -> Moment {
    Moment::Weekday { weekday, which, part: part(c) }
}
