//! `everlore context`: the memory block for a system prompt.

use clap::Args;
use everlore::{MemoryBlock, RecallRequest};
use serde::Serialize;

use super::why_not;
use crate::{CliContext, Exit, Output, Result, input};

/// Print the memories that are relevant for a message, as a block for the system prompt
///
/// Prints nothing if nothing is relevant.
#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    /// The message that the agent is about to answer; without it, or with `-`, it is read from standard input
    query: Vec<String>,
    /// The most tokens to print [default: from the settings]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
    /// The most memories to print [default: from the settings]
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// The conversation; the injected memories are recorded, so that `everlore session answered` can find those that
    /// were used
    #[arg(long, value_name = "NAME", conflicts_with = "why_not")]
    session: Option<String>,
    /// Explain why this memory is not in the block
    #[arg(long, value_name = "ID")]
    why_not: Option<String>,
}

/// Block for programs.
#[derive(Serialize)]
struct ContextView<'a> {
    query: &'a str,
    budget: usize,
    #[serde(flatten)]
    block: &'a MemoryBlock,
}

impl ContextArgs {
    /// Returns `true` if nothing is recorded.
    pub(crate) fn is_read_only(&self) -> bool {
        self.session.is_none()
    }

    /// Recalls, packs and prints the block.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let request =
            engine.context_request(&cx.scope, input::query_or_stdin(&self.query, "context", out)?);
        let limit = self.limit.unwrap_or(request.limit);
        let request = RecallRequest { limit, ..request };
        let default = engine.settings(cx.scope.agent()).memory.inject.token_budget;
        let budget = self.budget.unwrap_or(default);
        if let Some(name) = &self.why_not {
            return why_not::explain_block(&request, budget, name, cx, out).await;
        }
        let block = match &self.session {
            Some(session) => engine.inject(&request, budget, session).await?,
            None => engine.context(&request, budget).await?,
        };
        if out.is_json() {
            out.json(&ContextView { query: &request.query, budget, block: &block })?;
        } else if !block.text.is_empty() {
            out.line(&block.text)?;
        }
        Ok(Exit::from_found(!block.entries.is_empty()))
    }
}
