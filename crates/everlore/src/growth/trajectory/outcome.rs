//! Outcome of a trajectory: by the user's last word, the end of the last answer, and the calls that failed.

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use super::steps::TrajectoryStep;
use crate::{
    growth::solved_words::says_solved,
    text::{
        language::{Language, detect_language},
        tool_event::main_argument,
    },
    types::{AnswerEnd, RecordedCall, Role},
};

/// Most characters of a call in a reason.
const MAX_CALL_CHARS: usize = 80;

/// Way in which a trajectory ended, and the reason to think so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TrajectoryOutcome {
    /// Way in which it ended.
    pub kind: TrajectoryOutcomeKind,
    /// Reason, in the language of the conversation.
    pub why: String,
}

/// Way in which a trajectory ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum TrajectoryOutcomeKind {
    /// Something shows that it worked.
    Succeeded,
    /// The last message was answered; nobody judged it.
    Completed,
    /// Something shows that it did not work.
    Failed,
    /// The user interrupted the last answer.
    Interrupted,
    /// The last message has no answer.
    Open,
}

crate::types::variant_names! { pub TrajectoryOutcomeKind:
    Succeeded = "succeeded", Completed = "completed", Failed = "failed", Interrupted = "interrupted", Open = "open",
}

/// Judges how a conversation ended.
pub(super) fn judge_outcome(steps: &[TrajectoryStep]) -> TrajectoryOutcome {
    let chinese = is_chinese(steps);
    let said = |kind, en: &str, zh: &str| TrajectoryOutcome {
        kind,
        why: if chinese { zh.to_owned() } else { en.to_owned() },
    };
    use TrajectoryOutcomeKind::{Completed, Open, Succeeded};
    let last_word = steps.iter().rfind(|step| step.role == Role::User);
    if last_word.is_some_and(|step| says_failed(&step.text)) {
        let kind = TrajectoryOutcomeKind::Failed;
        return said(kind, "the user said that it did not work", "用户说没有成功");
    }
    if last_word.is_some_and(|step| says_solved(&step.text)) {
        return said(Succeeded, "the user said that it worked", "用户说解决了");
    }
    if steps.last().is_some_and(|step| step.role == Role::User) {
        return said(Open, "the last message has no answer", "最后一条消息还没有回答");
    }
    if let Some(outcome) = early_end(steps, chinese).or_else(|| by_calls(steps, chinese)) {
        return outcome;
    }
    if !is_answered(steps) {
        return said(Open, "the last message has no answer", "最后一条消息还没有回答");
    }
    said(Completed, "the last message was answered", "最后一条消息已回答")
}

/// Returns `true` if words of the assistant follow the user's last message: a call alone is no answer.
fn is_answered(steps: &[TrajectoryStep]) -> bool {
    let after = steps.iter().rev().take_while(|step| step.role != Role::User);
    after.into_iter().any(|step| step.role == Role::Assistant && !step.text.trim().is_empty())
}

/// Returns the outcome of a last answer that ended early.
fn early_end(steps: &[TrajectoryStep], chinese: bool) -> Option<TrajectoryOutcome> {
    let answer = steps.iter().rfind(|step| step.role == Role::Assistant)?;
    let ended = answer.ended.filter(|end| *end != AnswerEnd::Done)?;
    let kind = if ended == AnswerEnd::Interrupted {
        TrajectoryOutcomeKind::Interrupted
    } else {
        TrajectoryOutcomeKind::Failed
    };
    let why = if chinese {
        format!("最后的回答提前结束：{ended}")
    } else {
        format!("the last answer ended early: {ended}")
    };
    Some(TrajectoryOutcome { kind, why })
}

/// Returns the outcome that the calls show: the last one failed, or one that failed succeeded later.
fn by_calls(steps: &[TrajectoryStep], chinese: bool) -> Option<TrajectoryOutcome> {
    let calls: Vec<&RecordedCall> = steps.iter().filter_map(|step| step.call.as_ref()).collect();
    let last = calls.last()?;
    let name = |call: &RecordedCall| {
        let argument = main_argument(&call.arguments);
        let line = format!("{} {}", call.name, argument.lines().next().unwrap_or_default());
        line.trim().chars().take(MAX_CALL_CHARS).collect::<String>()
    };
    if last.failed {
        let (kind, name) = (TrajectoryOutcomeKind::Failed, name(last));
        let why = if chinese {
            format!("最后一次调用失败：{name}")
        } else {
            format!("the last call failed: {name}")
        };
        return Some(TrajectoryOutcome { kind, why });
    }
    let cured = calls.iter().rev().find(|call| !call.failed && has_failed_before(&calls, call))?;
    let name = name(cured);
    let why = if chinese {
        format!("先失败后成功：{name}")
    } else {
        format!("a call that failed succeeded later: {name}")
    };
    Some(TrajectoryOutcome { kind: TrajectoryOutcomeKind::Succeeded, why })
}

/// Returns `true` if the same call failed before.
pub(super) fn has_failed_before(calls: &[&RecordedCall], call: &RecordedCall) -> bool {
    let before = calls.iter().take_while(|other| !std::ptr::eq(**other, call));
    before
        .into_iter()
        .any(|other| other.failed && other.name == call.name && other.arguments == call.arguments)
}

/// Returns `true` if the people of a conversation mostly speak Chinese.
pub(super) fn is_chinese(steps: &[TrajectoryStep]) -> bool {
    let spoken = steps.iter().filter(|step| matches!(step.role, Role::User | Role::Assistant));
    let chinese = spoken.clone().filter(|step| detect_language(&step.text) == Language::Chinese);
    chinese.count() * 2 > spoken.count()
}

fn says_failed(text: &str) -> bool {
    FAILED.is_match(text)
}

/// Words by which a person says that something did not work.
static FAILED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:(?:it|that|this) )?(?:still|again) (?:does(?:n't| not) work|fails?|broken|not working)\b|\b(?:did(?:n't| not)|does(?:n't| not)) (?:work|help|fix|solve)\b|\bno luck\b|\bsame error\b|还是不行|还是不对|还是报错|还是失败|没解决|没有解决|没用|没成功|又失败|不管用",
    )
    .expect("the pattern is valid")
});
