//! Schedules in words, in English and Chinese: "every other Monday at 9", 每月最后一天, "in 20 minutes".
//!
//! `lexer` splits a phrase into words of one vocabulary, `grammar` reads the parts that speak of time, `times` and
//! `facts` sort them, and `recurring` or `once` puts them together. Rules that a line of cron can say run by the `croner`
//! crate, the others by our own calendar.
//!
//! Invariant: nothing is guessed silently. Every word is part of the schedule, a filler, or part of the task; a word
//! about time that fits nowhere makes the phrase unclear.
//!
//! Invariant: the wall clock holds across changes of daylight saving. A time that a change skips runs at the first
//! moment after it, one that occurs twice runs the first time.

mod word;
mod english_lexicon;
mod chinese_lexicon;
mod zones;
mod lexer_numbers;
mod lexer;
mod counted;
mod part;
mod clock;
mod recurrence;
mod days;
mod exceptions;
mod day_times;
mod grammar;
mod times;
mod facts;
mod once;
mod day_patterns;
mod recurring;
mod task;
mod clauses;
mod cancel;
mod trouble;
mod rule;
mod cron_text;

use jiff::Zoned;
use jiff::tz::TimeZone;
use serde::Serialize;

use clauses::TaskClause;
use lexer::{Token, is_han};
use part::{Part, Placed};
use trouble::Trouble;
use word::Word;

pub(crate) use rule::RecurrenceRule;

/// Runs that an answer lists.
const ANSWERED_RUNS: usize = 5;

/// Meaning of a phrase.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Schedule {
    /// Runs again and again.
    Recurring {
        /// RecurrenceRule of the runs.
        rule: RecurrenceRule,
        /// The rule as five-field cron on the user's wall clock, where one line says exactly this.
        cron: Option<String>,
        /// Words that are not about time.
        task: Option<String>,
    },
    /// Runs once.
    Once {
        /// Moment, in the user's zone.
        at: Zoned,
        /// Words that are not about time.
        task: Option<String>,
    },
    /// Has no certain meaning.
    Unclear {
        /// Reason in the language of the phrase.
        what: String,
    },
}

/// Answer to a phrase, as JSON shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ScheduleAnswer {
    /// `recurring`, `once` or `unclear`.
    pub kind: &'static str,
    /// Five-field cron.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    /// Next runs as local times with their offset.
    pub next: Vec<String>,
    /// Reason why the phrase has no certain meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unclear: Option<String>,
    /// Words that are not about time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
}

/// Explains what `text` means when it is said at `now`, in the zone of `now`.
pub(crate) fn explain(text: &str, now: &Zoned) -> Schedule {
    if cron_text::looks_like_line(text) {
        return explain_line(text, now);
    }
    let chars = lexer::normalized(text);
    let is_chinese = chars.iter().any(|c| is_han(*c));
    if let Some(words) = cancel::cancelling_words(&chars) {
        return Schedule::Unclear { what: Trouble::Cancels(words).sentence(is_chinese) };
    }
    let phrase = Phrase { text: text.chars().collect(), tokens: lexer::lex(&chars), is_chinese };
    phrase
        .schedule(now)
        .unwrap_or_else(|trouble| Schedule::Unclear { what: trouble.sentence(is_chinese) })
}

/// Explains a line of cron; one that never runs is unclear.
fn explain_line(text: &str, now: &Zoned) -> Schedule {
    let rule = cron_text::written_line(text).map(|line| (RecurrenceRule::Cron(line.clone()), line));
    let text = text.trim().to_owned();
    let trouble = match rule {
        Some((rule, line)) if !rule.next_runs(now, 1).is_empty() => {
            return Schedule::Recurring { rule, cron: Some(line), task: None };
        }
        Some(_) => Trouble::NoSuchDate(text),
        None => Trouble::NotUnderstood(text),
    };
    Schedule::Unclear { what: trouble.sentence(false) }
}

/// Formats a run as local time with its offset.
pub(crate) fn format_run(at: &Zoned) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

impl Schedule {
    /// Returns the first `count` runs after `now`, in the zone of `now`.
    pub(crate) fn next_runs(&self, now: &Zoned, count: usize) -> Vec<Zoned> {
        match self {
            Self::Recurring { rule, .. } => rule.next_runs(now, count),
            Self::Once { at, .. } if at > now => vec![at.with_time_zone(now.time_zone().clone())],
            _ => Vec::new(),
        }
    }

    /// Returns the answer with the next runs after `now`.
    pub(crate) fn answer(&self, now: &Zoned) -> ScheduleAnswer {
        let (kind, cron, unclear, task) = match self {
            Self::Recurring { cron, task, .. } => ("recurring", cron.clone(), None, task.clone()),
            Self::Once { task, .. } => ("once", None, None, task.clone()),
            Self::Unclear { what } => ("unclear", None, Some(what.clone()), None),
        };
        let next = self.next_runs(now, ANSWERED_RUNS).iter().map(format_run).collect();
        ScheduleAnswer { kind, cron, next, unclear, task }
    }
}

/// Text with its tokens.
struct Phrase {
    text: Vec<char>,
    tokens: Vec<Token>,
    is_chinese: bool,
}

impl Phrase {
    fn schedule(&self, now: &Zoned) -> Result<Schedule, Trouble> {
        let mut parts = grammar::parse(&self.tokens);
        task::leave_lengths(&mut parts);
        let clause = clauses::task_clause(&self.tokens, &parts, |token| self.spelling(token));
        if let Some(clause) = clause {
            parts.retain(|part| part.end <= clause.first || part.first >= clause.end);
        }
        let taken = self.account(&parts, clause)?;
        let mut times = times::resolve(&parts, self.time_context(), |part| self.words(part))?;
        let mut facts = facts::sort(&parts, now.date())?;
        self.check_events(&parts, &taken)?;
        self.check_weekdays(&parts)?;
        clauses::check_apart(&self.tokens, &parts, &taken, |token| self.spelling(token))?;
        clauses::check_pairs(&parts)?;
        let task = task::task(&self.text, &self.tokens, &taken);
        let zone = facts.zone.map_or_else(|| Ok(now.time_zone().clone()), zone_named)?;
        if facts.is_same_time {
            once::take_time_of(now, &mut facts, &mut times)?;
        }
        if is_recurring(&facts) {
            let rule = recurring::rule_of(&facts, &times, zone, now)?;
            let cron = rule.cron(now.time_zone());
            return Ok(Schedule::Recurring { rule, cron, task });
        }
        if facts.start.is_some() || facts.until.is_some() {
            return Err(Trouble::WhichDays);
        }
        let at = once::moment_of(&facts, &times, &zone, now)?;
        Ok(Schedule::Once { at: at.to_zoned(now.time_zone().clone()), task })
    }

    fn time_context(&self) -> times::TimeContext {
        let is_waking = self.tokens.iter().any(|token| token.word == Word::Waking);
        times::TimeContext { is_chinese: self.is_chinese, is_waking }
    }

    /// Accounts for every word: returns the tokens that belong to the schedule, or the word that fits nowhere.
    fn account(&self, parts: &[Placed], clause: Option<TaskClause>) -> Result<Vec<bool>, Trouble> {
        if let Some(vague) = parts.iter().find(|part| part.part == Part::Vague) {
            return Err(Trouble::Vague(self.words(vague)));
        }
        if let Some(choice) = parts.iter().find(|part| part.part == Part::Or) {
            return Err(Trouble::Choice(self.words(choice)));
        }
        let taken = task::taken(&self.tokens, parts, clause);
        let is_task = |at: usize| clause.is_some_and(|it| (it.first..it.end).contains(&at));
        if let Some(at) = task::leftovers(&self.tokens, &taken).find(|at| !is_task(*at)) {
            return Err(Trouble::NotUnderstood(self.around(at)));
        }
        if let Some(at) = times::open_half(parts) {
            return Err(Trouble::AmOrPm(self.words(&parts[at])));
        }
        if parts.is_empty() {
            if let Some(at) = self.tokens.iter().position(|token| token.word == Word::WeakVague) {
                return Err(Trouble::Vague(self.around(at)));
            }
            let event = self.tokens.iter().position(|token| token.word == Word::Event);
            return Err(event.map_or(Trouble::NoTime, |at| Trouble::Event(self.around(at))));
        }
        Ok(taken)
    }

    /// Rejects "every Monday after work": without an hour, the event would name it.
    fn check_events(&self, parts: &[Placed], taken: &[bool]) -> Result<(), Trouble> {
        let has_time =
            parts.iter().any(|part| matches!(part.part, Part::Clock(_) | Part::Offset(_)));
        let event =
            (0..self.tokens.len()).find(|at| !taken[*at] && self.tokens[*at].word == Word::Event);
        match event {
            Some(at) if !has_time || taken.get(at + 1) == Some(&true) => {
                Err(Trouble::Event(self.around(at)))
            }
            _ => Ok(()),
        }
    }

    /// Rejects 工作日的周日: a set of days and another day, without a word that makes them a list.
    fn check_weekdays(&self, parts: &[Placed]) -> Result<(), Trouble> {
        let set = |part: &Placed| if let Part::Weekdays { set, .. } = part.part { set } else { 0 };
        for pair in parts.windows(2) {
            let (a, b) = (set(&pair[0]), set(&pair[1]));
            let before = pair[1].first.checked_sub(1).map_or(Word::End, |at| self.tokens[at].word);
            let is_list =
                matches!(before, Word::And | Word::Comma | Word::Slash | Word::Punctuation)
                    && a & b == 0;
            if a != 0 && b != 0 && a.count_ones() + b.count_ones() > 2 && !is_list {
                return Err(Trouble::Contradiction(self.words(&pair[1])));
            }
        }
        Ok(())
    }

    /// Returns the text of a part.
    fn words(&self, part: &Placed) -> String {
        self.text[self.tokens[part.first].start..self.tokens[part.end - 1].end].iter().collect()
    }

    /// Returns a token with the number or small word before it.
    fn around(&self, at: usize) -> String {
        let is_led = at > 0
            && matches!(
                self.tokens[at - 1].word,
                Word::Number { .. } | Word::Next | Word::This | Word::Ordinal(_)
            );
        let first = at - usize::from(is_led);
        // "except holidays": what is excepted tells more than the word.
        let is_open = self.tokens[at].word == Word::Except;
        let followed = self.tokens[at + 1..].iter().take(2).take_while(|t| t.word == Word::Task);
        let last = at + if is_open { followed.count() } else { 0 };
        self.text[self.tokens[first].start..self.tokens[last].end].iter().collect()
    }

    /// Returns a token as the lexicon spells it.
    fn spelling(&self, token: &Token) -> String {
        self.text[token.start..token.end].iter().collect::<String>().to_lowercase()
    }
}

fn zone_named(name: &str) -> Result<TimeZone, Trouble> {
    if name == "UTC" {
        return Ok(TimeZone::UTC);
    }
    TimeZone::get(name).map_err(|_| Trouble::NotUnderstood(name.to_owned()))
}

fn is_recurring(facts: &facts::Facts) -> bool {
    let weekdays = facts.weekdays.iter().fold(0, |set, weekday| set | weekday.set);
    !facts.every.is_empty()
        || facts.every_minutes.is_some()
        || facts.frequency.is_some()
        || facts.past_hour.is_some()
        || facts.is_recurring
        || facts.except != 0
        || facts.span.is_some()
        || facts.span_seconds.is_some()
        || weekdays.count_ones() > 1 && facts.weekdays.iter().all(|weekday| weekday.week.is_none())
        || facts.month_days.len() > 1 && facts.next_month.is_none()
}
