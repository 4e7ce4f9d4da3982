//! Agent Trajectory Interchange Format 1.8: one object per trajectory, in which unknown fields are forbidden.

use serde_json::{Map, Value, json};

use super::{
    export::{NumberedCall, StepGroup, argument_object, groups, spoken_text, tool_definitions},
    steps::{Trajectory, TrajectoryStep},
};
use crate::types::Role;

/// Version of the format.
const SCHEMA_VERSION: &str = "ATIF-v1.8";

/// Writes a trajectory.
pub(super) fn write_atif(trajectory: &Trajectory) -> Value {
    let mut steps: Vec<Map<String, Value>> = Vec::new();
    for group in groups(&trajectory.steps) {
        match group {
            StepGroup::Calls(calls) => steps.push(call_step(&calls)),
            StepGroup::Message(step) if step.role == Role::Tool => add_output(&mut steps, step),
            StepGroup::Message(step) => steps.push(message_step(step)),
        }
    }
    let count = steps.len();
    let numbered = steps.into_iter().zip(1..).map(|(mut step, number)| {
        step.insert("step_id".to_owned(), number.into());
        Value::Object(step)
    });
    let mut written = json!({
        "schema_version": SCHEMA_VERSION,
        "session_id": trajectory.session,
        "agent": agent(trajectory),
        "steps": numbered.collect::<Vec<Value>>(),
        "final_metrics": final_metrics(trajectory, count),
        "extra": extra(trajectory),
    });
    if let Some(savings) = trajectory.compressed.filter(|savings| savings.left_out > 0) {
        let notes = format!("compressed: {} steps were left out", savings.left_out);
        written["notes"] = notes.into();
    }
    written
}

fn agent(trajectory: &Trajectory) -> Value {
    let mut agent = json!({ "name": trajectory.agent, "version": env!("CARGO_PKG_VERSION") });
    if let Some(model) = trajectory.models.first() {
        agent["model_name"] = model.clone().into();
    }
    let tools = tool_definitions(&trajectory.steps);
    if !tools.is_empty() {
        agent["tool_definitions"] = tools.into();
    }
    agent
}

fn final_metrics(trajectory: &Trajectory, steps: usize) -> Value {
    let mut metrics = json!({ "total_steps": steps });
    if let Some(tokens) = trajectory.tokens {
        metrics["total_prompt_tokens"] = tokens.read.into();
        metrics["total_completion_tokens"] = tokens.written.into();
        metrics["total_cached_tokens"] = tokens.cached.into();
    }
    metrics
}

fn extra(trajectory: &Trajectory) -> Value {
    let ids: Vec<String> = trajectory.experiences.iter().map(|it| it.id.to_string()).collect();
    json!({ "outcome": trajectory.outcome, "experiences": ids })
}

fn message_step(step: &TrajectoryStep) -> Map<String, Value> {
    let source = match step.role {
        Role::User => "user",
        Role::Assistant => "agent",
        Role::System | Role::Tool => "system",
    };
    let mut written = new_step(step, source, &spoken_text(step));
    if step.role != Role::Assistant {
        return written;
    }
    if let Some(model) = &step.model {
        written.insert("model_name".to_owned(), model.clone().into());
    }
    if let Some(tokens) = step.tokens {
        let metrics = json!({
            "prompt_tokens": tokens.read,
            "completion_tokens": tokens.written,
            "cached_tokens": tokens.cached,
        });
        written.insert("metrics".to_owned(), metrics);
    }
    written
}

fn call_step(calls: &[NumberedCall<'_>]) -> Map<String, Value> {
    let mut written = new_step(calls[0].step, "agent", "");
    let call = |it: &NumberedCall<'_>| {
        json!({
            "tool_call_id": it.id,
            "function_name": it.call.name,
            "arguments": argument_object(it.call),
        })
    };
    let result = |it: &NumberedCall<'_>| {
        let mut result = json!({ "source_call_id": it.id, "content": it.step.text });
        if it.call.failed {
            result["extra"] = json!({ "failed": true });
        }
        result
    };
    written.insert("tool_calls".to_owned(), calls.iter().map(call).collect());
    let results: Vec<Value> = calls.iter().map(result).collect();
    written.insert("observation".to_owned(), json!({ "results": results }));
    written
}

/// Adds the output of a tool whose call is not known: to the step before it, or as a step of its own.
fn add_output(steps: &mut Vec<Map<String, Value>>, step: &TrajectoryStep) {
    let result = json!({ "content": step.text });
    let is_agent = steps.last().is_some_and(|last| last["source"] == "agent");
    if !is_agent {
        steps.push(new_step(step, "system", ""));
    }
    let Some(last) = steps.last_mut() else { return };
    let observation = last.entry("observation").or_insert_with(|| json!({ "results": [] }));
    if let Some(results) = observation["results"].as_array_mut() {
        results.push(result);
    }
}

fn new_step(step: &TrajectoryStep, source: &str, message: &str) -> Map<String, Value> {
    let step = json!({ "timestamp": step.at.to_string(), "source": source, "message": message });
    step.as_object().cloned().unwrap_or_default()
}
