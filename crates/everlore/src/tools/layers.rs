//! `memory_add`, `memory_replace`, `memory_remove` and `memory_read`: edit and read the layered files.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    Tool, ToolAnnotations, ToolContext, ToolResult, ToolSet, ToolSpec, input::parse_input,
};
use crate::{
    error::Result,
    files::layers::{Layer, LayerEdit, LayerText, SectionSize},
    text::sanitize::{sanitize_line, sanitize_verbatim},
};

/// `memory_add`: appends to a section.
pub(super) struct LayerAddTool;
/// `memory_replace`: replaces a text in a section.
pub(super) struct LayerReplaceTool;
/// `memory_remove`: removes a section.
pub(super) struct LayerRemoveTool;
/// `memory_read`: reads a file.
pub(super) struct LayerReadTool;

#[derive(Deserialize)]
struct LayerReadInput {
    file: Layer,
}

#[derive(Deserialize)]
struct LayerAddInput {
    file: Layer,
    section: String,
    content: String,
}

#[derive(Deserialize)]
struct LayerReplaceInput {
    file: Layer,
    section: String,
    old_text: String,
    new_text: String,
}

#[derive(Deserialize)]
struct LayerRemoveInput {
    file: Layer,
    section: String,
}

const ADD: &str = "\
Write something into one of your layered files, which are in your prompt from the next conversation on: append `content` to the \
section `section`, which is made if there is none.

Use it for what you need in nearly every conversation. Files: `soul` is who you are and how you behave (every user of yours gets it, \
and only the owner may be allowed to change it); `user` is who the user is; `memory` is your own notes on how to work here; \
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

fn file_schema() -> Value {
    json!({ "type": "string", "enum": Layer::ALL.map(Layer::as_str), "description": "soul: who you are; user: who the user is; memory: your notes; daily: today's log" })
}

/// Returns the schema of a text field.
fn string_schema(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn section_schema() -> Value {
    string_schema("The title of the section, without ##")
}

/// Returns the input schema: the file and a tool's own fields, all required.
fn input_schema(own: &[(&str, Value)]) -> Value {
    let mut properties = Map::from_iter([("file".to_owned(), file_schema())]);
    properties.extend(own.iter().map(|(field, schema)| ((*field).to_owned(), schema.clone())));
    let required: Vec<String> = properties.keys().cloned().collect();
    json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
}

/// Returns the output schema: the file in figures.
fn output_schema() -> Value {
    json!({
        "type": "object",
        "required": ["file", "chars", "budget", "sections"],
        "properties": {
            "file": file_schema(),
            "chars": { "type": "integer", "description": "The characters of the file" },
            "budget": { "type": "integer", "description": "Largest number of characters" },
            "sections": { "type": "array", "description": "Its sections, in their order", "items": {
                "type": "object",
                "required": ["title", "chars"],
                "properties": {
                    "title": string_schema("The title"),
                    "chars": { "type": "integer", "description": "The characters, heading included" }
                }
            } },
            "text": string_schema("Text of the file, if it was read")
        }
    })
}

/// Builds the spec of a layer tool from its name, texts and own fields.
fn layer_tool_spec(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    own: &[(&str, Value)],
    annotations: ToolAnnotations,
) -> ToolSpec {
    ToolSpec {
        description,
        input_schema: input_schema(own),
        output_schema: output_schema(),
        annotations,
        ..ToolSpec::new(ToolSet::Layers, name, title)
    }
}

#[async_trait]
impl Tool for LayerAddTool {
    fn spec(&self) -> ToolSpec {
        let own = [
            ("section", section_schema()),
            ("content", string_schema("Text to append, in markdown")),
        ];
        layer_tool_spec("memory_add", "Add to a layered file", ADD, &own, ToolAnnotations::CHANGES)
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolResult> {
        let LayerAddInput { file, section, content } = parse_input(input)?;
        let done = format!("Added to the section `{}`.", sanitize_line(&section));
        apply_edit(file, LayerEdit::Add { section, content }, &done, cx).await
    }
}

#[async_trait]
impl Tool for LayerReplaceTool {
    fn spec(&self) -> ToolSpec {
        let own = [
            ("section", section_schema()),
            ("old_text", string_schema("Exact text to replace")),
            ("new_text", string_schema("Text that replaces it")),
        ];
        layer_tool_spec(
            "memory_replace",
            "Change a layered file",
            REPLACE,
            &own,
            ToolAnnotations::CHANGES,
        )
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolResult> {
        let LayerReplaceInput { file, section, old_text: old, new_text: new } = parse_input(input)?;
        let done = format!("Replaced in the section `{}`.", sanitize_line(&section));
        apply_edit(file, LayerEdit::Replace { section, old, new }, &done, cx).await
    }
}

#[async_trait]
impl Tool for LayerRemoveTool {
    fn spec(&self) -> ToolSpec {
        let own = [("section", section_schema())];
        layer_tool_spec(
            "memory_remove",
            "Remove from a layered file",
            REMOVE,
            &own,
            ToolAnnotations::CHANGES,
        )
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolResult> {
        let LayerRemoveInput { file, section } = parse_input(input)?;
        let done = format!("Removed the section `{}`.", sanitize_line(&section));
        apply_edit(file, LayerEdit::Remove { section }, &done, cx).await
    }
}

#[async_trait]
impl Tool for LayerReadTool {
    fn spec(&self) -> ToolSpec {
        layer_tool_spec("memory_read", "Read a layered file", READ, &[], ToolAnnotations::READS)
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolResult> {
        let LayerReadInput { file } = parse_input(input)?;
        let layer = cx.engine.read_layer(cx.scope, file).await?;
        let content = match layer.text.trim() {
            "" => "It is empty.".to_owned(),
            text => sanitize_verbatim(text),
        };
        let mut structured = layer_json(&layer);
        structured["text"] = layer.text.as_str().into();
        Ok(ToolResult::new(format!("{}\n\n{content}", layer_summary(&layer)), structured))
    }
}

async fn apply_edit(
    file: Layer,
    edit: LayerEdit,
    done: &str,
    cx: &ToolContext<'_>,
) -> Result<ToolResult> {
    let changed = cx.engine.edit_layer(cx.scope, file, edit, cx.actor).await?;
    let done =
        if changed.change.is_some() { done } else { "Nothing changed: the text is already there." };
    let note = changed.note.map(|note| format!(" {note}.")).unwrap_or_default();
    let text = format!("{done}{note}\n{}", layer_summary(&changed.layer));
    Ok(ToolResult::new(text, layer_json(&changed.layer)))
}

/// Summarizes a file: its size and its sections.
fn layer_summary(layer: &LayerText) -> String {
    let usage = layer.usage;
    let percent = usage.chars * 100 / usage.budget.max(1);
    let section = |one: &SectionSize| format!("`{}` ({})", sanitize_line(&one.title), one.chars);
    let sections: Vec<String> = layer.sections.iter().map(section).collect();
    let sections = if sections.is_empty() {
        "no sections".to_owned()
    } else {
        format!("sections: {}", sections.join(", "))
    };
    format!(
        "`{}` has {} of {} characters ({percent}%); {sections}.",
        layer.layer.as_str(),
        usage.chars,
        usage.budget
    )
}

fn layer_json(layer: &LayerText) -> Value {
    json!({
        "file": layer.layer.as_str(),
        "chars": layer.usage.chars,
        "budget": layer.usage.budget,
        "sections": layer.sections,
    })
}
