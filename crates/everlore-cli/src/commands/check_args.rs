//! Checks on the command line: the options that set one, and the words for what it tells.

use std::{env, path::PathBuf};

use clap::Args;
use everlore::{
    Engine, Memory,
    engine::NAMED_CHECK_TIMEOUT,
    tools::CheckPermission,
    types::{CheckResult, NewCheck},
};
use serde::Serialize;

use crate::{
    cli_context::CliContext,
    error::{CliError, Result},
    ids,
    render::sanitize,
};

/// How a machine can tell whether a memory still holds; one of them at most.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// It holds as long as something is at this path
    #[arg(long, value_name = "PATH")]
    check_path: Option<String>,
    /// It holds as long as this file has the bytes that it has now
    #[arg(long, value_name = "FILE")]
    check_file: Option<String>,
    /// It holds as long as this command passes; takes all words that follow, up to `;`
    ///
    /// No shell is used. The command is run in this folder, and only if `commands = true` stands in the section [checks] of
    /// the settings.
    #[arg(long, value_name = "WORD", num_args = 1.., allow_hyphen_values = true, value_terminator = ";")]
    check_command: Option<Vec<String>>,
    /// What the command must print; goes before --check-command
    #[arg(long, value_name = "TEXT", requires = "check_command")]
    check_prints: Option<String>,
    /// It holds until this day, which is included, or this moment
    #[arg(long, value_name = "DATE")]
    valid_until: Option<String>,
    /// It is to be verified again after so many days
    #[arg(long, value_name = "DAYS")]
    verify_after: Option<u32>,
}

impl CheckArgs {
    /// The check that the options say, with paths from the folder of the caller.
    pub(crate) fn into_new_check(self) -> Result<Option<NewCheck>> {
        let check = NewCheck {
            path: self.check_path,
            file: self.check_file,
            sha256: None,
            command: self.check_command,
            folder: None,
            prints: self.check_prints,
            until: self.valid_until,
            days: self.verify_after,
        };
        if check == NewCheck::default() {
            return Ok(None);
        }
        if !check.probes_machine() {
            return Ok(Some(check));
        }
        let folder = current_folder().map_err(|error| CliError::io("the current folder", error))?;
        Ok(Some(check.resolve_paths(&folder)))
    }
}

/// What the checks of an agent on this machine may be about.
pub(crate) fn check_reach() -> CheckPermission {
    current_folder().map_or(CheckPermission::Files, CheckPermission::FilesFrom)
}

fn current_folder() -> std::io::Result<PathBuf> {
    env::current_dir()
}

/// A memory for programs, with what its check tells.
#[derive(Serialize)]
pub(crate) struct CheckedMemoryView<'a> {
    #[serde(flatten)]
    pub(crate) memory: &'a Memory,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) check: Option<&'a CheckResult>,
}

/// The verdict and why, for people.
pub(crate) fn verdict_line(verified: &CheckResult) -> String {
    format!("{}: {}", verified.verdict, verified.why())
}

/// What the checks of memories tell now.
pub(crate) async fn verify_memories(
    engine: &Engine,
    memories: &[Memory],
) -> Vec<Option<CheckResult>> {
    engine.verify_memories(&memories.iter().collect::<Vec<_>>(), NAMED_CHECK_TIMEOUT).await
}

/// A line for each memory that has a check.
pub(crate) async fn render_verdicts(
    cx: &CliContext,
    memories: &[Memory],
    checks: &[Option<CheckResult>],
) -> Result<String> {
    let each = memories.iter().zip(checks);
    let told: Vec<_> =
        each.filter_map(|(memory, check)| Some((memory.id, check.as_ref()?))).collect();
    let all: Vec<_> = told.iter().map(|(id, _)| *id).collect();
    let short = ids::shorten_ids(cx.engine().await?, &cx.scope, &all).await?;
    let line = |((_, check), id): (&(_, &CheckResult), String)| {
        format!("{id}  {}\n", sanitize(&verdict_line(check)))
    };
    Ok(told.iter().zip(short).map(line).collect())
}
