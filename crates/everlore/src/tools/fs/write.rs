//! Write tools: `fs_add` and `fs_rm`.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{object_schema, to_json, uri_field};
use crate::{
    engine::fs::{FsAddRequest, FsRemoveRequest},
    error::Result,
    tools::{
        Tool, ToolAnnotations, ToolContext, ToolResult, ToolSet, ToolSpec, input::parse_input,
        save::with_superseded,
    },
};

/// `fs_add`.
pub(in crate::tools) struct FsAddTool;

#[derive(Deserialize)]
struct FsAddInput {
    uri: String,
    content: String,
    name: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
}

#[async_trait]
impl Tool for FsAddTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Save a text to long-term memory at a place.\n\n\
                Use it for what should last: a type and a category such as user/food or project/release make a memory; \
                resources/ with a path such as resources/handbook/deploy.md makes a document, which can be found piece by \
                piece and replaces one with that path. The short forms l0 and l1 are made at once.\n\n\
                Do not save secrets, or what is there already: look with fs_find first.",
            input_schema: object_schema(
                &["uri", "content"],
                &json!({ "uri": uri_field("Where to save it"), "content": { "type": "string", "description": "The text" }, "name": { "type": "string", "description": "A title for a memory" }, "tags": { "type": "array", "items": { "type": "string" }, "description": "Keywords" } }),
            ),
            output_schema: json!({ "type": "object", "required": ["uri"], "properties": {
                "uri": { "type": "string", "description": "Uri of the saved text" },
                "memory": { "type": "object", "description": "The saved memory, if it is one" },
                "document": { "type": "object", "description": "Report of the ingestion, if it is a document" }
            } }),
            annotations: ToolAnnotations::CHANGES,
            ..ToolSpec::new(ToolSet::Fs, "fs_add", "Add to memory")
        }
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolResult> {
        let FsAddInput { uri, content, name, tags } = parse_input(input)?;
        let request = FsAddRequest {
            uri,
            bytes: content.into_bytes(),
            name,
            tags,
            ..FsAddRequest::default()
        };
        let added = cx.engine_for("fs_add").fs_add(cx.scope, request).await?;
        let result = ToolResult::new(format!("Added: {}", added.uri), to_json(&added)?);
        Ok(match &added.memory {
            Some(saved) => with_superseded(result, saved),
            None => result,
        })
    }
}

/// `fs_rm`.
pub(in crate::tools) struct FsRmTool;

#[derive(Deserialize)]
struct FsRmInput {
    uri: String,
    #[serde(default)]
    recursive: bool,
}

#[async_trait]
impl Tool for FsRmTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Remove a memory, a document, a conversation or, with `recursive`, a folder of such.\n\n\
                Use it only when the user asks for it. The journal keeps what is removed, so that the user can take it back.\n\n\
                Do not use it to correct a memory: memory_save updates it.",
            input_schema: object_schema(
                &["uri"],
                &json!({ "uri": uri_field("Entry to remove"), "recursive": { "type": "boolean", "default": false, "description": "Also remove a folder with all its contents" } }),
            ),
            output_schema: json!({ "type": "object", "required": ["uri", "memories", "runs"], "properties": {
                "uri": { "type": "string", "description": "Uri of the removed entry" },
                "memories": { "type": "integer", "description": "Number of removed memories" },
                "runs": { "type": "array", "items": { "type": "string" }, "description": "Runs that can be undone" }
            } }),
            annotations: ToolAnnotations::CHANGES,
            ..ToolSpec::new(ToolSet::Fs, "fs_rm", "Remove from memory")
        }
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolResult> {
        let FsRmInput { uri, recursive } = parse_input(input)?;
        let request = FsRemoveRequest { uri, recursive, dry_run: false };
        let removed = cx.engine_for("fs_rm").fs_remove(cx.scope, &request).await?;
        let text = format!("Removed {} ({} memories).", removed.uri, removed.memories);
        Ok(ToolResult::new(text, to_json(&removed)?))
    }
}
