//! `everlore hook HOST EVENT`: called by coding agents at fixed points of a conversation. It never fails and never takes
//! long. A *conversation* is the host's, known by its id; its *session* is the store's, known by its name.
//!
//! One hook event, from the host to the store (`everlore connect` makes hosts send them):
//!
//! 1. `run_args` (`lib.rs`) recognizes a hook before it parses arguments; `always_succeed` (`entry.rs`) starts a time limit
//!    and exits with 0 whatever happens. `HookArgs::run` reads standard input, and `HookEvent::parse` (`event.rs`) reads it as
//!    the host's table says (`host.rs`). `respond` then acts by `HookEventKind`.
//! 2. `HookCall::for_event` (`call.rs`) finds the conversation. Its session name and the blocks that the model still sees are
//!    in `HOME/hooks/DIGEST.json` (`conversation.rs`); `ConversationStates::update` changes them under a lock.
//! 3. Start: `context::for_session_start` renders the layers from files (`Engine::preview_prompt`), then opens the
//!    database, if that takes at most 0.8 s, and takes the reminders that are due (`Engine::due_reminders`).
//! 4. Prompt: `on_prompt` spools the message on another thread (`Spool::put_turn`: secrets masked, durable, in
//!    `HOME/hooks/waiting/RUN.json`) while `context::for_prompt` recalls. `context::build_block` asks the home's server
//!    (`server_client::fetch_context`, `POST /v1/context`) if its version and settings are the same and
//!    `memory.inject.first_round_empty` is off, else it calls `Engine::inject_deferred` and spools the injection record.
//!    `HookHost::context_response` formats the block, and `exit_now` ends the process without closing the store.
//! 5. Tool: `HookCall::spool_tool_call` (`tool_calls.rs`) spools the call for the trajectory; a failed one, and what
//!    follows it until the same call succeeds, as a turn. `context::for_tool_error` recalls the cures of a failure.
//! 6. Stop, compact, end: `HookCall::on_boundary` spools the answer (stop), starts a new visible context (compact), and
//!    `drain::spawn_drain` starts a detached process, `everlore hook HOST drain`.
//! 7. That process (`drain::run`) stores the spooled entries under a lock: turns by `Engine::observe`, unless the
//!    journal has their run (a digest of conversation, role and exchange), answers also by `Engine::record_answer`,
//!    injections by `Engine::record_injection`. It then extracts memories (compact), ends the session (end), or
//!    extracts what is due.

mod entry;
mod host;
mod event;
mod call;
mod classify;
mod project;
mod transcript;
mod conversation;
mod spool;
mod tool_calls;
mod context;
mod drain;

use std::{
    convert::Infallible,
    io::{self, Read},
    time::Duration,
};

use clap::Args;

use self::{
    call::HookCall,
    entry::{exit_after, is_drain_event},
    event::HookEvent,
};
pub(crate) use drain::replay_overdue;
pub(crate) use entry::{always_succeed, is_hook};
pub(crate) use host::{CODEX_MAX_TOKENS, HookEventKind, HookHost};
pub(crate) use spool::SpoolBacklog;

use crate::{
    cli_context::CliContext,
    error::{CliError, Exit, Result},
    output::Output,
};

/// Most bytes read of an event; results of tools can be long.
const MAX_EVENT_BYTES: u64 = 32 * 1024 * 1024;

/// Time limit for draining and extracting: a model may be asked, and some think for minutes.
const DRAIN_LIMIT: Duration = Duration::from_secs(15 * 60);

/// Environment variable that switches hooks off.
const HOOKS_VARIABLE: &str = "EVERLORE_HOOKS";

/// Answer an event of a coding agent: JSON on standard input, JSON on standard output
///
/// Hosts: claude-code, codex, gemini, cursor, qwen-code, opencode. EVENT is the host's name for it, such as
/// UserPromptSubmit. The start of a conversation gets the layers, each message the relevant memories, a failed tool the
/// cures of its error; messages and answers are stored. Nothing is printed if nothing is relevant. It always exits
/// with 0, within two seconds; EVERLORE_HOOKS=off switches it off. `everlore connect` makes agents call it
/// (docs/connect.md). The event `drain` stores what is in the spool; hooks start that process by themselves.
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// Coding agent that calls
    host: String,
    /// Host's name of the event
    event: String,
    /// With `drain`: also extract memories from this session
    #[arg(long, alias = "read", value_name = "SESSION", hide = true)]
    extract: Option<String>,
    /// With `drain`: also end this session
    #[arg(long, value_name = "SESSION", hide = true)]
    end: Option<String>,
}

impl HookArgs {
    /// Responds to an event, or drains the spool. Errors are returned; [`always_succeed`] hides them from the host.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        if std::env::var(HOOKS_VARIABLE).is_ok_and(|switch| switch.eq_ignore_ascii_case("off")) {
            return Ok(Exit::Done);
        }
        let host =
            HookHost::from_name(&self.host).ok_or_else(|| unknown_name("host", &self.host))?;
        if is_drain_event(&self.event) {
            return Box::pin(drain::run(cx, out, self.extract.as_deref(), self.end.as_deref()))
                .await;
        }
        let (name, kind) =
            host.find_event(&self.event).ok_or_else(|| unknown_name("event", &self.event))?;
        exit_after(kind.time_limit());
        match HookEvent::parse(host, (name, kind), &read_stdin()?) {
            Some(event) if !event.is_from_subagent() => respond(&event, cx, out).await,
            _ => Ok(Exit::Done),
        }
    }
}

/// Handles one event and prints the context to inject, if any. With a conversation it ends the process.
async fn respond(event: &HookEvent, cx: &CliContext, out: &mut Output) -> Result<Exit> {
    if !cx.agent_config().memory.enabled {
        return Ok(Exit::Done);
    }
    let Some(call) = HookCall::for_event(event, cx)? else { return Ok(Exit::Done) };
    let context = match event.kind {
        HookEventKind::Start => context::for_session_start(&call).await?,
        HookEventKind::Prompt => match call.user_message() {
            Some(message) => on_prompt(&call, &message).await?,
            None => None,
        },
        HookEventKind::Tool => on_tool(&call).await?,
        HookEventKind::Stop | HookEventKind::Compact | HookEventKind::End => {
            call.on_boundary()?;
            None
        }
    };
    if let Some(context) = context {
        out.json(&event.host.context_response(event.name, &context))?;
    }
    match exit_now(out)? {}
}

/// Spools the user's message and recalls context for it at the same time. Context is returned even if spooling fails.
async fn on_prompt(call: &HookCall<'_>, message: &str) -> Result<Option<String>> {
    let spooling = call.spool_prompt(message);
    let context = context::for_prompt(call, message).await;
    let spooled = match spooling {
        Ok(spooling) => spooling.await.unwrap_or_else(|error| Err(io::Error::other(error))),
        Err(error) => Err(error),
    };
    match context? {
        None => spooled.map(|()| None).map_err(|error| call.io_error(error)),
        context => Ok(context),
    }
}

/// Spools a tool call and recalls the cures of its error. Context is returned even if spooling fails.
async fn on_tool(call: &HookCall<'_>) -> Result<Option<String>> {
    let error = call.event.tool_error();
    let spooled = call.spool_tool_call(error.as_deref());
    match error {
        Some(error) => context::for_tool_error(call, &error).await,
        None => spooled.map(|()| None),
    }
}

/// Ends the process as soon as the response is written; returns only if that fails. Closing the store and dropping the
/// engine would take more than a tenth of the whole call.
fn exit_now(out: &mut Output) -> Result<Infallible> {
    out.flush()?;
    std::process::exit(0)
}

/// Reads all of standard input. If it never ends, the time limit ends the process.
fn read_stdin() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(MAX_EVENT_BYTES).read_to_end(&mut bytes);
    read.map_err(|error| CliError::io("reading standard input", error))?;
    Ok(bytes)
}

fn unknown_name(what: &str, name: &str) -> CliError {
    let hosts = HookHost::ALL.map(HookHost::as_str).join(", ");
    CliError::invalid(
        format!("there is no {what} `{name}`"),
        format!("hosts: {hosts}; `everlore connect HOST --print` shows the events of each"),
    )
}
