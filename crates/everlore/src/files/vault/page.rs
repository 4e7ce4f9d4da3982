//! Vault page: one memory as a file. Parses front matter and body, and rewrites a file with as few changed bytes as
//! possible.

use crate::{
    error::{Error, Result},
    files::front_matter::{FrontMatter, YamlValue, parse_string_map, yaml_list, yaml_scalar},
    text::{
        secrets::{SecretKind, mask, mask_all},
        tiers::refresh_overview,
    },
    types::{Kind, MAX_NAME_CHARS, Memory, MemoryId, Timestamp},
};

/// Default importance, which is not written.
const DEFAULT_IMPORTANCE: f64 = 0.5;

/// Content of a file. A missing key means no value.
#[derive(Debug, Clone, PartialEq)]
pub struct VaultPage {
    /// Memory that it is.
    pub id: Option<MemoryId>,
    /// Title.
    pub name: Option<String>,
    /// Line by which a reader decides whether it matters.
    pub description: Option<String>,
    /// Kind of statement.
    pub kind: Kind,
    /// Keywords.
    pub tags: Option<Vec<String>>,
    /// Importance from 0 to 1.
    pub importance: Option<f64>,
    /// Time at which it was said.
    pub created: Option<Timestamp>,
    /// Time of the last change, as its writer gives it.
    pub modified: Option<Timestamp>,
    /// Text, without the blanks around it.
    pub content: String,
}

impl VaultPage {
    /// Parses a file. The body may be cut off, if only the front matter matters.
    pub fn parse(text: &str) -> Result<Self> {
        let matter = FrontMatter::parse(text)?.ok_or_else(|| {
            Error::invalid(
                "it has no front matter",
                "begin it with ---, name, description, type, ---",
            )
        })?;
        let id = text_value(&matter, "id")?;
        Ok(Self {
            // An id of another program is no error.
            id: id.and_then(|id| id.parse().ok()),
            name: single_line_value(&matter, "name")?.filter(|name| !name.is_empty()),
            description: single_line_value(&matter, "description")?,
            kind: parse_kind(&matter)?,
            tags: parse_tags(&matter)?,
            importance: parse_importance(&matter)?,
            created: parse_time(&matter, "created"),
            modified: parse_time(&matter, "modified"),
            content: matter.body().trim().to_owned(),
        })
    }

    /// Parses the beginning of a file as a sync does, which skips files that other programs damaged.
    pub fn parse_head_strict(text: &str) -> Result<Self> {
        match encoding_problem(text) {
            Some(reason) => Err(Error::invalid(reason, "save it again in an editor")),
            None => Self::parse(text),
        }
    }

    /// Parses a whole file as a sync does: only a valid memory is one.
    pub fn parse_strict(text: &str) -> Result<Self> {
        let page = Self::parse_head_strict(text)?;
        if page.content.is_empty() {
            return Err(Error::invalid("it has no text", "write the text below the front matter"));
        }
        Ok(page)
    }

    /// Renders a new file for a memory.
    pub fn render(memory: &Memory) -> String {
        let head = "---\nname: x\n---\n";
        let changes = front_matter_values(memory, Some("created"));
        // The template is ours and any value can be written, so this cannot fail; a file without a head would be
        // noticed.
        let head = FrontMatter::parse(head)
            .ok()
            .flatten()
            .and_then(|head| head.with_values(&changes).ok());
        format!("{}\n{}\n", head.unwrap_or_default(), memory.content)
    }

    /// Returns the file with the memory's values: only lines of keys that differ change, and the body only if it
    /// differs.
    pub fn revise(text: &str, memory: &Memory) -> Result<String> {
        let page = Self::parse(text)?;
        let matter = FrontMatter::parse(text)?
            .ok_or_else(|| Error::invalid("it has no front matter", ""))?;
        let differs = |key: &str| match key {
            "name" => {
                !page.name.as_ref().is_some_and(|name| same_after_masking(name, &memory.name))
            }
            "description" => !same_after_masking(
                page.description.as_deref().unwrap_or_default(),
                &memory.description,
            ),
            "type" => page.kind != memory.kind,
            "id" => page.id.is_some_and(|id| id != memory.id),
            "tags" => {
                let tags = page.tags.as_deref().unwrap_or_default();
                let same = |(tag, stored): (&String, &String)| same_after_masking(tag, stored);
                tags.len() != memory.tags.len() || !tags.iter().zip(&memory.tags).all(same)
            }
            "importance" => page.importance.unwrap_or(DEFAULT_IMPORTANCE) != memory.importance,
            _ => false,
        };
        let mut changes = front_matter_values(memory, None);
        changes.retain(|(key, _)| differs(key));
        let same_body = same_after_masking(&page.content, memory.content.trim());
        if changes.is_empty() && same_body {
            return Ok(text.to_owned());
        }
        if matter.get("modified").is_some() {
            changes.push(("modified", Some(format_timestamp(memory.updated_at))));
        }
        let head = matter.with_values(&changes)?;
        let body = matter.body();
        if same_body {
            return Ok(head + body);
        }
        let start = body.len() - body.trim_start().len();
        let lead = if body.trim().is_empty() { "\n" } else { &body[..start] };
        let tail = Some(&body[body.trim_end().len()..])
            .filter(|tail| !tail.is_empty() && !body.trim().is_empty());
        Ok(format!("{head}{lead}{}{}", memory.content.trim(), tail.unwrap_or("\n")))
    }

    /// Returns `true` if its values equal the memory's, as far as it has any.
    pub fn matches_memory(&self, memory: &Memory) -> bool {
        fn same<T: PartialEq + ?Sized>(written: Option<&T>, stored: &T) -> bool {
            written.is_none_or(|written| written == stored)
        }
        self.content == memory.content.trim()
            && self.kind == memory.kind
            && same(self.name.as_deref(), memory.name.as_str())
            && same(self.description.as_deref(), memory.description.as_str())
            && same(self.tags.as_deref(), memory.tags.as_slice())
            && same(self.importance.as_ref(), &memory.importance)
    }

    /// Masks the secrets in it and returns their kinds.
    pub fn mask_secrets(&mut self) -> Vec<SecretKind> {
        let texts = [Some(&mut self.content), self.name.as_mut(), self.description.as_mut()];
        mask_all(texts.into_iter().flatten().chain(self.tags.iter_mut().flatten()))
    }

    /// Copies its values to a memory.
    pub fn apply_to(&self, memory: &mut Memory) {
        memory.content.clone_from(&self.content);
        memory.kind = self.kind;
        if let Some(name) = &self.name {
            memory.name.clone_from(name);
        }
        if let Some(description) = &self.description {
            memory.description.clone_from(description);
        }
        if let Some(tags) = &self.tags {
            memory.tags.clone_from(tags);
        }
        memory.importance = self.importance.unwrap_or(memory.importance);
        refresh_overview(memory);
    }
}

/// Returns `true` if a file has the stored text. A secret that the file has and the memory masks is no difference: the
/// file is its writer's, and the value could not be restored.
fn same_after_masking(written: &str, stored: &str) -> bool {
    written == stored || mask(written).0 == stored
}

/// Returns why a readable text is refused: its line ends or a byte order mark of other programs.
fn encoding_problem(text: &str) -> Option<&'static str> {
    if text.starts_with('\u{feff}') {
        return Some("it begins with a byte order mark; save it as UTF-8 without one");
    }
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    first.ends_with("\r\n").then_some("its lines end in CRLF; save it with LF")
}

/// Returns the keys of a memory with their values as YAML; empty ones are removed. `created` only for a new file.
fn front_matter_values(
    memory: &Memory,
    created: Option<&'static str>,
) -> Vec<(&'static str, Option<String>)> {
    let tags = (!memory.tags.is_empty()).then(|| yaml_list(&memory.tags));
    let importance = memory.importance != DEFAULT_IMPORTANCE;
    let mut values = vec![
        ("name", Some(yaml_scalar(&memory.name))),
        ("description", Some(yaml_scalar(&memory.description))),
        ("type", Some(memory.kind.to_string())),
        ("id", Some(memory.id.to_string())),
        ("tags", tags),
        ("importance", importance.then(|| memory.importance.to_string())),
    ];
    if let Some(created) = created {
        values.push((created, Some(format_timestamp(memory.at))));
        values.push(("modified", Some(format_timestamp(memory.updated_at))));
    }
    values
}

/// Formats a time to the second: what people read, and what git shows.
fn format_timestamp(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn text_value(matter: &FrontMatter<'_>, key: &str) -> Result<Option<String>> {
    match matter.get(key) {
        None | Some(YamlValue::Null) => Ok(None),
        Some(YamlValue::Text(text)) => Ok(Some(text.clone())),
        Some(_) => Err(Error::invalid(
            format!("`{key}` is not a text"),
            format!("write it on one line: {key}: …"),
        )),
    }
}

fn single_line_value(matter: &FrontMatter<'_>, key: &str) -> Result<Option<String>> {
    let text = text_value(matter, key)?;
    let line = text.map(|text| {
        let visible: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        visible.split_whitespace().collect::<Vec<_>>().join(" ")
    });
    if key == "name" && line.as_ref().is_some_and(|name| name.chars().count() > MAX_NAME_CHARS) {
        return Err(Error::invalid(
            format!("`name` is longer than {MAX_NAME_CHARS} characters"),
            "give a short title and put the rest into the text",
        ));
    }
    Ok(line)
}

fn parse_kind(matter: &FrontMatter<'_>) -> Result<Kind> {
    let hint = "write type: user, feedback, project or reference";
    let text = text_value(matter, "type")?.or_else(|| nested_type(matter));
    let text = text.ok_or_else(|| Error::invalid("it has no `type`", hint))?;
    match text.parse() {
        Ok(Kind::Turn) => Err(Error::invalid("turns of a conversation have no files", hint)),
        Ok(kind) if kind.is_record() => Err(Error::invalid(format!("a {kind} has no file"), hint)),
        Ok(kind) => Ok(kind),
        Err(_) => Err(Error::invalid(format!("`{text}` is not a type of memory"), hint)),
    }
}

/// Returns the type below `metadata`, where Claude Code writes it.
fn nested_type(matter: &FrontMatter<'_>) -> Option<String> {
    let pairs = parse_string_map(matter.yaml(), "metadata").ok()??;
    pairs.into_iter().find(|(key, _)| key == "type").map(|(_, value)| value)
}

fn parse_tags(matter: &FrontMatter<'_>) -> Result<Option<Vec<String>>> {
    let tags = match matter.get("tags") {
        None | Some(YamlValue::Null) => return Ok(None),
        Some(YamlValue::List(tags)) => tags.clone(),
        Some(YamlValue::Text(tag)) => tag.split(',').map(str::to_owned).collect(),
        Some(YamlValue::Other) => {
            return Err(Error::invalid("`tags` is not a list of words", "write tags: [one, two]"));
        }
    };
    let trimmed = tags.iter().map(|tag| tag.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut tags: Vec<String> = Vec::new();
    for tag in trimmed.filter(|tag| !tag.is_empty()) {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    if tags.len() > 64 || tags.iter().any(|tag| tag.chars().count() > 200) {
        return Err(Error::invalid("`tags` are too many or too long", "keep the most useful ones"));
    }
    Ok(Some(tags))
}

fn parse_importance(matter: &FrontMatter<'_>) -> Result<Option<f64>> {
    let Some(text) = text_value(matter, "importance")? else { return Ok(None) };
    match text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share)) {
        Some(share) => Ok(Some(share)),
        None => {
            Err(Error::invalid(format!("`importance` is `{text}`"), "importance goes from 0 to 1"))
        }
    }
}

/// Parses a time; one that cannot be parsed is another program's.
fn parse_time(matter: &FrontMatter<'_>, key: &str) -> Option<Timestamp> {
    let text = text_value(matter, key).ok().flatten()?;
    let day = |text: &str| {
        let day: jiff::civil::Date = text.parse().ok()?;
        Some(day.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    };
    text.parse().ok().or_else(|| day(&text)).map(crate::types::to_millisecond)
}

#[cfg(test)]
mod tests;
