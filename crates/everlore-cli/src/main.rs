//! The `everlore` command: remembers and recalls on one machine, from a terminal or a script.
//!
//! `cli` says what can be asked, `context` finds the home, the settings and the engine, each file of `commands` answers
//! one command, and `output` prints. Exit codes: 0 done, 1 nothing found, 2 failed; a reader that went away is no failure.

mod cli;
mod cli_context;
mod settings;
mod embedder;
mod chat_model;
mod keys;
mod input;
mod editor;
mod output;
mod error;
mod times;
mod ids;
mod rescue_log;
mod agent_settings;
mod server_client;
mod calibration;
mod render;
#[cfg_attr(
    not(feature = "local-model"),
    expect(dead_code, reason = "without local models only what is in use is asked for")
)]
mod local_models;
mod commands;
#[cfg(test)]
mod reference;

use std::{ffi::OsString, process::ExitCode};

use clap::Parser;

use crate::{
    cli::Cli,
    cli_context::CliContext,
    commands::hook,
    error::{CliError, Exit, Result},
    output::Output,
};

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    match hook::is_hook(&args) {
        true => hook::always_succeed(&args, || run_cli(&args)),
        false => run_cli(&args),
    }
}

/// Understands the arguments, does what they say, and tells how it went.
fn run_cli(args: &[OsString]) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(usage) => return output::print_usage(&usage, wants_json(args)),
    };
    let mut out = Output::new(cli.global.json, cli.global.color);
    // A server says what it does; everything else says it if asked.
    let verbose = cli.global.verbose + u8::from(cli.command.runs_server());
    if verbose > 0 {
        init_logging(verbose);
    }
    let outcome = run(cli, &mut out);
    out.finish(outcome).into()
}

/// Runs one command on a thread of its own making: only a server needs more than one.
fn run(cli: Cli, out: &mut Output) -> Result<Exit> {
    let runtime = runtime_builder(cli.command.runs_server())
        .enable_all()
        .build()
        .map_err(|error| CliError::io("starting up", error))?;
    runtime.block_on(run_command(cli, out))
}

fn runtime_builder(serves: bool) -> tokio::runtime::Builder {
    match serves {
        #[cfg(feature = "server")]
        true => tokio::runtime::Builder::new_multi_thread(),
        _ => tokio::runtime::Builder::new_current_thread(),
    }
}

/// Answers one command: its settings first, then the work, then the files are let go.
async fn run_command(cli: Cli, out: &mut Output) -> Result<Exit> {
    let cx = CliContext::new(&cli.global, &cli.command)?;
    for note in cx.startup_notes(&cli.command) {
        out.note(&note);
    }
    let outcome = commands::run(cli.command, &cx, out).await;
    // Whoever waits for the answer has it now; what follows is our own.
    let flushed = out.flush();
    if let Some(note) = cx.read_only_note().filter(|_| outcome.is_ok()) {
        out.note(&note);
    }
    cx.close().await;
    outcome.and_then(|exit| flushed.map(|()| exit))
}

/// Whether errors in the arguments themselves should be told as JSON.
fn wants_json(args: &[OsString]) -> bool {
    args.iter().skip(1).take_while(|arg| *arg != "--").any(|arg| arg == "--json")
}

fn init_logging(verbose: u8) {
    let level = match verbose {
        1 => tracing::Level::INFO,
        2 => tracing::Level::DEBUG,
        _ => tracing::Level::TRACE,
    };
    tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).init();
}
