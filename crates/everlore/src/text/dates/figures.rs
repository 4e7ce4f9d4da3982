//! Dates written in figures alone.

use super::cursor::Cursor;
use super::grammar::in_range;
use super::when::{Annual, Moment, Part, Year};
use super::words::Word;

/// 2023-05-08, 2023/5/8, 5/8/2023, 8.5.2023, 2023-05.
pub(super) fn date(c: &mut Cursor<'_>) -> Option<Moment> {
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
