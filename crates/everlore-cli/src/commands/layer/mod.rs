//! `everlore layer`: the files SOUL, USER, MEMORY and DAILY.

mod show;
mod change;
mod history;
mod forget;
mod check;

use clap::{Args, Subcommand};
use everlore::{
    files::layers::{By, Layer, LayerText},
    types::Actor,
};
use jiff::civil::Date;

pub(crate) use check::findings;

use crate::{
    context::Context,
    failure::{Exit, Failure, Result},
    output::Output,
};

/// Look after SOUL.md, USER.md, MEMORY.md and the daily log
///
/// LAYER is soul (who the agent is), user (who the user is), memory (the agent's notes) or daily (today's log). Each is a
/// markdown file of sections, `## Title`, with a budget of characters.
#[derive(Debug, Subcommand)]
pub(crate) enum LayerCommand {
    List(show::ListArgs),
    Show(show::ShowArgs),
    Path(show::PathArgs),
    Add(change::AddArgs),
    Replace(change::ReplaceArgs),
    Remove(change::RemoveArgs),
    Edit(change::EditArgs),
    History(history::HistoryArgs),
    Undo(history::UndoArgs),
    Forget(forget::ForgetArgs),
}

/// Which file is meant.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// soul, user, memory or daily
    layer: Layer,
    /// The day of the daily log, as 2026-03-02 [default: today]
    #[arg(long, value_name = "DATE")]
    day: Option<Date>,
}

impl Which {
    fn day(&self, cx: &Context) -> Result<Date> {
        if self.day.is_some() && self.layer != Layer::Daily {
            return Err(Failure::invalid(
                "only the daily log has days",
                "leave --day out, or use the layer daily",
            ));
        }
        Ok(self.day.unwrap_or_else(|| cx.now().date()))
    }
}

impl LayerCommand {
    /// Whether it only looks.
    fn only_reads(&self) -> bool {
        matches!(self, Self::List(_) | Self::Show(_) | Self::Path(_))
    }

    /// Runs the command.
    pub(crate) fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        if !self.only_reads() {
            cx.welcome(&cx.home);
        }
        match self {
            Self::List(args) => args.run(cx, out),
            Self::Show(args) => args.run(cx, out),
            Self::Path(args) => args.run(cx, out),
            Self::Add(args) => args.run(cx, out),
            Self::Replace(args) => args.run(cx, out),
            Self::Remove(args) => args.run(cx, out),
            Self::Edit(args) => args.run(cx, out),
            Self::History(args) => args.run(cx, out),
            Self::Undo(args) => args.run(cx, out),
            Self::Forget(args) => args.run(cx, out),
        }
    }
}

/// A person, now.
fn person(cx: &Context) -> By {
    By { actor: Actor::Person, now: cx.now() }
}

/// How full a file is: eight cells, and the characters.
fn bar(layer: &LayerText) -> String {
    let usage = layer.usage;
    let filled = (usage.chars * 8).div_ceil(usage.budget).min(8);
    let (full, free) = ("█".repeat(filled), "░".repeat(8 - filled));
    let over = if usage.chars > usage.budget { ", over budget" } else { "" };
    format!("{full}{free} {} of {} characters{over}", usage.chars, usage.budget)
}
