//! What time expressions of both languages share: relations, amounts, figures.

use super::chinese;
use super::cursor::Cursor;
use super::english;
use super::when::{Amount, Annual, Moment, Part, Unit, When, Which, Year};
use super::words::Word;

/// Counts above this are no distance in time anyone means.
const MAX_COUNT: u32 = 9_999;

/// So many years are the number of a year: 2022年之前.
const FIRST_YEAR: i32 = 1_000;

/// What "a few" covers: two to a week's worth.
const FEW: (i32, i32) = (2, 7);

/// Reads a time expression at the cursor.
pub(super) fn when(c: &mut Cursor<'_>) -> Option<When> {
    match c.word() {
        Word::Other | Word::End => None,
        Word::Between => c.attempt(between),
        Word::From => c.attempt(from),
        Word::Since => c.attempt(|c| after_word(c).map(When::Since)),
        Word::Before => c.attempt(|c| after_word(c).map(When::Before)),
        Word::After => c.attempt(|c| after_word(c).map(When::After)),
        Word::Until => c.attempt(|c| after_word(c).map(When::Until)),
        _ => plain(c),
    }
}

/// Reads one moment at the cursor.
pub(super) fn moment(c: &mut Cursor<'_>) -> Option<Moment> {
    None.or_else(|| c.attempt(in_figures))
        .or_else(|| c.attempt(shifted))
        .or_else(|| c.attempt(distance))
        .or_else(|| c.attempt(day))
        .or_else(|| c.attempt(holiday))
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
        Word::And => {
            c.skip();
            let both = second(c, first)?;
            c.eat(Word::Amid).then_some(both)
        }
        _ => None,
    }
}

/// 2023-05-08, 2023/5/8, 5/8/2023, 8.5.2023, 2023-05.
fn in_figures(c: &mut Cursor<'_>) -> Option<Moment> {
    if c.glued(0)
        && matches!(c.behind(1), Word::Number { .. } | Word::Dot | Word::Slash | Word::Dash)
    {
        return None;
    }
    let (first, separator) = (figures(c, 0)?, c.ahead(1));
    if !matches!(separator, Word::Dash | Word::Slash | Word::Dot) || !c.glued(1) || !c.glued(2) {
        return None;
    }
    let second = figures(c, 2)?;
    let third =
        if c.ahead(3) == separator && c.glued(3) && c.glued(4) { figures(c, 4) } else { None };
    let (year, what, length) = match third {
        Some(third) => full_date(separator, first, second, third)?,
        None => year_and_month(separator, first, second)?,
    };
    c.advance(length);
    Some(Moment::Annual { what, year, part: Part::Whole })
}

type Figures = (u32, u8);

fn figures(c: &Cursor<'_>, n: usize) -> Option<Figures> {
    match c.ahead(n) {
        Word::Number { value, digits } if digits > 0 => Some((value, digits)),
        _ => None,
    }
}

fn full_date(separator: Word, a: Figures, b: Figures, c: Figures) -> Option<(Year, Annual, usize)> {
    let (year, month, day) = match separator {
        _ if a.1 == 4 => (a, b, c),
        Word::Dot => (c, b, a),
        // America writes the month first; where it cannot be one, it is the day.
        _ if a.0 > 12 => (c, b, a),
        _ => (c, a, b),
    };
    // Two figures are a year of this century, and only with slashes: with dots it may be a version.
    let year = match year {
        (value, 4) => value,
        (value, 2) if separator == Word::Slash => 2000 + value,
        _ => return None,
    };
    let what = Annual::Date { month: in_range(month.0, 12)?, day: in_range(day.0, 31)? };
    Some((Year::Absolute(i16::try_from(year).ok()?), what, 5))
}

fn year_and_month(separator: Word, a: Figures, b: Figures) -> Option<(Year, Annual, usize)> {
    let fits = a.1 == 4 && b.1 == 2 && separator != Word::Dot;
    let what = Annual::Month(in_range(b.0, 12)?);
    fits.then_some((Year::Absolute(i16::try_from(a.0).ok()?), what, 3))
}

/// `value` if it lies between 1 and `most`.
pub(super) fn in_range(value: u32, most: i8) -> Option<i8> {
    i8::try_from(value).ok().filter(|value| (1..=most).contains(value))
}

/// A number that can be a day of a month.
pub(super) fn day_of_month(word: Word) -> Option<i8> {
    match word {
        Word::Number { value, digits } if digits <= 2 => in_range(value, 31),
        Word::Ordinal(value) => in_range(value, 31),
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
    let shift = c.take(|word| match word {
        Word::Shift(shift) => Some(i32::from(shift)),
        _ => None,
    })?;
    None.or_else(|| c.attempt(|c| shifted_part(c, shift)))
        .or_else(|| c.attempt(|c| chinese::in_shifted_period(c, shift)))
        .or_else(|| c.attempt(|c| shifted_period(c, shift)))
        .or_else(|| c.attempt(|c| stretch(c, shift.signum() > 0)))
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

/// 3 days ago, a year ago, in two weeks, the past week, 三个月前, 半年前, 最近三天, 前几天.
fn distance(c: &mut Cursor<'_>) -> Option<Moment> {
    match c.word() {
        Word::Past => {
            c.skip();
            c.eat(Word::Of);
            stretch(c, false)
        }
        Word::Coming => {
            c.skip();
            stretch(c, true)
        }
        Word::In => {
            c.skip();
            let length = length(c)?;
            (c.word() != Word::Ago).then(|| length.away(1))
        }
        Word::Ago => some_days_back(c),
        _ => from_now(c),
    }
}

fn from_now(c: &mut Cursor<'_>) -> Option<Moment> {
    let length = length(c)?;
    match c.word() {
        Word::Ago => c.skip_to(length.away(-1)),
        Word::Later => c.skip_to(length.away(1)),
        Word::Long => c.skip_to(length.stretch(-1)),
        _ => None,
    }
}

/// The whole time from now to so far back or ahead; a unit without a number counts once.
fn stretch(c: &mut Cursor<'_>, ahead: bool) -> Option<Moment> {
    let one =
        |unit: Unit| Length { least: unit.amount(), most: unit.amount(), slack: unit.slack() };
    let length = c.attempt(length).or_else(|| c.take(unit).map(one))?;
    Some(length.stretch(if ahead { 1 } else { -1 }))
}

/// 前几天, 前两天.
fn some_days_back(c: &mut Cursor<'_>) -> Option<Moment> {
    c.skip();
    let vague = matches!(c.word(), Word::Few | Word::Number { value: 2, digits: 0 });
    c.skip();
    let unit = c.take(unit)?;
    let (least, most) = FEW;
    let days = Length {
        least: unit.amount().times(least),
        most: unit.amount().times(most),
        slack: unit.slack(),
    };
    vague.then(|| days.away(-1))
}

/// A length of time, as vague as it was told.
struct Length {
    least: Amount,
    most: Amount,
    slack: Amount,
}

impl Length {
    /// So far from now, back or ahead.
    fn away(&self, sign: i32) -> Moment {
        let (a, b) = (self.least.times(sign), self.most.times(sign));
        let (from, to) = if sign < 0 { (b, a) } else { (a, b) };
        Moment::Offset { from, to, slack: self.slack }
    }

    /// All the time between now and so far from it.
    fn stretch(&self, sign: i32) -> Moment {
        let (far, now) = (self.most.times(sign), Amount::default());
        let (from, to) = if sign < 0 { (far, now) } else { (now, far) };
        Moment::Offset { from, to, slack: Amount::default() }
    }
}

/// two weeks, a year and a half, a few days, 半年, 一年半, 几个月.
fn length(c: &mut Cursor<'_>) -> Option<Length> {
    let article = c.eat(Word::Article);
    if c.eat(Word::Half) {
        let unit = c.take(unit)?;
        let half = unit.half()?;
        // Half a unit is told half as sloppily.
        let slack =
            Amount { days: unit.slack().days / 2, minutes: unit.slack().minutes / 2, months: 0 };
        return Some(Length { least: half, most: half, slack });
    }
    let (least, most) = match c.take(count) {
        Some(counted) => counted,
        None if article => (1, 1),
        None => return None,
    };
    let unit = c.take(unit)?;
    if unit == Unit::Year && least >= FIRST_YEAR {
        return None;
    }
    let half = c.attempt(|c| and_a_half(c, unit)).unwrap_or_default();
    let amount = |n| unit.amount().times(n).plus(half);
    Some(Length { least: amount(least), most: amount(most), slack: unit.slack() })
}

fn count(word: Word) -> Option<(i32, i32)> {
    match word {
        Word::Number { value: value @ 1..=MAX_COUNT, .. } => Some((value as i32, value as i32)),
        Word::Few => Some(FEW),
        _ => None,
    }
}

fn unit(word: Word) -> Option<Unit> {
    match word {
        Word::Unit(unit) => Some(unit),
        Word::DayMark => Some(Unit::Day),
        Word::YearMark => Some(Unit::Year),
        _ => None,
    }
}

fn and_a_half(c: &mut Cursor<'_>, unit: Unit) -> Option<Amount> {
    if c.eat(Word::And) {
        c.eat(Word::Article);
    }
    c.eat(Word::Half).then(|| unit.half())?
}

/// Whether a length of time is told here: "for two years", 三个小时.
pub(super) fn tells_length(mut c: Cursor<'_>) -> bool {
    let told = c.word() != Word::Article || c.behind(1) == Word::For;
    told && length(&mut c).is_some()
}

/// A weekday that was named; the latest before today unless told otherwise.
pub(super) fn weekday(weekday: i8, which: Which, c: &mut Cursor<'_>) -> Moment {
    Moment::Weekday { weekday, which, part: part(c) }
}
