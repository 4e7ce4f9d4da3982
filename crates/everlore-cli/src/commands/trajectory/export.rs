//! `everlore trajectory export`: trajectories in the formats of other systems.

use std::{fs::OpenOptions, io::Write, path::PathBuf};

use clap::Args;
use everlore::{engine::TrajectoryFormat, types::Timestamp};

use super::{format_parser, parse_since};
use crate::{CliContext, CliError, Exit, Output, Result, render::pluralize};

/// Export conversations for training and evaluation, with secrets masked
///
/// One JSON object a line. atif is ATIF 1.8, sharegpt the conversations of ShareGPT as Hermes writes them, openai the messages
/// of OpenAI's chat completions.
#[derive(Debug, Args)]
pub(crate) struct TrajectoryExportArgs {
    /// The format
    #[arg(long, value_parser = format_parser(), default_value = "atif")]
    format: TrajectoryFormat,
    /// Only this conversation; all if left out
    #[arg(long)]
    session: Option<String>,
    /// Only those with a step at this time or later: a day, or a time
    #[arg(long, value_name = "TIME", value_parser = parse_since, conflicts_with = "session")]
    since: Option<Timestamp>,
    /// Compress each conversation into so many tokens
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
    /// Write to this file, which must not exist; standard output if left out
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl TrajectoryExportArgs {
    /// Writes a line for each conversation.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let sessions = match &self.session {
            Some(session) => vec![session.clone()],
            None => engine.trajectory_names(&cx.scope, self.since).await?,
        };
        let mut lines = Vec::with_capacity(sessions.len());
        for session in &sessions {
            let trajectory = engine.trajectory(&cx.scope, session).await?;
            let trajectory = match self.budget {
                Some(budget) => trajectory.compress(budget)?,
                None => trajectory,
            };
            lines.push(trajectory.export(self.format).to_string() + "\n");
        }
        self.write(&lines, out)?;
        Ok(Exit::from_found(!lines.is_empty()))
    }

    fn write(&self, lines: &[String], out: &mut Output) -> Result<()> {
        let Some(path) = &self.output else {
            return lines.iter().try_for_each(|line| out.text(line));
        };
        let failed = |error| CliError::io(path.display().to_string(), error);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(failed)?;
        file.write_all(lines.concat().as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
        let count = pluralize(lines.len(), "trajectory", "trajectories");
        out.note(&format!("exported {count} to {}", path.display()));
        Ok(())
    }
}
