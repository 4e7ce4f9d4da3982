//! Times of a day in a phrase: its parts (morning, 早上) and its clocks.

use super::clock::{clock, clock_before_to};
use super::part::{Cursor, Part, Placed};
use super::rule::WORKDAYS;
use super::word::{Unit, Word};

/// Reads a part of the day, with the day that is part of the word (tonight, 明早) or the "every" before it.
pub(super) fn part_of_day(c: &mut Cursor<'_>) -> Option<Vec<Part>> {
    let is_every = c.eat(Word::Every);
    match c.peek(0) {
        Word::DayAndPart(days, part) => {
            c.at += 1;
            Some(vec![Part::Day(days), Part::OfDay { part, is_recurring: false }])
        }
        Word::Part { part, is_recurring } => {
            (c.width(0) > 1 || is_beside_time(c)).then_some(())?;
            c.at += 1;
            Some(vec![Part::OfDay { part, is_recurring: is_recurring || is_every }])
        }
        Word::Noon | Word::Midnight if is_every => {
            let clock = clock(c, false)?;
            Some(vec![
                Part::Clock(clock),
                Part::Every { count: 1, unit: Unit::Day, is_adjective: false },
            ])
        }
        // "in 3 working days" counts them.
        Word::Unit(Unit::Workday) if !matches!(c.previous(), Word::Number { .. }) => {
            c.at += 1;
            Some(vec![Part::Weekdays { set: WORKDAYS, is_recurring: true, week: None }])
        }
        _ => None,
    }
}

/// Returns `true` if a single 早 or 晚 stands beside a day or an hour.
fn is_beside_time(c: &Cursor<'_>) -> bool {
    let follows_day = matches!(
        c.previous(),
        Word::Day(_)
            | Word::Weekdays { .. }
            | Word::Adverb(_)
            | Word::DayMark
            | Word::Unit(_)
            | Word::Number { .. }
            | Word::HourMark
            | Word::Every
    );
    let hour = (c.peek(1), c.peek(2));
    // 早8晚8, without 点.
    let is_bare_hour = matches!(
        hour,
        (
            Word::Number { value: 1..=12, .. },
            Word::End | Word::Part { .. } | Word::Punctuation | Word::Comma
        )
    ) && c.is_glued(1);
    follows_day
        || is_bare_hour
        || matches!(hour, (Word::Number { .. }, Word::HourMark | Word::Colon))
}

/// Reads a time of day; a bare number counts after "at", in a list of times and at the end.
pub(super) fn timed(c: &mut Cursor<'_>, last: Option<&Placed>) -> Option<Part> {
    let previous = c.previous();
    let follows = |kinds: fn(&Part) -> bool, distance: usize| {
        last.is_some_and(|l| kinds(&l.part) && c.at - l.end <= distance)
    };
    let is_list = matches!(previous, Word::And | Word::Comma | Word::Slash | Word::Dash | Word::To)
        && follows(|p| matches!(p, Part::Clock(_) | Part::To), 2);
    let is_about = previous == Word::About && !matches!(c.peek(1), Word::Task | Word::Unit(_));
    let is_led = is_about
        || matches!(previous, Word::At | Word::Between)
        || matches!(previous, Word::From) && range_follows(c);
    // 早8晚8: a single 早 or 晚 makes the number an hour.
    let is_part_hour = matches!(previous, Word::Part { .. })
        && c.is_glued(0)
        && follows(|p| matches!(p, Part::OfDay { .. }), 0);
    let is_last = follows(|p| !matches!(p, Part::Clock(_)), 0) && ends_after(c);
    let is_in_part = matches!(c.peek(1), Word::Part { is_recurring: false, .. }) && c.width(1) > 2;
    // "set an alarm for 7 tomorrow".
    let is_asked = matches!(previous, Word::Filler | Word::For)
        && matches!(c.peek(1), Word::Day(_) | Word::DayAndPart(..) | Word::Every | Word::Adverb(_));
    let is_expected = is_led
        || is_asked
        || is_military(c)
        || is_list
        || is_last
        || is_in_part
        || is_part_hour
        || follows(|p| matches!(p, Part::Between | Part::To), 0);
    let begins_range = follows(|p| matches!(p, Part::Between), 0) && matches!(c.peek(1), Word::To);
    if begins_range { clock_before_to(c) } else { clock(c, is_expected) }.map(Part::Clock)
}

/// Returns `true` for four digits that begin a phrase and stand before a day: 1730 every day.
fn is_military(c: &Cursor<'_>) -> bool {
    let Word::Number { value, digits: 4 } = c.peek(0) else { return false };
    let is_time = value / 100 < 24 && value % 100 < 60;
    let is_before_day = matches!(
        c.peek(1),
        Word::Every | Word::Adverb(_) | Word::On | Word::Day(_) | Word::Weekdays { .. }
    );
    is_time && c.previous() == Word::End && is_before_day
}

fn range_follows(c: &Cursor<'_>) -> bool {
    matches!(c.peek(1), Word::To | Word::Dash) && matches!(c.peek(2), Word::Number { .. })
}

fn ends_after(c: &Cursor<'_>) -> bool {
    let is_hour_sign = matches!(c.peek(0), Word::Number { value: 13..=23, .. })
        && c.peek(1) == Word::Unit(Unit::Hour)
        && c.width(1) == 1;
    let after = c.peek(if is_hour_sign { 2 } else { 1 });
    matches!(c.peek(0), Word::Number { .. })
        && matches!(after, Word::End | Word::Comma | Word::Punctuation | Word::Part { .. })
}
