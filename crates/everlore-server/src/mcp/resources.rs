//! What a client can attach without a model asking for it: the layers, the context, what is new, and each memory.

use everlore::{
    files::layers::Layer,
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

/// As many as one looks through.
const RECENT_COUNT: usize = 20;

/// What can be read by name, always in the same order.
pub(super) fn list(desk: &McpContext) -> Vec<Resource> {
    let own = [
        (
            CONTEXT_URI,
            "context",
            "Context",
            "What a conversation begins with: who you are, who the user is, notes, the latest days",
        ),
        (
            RECENT_URI,
            "recent",
            "Recent memories",
            "The memories that were stored last, a line each, with their ids",
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
    let graph = desk.tool_sets.contains(&ToolSet::Graph).then(|| {
        Resource::new(GRAPH_URI, "knowledge-graph")
            .with_title("Knowledge graph")
            .with_description(
                "All entities with their observations, and the relations between them",
            )
            .with_mime_type(JSON)
    });
    own.into_iter().map(resource).chain(graph).collect()
}

/// What can be read by filling in a name.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("memory://layers/{name}", "layer")
            .with_title("Layer")
            .with_description("One of the layered files: soul, user, memory or daily")
            .with_mime_type(MARKDOWN),
        ResourceTemplate::new("memory://memories/{id}", "memory")
            .with_title("Memory")
            .with_description("A memory whole, by its id or a unique beginning of it")
            .with_mime_type(MARKDOWN),
    ]
}

/// What a resource says now.
pub(super) async fn read(desk: &McpContext, uri: &str) -> Result<ResourceContents, ErrorData> {
    let is_graph = uri == GRAPH_URI && desk.tool_sets.contains(&ToolSet::Graph);
    let text = if uri == CONTEXT_URI {
        Some(desk.call_tool("memory_context", json!({})).await.text)
    } else if uri == RECENT_URI {
        Some(recent(desk).await?)
    } else if is_graph {
        Some(desk.call_tool("read_graph", json!({})).await.text)
    } else if let Some(name) = uri.strip_prefix(LAYERS_PREFIX) {
        layer(desk, name).await?
    } else if let Some(id) = uri.strip_prefix(MEMORIES_PREFIX) {
        memory(desk, id).await
    } else {
        None
    };
    let text = text.ok_or_else(|| not_found(uri))?;
    let kind = if is_graph { JSON } else { MARKDOWN };
    Ok(ResourceContents::text(text, uri).with_mime_type(kind))
}

async fn layer(desk: &McpContext, name: &str) -> Result<Option<String>, ErrorData> {
    let Some(layer) = Layer::ALL.into_iter().find(|layer| layer.as_str() == name) else {
        return Ok(None);
    };
    let read = desk.engine.read_layer(&desk.scope, layer).await;
    read.map(|read| Some(read.text)).map_err(|error| internal_error(&error))
}

async fn memory(desk: &McpContext, id: &str) -> Option<String> {
    let got = desk.call_tool("memory_get", json!({ "ids": [id] })).await;
    let found = got.structured["memories"].as_array().is_some_and(|found| !found.is_empty());
    found.then_some(got.text)
}

async fn recent(desk: &McpContext) -> Result<String, ErrorData> {
    let filter = MemoryFilter { statuses: vec![Status::Active], ..MemoryFilter::default() };
    let page =
        ListQuery { filter, after: None, order: ListOrder::NewestFirst, limit: RECENT_COUNT };
    let newest =
        desk.engine.list(&desk.scope, &page).await.map_err(|error| internal_error(&error))?;
    let now = desk.engine.now();
    let lines: Vec<String> = newest
        .iter()
        .map(|memory| format!("- {}", everlore::tools::memory_line(memory, &now)))
        .collect();
    Ok(match lines.is_empty() {
        true => "Nothing is stored yet.".to_owned(),
        false => lines.join("\n"),
    })
}

fn not_found(uri: &str) -> ErrorData {
    let told: String = uri.chars().take(200).collect();
    let message = format!(
        "there is no resource {told}; resources/list names those there are, memory_recall gives ids of memories"
    );
    ErrorData::resource_not_found(message, Some(json!({ "uri": told })))
}

/// What broke is for the log; it may name files.
fn internal_error(error: &everlore::Error) -> ErrorData {
    tracing::error!(%error, "a resource could not be read");
    ErrorData::internal_error("memory could not be read; try again", None)
}
