//! One memory as a file: what the front matter and the body say, and the file anew with as few bytes changed as can be.

use crate::{
    error::{Error, Result},
    files::front_matter::{FrontMatter, Value, list, scalar},
    text::{
        secrets::{SecretKind, mask, mask_all},
        tiers::keep_overview,
    },
    types::{Kind, MAX_NAME_CHARS, Memory, MemoryId, Timestamp},
};

/// Where memories begin: not worth a line.
const USUAL_IMPORTANCE: f64 = 0.5;

/// What a file says. A key that is not there says nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Which memory it is.
    pub id: Option<MemoryId>,
    /// Its title.
    pub name: Option<String>,
    /// The line that tells whether it matters.
    pub description: Option<String>,
    /// What sort of statement it is.
    pub kind: Kind,
    /// Keywords.
    pub tags: Option<Vec<String>>,
    /// How much it matters, from 0 to 1.
    pub importance: Option<f64>,
    /// When it was said.
    pub created: Option<Timestamp>,
    /// When it was last changed, by whoever wrote it.
    pub modified: Option<Timestamp>,
    /// The text, without the blanks around it.
    pub content: String,
}

impl Page {
    /// Reads a file. The body may be cut off, if only the front matter matters.
    pub fn parse(text: &str) -> Result<Self> {
        let matter = FrontMatter::parse(text)?.ok_or_else(|| {
            Error::invalid(
                "it has no front matter",
                "begin it with ---, name, description, type, ---",
            )
        })?;
        let id = text_of(&matter, "id")?;
        Ok(Self {
            // A foreign id is foreign, not wrong.
            id: id.and_then(|id| id.parse().ok()),
            name: one_line_of(&matter, "name")?.filter(|name| !name.is_empty()),
            description: one_line_of(&matter, "description")?,
            kind: kind_of(&matter)?,
            tags: tags_of(&matter)?,
            importance: importance_of(&matter)?,
            created: time_of(&matter, "created"),
            modified: time_of(&matter, "modified"),
            content: matter.body().trim().to_owned(),
        })
    }

    /// Reads the beginning of a file as a sync does, which leaves out what other programs spoiled.
    pub fn headed(text: &str) -> Result<Self> {
        match crlf_or_bom(text) {
            Some(reason) => Err(Error::invalid(reason, "save it again in an editor")),
            None => Self::parse(text),
        }
    }

    /// Reads a whole file as a sync does: only what can be a memory is one.
    pub fn taken(text: &str) -> Result<Self> {
        let page = Self::headed(text)?;
        if page.content.is_empty() {
            return Err(Error::invalid("it has no text", "write the text below the front matter"));
        }
        Ok(page)
    }

    /// A new file for a memory.
    pub fn render(memory: &Memory) -> String {
        let head = "---\nname: x\n---\n";
        let changes = said(memory, Some("created"));
        // The template is ours and any value can be written, so this cannot fail; a file without a head would be seen.
        let head =
            FrontMatter::parse(head).ok().flatten().and_then(|head| head.with(&changes).ok());
        format!("{}\n{}\n", head.unwrap_or_default(), memory.content)
    }

    /// The file with what the memory says: only lines of keys that differ change, and the body only if it differs.
    pub fn revise(text: &str, memory: &Memory) -> Result<String> {
        let page = Self::parse(text)?;
        let matter = FrontMatter::parse(text)?
            .ok_or_else(|| Error::invalid("it has no front matter", ""))?;
        let differs = |key: &str| match key {
            "name" => !page.name.as_ref().is_some_and(|name| tells(name, &memory.name)),
            "description" => {
                !tells(page.description.as_deref().unwrap_or_default(), &memory.description)
            }
            "type" => page.kind != memory.kind,
            "id" => page.id.is_some_and(|id| id != memory.id),
            "tags" => {
                let tags = page.tags.as_deref().unwrap_or_default();
                let same = |(tag, stored): (&String, &String)| tells(tag, stored);
                tags.len() != memory.tags.len() || !tags.iter().zip(&memory.tags).all(same)
            }
            "importance" => page.importance.unwrap_or(USUAL_IMPORTANCE) != memory.importance,
            _ => false,
        };
        let mut changes = said(memory, None);
        changes.retain(|(key, _)| differs(key));
        let same_body = tells(&page.content, memory.content.trim());
        if changes.is_empty() && same_body {
            return Ok(text.to_owned());
        }
        if matter.get("modified").is_some() {
            changes.push(("modified", Some(written_time(memory.updated_at))));
        }
        let head = matter.with(&changes)?;
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

    /// Whether it says what the memory says, as far as it says anything.
    pub fn agrees(&self, memory: &Memory) -> bool {
        fn same<T: PartialEq + ?Sized>(said: Option<&T>, stored: &T) -> bool {
            said.is_none_or(|said| said == stored)
        }
        self.content == memory.content.trim()
            && self.kind == memory.kind
            && same(self.name.as_deref(), memory.name.as_str())
            && same(self.description.as_deref(), memory.description.as_str())
            && same(self.tags.as_deref(), memory.tags.as_slice())
            && same(self.importance.as_ref(), &memory.importance)
    }

    /// Masks the secrets in it and says what they were.
    pub fn mask_secrets(&mut self) -> Vec<SecretKind> {
        let texts = [Some(&mut self.content), self.name.as_mut(), self.description.as_mut()];
        mask_all(texts.into_iter().flatten().chain(self.tags.iter_mut().flatten()))
    }

    /// Lets a memory say what the file says.
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
        keep_overview(memory);
    }
}

/// Whether a file tells what is stored. A secret that the file has and the memory masks is no difference: the file is its
/// writer's, and the value could not be brought back.
fn tells(written: &str, stored: &str) -> bool {
    written == stored || mask(written).0 == stored
}

/// Why a text cannot be taken as it is, though it may be read: its line ends or a mark that other programs put there.
fn crlf_or_bom(text: &str) -> Option<&'static str> {
    if text.starts_with('\u{feff}') {
        return Some("it begins with a byte order mark; save it as UTF-8 without one");
    }
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    first.ends_with("\r\n").then_some("its lines end in CRLF; save it with LF")
}

/// The keys of a memory with their values as YAML; empty ones are taken out. `created` only where a file begins.
fn said(memory: &Memory, created: Option<&'static str>) -> Vec<(&'static str, Option<String>)> {
    let tags = (!memory.tags.is_empty()).then(|| list(&memory.tags));
    let importance = memory.importance != USUAL_IMPORTANCE;
    let mut said = vec![
        ("name", Some(scalar(&memory.name))),
        ("description", Some(scalar(&memory.description))),
        ("type", Some(memory.kind.to_string())),
        ("id", Some(memory.id.to_string())),
        ("tags", tags),
        ("importance", importance.then(|| memory.importance.to_string())),
    ];
    if let Some(created) = created {
        said.push((created, Some(written_time(memory.at))));
        said.push(("modified", Some(written_time(memory.updated_at))));
    }
    said
}

/// To the second: what people read, and what git shows.
fn written_time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn text_of(matter: &FrontMatter<'_>, key: &str) -> Result<Option<String>> {
    match matter.get(key) {
        None | Some(Value::Nothing) => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text.clone())),
        Some(_) => Err(Error::invalid(
            format!("`{key}` is not a text"),
            format!("write it on one line: {key}: …"),
        )),
    }
}

fn one_line_of(matter: &FrontMatter<'_>, key: &str) -> Result<Option<String>> {
    let text = text_of(matter, key)?;
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

fn kind_of(matter: &FrontMatter<'_>) -> Result<Kind> {
    let hint = "write type: user, feedback, project or reference";
    let text = text_of(matter, "type")?.ok_or_else(|| Error::invalid("it has no `type`", hint))?;
    match text.parse() {
        Ok(Kind::Turn) => {
            Err(Error::invalid("turns of a conversation are not kept in files", hint))
        }
        Ok(kind) => Ok(kind),
        Err(_) => Err(Error::invalid(format!("`{text}` is no type of memory"), hint)),
    }
}

fn tags_of(matter: &FrontMatter<'_>) -> Result<Option<Vec<String>>> {
    let tags = match matter.get("tags") {
        None | Some(Value::Nothing) => return Ok(None),
        Some(Value::List(tags)) => tags.clone(),
        Some(Value::Text(tag)) => tag.split(',').map(str::to_owned).collect(),
        Some(Value::Other) => {
            return Err(Error::invalid("`tags` is not a list of words", "write tags: [one, two]"));
        }
    };
    let trimmed = tags.iter().map(|tag| tag.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut kept: Vec<String> = Vec::new();
    for tag in trimmed.filter(|tag| !tag.is_empty()) {
        if !kept.contains(&tag) {
            kept.push(tag);
        }
    }
    if kept.len() > 64 || kept.iter().any(|tag| tag.chars().count() > 200) {
        return Err(Error::invalid("`tags` are too many or too long", "keep the telling ones"));
    }
    Ok(Some(kept))
}

fn importance_of(matter: &FrontMatter<'_>) -> Result<Option<f64>> {
    let Some(text) = text_of(matter, "importance")? else { return Ok(None) };
    match text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share)) {
        Some(share) => Ok(Some(share)),
        None => {
            Err(Error::invalid(format!("`importance` is `{text}`"), "importance goes from 0 to 1"))
        }
    }
}

/// A time that cannot be read is a foreign one.
fn time_of(matter: &FrontMatter<'_>, key: &str) -> Option<Timestamp> {
    let text = text_of(matter, key).ok().flatten()?;
    let day = |text: &str| {
        let day: jiff::civil::Date = text.parse().ok()?;
        Some(day.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    };
    text.parse().ok().or_else(|| day(&text)).map(crate::types::to_millisecond)
}

#[cfg(test)]
mod tests;
