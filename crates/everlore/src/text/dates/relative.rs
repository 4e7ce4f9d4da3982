//! Distances from now and durations.

use super::cursor::TokenCursor;
use super::expr::{CalendarDelta, DateExpr, TimeUnit};
use super::lexicon::TimeWord;

/// Largest count of a distance in time.
const MAX_COUNT: u32 = 9_999;

/// Number from which years are the number of a year: 2022年之前.
const FIRST_YEAR: i32 = 1_000;

/// Range of "a few": two to a week's worth.
const FEW: (i32, i32) = (2, 7);

/// Parses 3 days ago, a year ago, in two weeks, the past week, 三个月前, 半年前, 最近三天, 前几天.
pub(super) fn parse(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    match c.word() {
        TimeWord::Past => {
            c.skip();
            c.eat(TimeWord::Of);
            rolling_window(c, false)
        }
        TimeWord::Coming => {
            c.skip();
            rolling_window(c, true)
        }
        TimeWord::In => {
            c.skip();
            let length = duration(c)?;
            (c.word() != TimeWord::Ago).then(|| length.offset_from_now(1))
        }
        TimeWord::Ago => some_days_back(c),
        _ => ago_or_later(c),
    }
}

fn ago_or_later(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    let length = duration(c)?;
    match c.word() {
        TimeWord::Ago => c.skip_with(length.offset_from_now(-1)),
        TimeWord::Later => c.skip_with(length.offset_from_now(1)),
        TimeWord::DurationSuffix => c.skip_with(length.window_from_now(-1)),
        _ => None,
    }
}

/// Parses the window from now back or ahead; a unit without a number counts once.
pub(super) fn rolling_window(c: &mut TokenCursor<'_>, ahead: bool) -> Option<DateExpr> {
    let one = |unit: TimeUnit| VagueDuration::exactly(unit.delta(), unit.slack());
    let length = c.attempt(duration).or_else(|| c.take_if_some(unit).map(one))?;
    Some(length.window_from_now(if ahead { 1 } else { -1 }))
}

/// Parses 前几天, 前两天.
fn some_days_back(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    c.skip();
    let vague = matches!(c.word(), TimeWord::Few | TimeWord::Number { value: 2, digits: 0 });
    c.skip();
    let unit = c.take_if_some(unit)?;
    let (least, most) = FEW;
    let days = VagueDuration {
        min: unit.delta().times(least),
        max: unit.delta().times(most),
        slack: unit.slack(),
        counts_months: unit == TimeUnit::Month,
    };
    vague.then(|| days.offset_from_now(-1))
}

/// Duration as vague as it was said.
struct VagueDuration {
    min: CalendarDelta,
    max: CalendarDelta,
    slack: CalendarDelta,
    /// Set if it was said in whole months.
    counts_months: bool,
}

impl VagueDuration {
    fn exactly(amount: CalendarDelta, slack: CalendarDelta) -> Self {
        Self { min: amount, max: amount, slack, counts_months: false }
    }

    /// Returns the point at this distance from now, back or ahead.
    fn offset_from_now(&self, sign: i32) -> DateExpr {
        let (a, b) = (self.min.times(sign), self.max.times(sign));
        let (from, to) = if sign < 0 { (b, a) } else { (a, b) };
        if self.counts_months {
            return DateExpr::Months { from: from.months, to: to.months };
        }
        DateExpr::Offset { from, to, slack: self.slack }
    }

    /// Returns all the time between now and this distance from it.
    fn window_from_now(&self, sign: i32) -> DateExpr {
        let (far, now) = (self.max.times(sign), CalendarDelta::default());
        let (from, to) = if sign < 0 { (far, now) } else { (now, far) };
        DateExpr::Offset { from, to, slack: CalendarDelta::default() }
    }
}

/// Parses two weeks, a year and a half, a few days, 半年, 一年半, 几个月.
fn duration(c: &mut TokenCursor<'_>) -> Option<VagueDuration> {
    let article = c.eat(TimeWord::Article);
    if c.eat(TimeWord::Half) {
        let unit = c.take_if_some(unit)?;
        let half = unit.half()?;
        // Half a unit has half the uncertainty.
        let slack = CalendarDelta {
            days: unit.slack().days / 2,
            minutes: unit.slack().minutes / 2,
            months: 0,
        };
        return Some(VagueDuration::exactly(half, slack));
    }
    let (least, most) = match c.take_if_some(count) {
        Some(counted) => counted,
        None if article => (1, 1),
        None => return None,
    };
    let unit = c.take_if_some(unit)?;
    if unit == TimeUnit::Year && least >= FIRST_YEAR {
        return None;
    }
    let half = c.attempt(|c| and_a_half(c, unit));
    let amount = |n| unit.delta().times(n).plus(half.unwrap_or_default());
    Some(VagueDuration {
        min: amount(least),
        max: amount(most),
        slack: unit.slack(),
        counts_months: unit == TimeUnit::Month && half.is_none(),
    })
}

fn count(word: TimeWord) -> Option<(i32, i32)> {
    match word {
        TimeWord::Number { value: value @ 1..=MAX_COUNT, .. } => Some((value as i32, value as i32)),
        TimeWord::Few => Some(FEW),
        _ => None,
    }
}

fn unit(word: TimeWord) -> Option<TimeUnit> {
    match word {
        TimeWord::Unit(unit) => Some(unit),
        TimeWord::DayMark => Some(TimeUnit::Day),
        TimeWord::YearMark => Some(TimeUnit::Year),
        _ => None,
    }
}

fn and_a_half(c: &mut TokenCursor<'_>, unit: TimeUnit) -> Option<CalendarDelta> {
    if c.eat(TimeWord::And) {
        c.eat(TimeWord::Article);
    }
    c.eat(TimeWord::Half).then(|| unit.half())?
}

/// Returns `true` if a duration begins here: "for two years", 三个小时.
pub(super) fn is_duration(mut c: TokenCursor<'_>) -> bool {
    let is_expected = c.word() != TimeWord::Article || c.look_back(1) == TimeWord::For;
    is_expected && duration(&mut c).is_some()
}
