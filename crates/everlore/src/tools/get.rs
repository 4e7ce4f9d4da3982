//! `memory_get`: reads complete memories.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    Tool, ToolContext, ToolResult, ToolSet, ToolSpec,
    input::parse_input,
    view::{full_json, full_schema},
};
use crate::{
    engine::NAMED_CHECK_TIMEOUT,
    error::{Error, Result},
    recall::{self, BlockRequest, Recall},
    text::sanitize::sanitize_line,
    types::Memory,
};

/// `memory_get`.
pub(super) struct MemoryGetTool;

#[derive(Deserialize)]
struct GetInput {
    ids: Vec<String>,
}

/// Most memories per call: a recall returns at most fifty, of which few are needed whole.
const MAX_IDS: usize = 20;

/// Token limit of the result: hosts cut results above 25,000 tokens.
const MAX_TOKENS: usize = 20_000;

const DESCRIPTION: &str = "\
Read memories whole, by their ids: all of the text, where it comes from, when it was said, stored and changed, and whether a \
newer memory replaced it.

Use it after memory_recall or memory_timeline, for those whose short text is not enough or is marked as shortened, and before \
you change a memory. Ask for several at once.

Do not use it to search: it takes ids (or unique beginnings of them, at least 8 characters, or uris), not words. An id that \
is not there is named in the answer; it may have been forgotten, or belong to another user.";

#[async_trait]
impl Tool for MemoryGetTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: DESCRIPTION,
            input_schema: json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["ids"],
                "properties": {
                    "ids": { "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": MAX_IDS, "description": "The ids or uris, as memory_recall gives them" }
                }
            }),
            output_schema: json!({
                "type": "object",
                "required": ["memories", "missing"],
                "properties": {
                    "memories": { "type": "array", "description": "The memories, in the order asked for", "items": full_schema() },
                    "missing": { "type": "array", "items": { "type": "string" }, "description": "Requested ids that do not exist" }
                }
            }),
            ..ToolSpec::new(ToolSet::Core, "memory_get", "Read full memories")
        }
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolResult> {
        let GetInput { ids } = parse_input(input)?;
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for id in ids {
            match read(&id, cx).await {
                Ok(memory) => found.push(memory),
                Err(Error::NotFound { .. }) => missing.push(id),
                Err(error) => return Err(error),
            }
        }
        Ok(get_result(found, &missing, cx).await)
    }
}

async fn read(name: &str, cx: &ToolContext<'_>) -> Result<Memory> {
    let id = cx.engine.resolve(cx.scope, name).await?;
    cx.engine.get(cx.scope, id).await
}

async fn get_result(found: Vec<Memory>, missing: &[String], cx: &ToolContext<'_>) -> ToolResult {
    let now = cx.engine.now();
    let (mut memories, mut text) = (Vec::new(), missing_ids_sentence(missing));
    if let Some(mut all) = merge_recalls(found, cx) {
        cx.engine.verify_hits(&mut all, NAMED_CHECK_TIMEOUT).await;
        let each = all.hits.iter().map(|hit| full_json(&hit.memory, hit.check.as_ref(), &now));
        memories = each.collect();
        let language = all.intent.language;
        let block =
            BlockRequest { query: "", language, budget: MAX_TOKENS, now: &now, whole: true };
        text.push_str(&recall::render_recall(&all, &block).0);
    }
    ToolResult::with_blocks(text, json!({ "memories": memories, "missing": missing }))
}

/// Merges memories into one recall result.
fn merge_recalls(found: Vec<Memory>, cx: &ToolContext<'_>) -> Option<Recall> {
    let (settings, now) = (cx.engine.settings(cx.scope.agent()), cx.engine.now());
    let config = &settings.recall;
    let mut each =
        found.into_iter().map(|memory| recall::recall_named_memory(memory, config, &now));
    let mut first = each.next()?;
    first.hits.extend(each.flat_map(|one| one.hits));
    Some(first)
}

fn missing_ids_sentence(missing: &[String]) -> String {
    if missing.is_empty() {
        return String::new();
    }
    let missing: Vec<String> = missing.iter().map(|id| sanitize_line(id)).collect();
    format!("Not found: {}. Use memory_recall to find ids.\n", missing.join(", "))
}
