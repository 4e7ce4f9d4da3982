//! Entities that were imported from the reference server: one memory each, a line for each observation and relation.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::knowledge::{Node, Relation, Told};
use crate::{
    error::Result,
    files::foreign::ForeignFormat,
    ingest::Edit,
    text::escape::inert_text,
    tools::ToolContext,
    types::{Memory, MemoryId},
};

/// Where the memory of an entity tells what it is called, of which type it is, and what it has to do with others.
const ENTITY: &str = "entity";
const ENTITY_TYPE: &str = "entity_type";
const RELATIONS: &str = "relations";

/// What begins a line.
const MARK: &str = "- ";

/// What all of them are tagged with.
pub(super) fn tag() -> String {
    ForeignFormat::McpGraph.as_str().to_owned()
}

/// What such a memory says in the graph; nothing if it is none.
pub(super) fn told(memory: &Memory) -> Vec<Told> {
    let Some(name) = memory.metadata.get(ENTITY).and_then(Value::as_str) else { return Vec::new() };
    let of_type = memory.metadata.get(ENTITY_TYPE).and_then(Value::as_str).unwrap_or_default();
    let entity = Node::Entity { name: name.to_owned(), entity_type: of_type.to_owned() };
    let relations = relations(memory);
    let told: HashSet<String> = relations.iter().map(in_words).collect();
    let observed = lines(&memory.content).into_iter().filter(|line| !told.contains(line));
    let observed = observed.map(|line| {
        let said = inert_text(line.strip_prefix(MARK).unwrap_or(&line));
        (Node::Observation { entity: name.to_owned() }, said, Some(line))
    });
    let related = relations.iter().map(|relation| {
        let line = Some(in_words(relation));
        (Node::from(relation.clone()), String::new(), line)
    });
    let all = std::iter::once((entity, String::new(), None)).chain(observed).chain(related);
    all.map(|(node, said, line)| Told { id: memory.id, node, said, line }).collect()
}

/// Takes lines out of such a memory; it goes with its last one.
pub(super) async fn take_out(id: MemoryId, gone: &[String], cx: &ToolContext<'_>) -> Result<()> {
    let engine = cx.acting("graph: delete");
    let memory = engine.get(cx.scope, id).await?;
    let left: Vec<String> =
        lines(&memory.content).into_iter().filter(|line| !gone.contains(line)).collect();
    if left.is_empty() {
        return engine.delete(cx.scope, id).await.map(drop);
    }
    let kept = relations(&memory).into_iter().filter(|one| !gone.contains(&in_words(one)));
    let kept: Vec<Relation> = kept.collect();
    let mut metadata = memory.metadata;
    if metadata.contains_key(RELATIONS) {
        metadata.insert(
            RELATIONS.to_owned(),
            json!(kept.iter().map(Relation::parts).collect::<Vec<_>>()),
        );
    }
    let (content, metadata) = (Some(left.join("\n")), Some(metadata));
    let edit = Edit { content, metadata, ..Edit::default() };
    engine.edit(cx.scope, id, &edit).await.map(drop)
}

/// The lines of an entity; one without a mark belongs to the one before it.
fn lines(content: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in content.lines().filter(|line| !line.trim().is_empty()) {
        match lines.last_mut().filter(|_| !line.starts_with(MARK)) {
            Some(last) => *last += &format!("\n{line}"),
            None => lines.push(line.to_owned()),
        }
    }
    lines
}

/// What an import kept of relations; someone may have changed it beyond reading.
fn relations(memory: &Memory) -> Vec<Relation> {
    let kept = memory.metadata.get(RELATIONS).cloned().unwrap_or_default();
    let kept: Vec<[String; 3]> = serde_json::from_value(kept).unwrap_or_default();
    let relations = kept.into_iter().map(Relation::of);
    let said: HashSet<String> = lines(&memory.content).into_iter().collect();
    relations.filter(|relation| said.contains(&in_words(relation))).collect()
}

/// The line of a relation.
fn in_words(relation: &Relation) -> String {
    let [from, of_type, to] = relation.parts();
    format!("{MARK}{from} {} {to}", of_type.replace('_', " "))
}
