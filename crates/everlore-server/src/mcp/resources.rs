//! Resources that a client can attach without a tool call: layers, context, recent memories, and each memory.

use everlore::{
    engine::Layer,
    internal::text::{sanitize::sanitize_verbatim, suspect::mark_suspect_lines},
    store::{ListOrder, ListQuery, MemoryFilter},
    tools::ToolSet,
    types::Status,
};
use rmcp::{
    ErrorData,
    model::{Resource, ResourceContents, ResourceTemplate},
};
use serde_json::json;

use super::McpContext;

const CONTEXT_URI: &str = "memory://context";
const RECENT_URI: &str = "memory://recent";
const LAYERS_PREFIX: &str = "memory://layers/";
const MEMORIES_PREFIX: &str = "memory://memories/";
const GRAPH_URI: &str = "memory://knowledge-graph";

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

/// Memories of the recent list: as many as a person looks through.
const RECENT_COUNT: usize = 20;

/// Lists the fixed resources, always in the same order.
pub(super) fn list(context: &McpContext) -> Vec<Resource> {
    let fixed = [
        (
            CONTEXT_URI,
            "context",
            "Context",
            "Beginning of a session: who you are, who the user is, notes, the latest days",
        ),
        (
            RECENT_URI,
            "recent",
            "Recent memories",
            "The latest memories, one line each, with their ids",
        ),
        (
            "memory://layers/soul",
            "soul",
            "Identity",
            "SOUL.md: who the agent is and how it behaves",
        ),
        ("memory://layers/user", "user", "User", "USER.md: who the user is"),
        ("memory://layers/memory", "memory", "Notes", "MEMORY.md: how to work here"),
        ("memory://layers/daily", "daily", "Today", "The log of today"),
    ];
    let resource = |(uri, name, title, about): (&str, &str, &str, &str)| {
        Resource::new(uri, name).with_title(title).with_description(about).with_mime_type(MARKDOWN)
    };
    let graph = context.tool_sets.contains(&ToolSet::Graph).then(|| {
        Resource::new(GRAPH_URI, "knowledge-graph")
            .with_title("Knowledge graph")
            .with_description(
                "All entities with their observations, and the relations between them",
            )
            .with_mime_type(JSON)
    });
    fixed.into_iter().map(resource).chain(graph).collect()
}

/// Lists the resource templates.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("memory://layers/{name}", "layer")
            .with_title("Layer")
            .with_description("One of the layered files: soul, user, memory or daily")
            .with_mime_type(MARKDOWN),
        ResourceTemplate::new("memory://memories/{id}", "memory")
            .with_title("Memory")
            .with_description("A full memory, by its id or a unique prefix of it")
            .with_mime_type(MARKDOWN),
    ]
}

/// Reads a resource.
pub(super) async fn read(context: &McpContext, uri: &str) -> Result<ResourceContents, ErrorData> {
    let is_graph = uri == GRAPH_URI && context.tool_sets.contains(&ToolSet::Graph);
    let text = if uri == CONTEXT_URI {
        Some(context.call_tool("memory_context", json!({})).await.text)
    } else if uri == RECENT_URI {
        Some(recent(context).await?)
    } else if is_graph {
        Some(context.call_tool("read_graph", json!({})).await.text)
    } else if let Some(name) = uri.strip_prefix(LAYERS_PREFIX) {
        layer(context, name).await?
    } else if let Some(id) = uri.strip_prefix(MEMORIES_PREFIX) {
        memory(context, id).await
    } else {
        None
    };
    let text = text.ok_or_else(|| not_found(uri))?;
    let kind = if is_graph { JSON } else { MARKDOWN };
    Ok(ResourceContents::text(text, uri).with_mime_type(kind))
}

async fn layer(context: &McpContext, name: &str) -> Result<Option<String>, ErrorData> {
    let Some(layer) = Layer::ALL.into_iter().find(|layer| layer.as_str() == name) else {
        return Ok(None);
    };
    let read = context.engine.read_layer(&context.scope, layer).await;
    let read = read.map_err(|error| internal_error(&error))?;
    Ok(Some(mark_suspect_lines(&sanitize_verbatim(&read.text)).into_owned()))
}

async fn memory(context: &McpContext, id: &str) -> Option<String> {
    let result = context.call_tool("memory_get", json!({ "ids": [id] })).await;
    let memories = result.structured["memories"].as_array();
    memories.is_some_and(|memories| !memories.is_empty()).then_some(result.text)
}

async fn recent(context: &McpContext) -> Result<String, ErrorData> {
    let filter = MemoryFilter { statuses: vec![Status::Active], ..MemoryFilter::default() };
    let filter = filter.without_records();
    let page =
        ListQuery { filter, after: None, order: ListOrder::NewestFirst, limit: RECENT_COUNT };
    let newest =
        context.engine.list(&context.scope, &page).await.map_err(|error| internal_error(&error))?;
    let now = context.engine.now();
    let lines: Vec<String> = newest
        .iter()
        .map(|memory| format!("- {}", everlore::tools::memory_line(memory, &now)))
        .collect();
    if lines.is_empty() {
        return Ok("Nothing is stored yet.".to_owned());
    }
    Ok(mark_suspect_lines(&lines.join("\n")).into_owned())
}

fn not_found(uri: &str) -> ErrorData {
    let uri: String = uri.chars().take(200).collect();
    let message = format!(
        "there is no resource {uri}; resources/list names the resources, memory_recall finds ids of memories"
    );
    ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
}

/// Logs the error, which may name files, and returns a plain one.
fn internal_error(error: &everlore::Error) -> ErrorData {
    tracing::error!(%error, "a resource could not be read");
    ErrorData::internal_error("memory could not be read; try again", None)
}
