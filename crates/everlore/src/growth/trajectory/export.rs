//! Exports of trajectories: formats, and what they share. Secrets are masked whatever the settings say.

use std::str::FromStr;

use serde_json::{Map, Value, json};

use super::{
    atif::write_atif,
    openai::write_openai,
    sharegpt::write_sharegpt,
    steps::{Trajectory, TrajectoryStep},
};
use crate::{
    error::{Error, Result},
    text::secrets::{mask_all, mask_value},
    types::{RecordedCall, Role},
};

/// Format of an exported trajectory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrajectoryFormat {
    /// Agent Trajectory Interchange Format 1.8.
    Atif,
    /// Conversations of ShareGPT, as Hermes writes them.
    Sharegpt,
    /// Messages of OpenAI.
    Openai,
}

crate::types::variant_names! { pub TrajectoryFormat: Atif = "atif", Sharegpt = "sharegpt", Openai = "openai" }

impl FromStr for TrajectoryFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let lower = text.trim().to_lowercase();
        Self::ALL.into_iter().find(|format| format.as_str() == lower).ok_or_else(|| {
            Error::invalid(
                format!("there is no format `{text}` for trajectories"),
                "use atif, sharegpt or openai",
            )
        })
    }
}

impl Trajectory {
    /// Returns the trajectory in a format of other systems, with every secret masked.
    pub fn export(&self, format: TrajectoryFormat) -> Value {
        let masked = self.masked();
        match format {
            TrajectoryFormat::Atif => write_atif(&masked),
            TrajectoryFormat::Sharegpt => write_sharegpt(&masked),
            TrajectoryFormat::Openai => write_openai(&masked),
        }
    }

    /// Masks the secrets in all texts and arguments.
    fn masked(&self) -> Self {
        let mut masked = self.clone();
        mask_all([&mut masked.session, &mut masked.outcome.why]);
        for step in &mut masked.steps {
            mask_all(std::iter::once(&mut step.text).chain(&mut step.speaker));
            if let Some(call) = &mut step.call {
                mask_all([&mut call.name]);
                mask_value("arguments", &mut call.arguments);
            }
        }
        masked
    }
}

/// Message, or tool calls that were made at once.
pub(super) enum StepGroup<'t> {
    Message(&'t TrajectoryStep),
    Calls(Vec<NumberedCall<'t>>),
}

/// Tool call with an id that is unique in its trajectory.
pub(super) struct NumberedCall<'t> {
    pub(super) id: String,
    pub(super) call: &'t RecordedCall,
    pub(super) step: &'t TrajectoryStep,
}

/// Returns the steps with calls of the same moment together: a model made them in one message.
pub(super) fn groups(steps: &[TrajectoryStep]) -> Vec<StepGroup<'_>> {
    let mut groups: Vec<StepGroup<'_>> = Vec::new();
    let mut taken: Vec<String> = Vec::new();
    for step in steps {
        let Some(call) = &step.call else {
            groups.push(StepGroup::Message(step));
            continue;
        };
        let given = call.id.clone().filter(|id| !id.is_empty() && !taken.contains(id));
        let id = given.unwrap_or_else(|| format!("call_{}", step.step));
        taken.push(id.clone());
        let numbered = NumberedCall { id, call, step };
        match groups.last_mut() {
            Some(StepGroup::Calls(calls)) if calls[0].step.at == step.at => calls.push(numbered),
            _ => groups.push(StepGroup::Calls(vec![numbered])),
        }
    }
    groups
}

/// Returns arguments as the object that formats require.
pub(super) fn argument_object(call: &RecordedCall) -> Map<String, Value> {
    match &call.arguments {
        Value::Object(fields) => fields.clone(),
        Value::Null => Map::new(),
        other => Map::from_iter([("value".to_owned(), other.clone())]),
    }
}

/// Returns a message with the name of its speaker before it, if it has one.
pub(super) fn spoken_text(step: &TrajectoryStep) -> String {
    match &step.speaker {
        Some(name) if step.role == Role::User => format!("{name}: {}", step.text),
        _ => step.text.clone(),
    }
}

/// Returns definitions of the tools that were called, as far as the calls tell them.
pub(super) fn tool_definitions(steps: &[TrajectoryStep]) -> Vec<Value> {
    let mut names: Vec<&str> =
        steps.iter().filter_map(|step| Some(step.call.as_ref()?.name.as_str())).collect();
    names.sort_unstable();
    names.dedup();
    let definition = |name| {
        let function = json!({ "name": name, "parameters": { "type": "object" } });
        json!({ "type": "function", "function": function })
    };
    names.into_iter().map(definition).collect()
}
