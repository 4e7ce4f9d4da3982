//! `everlore memory edit`: changes a memory that is there.

use std::io::{self, IsTerminal};

use clap::Args;
use everlore::{Edit, Engine, Kind, MemoryId};

use crate::{
    commands::{checks::CheckArgs, filter::kinds},
    context::Context,
    editor,
    failure::{Exit, Failure, Result},
    ids, input,
    output::Output,
    words::{TITLE_CELLS, cut, masked, title},
};

/// Change a memory; without any option its text is opened in $EDITOR
#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    /// The memory
    id: String,
    /// The new text; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// The new title
    #[arg(long, value_name = "TITLE")]
    name: Option<String>,
    /// The new line that tells whether it matters
    #[arg(long, value_name = "LINE")]
    description: Option<String>,
    /// The new kind
    #[arg(long, value_name = "KIND", value_parser = kinds())]
    kind: Option<Kind>,
    /// A keyword; may be repeated, and takes the place of all there are; an empty one removes them
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
    /// Take its check away
    #[arg(long, conflicts_with = "CheckArgs")]
    no_check: bool,
}

impl EditArgs {
    /// Changes the memory and says what it is now.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let id = engine.resolve(&cx.scope, &self.id).await?;
        let mut edit = self.edit(out)?;
        if edit == Edit::default() {
            match in_editor(engine, cx, id).await? {
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
            let id = ids::short(engine, &cx.scope, id).await?;
            let name = cut(&title(&memory), TITLE_CELLS);
            out.line(&format!("changed: {} [{}] {name}", out.strong(&id), memory.kind))?;
            if cx.agent_config().memory.mask_secrets && !masked_kinds.is_empty() {
                out.line(&masked(&masked_kinds))?;
            }
        }
        Ok(Exit::Done)
    }

    fn edit(self, out: &mut Output) -> Result<Edit> {
        let content = match self.content.as_deref() {
            Some("-") => Some(input::text(&[], out)?),
            _ => self.content,
        };
        Ok(Edit {
            content,
            name: self.name,
            description: self.description,
            kind: self.kind,
            tags: self.tag,
            importance: self.importance,
            weight: self.weight,
            check: self.check.new_check()?,
            no_check: self.no_check,
            ..Edit::default()
        })
    }
}

/// Lets the user change the text in an editor; nothing if it was left as it is.
async fn in_editor(engine: &Engine, cx: &Context, id: MemoryId) -> Result<Option<String>> {
    if !io::stdin().is_terminal() {
        return Err(Failure::invalid(
            "nothing to change is given",
            "name what to change, for example --content TEXT; on a terminal the text is opened in $EDITOR",
        ));
    }
    let content = engine.get(&cx.scope, id).await?.content;
    editor::edited(&content)
}
