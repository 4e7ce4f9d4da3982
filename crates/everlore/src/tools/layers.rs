//! `memory_add`, `memory_replace`, `memory_remove` and `memory_read`: an agent edits its layered files (F6).

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Annotations, Spec, Tool, ToolAnswer, ToolContext, ToolSet, input::typed};
use crate::{
    error::Result,
    files::layers::{Layer, LayerEdit, LayerText},
};

/// Appends to a section.
pub(super) struct Add;
/// Replaces a text in a section.
pub(super) struct Replace;
/// Removes a section.
pub(super) struct Remove;
/// Reads a file.
pub(super) struct Read;

#[derive(Deserialize)]
struct Place {
    file: Layer,
}

#[derive(Deserialize)]
struct AddInput {
    file: Layer,
    section: String,
    content: String,
}

#[derive(Deserialize)]
struct ReplaceInput {
    file: Layer,
    section: String,
    old_text: String,
    new_text: String,
}

#[derive(Deserialize)]
struct RemoveInput {
    file: Layer,
    section: String,
}

const ADD: &str = "\
Write something into one of your layered files, which are in your prompt from the next conversation on: append `content` to the \
section `section`, which is made if there is none.

Use it for what you need in nearly every conversation. Files: `soul` is who you are and how you behave; `user` is who the user is; `memory` is your own notes on how to work here; \
`daily` is today's log. Each has a small budget of characters, because all of it is in every prompt: write \
short lines. Do not use it for single facts or for what matters only sometimes; memory_save is for those.

A text that does not fit is refused; the answer says how much room there is and which sections are the largest. Then shorten \
with memory_replace or remove with memory_remove.";

const REPLACE: &str = "\
Change a text in one of your layered files: `old_text` in the section `section` becomes `new_text`.

Use it when something in your prompt's files is wrong, out of date or too long. `old_text` must stand in the section exactly \
once, character by character; read the file with memory_read first if you are not sure. An empty `new_text` removes it. Do not \
use it to add something: memory_add does that.";

const REMOVE: &str = "\
Remove a whole section, its heading included, from one of your layered files.

Use it when nothing in the section is worth its place in every prompt. Do not use it to remove a part of a section: \
memory_replace does that.";

const READ: &str = "\
Read one of your layered files as it is now, with how much of its budget it takes.

Use it before you change a file, and when it may have changed since this conversation began. Do not use it otherwise: the \
files are in your prompt already.";

fn file() -> Value {
    json!({ "type": "string", "enum": Layer::ALL.map(Layer::as_str), "description": "soul: who you are; user: who the user is; memory: your notes; daily: today's log" })
}

/// A field of the input that is a text.
fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn section() -> Value {
    text("The title of the section, without ##")
}

/// What goes in: the file, and a tool's own fields, all of which it needs.
fn input(own: &[(&str, Value)]) -> Value {
    let mut properties = Map::from_iter([("file".to_owned(), file())]);
    properties.extend(own.iter().map(|(field, schema)| ((*field).to_owned(), schema.clone())));
    let required: Vec<String> = properties.keys().cloned().collect();
    json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
}

/// What comes out: the file in figures.
fn output() -> Value {
    json!({
        "type": "object",
        "required": ["file", "chars", "budget", "sections"],
        "properties": {
            "file": file(),
            "chars": { "type": "integer", "description": "The characters of the file" },
            "budget": { "type": "integer", "description": "The most it may have" },
            "sections": { "type": "array", "description": "Its sections, in their order", "items": {
                "type": "object",
                "required": ["title", "chars"],
                "properties": {
                    "title": text("The title"),
                    "chars": { "type": "integer", "description": "The characters, heading included" }
                }
            } },
            "text": text("What the file says, if it was read")
        }
    })
}

/// What every tool of layers is; each adds its name, its words and its fields.
fn spec(
    (name, title): (&'static str, &'static str),
    description: &'static str,
    own: &[(&str, Value)],
    annotations: Annotations,
) -> Spec {
    Spec {
        name,
        title,
        description,
        set: ToolSet::Layers,
        input_schema: input(own),
        output_schema: output(),
        annotations,
        aliases: &[],
    }
}

#[async_trait]
impl Tool for Add {
    fn spec(&self) -> Spec {
        let own = [("section", section()), ("content", text("What to append, in markdown"))];
        spec(("memory_add", "Add to a layered file"), ADD, &own, Annotations::CHANGES)
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolAnswer> {
        let AddInput { file, section, content } = typed(input)?;
        let done = format!("Added to the section `{section}`.");
        edit(file, LayerEdit::Add { section, content }, &done, cx).await
    }
}

#[async_trait]
impl Tool for Replace {
    fn spec(&self) -> Spec {
        let own = [
            ("section", section()),
            ("old_text", text("The text to replace, exactly as it stands there")),
            ("new_text", text("What takes its place")),
        ];
        spec(("memory_replace", "Change a layered file"), REPLACE, &own, Annotations::CHANGES)
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolAnswer> {
        let ReplaceInput { file, section, old_text: old, new_text: new } = typed(input)?;
        let done = format!("Replaced in the section `{section}`.");
        edit(file, LayerEdit::Replace { section, old, new }, &done, cx).await
    }
}

#[async_trait]
impl Tool for Remove {
    fn spec(&self) -> Spec {
        let own = [("section", section())];
        spec(("memory_remove", "Remove from a layered file"), REMOVE, &own, Annotations::CHANGES)
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolAnswer> {
        let RemoveInput { file, section } = typed(input)?;
        let done = format!("Removed the section `{section}`.");
        edit(file, LayerEdit::Remove { section }, &done, cx).await
    }
}

#[async_trait]
impl Tool for Read {
    fn spec(&self) -> Spec {
        spec(("memory_read", "Read a layered file"), READ, &[], Annotations::READS)
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolAnswer> {
        let Place { file } = typed(input)?;
        let layer = cx.engine.read_layer(cx.scope, file).await?;
        let said = match layer.text.trim() {
            "" => "It is empty.".to_owned(),
            text => text.to_owned(),
        };
        let mut structured = figures(&layer);
        structured["text"] = layer.text.as_str().into();
        Ok(ToolAnswer::new(format!("{}\n\n{said}", digest(&layer)), structured))
    }
}

async fn edit(
    file: Layer,
    edit: LayerEdit,
    done: &str,
    cx: &ToolContext<'_>,
) -> Result<ToolAnswer> {
    let changed = cx.engine.edit_layer(cx.scope, file, edit, cx.actor).await?;
    let done = if changed.change.is_some() { done } else { "Nothing changed: it says so already." };
    let note = changed.note.map(|note| format!(" {note}.")).unwrap_or_default();
    let text = format!("{done}{note}\n{}", digest(&changed.layer));
    Ok(ToolAnswer::new(text, figures(&changed.layer)))
}

/// A file in a few lines: how full it is and what its sections are.
fn digest(layer: &LayerText) -> String {
    let usage = layer.usage;
    let percent = usage.chars * 100 / usage.budget.max(1);
    let sections: Vec<String> =
        layer.sections.iter().map(|one| format!("`{}` ({})", one.title, one.chars)).collect();
    let sections = match sections.is_empty() {
        true => "no sections".to_owned(),
        false => format!("sections: {}", sections.join(", ")),
    };
    format!(
        "`{}` has {} of {} characters ({percent}%); {sections}.",
        layer.layer.as_str(),
        usage.chars,
        usage.budget
    )
}

fn figures(layer: &LayerText) -> Value {
    json!({
        "file": layer.layer.as_str(),
        "chars": layer.usage.chars,
        "budget": layer.usage.budget,
        "sections": layer.sections,
    })
}
