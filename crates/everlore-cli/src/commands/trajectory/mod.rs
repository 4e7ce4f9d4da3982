//! `everlore trajectory`: the steps of conversations, with tool calls and outcomes.

mod export;
mod list;
mod show;

use clap::{
    Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use everlore::engine::TrajectoryFormat;

use crate::{CliContext, Exit, Output, Result, times::parse_time_spec};

/// Show, compress and export what agents did: messages, tool calls and outcomes of conversations
///
/// Chat, hooks and the proxy record the steps; `[trajectories]` of the settings limits them. Nothing is stored twice: what is
/// forgotten is gone from trajectories.
#[derive(Debug, Subcommand)]
pub(crate) enum TrajectoryCommand {
    List(list::TrajectoryListArgs),
    Show(show::TrajectoryShowArgs),
    Compress(show::TrajectoryCompressArgs),
    Export(export::TrajectoryExportArgs),
}

impl TrajectoryCommand {
    /// Runs the command.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        match self {
            Self::List(args) => args.run(cx, out).await,
            Self::Show(args) => args.run(cx, out).await,
            Self::Compress(args) => args.run(cx, out).await,
            Self::Export(args) => args.run(cx, out).await,
        }
    }
}

/// Parses the name of a format; help and errors list all of them.
fn format_parser() -> impl TypedValueParser<Value = TrajectoryFormat> {
    PossibleValuesParser::new(TrajectoryFormat::ALL.map(TrajectoryFormat::as_str))
        .try_map(|name| name.parse::<TrajectoryFormat>())
}

/// Parses a point in time; a day means its beginning.
fn parse_since(text: &str) -> std::result::Result<everlore::types::Timestamp, String> {
    parse_time_spec(text).map(|spec| spec.start())
}
