//! `everlore store`: databases as a whole.

mod copy;

use clap::Subcommand;

use crate::{CliContext, Exit, Output, Result, commands::CommandFuture};

/// Show and copy the database of the home
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Print which database the home uses
    Show,
    Copy(copy::StoreCopyArgs),
}

impl StoreCommand {
    /// Shows or copies the database.
    pub(crate) fn run<'a>(self, cx: &'a CliContext, out: &'a mut Output) -> CommandFuture<'a> {
        match self {
            Self::Show => Box::pin(std::future::ready(show(cx, out))),
            Self::Copy(args) => Box::pin(args.run(cx, out)),
        }
    }
}

fn show(cx: &CliContext, out: &mut Output) -> Result<Exit> {
    let store = cx.store.to_string();
    out.answer_line(&serde_json::json!({ "store": store }), &store)
}
