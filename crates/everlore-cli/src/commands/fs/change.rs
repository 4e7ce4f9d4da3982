//! `everlore fs add` and `rm`: adding and removing.

use std::{fs, path::PathBuf};

use clap::Args;
use everlore::engine::fs::{AddRequest, RemoveRequest};
use serde_json::{Map, Value};

use crate::{
    commands::remember::object,
    context::Context,
    failure::{Exit, Failure, Result},
    input,
    output::Output,
    words::{count, masked, visible},
};

/// Save a text as a memory, or a file as a document
///
/// A kind and a category (user/food) make a memory, resources/PATH a document, which is taken apart and can be found piece by
/// piece. The short forms l0 and l1 are made at once.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Where to: KIND, KIND/CATEGORY, KIND/CATEGORY/TITLE, or resources/PATH
    uri: String,
    /// The text; without it, or with `-`, it is read from standard input
    text: Vec<String>,
    /// Take this file instead; a URI that ends with a slash gets its name
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    file: Option<PathBuf>,
    /// A title for a memory
    #[arg(long, value_name = "TITLE")]
    name: Option<String>,
    /// A keyword; may be repeated
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Free data of yours for a memory, as a JSON object
    #[arg(long, value_name = "JSON", value_parser = object)]
    metadata: Option<Map<String, Value>>,
}

impl AddArgs {
    /// Adds it.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let Self { mut uri, text, file, name, tag: tags, metadata } = self;
        let bytes = match &file {
            Some(file) => {
                if uri.ends_with('/') {
                    let name = file.file_name().and_then(|name| name.to_str());
                    uri.push_str(name.unwrap_or_default());
                }
                fs::read(file).map_err(|error| Failure::io(file.display().to_string(), error))?
            }
            None => input::text(&text, out)?.into_bytes(),
        };
        let metadata = metadata.unwrap_or_default();
        let request = AddRequest { uri, bytes, name, tags, metadata };
        let added = cx.engine().await?.fs_add(&cx.scope, request).await?;
        if out.is_json() {
            out.json(&added)?;
            return Ok(Exit::Done);
        }
        out.line(&format!("added: {}", visible(&added.uri)))?;
        if let Some(saved) = added.memory.filter(|saved| !saved.masked.is_empty()) {
            out.note(&masked(&saved.masked));
        }
        if let Some(note) = added.document.and_then(|report| report.note) {
            out.note(&format!("note: {note}"));
        }
        Ok(Exit::Done)
    }
}

/// Remove a memory, a document, a conversation, or a folder of such; this can be undone
#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    /// What to remove
    uri: String,
    /// Also a folder with all that is in it
    #[arg(long, short)]
    recursive: bool,
    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,
}

impl RmArgs {
    /// Removes it.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let Self { uri, recursive, dry_run } = self;
        let request = RemoveRequest { uri, recursive, dry_run };
        let removed = cx.engine().await?.fs_remove(&cx.scope, &request).await?;
        if out.is_json() {
            out.json(&removed)?;
            return Ok(Exit::Done);
        }
        let memories = count(removed.memories, "memory", "memories");
        let uri = visible(&removed.uri);
        if dry_run {
            out.line(&format!("would be removed: {uri}, {memories}"))?;
            return Ok(Exit::Done);
        }
        out.line(&format!("removed: {uri}, {memories}"))?;
        for run in &removed.runs {
            out.note(&format!("undo with: everlore memory undo --run {run}"));
        }
        Ok(Exit::Done)
    }
}
