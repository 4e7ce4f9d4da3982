//! Resolves times of day: which half of the day an hour is in, and which times make a range.

use super::part::{ClockTime, HalfDay, Part, Placed};
use super::rule::END_OF_DAY;
use super::trouble::Trouble;
use super::word::PartOfDay;

/// Time of day with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ResolvedTime {
    pub(super) minute: u16,
    /// First token.
    pub(super) first: usize,
    /// Set for the word midnight, which may begin or end a day.
    pub(super) is_midnight: bool,
    /// Set if a part of the day stands for the time.
    pub(super) is_default: bool,
    /// Set for an hour after midnight that is called night: Sunday night at 2am may belong to Monday.
    pub(super) is_late: bool,
}

/// Times that a phrase names.
#[derive(Debug, Default)]
pub(super) struct Times {
    pub(super) single: Vec<ResolvedTime>,
    /// First and last minute of a range.
    pub(super) window: Option<(u16, u16)>,
}

/// Properties of the whole phrase that decide about its hours.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeContext {
    pub(super) is_chinese: bool,
    /// Set if somebody is to be woken.
    pub(super) is_waking: bool,
}

/// Part of the day that waits for its hour.
#[derive(Debug, Clone, Copy)]
struct Pending {
    part: PartOfDay,
    first: usize,
    is_used: bool,
}

/// Resolves all times of the parts in order.
pub(super) fn resolve(
    parts: &[Placed],
    phrase: TimeContext,
    text: impl Fn(&Placed) -> String,
) -> Result<Times, Trouble> {
    let mut reader = TimeReader {
        is_chinese: phrase.is_chinese,
        is_waking: phrase.is_waking,
        ..TimeReader::default()
    };
    for (index, placed) in parts.iter().enumerate() {
        match placed.part {
            Part::OfDay { part, .. } => reader.day_part(part, placed, parts, index)?,
            Part::Clock(clock) => {
                let clock = with_shared_half(clock, parts, index);
                reader.clock(clock, placed).map_err(|kind| kind.trouble(text(placed)))?;
            }
            Part::To if index > 0 => reader.is_range = true,
            Part::Between => reader.is_between = true,
            _ => {}
        }
    }
    reader.finish()
}

/// Kind of a failure, before the words are known.
#[derive(Debug, Clone, Copy)]
enum TimeFailure {
    NoSuchTime,
    AmOrPm,
    Contradiction,
}

impl TimeFailure {
    fn trouble(self, word: String) -> Trouble {
        match self {
            Self::NoSuchTime => Trouble::NoSuchTime(word),
            Self::AmOrPm => Trouble::AmOrPm(word),
            Self::Contradiction => Trouble::Contradiction(word),
        }
    }
}

#[derive(Debug, Default)]
struct TimeReader {
    times: Vec<ResolvedTime>,
    window: Option<(u16, u16)>,
    pending: Option<Pending>,
    is_chinese: bool,
    is_waking: bool,
    is_range: bool,
    is_between: bool,
}

impl TimeReader {
    fn day_part(
        &mut self,
        part: PartOfDay,
        placed: &Placed,
        parts: &[Placed],
        index: usize,
    ) -> Result<(), Trouble> {
        let clock = clock_before(parts, index).filter(|_| !self.is_chinese);
        if let Some(clock) = clock
            && (clock.half.is_some() || !is_next_clock(parts, index))
        {
            return self.explain_last(clock, part);
        }
        let before = parts[..index].iter().rev().find(|other| other.first != placed.first).copied();
        // 早上和晚上8点: which hour of the morning is not said.
        if let Some(Placed { part: Part::OfDay { .. }, end, .. }) = before
            && (end == placed.first || end + 1 == placed.first && is_clock_near(parts, index))
            && self.pending.is_some_and(|pending| !pending.is_used)
        {
            return Err(Trouble::WhichTimes);
        }
        self.flush()?;
        self.pending = Some(Pending { part, first: placed.first, is_used: false });
        Ok(())
    }

    /// Lets a part of the day explain the hour before it: "at 8 in the evening", "8pm tonight".
    fn explain_last(&mut self, clock: ClockTime, part: PartOfDay) -> Result<(), Trouble> {
        let contradiction = Trouble::Contradiction(String::new());
        let Some(last) = self.times.last_mut() else { return Err(Trouble::WhichTimes) };
        if clock.half.is_some() {
            let agrees = is_said_of(part, u32::from(last.minute / 60));
            return if agrees { Ok(()) } else { Err(contradiction) };
        }
        last.minute = in_part(clock, part).ok_or(contradiction)?;
        Ok(())
    }

    fn clock(&mut self, clock: ClockTime, placed: &Placed) -> Result<(), TimeFailure> {
        let minute = self.minute_of(clock)?;
        let is_late = self.pending.is_some_and(|p| !p.is_used && is_after_midnight(p.part, minute));
        if let Some(pending) = &mut self.pending {
            pending.is_used = true;
        }
        let time = ResolvedTime {
            minute,
            first: placed.first,
            is_midnight: clock.is_midnight,
            is_default: false,
            is_late,
        };
        self.times.push(time);
        if self.times.len() >= 2 && (self.is_range || self.is_between) {
            self.close_range()?;
        }
        Ok(())
    }

    fn close_range(&mut self) -> Result<(), TimeFailure> {
        let (Some(to), Some(from)) = (self.times.pop(), self.times.pop()) else { return Ok(()) };
        self.is_range = false;
        self.is_between = false;
        // A range that ends before it begins goes over midnight.
        (from.minute != to.minute && self.window.is_none())
            .then_some(())
            .ok_or(TimeFailure::Contradiction)?;
        self.window = Some((from.minute, to.minute));
        Ok(())
    }

    fn minute_of(&self, clock: ClockTime) -> Result<u16, TimeFailure> {
        let is_valid =
            clock.minute < 60 && (clock.hour < 24 || clock.hour == 24 && clock.minute == 0);
        is_valid.then_some(()).ok_or(TimeFailure::NoSuchTime)?;
        let minute = |hour: u32| (hour * 60 + clock.minute) as u16;
        if let Some(half) = clock.half {
            let hour = half_day_hour(clock.hour, half).ok_or(TimeFailure::NoSuchTime)?;
            let agrees = self.pending.is_none_or(|p| {
                p.is_used || p.part.hour(hour) == Some(hour) || is_night(p.part, hour)
            });
            return if agrees { Ok(minute(hour)) } else { Err(TimeFailure::Contradiction) };
        }
        match self.pending {
            Some(pending) if !pending.is_used => {
                in_part(clock, pending.part).ok_or(TimeFailure::Contradiction)
            }
            // 下午三点和五点: the part holds for later hours of the list.
            Some(pending) => in_part(clock, pending.part)
                .filter(|m| self.times.last().is_none_or(|last| *m > last.minute))
                .map_or_else(|| self.bare(clock), Ok),
            None => self.bare(clock),
        }
    }

    /// Resolves an hour that nothing else explains.
    fn bare(&self, clock: ClockTime) -> Result<u16, TimeFailure> {
        let minute = |hour: u32| Ok((hour * 60 + clock.minute) as u16);
        match clock.hour {
            _ if clock.is_exact => minute(clock.hour),
            4..=6 if self.is_waking => minute(clock.hour),
            1..=3 if self.is_waking => Err(TimeFailure::AmOrPm),
            1..=6 if self.is_chinese => Err(TimeFailure::AmOrPm),
            1..=6 => minute(clock.hour + 12),
            _ => minute(clock.hour),
        }
    }

    /// Takes a part of the day without an hour for its usual time.
    fn flush(&mut self) -> Result<(), Trouble> {
        let Some(pending) = self.pending.take().filter(|pending| !pending.is_used) else {
            return Ok(());
        };
        let minute = pending.part.default_minute().ok_or(Trouble::WhichTimes)?;
        let is_midnight = pending.part == PartOfDay::MidNight;
        self.times.push(ResolvedTime {
            minute,
            first: pending.first,
            is_midnight,
            is_default: true,
            is_late: false,
        });
        Ok(())
    }

    fn finish(mut self) -> Result<Times, Trouble> {
        self.flush()?;
        if self.is_range {
            return Err(Trouble::WhichTimes);
        }
        Ok(Times { single: self.times, window: self.window })
    }
}

/// Returns `true` for an hour after midnight that a word for the night before it names; 凌晨 begins a day.
fn is_after_midnight(part: PartOfDay, minute: u16) -> bool {
    const FIVE: u16 = 5 * 60;
    let is_night = matches!(part, PartOfDay::Night | PartOfDay::LateEvening | PartOfDay::MidNight);
    is_night && (1..FIVE).contains(&minute)
}

/// Returns the hour that a part of the day stands behind, right behind it or with its day between them: "at 8 in the
/// evening", "at 8 every Sunday evening".
fn clock_before(parts: &[Placed], index: usize) -> Option<ClockTime> {
    let first = parts[index].first;
    let mut before = parts[..index].iter().rev().skip_while(|part| part.first == first).peekable();
    let mut end = first;
    // The day and its part are one expression, so nothing stands between them.
    let is_day_of_part = before.peek().is_some_and(|day| is_day(&day.part) && day.end == first);
    while let Some(day) = before.next_if(|part| is_day_of_part && is_day(&part.part)) {
        (end - day.end.min(end) <= 1).then_some(())?;
        end = day.first;
    }
    let Placed { part: Part::Clock(clock), end: clock_end, .. } = before.next()? else {
        return None;
    };
    (end - (*clock_end).min(end) <= 1).then_some(*clock)
}

fn is_day(part: &Part) -> bool {
    matches!(part, Part::Weekdays { .. } | Part::Day(_) | Part::Every { .. })
}

/// Returns `true` if the next part is an hour that a part of the day before it may explain: "tonight 8".
fn is_next_clock(parts: &[Placed], index: usize) -> bool {
    let next = parts.get(index + 1);
    next.is_some_and(|next| matches!(next.part, Part::Clock(_)) && next.first == parts[index].end)
}

/// Returns `true` if an hour follows a part of the day, with one small word between them at most.
fn is_clock_near(parts: &[Placed], index: usize) -> bool {
    let next = parts.get(index + 1);
    next.is_some_and(|p| matches!(p.part, Part::Clock(_)) && p.first - parts[index].end <= 1)
}

/// Returns `true` for hours that a part of the day is said of together with am or pm: 5pm tonight.
fn is_said_of(part: PartOfDay, hour: u32) -> bool {
    part.hour(hour) == Some(hour) || is_night(part, hour) || part == PartOfDay::Night && hour >= 16
}

/// Returns `true` for hours that "night" is said of together with am or pm.
fn is_night(part: PartOfDay, hour: u32) -> bool {
    matches!(part, PartOfDay::Night | PartOfDay::LateEvening | PartOfDay::MidNight)
        && !(5..18).contains(&hour)
        || matches!(part, PartOfDay::Evening) && hour >= 16
        || matches!(part, PartOfDay::Morning) && hour < 12
}

fn in_part(clock: ClockTime, part: PartOfDay) -> Option<u16> {
    if clock.is_midnight {
        return matches!(part, PartOfDay::Night | PartOfDay::LateEvening | PartOfDay::MidNight)
            .then_some(END_OF_DAY);
    }
    if clock.is_exact && clock.hour >= 1 && clock.hour <= 12 {
        return (part.hour(clock.hour) == Some(clock.hour))
            .then_some((clock.hour * 60 + clock.minute) as u16);
    }
    let hour = part.hour(clock.hour)?;
    // 半夜12点半: the night goes on after midnight.
    if hour == 24 && clock.minute > 0 {
        return Some(clock.minute as u16);
    }
    Some((hour * 60 + clock.minute) as u16).filter(|minute| *minute <= END_OF_DAY)
}

fn half_day_hour(hour: u32, half: HalfDay) -> Option<u32> {
    match (hour, half) {
        (12, HalfDay::Am) => Some(0),
        (12, HalfDay::Pm) => Some(12),
        (1..=11, HalfDay::Am) => Some(hour),
        (1..=11, HalfDay::Pm) => Some(hour + 12),
        (13..=23, HalfDay::Pm) => Some(hour),
        _ => None,
    }
}

/// Gives the first hour of "between 2 and 4pm" the half of the second.
fn with_shared_half(clock: ClockTime, parts: &[Placed], index: usize) -> ClockTime {
    let is_bare = clock.half.is_none() && !clock.is_exact;
    let is_range = index > 0 && parts[index - 1].part == Part::Between
        || parts.get(index + 1).is_some_and(|next| next.part == Part::To);
    let next = parts[index + 1..]
        .iter()
        .find_map(|p| if let Part::Clock(next) = p.part { Some(next) } else { None });
    match next {
        Some(next)
            if is_bare && is_range && next.half.is_some() && clock.hour % 12 < next.hour % 12 =>
        {
            ClockTime { half: next.half, ..clock }
        }
        _ => clock,
    }
}

/// Returns the text position of a bare hour whose half of the day a later "pm" leaves open: "at 8 and 10pm".
pub(super) fn open_half(parts: &[Placed]) -> Option<usize> {
    parts
        .windows(2)
        .position(|pair| match (pair[0].part, pair[1].part) {
            (Part::Clock(a), Part::Clock(b)) => {
                a.half.is_none()
                    && !a.is_exact
                    && b.half == Some(HalfDay::Pm)
                    && a.hour >= 7
                    && a.hour < 12
                    && a.hour % 12 < b.hour % 12
                    && pair[1].first - pair[0].end <= 2
            }
            _ => false,
        })
        .filter(|at| *at == 0 || parts[at - 1].part != Part::Between)
}
