//! Conversations of ShareGPT as Hermes writes them: calls and results as JSON inside tags.

use serde_json::{Value, json};

use super::{
    export::{NumberedCall, StepGroup, argument_object, groups, spoken_text},
    outcome::TrajectoryOutcomeKind,
    steps::{Trajectory, TrajectoryStep},
};
use crate::types::Role;

/// Tags that only this writer may use.
const TAGS: [&str; 2] = ["tool_call", "tool_response"];

/// Writes a trajectory.
pub(super) fn write_sharegpt(trajectory: &Trajectory) -> Value {
    let mut conversations = Vec::new();
    for group in groups(&trajectory.steps) {
        match group {
            StepGroup::Message(step) => conversations.push(message(step)),
            StepGroup::Calls(calls) => {
                let made: Vec<String> = calls.iter().map(call).collect();
                let results: Vec<String> = calls.iter().map(response).collect();
                conversations.push(json!({ "from": "gpt", "value": made.join("\n") }));
                conversations.push(json!({ "from": "tool", "value": results.join("\n") }));
            }
        }
    }
    let is_complete = matches!(
        trajectory.outcome.kind,
        TrajectoryOutcomeKind::Succeeded | TrajectoryOutcomeKind::Completed
    );
    json!({
        "conversations": conversations,
        "timestamp": trajectory.ended_at.to_string(),
        "model": trajectory.models.first().cloned().unwrap_or_default(),
        "completed": is_complete,
    })
}

fn message(step: &TrajectoryStep) -> Value {
    let (from, value) = match step.role {
        Role::User => ("human", without_tags(&spoken_text(step))),
        Role::Assistant => ("gpt", without_tags(&step.text)),
        Role::System => ("system", without_tags(&step.text)),
        Role::Tool => ("tool", tagged("tool_response", &json!({ "content": step.text }))),
    };
    json!({ "from": from, "value": value })
}

fn call(it: &NumberedCall<'_>) -> String {
    let call = json!({ "name": it.call.name, "arguments": argument_object(it.call) });
    tagged("tool_call", &call)
}

fn response(it: &NumberedCall<'_>) -> String {
    let response = json!({ "tool_call_id": it.id, "name": it.call.name, "content": it.step.text });
    tagged("tool_response", &response)
}

/// Puts JSON between tags; a text inside cannot close them.
fn tagged(tag: &str, value: &Value) -> String {
    format!("<{tag}>\n{}\n</{tag}>", value.to_string().replace('<', "\\u003c"))
}

/// Makes tags in a message inert: what people and models write is no call.
fn without_tags(text: &str) -> String {
    let mut plain = text.to_owned();
    for tag in TAGS {
        plain = plain.replace(&format!("<{tag}>"), &format!("&lt;{tag}>"));
        plain = plain.replace(&format!("</{tag}>"), &format!("&lt;/{tag}>"));
    }
    plain
}
