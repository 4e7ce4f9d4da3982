//! Weekdays counted within a month: "the last Friday of next month", "first Monday in March 2027".

use super::cursor::TokenCursor;
use super::english::{month_and_day, weekday_name, year_of};
use super::expr::{AnnualPeriod, DateExpr, MonthRef, TimeUnit, YearRef};
use super::lexicon::TimeWord;

/// Parses such a weekday at the cursor.
pub(super) fn parse(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    c.eat(TimeWord::The);
    let nth = c.take_if_some(|word| match word {
        TimeWord::Shift(-1) => Some(-1),
        TimeWord::Ordinal(nth) | TimeWord::SpelledOrdinal(nth) => {
            i8::try_from(nth).ok().filter(|nth| (1..=5).contains(nth))
        }
        _ => None,
    })?;
    let (weekday, _) = c.take_if_some(weekday_name)?;
    c.take_if_some(|word| matches!(word, TimeWord::Of | TimeWord::In).then_some(()))?;
    let month = c.attempt(relative_month).or_else(|| c.attempt(named_month))?;
    Some(DateExpr::WeekdayOfMonth { nth, weekday, month })
}

/// Parses next month, this month, the month.
fn relative_month(c: &mut TokenCursor<'_>) -> Option<MonthRef> {
    let is_current = c.eat(TimeWord::The);
    let shift = c.take_if_some(|word| match word {
        TimeWord::Shift(shift) => Some(i32::from(shift)),
        _ => None,
    });
    let is_month = c.eat(TimeWord::Unit(TimeUnit::Month));
    let shift = shift.or(is_current.then_some(0))?;
    is_month.then_some(MonthRef::Relative(shift))
}

fn named_month(c: &mut TokenCursor<'_>) -> Option<MonthRef> {
    let AnnualPeriod::Month(month) = month_and_day(c)? else { return None };
    Some(MonthRef::Named { month, year: year_of(c).unwrap_or(YearRef::Recent) })
}
