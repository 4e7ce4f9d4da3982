//! The graph of the MCP reference server: entities with observations, and relations between them.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{ForeignDraft, Found, SourceFile, pieces::shortened, tree::text_of};
use crate::types::Kind;

/// What the server's own prompt calls the person it talks to.
const USER_NAMES: [&str; 2] = ["default_user", "user"];

#[derive(Default)]
struct Graph {
    entities: Vec<Entity>,
    by_name: HashMap<String, usize>,
    relations: Vec<(usize, [String; 3])>,
}

struct Entity {
    line: usize,
    name: String,
    of_type: String,
    lines: Vec<String>,
    relations: Vec<[String; 3]>,
}

/// Takes a file apart; an entity becomes one draft.
pub(super) fn parse(file: &SourceFile, source: &str, found: &mut Found) {
    let graph = read(file, found);
    for entity in graph.joined(file, found) {
        let place = format!("{}:{}", file.path, entity.line);
        if entity.lines.is_empty() {
            found.skip(place, format!("nothing is known about `{}`", shortened(&entity.name)));
            continue;
        }
        let is_user = USER_NAMES.contains(&entity.name.as_str());
        let tags = Some(entity.of_type.trim()).filter(|of_type| !of_type.is_empty());
        let mut metadata = serde_json::Map::new();
        metadata.insert("entity".to_owned(), json!(entity.name));
        metadata.insert("entity_type".to_owned(), json!(entity.of_type));
        if !entity.relations.is_empty() {
            metadata.insert("relations".to_owned(), json!(entity.relations));
        }
        found.drafts.push(ForeignDraft {
            place,
            source: source.to_owned(),
            kind: Some(if is_user { Kind::User } else { Kind::Knowledge }),
            name: Some(shortened(&entity.name)),
            description: shortened(&entity.of_type),
            content: entity.lines.join("\n"),
            tags: tags.map(shortened).into_iter().collect(),
            metadata,
            key: Some(entity.name),
            ..ForeignDraft::default()
        });
    }
}

/// Reads the lines, or the whole graph as one value.
fn read(file: &SourceFile, found: &mut Found) -> Graph {
    let mut graph = Graph::default();
    if let Ok(whole) = serde_json::from_slice::<Value>(strip_mark(&file.bytes))
        && (whole["entities"].is_array() || whole["relations"].is_array())
    {
        let list = |key: &str| whole[key].as_array().cloned().unwrap_or_default();
        for (kind, values) in [("entity", list("entities")), ("relation", list("relations"))] {
            for (index, mut value) in values.into_iter().enumerate() {
                if let Some(value) = value.as_object_mut() {
                    value.insert("type".to_owned(), json!(kind));
                }
                graph.note(
                    &format!("{}:{kind} {}", file.path, index + 1),
                    index + 1,
                    &value,
                    found,
                );
            }
        }
        return graph;
    }
    for (number, line) in strip_mark(&file.bytes).split(|byte| *byte == b'\n').enumerate() {
        let place = format!("{}:{}", file.path, number + 1);
        if line.trim_ascii().is_empty() {
            continue;
        }
        match text_of(line).ok().map(|line| serde_json::from_str::<Value>(&line)) {
            None => found.skip(place, "the line is not UTF-8"),
            Some(Err(error)) => found.skip(place, format!("the line cannot be read: {error}")),
            Some(Ok(value)) => graph.note(&place, number + 1, &value, found),
        }
    }
    graph
}

fn strip_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

impl Graph {
    fn note(&mut self, place: &str, line: usize, value: &Value, found: &mut Found) {
        let text = |key: &str| value[key].as_str().map(str::trim).filter(|text| !text.is_empty());
        match value["type"].as_str() {
            Some("entity") => match text("name") {
                None => found.skip(place, "the entity has no `name`"),
                Some(name) => self.entity(place, line, name, value, found),
            },
            Some("relation") => match (text("from"), text("relationType"), text("to")) {
                (Some(from), Some(of_type), Some(to)) => {
                    self.relations.push((line, [from, of_type, to].map(str::to_owned)));
                }
                _ => found.skip(place, "a relation needs `from`, `relationType` and `to`"),
            },
            _ => found.skip(place, "its `type` is neither entity nor relation"),
        }
    }

    /// An entity that occurs twice is one.
    fn entity(&mut self, place: &str, line: usize, name: &str, value: &Value, found: &mut Found) {
        let at = *self.by_name.entry(name.to_owned()).or_insert_with(|| {
            let of_type = value["entityType"].as_str().unwrap_or_default().to_owned();
            let (name, lines, relations) = (name.to_owned(), Vec::new(), Vec::new());
            self.entities.push(Entity { line, name, of_type, lines, relations });
            self.entities.len() - 1
        });
        let Some(observations) = value["observations"].as_array() else {
            return found.skip(place, "`observations` is not a list");
        };
        let lines = &mut self.entities[at].lines;
        for observation in observations {
            match observation.as_str().map(str::trim) {
                Some(text) if !text.is_empty() => push_new(lines, format!("- {text}")),
                Some(_) => {}
                None => found.skip(place, "an observation is not a text"),
            }
        }
    }

    /// The entities with their relations in words.
    fn joined(mut self, file: &SourceFile, found: &mut Found) -> Vec<Entity> {
        for (line, [from, of_type, to]) in std::mem::take(&mut self.relations) {
            let said = format!("- {from} {} {to}", of_type.replace('_', " "));
            match self.by_name.get(&from).or_else(|| self.by_name.get(&to)) {
                Some(at) => {
                    let entity = &mut self.entities[*at];
                    push_new(&mut entity.lines, said);
                    entity.relations.push([from, of_type, to]);
                }
                None => found.skip(
                    format!("{}:{line}", file.path),
                    "the relation names two entities that are not there",
                ),
            }
        }
        self.entities
    }
}

fn push_new(lines: &mut Vec<String>, line: String) {
    if !lines.contains(&line) {
        lines.push(line);
    }
}
