//! `memory_update` and `memory_forget`: an agent puts a memory right, or takes it away.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    Annotations, Spec, Tool, ToolAnswer, ToolContext, ToolSet,
    check::check_schema,
    input::typed,
    save::{delete, done, update},
};
use crate::{
    error::Result,
    ingest::Edit,
    types::{Kind, NewCheck},
};

/// Changes a memory.
pub(super) struct MemoryUpdate;
/// Takes a memory away.
pub(super) struct MemoryForget;

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
}

#[derive(Deserialize)]
struct ForgetInput {
    id: String,
}

const UPDATE: &str = "\
Change a memory that is saved: its text, its title, its type or the line that tells when it matters. What is left out stays.

Use it when a fact has changed or was wrong, at once and instead of saving a second memory that says otherwise. Use it after \
memory_recall or memory_get, which give the id. Write the whole new text, clear without this conversation, with real dates.

Do not use it for something new: memory_save does that. What was said in a conversation, word for word (type turn), cannot be \
changed. Every change is kept in a journal, from which the user can bring the old text back.";

const FORGET: &str = "\
Take a memory away, so that it is never recalled again.

Use it at once when the user asks you to forget something, and when a memory is wrong and nothing true is left to say. Find \
the id with memory_recall; if there are several that say it, forget each. Tell the user what you forgot.

Do not use it for a fact that changed: memory_update keeps the memory true. The user can undo it; to erase a memory with \
every trace of it, for good, the user runs `everlore memory forget`.";

fn id() -> Value {
    json!({ "type": "string", "description": "The memory: its id, a unique beginning of it, or its uri" })
}

#[async_trait]
impl Tool for MemoryUpdate {
    fn spec(&self) -> Spec {
        Spec {
            name: "memory_update",
            title: "Change a memory",
            description: UPDATE,
            set: ToolSet::Core,
            input_schema: json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["id"],
                "properties": {
                    "id": id(),
                    "content": { "type": "string", "description": "The new text, all of it" },
                    "name": { "type": "string", "description": "The new title" },
                    "type": { "type": "string", "enum": ["user", "feedback", "project", "reference"], "description": "The new type" },
                    "description": { "type": "string", "description": "The new line that tells when this memory matters" },
                    "check": check_schema(),
                    "no_check": { "type": "boolean", "default": false, "description": "Take its check away" }
                }
            }),
            output_schema: done(),
            annotations: Annotations { idempotent_hint: true, ..Annotations::CHANGES },
            aliases: &[("type", "preference", "user"), ("type", "fact", "knowledge")],
        }
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolAnswer> {
        let UpdateInput { id, content, name, kind, description, check, no_check } = typed(input)?;
        let check = check.map(|check| cx.reach.allowed(check)).transpose()?;
        let no_check = no_check.unwrap_or_default();
        let edit = Edit { content, name, kind, description, check, no_check, ..Edit::default() };
        update(&self.spec(), &id, &edit, "memory_update", cx).await
    }
}

#[async_trait]
impl Tool for MemoryForget {
    fn spec(&self) -> Spec {
        Spec {
            name: "memory_forget",
            title: "Forget a memory",
            description: FORGET,
            set: ToolSet::Core,
            input_schema: json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["id"],
                "properties": { "id": id() }
            }),
            output_schema: done(),
            annotations: Annotations::REMOVES,
            aliases: &[],
        }
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolAnswer> {
        let ForgetInput { id } = typed(input)?;
        delete(&id, "memory_forget", cx).await
    }
}
