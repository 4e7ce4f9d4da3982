//! `everlore fs add` and `rm`: the writing commands.

use std::path::PathBuf;

use clap::Args;
use everlore::engine::fs::{FsAddRequest, FsRemoveRequest};
use serde_json::{Map, Value};

use crate::{
    CliContext, CliError, Exit, Output, Result,
    commands::remember::{parse_json_object, print_superseded},
    input,
    render::{masked_note, pluralize, sanitize_for_agent},
};
use everlore::internal::files::regular_file;

/// Largest file that is read: a document of this size takes minutes to index.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Save a text as a memory, or a file as a document
///
/// KIND/CATEGORY (user/food) stores a memory, resources/PATH a document, which is split into chunks. The short forms l0
/// and l1 are built at once.
#[derive(Debug, Args)]
pub(crate) struct FsAddArgs {
    /// Target: KIND, KIND/CATEGORY, KIND/CATEGORY/TITLE, or resources/PATH
    uri: String,
    /// The text; without it, or with `-`, it is read from standard input
    text: Vec<String>,
    /// Read this file instead; its name is appended to a URI that ends with a slash
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    file: Option<PathBuf>,
    /// A title for a memory
    #[arg(long, value_name = "TITLE")]
    name: Option<String>,
    /// A keyword; may be repeated
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Free data of yours for a memory, as a JSON object
    #[arg(long, value_name = "JSON", value_parser = parse_json_object)]
    metadata: Option<Map<String, Value>>,
}

impl FsAddArgs {
    /// Stores the text or file.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let Self { mut uri, text, file, name, tag: tags, metadata } = self;
        let bytes = match &file {
            Some(file) => {
                if uri.ends_with('/') {
                    let name = file.file_name().and_then(|name| name.to_str());
                    uri.push_str(name.unwrap_or_default());
                }
                regular_file::read(file, MAX_FILE_BYTES)
                    .map_err(|error| CliError::io(file.display().to_string(), error))?
            }
            None => input::text_or_stdin(&text, out)?.into_bytes(),
        };
        let metadata = metadata.unwrap_or_default();
        let request = FsAddRequest { uri, bytes, name, tags, metadata };
        let added = cx.engine().await?.fs_add(&cx.scope, request).await?;
        if out.is_json() {
            out.json(&added)?;
            return Ok(Exit::Done);
        }
        out.say(&format!("added: {}", sanitize_for_agent(&added.uri)))?;
        if let Some(saved) = &added.memory {
            print_superseded(cx, out, &saved.superseded, saved.undo.as_ref()).await?;
        }
        if let Some(saved) = added.memory.filter(|saved| !saved.masked.is_empty()) {
            out.note(&masked_note(&saved.masked));
        }
        if let Some(note) = added.document.and_then(|report| report.note) {
            out.note(&format!("note: {note}"));
        }
        Ok(Exit::Done)
    }
}

/// Remove a memory, a document, a conversation, or a folder of such; this can be undone
#[derive(Debug, Args)]
pub(crate) struct FsRmArgs {
    /// The file or folder
    uri: String,
    /// Also remove folders with all their content
    #[arg(long, short)]
    recursive: bool,
    /// Report what would be removed, and change nothing
    #[arg(long)]
    dry_run: bool,
}

impl FsRmArgs {
    /// Removes the file or folder.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let Self { uri, recursive, dry_run } = self;
        let request = FsRemoveRequest { uri, recursive, dry_run };
        let removed = cx.engine().await?.fs_remove(&cx.scope, &request).await?;
        if out.is_json() {
            out.json(&removed)?;
            return Ok(Exit::Done);
        }
        let memories = pluralize(removed.memories, "memory", "memories");
        let uri = sanitize_for_agent(&removed.uri);
        if dry_run {
            out.say(&format!("would be removed: {uri}, {memories}"))?;
            return Ok(Exit::Done);
        }
        out.say(&format!("removed: {uri}, {memories}"))?;
        for run in &removed.runs {
            out.note(&format!("undo with: everlore memory undo --run {run}"));
        }
        Ok(Exit::Done)
    }
}
