//! Knowledge graph tools with the names and formats of MCP's reference memory server, stored as memories of the scope.
//!
//! Agents that were told to keep a graph of entities can keep doing so; `memory_recall` finds what they write, too.

mod knowledge_graph;
mod imported;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::knowledge_graph::{GraphEntity, GraphRelation, KnowledgeGraph};
use crate::{
    error::Result,
    tools::{
        Tool, ToolAnnotations, ToolContext, ToolResult, ToolSet, ToolSpec, input::parse_input,
    },
};

/// Returns all graph tools, in order.
pub(super) fn tools() -> Vec<Box<dyn Tool>> {
    let tool = |spec: &'static GraphToolSpec| Box::new(GraphTool(spec)) as Box<dyn Tool>;
    TOOLS.iter().map(tool).collect()
}

/// Graph tool, defined by its spec.
struct GraphTool(&'static GraphToolSpec);

/// Name, texts and operation of a graph tool.
struct GraphToolSpec {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    annotations: ToolAnnotations,
    operation: GraphOperation,
}

#[derive(Clone, Copy)]
enum GraphOperation {
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

const TOOLS: [GraphToolSpec; 9] = [
    GraphToolSpec {
        name: "create_entities",
        title: "Create entities",
        description: "Create entities in the knowledge graph, each with a name, a type and observations.\n\nUse it for people, projects, places and things that matter beyond this conversation. An entity whose name is there already is left as it is; add_observations adds to it. Do not use it for secrets or for what only matters now.",
        annotations: ToolAnnotations::ADDS,
        operation: GraphOperation::CreateEntities,
    },
    GraphToolSpec {
        name: "create_relations",
        title: "Create relations",
        description: "Create relations between entities, in the active voice: from, relationType, to.\n\nUse it after create_entities. A relation that is there already is not made twice. Do not use it for entities that are not there: it is refused.",
        annotations: ToolAnnotations::ADDS,
        operation: GraphOperation::CreateRelations,
    },
    GraphToolSpec {
        name: "add_observations",
        title: "Add observations",
        description: "Add observations to entities that are there.\n\nUse it for every new fact about an entity, one sentence each. What is there already is not added twice. Do not use it for entities that are not there: create_entities makes them.",
        annotations: ToolAnnotations::ADDS,
        operation: GraphOperation::AddObservations,
    },
    GraphToolSpec {
        name: "delete_entities",
        title: "Delete entities",
        description: "Delete entities with their observations and relations.\n\nUse it when the user asks to forget them. Do not use it for a fact that changed: delete_observations and add_observations do that. The user can undo it.",
        annotations: ToolAnnotations::REMOVES,
        operation: GraphOperation::DeleteEntities,
    },
    GraphToolSpec {
        name: "delete_observations",
        title: "Delete observations",
        description: "Delete observations of entities, by their exact texts.\n\nUse it when an observation is wrong or out of date. Do not guess the text: open_nodes shows it. The user can undo it.",
        annotations: ToolAnnotations::REMOVES,
        operation: GraphOperation::DeleteObservations,
    },
    GraphToolSpec {
        name: "delete_relations",
        title: "Delete relations",
        description: "Delete relations, by from, relationType and to.\n\nUse it when a relation no longer holds. Do not use it for entities. The user can undo it.",
        annotations: ToolAnnotations::REMOVES,
        operation: GraphOperation::DeleteRelations,
    },
    GraphToolSpec {
        name: "read_graph",
        title: "Read the graph",
        description: "Read the whole knowledge graph.\n\nUse it when you need an overview and the graph is small. Do not use it to find something: search_nodes costs less.",
        annotations: ToolAnnotations::READS,
        operation: GraphOperation::ReadGraph,
    },
    GraphToolSpec {
        name: "search_nodes",
        title: "Search the graph",
        description: "Find entities whose name, type or observations contain a text, with their relations.\n\nUse it with one telling word or name. Do not ask whole questions: memory_recall understands those.",
        annotations: ToolAnnotations::READS,
        operation: GraphOperation::SearchNodes,
    },
    GraphToolSpec {
        name: "open_nodes",
        title: "Open entities",
        description: "Read entities by their names, with their relations.\n\nUse it when you know the names. Do not use it to search.",
        annotations: ToolAnnotations::READS,
        operation: GraphOperation::OpenNodes,
    },
];

#[derive(Deserialize)]
struct CreateEntitiesInput {
    entities: Vec<GraphEntity>,
}

#[derive(Deserialize)]
struct RelationsInput {
    relations: Vec<GraphRelation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EntityObservations {
    entity_name: String,
    contents: Vec<String>,
}

#[derive(Deserialize)]
struct AddObservationsInput {
    observations: Vec<EntityObservations>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObservationDeletion {
    entity_name: String,
    observations: Vec<String>,
}

#[derive(Deserialize)]
struct DeleteObservationsInput {
    deletions: Vec<ObservationDeletion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeleteEntitiesInput {
    entity_names: Vec<String>,
}

#[derive(Deserialize)]
struct SearchNodesInput {
    query: String,
}

#[derive(Deserialize)]
struct OpenNodesInput {
    names: Vec<String>,
}

#[async_trait]
impl Tool for GraphTool {
    fn spec(&self) -> ToolSpec {
        let GraphToolSpec { name, title, description, annotations, operation } = *self.0;
        ToolSpec {
            description,
            input_schema: input_schema(operation),
            output_schema: output_schema(operation),
            annotations,
            ..ToolSpec::new(ToolSet::Graph, name, title)
        }
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolResult> {
        let graph = KnowledgeGraph::read(cx).await?;
        let structured = match self.0.operation {
            GraphOperation::CreateEntities => {
                json!({ "entities": graph.create_entities(parse_input::<CreateEntitiesInput>(input)?.entities, cx).await? })
            }
            GraphOperation::CreateRelations => {
                json!({ "relations": graph.create_relations(parse_input::<RelationsInput>(input)?.relations, cx).await? })
            }
            GraphOperation::AddObservations => {
                add_observations(&graph, parse_input(input)?, cx).await?
            }
            GraphOperation::DeleteEntities => {
                let DeleteEntitiesInput { entity_names } = parse_input(input)?;
                deletion_json(graph.delete_entities(&entity_names, cx).await?, "entities")
            }
            GraphOperation::DeleteObservations => {
                delete_observations(&graph, parse_input(input)?, cx).await?
            }
            GraphOperation::DeleteRelations => {
                let RelationsInput { relations } = parse_input(input)?;
                deletion_json(graph.delete_relations(&relations, cx).await?, "relations")
            }
            GraphOperation::ReadGraph => graph.subgraph(|_| true),
            GraphOperation::SearchNodes => {
                let SearchNodesInput { query } = parse_input(input)?;
                graph.subgraph(|entity| entity.mentions(&query))
            }
            GraphOperation::OpenNodes => {
                let OpenNodesInput { names } = parse_input(input)?;
                graph.subgraph(|entity| names.contains(&entity.name))
            }
        };
        Ok(ToolResult::new(structured.to_string(), structured))
    }
}

async fn add_observations(
    graph: &KnowledgeGraph,
    AddObservationsInput { observations }: AddObservationsInput,
    cx: &ToolContext<'_>,
) -> Result<Value> {
    graph.check_entities_exist(observations.iter().map(|one| one.entity_name.as_str()))?;
    let mut results = Vec::new();
    for EntityObservations { entity_name, contents } in observations {
        let added = graph.add_observations(&entity_name, contents, cx).await?;
        results.push(json!({ "entityName": entity_name, "addedObservations": added }));
    }
    Ok(json!({ "results": results }))
}

async fn delete_observations(
    graph: &KnowledgeGraph,
    DeleteObservationsInput { deletions }: DeleteObservationsInput,
    cx: &ToolContext<'_>,
) -> Result<Value> {
    let mut count = 0;
    for ObservationDeletion { entity_name, observations } in deletions {
        count += graph.delete_observations(&entity_name, &observations, cx).await?;
    }
    Ok(deletion_json(count, "observations"))
}

fn deletion_json(count: usize, what: &str) -> Value {
    json!({ "success": true, "message": format!("{count} {what} deleted") })
}

fn string_schema(about: &str) -> Value {
    json!({ "type": "string", "description": about })
}

fn string_list_schema(about: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": about })
}

fn list_schema(about: &str, item: &Value) -> Value {
    json!({ "type": "array", "items": item, "description": about })
}

/// Returns the schema of an object with exactly these fields, all required.
fn object_schema(fields: &[(&str, Value)]) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
}

fn entity_schema() -> Value {
    object_schema(&[
        ("name", string_schema("The name of the entity")),
        ("entityType", string_schema("Type of the entity")),
        ("observations", string_list_schema("Facts about it, one sentence each")),
    ])
}

fn relation_schema() -> Value {
    object_schema(&[
        ("from", string_schema("The entity where the relation starts")),
        ("to", string_schema("The entity where it ends")),
        (
            "relationType",
            string_schema("Relation from the first to the second, in the active voice"),
        ),
    ])
}

fn input_schema(operation: GraphOperation) -> Value {
    match operation {
        GraphOperation::CreateEntities => {
            object_schema(&[("entities", list_schema("The entities", &entity_schema()))])
        }
        GraphOperation::CreateRelations | GraphOperation::DeleteRelations => {
            object_schema(&[("relations", list_schema("The relations", &relation_schema()))])
        }
        GraphOperation::AddObservations => {
            let added = object_schema(&[
                ("entityName", string_schema("The entity")),
                ("contents", string_list_schema("Observations to add")),
            ]);
            object_schema(&[("observations", list_schema("The observations, by entity", &added))])
        }
        GraphOperation::DeleteEntities => {
            object_schema(&[("entityNames", string_list_schema("The names of the entities"))])
        }
        GraphOperation::DeleteObservations => {
            let removed = object_schema(&[
                ("entityName", string_schema("The entity")),
                ("observations", string_list_schema("The exact texts to delete")),
            ]);
            object_schema(&[(
                "deletions",
                list_schema("Observations to delete, by entity", &removed),
            )])
        }
        GraphOperation::ReadGraph => object_schema(&[]),
        GraphOperation::SearchNodes => {
            object_schema(&[("query", string_schema("The text to look for"))])
        }
        GraphOperation::OpenNodes => {
            object_schema(&[("names", string_list_schema("The names of the entities"))])
        }
    }
}

fn output_schema(operation: GraphOperation) -> Value {
    match operation {
        GraphOperation::CreateEntities => {
            object_schema(&[("entities", list_schema("The new entities", &entity_schema()))])
        }
        GraphOperation::CreateRelations => {
            object_schema(&[("relations", list_schema("The new relations", &relation_schema()))])
        }
        GraphOperation::AddObservations => {
            let result = object_schema(&[
                ("entityName", string_schema("The entity")),
                ("addedObservations", string_list_schema("The new observations")),
            ]);
            object_schema(&[("results", list_schema("Added observations, by entity", &result))])
        }
        GraphOperation::DeleteEntities
        | GraphOperation::DeleteObservations
        | GraphOperation::DeleteRelations => object_schema(&[
            ("success", json!({ "type": "boolean", "description": "true if they were deleted" })),
            ("message", string_schema("Number of deleted ones")),
        ]),
        GraphOperation::ReadGraph | GraphOperation::SearchNodes | GraphOperation::OpenNodes => {
            object_schema(&[
                ("entities", list_schema("The entities", &entity_schema())),
                (
                    "relations",
                    list_schema(
                        "The relations that begin or end at one of them",
                        &relation_schema(),
                    ),
                ),
            ])
        }
    }
}
