//! Clauses of the task that name times of their own: "tell me at 6 that the shop closes at 8", 6点提醒我店8点关门.

use super::lexer::Token;
use super::part::{Part, Placed};
use super::trouble::Trouble;
use super::word::{Unit, Word};

/// Clause of the task, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TaskClause {
    pub(super) first: usize,
    pub(super) end: usize,
}

/// Words after which the task begins, as the text spells them.
const OPENINGS: &[&str] = &[
    "that",
    "remind me",
    "remind me to",
    "remind me that",
    "tell me to",
    "提醒我",
    "提醒",
    "提醒一下",
    "提醒我一下",
    "叫我",
    "喊我",
    "通知我",
];

/// Returns the clause whose times belong to the task: the schedule is complete before it.
pub(super) fn task_clause(
    tokens: &[Token],
    parts: &[Placed],
    spelling: impl Fn(&Token) -> String,
) -> Option<TaskClause> {
    let (at, opening) = tokens.iter().enumerate().find_map(|(at, token)| {
        let spelled = (token.word == Word::Filler).then(|| spelling(token))?;
        let is_opening = OPENINGS.contains(&spelled.as_str());
        (is_opening && is_told(parts, at)).then_some((at, spelled))
    })?;
    let first = at + 1;
    let end = clause_end(tokens, parts, first);
    let inside = || parts.iter().filter(|p| p.first >= first && p.end <= end);
    let has_time = inside().any(|p| is_time(&p.part) || is_day(&p.part));
    let has_words = tokens[first..end].iter().any(|token| token.word == Word::Task);
    let joins = matches!(tokens.get(first).map(|token| token.word), Some(Word::And | Word::Comma));
    if !has_time || !has_words || joins {
        return None;
    }
    let before = || parts.iter().filter(|p| p.end <= at);
    let has_days = before().any(|p| is_day(&p.part) || is_recurrence(&p.part));
    let is_whole = has_days || opening == "that" || before().any(|p| is_offset(&p.part));
    // 今天晚上提醒我明天9点开会: the hour belongs to the other day.
    let has_clock = inside().any(|p| is_time(&p.part));
    if !before().any(|p| is_time(&p.part) || is_offset(&p.part)) {
        let is_other_day = has_days && has_clock && inside().any(|p| is_day(&p.part));
        return is_other_day.then_some(TaskClause { first, end });
    }
    let recurs = inside().any(|p| is_recurrence(&p.part));
    (is_whole || has_clock && !recurs).then_some(TaskClause { first, end })
}

/// Returns `true` if the parts before a token name a time.
fn is_told(parts: &[Placed], at: usize) -> bool {
    let is_told =
        |part: &Part| is_time(part) || is_offset(part) || matches!(part, Part::OfDay { .. });
    parts.iter().any(|p| p.end <= at && is_told(&p.part))
}

/// Returns the end of a clause: a comma behind which the schedule goes on, or the end of the phrase.
fn clause_end(tokens: &[Token], parts: &[Placed], first: usize) -> usize {
    let goes_on = |at: usize| parts.iter().any(|p| p.first == at || p.first == at + 1);
    (first..tokens.len())
        .find(|at| matches!(tokens[*at].word, Word::Comma | Word::Punctuation) && goes_on(at + 1))
        .unwrap_or(tokens.len())
}

/// Rejects times and weekdays that stand apart with words of the task between them and nothing that joins them: they may
/// belong to the task.
pub(super) fn check_apart(
    tokens: &[Token],
    parts: &[Placed],
    taken: &[bool],
    spelling: impl Fn(&Token) -> String,
) -> Result<(), Trouble> {
    let is_task = |at: usize| match tokens[at].word {
        Word::Task => !taken[at],
        Word::Filler => OPENINGS.contains(&spelling(&tokens[at]).as_str()),
        _ => false,
    };
    let kinds: [fn(&Part) -> bool; 2] = [is_time, |part| {
        matches!(part, Part::Weekdays { .. } | Part::Week(_) | Part::NextMonth(_))
    }];
    for is_kind in kinds {
        let same: Vec<&Placed> = parts.iter().filter(|p| is_kind(&p.part)).collect();
        for pair in same.windows(2) {
            let between = pair[0].end..pair[1].first;
            // "next week's review": an apostrophe joins nothing.
            let is_apostrophe = |at: usize| spelling(&tokens[at]).starts_with(['\'', '’']);
            let is_joined = between.clone().any(|at| joins(tokens[at].word) && !is_apostrophe(at));
            if between.clone().any(is_task) && !is_joined {
                let words = tokens[pair[1].first..pair[1].end].iter().map(&spelling);
                return Err(Trouble::SeveralMeanings(words.collect::<Vec<_>>().join(" ")));
            }
        }
    }
    Ok(())
}

/// Rejects days with times of their own, where they are not weekdays alone: the 15th at 8 and the 30th at 9, 每天9点，周末10点.
pub(super) fn check_pairs(parts: &[Placed]) -> Result<(), Trouble> {
    let is_weekday = |part: &Part| matches!(part, Part::Weekdays { .. });
    let has_days = parts.iter().any(|p| is_day(&p.part));
    let is_daily = |part: &Part| match part {
        Part::Every { count: 1, unit: Unit::Day, .. } => true,
        // 每晚十点，周五周六十一点: every evening is each day where others are named.
        Part::OfDay { is_recurring, .. } => *is_recurring && has_days,
        _ => false,
    };
    let is_named = |part: &Part| is_weekday(part) || is_daily(part) || is_day(part);
    let named: Vec<&Placed> =
        parts.iter().filter(|p| is_named(&p.part) || is_time(&p.part)).collect();
    let mut order: Vec<bool> = named.iter().map(|p| is_time(&p.part)).collect();
    order.dedup();
    let is_plain = named.iter().all(|p| is_weekday(&p.part) || is_time(&p.part));
    if order.len() > 3 && !is_plain { Err(Trouble::SeveralTimes) } else { Ok(()) }
}

fn joins(word: Word) -> bool {
    matches!(
        word,
        Word::And
            | Word::Comma
            | Word::Slash
            | Word::Punctuation
            | Word::Dash
            | Word::Except
            | Word::Until
            | Word::Starting
            | Word::To
            | Word::From
    )
}

fn is_time(part: &Part) -> bool {
    matches!(part, Part::Clock(_))
}

fn is_offset(part: &Part) -> bool {
    matches!(part, Part::Offset(_))
}

fn is_recurrence(part: &Part) -> bool {
    matches!(part, Part::Every { .. } | Part::EveryMinutes(_) | Part::Frequency { .. })
        || matches!(part, Part::OfDay { is_recurring: true, .. })
}

fn is_day(part: &Part) -> bool {
    matches!(
        part,
        Part::Day(_)
            | Part::Weekdays { .. }
            | Part::Date { .. }
            | Part::MonthDay(_)
            | Part::Nth { .. }
            | Part::Week(_)
            | Part::MonthEdge(_)
    )
}
