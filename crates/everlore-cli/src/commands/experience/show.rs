//! `everlore experience show`: prints one experience.

use clap::Args;

use super::{print_experience, resolve};
use crate::{CliContext, Exit, Output, Result};

/// Print an experience in full, with how often it worked
#[derive(Debug, Args)]
pub(crate) struct ExperienceShowArgs {
    /// The experience
    id: String,
}

impl ExperienceShowArgs {
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let id = resolve(cx, &self.id).await?;
        print_experience(cx, out, &cx.engine().await?.experience(&cx.scope, id).await?).await
    }
}
