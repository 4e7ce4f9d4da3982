//! `everlore layer forget`: erases a text from a file and from all it said before (H2).

use std::io::{self, IsTerminal};

use clap::Args;
use everlore::{
    files::layers::{Forget, ForgottenText},
    ingest::day_uri,
};
use serde_json::json;

use super::{Which, person};
use crate::{
    context::Context,
    failure::{Exit, Failure, Result},
    output::Output,
    words::count,
};

/// Erase a section, a text or everything from a file and from its history, for good
#[derive(Debug, Args)]
#[group(id = "what", required = true, multiple = false, args = ["section", "text", "all"])]
pub(crate) struct ForgetArgs {
    #[command(flatten)]
    which: Which,
    /// Every section of this title
    #[arg(long, value_name = "TITLE")]
    section: Option<String>,
    /// This text, wherever it stands
    #[arg(long)]
    text: Option<String>,
    /// All of the file
    #[arg(long)]
    all: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl ForgetArgs {
    /// Erases it and prints the receipt.
    pub(super) fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let day = self.which.day(cx)?;
        if !self.yes && !confirmed(out)? {
            out.note("nothing was forgotten");
            return Ok(Exit::Failed);
        }
        let what = match (self.section, self.text) {
            (Some(section), _) => Forget::Section(section),
            (None, Some(text)) => Forget::Text(text),
            (None, None) => Forget::All,
        };
        let receipt = cx.layers().forget(self.which.layer, day, &what, &person(cx))?;
        let found = Exit::found(receipt != ForgottenText::default());
        if out.is_json() {
            out.json(&json!({ "forgotten": receipt }))?;
        } else if found == Exit::Nothing {
            out.note("it is nowhere in the file or its history");
        } else {
            let file = if receipt.file || receipt.archived { "the file and " } else { "" };
            let images = count(receipt.images, "earlier state", "earlier states");
            out.line(&format!("forgotten: gone from {file}{images} of it"))?;
        }
        if receipt.archived {
            let uri = day_uri(&cx.scope, day);
            out.note(&format!(
                "the day was put away and is a memory, which still says it: everlore memory forget {uri}"
            ));
        }
        Ok(found)
    }
}

fn confirmed(out: &mut Output) -> Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(Failure::invalid(
            "forgetting is for good, and nobody can be asked here",
            "repeat the command with --yes, or use `everlore layer remove`, which can be undone",
        ));
    }
    out.confirm("Forget it for good?")
}
