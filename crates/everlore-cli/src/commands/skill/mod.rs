//! `everlore skill`: procedures that you approved, as SKILL.md folders.

mod install;
mod installed;
mod list;
mod procedure;
mod validate;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use everlore::{
    engine::SkillForm,
    internal::files::{regular_file, skill_folder::MAX_SKILL_BYTES},
};

use super::dispatch;
use crate::{
    CliContext, CliError, Exit, Output, Result, commands::CommandFuture, input::text_or_stdin,
};

pub(super) use list::list_procedures;
pub(super) use procedure::{Procedure, ProcedureNameArgs, ProcedureRollbackArgs};

/// Read, version, measure and install skills that you approved
///
/// A skill is a folder with a SKILL.md, made from a suggestion of `everlore reflect` that you approved with `everlore proposals
/// approve`. It lies in the home (`skills/NAME/SKILL.md`); its description reaches prompts, and `skill install` copies it to where
/// an assistant reads skills. A file that you edit is not overwritten: `skill update` makes a version of it.
#[derive(Debug, Subcommand)]
pub(crate) enum SkillCommand {
    List(SkillListArgs),
    Show(SkillShowArgs),
    History(SkillHistoryArgs),
    Update(SkillUpdateArgs),
    Rollback(SkillRollbackArgs),
    Retire(SkillRetireArgs),
    Restore(SkillRestoreArgs),
    Worked(SkillWorkedArgs),
    Failed(SkillFailedArgs),
    Rm(SkillRmArgs),
    Install(install::SkillInstallArgs),
    Uninstall(install::SkillUninstallArgs),
    Validate(validate::SkillValidateArgs),
}

/// List skills
#[derive(Debug, Args)]
pub(crate) struct SkillListArgs {
    /// Also list those that are out of use
    #[arg(long)]
    retired: bool,
}

/// Print a skill with its evidence and measured effect
#[derive(Debug, Args)]
pub(crate) struct SkillShowArgs {
    #[command(flatten)]
    which: ProcedureNameArgs,
}

/// List the versions of a skill, newest first
#[derive(Debug, Args)]
pub(crate) struct SkillHistoryArgs {
    #[command(flatten)]
    which: ProcedureNameArgs,
}

/// Make a new version: from FILE, or from the file in the home as you edited it
#[derive(Debug, Args)]
pub(crate) struct SkillUpdateArgs {
    #[command(flatten)]
    which: ProcedureNameArgs,
    /// The new SKILL.md; - reads standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Bring back an earlier version, byte for byte
#[derive(Debug, Args)]
pub(crate) struct SkillRollbackArgs {
    #[command(flatten)]
    to: ProcedureRollbackArgs,
}

/// Take a skill out of use; `restore` brings it back
#[derive(Debug, Args)]
pub(crate) struct SkillRetireArgs {
    #[command(flatten)]
    which: ProcedureNameArgs,
}

/// Put a retired skill back into use
#[derive(Debug, Args)]
pub(crate) struct SkillRestoreArgs {
    #[command(flatten)]
    which: ProcedureNameArgs,
}

/// Report that a skill was followed and worked
#[derive(Debug, Args)]
pub(crate) struct SkillWorkedArgs {
    #[command(flatten)]
    which: ProcedureNameArgs,
}

/// Report that a skill was followed and failed; three times in a row retire it
#[derive(Debug, Args)]
pub(crate) struct SkillFailedArgs {
    #[command(flatten)]
    which: ProcedureNameArgs,
}

/// Remove a skill and its folder; `everlore memory undo` brings it back
#[derive(Debug, Args)]
pub(crate) struct SkillRmArgs {
    #[command(flatten)]
    which: ProcedureNameArgs,
}

impl SkillCommand {
    /// Returns `true` for commands that only read.
    pub(crate) fn is_read_only(&self) -> bool {
        use SkillCommand::{History, Install, List, Show, Uninstall, Validate};
        matches!(self, List(_) | Show(_) | History(_) | Install(_) | Uninstall(_) | Validate(_))
    }

    /// Runs the command.
    pub(crate) fn run<'a>(self, cx: &'a CliContext, out: &'a mut Output) -> CommandFuture<'a> {
        dispatch!(self, Self, cx, out:
            List | Show | History | Update | Rollback | Retire | Restore | Worked | Failed | Rm | Install | Uninstall |
            Validate
        )
    }
}

/// Runs a command on the skill that the arguments name.
macro_rules! on_skill {
    ($($args:ident => $method:ident),* $(,)?) => {
        $(impl $args {
            async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
                Procedure::new(cx, out, SkillForm::Skill, self.which).$method().await
            }
        })*
    };
}

on_skill! {
    SkillShowArgs => show, SkillHistoryArgs => history, SkillRetireArgs => retire, SkillRestoreArgs => restore,
    SkillWorkedArgs => worked, SkillFailedArgs => failed, SkillRmArgs => remove,
}

impl SkillListArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        list_procedures(cx, out, SkillForm::Skill, self.retired).await
    }
}

impl SkillRollbackArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let ProcedureRollbackArgs { which, to } = self.to;
        Procedure::new(cx, out, SkillForm::Skill, which).roll_back(to).await
    }
}

impl SkillUpdateArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let text = self.file.map(|file| read_update(&file, out)).transpose()?;
        Procedure::new(cx, out, SkillForm::Skill, self.which).update(text.as_deref()).await
    }
}

/// Reads the text of a new version from a file or from standard input.
fn read_update(file: &Path, out: &mut Output) -> Result<String> {
    if file == Path::new("-") {
        return text_or_stdin(&["-".to_owned()], out);
    }
    let failed = |error| CliError::io(file.display().to_string(), error);
    regular_file::read_to_string(file, MAX_SKILL_BYTES).map_err(failed)
}
