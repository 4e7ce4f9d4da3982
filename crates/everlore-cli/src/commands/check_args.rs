//! Checks of memories on the command line: the options that set one, and the rendering of results.

use std::{env, path::PathBuf};

use clap::Args;
use everlore::{
    Engine, Memory,
    engine::NAMED_CHECK_TIMEOUT,
    tools::CheckPermission,
    types::{CheckResult, NewCheck},
};
use serde::Serialize;

use crate::{CliContext, CliError, Result, messages::translate, render::sanitize};

/// Check of a memory; at most one of these options.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The memory holds as long as this path exists
    #[arg(long, value_name = "PATH")]
    check_path: Option<String>,
    /// The memory holds as long as this file does not change
    #[arg(long, value_name = "FILE")]
    check_file: Option<String>,
    /// The memory holds as long as this command succeeds; takes all words that follow, up to `;`
    ///
    /// No shell is used. The command runs in this folder, and only if the section `[checks]` of the settings
    /// has `commands = true`.
    #[arg(long, value_name = "WORD", num_args = 1.., allow_hyphen_values = true, value_terminator = ";")]
    check_command: Option<Vec<String>>,
    /// Text that the command must print; goes before --check-command
    #[arg(long, value_name = "TEXT", requires = "check_command")]
    check_prints: Option<String>,
    /// The memory holds until this day, inclusive, or this time
    #[arg(long, value_name = "DATE")]
    valid_until: Option<String>,
    /// The memory must be verified again after this many days
    #[arg(long, value_name = "DAYS")]
    verify_after: Option<u32>,
}

impl CheckArgs {
    /// Returns the check of the options, with paths relative to the current folder.
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

/// Returns what the checks of an agent on this machine may probe.
pub(crate) fn check_reach() -> CheckPermission {
    current_folder().map_or(CheckPermission::Files, CheckPermission::FilesFrom)
}

fn current_folder() -> std::io::Result<PathBuf> {
    env::current_dir()
}

/// Memory for programs, with the result of its check.
#[derive(Serialize)]
pub(crate) struct CheckedMemoryView<'a> {
    #[serde(flatten)]
    pub(crate) memory: &'a Memory,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) check: Option<&'a CheckResult>,
}

/// Formats the status of a check and its reason.
pub(crate) fn check_status_line(check: &CheckResult) -> String {
    let (verdict, why) = (check.verdict.to_string(), check.why().to_string());
    format!("{}: {}", translate(&verdict), translate(&why))
}

/// Runs the checks of memories.
pub(crate) async fn verify_memories(
    engine: &Engine,
    memories: &[Memory],
) -> Vec<Option<CheckResult>> {
    engine.verify_memories(&memories.iter().collect::<Vec<_>>(), NAMED_CHECK_TIMEOUT).await
}

/// Renders a line for each memory that has a check.
pub(crate) async fn render_verdicts(
    cx: &CliContext,
    memories: &[Memory],
    checks: &[Option<CheckResult>],
) -> Result<String> {
    let pairs = memories.iter().zip(checks);
    let checked: Vec<_> =
        pairs.filter_map(|(memory, check)| Some((memory.id, check.as_ref()?))).collect();
    let all: Vec<_> = checked.iter().map(|(id, _)| *id).collect();
    let short = cx.engine().await?.shorten_ids(&cx.scope, &all).await?;
    let line = |((_, check), id): (&(_, &CheckResult), String)| {
        format!("{id}  {}\n", sanitize(&check_status_line(check)))
    };
    Ok(checked.iter().zip(short).map(line).collect())
}
