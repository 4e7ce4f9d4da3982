//! `memory_get`: an agent reads memories whole.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    Annotations, Spec, Tool, ToolAnswer, ToolContext, ToolSet,
    input::typed,
    view::{whole, whole_schema},
};
use crate::{
    engine::NAMED_LIMIT,
    error::{Error, Result},
    recall::{self, Recall},
    types::Memory,
};

/// The tool.
pub(super) struct MemoryGet;

#[derive(Deserialize)]
struct Input {
    ids: Vec<String>,
}

/// As many as one look takes in; a recall returns at most fifty, of which few need all their text.
const MAX_IDS: usize = 20;

/// Hosts cut answers above 25,000 tokens.
const MAX_TOKENS: usize = 20_000;

const DESCRIPTION: &str = "\
Read memories whole, by their ids: all of the text, where it comes from, when it was said, stored and changed, and whether a \
newer memory replaced it.

Use it after memory_recall or memory_timeline, for those whose short text is not enough or is marked as shortened, and before \
you change a memory. Ask for several at once.

Do not use it to search: it takes ids (or unique beginnings of them, at least 8 characters, or uris), not words. An id that \
is not there is named in the answer; it may have been forgotten, or belong to somebody else.";

#[async_trait]
impl Tool for MemoryGet {
    fn spec(&self) -> Spec {
        Spec {
            name: "memory_get",
            title: "Read memories whole",
            description: DESCRIPTION,
            set: ToolSet::Core,
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
                    "memories": { "type": "array", "description": "The memories, in the order asked for", "items": whole_schema() },
                    "missing": { "type": "array", "items": { "type": "string" }, "description": "What was asked for and is not there" }
                }
            }),
            annotations: Annotations::READS,
            aliases: &[],
        }
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolAnswer> {
        let Input { ids } = typed(input)?;
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for id in ids {
            match read(&id, cx).await {
                Ok(memory) => found.push(memory),
                Err(Error::NotFound { .. }) => missing.push(id),
                Err(error) => return Err(error),
            }
        }
        Ok(told(found, &missing, cx).await)
    }
}

async fn read(name: &str, cx: &ToolContext<'_>) -> Result<Memory> {
    let id = cx.engine.resolve(cx.scope, name).await?;
    cx.engine.get(cx.scope, id).await
}

async fn told(found: Vec<Memory>, missing: &[String], cx: &ToolContext<'_>) -> ToolAnswer {
    let now = cx.engine.now();
    let (mut memories, mut said) = (Vec::new(), missing_words(missing));
    if let Some(mut all) = together(found, cx) {
        cx.engine.verify(&mut all, NAMED_LIMIT).await;
        let each = all.hits.iter().map(|hit| whole(&hit.memory, hit.check.as_ref(), &now));
        memories = each.collect();
        said.push_str(&recall::answer(&all, MAX_TOKENS, &now).0);
    }
    ToolAnswer::new(said, json!({ "memories": memories, "missing": missing }))
}

/// What was found as one answer, as recall gives it.
fn together(found: Vec<Memory>, cx: &ToolContext<'_>) -> Option<Recall> {
    let (settings, now) = (cx.engine.settings(cx.scope.agent()), cx.engine.now());
    let config = &settings.recall;
    let mut each = found.into_iter().map(|memory| recall::named(memory, config, &now));
    let mut first = each.next()?;
    first.hits.extend(each.flat_map(|one| one.hits));
    Some(first)
}

fn missing_words(missing: &[String]) -> String {
    match missing.is_empty() {
        true => String::new(),
        false => {
            format!("Not there: {}. Use memory_recall to find what there is.\n", missing.join(", "))
        }
    }
}
