//! Steps of a trajectory, read from turns and call records.

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    compress::TrajectorySavings,
    outcome::{TrajectoryOutcome, judge_outcome},
};
use crate::{
    growth::success_rate,
    text::tool_event::ToolEvent,
    types::{
        AnswerEnd, CALL_RESULT_KEY, Experience, Kind, Memory, MemoryId, QUOTED_KEY, RecordedAnswer,
        RecordedCall, Role, StepTokens, Timestamp,
    },
};

/// Steps of a conversation and how it ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Trajectory {
    /// Session.
    pub session: String,
    /// Agent that it is of.
    pub agent: String,
    /// Time of the first step.
    pub started_at: Timestamp,
    /// Time of the last step.
    pub ended_at: Timestamp,
    /// Way in which it ended.
    pub outcome: TrajectoryOutcome,
    /// Models that answered, in the order in which they first did.
    pub models: Vec<String>,
    /// Tokens of all answers; `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<StepTokens>,
    /// Steps in their order.
    pub steps: Vec<TrajectoryStep>,
    /// Experiences that were learned from it.
    pub experiences: Vec<LinkedExperience>,
    /// Effect of the compression; `None` if nothing was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compressed: Option<TrajectorySavings>,
}

/// Message, or tool call with its result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TrajectoryStep {
    /// Number from 1; compression leaves gaps.
    pub step: usize,
    /// Time.
    pub at: Timestamp,
    /// Role of the speaker; `tool` for a call.
    pub role: Role,
    /// Message, or result of the call.
    pub text: String,
    /// Turn or record that it is read from.
    pub id: MemoryId,
    /// Name of the speaker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// Tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<RecordedCall>,
    /// Model that wrote the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tokens of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<StepTokens>,
    /// Way in which the answer ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<AnswerEnd>,
    /// Set when compression shortened it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shortened: bool,
}

/// Experience that was learned from a conversation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LinkedExperience {
    /// Id of its memory.
    pub id: MemoryId,
    /// Problem.
    pub pain: String,
    /// Solution.
    pub solution: String,
    /// Outcome of the solution.
    pub outcome: String,
    /// Share of reports that say that it worked.
    pub success: f64,
}

/// Trajectory without its steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TrajectorySummary {
    /// Session.
    pub session: String,
    /// Time of the first step.
    pub started_at: Timestamp,
    /// Time of the last step.
    pub ended_at: Timestamp,
    /// Number of messages.
    pub messages: usize,
    /// Number of tool calls.
    pub calls: usize,
    /// Number of tool calls that failed.
    pub failed_calls: usize,
    /// Way in which it ended.
    pub outcome: TrajectoryOutcome,
    /// Models that answered.
    pub models: Vec<String>,
    /// Tokens of all answers; `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<StepTokens>,
}

impl Trajectory {
    /// Puts turns and call records of a session in order; `None` if there are none.
    pub(crate) fn new(session: &str, agent: &str, mut memories: Vec<Memory>) -> Option<Self> {
        memories.sort_by_key(|memory| (memory.at, memory.id));
        let steps: Vec<_> = memories.iter().zip(1..).map(|(it, n)| read_step(it, n)).collect();
        let (first, last) = (steps.first()?, steps.last()?);
        let mut models: Vec<String> = Vec::new();
        for model in steps.iter().filter_map(|step| step.model.as_ref()) {
            if !models.contains(model) {
                models.push(model.clone());
            }
        }
        Some(Self {
            session: session.to_owned(),
            agent: agent.to_owned(),
            started_at: first.at,
            ended_at: last.at,
            outcome: judge_outcome(&steps),
            models,
            tokens: steps.iter().filter_map(|step| step.tokens).reduce(StepTokens::plus),
            steps,
            experiences: Vec::new(),
            compressed: None,
        })
    }

    /// Returns the trajectory without its steps.
    pub fn summary(&self) -> TrajectorySummary {
        let calls = self.steps.iter().filter_map(|step| step.call.as_ref());
        TrajectorySummary {
            session: self.session.clone(),
            started_at: self.started_at,
            ended_at: self.ended_at,
            messages: self.steps.iter().filter(|step| step.call.is_none()).count(),
            calls: calls.clone().count(),
            failed_calls: calls.filter(|call| call.failed).count(),
            outcome: self.outcome.clone(),
            models: self.models.clone(),
            tokens: self.tokens,
        }
    }
}

impl LinkedExperience {
    /// Reads the experience of a memory.
    pub(crate) fn of_memory(memory: &Memory) -> Option<Self> {
        let experience = Experience::of_memory(memory)?;
        let success = success_rate(&experience);
        let Experience { pain, solution, outcome, .. } = experience;
        Some(Self { id: memory.id, pain, solution, outcome, success })
    }
}

/// Reads a step from a turn or a call record.
fn read_step(memory: &Memory, number: usize) -> TrajectoryStep {
    let (mut call, text) = match (memory.kind, ToolEvent::parse(&memory.content)) {
        (Kind::Trajectory, _) => (RecordedCall::of_memory(memory), stored_result(memory)),
        (_, Some(event)) => (Some(call_of_event(memory, event)), event.error.unwrap_or_default()),
        (_, None) => (None, memory.content.as_str()),
    };
    let result = call.as_mut().and_then(|call| call.result.take());
    let text = result.as_deref().filter(|_| text.is_empty()).unwrap_or(text);
    let quoted = memory.metadata.get(QUOTED_KEY).and_then(Value::as_str);
    let answer = RecordedAnswer::of_memory(memory).unwrap_or_default();
    let role = if call.is_some() { Role::Tool } else { memory.source.role.unwrap_or(Role::User) };
    TrajectoryStep {
        step: number,
        at: memory.at,
        role,
        text: quoted.map_or_else(|| text.to_owned(), |quoted| format!("{text}\n\n{quoted}")),
        id: memory.id,
        speaker: memory.source.speaker.clone(),
        call,
        model: answer.model,
        tokens: answer.tokens,
        ended: answer.ended,
        shortened: false,
    }
}

fn stored_result(memory: &Memory) -> &str {
    memory.metadata.get(CALL_RESULT_KEY).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the call of a tool event: as it was recorded, or as far as its text tells it.
fn call_of_event(memory: &Memory, event: ToolEvent<'_>) -> RecordedCall {
    let failed = event.error.is_some();
    let recorded = RecordedCall::of_memory(memory).map(|call| RecordedCall { failed, ..call });
    recorded.unwrap_or_else(|| RecordedCall {
        id: None,
        name: event.tool.to_owned(),
        arguments: json!({ "call": event.call }),
        failed,
        ..RecordedCall::default()
    })
}
