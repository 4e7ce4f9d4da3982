//! Knowledge graph of the MCP reference server: entities with observations, and relations between them.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{
    ExternalDraft, ParsedImport, SourceFile, markdown_notes::shorten_title,
    source_tree::decode_utf8,
};
use crate::types::Kind;

/// Names of the user in the server's own prompt.
const USER_NAMES: [&str; 2] = ["default_user", "user"];

#[derive(Default)]
struct McpKnowledgeGraph {
    entities: Vec<McpEntity>,
    by_name: HashMap<String, usize>,
    relations: Vec<(usize, [String; 3])>,
}

struct McpEntity {
    line: usize,
    name: String,
    entity_type: String,
    statements: Vec<String>,
    relations: Vec<[String; 3]>,
}

/// Parses a file; an entity becomes one draft.
pub(super) fn parse(file: &SourceFile, source: &str, import: &mut ParsedImport) {
    let graph = read_graph(file, import);
    for entity in graph.into_entities(file, import) {
        let location = format!("{}:{}", file.path, entity.line);
        if entity.statements.is_empty() {
            import.skip(
                location,
                format!("nothing is known about `{}`", shorten_title(&entity.name)),
            );
            continue;
        }
        let is_user = USER_NAMES.contains(&entity.name.as_str());
        let tags = Some(entity.entity_type.trim()).filter(|of_type| !of_type.is_empty());
        let mut metadata = serde_json::Map::new();
        metadata.insert("entity".to_owned(), json!(entity.name));
        metadata.insert("entity_type".to_owned(), json!(entity.entity_type));
        if !entity.relations.is_empty() {
            metadata.insert("relations".to_owned(), json!(entity.relations));
        }
        import.drafts.push(ExternalDraft {
            location,
            source: source.to_owned(),
            kind: Some(if is_user { Kind::User } else { Kind::Knowledge }),
            name: Some(shorten_title(&entity.name)),
            description: shorten_title(&entity.entity_type),
            content: entity.statements.join("\n"),
            tags: tags.map(shorten_title).into_iter().collect(),
            metadata,
            key: Some(entity.name),
            ..ExternalDraft::default()
        });
    }
}

/// Reads the lines, or the whole graph as one value.
fn read_graph(file: &SourceFile, import: &mut ParsedImport) -> McpKnowledgeGraph {
    let mut graph = McpKnowledgeGraph::default();
    if let Ok(whole) = serde_json::from_slice::<Value>(strip_bom(&file.bytes))
        && (whole["entities"].is_array() || whole["relations"].is_array())
    {
        let list = |key: &str| whole[key].as_array().cloned().unwrap_or_default();
        for (kind, values) in [("entity", list("entities")), ("relation", list("relations"))] {
            for (index, mut value) in values.into_iter().enumerate() {
                if let Some(value) = value.as_object_mut() {
                    value.insert("type".to_owned(), json!(kind));
                }
                graph.add_value(
                    &format!("{}:{kind} {}", file.path, index + 1),
                    index + 1,
                    &value,
                    import,
                );
            }
        }
        return graph;
    }
    for (number, line) in strip_bom(&file.bytes).split(|byte| *byte == b'\n').enumerate() {
        let location = format!("{}:{}", file.path, number + 1);
        if line.trim_ascii().is_empty() {
            continue;
        }
        match decode_utf8(line).ok().map(|line| serde_json::from_str::<Value>(&line)) {
            None => import.skip(location, "the line is not UTF-8"),
            Some(Err(error)) => import.skip(location, format!("the line cannot be read: {error}")),
            Some(Ok(value)) => graph.add_value(&location, number + 1, &value, import),
        }
    }
    graph
}

fn strip_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

impl McpKnowledgeGraph {
    fn add_value(&mut self, location: &str, line: usize, value: &Value, import: &mut ParsedImport) {
        let text = |key: &str| value[key].as_str().map(str::trim).filter(|text| !text.is_empty());
        match value["type"].as_str() {
            Some("entity") => match text("name") {
                None => import.skip(location, "the entity has no `name`"),
                Some(name) => self.add_entity(location, line, name, value, import),
            },
            Some("relation") => match (text("from"), text("relationType"), text("to")) {
                (Some(from), Some(of_type), Some(to)) => {
                    self.relations.push((line, [from, of_type, to].map(str::to_owned)));
                }
                _ => import.skip(location, "a relation needs `from`, `relationType` and `to`"),
            },
            _ => import.skip(location, "its `type` is neither entity nor relation"),
        }
    }

    /// Adds an entity, merged with an earlier one of the same name.
    fn add_entity(
        &mut self,
        location: &str,
        line: usize,
        name: &str,
        value: &Value,
        import: &mut ParsedImport,
    ) {
        let at = *self.by_name.entry(name.to_owned()).or_insert_with(|| {
            let of_type = value["entityType"].as_str().unwrap_or_default().to_owned();
            let (name, lines, relations) = (name.to_owned(), Vec::new(), Vec::new());
            self.entities.push(McpEntity {
                line,
                name,
                entity_type: of_type,
                statements: lines,
                relations,
            });
            self.entities.len() - 1
        });
        let Some(observations) = value["observations"].as_array() else {
            return import.skip(location, "`observations` is not a list");
        };
        let lines = &mut self.entities[at].statements;
        for observation in observations {
            match observation.as_str().map(str::trim) {
                Some(text) if !text.is_empty() => push_unique(lines, format!("- {text}")),
                Some(_) => {}
                None => import.skip(location, "an observation is not a text"),
            }
        }
    }

    /// Returns the entities with their relations in words.
    fn into_entities(mut self, file: &SourceFile, import: &mut ParsedImport) -> Vec<McpEntity> {
        for (line, [from, of_type, to]) in std::mem::take(&mut self.relations) {
            let sentence = format!("- {from} {} {to}", of_type.replace('_', " "));
            match self.by_name.get(&from).or_else(|| self.by_name.get(&to)) {
                Some(at) => {
                    let entity = &mut self.entities[*at];
                    push_unique(&mut entity.statements, sentence);
                    entity.relations.push([from, of_type, to]);
                }
                None => import.skip(
                    format!("{}:{line}", file.path),
                    "the relation names two entities that are not there",
                ),
            }
        }
        self.entities
    }
}

fn push_unique(lines: &mut Vec<String>, line: String) {
    if !lines.contains(&line) {
        lines.push(line);
    }
}
