//! One file a command: its arguments, whose comments are its help, and one `run`.

pub(crate) mod filter_args;
pub(crate) mod check_args;
pub(crate) mod chat;
pub(crate) mod onboard;
pub(crate) mod remember;
pub(crate) mod observe;
pub(crate) mod ingest;
pub(crate) mod import;
pub(crate) mod recall;
mod calibrate;
mod explain;
mod why_not;
pub(crate) mod context;
pub(crate) mod prompt;
pub(crate) mod memory;
pub(crate) mod tool;
pub(crate) mod fs;
pub(crate) mod layer;
pub(crate) mod session;
pub(crate) mod extract;
pub(crate) mod quarantine;
pub(crate) mod upkeep;
pub(crate) mod ledger;
pub(crate) mod vault;
pub(crate) mod scopes;
pub(crate) mod agent;
pub(crate) mod embed;
pub(crate) mod model;
pub(crate) mod connect;
pub(crate) mod hook;
pub(crate) mod doctor;
pub(crate) mod config;
pub(crate) mod completions;
pub(crate) mod demo;
#[cfg(feature = "server")]
pub(crate) mod serve;
#[cfg(feature = "server")]
pub(crate) mod mcp;

use crate::{
    cli::CliCommand,
    cli_context::CliContext,
    error::{Exit, Result},
    output::Output,
};

/// Runs a command.
pub(crate) async fn run(command: CliCommand, cx: &CliContext, out: &mut Output) -> Result<Exit> {
    match command {
        CliCommand::Chat(args) => Box::pin(args.run(cx, out)).await,
        CliCommand::Onboard(args) => Box::pin(args.run(cx, out)).await,
        CliCommand::Remember(args) => args.run(cx, out).await,
        CliCommand::Observe(args) => args.run(cx, out).await,
        CliCommand::Ingest(args) => args.run(cx, out).await,
        CliCommand::Import(args) => args.run(cx, out).await,
        CliCommand::Recall(args) => args.run(cx, out).await,
        CliCommand::Context(args) => args.run(cx, out).await,
        CliCommand::Prompt(command) => command.run(cx, out).await,
        CliCommand::Memory(command) => command.run(cx, out).await,
        CliCommand::Tool(command) => command.run(cx, out).await,
        CliCommand::Fs(command) => command.run(cx, out).await,
        CliCommand::Layer(command) => command.run(cx, out),
        CliCommand::Session(command) => command.run(cx, out).await,
        CliCommand::Extract(args) => args.run(cx, out).await,
        CliCommand::Quarantine(command) => command.run(cx, out).await,
        CliCommand::Upkeep(args) => args.run(cx, out).await,
        CliCommand::Ledger(args) => args.run(cx, out).await,
        CliCommand::Vault(command) => command.run(cx, out).await,
        CliCommand::Scopes(args) => args.run(cx, out).await,
        CliCommand::Agent(command) => command.run(cx, out).await,
        CliCommand::Embed(command) => command.run(cx, out).await,
        CliCommand::Model(command) => command.run(cx, out).await,
        #[cfg(feature = "server")]
        CliCommand::Serve(args) => args.run(cx, out).await,
        #[cfg(feature = "server")]
        CliCommand::Mcp(args) => args.run(cx, out).await,
        CliCommand::Connect(args) => args.run(cx, out),
        CliCommand::Disconnect(args) => args.run(cx, out),
        CliCommand::Hook(args) => args.run(cx, out).await,
        CliCommand::Doctor(args) => args.run(cx, out).await,
        CliCommand::Config(command) => command.run(cx, out),
        CliCommand::Completions(args) => args.run(out),
        CliCommand::Demo(args) => Box::pin(args.run(out)).await,
    }
}
