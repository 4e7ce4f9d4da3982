//! Dates in digits alone.

use super::cursor::TokenCursor;
use super::expr::{AnnualPeriod, DateExpr, DayPart, YearRef};
use super::grammar::in_range;
use super::lexicon::TimeWord;

/// Parses 2023-05-08, 2023/5/8, 5/8/2023, 8.5.2023, 2023-05.
pub(super) fn date(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    if c.follows_directly(0)
        && matches!(
            c.look_back(1),
            TimeWord::Number { .. } | TimeWord::Dot | TimeWord::Slash | TimeWord::Dash
        )
    {
        return None;
    }
    let (first, separator) = (digit_group(c, 0)?, c.peek(1));
    if !matches!(separator, TimeWord::Dash | TimeWord::Slash | TimeWord::Dot)
        || !c.follows_directly(1)
        || !c.follows_directly(2)
    {
        return None;
    }
    let second = digit_group(c, 2)?;
    let third = if c.peek(3) == separator && c.follows_directly(3) && c.follows_directly(4) {
        digit_group(c, 4)
    } else {
        None
    };
    let (year, period, length) = match third {
        Some(third) => full_date(separator, first, second, third)?,
        None => year_and_month(separator, first, second)?,
    };
    c.advance(length);
    Some(DateExpr::Annual { period, year, part: DayPart::Whole })
}

type DigitGroup = (u32, u8);

fn digit_group(c: &TokenCursor<'_>, n: usize) -> Option<DigitGroup> {
    match c.peek(n) {
        TimeWord::Number { value, digits } if digits > 0 => Some((value, digits)),
        _ => None,
    }
}

fn full_date(
    separator: TimeWord,
    a: DigitGroup,
    b: DigitGroup,
    c: DigitGroup,
) -> Option<(YearRef, AnnualPeriod, usize)> {
    let (year, month, day) = match separator {
        _ if a.1 == 4 => (a, b, c),
        TimeWord::Dot => (c, b, a),
        // America writes the month first; if it cannot be one, it is the day.
        _ if a.0 > 12 => (c, b, a),
        _ => (c, a, b),
    };
    // Two digits are a year of this century, and only with slashes: with dots it may be a version.
    let year = match year {
        (value, 4) => value,
        (value, 2) if separator == TimeWord::Slash => 2000 + value,
        _ => return None,
    };
    let period = AnnualPeriod::Date { month: in_range(month.0, 12)?, day: in_range(day.0, 31)? };
    Some((YearRef::Absolute(i16::try_from(year).ok()?), period, 5))
}

fn year_and_month(
    separator: TimeWord,
    a: DigitGroup,
    b: DigitGroup,
) -> Option<(YearRef, AnnualPeriod, usize)> {
    let fits = a.1 == 4 && b.1 == 2 && separator != TimeWord::Dot;
    let period = AnnualPeriod::Month(in_range(b.0, 12)?);
    fits.then_some((YearRef::Absolute(i16::try_from(a.0).ok()?), period, 3))
}
