//! `everlore tokens`: the tokens of a text.

use clap::Args;
use serde_json::json;

use crate::{CliContext, Exit, Output, Result, input, render::pluralize};

/// Count the tokens of a text, as budgets do
///
/// It is what today's large models count, a few percent too many rather than one too few, without asking one.
#[derive(Debug, Args)]
pub(crate) struct TokensArgs {
    /// The text; without it, or with `-`, it is read from standard input
    text: Vec<String>,
}

impl TokensArgs {
    /// Prints the count.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let text = input::text_or_stdin(&self.text, out)?;
        let size = cx.engine().await?.count_tokens(&text);
        let line = format!(
            "{}, {}, {}",
            pluralize(size.tokens, "token", "tokens"),
            pluralize(size.characters, "character", "characters"),
            pluralize(size.bytes, "byte", "bytes")
        );
        out.answer_line(&json!(size), &line)
    }
}
