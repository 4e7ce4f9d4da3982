//! Entities imported from the reference server: one memory each, with a line per observation and relation.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::knowledge_graph::{GraphNode, GraphRelation, StoredNode};
use crate::{
    error::Result,
    files::importers::ExternalFormat,
    ingest::MemoryEdit,
    text::sanitize::sanitize_unindented,
    tools::ToolContext,
    types::{Memory, MemoryId},
};

/// Metadata keys of an imported entity: name, type and relations.
const ENTITY: &str = "entity";
const ENTITY_TYPE: &str = "entity_type";
const RELATIONS: &str = "relations";

/// Prefix of a line.
const LINE_PREFIX: &str = "- ";

/// Returns the tag of imported graphs.
pub(super) fn import_tag() -> String {
    ExternalFormat::McpGraph.as_str().to_owned()
}

/// Returns the graph nodes of an imported memory; none for other memories.
pub(super) fn imported_nodes(memory: &Memory) -> Vec<StoredNode> {
    let Some(name) = memory.metadata.get(ENTITY).and_then(Value::as_str) else { return Vec::new() };
    let entity_type = memory.metadata.get(ENTITY_TYPE).and_then(Value::as_str).unwrap_or_default();
    let entity = GraphNode::Entity { name: name.to_owned(), entity_type: entity_type.to_owned() };
    let relations = relations(memory);
    let relation_lines: HashSet<String> = relations.iter().map(relation_line).collect();
    let observed =
        entity_lines(&memory.content).into_iter().filter(|line| !relation_lines.contains(line));
    let observed = observed.map(|line| {
        let text = sanitize_unindented(line.strip_prefix(LINE_PREFIX).unwrap_or(&line));
        (GraphNode::Observation { entity: name.to_owned() }, text, Some(line))
    });
    let related = relations.iter().map(|relation| {
        let line = Some(relation_line(relation));
        (GraphNode::from(relation.clone()), String::new(), line)
    });
    let all = std::iter::once((entity, String::new(), None)).chain(observed).chain(related);
    all.map(|(node, observation, source_line)| StoredNode {
        id: memory.id,
        node,
        observation,
        source_line,
    })
    .collect()
}

/// Removes lines from an imported memory, or deletes it with its last one.
pub(super) async fn remove_lines(
    id: MemoryId,
    removed: &[String],
    cx: &ToolContext<'_>,
) -> Result<()> {
    let engine = cx.engine_for("graph: delete");
    let memory = engine.get(cx.scope, id).await?;
    let left: Vec<String> =
        entity_lines(&memory.content).into_iter().filter(|line| !removed.contains(line)).collect();
    if left.is_empty() {
        return engine.delete(cx.scope, id).await.map(drop);
    }
    let kept = relations(&memory).into_iter().filter(|one| !removed.contains(&relation_line(one)));
    let kept: Vec<GraphRelation> = kept.collect();
    let mut metadata = memory.metadata;
    if metadata.contains_key(RELATIONS) {
        metadata.insert(
            RELATIONS.to_owned(),
            json!(kept.iter().map(GraphRelation::parts).collect::<Vec<_>>()),
        );
    }
    let (content, metadata) = (Some(left.join("\n")), Some(metadata));
    let edit = MemoryEdit { content, metadata, ..MemoryEdit::default() };
    engine.edit(cx.scope, id, &edit).await.map(drop)
}

/// Returns the lines of an entity; a line without a prefix belongs to the one before it.
fn entity_lines(content: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in content.lines().filter(|line| !line.trim().is_empty()) {
        match lines.last_mut().filter(|_| !line.starts_with(LINE_PREFIX)) {
            Some(last) => *last += &format!("\n{line}"),
            None => lines.push(line.to_owned()),
        }
    }
    lines
}

/// Returns the relations in the metadata whose lines are still in the text; none if the metadata cannot be parsed.
fn relations(memory: &Memory) -> Vec<GraphRelation> {
    let stored = memory.metadata.get(RELATIONS).cloned().unwrap_or_default();
    let stored: Vec<[String; 3]> = serde_json::from_value(stored).unwrap_or_default();
    let relations = stored.into_iter().map(GraphRelation::from_parts);
    let lines: HashSet<String> = entity_lines(&memory.content).into_iter().collect();
    relations.filter(|relation| lines.contains(&relation_line(relation))).collect()
}

/// Formats the line of a relation.
fn relation_line(relation: &GraphRelation) -> String {
    let [from, relation_type, to] = relation.parts();
    format!("{LINE_PREFIX}{from} {} {to}", relation_type.replace('_', " "))
}
