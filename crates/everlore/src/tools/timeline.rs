//! `memory_timeline`: an agent looks at what was said around a memory or a moment.

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp, civil::Date};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    Annotations, Spec, Tool, ToolAnswer, ToolContext, ToolSet,
    input::{missing, typed, wrong},
    view::{brief, brief_schema, line},
};
use crate::{
    error::Result,
    store::{Filter, Order, Page},
    types::{Kind, Memory, MemoryId, Status},
};

/// The tool.
pub(super) struct MemoryTimeline;

#[derive(Deserialize)]
struct Input {
    id: Option<String>,
    query: Option<String>,
    date: Option<String>,
    #[serde(rename = "type")]
    kind: Option<Kind>,
    before: Option<usize>,
    after: Option<usize>,
}

/// So many on each side if nothing is asked for: the exchange that a memory came from, and the one next to it.
const NEAR: usize = 5;

/// The windows that are looked at, in hours, until there are enough: most memories have neighbours within the hour, and a
/// large memory is not read whole for them. The last one holds everything.
const WINDOW_HOURS: [i64; 5] = [1, 24, 24 * 7, 24 * 60, 24 * 366 * 200];

/// The most memories read of a window; so many said within one hour are an import, of which the nearest stored are shown.
const MAX_READ: usize = 1_000;

const DESCRIPTION: &str = "\
See what was said and stored around a memory or on a day, in the order of time: each memory in one line with its id.

Use it after memory_recall, when you need what led to a memory or followed from it, what else was said in that conversation, \
or what happened on a date. Give the id of a memory, or a query (its best answer becomes the middle), or a date. Then \
memory_get reads those whole that matter.

Do not use it to look for something: memory_recall finds it wherever it is in time.";

#[async_trait]
impl Tool for MemoryTimeline {
    fn spec(&self) -> Spec {
        let count = |side: &str| json!({ "type": "integer", "minimum": 0, "maximum": 50, "default": NEAR, "description": format!("The most memories {side} it") });
        Spec {
            name: "memory_timeline",
            title: "See what was around a memory",
            description: DESCRIPTION,
            set: ToolSet::Core,
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
                    "memories": { "type": "array", "description": "What was around it, oldest first, the one in the middle included", "items": brief_schema() }
                }
            }),
            annotations: Annotations::READS,
            aliases: &[("type", "preference", "user"), ("type", "fact", "knowledge")],
        }
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolAnswer> {
        let input: Input = typed(input)?;
        let Some(middle) = self.middle(&input, cx).await? else {
            let said = "Nothing relevant is stored for this query, so there is nothing around it.";
            return Ok(ToolAnswer::new(said, json!({ "memories": [] })));
        };
        let (before, after) = (input.before.unwrap_or(NEAR), input.after.unwrap_or(NEAR));
        let mut all = near(&middle, Side::Before, input.kind, before, cx).await?;
        all.reverse();
        all.extend(middle.memory.clone());
        all.extend(near(&middle, Side::After, input.kind, after, cx).await?);
        Ok(told(&middle, &all, cx))
    }
}

/// What the others are around: a moment, and the memory that was said then.
struct Middle {
    at: Timestamp,
    memory: Option<Memory>,
}

impl Middle {
    fn of(memory: Memory) -> Self {
        Self { at: memory.at, memory: Some(memory) }
    }

    fn id(&self) -> Option<MemoryId> {
        self.memory.as_ref().map(|memory| memory.id)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

impl MemoryTimeline {
    async fn middle(&self, input: &Input, cx: &ToolContext<'_>) -> Result<Option<Middle>> {
        match (&input.id, &input.query, &input.date) {
            (Some(id), None, None) => {
                let id = cx.engine.resolve(cx.scope, id).await?;
                Ok(Some(Middle::of(cx.engine.get(cx.scope, id).await?)))
            }
            (None, Some(query), None) => {
                let found = cx.engine.recall(&cx.engine.context_request(cx.scope, query)).await?;
                Ok(found.hits.into_iter().next().map(|hit| Middle::of(hit.memory)))
            }
            (None, None, Some(date)) => {
                Ok(Some(Middle { at: self.moment(date, cx)?, memory: None }))
            }
            (None, None, None) => {
                Err(missing(&self.spec(), "id", "; a query or a date will do instead"))
            }
            _ => Err(wrong(&self.spec(), "give only one of id, query and date")),
        }
    }

    /// A moment, or the middle of a day where the user is.
    fn moment(&self, date: &str, cx: &ToolContext<'_>) -> Result<Timestamp> {
        let day = |date: Date| date.at(12, 0, 0, 0).to_zoned(cx.engine.now().time_zone().clone());
        let read = date.parse::<Timestamp>().or_else(|_| {
            date.parse::<Date>().and_then(|date| day(date)).map(|noon| noon.timestamp())
        });
        read.map_err(|_| {
            let message =
                format!("the field `date` is `{date}`, which is no date such as 2026-03-05");
            wrong(&self.spec(), message)
        })
    }
}

/// The nearest memories on one side, nearest first.
async fn near(
    middle: &Middle,
    side: Side,
    kind: Option<Kind>,
    count: usize,
    cx: &ToolContext<'_>,
) -> Result<Vec<Memory>> {
    let mut found = Vec::new();
    for hours in WINDOW_HOURS {
        if count == 0 {
            break;
        }
        found = window(middle, side, kind, SignedDuration::from_hours(hours), cx).await?;
        if found.len() >= count {
            break;
        }
    }
    found.truncate(count);
    Ok(found)
}

/// Those within some time of the middle, nearest first.
async fn window(
    middle: &Middle,
    side: Side,
    kind: Option<Kind>,
    width: SignedDuration,
    cx: &ToolContext<'_>,
) -> Result<Vec<Memory>> {
    // The middle itself is told apart by its id: what was said in the same moment is on the side where it was stored.
    let beyond = |at: Timestamp| at.checked_add(SignedDuration::from_millis(1)).unwrap_or(at);
    let (since, until, order) = match side {
        Side::Before => {
            (middle.at.checked_sub(width).ok(), Some(beyond(middle.at)), Order::NewestFirst)
        }
        Side::After => (Some(middle.at), middle.at.checked_add(width).ok(), Order::OldestFirst),
    };
    let kinds = kind.into_iter().collect();
    let filter =
        Filter { kinds, statuses: vec![Status::Active], since, until, ..Filter::default() };
    let page = Page { filter, after: None, order, limit: MAX_READ };
    let mut found = cx.engine.list(cx.scope, &page).await?;
    found.retain(|memory| is_beside(memory, middle, side));
    match side {
        Side::Before => found.sort_by_key(|memory| std::cmp::Reverse((memory.at, memory.id))),
        Side::After => found.sort_by_key(|memory| (memory.at, memory.id)),
    }
    Ok(found)
}

fn is_beside(memory: &Memory, middle: &Middle, side: Side) -> bool {
    let place = (memory.at, Some(memory.id)).cmp(&(middle.at, middle.id()));
    match side {
        Side::Before => place.is_lt(),
        Side::After => place.is_gt(),
    }
}

fn told(middle: &Middle, all: &[Memory], cx: &ToolContext<'_>) -> ToolAnswer {
    let now = cx.engine.now();
    let memories: Vec<Value> = all.iter().map(|memory| brief(memory, &now)).collect();
    let mut structured = json!({ "memories": memories });
    if let Some(id) = middle.id() {
        structured["anchor"] = json!(id);
    }
    if all.is_empty() {
        return ToolAnswer::new("Nothing is stored around that time.", structured);
    }
    let mark = |memory: &Memory| if Some(memory.id) == middle.id() { ">" } else { "-" };
    let lines: Vec<String> =
        all.iter().map(|memory| format!("{} {}", mark(memory), line(memory, &now))).collect();
    let marked = if middle.memory.is_some() { "; > is the one asked for" } else { "" };
    ToolAnswer::new(
        format!("{} memories, oldest first{marked}.\n{}", all.len(), lines.join("\n")),
        structured,
    )
}
