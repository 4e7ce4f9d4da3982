//! `everlore experience`: problems, what solved them, and how often that worked.

mod add;
mod find;
mod list;
mod report;
mod show;
mod update;

use clap::{Args, Subcommand};
use everlore::{MemoryId, engine::ExperienceView};
use serde_json::json;

use super::dispatch;
use crate::{
    CliContext, Exit, Output, Result,
    commands::CommandFuture,
    ids::shorten_id,
    messages::translate,
    render::{pad_width, sanitize},
};

/// Width of the column of names.
const NAME_CELLS: usize = 9;

/// Record problems with what solved them, and find the cure when the same failure comes back
///
/// An experience is a pain, a solution and an outcome, with the error as a program printed it. The same error is
/// recognized in other paths, versions and languages. An ID may be shortened.
#[derive(Debug, Subcommand)]
pub(crate) enum ExperienceCommand {
    Add(add::ExperienceAddArgs),
    Find(find::ExperienceFindArgs),
    Show(show::ExperienceShowArgs),
    Update(update::ExperienceUpdateArgs),
    Rm(ExperienceRmArgs),
    Worked(report::ExperienceWorkedArgs),
    Failed(report::ExperienceFailedArgs),
    List(list::ExperienceListArgs),
}

/// Delete an experience; `everlore memory undo` brings it back
#[derive(Debug, Args)]
pub(crate) struct ExperienceRmArgs {
    /// The experience
    id: String,
}

impl ExperienceCommand {
    /// Returns `true` for commands that only read.
    pub(crate) fn is_read_only(&self) -> bool {
        matches!(self, Self::Find(_) | Self::Show(_) | Self::List(_))
    }

    /// Runs the command.
    pub(crate) fn run<'a>(self, cx: &'a CliContext, out: &'a mut Output) -> CommandFuture<'a> {
        dispatch!(self, Self, cx, out: Add | Find | Show | Update | Rm | Worked | Failed | List)
    }
}

impl ExperienceRmArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let id = resolve(cx, &self.id).await?;
        let engine = cx.engine().await?;
        let short = shorten_id(engine, &cx.scope, id).await?;
        engine.delete_experience(&cx.scope, id).await?;
        out.answer_line(&json!({ "id": id }), &format!("deleted: {short}"))
    }
}

/// Finds the experience that an id or its beginning names.
async fn resolve(cx: &CliContext, name: &str) -> Result<MemoryId> {
    Ok(cx.engine().await?.resolve(&cx.scope, name).await?)
}

/// Prints an experience in full.
async fn print_experience(
    cx: &CliContext,
    out: &mut Output,
    experience: &ExperienceView,
) -> Result<Exit> {
    if out.is_json() {
        out.json(experience)?;
        return Ok(Exit::Done);
    }
    let ExperienceView { pain, solution, outcome, error, tools, context, .. } = experience;
    let id = shorten_id(cx.engine().await?, &cx.scope, experience.id).await?;
    out.line(&format!("{} {}", out.bold(&id), translate(&record(experience))))?;
    let tools = tools.join(", ");
    let fields = [
        ("pain", pain),
        ("solution", solution),
        ("outcome", outcome),
        ("context", context),
        ("tools", &tools),
    ];
    for (name, text) in fields.into_iter().filter(|(_, text)| !text.is_empty()) {
        let name = pad_width(&translate(name), NAME_CELLS);
        out.line(&format!("{name} {}", sanitize(text)))?;
    }
    if let Some(error) = error {
        let name = pad_width(&translate("error"), NAME_CELLS);
        out.line(&format!("{name} {}", sanitize(error)))?;
    }
    Ok(Exit::Done)
}

/// Describes how often a solution worked and how far it is trusted.
fn record(experience: &ExperienceView) -> String {
    let ExperienceView { worked, failed, uses, success, status, .. } = experience;
    let trust = experience.trust_note().map_or_else(String::new, |note| format!(", {note}"));
    format!(
        "worked {worked}, failed {failed}, success {:.0} %, used again {uses}, {status}{trust}",
        success * 100.0
    )
}
