//! Stored knowledge graph: one memory per entity, observation and relation.
//!
//! Their metadata under `graph` says what they are; the content is in their texts, so that editing a memory by hand
//! edits the graph. All have the tag `graph`. Entities imported from the reference server belong to it (`imported.rs`).

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

/// Tag and metadata key of the graph's memories.
const GRAPH: &str = "graph";

/// Entity in the tools' format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GraphEntity {
    /// Name of the entity.
    pub(super) name: String,
    entity_type: String,
    observations: Vec<String>,
}

impl GraphEntity {
    /// Returns `true` if name, type or observations contain a text, ignoring case.
    pub(super) fn mentions(&self, query: &str) -> bool {
        let query = query.to_lowercase();
        let has = |text: &String| text.to_lowercase().contains(&query);
        has(&self.name) || has(&self.entity_type) || self.observations.iter().any(has)
    }
}

/// Relation in the tools' format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GraphRelation {
    from: String,
    to: String,
    relation_type: String,
}

impl GraphRelation {
    /// Creates a relation from its parts: from, type, to.
    pub(super) fn from_parts([from, relation_type, to]: [String; 3]) -> Self {
        Self { from, to, relation_type }
    }

    /// Returns the parts: from, type, to.
    pub(super) fn parts(&self) -> [&str; 3] {
        [&self.from, &self.relation_type, &self.to]
    }
}

/// Node type in a memory's metadata.
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

/// Node of the graph and the memory that stores it.
pub(super) struct StoredNode {
    pub(super) id: MemoryId,
    pub(super) node: GraphNode,
    /// Text of an observation.
    pub(super) observation: String,
    /// Line of the memory that stores the node, if it stores several.
    pub(super) source_line: Option<String>,
}

/// Graph of a scope, in the order of storage.
pub(super) struct KnowledgeGraph {
    nodes: Vec<StoredNode>,
}

impl KnowledgeGraph {
    /// Reads the whole graph. Archived memories belong to it; deleted and superseded ones do not.
    pub(super) async fn read(cx: &ToolContext<'_>) -> Result<Self> {
        let tagged = |tag: String| {
            let statuses = vec![Status::Active, Status::Archived];
            MemoryFilter { tags: vec![tag], statuses, ..MemoryFilter::default() }
        };
        let imported = cx.engine.list_by_tags(cx.scope, &tagged(imported::import_tag())).await?;
        let native = cx.engine.list_by_tags(cx.scope, &tagged(GRAPH.to_owned())).await?;
        let imported = imported.iter().flat_map(imported::imported_nodes);
        Ok(Self { nodes: imported.chain(native.iter().filter_map(parse_node)).collect() })
    }

    /// Returns the selected entities with their observations, and the relations that begin or end at one of them.
    pub(super) fn subgraph(&self, selected: impl Fn(&GraphEntity) -> bool) -> Value {
        let entities: Vec<GraphEntity> = self.entities().into_iter().filter(selected).collect();
        let names: HashSet<&str> = entities.iter().map(|entity| entity.name.as_str()).collect();
        let is_selected = |name: &String| names.contains(name.as_str());
        let relations: Vec<GraphRelation> = self
            .relations()
            .filter(|relation| is_selected(&relation.from) || is_selected(&relation.to))
            .collect();
        json!({ "entities": entities, "relations": relations })
    }

    /// Stores the entities whose names are new, and returns them.
    pub(super) async fn create_entities(
        &self,
        wanted: Vec<GraphEntity>,
        cx: &ToolContext<'_>,
    ) -> Result<Vec<GraphEntity>> {
        let mut created: Vec<GraphEntity> = Vec::new();
        for entity in wanted {
            if self.has_entity(&entity.name) || created.iter().any(|one| one.name == entity.name) {
                continue;
            }
            let GraphEntity { name, entity_type, observations } = &entity;
            let node = GraphNode::Entity { name: name.clone(), entity_type: entity_type.clone() };
            store_node(node, format!("{name} ({entity_type})"), cx).await?;
            let mut stored = Vec::new();
            for observation in observations {
                if !stored.contains(observation) {
                    store_observation(name, observation, cx).await?;
                    stored.push(observation.clone());
                }
            }
            created.push(GraphEntity { observations: stored, ..entity });
        }
        Ok(created)
    }

    /// Stores the relations that are new, and returns them.
    pub(super) async fn create_relations(
        &self,
        wanted: Vec<GraphRelation>,
        cx: &ToolContext<'_>,
    ) -> Result<Vec<GraphRelation>> {
        self.check_entities_exist(
            wanted.iter().flat_map(|one| [one.from.as_str(), one.to.as_str()]),
        )?;
        let mut created: Vec<GraphRelation> = Vec::new();
        for relation in wanted {
            let exists = self.relations().any(|one| one == relation);
            if exists || created.contains(&relation) {
                continue;
            }
            let GraphRelation { from, to, relation_type } = relation.clone();
            let content = format!("{from} {relation_type} {to}");
            store_node(GraphNode::Relation { from, to, relation_type }, content, cx).await?;
            created.push(relation);
        }
        Ok(created)
    }

    /// Adds the observations of an entity that are new, and returns them.
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

    /// Refuses names without an entity.
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

    /// Deletes entities with their observations and relations, and returns their number.
    pub(super) async fn delete_entities(
        &self,
        names: &[String],
        cx: &ToolContext<'_>,
    ) -> Result<usize> {
        let matches = |node: &GraphNode| match node {
            GraphNode::Entity { name, .. } => names.contains(name),
            GraphNode::Observation { entity } => names.contains(entity),
            GraphNode::Relation { from, to, .. } => names.contains(from) || names.contains(to),
        };
        self.delete(|node, _| matches(node), cx).await?;
        Ok(self.entities().iter().filter(|entity| names.contains(&entity.name)).count())
    }

    /// Deletes observations of an entity, and returns their number.
    pub(super) async fn delete_observations(
        &self,
        name: &str,
        texts: &[String],
        cx: &ToolContext<'_>,
    ) -> Result<usize> {
        let matches = |node: &GraphNode, observation: &str| {
            matches!(node, GraphNode::Observation { entity } if entity == name)
                && texts.iter().any(|text| text == observation)
        };
        self.delete(matches, cx).await
    }

    /// Deletes relations, and returns their number.
    pub(super) async fn delete_relations(
        &self,
        relations: &[GraphRelation],
        cx: &ToolContext<'_>,
    ) -> Result<usize> {
        let matches =
            |node: &GraphNode| as_relation(node).is_some_and(|one| relations.contains(&one));
        self.delete(|node, _| matches(node), cx).await
    }

    async fn delete(
        &self,
        matches: impl Fn(&GraphNode, &str) -> bool,
        cx: &ToolContext<'_>,
    ) -> Result<usize> {
        let engine = cx.engine_for("graph: delete");
        let (mut count, mut whole, mut lines) = (0, BTreeSet::new(), BTreeMap::new());
        for stored in self.nodes.iter().filter(|stored| matches(&stored.node, &stored.observation))
        {
            count += 1;
            match &stored.source_line {
                None => drop(whole.insert(stored.id)),
                Some(line) => lines.entry(stored.id).or_insert_with(Vec::new).push(line.clone()),
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
        self.nodes.iter().any(|stored| named(&stored.node))
    }

    fn entities(&self) -> Vec<GraphEntity> {
        let (mut entities, mut indexes) = (Vec::new(), HashMap::new());
        for stored in &self.nodes {
            if let GraphNode::Entity { name, entity_type } = &stored.node
                && !indexes.contains_key(name.as_str())
            {
                indexes.insert(name.as_str(), entities.len());
                let (name, entity_type) = (name.clone(), entity_type.clone());
                entities.push(GraphEntity { name, entity_type, observations: Vec::new() });
            }
        }
        for StoredNode { node, observation, .. } in &self.nodes {
            if let GraphNode::Observation { entity } = node
                && let Some(index) = indexes.get(entity.as_str())
            {
                entities[*index].observations.push(observation.clone());
            }
        }
        entities
    }

    fn relations(&self) -> impl Iterator<Item = GraphRelation> + '_ {
        self.nodes.iter().filter_map(|stored| as_relation(&stored.node))
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

/// Parses the graph node that a memory stores.
fn parse_node(memory: &Memory) -> Option<StoredNode> {
    let node: GraphNode = serde_json::from_value(memory.metadata.get(GRAPH)?.clone()).ok()?;
    let observation = match &node {
        GraphNode::Observation { entity } => {
            let text = memory.content.strip_prefix(&observation_prefix(entity));
            sanitize_unindented(text.unwrap_or(&memory.content))
        }
        _ => String::new(),
    };
    Some(StoredNode { id: memory.id, node, observation, source_line: None })
}

/// Returns the entity's name as the prefix of an observation, which makes it clear on its own and tells it from the
/// same observation of another entity.
fn observation_prefix(entity: &str) -> String {
    format!("{entity}: ")
}

async fn store_observation(entity: &str, observation: &str, cx: &ToolContext<'_>) -> Result<()> {
    let node = GraphNode::Observation { entity: entity.to_owned() };
    store_node(node, format!("{}{observation}", observation_prefix(entity)), cx).await
}

/// Stores a node; a memory with the same text becomes that node.
async fn store_node(node: GraphNode, content: String, cx: &ToolContext<'_>) -> Result<()> {
    let engine = cx.engine_for("graph: add");
    let graph_json =
        serde_json::to_value(&node).map_err(|error| Error::damaged(error.to_string()))?;
    let metadata = Map::from_iter([(GRAPH.to_owned(), graph_json.clone())]);
    let request = RememberRequest {
        content,
        kind: Some(Kind::Knowledge),
        tags: vec![GRAPH.to_owned()],
        session: cx.session.map(str::to_owned),
        metadata,
        ..RememberRequest::default()
    };
    let saved = engine.remember(cx.scope, request).await?;
    let memory = engine.get(cx.scope, saved.id).await?;
    if memory.metadata.contains_key(GRAPH) && memory.tags.iter().any(|tag| tag == GRAPH) {
        return Ok(());
    }
    let Memory { mut tags, mut metadata, .. } = memory;
    tags.push(GRAPH.to_owned());
    metadata.insert(GRAPH.to_owned(), graph_json);
    let edit = MemoryEdit { tags: Some(tags), metadata: Some(metadata), ..MemoryEdit::default() };
    engine.edit(cx.scope, saved.id, &edit).await.map(drop)
}
