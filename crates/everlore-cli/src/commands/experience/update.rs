//! `everlore experience update`: changes fields of an experience.

use clap::Args;
use everlore::engine::ExperienceEdit;

use super::{print_experience, resolve};
use crate::{CliContext, Exit, Output, Result};

/// Change an experience; what is left out stays
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct ExperienceUpdateArgs {
    /// The experience
    id: String,
    /// The problem, in a sentence
    #[arg(long, value_name = "TEXT")]
    pain: Option<String>,
    /// The solution that was tried
    #[arg(long, value_name = "TEXT")]
    solution: Option<String>,
    /// The outcome
    #[arg(long, value_name = "TEXT")]
    outcome: Option<String>,
    /// The error as a program printed it; an empty text removes it
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
    /// A tool that took part, instead of all earlier ones; may be repeated
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
    /// The circumstances: project, system, version
    #[arg(long, value_name = "TEXT")]
    context: Option<String>,
}

impl ExperienceUpdateArgs {
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let id = resolve(cx, &self.id).await?;
        let edit = ExperienceEdit {
            pain: self.pain,
            solution: self.solution,
            outcome: self.outcome,
            error: self.error,
            tools: Some(self.tools).filter(|tools| !tools.is_empty()),
            context: self.context,
        };
        let edited = cx.engine().await?.edit_experience(&cx.scope, id, &edit).await?;
        print_experience(cx, out, &edited).await
    }
}
