//! `profile_read`: what is known of the user, as fields with their dates.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    Tool, ToolAnnotations, ToolContext, ToolResult, ToolSet, ToolSpec, input::parse_input,
};
use crate::{engine::ProfileField, error::Result, text::sanitize::sanitize_line};

/// `profile_read`.
pub(super) struct ProfileReadTool;

const DESCRIPTION: &str = "\
Read what is known of the user: role, employer, industry, expertise, tools, language, style of answers, topics, pains and active hours, \
each with its confidence and dates. A value with `until` no longer holds.

Use it to fit an answer to the person, or when the user asks what you know of them. What the user says now comes first.

Do not use it to look up events or facts: memory_recall finds those.";

#[derive(Deserialize)]
struct ProfileReadInput {
    field: Option<String>,
}

#[async_trait]
impl Tool for ProfileReadTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: DESCRIPTION,
            input_schema: json!({
                "type": "object",
                "additionalProperties": false,
                "required": [],
                "properties": {
                    "field": { "type": "string", "description": "One field, such as role or tools; left out, all are read" }
                }
            }),
            output_schema: json!({
                "type": "object",
                "required": ["fields"],
                "properties": { "fields": { "type": "array", "items": field_schema() } }
            }),
            annotations: ToolAnnotations::READS,
            ..ToolSpec::new(ToolSet::Growth, "profile_read", "Read the user's profile")
        }
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolResult> {
        let input: ProfileReadInput = parse_input(input)?;
        let mut fields = cx.engine.profile(cx.scope).await?.fields;
        fields.retain(|field| input.field.as_ref().is_none_or(|name| *name == field.name));
        for field in &mut fields {
            field.value = sanitize_line(&field.value);
        }
        let text = if fields.is_empty() {
            "Nothing is known of the user yet.".to_owned()
        } else {
            fields.iter().map(line).collect::<Vec<_>>().join("\n")
        };
        let fields: Vec<Value> = fields.iter().map(described).collect();
        Ok(ToolResult::new(text, json!({ "fields": fields })))
    }
}

/// Describes a field; one that holds has no end.
fn described(field: &ProfileField) -> Value {
    let mut value = json!(field);
    if let Some(members) = value.as_object_mut().filter(|_| field.until.is_none()) {
        members.remove("until");
    }
    value
}

fn line(field: &ProfileField) -> String {
    let day = |at: crate::types::Timestamp| at.strftime("%Y-%m-%d").to_string();
    let until = field.until.map_or_else(String::new, |until| format!(" until {}", day(until)));
    let ProfileField { name, value, confidence, since, .. } = field;
    format!("- {name}: {value} ({:.0} % sure, since {}{until})", confidence * 100.0, day(*since))
}

fn field_schema() -> Value {
    json!({
        "type": "object",
        "required": ["name", "value", "confidence", "since"],
        "properties": {
            "name": { "type": "string" },
            "value": { "type": "string" },
            "confidence": { "type": "number", "minimum": 0, "maximum": 1 },
            "since": { "type": "string" },
            "until": { "type": "string", "description": "Set if it no longer holds" },
            "evidence": { "type": "array", "items": { "type": "string" }, "description": "Turns that say it" }
        }
    })
}
