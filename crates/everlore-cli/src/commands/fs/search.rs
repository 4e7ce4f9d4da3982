//! `everlore fs find`, `inject` and `grep`: recall and text search in a folder.

use clap::Args;
use everlore::engine::fs::{DEFAULT_PAGE_SIZE, FsFindRequest, FsGrepRequest, FsInjectRequest};

use crate::{CliContext, Exit, Output, Result, input, render::sanitize_for_agent};

/// Recall memories of a folder for a question, best first
#[derive(Debug, Args)]
pub(crate) struct FsFindArgs {
    /// The question; without it, or with `-`, it is read from standard input
    query: Vec<String>,
    /// The folder; everywhere if left out
    #[arg(long = "in", value_name = "URI", default_value = "", hide_default_value = true)]
    within: String,
    /// The most hits
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    limit: usize,
    /// Leave out hits with a lower score, from 0 to 1
    #[arg(long, value_name = "SCORE", default_value_t = 0.0, hide_default_value = true)]
    min_score: f64,
    /// With --json, also print the parts of each score
    #[arg(long)]
    explain: bool,
}

impl FsFindArgs {
    /// Recalls and prints the hits.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let query = input::query_or_stdin(&self.query, "fs find", out)?;
        let Self { within: uri, limit, min_score, explain, .. } = self;
        let request = FsFindRequest { query, uri, limit, min_score, explain };
        let result = cx.engine().await?.fs_find(&cx.scope, &request).await?;
        if out.is_json() {
            out.json(&result)?;
            return Ok(Exit::from_found(!result.found.is_empty()));
        }
        for hit in &result.found {
            out.line(&format!("{:.2}  {}", hit.score, sanitize_for_agent(&hit.uri)))?;
            out.line(&format!("      {}", sanitize_for_agent(&hit.summary)))?;
        }
        if result.found.is_empty() {
            out.note("nothing found");
        }
        Ok(Exit::from_found(!result.found.is_empty()))
    }
}

/// Print a memory block for a system prompt, from one folder
///
/// Prints nothing if nothing in the folder is relevant.
#[derive(Debug, Args)]
pub(crate) struct FsInjectArgs {
    /// The message that the agent is about to answer; without it, or with `-`, it is read from standard input
    query: Vec<String>,
    /// The folder; everywhere if left out
    #[arg(long = "in", value_name = "URI", default_value = "", hide_default_value = true)]
    within: String,
    /// The most memories [default: from the settings]
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// The most tokens [default: from the settings]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
}

impl FsInjectArgs {
    /// Builds and prints the block.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let query = input::query_or_stdin(&self.query, "fs inject", out)?;
        let Self { within: uri, limit, budget, .. } = self;
        let request = FsInjectRequest { query, uri, limit, budget };
        let block = cx.engine().await?.fs_inject(&cx.scope, &request).await?;
        if out.is_json() {
            out.json(&block)?;
        } else if !block.text.is_empty() {
            out.line(&block.text)?;
        }
        Ok(Exit::from_found(!block.text.is_empty()))
    }
}

/// Find the lines of a folder that contain a text
#[derive(Debug, Args)]
pub(crate) struct FsGrepArgs {
    /// The text, or with --regex a regular expression
    pattern: String,
    /// The folder; everywhere if left out
    #[arg(default_value = "", hide_default_value = true)]
    uri: String,
    /// The pattern is a regular expression
    #[arg(long, short = 'E')]
    regex: bool,
    /// Ignore case
    #[arg(long, short)]
    ignore_case: bool,
    /// The most lines
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT_PAGE_SIZE)]
    limit: usize,
}

impl FsGrepArgs {
    /// Searches and prints the matching lines.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let Self { pattern, uri, regex, ignore_case, limit } = self;
        let request = FsGrepRequest { pattern, uri, regex, ignore_case, limit };
        let result = cx.engine().await?.fs_grep(&cx.scope, &request).await?;
        if out.is_json() {
            out.json(&result)?;
            return Ok(Exit::from_found(!result.matches.is_empty()));
        }
        for line in &result.matches {
            out.line(&format!(
                "{}:{}:{}",
                sanitize_for_agent(&line.uri),
                line.line,
                sanitize_for_agent(&line.text)
            ))?;
        }
        if result.matches.is_empty() {
            out.note("nothing found");
        }
        if result.more {
            out.note("there may be more: see --limit, or search one folder");
        }
        Ok(Exit::from_found(!result.matches.is_empty()))
    }
}
