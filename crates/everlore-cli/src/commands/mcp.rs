//! `everlore mcp`: an MCP server for one agent host, on standard input and output.

use std::sync::Arc;

use clap::Args;
use everlore::{ToolRegistry, tools::ToolSet};
use everlore_server::{McpContext, McpServer};

use super::check_args;
use crate::{CliContext, Exit, Output, Result};

/// Run an MCP server on standard input and output
///
/// An agent host starts and ends it; docs/connect.md has the settings for each host. A server on the same home may run
/// meanwhile; over HTTP, `everlore serve` answers at /mcp.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    offer: ToolSetArgs,
    /// Offer only tools that change nothing
    #[arg(long)]
    read_only: bool,
}

/// Tool sets to offer.
#[derive(Debug, Args)]
pub(crate) struct ToolSetArgs {
    /// Tool sets that MCP offers, separated by commas
    #[arg(long = "tools", value_name = "SETS", value_delimiter = ',', default_value = "core", value_parser = ToolSet::ALL.map(ToolSet::as_str))]
    sets: Vec<String>,
}

impl ToolSetArgs {
    /// Parses the sets.
    pub(crate) fn tool_sets(&self) -> Result<Vec<ToolSet>> {
        Ok(self.sets.iter().map(|set| set.parse()).collect::<everlore::Result<_>>()?)
    }
}

impl McpArgs {
    /// Serves until the input ends.
    pub(crate) async fn run(self, cx: &CliContext, _: &mut Output) -> Result<Exit> {
        let context = McpContext {
            engine: cx.engine().await?.clone(),
            scope: cx.scope.clone(),
            home: cx.home.clone(),
            tools: Arc::new(ToolRegistry::all()),
            tool_sets: self.offer.tool_sets()?,
            may_write: !self.read_only,
            may_erase: false,
            reach: check_args::check_reach(),
        };
        McpServer::new(context).serve_stdio().await?;
        Ok(Exit::Done)
    }
}
