//! `everlore completions`: completion scripts for shells.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::{Exit, Output, Result, cli::Cli};

/// Print a completion script for your shell
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    /// Prints the script.
    pub(crate) fn run(&self, out: &mut Output) -> Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "everlore", &mut script);
        out.text(&String::from_utf8_lossy(&script))?;
        Ok(Exit::Done)
    }
}
