//! `everlore trajectory show` and `compress`: the steps of one conversation.

use clap::Args;
use everlore::{
    engine::{Trajectory, TrajectoryStep},
    internal::text::tool_event::main_argument,
};

use crate::{
    CliContext, Exit, Output, Result,
    messages::translate,
    render::{indent, pluralize, sanitize},
    times::format_minute,
};

/// Print the steps of a conversation
#[derive(Debug, Args)]
pub(crate) struct TrajectoryShowArgs {
    /// The conversation, as `everlore trajectory list` names it
    session: String,
}

/// Print a conversation within a token budget: decisions, failures and what solved them stay longest
#[derive(Debug, Args)]
pub(crate) struct TrajectoryCompressArgs {
    /// The conversation, as `everlore trajectory list` names it
    session: String,
    /// The most tokens, at least 50
    #[arg(long, value_name = "TOKENS", default_value_t = 1_000)]
    budget: usize,
}

impl TrajectoryShowArgs {
    /// Prints all steps.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let trajectory = cx.engine().await?.trajectory(&cx.scope, &self.session).await?;
        print(&trajectory, cx, out)
    }
}

impl TrajectoryCompressArgs {
    /// Prints the steps that fit.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let trajectory = cx.engine().await?.trajectory(&cx.scope, &self.session).await?;
        print(&trajectory.compress(self.budget)?, cx, out)
    }
}

fn print(trajectory: &Trajectory, cx: &CliContext, out: &mut Output) -> Result<Exit> {
    if out.is_json() {
        out.json(trajectory)?;
        return Ok(Exit::Done);
    }
    for step in &trajectory.steps {
        let at = format_minute(step.at, &cx.now());
        out.line(&out.bold(&sanitize(&format!("{}. {at} {}", step.step, heading(step)))))?;
        if !step.text.trim().is_empty() {
            out.line(&indent(&sanitize(&step.text), 3))?;
        }
    }
    let outcome = &trajectory.outcome;
    let kind = outcome.kind.to_string();
    let line = format!("outcome: {} ({})", translate(&kind), sanitize(&outcome.why));
    out.say(&line)?;
    for experience in &trajectory.experiences {
        let (pain, solution) = (sanitize(&experience.pain), sanitize(&experience.solution));
        out.say(&format!("learned: {pain} → {solution}"))?;
    }
    if let Some(savings) = &trajectory.compressed {
        let left_out = pluralize(savings.left_out, "step", "steps");
        out.note(&format!("{} of {} tokens; {left_out} left out", savings.tokens, savings.of));
    }
    Ok(Exit::Done)
}

fn heading(step: &TrajectoryStep) -> String {
    match &step.call {
        Some(call) => {
            let argument = main_argument(&call.arguments);
            let state = if call.failed { " (failed)" } else { "" };
            format!("{} {}{state}", call.name, argument.lines().next().unwrap_or_default())
        }
        None => {
            let role = serde_json::to_value(step.role).unwrap_or_default();
            let role = role.as_str().unwrap_or_default().to_owned();
            let model = step.model.as_ref().map_or_else(String::new, |it| format!(" ({it})"));
            step.speaker.clone().unwrap_or(role) + &model
        }
    }
}
