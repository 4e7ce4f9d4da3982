//! The graph as it is stored: a memory for each entity, each observation and each relation.
//!
//! What they are is in their metadata under `graph`; what they say is in their texts, so that whoever edits a memory by
//! hand edits the graph. All have the tag `graph`. What was imported from the reference server is part of it (`imported.rs`).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::imported;
use crate::{
    error::{Error, Result},
    ingest::{MemoryEdit, RememberRequest},
    store::MemoryFilter,
    text::sanitize::sanitize_unindented,
    tools::ToolContext,
    types::{Kind, Memory, MemoryId, Status},
};

/// What all memories of the graph are tagged with, and where their metadata says what they are.
const GRAPH: &str = "graph";

/// An entity as the tools name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GraphEntity {
    /// What it is called.
    pub(super) name: String,
    entity_type: String,
    observations: Vec<String>,
}

impl GraphEntity {
    /// Whether its name, type or observations have this text, in any case.
    pub(super) fn mentions(&self, query: &str) -> bool {
        let query = query.to_lowercase();
        let has = |text: &String| text.to_lowercase().contains(&query);
        has(&self.name) || has(&self.entity_type) || self.observations.iter().any(has)
    }
}

/// A relation as the tools name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GraphRelation {
    from: String,
    to: String,
    relation_type: String,
}

impl GraphRelation {
    /// By what it is made of: from, type, to.
    pub(super) fn from_parts([from, relation_type, to]: [String; 3]) -> Self {
        Self { from, to, relation_type }
    }

    /// What it is made of.
    pub(super) fn parts(&self) -> [&str; 3] {
        [&self.from, &self.relation_type, &self.to]
    }
}

/// What a memory of the graph is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "lowercase")]
pub(super) enum GraphNode {
    Entity {
        name: String,
        #[serde(rename = "type")]
        entity_type: String,
    },
    Observation {
        entity: String,
    },
    Relation {
        from: String,
        to: String,
        #[serde(rename = "type")]
        relation_type: String,
    },
}

impl From<GraphRelation> for GraphNode {
    fn from(GraphRelation { from, to, relation_type }: GraphRelation) -> Self {
        Self::Relation { from, to, relation_type }
    }
}

/// A part of the graph, and the memory that tells it.
pub(super) struct StoredNode {
    pub(super) id: MemoryId,
    pub(super) node: GraphNode,
    /// What an observation says.
    pub(super) observation: String,
    /// The line that tells it, where the memory tells more.
    pub(super) source_line: Option<String>,
}

/// The graph of a scope, in the order in which it was stored.
pub(super) struct KnowledgeGraph {
    nodes: Vec<StoredNode>,
}

impl KnowledgeGraph {
    /// Reads all of it. What upkeep put away is still part of it; what was deleted or replaced is not.
    pub(super) async fn read(cx: &ToolContext<'_>) -> Result<Self> {
        let tagged = |tag: String| {
            let statuses = vec![Status::Active, Status::Archived];
            MemoryFilter { tags: vec![tag], statuses, ..MemoryFilter::default() }
        };
        let imported = cx.engine.list_by_tags(cx.scope, &tagged(imported::import_tag())).await?;
        let made = cx.engine.list_by_tags(cx.scope, &tagged(GRAPH.to_owned())).await?;
        let imported = imported.iter().flat_map(imported::imported_nodes);
        Ok(Self { nodes: imported.chain(made.iter().filter_map(parse_node)).collect() })
    }

    /// The entities that are meant, with what is known of them, and the relations that begin or end at one.
    pub(super) fn subgraph(&self, meant: impl Fn(&GraphEntity) -> bool) -> Value {
        let entities: Vec<GraphEntity> = self.entities().into_iter().filter(meant).collect();
        let names: HashSet<&str> = entities.iter().map(|entity| entity.name.as_str()).collect();
        let is_told = |name: &String| names.contains(name.as_str());
        let relations: Vec<GraphRelation> = self
            .relations()
            .filter(|relation| is_told(&relation.from) || is_told(&relation.to))
            .collect();
        json!({ "entities": entities, "relations": relations })
    }

    /// Stores those whose names are new, and returns them.
    pub(super) async fn create_entities(
        &self,
        wanted: Vec<GraphEntity>,
        cx: &ToolContext<'_>,
    ) -> Result<Vec<GraphEntity>> {
        let mut made: Vec<GraphEntity> = Vec::new();
        for entity in wanted {
            if self.has_entity(&entity.name) || made.iter().any(|one| one.name == entity.name) {
                continue;
            }
            let GraphEntity { name, entity_type, observations } = &entity;
            let node = GraphNode::Entity { name: name.clone(), entity_type: entity_type.clone() };
            store_node(node, format!("{name} ({entity_type})"), cx).await?;
            let mut kept = Vec::new();
            for observation in observations {
                if !kept.contains(observation) {
                    store_observation(name, observation, cx).await?;
                    kept.push(observation.clone());
                }
            }
            made.push(GraphEntity { observations: kept, ..entity });
        }
        Ok(made)
    }

    /// Stores those relations that are new, and returns them.
    pub(super) async fn create_relations(
        &self,
        wanted: Vec<GraphRelation>,
        cx: &ToolContext<'_>,
    ) -> Result<Vec<GraphRelation>> {
        self.check_entities_exist(
            wanted.iter().flat_map(|one| [one.from.as_str(), one.to.as_str()]),
        )?;
        let mut made: Vec<GraphRelation> = Vec::new();
        for relation in wanted {
            let known = self.relations().any(|one| one == relation);
            if known || made.contains(&relation) {
                continue;
            }
            let GraphRelation { from, to, relation_type } = relation.clone();
            let said = format!("{from} {relation_type} {to}");
            store_node(GraphNode::Relation { from, to, relation_type }, said, cx).await?;
            made.push(relation);
        }
        Ok(made)
    }

    /// Adds what is new to an entity, and returns it.
    pub(super) async fn add_observations(
        &self,
        name: &str,
        contents: Vec<String>,
        cx: &ToolContext<'_>,
    ) -> Result<Vec<String>> {
        let known = self.entities().into_iter().find(|entity| entity.name == name);
        let known = known.map(|entity| entity.observations).unwrap_or_default();
        let mut added = Vec::new();
        for content in contents {
            if !known.contains(&content) && !added.contains(&content) {
                store_observation(name, &content, cx).await?;
                added.push(content);
            }
        }
        Ok(added)
    }

    /// Refuses names of which there is no entity.
    pub(super) fn check_entities_exist<'a>(
        &self,
        mut names: impl Iterator<Item = &'a str>,
    ) -> Result<()> {
        match names.find(|name| !self.has_entity(name)) {
            None => Ok(()),
            Some(name) => Err(Error::invalid(
                format!("Entity with name {name} not found"),
                "make it with create_entities first, or look with search_nodes what it is called",
            )),
        }
    }

    /// Deletes entities with all that is about them, and returns how many there were.
    pub(super) async fn delete_entities(
        &self,
        names: &[String],
        cx: &ToolContext<'_>,
    ) -> Result<usize> {
        let gone = |node: &GraphNode| match node {
            GraphNode::Entity { name, .. } => names.contains(name),
            GraphNode::Observation { entity } => names.contains(entity),
            GraphNode::Relation { from, to, .. } => names.contains(from) || names.contains(to),
        };
        self.delete(|node, _| gone(node), cx).await?;
        Ok(self.entities().iter().filter(|entity| names.contains(&entity.name)).count())
    }

    /// Deletes observations of an entity, and returns how many there were.
    pub(super) async fn delete_observations(
        &self,
        name: &str,
        texts: &[String],
        cx: &ToolContext<'_>,
    ) -> Result<usize> {
        let gone = |node: &GraphNode, said: &str| matches!(node, GraphNode::Observation { entity } if entity == name && texts.iter().any(|text| text == said));
        self.delete(gone, cx).await
    }

    /// Deletes relations, and returns how many there were.
    pub(super) async fn delete_relations(
        &self,
        relations: &[GraphRelation],
        cx: &ToolContext<'_>,
    ) -> Result<usize> {
        let of = |node: &GraphNode| as_relation(node).is_some_and(|one| relations.contains(&one));
        self.delete(|node, _| of(node), cx).await
    }

    async fn delete(
        &self,
        gone: impl Fn(&GraphNode, &str) -> bool,
        cx: &ToolContext<'_>,
    ) -> Result<usize> {
        let engine = cx.engine_for("graph: delete");
        let (mut count, mut whole, mut lines) = (0, BTreeSet::new(), BTreeMap::new());
        for told in self.nodes.iter().filter(|told| gone(&told.node, &told.observation)) {
            count += 1;
            match &told.source_line {
                None => drop(whole.insert(told.id)),
                Some(line) => lines.entry(told.id).or_insert_with(Vec::new).push(line.clone()),
            }
        }
        for id in &whole {
            engine.delete(cx.scope, *id).await?;
        }
        for (id, lines) in lines.iter().filter(|(id, _)| !whole.contains(id)) {
            imported::remove_lines(*id, lines, cx).await?;
        }
        Ok(count)
    }

    fn has_entity(&self, wanted: &str) -> bool {
        let named =
            |node: &GraphNode| matches!(node, GraphNode::Entity { name, .. } if name == wanted);
        self.nodes.iter().any(|told| named(&told.node))
    }

    fn entities(&self) -> Vec<GraphEntity> {
        let (mut entities, mut places) = (Vec::new(), HashMap::new());
        for told in &self.nodes {
            if let GraphNode::Entity { name, entity_type } = &told.node
                && !places.contains_key(name.as_str())
            {
                places.insert(name.as_str(), entities.len());
                let (name, entity_type) = (name.clone(), entity_type.clone());
                entities.push(GraphEntity { name, entity_type, observations: Vec::new() });
            }
        }
        for StoredNode { node, observation: said, .. } in &self.nodes {
            if let GraphNode::Observation { entity: of } = node
                && let Some(place) = places.get(of.as_str())
            {
                entities[*place].observations.push(said.clone());
            }
        }
        entities
    }

    fn relations(&self) -> impl Iterator<Item = GraphRelation> + '_ {
        self.nodes.iter().filter_map(|told| as_relation(&told.node))
    }
}

fn as_relation(node: &GraphNode) -> Option<GraphRelation> {
    match node.clone() {
        GraphNode::Relation { from, to, relation_type } => {
            Some(GraphRelation { from, to, relation_type })
        }
        _ => None,
    }
}

/// What a memory is in the graph, and what it says there.
fn parse_node(memory: &Memory) -> Option<StoredNode> {
    let node: GraphNode = serde_json::from_value(memory.metadata.get(GRAPH)?.clone()).ok()?;
    let said = match &node {
        GraphNode::Observation { entity } => {
            let own = memory.content.strip_prefix(&observation_prefix(entity));
            sanitize_unindented(own.unwrap_or(&memory.content))
        }
        _ => String::new(),
    };
    Some(StoredNode { id: memory.id, node, observation: said, source_line: None })
}

/// An observation names its entity, so that it is clear on its own and differs from the same said of another.
fn observation_prefix(entity: &str) -> String {
    format!("{entity}: ")
}

async fn store_observation(entity: &str, observation: &str, cx: &ToolContext<'_>) -> Result<()> {
    let node = GraphNode::Observation { entity: entity.to_owned() };
    store_node(node, format!("{}{observation}", observation_prefix(entity)), cx).await
}

/// Stores a part of the graph; a memory that says the same already becomes that part.
async fn store_node(node: GraphNode, content: String, cx: &ToolContext<'_>) -> Result<()> {
    let engine = cx.engine_for("graph: add");
    let meaning = serde_json::to_value(&node).map_err(|error| Error::damaged(error.to_string()))?;
    let metadata = Map::from_iter([(GRAPH.to_owned(), meaning.clone())]);
    let draft = RememberRequest {
        content,
        kind: Some(Kind::Knowledge),
        tags: vec![GRAPH.to_owned()],
        session: cx.session.map(str::to_owned),
        metadata,
        ..RememberRequest::default()
    };
    let saved = engine.remember(cx.scope, draft).await?;
    let memory = engine.get(cx.scope, saved.id).await?;
    if memory.metadata.contains_key(GRAPH) && memory.tags.iter().any(|tag| tag == GRAPH) {
        return Ok(());
    }
    let Memory { mut tags, mut metadata, .. } = memory;
    tags.push(GRAPH.to_owned());
    metadata.insert(GRAPH.to_owned(), meaning);
    let edit = MemoryEdit { tags: Some(tags), metadata: Some(metadata), ..MemoryEdit::default() };
    engine.edit(cx.scope, saved.id, &edit).await.map(drop)
}
