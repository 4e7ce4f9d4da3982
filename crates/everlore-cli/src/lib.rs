//! The `everlore` command: remembers and recalls on one machine, from a terminal or a script.
//!
//! `cli` declares the arguments, `cli_context` finds the home, the settings and the engine, `commands` has a file or
//! folder for each command, and `output` prints. Exit codes: 0 done, 1 nothing found, 2 failed; a broken pipe is success.

mod cli;
mod help;
mod word_tables;
mod near_words;
mod command_tips;
mod usage_error;
mod messages;
mod cli_context;
mod settings;
mod config_file;
mod home_store;
mod embedder;
mod chat_model;
mod keys;
mod secret_files;
mod input;
mod editor;
mod open_browser;
mod output;
mod error;
mod times;
mod ids;
mod rescue_log;
mod agent_settings;
mod program;
mod embedded_home;
mod server_client;
mod calibration;
mod render;
mod text_width;
#[cfg_attr(
    not(feature = "local-model"),
    expect(dead_code, reason = "without local models only the active one is looked up")
)]
mod local_models;
mod commands;
#[cfg(test)]
mod reference;

use std::{ffi::OsString, path::Path, process::ExitCode};

use clap::FromArgMatches;

use tracing_subscriber::{filter::filter_fn, layer::SubscriberExt, util::SubscriberInitExt};

use crate::{cli::Cli, commands::hook};

pub use embedded_home::{EmbeddedHome, HomeError, HomeOptions};

/// Re-exports that every command uses.
pub(crate) use {
    cli_context::CliContext,
    error::{CliError, Exit, Result},
    output::Output,
};

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    run_args(&args).into()
}

/// Runs a command line inside another program and returns its exit code. The first argument is the script that started
/// it, by which coding agents and detached processes start it again.
pub fn run_embedded(args: &[OsString]) -> u8 {
    let script = args.first().map_or(Path::new("everlore"), Path::new);
    match program::set_launcher(script) {
        Ok(()) => run_args(args).code(),
        Err(_) => Exit::Failed.code(),
    }
}

fn run_args(args: &[OsString]) -> Exit {
    if hook::is_hook(args) { hook::always_succeed(args, || run_cli(args)) } else { run_cli(args) }
}

/// Parses the arguments, runs the command and prints its errors.
fn run_cli(args: &[OsString]) -> Exit {
    messages::set_language(messages::language_of(args));
    let cli = match parse(args) {
        Ok(cli) => cli,
        Err(usage) => return output::print_usage(&usage, &words(args), wants_json(args)),
    };
    let mut out = Output::new(cli.global.json, cli.global.color);
    // A server logs by default, every other command with -v.
    let verbose = cli.global.verbose + u8::from(cli.command.runs_server());
    if verbose > 0 {
        init_logging(verbose);
    }
    let outcome = run(cli, &mut out);
    out.finish(outcome)
}

/// Parses the arguments.
fn parse(args: &[OsString]) -> std::result::Result<Cli, clap::Error> {
    Cli::from_arg_matches_mut(&mut help::command().try_get_matches_from(args)?)
}

/// Runs one command on a runtime of its own; only a server gets more than one thread.
fn run(cli: Cli, out: &mut Output) -> Result<Exit> {
    let runtime = runtime_builder(cli.command.runs_server())
        .enable_all()
        .build()
        .map_err(|error| CliError::io("starting up", error))?;
    runtime.block_on(run_command(cli, out))
}

fn runtime_builder(runs_server: bool) -> tokio::runtime::Builder {
    match runs_server {
        #[cfg(feature = "server")]
        true => tokio::runtime::Builder::new_multi_thread(),
        _ => tokio::runtime::Builder::new_current_thread(),
    }
}

/// Loads the settings, runs the command, and closes the store. A hook that responds to its host exits inside the command
/// and leaves the store open: its writes are in the spool.
async fn run_command(cli: Cli, out: &mut Output) -> Result<Exit> {
    let cx = CliContext::new(&cli.global, &cli.command)?;
    messages::set_language(cx.language());
    for note in cx.startup_notes(&cli.command) {
        out.note(&note);
    }
    let command = &cli.command;
    let (changes_files, is_interactive) =
        (command.changes_shared_files(), command.is_interactive());
    let running = commands::run(cli.command, &cx, out);
    let outcome = if changes_files && cx.store.is_server() {
        cx.write_files(running, is_interactive).await
    } else {
        running.await
    };
    let outcome = outcome.map_err(|error| cx.store.explain(error));
    // The caller has the answer before the store is closed.
    let flushed = out.flush();
    if let Some(note) = cx.read_only_note().filter(|_| outcome.is_ok()) {
        out.note(&note);
    }
    for note in cx.opening_notes() {
        out.note(&note);
    }
    cx.close().await;
    outcome.and_then(|exit| flushed.map(|()| exit))
}

/// Returns the words of the command line after the program's name.
fn words(args: &[OsString]) -> Vec<String> {
    args.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Returns `true` if usage errors should be printed as JSON.
fn wants_json(args: &[OsString]) -> bool {
    args.iter().skip(1).take_while(|arg| *arg != "--").any(|arg| arg == "--json")
}

fn init_logging(verbose: u8) {
    let level = match verbose {
        1 => tracing::Level::INFO,
        2 => tracing::Level::DEBUG,
        _ => tracing::Level::TRACE,
    };
    // Other crates log what they carry, such as the texts of MCP messages.
    let is_ours = filter_fn(|metadata| metadata.target().starts_with("everlore"));
    let logger = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        // They would be printed to the same stream, and a server whose log nobody reads any more would panic.
        .log_internal_errors(false);
    logger.finish().with(is_ours).init();
}
