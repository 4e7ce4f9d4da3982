//! `everlore layer`: the layer files SOUL, USER, MEMORY and DAILY.

mod show;
mod edit;
mod history;
mod forget;
mod check;

use clap::{Args, Subcommand};
use everlore::{
    engine::{Layer, LayerText},
    internal::files::layers::EditContext,
    types::Actor,
};
use jiff::civil::Date;

pub(crate) use check::{LayerFinding, layer_findings};

use crate::{CliContext, CliError, Exit, Output, Result};

/// Manage SOUL.md, USER.md, MEMORY.md and the daily log
///
/// LAYER is soul (who the agent is), user (who the user is), memory (the agent's notes) or daily (today's log). Each is
/// a markdown file of sections, `## Title`, with a budget of characters.
#[derive(Debug, Subcommand)]
pub(crate) enum LayerCommand {
    List(show::LayerListArgs),
    Show(show::LayerShowArgs),
    Path(show::LayerPathArgs),
    Add(edit::LayerAddArgs),
    Replace(edit::LayerReplaceArgs),
    Remove(edit::LayerRemoveArgs),
    Edit(edit::LayerEditArgs),
    History(history::LayerHistoryArgs),
    Undo(history::LayerUndoArgs),
    Redo(history::LayerRedoArgs),
    Forget(forget::LayerForgetArgs),
}

/// Layer file.
#[derive(Debug, Args)]
pub(crate) struct LayerTargetArgs {
    /// soul, user, memory or daily
    layer: Layer,
    /// The day of the daily log, as 2026-03-02 [default: today]
    #[arg(long, value_name = "DATE", value_parser = parse_day)]
    day: Option<Date>,
}

impl LayerTargetArgs {
    fn resolve_day(&self, cx: &CliContext) -> Result<Date> {
        if self.day.is_some() && self.layer != Layer::Daily {
            return Err(CliError::invalid(
                "only the daily log has days",
                "leave --day out, or use the layer daily",
            ));
        }
        Ok(self.day.unwrap_or_else(|| cx.now().date()))
    }
}

impl LayerCommand {
    /// Returns `true` for commands that only read.
    fn is_read_only(&self) -> bool {
        matches!(self, Self::List(_) | Self::Show(_) | Self::Path(_))
    }

    /// Runs the command.
    pub(crate) fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        if !self.is_read_only() {
            cx.create_first_layers(&cx.home);
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
            Self::Redo(args) => args.run(cx, out),
            Self::Forget(args) => args.run(cx, out),
        }
    }
}

fn parse_day(text: &str) -> Result<Date, String> {
    text.parse().map_err(|_| format!("`{text}` is not a day; write it as 2026-03-02"))
}

/// Returns the edit context of a person, now.
fn by_person(cx: &CliContext) -> EditContext {
    EditContext { actor: Actor::Person, now: cx.now() }
}

/// Formats the size of a file: a bar of eight cells, and the characters.
fn fill_bar(layer: &LayerText) -> String {
    let usage = layer.usage;
    let filled = (usage.chars * 8).div_ceil(usage.budget).min(8);
    let (full, free) = ("█".repeat(filled), "░".repeat(8 - filled));
    let over = if usage.chars > usage.budget { ", over budget" } else { "" };
    format!("{full}{free} {} of {} characters{over}", usage.chars, usage.budget)
}
