//! `everlore layer forget`: erases a text from a layer file and its history.

use std::io::{self, IsTerminal};

use clap::Args;
use everlore::{
    engine::LayerForgetReceipt,
    internal::{files::layers::ForgetTarget, ingest::day_uri},
};
use serde_json::json;

use super::{LayerTargetArgs, by_person};
use crate::{CliContext, CliError, Exit, Output, Result, render::pluralize};

/// Erase a section, a text or everything from a file and from its history, for good
#[derive(Debug, Args)]
#[group(id = "what", required = true, multiple = false, args = ["section", "text", "all"])]
pub(crate) struct LayerForgetArgs {
    #[command(flatten)]
    which: LayerTargetArgs,
    /// Every section of this title
    #[arg(long, value_name = "TITLE")]
    section: Option<String>,
    /// Every occurrence of this text
    #[arg(long)]
    text: Option<String>,
    /// All of the file
    #[arg(long)]
    all: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
}

impl LayerForgetArgs {
    /// Erases the text and prints the receipt.
    pub(super) fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let day = self.which.resolve_day(cx)?;
        if !self.yes && !confirm_forget(out)? {
            out.note("nothing was forgotten");
            return Ok(Exit::Failed);
        }
        let target = match (self.section, self.text) {
            (Some(section), _) => ForgetTarget::Section(section),
            (None, Some(text)) => ForgetTarget::Text(text),
            (None, None) => ForgetTarget::All,
        };
        let receipt = cx.layers().forget(self.which.layer, day, &target, &by_person(cx))?;
        let found = Exit::from_found(receipt != LayerForgetReceipt::default());
        if out.is_json() {
            out.json(&json!({ "forgotten": receipt }))?;
        } else if found == Exit::NothingFound {
            out.note("neither the file nor its history contains it");
        } else {
            let file = if receipt.file || receipt.archived { "the file and " } else { "" };
            let images = pluralize(receipt.images, "earlier state", "earlier states");
            out.say(&format!("forgotten: erased from {file}{images} of it"))?;
        }
        if receipt.archived {
            let uri = day_uri(&cx.scope, day);
            out.note(&format!(
                "the archived day is also a memory, which still holds the text; erase it with: everlore memory forget {uri}"
            ));
        }
        Ok(found)
    }
}

fn confirm_forget(out: &mut Output) -> Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(CliError::invalid(
            "forgetting is for good and needs a confirmation, for which there is no terminal",
            "repeat the command with --yes, or use `everlore layer remove`, which can be undone",
        ));
    }
    out.confirm("Forget it for good?")
}
