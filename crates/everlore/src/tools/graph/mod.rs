//! The tools of the reference memory server of MCP, by their names and forms, on memories of the scope.
//!
//! Agents that were told to keep a graph of entities keep doing so; what they write is found by `memory_recall` too.

mod knowledge;
mod imported;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::knowledge::{Entity, Graph, Relation};
use super::{Annotations, Spec, Tool, ToolAnswer, ToolContext, ToolSet, input::typed};
use crate::error::Result;

/// All of them, in their order.
pub(super) fn tools() -> Vec<Box<dyn Tool>> {
    let tool = |does: &'static Does| Box::new(GraphTool(does)) as Box<dyn Tool>;
    TOOLS.iter().map(tool).collect()
}

/// A tool, by what it is.
struct GraphTool(&'static Does);

/// What one tool is called, is for, and does.
struct Does {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    annotations: Annotations,
    deed: Deed,
}

#[derive(Clone, Copy)]
enum Deed {
    CreateEntities,
    CreateRelations,
    AddObservations,
    DeleteEntities,
    DeleteObservations,
    DeleteRelations,
    ReadGraph,
    SearchNodes,
    OpenNodes,
}

const TOOLS: [Does; 9] = [
    Does {
        name: "create_entities",
        title: "Create entities",
        description: "Create entities in the knowledge graph, each with a name, a type and observations.\n\nUse it for people, projects, places and things that matter beyond this conversation. An entity whose name is there already is left as it is; add_observations adds to it. Do not use it for secrets or for what only matters now.",
        annotations: Annotations::ADDS,
        deed: Deed::CreateEntities,
    },
    Does {
        name: "create_relations",
        title: "Create relations",
        description: "Create relations between entities, in the active voice: from, relationType, to.\n\nUse it after create_entities. A relation that is there already is not made twice. Do not use it for entities that are not there: it is refused.",
        annotations: Annotations::ADDS,
        deed: Deed::CreateRelations,
    },
    Does {
        name: "add_observations",
        title: "Add observations",
        description: "Add observations to entities that are there.\n\nUse it for every new fact about an entity, one sentence each. What is there already is not added twice. Do not use it for entities that are not there: create_entities makes them.",
        annotations: Annotations::ADDS,
        deed: Deed::AddObservations,
    },
    Does {
        name: "delete_entities",
        title: "Delete entities",
        description: "Delete entities with their observations and relations.\n\nUse it when the user asks to forget them. Do not use it for a fact that changed: delete_observations and add_observations do that. The user can undo it.",
        annotations: Annotations::REMOVES,
        deed: Deed::DeleteEntities,
    },
    Does {
        name: "delete_observations",
        title: "Delete observations",
        description: "Delete observations of entities, by their exact texts.\n\nUse it when an observation is wrong or out of date. Do not guess the text: open_nodes shows it. The user can undo it.",
        annotations: Annotations::REMOVES,
        deed: Deed::DeleteObservations,
    },
    Does {
        name: "delete_relations",
        title: "Delete relations",
        description: "Delete relations, by from, relationType and to.\n\nUse it when a relation no longer holds. Do not use it for entities. The user can undo it.",
        annotations: Annotations::REMOVES,
        deed: Deed::DeleteRelations,
    },
    Does {
        name: "read_graph",
        title: "Read the graph",
        description: "Read the whole knowledge graph.\n\nUse it when you need an overview and the graph is small. Do not use it to find something: search_nodes costs less.",
        annotations: Annotations::READS,
        deed: Deed::ReadGraph,
    },
    Does {
        name: "search_nodes",
        title: "Search the graph",
        description: "Find entities whose name, type or observations contain a text, with their relations.\n\nUse it with one telling word or name. Do not ask whole questions: memory_recall understands those.",
        annotations: Annotations::READS,
        deed: Deed::SearchNodes,
    },
    Does {
        name: "open_nodes",
        title: "Open entities",
        description: "Read entities by their names, with their relations.\n\nUse it when you know the names. Do not use it to search.",
        annotations: Annotations::READS,
        deed: Deed::OpenNodes,
    },
];

#[derive(Deserialize)]
struct Entities {
    entities: Vec<Entity>,
}

#[derive(Deserialize)]
struct Relations {
    relations: Vec<Relation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Added {
    entity_name: String,
    contents: Vec<String>,
}

#[derive(Deserialize)]
struct Observations {
    observations: Vec<Added>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Removed {
    entity_name: String,
    observations: Vec<String>,
}

#[derive(Deserialize)]
struct Deletions {
    deletions: Vec<Removed>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EntityNames {
    entity_names: Vec<String>,
}

#[derive(Deserialize)]
struct Query {
    query: String,
}

#[derive(Deserialize)]
struct Names {
    names: Vec<String>,
}

#[async_trait]
impl Tool for GraphTool {
    fn spec(&self) -> Spec {
        let Does { name, title, description, annotations, deed } = *self.0;
        Spec {
            name,
            title,
            description,
            set: ToolSet::Graph,
            input_schema: input(deed),
            output_schema: output(deed),
            annotations,
            aliases: &[],
        }
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolAnswer> {
        let graph = Graph::read(cx).await?;
        let structured = match self.0.deed {
            Deed::CreateEntities => {
                json!({ "entities": graph.create(typed::<Entities>(input)?.entities, cx).await? })
            }
            Deed::CreateRelations => {
                json!({ "relations": graph.relate(typed::<Relations>(input)?.relations, cx).await? })
            }
            Deed::AddObservations => add_observations(&graph, typed(input)?, cx).await?,
            Deed::DeleteEntities => {
                let EntityNames { entity_names } = typed(input)?;
                gone(graph.delete_entities(&entity_names, cx).await?, "entities")
            }
            Deed::DeleteObservations => delete_observations(&graph, typed(input)?, cx).await?,
            Deed::DeleteRelations => {
                let Relations { relations } = typed(input)?;
                gone(graph.delete_relations(&relations, cx).await?, "relations")
            }
            Deed::ReadGraph => graph.told(|_| true),
            Deed::SearchNodes => {
                let Query { query } = typed(input)?;
                graph.told(|entity| entity.mentions(&query))
            }
            Deed::OpenNodes => {
                let Names { names } = typed(input)?;
                graph.told(|entity| names.contains(&entity.name))
            }
        };
        Ok(ToolAnswer::new(structured.to_string(), structured))
    }
}

async fn add_observations(
    graph: &Graph,
    Observations { observations }: Observations,
    cx: &ToolContext<'_>,
) -> Result<Value> {
    graph.check(observations.iter().map(|one| one.entity_name.as_str()))?;
    let mut results = Vec::new();
    for Added { entity_name, contents } in observations {
        let added = graph.observe(&entity_name, contents, cx).await?;
        results.push(json!({ "entityName": entity_name, "addedObservations": added }));
    }
    Ok(json!({ "results": results }))
}

async fn delete_observations(
    graph: &Graph,
    Deletions { deletions }: Deletions,
    cx: &ToolContext<'_>,
) -> Result<Value> {
    let mut count = 0;
    for Removed { entity_name, observations } in deletions {
        count += graph.delete_observations(&entity_name, &observations, cx).await?;
    }
    Ok(gone(count, "observations"))
}

fn gone(count: usize, what: &str) -> Value {
    json!({ "success": true, "message": format!("{count} {what} deleted") })
}

fn text(about: &str) -> Value {
    json!({ "type": "string", "description": about })
}

fn texts(about: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": about })
}

fn list(about: &str, item: &Value) -> Value {
    json!({ "type": "array", "items": item, "description": about })
}

/// An object that has all of these fields and no other.
fn object(fields: &[(&str, Value)]) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
}

fn entity() -> Value {
    object(&[
        ("name", text("The name of the entity")),
        ("entityType", text("What it is")),
        ("observations", texts("Facts about it, one sentence each")),
    ])
}

fn relation() -> Value {
    object(&[
        ("from", text("The entity where the relation starts")),
        ("to", text("The entity where it ends")),
        ("relationType", text("What the first does to the second, in the active voice")),
    ])
}

fn input(deed: Deed) -> Value {
    match deed {
        Deed::CreateEntities => object(&[("entities", list("The entities", &entity()))]),
        Deed::CreateRelations | Deed::DeleteRelations => {
            object(&[("relations", list("The relations", &relation()))])
        }
        Deed::AddObservations => {
            let added =
                object(&[("entityName", text("The entity")), ("contents", texts("What to add"))]);
            object(&[("observations", list("The observations, by entity", &added))])
        }
        Deed::DeleteEntities => object(&[("entityNames", texts("The names of the entities"))]),
        Deed::DeleteObservations => {
            let removed = object(&[
                ("entityName", text("The entity")),
                ("observations", texts("The exact texts to delete")),
            ]);
            object(&[("deletions", list("What to delete, by entity", &removed))])
        }
        Deed::ReadGraph => object(&[]),
        Deed::SearchNodes => object(&[("query", text("The text to look for"))]),
        Deed::OpenNodes => object(&[("names", texts("The names of the entities"))]),
    }
}

fn output(deed: Deed) -> Value {
    match deed {
        Deed::CreateEntities => object(&[("entities", list("Those that are new", &entity()))]),
        Deed::CreateRelations => object(&[("relations", list("Those that are new", &relation()))]),
        Deed::AddObservations => {
            let result = object(&[
                ("entityName", text("The entity")),
                ("addedObservations", texts("Those that are new")),
            ]);
            object(&[("results", list("What was added, by entity", &result))])
        }
        Deed::DeleteEntities | Deed::DeleteObservations | Deed::DeleteRelations => object(&[
            ("success", json!({ "type": "boolean", "description": "Whether they are gone" })),
            ("message", text("How many were deleted")),
        ]),
        Deed::ReadGraph | Deed::SearchNodes | Deed::OpenNodes => object(&[
            ("entities", list("The entities", &entity())),
            ("relations", list("The relations that begin or end at one of them", &relation())),
        ]),
    }
}
