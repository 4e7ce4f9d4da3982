//! `everlore memory edit`: changes a stored memory.

use std::io::{self, IsTerminal};

use clap::Args;
use everlore::{Engine, Kind, MemoryEdit, MemoryId};

use crate::{
    CliContext, CliError, Exit, Output, Result,
    commands::{check_args::CheckArgs, filter_args::kind_parser},
    editor, ids, input,
    render::{TITLE_CELLS, masked_note, memory_title, truncate_width},
};

/// Change a memory; without any option its text is opened in $EDITOR
#[derive(Debug, Args)]
pub(crate) struct MemoryEditArgs {
    /// The memory
    id: String,
    /// The new text; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// The new title
    #[arg(long, value_name = "TITLE")]
    name: Option<String>,
    /// The new one-line description, by which recall shows it in lists
    #[arg(long, value_name = "LINE")]
    description: Option<String>,
    /// The new kind
    #[arg(long, value_name = "KIND", value_parser = kind_parser())]
    kind: Option<Kind>,
    /// A keyword; may be repeated; replaces all existing ones; an empty one removes them
    #[arg(long, value_name = "TAG")]
    tag: Option<Vec<String>>,
    /// The new importance, from 0 to 1
    #[arg(long, value_name = "NUMBER")]
    importance: Option<f64>,
    /// The new weight, from 0 to 10
    #[arg(long, value_name = "NUMBER")]
    weight: Option<f64>,
    #[command(flatten)]
    check: CheckArgs,
    /// Remove its check
    #[arg(long, conflicts_with = "CheckArgs")]
    no_check: bool,
}

impl MemoryEditArgs {
    /// Changes the memory and prints its new state.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let id = engine.resolve(&cx.scope, &self.id).await?;
        let mut edit = self.into_edit(out)?;
        if edit == MemoryEdit::default() {
            match edit_content(engine, cx, id).await? {
                Some(content) => edit.content = Some(content),
                None => {
                    out.note("nothing was changed");
                    return Ok(Exit::Done);
                }
            }
        }
        let masked_kinds = edit.clone().mask_secrets();
        let memory = engine.edit(&cx.scope, id, &edit).await?;
        if out.is_json() {
            out.json(&memory)?;
        } else {
            let id = ids::shorten_id(engine, &cx.scope, id).await?;
            let name = truncate_width(&memory_title(&memory), TITLE_CELLS);
            out.say(&format!("changed: {} [{}] {name}", out.bold(&id), memory.kind))?;
            if cx.agent_config().memory.mask_secrets && !masked_kinds.is_empty() {
                out.line(&masked_note(&masked_kinds))?;
            }
        }
        Ok(Exit::Done)
    }

    fn into_edit(self, out: &mut Output) -> Result<MemoryEdit> {
        let content = match self.content.as_deref() {
            Some("-") => Some(input::text_or_stdin(&[], out)?),
            _ => self.content,
        };
        Ok(MemoryEdit {
            content,
            name: self.name,
            description: self.description,
            kind: self.kind,
            tags: self.tag,
            importance: self.importance,
            weight: self.weight,
            check: self.check.into_new_check()?,
            no_check: self.no_check,
            ..MemoryEdit::default()
        })
    }
}

/// Opens the text in the user's editor; `None` if it did not change.
async fn edit_content(engine: &Engine, cx: &CliContext, id: MemoryId) -> Result<Option<String>> {
    if !io::stdin().is_terminal() {
        return Err(CliError::invalid(
            "there is nothing to change",
            "name a change, for example --content TEXT; on a terminal the text is opened in $EDITOR",
        ));
    }
    let content = engine.get(&cx.scope, id).await?.content;
    editor::edit_text(&content)
}
