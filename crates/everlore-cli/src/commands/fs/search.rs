//! `everlore fs find`, `inject` and `grep`: by meaning and by text.

use clap::Args;
use everlore::engine::fs::{DEFAULT_PAGE_SIZE, FsFindRequest, FsGrepRequest, FsInjectRequest};

use crate::{
    cli_context::CliContext,
    error::{Exit, Result},
    input,
    output::Output,
    render::sanitize,
};

/// Find what is worth knowing for a question in a folder, best first
#[derive(Debug, Args)]
pub(crate) struct FsFindArgs {
    /// What is asked; without it, or with `-`, it is read from standard input
    query: Vec<String>,
    /// Where; everywhere if left out
    #[arg(long = "in", value_name = "URI", default_value = "", hide_default_value = true)]
    within: String,
    /// The most hits
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    limit: usize,
    /// Leave out hits with a lower score, from 0 to 1
    #[arg(long, value_name = "SCORE", default_value_t = 0.0, hide_default_value = true)]
    min_score: f64,
    /// With --json, also say every number that made the scores
    #[arg(long)]
    explain: bool,
}

impl FsFindArgs {
    /// Finds and tells.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let query = input::query_or_stdin(&self.query, out)?;
        let Self { within: uri, limit, min_score, explain, .. } = self;
        let request = FsFindRequest { query, uri, limit, min_score, explain };
        let finding = cx.engine().await?.fs_find(&cx.scope, &request).await?;
        if out.is_json() {
            out.json(&finding)?;
            return Ok(Exit::from_found(!finding.found.is_empty()));
        }
        for one in &finding.found {
            out.line(&format!("{:.2}  {}", one.score, sanitize(&one.uri)))?;
            out.line(&format!("      {}", sanitize(&one.summary)))?;
        }
        if finding.found.is_empty() {
            out.note("nothing found");
        }
        Ok(Exit::from_found(!finding.found.is_empty()))
    }
}

/// Make the block to append to a system prompt, of what a folder holds
///
/// Nothing is printed if nothing in the folder is worth telling.
#[derive(Debug, Args)]
pub(crate) struct FsInjectArgs {
    /// What the agent is about to answer; without it, or with `-`, it is read from standard input
    query: Vec<String>,
    /// Where; everywhere if left out
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
    /// Makes and prints it.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let query = input::query_or_stdin(&self.query, out)?;
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

/// Find the lines of a folder that hold a text exactly
#[derive(Debug, Args)]
pub(crate) struct FsGrepArgs {
    /// The text, or with --regex a regular expression
    pattern: String,
    /// Where; everywhere if left out
    #[arg(default_value = "", hide_default_value = true)]
    uri: String,
    /// The pattern is a regular expression
    #[arg(long, short = 'E')]
    regex: bool,
    /// Capitals matter not
    #[arg(long, short)]
    ignore_case: bool,
    /// The most lines
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT_PAGE_SIZE)]
    limit: usize,
}

impl FsGrepArgs {
    /// Finds and tells.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let Self { pattern, uri, regex, ignore_case, limit } = self;
        let request = FsGrepRequest { pattern, uri, regex, ignore_case, limit };
        let grepped = cx.engine().await?.fs_grep(&cx.scope, &request).await?;
        if out.is_json() {
            out.json(&grepped)?;
            return Ok(Exit::from_found(!grepped.matches.is_empty()));
        }
        for one in &grepped.matches {
            out.line(&format!("{}:{}:{}", sanitize(&one.uri), one.line, sanitize(&one.text)))?;
        }
        if grepped.matches.is_empty() {
            out.note("nothing found");
        }
        if grepped.more {
            out.note("there may be more: see --limit, or search one folder");
        }
        Ok(Exit::from_found(!grepped.matches.is_empty()))
    }
}
