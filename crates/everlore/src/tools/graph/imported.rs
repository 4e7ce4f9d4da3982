//! Entities that were imported from the reference server: one memory each, a line for each observation and relation.

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

/// Where the memory of an entity tells what it is called, of which type it is, and what it has to do with others.
const ENTITY: &str = "entity";
const ENTITY_TYPE: &str = "entity_type";
const RELATIONS: &str = "relations";

/// What begins a line.
const LINE_PREFIX: &str = "- ";

/// What all of them are tagged with.
pub(super) fn import_tag() -> String {
    ExternalFormat::McpGraph.as_str().to_owned()
}

/// What such a memory says in the graph; nothing if it is none.
pub(super) fn imported_nodes(memory: &Memory) -> Vec<StoredNode> {
    let Some(name) = memory.metadata.get(ENTITY).and_then(Value::as_str) else { return Vec::new() };
    let of_type = memory.metadata.get(ENTITY_TYPE).and_then(Value::as_str).unwrap_or_default();
    let entity = GraphNode::Entity { name: name.to_owned(), entity_type: of_type.to_owned() };
    let relations = relations(memory);
    let told: HashSet<String> = relations.iter().map(relation_line).collect();
    let observed = entity_lines(&memory.content).into_iter().filter(|line| !told.contains(line));
    let observed = observed.map(|line| {
        let said = sanitize_unindented(line.strip_prefix(LINE_PREFIX).unwrap_or(&line));
        (GraphNode::Observation { entity: name.to_owned() }, said, Some(line))
    });
    let related = relations.iter().map(|relation| {
        let line = Some(relation_line(relation));
        (GraphNode::from(relation.clone()), String::new(), line)
    });
    let all = std::iter::once((entity, String::new(), None)).chain(observed).chain(related);
    all.map(|(node, said, line)| StoredNode {
        id: memory.id,
        node,
        observation: said,
        source_line: line,
    })
    .collect()
}

/// Takes lines out of such a memory; it goes with its last one.
pub(super) async fn remove_lines(
    id: MemoryId,
    gone: &[String],
    cx: &ToolContext<'_>,
) -> Result<()> {
    let engine = cx.engine_for("graph: delete");
    let memory = engine.get(cx.scope, id).await?;
    let left: Vec<String> =
        entity_lines(&memory.content).into_iter().filter(|line| !gone.contains(line)).collect();
    if left.is_empty() {
        return engine.delete(cx.scope, id).await.map(drop);
    }
    let kept = relations(&memory).into_iter().filter(|one| !gone.contains(&relation_line(one)));
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

/// The lines of an entity; one without a mark belongs to the one before it.
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

/// What an import kept of relations; someone may have changed it beyond reading.
fn relations(memory: &Memory) -> Vec<GraphRelation> {
    let kept = memory.metadata.get(RELATIONS).cloned().unwrap_or_default();
    let kept: Vec<[String; 3]> = serde_json::from_value(kept).unwrap_or_default();
    let relations = kept.into_iter().map(GraphRelation::from_parts);
    let said: HashSet<String> = entity_lines(&memory.content).into_iter().collect();
    relations.filter(|relation| said.contains(&relation_line(relation))).collect()
}

/// The line of a relation.
fn relation_line(relation: &GraphRelation) -> String {
    let [from, of_type, to] = relation.parts();
    format!("{LINE_PREFIX}{from} {} {to}", of_type.replace('_', " "))
}
