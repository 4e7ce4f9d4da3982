//! `skill_read`: skills and workflows that the user approved, and how following one went.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    Tool, ToolAnnotations, ToolContext, ToolResult, ToolSet, ToolSpec, input::parse_input,
};
use crate::{
    engine::{SkillForm, SkillView},
    error::Result,
};

/// `skill_read`.
pub(super) struct SkillReadTool;

const DESCRIPTION: &str = "\
Read a skill or workflow that the user approved: what to do, step by step, for a task or a failure that comes up again. Without a \
name it lists them.

Use it before you do what one is for; <agent-skills> in the prompt names them. Afterwards call it again with the name and outcome \
worked or failed: three failures in a row retire it. A skill is the user's wish; what the user says now comes first.

Do not use it to look up facts: memory_recall finds those.";

#[derive(Deserialize)]
struct SkillReadInput {
    name: Option<String>,
    outcome: Option<SkillOutcome>,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SkillOutcome {
    Worked,
    Failed,
}

#[async_trait]
impl Tool for SkillReadTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: DESCRIPTION,
            input_schema: json!({
                "type": "object",
                "additionalProperties": false,
                "required": [],
                "properties": {
                    "name": { "type": "string", "description": "The skill or workflow; left out, all are listed" },
                    "outcome": { "type": "string", "enum": ["worked", "failed"], "description": "How it went, after you followed it" }
                }
            }),
            output_schema: json!({
                "type": "object",
                "required": ["skills"],
                "properties": { "skills": { "type": "array", "items": skill_schema() } }
            }),
            annotations: ToolAnnotations::CHANGES,
            ..ToolSpec::new(ToolSet::Growth, "skill_read", "Read a skill")
        }
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolResult> {
        let input: SkillReadInput = parse_input(input)?;
        let Some(name) = input.name.filter(|name| !name.trim().is_empty()) else {
            return listed(cx).await;
        };
        let skill = match input.outcome {
            None => cx.engine.use_skill(cx.scope, name.trim()).await?,
            Some(outcome) => report(cx, name.trim(), outcome == SkillOutcome::Worked).await?,
        };
        let text = match input.outcome {
            None => skill.text.clone().unwrap_or_default(),
            Some(_) => format!("Noted: {}", line(&skill)),
        };
        Ok(ToolResult::new(text, json!({ "skills": [skill] })))
    }
}

async fn listed(cx: &ToolContext<'_>) -> Result<ToolResult> {
    let mut skills = cx.engine.skills(cx.scope, SkillForm::Skill, false).await?;
    skills.extend(cx.engine.skills(cx.scope, SkillForm::Workflow, false).await?);
    let text = if skills.is_empty() {
        "The user approved no skill yet.".to_owned()
    } else {
        skills.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    Ok(ToolResult::new(text, json!({ "skills": skills })))
}

/// Reports an outcome for the skill of a name, or else for the workflow.
async fn report(cx: &ToolContext<'_>, name: &str, worked: bool) -> Result<SkillView> {
    let engine = cx.engine_for("skill_read");
    match engine.report_skill(cx.scope, SkillForm::Skill, name, worked).await {
        Err(crate::error::Error::NotFound { .. }) => {
            engine.report_skill(cx.scope, SkillForm::Workflow, name, worked).await
        }
        other => other,
    }
}

fn line(skill: &SkillView) -> String {
    let effect = skill.effect;
    format!(
        "{} ({}, {}; worked {}, failed {}): {}",
        skill.name, skill.form, skill.state, effect.worked, effect.failed, skill.description
    )
}

fn skill_schema() -> Value {
    json!({
        "type": "object",
        "required": ["name", "form", "description", "state"],
        "properties": {
            "name": { "type": "string" },
            "form": { "type": "string", "enum": ["skill", "workflow"] },
            "description": { "type": "string", "description": "What it is for" },
            "state": { "type": "string", "enum": ["active", "retired"] },
            "text": { "type": "string", "description": "The whole text, if one was named" }
        }
    })
}
