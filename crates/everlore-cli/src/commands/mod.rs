//! Commands, a file or folder each: the arguments, whose doc comments are the help, and one `run`. Files that are no
//! command hold what several share: options (`filter_args`, `check_args`) and forms of recall (`calibrate`, `explain`,
//! `why_not`).

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
pub(crate) mod experience;
pub(crate) mod feedback;
pub(crate) mod upkeep;
pub(crate) mod audit;
pub(crate) mod reflect;
pub(crate) mod proposals;
pub(crate) mod skill;
pub(crate) mod workflow;
pub(crate) mod schedule;
pub(crate) mod heartbeat;
pub(crate) mod profile;
pub(crate) mod trajectory;
pub(crate) mod ledger;
pub(crate) mod vault;
pub(crate) mod scopes;
pub(crate) mod store;
pub(crate) mod agent;
pub(crate) mod embed;
pub(crate) mod model;
pub(crate) mod connect;
pub(crate) mod hook;
pub(crate) mod doctor;
pub(crate) mod health;
pub(crate) mod tokens;
pub(crate) mod config;
pub(crate) mod completions;
pub(crate) mod demo;
#[cfg(feature = "server")]
pub(crate) mod serve;
#[cfg(feature = "server")]
mod serve_keys;
#[cfg(feature = "server")]
mod serve_stop;
#[cfg(feature = "server")]
pub(crate) mod mcp;

use std::{future::ready, pin::Pin};

use crate::{CliContext, Exit, Output, Result, cli::CliCommand};

/// Future of one command, boxed where the command is chosen: otherwise the state machines of all commands become one,
/// which is compiled again for every runtime.
pub(crate) type CommandFuture<'a> = Pin<Box<dyn Future<Output = Result<Exit>> + 'a>>;

/// Runs a command.
pub(crate) fn run<'a>(
    command: CliCommand,
    cx: &'a CliContext,
    out: &'a mut Output,
) -> CommandFuture<'a> {
    dispatch!(command, CliCommand, cx, out:
        Chat | Onboard | Remember | Observe | Ingest | Import | Recall | List | Show | Forget | Undo | Redo | Context |
        Prompt | Session | Extract |
        Quarantine | Feedback | Upkeep | Audit | Profile | Reflect | Heartbeat | Ledger | Scopes | Agent | Embed | Model |
        Hook | Doctor | Health | Tokens | Trajectory;
        #[cfg(feature = "server")]
        CliCommand::Serve(args) => Box::pin(args.run(cx, out)),
        #[cfg(feature = "server")]
        CliCommand::Mcp(args) => Box::pin(args.run(cx, out)),
        CliCommand::Memory(command) => command.run(cx, out),
        CliCommand::Proposals(args) => args.run(cx, out),
        CliCommand::Skill(command) => command.run(cx, out),
        CliCommand::Workflow(command) => command.run(cx, out),
        CliCommand::Schedule(command) => command.run(cx, out),
        CliCommand::Experience(command) => command.run(cx, out),
        CliCommand::Tool(command) => command.run(cx, out),
        CliCommand::Fs(command) => command.run(cx, out),
        CliCommand::Vault(command) => command.run(cx, out),
        CliCommand::Store(command) => command.run(cx, out),
        // Not before it is awaited: layers that other servers changed are copied first.
        CliCommand::Layer(command) => Box::pin(async move { command.run(cx, out) }),
        CliCommand::Connect(args) => Box::pin(ready(args.run(cx, out))),
        CliCommand::Disconnect(args) => Box::pin(ready(args.run(cx, out))),
        CliCommand::Config(command) => Box::pin(command.run(cx, out)),
        CliCommand::Completions(args) => Box::pin(ready(args.run(out))),
        CliCommand::Demo(args) => Box::pin(args.run(out)),
    )
}

/// Matches a command: the named variants are run and boxed, the other arms follow.
macro_rules! dispatch {
    ($command:expr, $type:ident, $cx:ident, $out:ident: $($variant:ident)|+ $(; $($other:tt)+)?) => {
        match $command {
            $($type::$variant(args) => Box::pin(args.run($cx, $out)),)+
            $($($other)+)?
        }
    };
}
use dispatch;
