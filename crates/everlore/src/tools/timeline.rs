//! `memory_timeline`: shows what was said around a memory or a moment.

use async_trait::async_trait;
use jiff::{Timestamp, civil::Date};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    Tool, ToolContext, ToolResult, ToolSet, ToolSpec,
    input::{invalid_input, missing_field, parse_input},
    view::{brief_json, brief_schema, memory_line},
};
use crate::{
    engine::TimelineRequest,
    error::Result,
    store::MemoryFilter,
    types::{Kind, Memory, MemoryId, Status},
};

/// `memory_timeline`.
pub(super) struct MemoryTimelineTool;

#[derive(Deserialize)]
struct TimelineInput {
    id: Option<String>,
    query: Option<String>,
    date: Option<String>,
    #[serde(rename = "type")]
    kind: Option<Kind>,
    before: Option<usize>,
    after: Option<usize>,
}

/// Memories per side by default: the exchange that a memory came from, and the one next to it.
const DEFAULT_PER_SIDE: usize = 5;

const DESCRIPTION: &str = "\
See what was said and stored around a memory or on a day, in the order of time: each memory in one line with its id.

Use it after memory_recall, when you need what led to a memory or followed from it, what else was said in that conversation, \
or what happened on a date. Give the id of a memory, or a query (its best answer becomes the middle), or a date. Then \
memory_get reads those whole that matter.

Do not use it to look for something: memory_recall finds it wherever it is in time.";

#[async_trait]
impl Tool for MemoryTimelineTool {
    fn spec(&self) -> ToolSpec {
        let count = |side: &str| json!({ "type": "integer", "minimum": 0, "maximum": 50, "default": DEFAULT_PER_SIDE, "description": format!("The most memories {side} it") });
        ToolSpec {
            description: DESCRIPTION,
            input_schema: json!({
                "type": "object",
                "additionalProperties": false,
                "required": [],
                "properties": {
                    "id": { "type": "string", "description": "The memory in the middle: its id, a unique beginning of it, or its uri" },
                    "query": { "type": "string", "description": "Or a question, whose best answer is in the middle" },
                    "date": { "type": "string", "description": "Or a day, YYYY-MM-DD, or a moment with its offset, such as 2026-03-05T14:00:00+01:00" },
                    "type": { "type": "string", "enum": Kind::ALL.map(Kind::as_str), "description": "Only memories of this type; all if left out" },
                    "before": count("before"),
                    "after": count("after")
                }
            }),
            output_schema: json!({
                "type": "object",
                "required": ["memories"],
                "properties": {
                    "anchor": { "type": "string", "description": "The id of the memory in the middle, if there is one" },
                    "memories": { "type": "array", "description": "Memories around it, oldest first, including the one in the middle", "items": brief_schema() }
                }
            }),
            aliases: &[("type", "preference", "user"), ("type", "fact", "knowledge")],
            ..ToolSpec::new(ToolSet::Core, "memory_timeline", "Show the timeline around a memory")
        }
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolResult> {
        let input: TimelineInput = parse_input(input)?;
        let Some(anchor) = self.find_anchor(&input, cx).await? else {
            let text = "Nothing relevant is stored for this query, so there is nothing around it.";
            return Ok(ToolResult::new(text, json!({ "memories": [] })));
        };
        let (before, after) =
            (input.before.unwrap_or(DEFAULT_PER_SIDE), input.after.unwrap_or(DEFAULT_PER_SIDE));
        let kinds = input.kind.into_iter().collect();
        let filter =
            MemoryFilter { kinds, statuses: vec![Status::Active], ..MemoryFilter::default() };
        let filter = filter.without_records();
        let request = TimelineRequest { at: anchor.at, filter, before, after };
        let mut found = cx.engine.timeline(cx.scope, &request).await?;
        found.retain(|memory| Some(memory.id) != anchor.id());
        let (earlier, later) = anchor.split(found);
        let earlier = earlier.into_iter().rev().take(before).rev();
        let all: Vec<Memory> =
            earlier.chain(anchor.memory.clone()).chain(later.into_iter().take(after)).collect();
        Ok(timeline_result(&anchor, &all, cx))
    }
}

/// Centre of a timeline: a moment, and the memory of that moment if one was named.
struct TimelineAnchor {
    at: Timestamp,
    memory: Option<Memory>,
}

impl TimelineAnchor {
    fn from_memory(memory: Memory) -> Self {
        Self { at: memory.at, memory: Some(memory) }
    }

    fn id(&self) -> Option<MemoryId> {
        self.memory.as_ref().map(|memory| memory.id)
    }

    /// Splits memories into those before and after, in order. Memories of the same moment are ordered by id, that is,
    /// by storage.
    fn split(&self, mut found: Vec<Memory>) -> (Vec<Memory>, Vec<Memory>) {
        let anchor = (self.at, self.id());
        let at = found.partition_point(|memory| (memory.at, Some(memory.id)) < anchor);
        let later = found.split_off(at);
        (found, later)
    }
}

impl MemoryTimelineTool {
    async fn find_anchor(
        &self,
        input: &TimelineInput,
        cx: &ToolContext<'_>,
    ) -> Result<Option<TimelineAnchor>> {
        match (&input.id, &input.query, &input.date) {
            (Some(id), None, None) => {
                let id = cx.engine.resolve(cx.scope, id).await?;
                Ok(Some(TimelineAnchor::from_memory(cx.engine.get(cx.scope, id).await?)))
            }
            (None, Some(query), None) => {
                let found = cx.engine.recall(&cx.engine.context_request(cx.scope, query)).await?;
                Ok(found.hits.into_iter().next().map(|hit| TimelineAnchor::from_memory(hit.memory)))
            }
            (None, None, Some(date)) => {
                Ok(Some(TimelineAnchor { at: self.parse_date(date, cx)?, memory: None }))
            }
            (None, None, None) => {
                Err(missing_field(&self.spec(), "id", "; a query or a date will do instead"))
            }
            _ => Err(invalid_input(&self.spec(), "give only one of id, query and date")),
        }
    }

    /// Parses a moment, or a day as its noon in the user's time zone.
    fn parse_date(&self, date: &str, cx: &ToolContext<'_>) -> Result<Timestamp> {
        let day = |date: Date| date.at(12, 0, 0, 0).to_zoned(cx.engine.now().time_zone().clone());
        let parsed = date
            .parse::<Timestamp>()
            .or_else(|_| date.parse::<Date>().and_then(day).map(|noon| noon.timestamp()));
        parsed.map_err(|_| {
            let message =
                format!("the field `date` is `{date}`, which is not a date such as 2026-03-05");
            invalid_input(&self.spec(), message)
        })
    }
}

fn timeline_result(anchor: &TimelineAnchor, all: &[Memory], cx: &ToolContext<'_>) -> ToolResult {
    let now = cx.engine.now();
    let memories: Vec<Value> = all.iter().map(|memory| brief_json(memory, &now)).collect();
    let mut structured = json!({ "memories": memories });
    if let Some(id) = anchor.id() {
        structured["anchor"] = json!(id);
    }
    if all.is_empty() {
        return ToolResult::new("Nothing is stored around that time.", structured);
    }
    let mark = |memory: &Memory| if Some(memory.id) == anchor.id() { ">" } else { "-" };
    let lines: Vec<String> = all
        .iter()
        .map(|memory| format!("{} {}", mark(memory), memory_line(memory, &now)))
        .collect();
    let marked = if anchor.memory.is_some() { "; > marks the requested one" } else { "" };
    ToolResult::new(
        format!("{} memories, oldest first{marked}.\n{}", all.len(), lines.join("\n")),
        structured,
    )
}
