//! Compression of a trajectory into a token budget by rules: decisions, failures, what solved them, the request and the
//! last answer stay longest. The same trajectory and budget always give the same result.

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use super::{
    outcome::has_failed_before,
    steps::{Trajectory, TrajectoryStep},
};
use crate::{
    error::{Error, Result},
    text::{
        elision::{elide_middle, elide_texts},
        error_signature::decisive_message,
        sentences::sentences,
        tokens::estimate_tokens,
        tool_event::only_reads,
    },
    types::{RecordedCall, Role},
};

/// Fewest tokens of a budget: less holds no request and no answer.
pub const MIN_TRAJECTORY_BUDGET: usize = 50;

/// Tokens of a step besides its texts.
const STEP_OVERHEAD_TOKENS: usize = 4;

/// Characters of a brief message, of a brief result, and of each text of brief arguments.
const BRIEF_CHARS: usize = 240;

/// Characters of a text in one line.
const LINE_CHARS: usize = 80;

/// Lengths of a step, the longest first.
const LEVELS: [StepLength; 3] = [StepLength::Brief, StepLength::Line, StepLength::Gone];

/// Steps in worth that a level is worth: an unimportant step is gone before an important one is cut to a line.
const LEVEL_WORTH: usize = 3;

/// Tokens before and after compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TrajectorySavings {
    /// Tokens of the steps that are left.
    pub tokens: usize,
    /// Tokens of all steps.
    pub of: usize,
    /// Number of steps that were left out.
    pub left_out: usize,
}

/// Length of a step in a compressed trajectory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum StepLength {
    Brief,
    Line,
    Gone,
}

impl Trajectory {
    /// Compresses the trajectory into at most `budget` tokens by the engine's own count. Fails if the budget is too small
    /// to hold anything.
    pub fn compress(mut self, budget: usize) -> Result<Self> {
        if budget < MIN_TRAJECTORY_BUDGET {
            return Err(Error::invalid(
                format!("a budget of {budget} tokens holds no trajectory"),
                format!("give at least {MIN_TRAJECTORY_BUDGET} tokens"),
            ));
        }
        let mut tokens: Vec<usize> = self.steps.iter().map(step_tokens).collect();
        let of: usize = tokens.iter().sum();
        let (mut total, mut gone) = (of, vec![false; self.steps.len()]);
        for (at, length) in reductions(&self.steps) {
            if total <= budget {
                break;
            }
            total -= tokens[at];
            shorten(&mut self.steps[at], length);
            tokens[at] = if length == StepLength::Gone { 0 } else { step_tokens(&self.steps[at]) };
            gone[at] = length == StepLength::Gone;
            total += tokens[at];
        }
        let left_out = gone.iter().filter(|gone| **gone).count();
        let mut gone = gone.into_iter();
        self.steps.retain(|_| !gone.next().unwrap_or(false));
        self.compressed = Some(TrajectorySavings { tokens: total, of, left_out });
        Ok(self)
    }
}

/// Returns the reductions in their order: the least worth first, the oldest first among equals.
fn reductions(steps: &[TrajectoryStep]) -> Vec<(usize, StepLength)> {
    let worths = worths(steps);
    let mut reductions: Vec<_> = LEVELS
        .into_iter()
        .enumerate()
        .flat_map(|(level, length)| {
            let cost = move |worth: usize| worth + LEVEL_WORTH * level;
            worths.iter().enumerate().map(move |(at, worth)| (cost(*worth), level, at, length))
        })
        .collect();
    reductions.sort_unstable_by_key(|(cost, level, at, _)| (*cost, *level, *at));
    reductions.into_iter().map(|(_, _, at, length)| (at, length)).collect()
}

/// Returns the worth of each step.
fn worths(steps: &[TrajectoryStep]) -> Vec<usize> {
    let of = |role: Role| steps.iter().position(move |step| step.role == role);
    let last_of = |role: Role| steps.iter().rposition(move |step| step.role == role);
    let ends = [of(Role::User), last_of(Role::Assistant)];
    let calls: Vec<&RecordedCall> = steps.iter().filter_map(|step| step.call.as_ref()).collect();
    let cures = cures(steps);
    let worth = |(at, step): (usize, &TrajectoryStep)| {
        if ends.contains(&Some(at)) {
            return 9;
        }
        match (&step.call, step.role) {
            (Some(_), _) if cures[at] => 7,
            (Some(call), _) if call.failed || has_failed_before(&calls, call) => 6,
            (Some(_), _) => 2,
            (None, Role::User) if Some(at) == last_of(Role::User) => 8,
            (None, Role::User) => 5,
            (None, Role::Assistant) if DECISION.is_match(&step.text) => 5,
            (None, Role::Assistant) => 3,
            (None, Role::Tool | Role::System) => 1,
        }
    };
    steps.iter().enumerate().map(worth).collect()
}

/// Returns which steps are calls between a failure and the later success of the same call: among them is the cure.
fn cures(steps: &[TrajectoryStep]) -> Vec<bool> {
    let mut cures = vec![false; steps.len()];
    let call = |at: usize| steps[at].call.as_ref();
    let is_again = |one: &RecordedCall, other: &RecordedCall| {
        one.name == other.name && one.arguments == other.arguments
    };
    let calls = |from: usize| (from..steps.len()).filter_map(move |at| Some((at, call(at)?)));
    for (failed_at, failed) in calls(0).filter(|(_, call)| call.failed) {
        let again = calls(failed_at + 1).find(|(_, other)| is_again(failed, other));
        let Some((solved_at, _)) = again.filter(|(_, other)| !other.failed) else { continue };
        for (at, cure) in cures.iter_mut().enumerate().take(solved_at).skip(failed_at + 1) {
            *cure |= call(at).is_some_and(|call| !call.failed && !only_reads(&call.name));
        }
    }
    cures
}

/// Returns the tokens of a step.
fn step_tokens(step: &TrajectoryStep) -> usize {
    let call = step.call.as_ref().map_or(0, |call| {
        estimate_tokens(&call.name) + estimate_tokens(&call.arguments.to_string())
    });
    estimate_tokens(&step.text) + call + STEP_OVERHEAD_TOKENS
}

fn shorten(step: &mut TrajectoryStep, length: StepLength) {
    let (text, chars) = match (length, &step.call) {
        (StepLength::Gone, _) => return,
        (StepLength::Brief, Some(call)) => (brief_result(&step.text, call.failed), BRIEF_CHARS),
        (StepLength::Brief, None) => (brief_message(&step.text), BRIEF_CHARS),
        (StepLength::Line, Some(call)) => (line_result(&step.text, call.failed), LINE_CHARS),
        (StepLength::Line, None) => (line_message(&step.text), LINE_CHARS),
    };
    let arguments = step.call.as_ref().map(|call| {
        let mut arguments = call.arguments.clone();
        elide_texts(&mut arguments, chars);
        arguments
    });
    let is_changed =
        text != step.text || step.call.as_ref().map(|call| &call.arguments) != arguments.as_ref();
    step.shortened |= is_changed;
    step.text = text;
    if let (Some(call), Some(arguments)) = (&mut step.call, arguments) {
        call.arguments = arguments;
    }
}

/// Returns the first sentence of a message and those that decide something.
fn brief_message(text: &str) -> String {
    if text.chars().count() <= BRIEF_CHARS {
        return text.to_owned();
    }
    let all: Vec<&str> = sentences(text).collect();
    let kept =
        all.iter().enumerate().filter(|(at, sentence)| *at == 0 || DECISION.is_match(sentence));
    let kept: String = kept.map(|(_, sentence)| *sentence).collect();
    elide_middle(kept.trim(), BRIEF_CHARS)
}

/// Returns the sentence of a message that decides something, or its first one.
fn line_message(text: &str) -> String {
    let all: Vec<&str> = sentences(text).collect();
    let decides = all.iter().find(|sentence| DECISION.is_match(sentence)).or(all.first());
    elide_middle(decides.map_or("", |sentence| sentence.trim()), LINE_CHARS)
}

/// Returns what an error says, or both ends of another result.
fn brief_result(text: &str, failed: bool) -> String {
    if failed && text.chars().count() > BRIEF_CHARS {
        return elide_middle(&decisive_message(text), BRIEF_CHARS);
    }
    elide_middle(text, BRIEF_CHARS)
}

/// Returns what an error says in a line; of another result nothing, since the call itself tells what was done.
fn line_result(text: &str, failed: bool) -> String {
    if failed { elide_middle(&decisive_message(text), LINE_CHARS) } else { String::new() }
}

/// Words of decisions, reasons and results.
static DECISION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:decid\w*|chose|choos\w*|instead|because|therefore|so that|must|should|let's|we(?:'ll| will)|i(?:'ll| will)|use[ds]?|fixed|solved|root cause|the (?:cause|reason|fix|problem)|turns out|agreed|done)\b|决定|选择|改用|改成|采用|因为|所以|必须|不要|应该|原因|解决|修好|完成|就用|同意",
    )
    .expect("the pattern is valid")
});
