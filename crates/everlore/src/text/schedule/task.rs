//! The words of a phrase that are not about time: the task, and words that should have been understood.

use super::clauses::TaskClause;
use super::lexer::{Token, is_han};
use super::part::{Part, Placed};
use super::word::{Unit, Word};

/// Returns the tokens that parts have taken, and the small words beside them.
///
/// The words of `clause` belong to the task.
pub(super) fn taken(tokens: &[Token], parts: &[Placed], clause: Option<TaskClause>) -> Vec<bool> {
    let mut taken = vec![false; tokens.len()];
    for part in parts {
        taken[part.first..part.end].fill(true);
    }
    // Glue before a part goes with it; so does glue between two parts.
    for at in (0..tokens.len()).rev() {
        let is_next_taken = taken.get(at + 1).copied().unwrap_or(false);
        taken[at] |= is_next_taken && is_glue(tokens[at].word);
    }
    for at in 1..tokens.len() {
        let ends_phrase = matches!(
            tokens[at].word,
            Word::Of
                | Word::ThatDay
                | Word::Measure
                | Word::Time
                | Word::OClock
                | Word::Sharp
                | Word::Dot
        );
        taken[at] |= taken[at - 1] && ends_phrase;
    }
    if let Some(clause) = clause {
        taken[clause.first..clause.end].fill(false);
    }
    taken
}

/// Leaves a length of minutes or hours to the task, "meditate for 20 minutes every morning", unless it bounds an interval:
/// "every 5 minutes for 2 hours".
pub(super) fn leave_lengths(parts: &mut Vec<Placed>) {
    let is_interval = |part: &Placed| {
        matches!(part.part, Part::EveryMinutes(_))
            || matches!(
                part.part,
                Part::Every { unit: Unit::Second | Unit::Minute | Unit::Hour, .. }
            )
    };
    if !parts.iter().any(is_interval) {
        parts.retain(|part| !matches!(part.part, Part::Span { seconds: 1.., .. }));
    }
}

fn is_glue(word: Word) -> bool {
    matches!(
        word,
        Word::At
            | Word::About
            | Word::On
            | Word::In
            | Word::Of
            | Word::The
            | Word::And
            | Word::Comma
            | Word::From
            | Word::To
            | Word::Slash
            | Word::Colon
            | Word::Dash
            | Word::Measure
    )
}

/// Iterates over the words about time that no part has taken.
pub(super) fn leftovers(tokens: &[Token], taken: &[bool]) -> impl Iterator<Item = usize> {
    (0..tokens.len()).filter(|at| !taken[*at] && is_about_time(tokens, taken, *at))
}

/// Returns `true` if an untaken token speaks of time.
fn is_about_time(tokens: &[Token], taken: &[bool], at: usize) -> bool {
    let word = tokens[at].word;
    let unit = match word {
        Word::Unit(Unit::Minute | Unit::Hour) => Some(at),
        Word::Half => Some(at + 1),
        // 冥想一刻钟.
        Word::Quarter => Some(at),
        _ => None,
    };
    if unit.is_some_and(|unit| is_task_length(tokens, taken, unit)) {
        return false;
    }
    let near = Neighbourhood::of(tokens, taken, at);
    is_time_word(word)
        || near.makes_unit(word)
        || near.makes_time(word)
        || near.makes_hour(word) && !is_count(tokens, at)
        || near.is_part_hour(word)
        || near.counts_weekdays(word)
}

/// Returns `true` for a word that speaks of time wherever it stands.
fn is_time_word(word: Word) -> bool {
    matches!(
        word,
        Word::Every
            | Word::EveryOther
            | Word::EveryGap
            | Word::Adverb(_)
            | Word::Alternate(_)
            | Word::Weekdays { .. }
            | Word::MonthParity(_)
            | Word::DayParity(_)
            | Word::Noon
            | Word::Midnight
            | Word::Day(_)
            | Word::DayAndPart(..)
            | Word::YearShift(_)
            | Word::Month { is_common_word: false, .. }
            | Word::Date { .. }
            | Word::Twice
            | Word::Starting
            | Word::Until
            | Word::Vague
            | Word::OnTheHour
            | Word::OnTheHalfHour
            | Word::SameTime
            | Word::PeriodEdge { .. }
            | Word::AfterNextSuffix
            | Word::Zone(_)
            | Word::Between
            | Word::Number { value: 1990..=2099, digits: 4 }
    )
}

/// Words around an untaken token.
struct Neighbourhood {
    before: Word,
    after: Word,
    /// Characters of the token.
    width: usize,
    is_after_part: bool,
    is_before_part: bool,
    /// Set if the token touches the one before it.
    is_glued: bool,
}

impl Neighbourhood {
    fn of(tokens: &[Token], taken: &[bool], at: usize) -> Self {
        let before = at.checked_sub(1).map(|at| tokens[at]);
        Self {
            before: before.map_or(Word::End, |token| token.word),
            after: tokens.get(at + 1).map_or(Word::End, |token| token.word),
            width: tokens[at].end - tokens[at].start,
            is_after_part: at > 0 && taken[at - 1],
            is_before_part: taken.get(at + 1) == Some(&true),
            is_glued: before.is_some_and(|token| token.end == tokens[at].start),
        }
    }

    /// Returns `true` if a unit or a mark counts or names a time here.
    fn makes_unit(&self, word: Word) -> bool {
        let is_led =
            matches!(self.before, Word::Number { .. } | Word::Ordinal(_) | Word::Next | Word::This);
        let is_counted =
            is_led || matches!(self.before, Word::Every | Word::Last | Word::Half | Word::Article);
        match word {
            // "Friday week" is a week after Friday.
            Word::Unit(Unit::Week) => {
                is_counted
                    || matches!(self.before, Word::Weekdays { .. } | Word::Day(_))
                    || matches!(self.after, Word::Number { .. })
            }
            Word::Unit(_) => is_counted,
            Word::HourMark
            | Word::MinuteMark
            | Word::DayMark
            | Word::MonthMark
            | Word::YearMark
            | Word::Quarter => is_led && self.is_glued,
            Word::Half => {
                matches!(self.before, Word::And | Word::Article | Word::Number { .. })
                    && self.after != Word::Task
            }
            Word::OClock | Word::Am | Word::Pm => matches!(self.before, Word::Number { .. }),
            _ => false,
        }
    }

    /// Returns `true` if a word that may mean other things speaks of time here.
    fn makes_time(&self, word: Word) -> bool {
        let names_day =
            matches!(self.after, Word::Weekdays { .. } | Word::Unit(_) | Word::Month { .. });
        match word {
            Word::Part { .. } => self.width > 1,
            // 除了13号: what is excepted was read as the day itself.
            Word::Except => self.width > 3 || self.width <= 2 && self.is_before_part,
            Word::Gone => self.width > 1 || self.is_after_part,
            Word::Later | Word::StartSuffix | Word::ExceptSuffix => {
                self.is_after_part && self.is_glued
            }
            Word::About => matches!(self.after, Word::Number { .. }),
            Word::ShortZone(_) | Word::CityZone(_) | Word::Time => self.is_after_part,
            // 纽约早上9点: the zone of the time, perhaps.
            Word::PlaceZone(_) => self.is_before_part && self.begins_clause(),
            Word::Past => {
                self.is_after_part || matches!(self.before, Word::Number { .. } | Word::Unit(_))
            }
            Word::Any => names_day || matches!(self.after, Word::Part { .. }),
            Word::FromEnd(_) => names_day || self.after == Word::Measure,
            Word::Next if matches!(self.before, Word::Weekdays { .. }) => true,
            Word::Next | Word::This | Word::AfterNext => names_day || self.after == Word::MonthMark,
            Word::ThatDay => true,
            Word::Last => names_day,
            Word::Or | Word::Within => self.is_after_part && self.is_before_part,
            Word::Colon => {
                matches!(self.before, Word::Number { digits: 1.., .. })
                    && matches!(self.after, Word::Number { digits: 2, .. })
            }
            _ => false,
        }
    }

    fn precedes_zone(&self) -> bool {
        matches!(self.after, Word::CityZone(_) | Word::ShortZone(_) | Word::Zone(_))
    }

    fn begins_clause(&self) -> bool {
        matches!(self.before, Word::End | Word::Comma | Word::Punctuation | Word::Filler)
    }

    /// Returns `true` if a number may be an hour or a count: "Friday 5 pushups".
    fn makes_hour(&self, word: Word) -> bool {
        // "9 to 5 every hour", "8 every morning": hours, unless words of the task lead to them.
        let is_range = (matches!(self.after, Word::To | Word::Dash) || self.is_before_part)
            && self.before == Word::End;
        matches!(word, Word::Number { value: 0..=24, .. })
            && (self.is_after_part
                || self.before == Word::Comma
                || is_range
                || self.precedes_zone())
    }

    /// Returns `true` if a number counts weekdays: "in two Fridays".
    fn counts_weekdays(&self, word: Word) -> bool {
        let Word::Number { digits, .. } = word else { return false };
        self.is_before_part
            && matches!(self.after, Word::Weekdays { .. })
            && (digits == 0 || self.before != Word::Task)
    }

    /// Returns `true` if a number is the hour of a part of the day: "8 in the evening".
    fn is_part_hour(&self, word: Word) -> bool {
        matches!(word, Word::Number { value: 0..=24, .. })
            && self.is_before_part
            && matches!(self.after, Word::Part { .. })
    }
}

/// Returns `true` if minutes or hours tell how long the task takes: "for 20 minutes", 跑步30分钟, "a 20 minute walk".
fn is_task_length(tokens: &[Token], taken: &[bool], at: usize) -> bool {
    let is_number = |token: &Token| {
        matches!(
            token.word,
            Word::Number { .. } | Word::Article | Word::Measure | Word::Half | Word::Quarter
        )
    };
    let first = (0..at).rev().take_while(|n| !taken[*n] && is_number(&tokens[*n])).last();
    let (Some(first), Some(unit)) = (first, tokens.get(at)) else { return false };
    let before = first.checked_sub(1).map_or(Word::End, |n| tokens[n].word);
    let after = tokens.get(at + 1).map_or(Word::End, |token| token.word);
    let is_task_before = before == Word::Task && tokens[first - 1].end == tokens[first].start;
    let is_adjective =
        after == Word::Task && unit.is_spelled && matches!(unit.end - unit.start, 3..=6);
    before == Word::For || is_task_before || is_adjective
}

/// Returns `true` if a number counts what follows it: 一次, 3 servers after other words.
fn is_count(tokens: &[Token], at: usize) -> bool {
    let after = tokens.get(at + 1).map_or(Word::End, |token| token.word);
    let is_joined = tokens.get(at + 1).is_some_and(|next| next.start == tokens[at].end);
    matches!(after, Word::Measure)
        || is_joined && matches!(after, Word::Task | Word::Colon | Word::Times)
}

/// Returns the text of the task: what is left without the words of the schedule.
pub(super) fn task(text: &[char], tokens: &[Token], taken: &[bool]) -> Option<String> {
    let mut segments: Vec<String> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if taken[at] {
            at += 1;
            continue;
        }
        let end = (at..tokens.len()).find(|next| taken[*next]).unwrap_or(tokens.len());
        segments.extend(segment(text, &tokens[at..end]));
        at = end;
    }
    let joined = segments.into_iter().reduce(|all, next| join(&all, &next))?;
    (!joined.is_empty()).then_some(joined)
}

/// Returns the text of neighbouring tokens without the fillers and punctuation around them.
fn segment(text: &[char], tokens: &[Token]) -> Option<String> {
    let is_edge = |token: &&Token| {
        matches!(
            token.word,
            Word::Filler
                | Word::Waking
                | Word::Punctuation
                | Word::Comma
                | Word::Dot
                | Word::Dash
                | Word::Colon
                | Word::And
                | Word::To
                | Word::Of
                | Word::At
                | Word::On
                | Word::The
        )
    };
    let first = tokens.iter().position(|token| !is_edge(&token) || is_opening(text, token))?;
    let last = tokens.iter().rposition(|token| !is_edge(&token) || is_closing(text, token))?;
    (first <= last).then(|| text[tokens[first].start..tokens[last].end].iter().collect())
}

/// Returns `true` for a word that belongs to the task when it begins it.
fn is_opening(text: &[char], token: &Token) -> bool {
    token.word == Word::The || matches!(text[token.start], '"' | '“' | '「' | '$' | '#')
}

fn is_closing(text: &[char], token: &Token) -> bool {
    matches!(text[token.start], '"' | '”' | '」' | '?' | '？' | ')' | '%')
}

fn join(a: &str, b: &str) -> String {
    let is_joined = a.chars().last().is_some_and(is_han) && b.chars().next().is_some_and(is_han);
    if is_joined { format!("{a}{b}") } else { format!("{a} {b}") }
}
