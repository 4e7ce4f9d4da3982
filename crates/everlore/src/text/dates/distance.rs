//! Distances from now and lengths of time.

use super::cursor::Cursor;
use super::when::{Amount, Moment, Unit};
use super::words::Word;

/// Counts above this are no distance in time anyone means.
const MAX_COUNT: u32 = 9_999;

/// So many years are the number of a year: 2022年之前.
const FIRST_YEAR: i32 = 1_000;

/// What "a few" covers: two to a week's worth.
const FEW: (i32, i32) = (2, 7);

/// 3 days ago, a year ago, in two weeks, the past week, 三个月前, 半年前, 最近三天, 前几天.
pub(super) fn moment(c: &mut Cursor<'_>) -> Option<Moment> {
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
pub(super) fn stretch(c: &mut Cursor<'_>, ahead: bool) -> Option<Moment> {
    let one = |unit: Unit| Length::exactly(unit.amount(), unit.slack());
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
        counts_months: unit == Unit::Month,
    };
    vague.then(|| days.away(-1))
}

/// A length of time, as vague as it was told.
struct Length {
    least: Amount,
    most: Amount,
    slack: Amount,
    /// It was told in whole months.
    counts_months: bool,
}

impl Length {
    fn exactly(amount: Amount, slack: Amount) -> Self {
        Self { least: amount, most: amount, slack, counts_months: false }
    }

    /// So far from now, back or ahead.
    fn away(&self, sign: i32) -> Moment {
        let (a, b) = (self.least.times(sign), self.most.times(sign));
        let (from, to) = if sign < 0 { (b, a) } else { (a, b) };
        if self.counts_months {
            return Moment::Months { from: from.months, to: to.months };
        }
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
        return Some(Length::exactly(half, slack));
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
    let half = c.attempt(|c| and_a_half(c, unit));
    let amount = |n| unit.amount().times(n).plus(half.unwrap_or_default());
    Some(Length {
        least: amount(least),
        most: amount(most),
        slack: unit.slack(),
        counts_months: unit == Unit::Month && half.is_none(),
    })
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
