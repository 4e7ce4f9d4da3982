//! One file a command: its arguments, whose comments are its help, and one `run`.

pub(crate) mod filter;
pub(crate) mod checks;
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
    cli::Command,
    context::Context,
    failure::{Exit, Result},
    output::Output,
};

/// Runs a command.
pub(crate) async fn run(command: Command, cx: &Context, out: &mut Output) -> Result<Exit> {
    match command {
        Command::Chat(args) => Box::pin(args.run(cx, out)).await,
        Command::Onboard(args) => Box::pin(args.run(cx, out)).await,
        Command::Remember(args) => args.run(cx, out).await,
        Command::Observe(args) => args.run(cx, out).await,
        Command::Ingest(args) => args.run(cx, out).await,
        Command::Import(args) => args.run(cx, out).await,
        Command::Recall(args) => args.run(cx, out).await,
        Command::Context(args) => args.run(cx, out).await,
        Command::Prompt(command) => command.run(cx, out).await,
        Command::Memory(command) => command.run(cx, out).await,
        Command::Tool(command) => command.run(cx, out).await,
        Command::Fs(command) => command.run(cx, out).await,
        Command::Layer(command) => command.run(cx, out),
        Command::Session(command) => command.run(cx, out).await,
        Command::Extract(args) => args.run(cx, out).await,
        Command::Quarantine(command) => command.run(cx, out).await,
        Command::Upkeep(args) => args.run(cx, out).await,
        Command::Ledger(args) => args.run(cx, out).await,
        Command::Vault(command) => command.run(cx, out).await,
        Command::Scopes(args) => args.run(cx, out).await,
        Command::Agent(command) => command.run(cx, out).await,
        Command::Embed(command) => command.run(cx, out).await,
        Command::Model(command) => command.run(cx, out).await,
        #[cfg(feature = "server")]
        Command::Serve(args) => args.run(cx, out).await,
        #[cfg(feature = "server")]
        Command::Mcp(args) => args.run(cx, out).await,
        Command::Connect(args) => args.run(cx, out),
        Command::Disconnect(args) => args.run(cx, out),
        Command::Hook(args) => args.run(cx, out).await,
        Command::Doctor(args) => args.run(cx, out).await,
        Command::Config(command) => command.run(cx, out),
        Command::Completions(args) => args.run(out),
        Command::Demo(args) => Box::pin(args.run(out)).await,
    }
}
