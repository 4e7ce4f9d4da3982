//! Messages of OpenAI's chat completions, one object per trajectory.

use serde_json::{Value, json};

use super::{
    export::{NumberedCall, StepGroup, argument_object, groups, spoken_text, tool_definitions},
    steps::{Trajectory, TrajectoryStep},
};
use crate::types::Role;

/// Writes a trajectory.
pub(super) fn write_openai(trajectory: &Trajectory) -> Value {
    let mut messages = Vec::new();
    for group in groups(&trajectory.steps) {
        match group {
            StepGroup::Message(step) => messages.push(message(step)),
            StepGroup::Calls(calls) => {
                let made: Vec<Value> = calls.iter().map(call).collect();
                messages.push(json!({ "role": "assistant", "content": null, "tool_calls": made }));
                messages.extend(calls.iter().map(result));
            }
        }
    }
    let mut written = json!({ "messages": messages });
    let tools = tool_definitions(&trajectory.steps);
    if !tools.is_empty() {
        written["tools"] = tools.into();
    }
    written
}

/// Writes a message. The output of a tool whose call is not known cannot be a tool's message.
fn message(step: &TrajectoryStep) -> Value {
    let role = match step.role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System | Role::Tool => "system",
    };
    json!({ "role": role, "content": spoken_text(step) })
}

fn call(it: &NumberedCall<'_>) -> Value {
    let arguments = Value::Object(argument_object(it.call)).to_string();
    let function = json!({ "name": it.call.name, "arguments": arguments });
    json!({ "id": it.id, "type": "function", "function": function })
}

fn result(it: &NumberedCall<'_>) -> Value {
    json!({ "role": "tool", "tool_call_id": it.id, "content": it.step.text })
}
