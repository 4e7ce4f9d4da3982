//! `memory_update`: correct a memory.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    Tool, ToolAnnotations, ToolContext, ToolResult, ToolSet, ToolSpec,
    check::check_schema,
    input::parse_input,
    save::{change_output_schema, change_result, update_memory},
};
use crate::{
    error::Result,
    growth::{FeedbackRequest, FeedbackVerdict},
    ingest::MemoryEdit,
    types::{Kind, NewCheck},
};

/// `memory_update`.
pub(super) struct MemoryUpdateTool;

#[derive(Deserialize)]
struct UpdateInput {
    id: String,
    content: Option<String>,
    name: Option<String>,
    #[serde(rename = "type")]
    kind: Option<Kind>,
    description: Option<String>,
    check: Option<NewCheck>,
    no_check: Option<bool>,
    feedback: Option<FeedbackVerdict>,
}

const UPDATE: &str = "\
Change a memory that is saved: its text, its title, its type or the line that tells when it matters. What is left out stays.

Use it when a fact has changed or was wrong, at once and instead of saving a second memory that says otherwise. Use it after \
memory_recall or memory_get, which give the id. Write the whole new text, clear without this conversation, with real dates.

Do not use it for something new: memory_save does that. What was said in a conversation, word for word (type turn), cannot be \
changed. Every change is kept in a journal, from which the user can bring the old text back.";

pub(super) fn id_schema() -> Value {
    json!({ "type": "string", "description": "The memory: its id, a unique beginning of it, or its uri" })
}

#[async_trait]
impl Tool for MemoryUpdateTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: UPDATE,
            input_schema: json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["id"],
                "properties": {
                    "id": id_schema(),
                    "content": { "type": "string", "description": "The new text, all of it" },
                    "name": { "type": "string", "description": "The new title" },
                    "type": { "type": "string", "enum": ["user", "feedback", "project", "reference"], "description": "The new type" },
                    "description": { "type": "string", "description": "New line that says when this memory is relevant" },
                    "check": check_schema(),
                    "no_check": { "type": "boolean", "default": false, "description": "Remove its check" },
                    "feedback": { "type": "string", "enum": ["good", "bad"], "description": "The user said that it helped, or that it did not or is wrong" }
                }
            }),
            output_schema: change_output_schema(),
            annotations: ToolAnnotations { idempotent_hint: true, ..ToolAnnotations::CHANGES },
            aliases: &[("type", "preference", "user"), ("type", "fact", "knowledge")],
            ..ToolSpec::new(ToolSet::Core, "memory_update", "Change a memory")
        }
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolResult> {
        let UpdateInput { id, content, name, kind, description, check, no_check, feedback } =
            parse_input(input)?;
        let check = check.map(|check| cx.check_permission.permit(check)).transpose()?;
        let no_check = no_check.unwrap_or_default();
        let edit = MemoryEdit {
            content,
            name,
            kind,
            description,
            check,
            no_check,
            ..MemoryEdit::default()
        };
        if let Some(verdict) = feedback {
            let judged = give_feedback(&id, verdict, cx).await?;
            if edit == MemoryEdit::default() {
                return Ok(judged);
            }
        }
        update_memory(&self.spec(), &id, &edit, "memory_update", cx).await
    }
}

/// Records the user's verdict on a memory.
async fn give_feedback(
    id: &str,
    verdict: FeedbackVerdict,
    cx: &ToolContext<'_>,
) -> Result<ToolResult> {
    let id = cx.engine.resolve(cx.scope, id).await?;
    let request = FeedbackRequest { verdict, because: None, never_again: false };
    cx.engine_for("memory_update: feedback").give_feedback(cx.scope, &[id], &request).await?;
    let memory = cx.engine.get(cx.scope, id).await?;
    Ok(change_result("updated", "Recorded the verdict on", &memory))
}
