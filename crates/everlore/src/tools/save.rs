//! `memory_save`: creates, updates or deletes a memory.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    Tool, ToolAnnotations, ToolContext, ToolResult, ToolSet, ToolSpec,
    check::check_schema,
    input::{invalid_input, missing_field, parse_input},
};
use crate::{
    error::{Error, Result},
    ingest::{
        DoubtedMemory, MemoryEdit, RememberRequest, SavedMemory, SupersededMemory, agent_note,
    },
    text::sanitize::sanitize_line,
    types::{Kind, Memory, MemoryId, NewCheck},
};

/// `memory_save`.
pub(super) struct MemorySaveTool;

#[derive(Deserialize)]
struct SaveInput {
    #[serde(default)]
    action: SaveAction,
    name: Option<String>,
    #[serde(rename = "type")]
    kind: Option<Kind>,
    content: Option<String>,
    description: Option<String>,
    speaker: Option<String>,
    id: Option<String>,
    check: Option<NewCheck>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SaveAction {
    #[default]
    Create,
    Update,
    Delete,
}

const DESCRIPTION: &str = "\
Save something to long-term memory. It is there in every later conversation with this user.

Use it when you learn something that will still matter then: who the user is and what they prefer (type user), how they want \
you to work, corrections included (feedback), goals, decisions and constraints of their work that no file tells (project), \
where something is to be found (reference). Use it at once when the user asks you to remember or to forget something.

Do not save what is only true for this conversation, what the code or the documents at hand already tell, guesses, or \
secrets such as passwords and keys. Say one thing per memory, in whole sentences that are clear without this conversation, \
with real dates instead of \"tomorrow\".

content is needed; type, name and description help to find it again. The same text is not stored twice. If a fact has \
changed, update the memory that says it (memory_recall finds its id) instead of adding another; what cannot hold beside \
the new text is superseded by itself, and the answer names it: tell the user.

If it stands or falls with a file, or only holds for a time, say so with check: recall then tells whether it still holds.

action is create if left out. action update (id and what changes) is what memory_update does, action delete (id) what \
memory_forget does; the user can undo both.";

#[async_trait]
impl Tool for MemorySaveTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: DESCRIPTION,
            input_schema: json!({
                "type": "object",
                "additionalProperties": false,
                "required": [],
                "properties": {
                    "action": { "type": "string", "enum": ["create", "update", "delete"], "default": "create", "description": "Action; create if left out" },
                    "content": { "type": "string", "description": "The text to remember, in whole sentences; for feedback and project: the rule or fact, then why, then how to apply it" },
                    "type": { "type": "string", "enum": ["user", "feedback", "project", "reference"], "description": "Type: user (who the user is), feedback (how to work), project (current work), reference (where to find something); judged by the text if left out" },
                    "name": { "type": "string", "description": "A short title; the beginning of the text if left out" },
                    "description": { "type": "string", "description": "One line that says when this memory is relevant" },
                    "speaker": { "type": "string", "description": "Name of the person who said it, if it is not the user" },
                    "id": { "type": "string", "description": "The memory to update or delete: its id, a unique beginning of it, or its uri" },
                    "check": check_schema()
                }
            }),
            output_schema: change_output_schema(),
            annotations: ToolAnnotations::CHANGES,
            aliases: &[("type", "preference", "user"), ("type", "fact", "knowledge")],
            ..ToolSpec::new(ToolSet::Core, "memory_save", "Save to memory")
        }
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolResult> {
        let input: SaveInput = parse_input(input)?;
        match input.action {
            SaveAction::Create => self.create(input, cx).await,
            SaveAction::Update => self.update(input, cx).await,
            SaveAction::Delete => self.delete(input, cx).await,
        }
    }
}

impl MemorySaveTool {
    async fn create(&self, input: SaveInput, cx: &ToolContext<'_>) -> Result<ToolResult> {
        if input.id.is_some() {
            return Err(invalid_input(
                &self.spec(),
                "the field `id` is not for create, which gives a new one; to change a memory use the action update",
            ));
        }
        let content = input.content.filter(|content| !content.trim().is_empty());
        let Some(content) = content else {
            return Err(missing_field(&self.spec(), "content", " for the action create"));
        };
        let request = RememberRequest {
            content,
            kind: input.kind,
            name: input.name,
            description: input.description.unwrap_or_default(),
            session: cx.session.map(str::to_owned),
            speaker: input.speaker,
            check: input.check.map(|check| cx.check_permission.permit(check)).transpose()?,
            ..RememberRequest::default()
        };
        let engine = cx.engine_for("memory_save: create");
        let saved = engine.remember(cx.scope, request).await?;
        let memory = engine.get(cx.scope, saved.id).await?;
        let result = if saved.receipt.known {
            change_result("known", "This was already known; it counts as fresh now", &memory)
        } else {
            change_result("created", "Saved", &memory)
        };
        Ok(with_superseded(result, &saved))
    }

    async fn update(&self, input: SaveInput, cx: &ToolContext<'_>) -> Result<ToolResult> {
        let Some(id) = input.id.as_deref().filter(|id| !id.trim().is_empty()) else {
            return Err(missing_field(&self.spec(), "id", " for the action update"));
        };
        let edit = MemoryEdit {
            content: input.content,
            name: input.name,
            description: input.description,
            kind: input.kind,
            check: input.check.map(|check| cx.check_permission.permit(check)).transpose()?,
            ..MemoryEdit::default()
        };
        update_memory(&self.spec(), id, &edit, "memory_save: update", cx).await
    }

    async fn delete(&self, input: SaveInput, cx: &ToolContext<'_>) -> Result<ToolResult> {
        match input.id.as_deref().filter(|id| !id.trim().is_empty()) {
            Some(id) => delete_memory(id, "memory_save: delete", cx).await,
            None => Err(missing_field(&self.spec(), "id", " for the action delete")),
        }
    }
}

/// Applies an edit to a memory.
pub(super) async fn update_memory(
    spec: &ToolSpec,
    id: &str,
    edit: &MemoryEdit,
    reason: &str,
    cx: &ToolContext<'_>,
) -> Result<ToolResult> {
    let id = resolve_changeable(id, cx).await?;
    if *edit == MemoryEdit::default() {
        return Err(invalid_input(
            spec,
            "nothing to change is given: add content, name, type, description or check",
        ));
    }
    if edit.content.as_ref().is_some_and(|content| content.trim().is_empty()) {
        return Err(invalid_input(
            spec,
            "the field `content` is blank; to remove the memory use memory_forget",
        ));
    }
    let memory = cx.engine_for(reason).edit(cx.scope, id, edit).await?;
    Ok(change_result("updated", "Updated", &memory))
}

/// Deletes a memory; the journal keeps its content.
pub(super) async fn delete_memory(
    id: &str,
    reason: &str,
    cx: &ToolContext<'_>,
) -> Result<ToolResult> {
    let id = resolve_changeable(id, cx).await?;
    let memory = cx.engine.get(cx.scope, id).await?;
    let receipt = cx.engine_for(reason).delete_many(cx.scope, &[id]).await?;
    let mut result = change_result("deleted", "Deleted", &memory);
    let remains: Vec<String> = receipt.remaining_turns.iter().map(remaining_turn).collect();
    if !remains.is_empty() {
        result.text += &format!("\n{}", remains.join("\n"));
        result.structured["remains"] = json!(remains);
    }
    Ok(result)
}

fn remaining_turn(turn: &MemoryId) -> String {
    format!("the turn {turn} may still tell it, since other memories come from that turn")
}

/// Resolves a memory that a tool may change.
async fn resolve_changeable(name: &str, cx: &ToolContext<'_>) -> Result<MemoryId> {
    let id = cx.engine.resolve(cx.scope, name).await?;
    let memory = cx.engine.get(cx.scope, id).await?;
    if memory.kind == Kind::Turn {
        return Err(Error::invalid(
            "this is a verbatim turn of a conversation, which cannot be changed",
            "save the fact as a separate memory, with the action create",
        ));
    }
    match agent_note(&memory) {
        Some(note) => Err(Error::invalid(
            format!("this memory is the file {}", note.file),
            "change it with the tool `memory`",
        )),
        None => Ok(id),
    }
}

/// Returns the output schema of the tools that change a memory.
pub(super) fn change_output_schema() -> Value {
    json!({
        "type": "object",
        "required": ["action", "id", "uri", "type", "name"],
        "properties": {
            "action": { "type": "string", "enum": ["created", "known", "updated", "deleted"], "description": "Action that was taken; known if the same text was stored before" },
            "id": { "type": "string", "description": "The memory's id" },
            "uri": { "type": "string", "description": "Its uri" },
            "type": { "type": "string", "description": "Its type" },
            "name": { "type": "string", "description": "Its title" },
            "superseded": {
                "type": "array",
                "description": "Older memories that it took the place of",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": { "type": "string", "description": "The older memory" },
                        "content": { "type": "string", "description": "Its text" }
                    }
                }
            },
            "may_replace": {
                "type": "object",
                "description": "Older memory that it may take the place of: both stand until one is deleted",
                "properties": {
                    "id": { "type": "string", "description": "The older memory" },
                    "content": { "type": "string", "description": "Its text" }
                }
            },
            "remains": {
                "type": "array",
                "items": { "type": "string" },
                "description": "Turns that may still tell what was deleted"
            },
            "undo": { "type": "string", "description": "The command by which the user undoes all of it" }
        }
    })
}

/// Adds what a save superseded, and how the user undoes it, or what it may replace.
pub(in crate::tools) fn with_superseded(mut result: ToolResult, saved: &SavedMemory) -> ToolResult {
    if let Some(DoubtedMemory { id, content }) = &saved.may_replace {
        result.text += &format!(
            "\nIt may replace: {} (id {id}). If that no longer holds, delete it.",
            sanitize_line(content)
        );
        result.structured["may_replace"] = json!({ "id": id, "content": content });
    }
    let Some(undo) = &saved.undo else { return result };
    let undo = format!("everlore memory undo --run {}", undo.run);
    for SupersededMemory { id, content, .. } in &saved.superseded {
        let content = sanitize_line(content);
        result.text += &format!("\nIt supersedes: {content} (id {id})");
    }
    result.text += &format!("\nIf that is wrong, the user can undo it with: {undo}");
    let older = saved.superseded.iter();
    let older: Vec<Value> = older.map(|it| json!({ "id": it.id, "content": it.content })).collect();
    result.structured["superseded"] = older.into();
    result.structured["undo"] = undo.into();
    result
}

pub(super) fn change_result(action: &str, outcome: &str, memory: &Memory) -> ToolResult {
    let Memory { id, uri, kind, name, .. } = memory;
    let name = sanitize_line(name);
    ToolResult::new(
        format!("{outcome}: [{kind}] {name} (id {id})"),
        json!({ "action": action, "id": id, "uri": uri, "type": kind, "name": name }),
    )
}
