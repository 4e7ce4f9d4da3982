//! `everlore experience worked` and `failed`: report how a solution went this time.

use clap::Args;
use everlore::types::Status;

use super::{record, resolve};
use crate::{CliContext, Exit, Output, Result, ids::shorten_id, messages::translate};

/// Report that the solution of an experience worked again
#[derive(Debug, Args)]
pub(crate) struct ExperienceWorkedArgs {
    /// The experience
    id: String,
}

/// Report that the solution of an experience did not work; three times in a row retire it
#[derive(Debug, Args)]
pub(crate) struct ExperienceFailedArgs {
    /// The experience
    id: String,
}

impl ExperienceWorkedArgs {
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        report(cx, out, &self.id, true).await
    }
}

impl ExperienceFailedArgs {
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        report(cx, out, &self.id, false).await
    }
}

async fn report(cx: &CliContext, out: &mut Output, name: &str, worked: bool) -> Result<Exit> {
    let id = resolve(cx, name).await?;
    let reported = cx.engine().await?.report_experience(&cx.scope, id, worked).await?;
    let retired = if reported.status == Status::Archived { "; no longer offered" } else { "" };
    let short = shorten_id(cx.engine().await?, &cx.scope, id).await?;
    let record = translate(&record(&reported)).into_owned();
    out.answer_line(&reported, &format!("{short}: {record}{}", translate(retired)))
}
