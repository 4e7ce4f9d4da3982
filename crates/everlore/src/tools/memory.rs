//! `memory`: the memory folder tool that Claude models are trained on (Anthropic's `memory_20250818`).

use async_trait::async_trait;
use serde_json::{Map, Value, json};

mod folder_command;

use self::folder_command::{FolderCommandContext, changed_notes, changed_pages};
use super::{
    Tool, ToolAnnotations, ToolContext, ToolResult, ToolSet, ToolSpec,
    input::{invalid_input, missing_field, parse_input},
};
use crate::{
    error::{Error, Result},
    files::memory_folder::MemoryToolCommand,
    text::secrets::{describe_kinds, find_secrets},
};

/// `memory`.
pub(super) struct MemoryFolderTool;

/// Fields of each command: the required, then the optional ones.
const COMMANDS: [(&str, &[&str], &[&str]); 6] = [
    ("view", &["path"], &["view_range"]),
    ("create", &["path", "file_text"], &[]),
    ("str_replace", &["path", "old_str"], &["new_str"]),
    ("insert", &["path", "insert_line", "insert_text"], &[]),
    ("delete", &["path"], &[]),
    ("rename", &["old_path", "new_path"], &[]),
];

const DESCRIPTION: &str = "\
Keep files of your own in /memories, which last from one conversation to the next.

Use it at the start of a task to view /memories and what in it matters, while you work to note progress, findings and \
decisions that you would need if the conversation were cut here, and at the end to bring the notes up to date. Keep few files, \
each about one thing, and up to date: rename or delete what is no longer needed.

Do not use it for facts about the user that should be found by searching (memory_save is for those), for copies of files that \
are elsewhere, or for secrets.

command view: path; for a file also view_range [first, last], -1 for the end. Shows a directory two levels deep, or a file with \
line numbers.
command create: path, file_text. Fails if the file exists.
command str_replace: path, old_str, new_str. old_str must stand in the file exactly once.
command insert: path, insert_line (0 for the beginning), insert_text.
command delete: path. Directories with all that is in them.
command rename: old_path, new_path. Fails if new_path exists.

What the user should be remembered by is there too, a file a memory: name_of_it.md, which begins with ---, name, description, \
type (user, feedback, project or reference), ---. Such a file that you create, change or delete is a memory that is stored, \
changed or deleted; MEMORY.md lists them and follows by itself. Any other file is a note of your own.

Paths begin with /memories. Every change is kept in a journal, from which the user can bring it back.";

#[async_trait]
impl Tool for MemoryFolderTool {
    fn spec(&self) -> ToolSpec {
        let commands = COMMANDS.map(|(name, ..)| name);
        ToolSpec {
            description: DESCRIPTION,
            input_schema: json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["command"],
                "properties": {
                    "command": { "type": "string", "enum": commands, "description": "Command to run" },
                    "path": { "type": "string", "description": "The file or directory, from /memories; for every command but rename" },
                    "view_range": { "type": "array", "items": { "type": "integer" }, "minItems": 2, "maxItems": 2, "description": "For view: the first and the last line to show, -1 for the end" },
                    "file_text": { "type": "string", "description": "For create: the text of the file" },
                    "old_str": { "type": "string", "description": "For str_replace: the text to replace, verbatim; it must stand in the file once" },
                    "new_str": { "type": "string", "description": "For str_replace: the text that replaces it; empty if left out" },
                    "insert_line": { "type": "integer", "description": "For insert: the line after which to insert, 0 for the beginning" },
                    "insert_text": { "type": "string", "description": "For insert: the lines to insert" },
                    "old_path": { "type": "string", "description": "For rename: the current path" },
                    "new_path": { "type": "string", "description": "For rename: the new path" }
                }
            }),
            output_schema: json!({
                "type": "object",
                "required": ["command", "text"],
                "properties": {
                    "command": { "type": "string", "enum": commands, "description": "Command that ran" },
                    "text": { "type": "string", "description": "Answer as text" }
                }
            }),
            annotations: ToolAnnotations::CHANGES,
            ..ToolSpec::new(ToolSet::Anthropic, "memory", "Memory directory")
        }
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolResult> {
        let name = input.get("command").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.check_fields(&name, &input)?;
        let mut command: MemoryToolCommand = parse_input(input)?;
        let masked = mask_secrets(&mut command, cx)?;
        let folder = FolderCommandContext::new(cx, &name)?;
        let prepared = folder.prepare_synced(&command).await?;
        let pages = changed_pages(prepared.changes());
        folder
            .engine
            .record_notes(cx.scope, &changed_notes(prepared.changes()), cx.session)
            .await?;
        let answer = prepared.commit()?;
        if answer.is_error {
            return Ok(ToolResult::error(answer.text));
        }
        let text = answer.text + &masked + &folder.store_pages(&pages).await;
        let structured = json!({ "command": name, "text": text });
        Ok(ToolResult::new(text, structured))
    }
}

impl MemoryFolderTool {
    /// Checks the fields of one command, which the schema of all commands cannot express.
    fn check_fields(&self, command: &str, input: &Map<String, Value>) -> Result<()> {
        let (_, required, optional) =
            COMMANDS.iter().find(|(name, ..)| *name == command).unwrap_or(&("", &[], &[]));
        if let Some(field) = required.iter().find(|field| !input.contains_key(**field)) {
            return Err(missing_field(&self.spec(), field, &format!(" for the command {command}")));
        }
        let is_known = |field: &str| {
            field == "command" || required.contains(&field) || optional.contains(&field)
        };
        match input.keys().find(|field| !is_known(field)) {
            Some(field) => {
                let fields = [*required, *optional].concat().join(", ");
                let message = format!(
                    "the field `{field}` is not for the command {command}, which takes {fields}"
                );
                Err(invalid_input(&self.spec(), message))
            }
            None => Ok(()),
        }
    }
}

/// Masks the secrets that a command would write, by the settings, and returns a note about them.
fn mask_secrets(command: &mut MemoryToolCommand, cx: &ToolContext<'_>) -> Result<String> {
    if !cx.engine.settings(cx.scope.agent()).memory.mask_secrets {
        return Ok(String::new());
    }
    if command.new_path().is_some_and(|path| !find_secrets(path).is_empty()) {
        return Err(Error::invalid(
            "the path contains a secret, which is never stored",
            "use a name without it",
        ));
    }
    let masked = command.mask_secrets();
    if masked.is_empty() {
        return Ok(String::new());
    }
    Ok(format!("\n\nNote: masked {}: the value was not written.", describe_kinds(&masked)))
}
