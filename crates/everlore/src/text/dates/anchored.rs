//! Times beside another time: the day before Christmas, two weeks after Easter, 国庆前一天, 春节后的周末.
//!
//! The anchor is a holiday, a date or a weekday. Holidays count from the feast itself, not from the days off around it:
//! the day before Christmas is the 24th, and 春节前一天 is the eve.

use jiff::civil::{Date, Weekday};

use super::{
    chinese::weekday_number,
    cursor::TokenCursor,
    english::{weekday_name, year_of},
    expr::{
        AnchorEdge, AnchorOffset, AnnualPeriod, DateExpr, DayPart, Holiday, TimeExpr, TimeUnit,
        YearRef,
    },
    grammar::{day_part, expected_date},
    lexicon::TimeWord,
};

/// Days that "a few days before" and 前夕 may mean, at most.
const FEW_DAYS: i32 = 7;

/// Days of 前夕, and on each side of 前后.
const NEAR_DAYS: i32 = 3;

/// Days by which "two weeks before" may be off, each way.
const WEEK_SLACK: i32 = 3;

/// Largest count of days, weeks or months.
const MAX_COUNT: u32 = 99;

/// Parses the day before Christmas, 3 days after Easter, the Friday before May 8th, around Halloween.
pub(super) fn prefix(c: &mut TokenCursor<'_>) -> Option<TimeExpr> {
    if c.eat(TimeWord::Around) {
        let anchor = anchor(c)?;
        let is_date = matches!(anchor, DateExpr::Annual { .. });
        return is_date.then_some(TimeExpr::Anchored(anchor, AnchorOffset::Around(NEAR_DAYS)));
    }
    let is_definite = c.eat(TimeWord::The);
    let distance = distance(c, is_definite)?;
    let sign = match c.word() {
        TimeWord::Before => -1,
        TimeWord::After => 1,
        _ => return None,
    };
    c.skip();
    let anchor = anchor(c)?;
    Some(TimeExpr::Anchored(anchor, distance.offset(sign)))
}

/// Parses what follows its anchor: Eve, 前一天, 后的周末, 第二天, 前夕, 当天.
pub(super) fn suffix(c: &mut TokenCursor<'_>, anchor: DateExpr) -> Option<TimeExpr> {
    let anchor = Some(anchor).filter(is_anchor)?;
    if c.eat(TimeWord::Eve) {
        let year = year_of(c);
        return Some(TimeExpr::Anchored(in_year_of_eve(anchor, year), day(-1, AnchorEdge::First)));
    }
    c.eat(TimeWord::Of);
    let offset = match c.word() {
        TimeWord::EveSuffix => c.skip_with(days(-NEAR_DAYS, -1, AnchorEdge::First, DayPart::Whole)),
        TimeWord::NextDay => c.skip_with(day(1, AnchorEdge::Last)),
        TimeWord::SameDay => c.skip_with(day(0, AnchorEdge::First)),
        TimeWord::That => {
            c.skip();
            c.eat(TimeWord::Unit(TimeUnit::Day)).then(|| day(0, AnchorEdge::First))
        }
        TimeWord::Around => c.skip_with(AnchorOffset::Around(NEAR_DAYS)),
        TimeWord::Ordinal(nth @ 1..=MAX_COUNT) => {
            c.skip();
            let nth = nth as i32 - 1;
            c.eat(TimeWord::Unit(TimeUnit::Day)).then(|| day(nth, AnchorEdge::First))
        }
        TimeWord::Ago => chinese_distance(c, -1),
        TimeWord::Later => chinese_distance(c, 1),
        _ => None,
    }?;
    Some(TimeExpr::Anchored(anchor, with_part(offset, day_part(c))))
}

/// Returns the days of the feast itself among the days that people call by its name.
pub(super) fn feast_days(holiday: Holiday, (first, end): (Date, Date)) -> Option<(Date, Date)> {
    let only = |offset: i32| {
        let day = plus_days(first, offset)?;
        Some((day, day.tomorrow().ok()?))
    };
    match holiday {
        Holiday::NewYear | Holiday::Christmas | Holiday::DragonBoat | Holiday::MidAutumn => only(1),
        Holiday::Easter => only(2),
        Holiday::Thanksgiving | Holiday::Qingming => only(0),
        // The eve is a day of its own.
        Holiday::SpringFestival => Some((first.tomorrow().ok()?, end)),
        Holiday::Valentine | Holiday::Halloween | Holiday::LabourDay | Holiday::NationalDay => {
            Some((first, end))
        }
    }
}

/// Returns the days at `offset` from an anchor of the days `first` to the day before `end`, the last one excluded.
pub(super) fn days_at(offset: AnchorOffset, (first, end): (Date, Date)) -> Option<(Date, Date)> {
    let last = end.yesterday().ok()?;
    match offset {
        AnchorOffset::Days { from, to, edge, .. } => {
            let edge = if edge == AnchorEdge::First { first } else { last };
            Some((plus_days(edge, from)?, plus_days(edge, to + 1)?))
        }
        AnchorOffset::Around(days) => Some((plus_days(first, -days)?, plus_days(end, days)?)),
        AnchorOffset::Months(sign) => {
            let month = jiff::Span::new().months(1);
            if sign < 0 {
                Some((first.checked_sub(month).ok()?, first))
            } else {
                Some((end, end.checked_add(month).ok()?))
            }
        }
        AnchorOffset::Weekday { weekday, days, sign } => {
            let weekday = Weekday::from_monday_one_offset(weekday).ok()?;
            let edge = if sign < 0 { first } else { last };
            let day = edge.nth_weekday(sign, weekday).ok()?;
            // A weekend before a Sunday began a week before it.
            let overlaps = sign < 0 && plus_days(day, days)? > first;
            let day = if overlaps { plus_days(day, -7)? } else { day };
            Some((day, plus_days(day, days)?))
        }
    }
}

/// Distance from an anchor, without its direction.
enum AnchorDistance {
    /// So many units; `true` if the very next one is meant: "the week before".
    Count {
        least: i32,
        most: i32,
        unit: TimeUnit,
        is_next: bool,
    },
    Part(DayPart),
    Weekday(i8),
}

impl AnchorDistance {
    fn offset(&self, sign: i32) -> AnchorOffset {
        let edge = if sign < 0 { AnchorEdge::First } else { AnchorEdge::Last };
        let range = |near: i32, far: i32| {
            let (a, b) = (near * sign, far * sign);
            days(a.min(b), a.max(b), edge, DayPart::Whole)
        };
        match *self {
            Self::Part(part) => with_part(day(sign, edge), part),
            Self::Weekday(weekday) => AnchorOffset::Weekday { weekday, days: 1, sign },
            Self::Count { unit: TimeUnit::Weekend, .. } => {
                AnchorOffset::Weekday { weekday: 6, days: 2, sign }
            }
            Self::Count { unit: TimeUnit::Week, is_next: true, .. } => range(1, 7),
            Self::Count { unit: TimeUnit::Week, least, most, .. } => {
                range(7 * least - WEEK_SLACK, 7 * most + WEEK_SLACK)
            }
            Self::Count { unit: TimeUnit::Month, is_next: true, .. } => AnchorOffset::Months(sign),
            Self::Count { unit: TimeUnit::Month, least, most, .. } => {
                range(30 * least - 15, 30 * most + 15)
            }
            Self::Count { least, most, .. } => range(least, most),
        }
    }
}

/// Parses the day, 3 days, a week, the weekend, the Friday, the night: before "before" and "after".
fn distance(c: &mut TokenCursor<'_>, is_definite: bool) -> Option<AnchorDistance> {
    if let Some((weekday, _)) = c.take_if_some(weekday_name) {
        return Some(AnchorDistance::Weekday(weekday));
    }
    let part = |word| match word {
        TimeWord::Part(part) => Some(part),
        _ => None,
    };
    if let Some(part) = c.take_if_some(part) {
        return is_definite.then_some(AnchorDistance::Part(part));
    }
    let has_article = c.eat(TimeWord::Article);
    let counted = c.take_if_some(count);
    let unit = c.take_if_some(counted_unit)?;
    let (least, most) = counted.unwrap_or((1, 1));
    let is_next = counted.is_none() && !has_article;
    Some(AnchorDistance::Count { least, most, unit, is_next })
}

/// Parses 前一天, 后两周, 前的周末, 后第一个周一 after an anchor: days that adjoin it.
fn chinese_distance(c: &mut TokenCursor<'_>, sign: i32) -> Option<AnchorOffset> {
    c.skip();
    c.eat(TimeWord::Of);
    c.eat(TimeWord::That);
    let ordinal = c.take_if_some(|word| match word {
        TimeWord::Ordinal(nth @ 1..=MAX_COUNT) => Some(nth as i32),
        _ => None,
    });
    let counted = c.take_if_some(count);
    c.eat(TimeWord::Counter);
    if let Some(weekday) =
        c.attempt(|c| c.eat(TimeWord::Unit(TimeUnit::Week)).then(|| weekday_number(c))?)
    {
        return Some(AnchorOffset::Weekday { weekday, days: 1, sign });
    }
    let unit = c.take_if_some(counted_unit)?;
    let edge = if sign < 0 { AnchorEdge::First } else { AnchorEdge::Last };
    if unit == TimeUnit::Weekend {
        return Some(AnchorOffset::Weekday { weekday: 6, days: 2, sign });
    }
    if let Some(nth) = ordinal.filter(|_| unit == TimeUnit::Day) {
        return Some(day(nth * sign, edge));
    }
    let (_, most) = counted?;
    let length = match unit {
        TimeUnit::Day => most,
        TimeUnit::Week => 7 * most,
        TimeUnit::Month if most == 1 => return Some(AnchorOffset::Months(sign)),
        TimeUnit::Month => 30 * most,
        _ => return None,
    };
    let (a, b) = (sign, length * sign);
    Some(days(a.min(b), a.max(b), edge, DayPart::Whole))
}

/// Parses the anchor after a preposition.
fn anchor(c: &mut TokenCursor<'_>) -> Option<DateExpr> {
    let before_skip = c.word();
    c.eat(TimeWord::The);
    let anchor = expected_date(c).filter(is_anchor)?;
    let is_bare_shift = matches!(before_skip, TimeWord::Unit(_));
    (!is_bare_shift).then_some(anchor)
}

fn is_anchor(moment: &DateExpr) -> bool {
    match moment {
        DateExpr::Annual { period, .. } => {
            matches!(period, AnnualPeriod::Holiday(_) | AnnualPeriod::Date { .. })
        }
        DateExpr::Weekday { .. }
        | DateExpr::WeekdayOfMonth { .. }
        | DateExpr::MonthDay { .. }
        | DateExpr::Day { .. } => true,
        DateExpr::Period { .. } | DateExpr::Months { .. } | DateExpr::Offset { .. } => false,
    }
}

/// Returns the anchor in the year of its eve: the eve of New Year 2023 lies in 2022, and people name that year.
fn in_year_of_eve(anchor: DateExpr, eve: Option<YearRef>) -> DateExpr {
    match (anchor, eve) {
        (DateExpr::Annual { period, part, .. }, Some(eve)) => {
            let next = |year| match year {
                YearRef::Absolute(year) => YearRef::Absolute(year + 1),
                YearRef::Relative(years) => YearRef::Relative(years + 1),
                other => other,
            };
            let is_new_year = period == AnnualPeriod::Holiday(Holiday::NewYear);
            let year = if is_new_year { next(eve) } else { eve };
            DateExpr::Annual { period, year, part }
        }
        (anchor, _) => anchor,
    }
}

fn count(word: TimeWord) -> Option<(i32, i32)> {
    match word {
        TimeWord::Number { value: value @ 1..=MAX_COUNT, .. } => Some((value as i32, value as i32)),
        TimeWord::Few => Some((1, FEW_DAYS)),
        _ => None,
    }
}

fn counted_unit(word: TimeWord) -> Option<TimeUnit> {
    match word {
        TimeWord::Unit(
            unit @ (TimeUnit::Day | TimeUnit::Week | TimeUnit::Weekend | TimeUnit::Month),
        ) => Some(unit),
        _ => None,
    }
}

fn day(offset: i32, edge: AnchorEdge) -> AnchorOffset {
    days(offset, offset, edge, DayPart::Whole)
}

fn days(from: i32, to: i32, edge: AnchorEdge, part: DayPart) -> AnchorOffset {
    AnchorOffset::Days { from, to, edge, part }
}

/// Returns the offset with a part of its day; ranges of days have none.
fn with_part(offset: AnchorOffset, part: DayPart) -> AnchorOffset {
    match offset {
        AnchorOffset::Days { from, to, edge, .. } if from == to => days(from, to, edge, part),
        other => other,
    }
}

fn plus_days(date: Date, days: i32) -> Option<Date> {
    date.checked_add(jiff::Span::new().try_days(days).ok()?).ok()
}
