//! `everlore workflow`: lists of steps that you approved.

use clap::{Args, Subcommand};
use everlore::engine::SkillForm;

use super::{
    dispatch,
    skill::{Procedure, ProcedureNameArgs, ProcedureRollbackArgs, list_procedures},
};
use crate::{CliContext, Exit, Output, Result, commands::CommandFuture};

/// Read and measure workflows: steps that usually follow each other and that you approved
///
/// A workflow is made from a suggestion of `everlore reflect` that you approved with `everlore proposals approve`. It lies in the home
/// (`workflows/NAME.md`), and its description reaches prompts.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowCommand {
    List(WorkflowListArgs),
    Show(WorkflowShowArgs),
    History(WorkflowHistoryArgs),
    Rollback(WorkflowRollbackArgs),
    Retire(WorkflowRetireArgs),
    Restore(WorkflowRestoreArgs),
    Worked(WorkflowWorkedArgs),
    Failed(WorkflowFailedArgs),
    Rm(WorkflowRmArgs),
}

/// List workflows
#[derive(Debug, Args)]
pub(crate) struct WorkflowListArgs {
    /// Also list those that are out of use
    #[arg(long)]
    retired: bool,
}

/// Print a workflow with its evidence and measured effect
#[derive(Debug, Args)]
pub(crate) struct WorkflowShowArgs {
    #[command(flatten)]
    which: ProcedureNameArgs,
}

/// List the versions of a workflow, newest first
#[derive(Debug, Args)]
pub(crate) struct WorkflowHistoryArgs {
    #[command(flatten)]
    which: ProcedureNameArgs,
}

/// Bring back an earlier version, byte for byte
#[derive(Debug, Args)]
pub(crate) struct WorkflowRollbackArgs {
    #[command(flatten)]
    to: ProcedureRollbackArgs,
}

/// Take a workflow out of use; `restore` brings it back
#[derive(Debug, Args)]
pub(crate) struct WorkflowRetireArgs {
    #[command(flatten)]
    which: ProcedureNameArgs,
}

/// Put a retired workflow back into use
#[derive(Debug, Args)]
pub(crate) struct WorkflowRestoreArgs {
    #[command(flatten)]
    which: ProcedureNameArgs,
}

/// Report that a workflow was followed and worked
#[derive(Debug, Args)]
pub(crate) struct WorkflowWorkedArgs {
    #[command(flatten)]
    which: ProcedureNameArgs,
}

/// Report that a workflow was followed and failed; three times in a row retire it
#[derive(Debug, Args)]
pub(crate) struct WorkflowFailedArgs {
    #[command(flatten)]
    which: ProcedureNameArgs,
}

/// Remove a workflow and its file; `everlore memory undo` brings it back
#[derive(Debug, Args)]
pub(crate) struct WorkflowRmArgs {
    #[command(flatten)]
    which: ProcedureNameArgs,
}

impl WorkflowCommand {
    /// Returns `true` for commands that only read.
    pub(crate) fn is_read_only(&self) -> bool {
        matches!(self, Self::List(_) | Self::Show(_) | Self::History(_))
    }

    /// Runs the command.
    pub(crate) fn run<'a>(self, cx: &'a CliContext, out: &'a mut Output) -> CommandFuture<'a> {
        dispatch!(self, Self, cx, out:
            List | Show | History | Rollback | Retire | Restore | Worked | Failed | Rm
        )
    }
}

/// Runs a command on the workflow that the arguments name.
macro_rules! on_workflow {
    ($($args:ident => $method:ident),* $(,)?) => {
        $(impl $args {
            async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
                Procedure::new(cx, out, SkillForm::Workflow, self.which).$method().await
            }
        })*
    };
}

on_workflow! {
    WorkflowShowArgs => show, WorkflowHistoryArgs => history, WorkflowRetireArgs => retire,
    WorkflowRestoreArgs => restore, WorkflowWorkedArgs => worked, WorkflowFailedArgs => failed, WorkflowRmArgs => remove,
}

impl WorkflowListArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        list_procedures(cx, out, SkillForm::Workflow, self.retired).await
    }
}

impl WorkflowRollbackArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let ProcedureRollbackArgs { which, to } = self.to;
        Procedure::new(cx, out, SkillForm::Workflow, which).roll_back(to).await
    }
}
