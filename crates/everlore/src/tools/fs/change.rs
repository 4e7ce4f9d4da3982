//! Adding and removing.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{object, structured, uri_field};
use crate::{
    engine::fs::{AddRequest, RemoveRequest},
    error::Result,
    tools::{Annotations, Spec, Tool, ToolAnswer, ToolContext, ToolSet, input::typed},
};

/// `fs_add`.
pub(in crate::tools) struct Add;

#[derive(Deserialize)]
struct AddInput {
    uri: String,
    content: String,
    name: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
}

#[async_trait]
impl Tool for Add {
    fn spec(&self) -> Spec {
        Spec {
            name: "fs_add",
            title: "Add to memory",
            description: "Save a text to long-term memory at a place.\n\n\
                Use it for what should last: a type and a category such as user/food or project/release make a memory; \
                resources/ with a path such as resources/handbook/deploy.md makes a document, which can be found piece by \
                piece and replaces one with that path. The short forms l0 and l1 are made at once.\n\n\
                Do not save secrets, or what is there already: look with fs_find first.",
            set: ToolSet::Fs,
            input_schema: object(
                &["uri", "content"],
                &json!({ "uri": uri_field("Where to"), "content": { "type": "string", "description": "The text" }, "name": { "type": "string", "description": "A title for a memory" }, "tags": { "type": "array", "items": { "type": "string" }, "description": "Keywords" } }),
            ),
            output_schema: json!({ "type": "object", "required": ["uri"], "properties": {
                "uri": { "type": "string", "description": "Where it stands" },
                "memory": { "type": "object", "description": "What was saved, if it is a memory" },
                "document": { "type": "object", "description": "What became of it, if it is a document" }
            } }),
            annotations: Annotations::CHANGES,
            aliases: &[],
        }
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolAnswer> {
        let AddInput { uri, content, name, tags } = typed(input)?;
        let request =
            AddRequest { uri, bytes: content.into_bytes(), name, tags, ..AddRequest::default() };
        let added = cx.acting("fs_add").fs_add(cx.scope, request).await?;
        Ok(ToolAnswer::new(format!("Added: {}", added.uri), structured(&added)?))
    }
}

/// `fs_rm`.
pub(in crate::tools) struct Rm;

#[derive(Deserialize)]
struct RmInput {
    uri: String,
    #[serde(default)]
    recursive: bool,
}

#[async_trait]
impl Tool for Rm {
    fn spec(&self) -> Spec {
        Spec {
            name: "fs_rm",
            title: "Remove from memory",
            description: "Remove a memory, a document, a conversation or, with `recursive`, a folder of such.\n\n\
                Use it only when the user asks for it. The journal keeps what is removed, so that the user can take it back.\n\n\
                Do not use it to correct a memory: memory_save updates it.",
            set: ToolSet::Fs,
            input_schema: object(
                &["uri"],
                &json!({ "uri": uri_field("What to remove"), "recursive": { "type": "boolean", "default": false, "description": "Also a folder with all that is in it" } }),
            ),
            output_schema: json!({ "type": "object", "required": ["uri", "memories", "runs"], "properties": {
                "uri": { "type": "string", "description": "Where it stood" },
                "memories": { "type": "integer", "description": "How many memories that were" },
                "runs": { "type": "array", "items": { "type": "string" }, "description": "By which it can be undone" }
            } }),
            annotations: Annotations::CHANGES,
            aliases: &[],
        }
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolAnswer> {
        let RmInput { uri, recursive } = typed(input)?;
        let request = RemoveRequest { uri, recursive, dry_run: false };
        let removed = cx.acting("fs_rm").fs_remove(cx.scope, &request).await?;
        let text = format!("Removed {} ({} memories).", removed.uri, removed.memories);
        Ok(ToolAnswer::new(text, structured(&removed)?))
    }
}
