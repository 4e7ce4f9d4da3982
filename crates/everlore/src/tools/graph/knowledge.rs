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
    ingest::{Edit, Remember},
    store::Filter,
    text::escape::inert_text,
    tools::ToolContext,
    types::{Kind, Memory, MemoryId, Status},
};

/// What all memories of the graph are tagged with, and where their metadata says what they are.
const GRAPH: &str = "graph";

/// An entity as the tools name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entity {
    /// What it is called.
    pub(super) name: String,
    entity_type: String,
    observations: Vec<String>,
}

impl Entity {
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
pub(super) struct Relation {
    from: String,
    to: String,
    relation_type: String,
}

impl Relation {
    /// By what it is made of: from, type, to.
    pub(super) fn of([from, relation_type, to]: [String; 3]) -> Self {
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
pub(super) enum Node {
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

impl From<Relation> for Node {
    fn from(Relation { from, to, relation_type }: Relation) -> Self {
        Self::Relation { from, to, relation_type }
    }
}

/// A part of the graph, and the memory that tells it.
pub(super) struct Told {
    pub(super) id: MemoryId,
    pub(super) node: Node,
    /// What an observation says.
    pub(super) said: String,
    /// The line that tells it, where the memory tells more.
    pub(super) line: Option<String>,
}

/// The graph of a scope, in the order in which it was stored.
pub(super) struct Graph {
    nodes: Vec<Told>,
}

impl Graph {
    /// Reads all of it. What upkeep put away is still part of it; what was deleted or replaced is not.
    pub(super) async fn read(cx: &ToolContext<'_>) -> Result<Self> {
        let tagged = |tag: String| {
            let statuses = vec![Status::Active, Status::Archived];
            Filter { tags: vec![tag], statuses, ..Filter::default() }
        };
        let imported = cx.engine.tagged(cx.scope, &tagged(imported::tag())).await?;
        let made = cx.engine.tagged(cx.scope, &tagged(GRAPH.to_owned())).await?;
        let imported = imported.iter().flat_map(imported::told);
        Ok(Self { nodes: imported.chain(made.iter().filter_map(node)).collect() })
    }

    /// The entities that are meant, with what is known of them, and the relations that begin or end at one.
    pub(super) fn told(&self, meant: impl Fn(&Entity) -> bool) -> Value {
        let entities: Vec<Entity> = self.entities().into_iter().filter(meant).collect();
        let names: HashSet<&str> = entities.iter().map(|entity| entity.name.as_str()).collect();
        let is_told = |name: &String| names.contains(name.as_str());
        let relations: Vec<Relation> = self
            .relations()
            .filter(|relation| is_told(&relation.from) || is_told(&relation.to))
            .collect();
        json!({ "entities": entities, "relations": relations })
    }

    /// Stores those whose names are new, and returns them.
    pub(super) async fn create(
        &self,
        wanted: Vec<Entity>,
        cx: &ToolContext<'_>,
    ) -> Result<Vec<Entity>> {
        let mut made: Vec<Entity> = Vec::new();
        for entity in wanted {
            if self.has(&entity.name) || made.iter().any(|one| one.name == entity.name) {
                continue;
            }
            let Entity { name, entity_type, observations } = &entity;
            let node = Node::Entity { name: name.clone(), entity_type: entity_type.clone() };
            store(node, format!("{name} ({entity_type})"), cx).await?;
            let mut kept = Vec::new();
            for observation in observations {
                if !kept.contains(observation) {
                    note(name, observation, cx).await?;
                    kept.push(observation.clone());
                }
            }
            made.push(Entity { observations: kept, ..entity });
        }
        Ok(made)
    }

    /// Stores those relations that are new, and returns them.
    pub(super) async fn relate(
        &self,
        wanted: Vec<Relation>,
        cx: &ToolContext<'_>,
    ) -> Result<Vec<Relation>> {
        self.check(wanted.iter().flat_map(|one| [one.from.as_str(), one.to.as_str()]))?;
        let mut made: Vec<Relation> = Vec::new();
        for relation in wanted {
            let known = self.relations().any(|one| one == relation);
            if known || made.contains(&relation) {
                continue;
            }
            let Relation { from, to, relation_type } = relation.clone();
            let said = format!("{from} {relation_type} {to}");
            store(Node::Relation { from, to, relation_type }, said, cx).await?;
            made.push(relation);
        }
        Ok(made)
    }

    /// Adds what is new to an entity, and returns it.
    pub(super) async fn observe(
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
                note(name, &content, cx).await?;
                added.push(content);
            }
        }
        Ok(added)
    }

    /// Refuses names of which there is no entity.
    pub(super) fn check<'a>(&self, mut names: impl Iterator<Item = &'a str>) -> Result<()> {
        match names.find(|name| !self.has(name)) {
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
        let gone = |node: &Node| match node {
            Node::Entity { name, .. } => names.contains(name),
            Node::Observation { entity } => names.contains(entity),
            Node::Relation { from, to, .. } => names.contains(from) || names.contains(to),
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
        let gone = |node: &Node, said: &str| matches!(node, Node::Observation { entity } if entity == name && texts.iter().any(|text| text == said));
        self.delete(gone, cx).await
    }

    /// Deletes relations, and returns how many there were.
    pub(super) async fn delete_relations(
        &self,
        relations: &[Relation],
        cx: &ToolContext<'_>,
    ) -> Result<usize> {
        let of = |node: &Node| relation(node).is_some_and(|one| relations.contains(&one));
        self.delete(|node, _| of(node), cx).await
    }

    async fn delete(
        &self,
        gone: impl Fn(&Node, &str) -> bool,
        cx: &ToolContext<'_>,
    ) -> Result<usize> {
        let engine = cx.acting("graph: delete");
        let (mut count, mut whole, mut lines) = (0, BTreeSet::new(), BTreeMap::new());
        for told in self.nodes.iter().filter(|told| gone(&told.node, &told.said)) {
            count += 1;
            match &told.line {
                None => drop(whole.insert(told.id)),
                Some(line) => lines.entry(told.id).or_insert_with(Vec::new).push(line.clone()),
            }
        }
        for id in &whole {
            engine.delete(cx.scope, *id).await?;
        }
        for (id, lines) in lines.iter().filter(|(id, _)| !whole.contains(id)) {
            imported::take_out(*id, lines, cx).await?;
        }
        Ok(count)
    }

    fn has(&self, wanted: &str) -> bool {
        let named = |node: &Node| matches!(node, Node::Entity { name, .. } if name == wanted);
        self.nodes.iter().any(|told| named(&told.node))
    }

    fn entities(&self) -> Vec<Entity> {
        let (mut entities, mut places) = (Vec::new(), HashMap::new());
        for told in &self.nodes {
            if let Node::Entity { name, entity_type } = &told.node
                && !places.contains_key(name.as_str())
            {
                places.insert(name.as_str(), entities.len());
                let (name, entity_type) = (name.clone(), entity_type.clone());
                entities.push(Entity { name, entity_type, observations: Vec::new() });
            }
        }
        for Told { node, said, .. } in &self.nodes {
            if let Node::Observation { entity: of } = node
                && let Some(place) = places.get(of.as_str())
            {
                entities[*place].observations.push(said.clone());
            }
        }
        entities
    }

    fn relations(&self) -> impl Iterator<Item = Relation> + '_ {
        self.nodes.iter().filter_map(|told| relation(&told.node))
    }
}

fn relation(node: &Node) -> Option<Relation> {
    match node.clone() {
        Node::Relation { from, to, relation_type } => Some(Relation { from, to, relation_type }),
        _ => None,
    }
}

/// What a memory is in the graph, and what it says there.
fn node(memory: &Memory) -> Option<Told> {
    let node: Node = serde_json::from_value(memory.metadata.get(GRAPH)?.clone()).ok()?;
    let said = match &node {
        Node::Observation { entity } => {
            let own = memory.content.strip_prefix(&prefix(entity));
            inert_text(own.unwrap_or(&memory.content))
        }
        _ => String::new(),
    };
    Some(Told { id: memory.id, node, said, line: None })
}

/// An observation names its entity, so that it is clear on its own and differs from the same said of another.
fn prefix(entity: &str) -> String {
    format!("{entity}: ")
}

async fn note(entity: &str, observation: &str, cx: &ToolContext<'_>) -> Result<()> {
    let node = Node::Observation { entity: entity.to_owned() };
    store(node, format!("{}{observation}", prefix(entity)), cx).await
}

/// Stores a part of the graph; a memory that says the same already becomes that part.
async fn store(node: Node, content: String, cx: &ToolContext<'_>) -> Result<()> {
    let engine = cx.acting("graph: add");
    let meaning = serde_json::to_value(&node).map_err(|error| Error::damaged(error.to_string()))?;
    let metadata = Map::from_iter([(GRAPH.to_owned(), meaning.clone())]);
    let draft = Remember {
        content,
        kind: Some(Kind::Knowledge),
        tags: vec![GRAPH.to_owned()],
        session: cx.session.map(str::to_owned),
        metadata,
        ..Remember::default()
    };
    let saved = engine.remember(cx.scope, draft).await?;
    let memory = engine.get(cx.scope, saved.id).await?;
    if memory.metadata.contains_key(GRAPH) && memory.tags.iter().any(|tag| tag == GRAPH) {
        return Ok(());
    }
    let Memory { mut tags, mut metadata, .. } = memory;
    tags.push(GRAPH.to_owned());
    metadata.insert(GRAPH.to_owned(), meaning);
    let edit = Edit { tags: Some(tags), metadata: Some(metadata), ..Edit::default() };
    engine.edit(cx.scope, saved.id, &edit).await.map(drop)
}
