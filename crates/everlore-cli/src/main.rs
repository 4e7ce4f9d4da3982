//! The `everlore` command: remembers and recalls on one machine, from a terminal or a script.
//!
//! `cli` says what can be asked, `context` finds the home, the settings and the engine, each file of `commands` answers
//! one command, and `output` prints. Exit codes: 0 done, 1 nothing found, 2 failed; a reader that went away is no failure.

mod cli;
mod context;
mod settings;
mod model;
mod chat_model;
mod keys;
mod input;
mod editor;
mod output;
mod failure;
mod times;
mod ids;
mod unsaved;
mod own_settings;
mod server;
mod calibration;
mod words;
#[cfg_attr(
    not(feature = "local-model"),
    expect(dead_code, reason = "without local models only what is in use is asked for")
)]
mod models;
mod commands;
#[cfg(test)]
mod reference;

use std::{ffi::OsString, process::ExitCode};

use clap::Parser;

use crate::{
    cli::Cli,
    commands::hook,
    context::Context,
    failure::{Exit, Failure, Result},
    output::Output,
};

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    match hook::is_hook(&args) {
        true => hook::never_fails(&args, || ran(&args)),
        false => ran(&args),
    }
}

/// Understands the arguments, does what they say, and tells how it went.
fn ran(args: &[OsString]) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(usage) => return output::usage(&usage, asks_for_json(args)),
    };
    let mut out = Output::new(cli.global.json, cli.global.color);
    // A server says what it does; everything else says it if asked.
    let verbose = cli.global.verbose + u8::from(cli.command.serves());
    if verbose > 0 {
        start_log(verbose);
    }
    let outcome = run(cli, &mut out);
    out.finish(outcome).into()
}

/// Runs one command on a thread of its own making: only a server needs more than one.
fn run(cli: Cli, out: &mut Output) -> Result<Exit> {
    let runtime = runtime(cli.command.serves())
        .enable_all()
        .build()
        .map_err(|error| Failure::io("starting up", error))?;
    runtime.block_on(answer(cli, out))
}

fn runtime(serves: bool) -> tokio::runtime::Builder {
    match serves {
        #[cfg(feature = "server")]
        true => tokio::runtime::Builder::new_multi_thread(),
        _ => tokio::runtime::Builder::new_current_thread(),
    }
}

/// Answers one command: its settings first, then the work, then the files are let go.
async fn answer(cli: Cli, out: &mut Output) -> Result<Exit> {
    let cx = Context::new(&cli.global, &cli.command)?;
    for note in cx.notes(&cli.command) {
        out.note(&note);
    }
    let outcome = commands::run(cli.command, &cx, out).await;
    // Whoever waits for the answer has it now; what follows is our own.
    let flushed = out.flush();
    if let Some(note) = cx.left_out().filter(|_| outcome.is_ok()) {
        out.note(&note);
    }
    cx.close().await;
    outcome.and_then(|exit| flushed.map(|()| exit))
}

/// Whether errors in the arguments themselves should be told as JSON.
fn asks_for_json(args: &[OsString]) -> bool {
    args.iter().skip(1).take_while(|arg| *arg != "--").any(|arg| arg == "--json")
}

fn start_log(verbose: u8) {
    let level = match verbose {
        1 => tracing::Level::INFO,
        2 => tracing::Level::DEBUG,
        _ => tracing::Level::TRACE,
    };
    tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).init();
}
