//! `everlore hook HOST EVENT`: called by coding agents at fixed points of a conversation. It never fails and never takes
//! long. A *conversation* is the host's, known by its id; its *session* is the store's, known by its name.
//!
//! One hook event, from the host to the store (`everlore connect` makes hosts send them):
//!
//! 1. `main` (`lib.rs`) recognizes a hook before it parses arguments; `always_succeed` (`entry.rs`) starts a time limit
//!    and exits with 0 whatever happens. `HookArgs::run` reads standard input, and `HookEvent::parse` (`event.rs`) reads it as
//!    the host's table says (`host.rs`). `respond` then acts by `HookEventKind`.
//! 2. `HookCall::for_event` finds the conversation. Its session name and the blocks that the model still sees are in
//!    `HOME/hooks/DIGEST.json` (`conversation.rs`); `Spool::update_conversation` changes them under a lock.
//! 3. Start: `context::for_session_start` renders the layers (`Engine::preview_prompt`) without opening the database.
//! 4. Prompt: `on_prompt` spools the message on another thread (`Spool::put_turn`: secrets masked, durable, in
//!    `HOME/hooks/waiting/RUN.json`) while `context::for_prompt` recalls. `context::build_block` asks the home's server
//!    (`server_client::fetch_context`, `POST /v1/context`) if its version and settings are the same, else it calls
//!    `Engine::inject_deferred` and spools the injection record. A failed tool gets its block the same way.
//!    `HookHost::context_response` formats it, and `exit_now` ends the process without closing the store.
//! 5. Stop, compact, end: `HookCall::on_boundary` spools the answer (stop), starts a new visible context (compact), and
//!    `drain::spawn_drain` starts a detached process, `everlore hook HOST drain`.
//! 6. That process (`drain::run`) stores the spooled entries under a lock: turns by `Engine::observe`, unless the
//!    journal has their run (a digest of conversation, role and exchange), answers also by `Engine::record_answer`,
//!    injections by `Engine::record_injection`. It then extracts memories (compact), ends the session (end), or
//!    extracts what is due.

mod entry;
mod host;
mod event;
mod classify;
mod project;
mod transcript;
mod conversation;
mod spool;
mod tool_calls;
mod context;
mod drain;

use std::{
    borrow::Cow,
    convert::Infallible,
    io::{self, Read},
    path::PathBuf,
    time::Duration,
};

use clap::Args;
use everlore::{
    Turn,
    internal::{
        text::{
            injected_blocks::strip_injected_blocks, quoted_text::SpokenText,
            side_requests::is_side_request,
        },
        to_millisecond,
    },
    types::{MAX_CONTENT_BYTES, Role},
};
use tokio::task::{JoinHandle, spawn_blocking};

use self::{
    classify::is_command,
    entry::{exit_after, is_drain_event},
    event::HookEvent,
    spool::{Spool, SpooledTurn, digest},
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

/// Spools the outcome of a tool call and recalls what is known about its error. Context is returned even if spooling
/// fails.
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

/// One call of a hook: the event and its conversation.
struct HookCall<'a> {
    event: &'a HookEvent,
    cx: &'a CliContext,
    spool: Spool,
    /// Host and the host's id of the conversation.
    conversation_key: String,
    /// Session name in the store.
    session: String,
}

impl<'a> HookCall<'a> {
    /// Finds the conversation of an event; `None` if it has none.
    fn for_event(event: &'a HookEvent, cx: &'a CliContext) -> Result<Option<Self>> {
        let Some(id) = event.session_id() else { return Ok(None) };
        let spool = Spool::in_home(&cx.home);
        let key = format!("{}/{id}", event.host.as_str());
        // The agent may change its folder; the session keeps its first name.
        let session = spool.update_conversation(&key, |state| {
            if state.name.is_empty() {
                state.name = session_name(event, id);
            }
            Ok(state.name.clone())
        });
        // Context can be injected even if the state cannot be written.
        let session = session.unwrap_or_else(|_| session_name(event, id));
        Ok(Some(Self { event, cx, spool, conversation_key: key, session }))
    }

    /// Returns the user's own words; `None` for commands to the host and for what the host asks on its own account.
    fn user_message(&self) -> Option<String> {
        let prompt = self.event.prompt()?;
        let message = SpokenText::parse(prompt).own.into_owned();
        let is_own = !is_command(&message) && !is_side_request(&[], prompt, None);
        (!message.is_empty() && is_own).then_some(message)
    }

    /// Returns the text to store of a prompt with the user's own words `message`: what it quotes comes along, and the
    /// store keeps both apart.
    fn stored_text<'m>(&'m self, message: &'m str) -> Cow<'m, str> {
        let prompt = self.event.prompt().filter(|prompt| prompt.len() <= MAX_CONTENT_BYTES);
        prompt.map_or(Cow::Borrowed(message), strip_injected_blocks)
    }

    /// Starts to spool the user's message on another thread: it waits for the disk, and masking secrets takes time.
    fn spool_prompt(&self, message: &str) -> io::Result<JoinHandle<io::Result<()>>> {
        let number = self.spool.update_conversation(&self.conversation_key, |state| {
            Ok(state.record_prompt(message))
        })?;
        let text = self.stored_text(message);
        let (run, turn) = self.spooled_turn(Role::User, &self.exchange_id(number), &text);
        let (spool, mask) = (self.spool.clone(), self.masks_secrets());
        let turn = self.spool_entry(turn);
        Ok(spawn_blocking(move || spool.put_turn(&run, &turn, mask)))
    }

    /// Handles the end of an exchange, of a visible context or of the conversation: spools the answer (stop), starts a new
    /// visible context (compact), and starts the process that drains the spool.
    fn on_boundary(&self) -> Result<()> {
        let kind = self.event.kind;
        if kind == HookEventKind::Stop {
            self.spool_answer()?;
        }
        if kind == HookEventKind::Compact {
            self.update_conversation(|state| {
                state.start_visible_context(self.cx.now().timestamp());
                Ok(())
            })?;
        }
        let options = match kind {
            HookEventKind::Compact => vec!["--extract", &self.session],
            HookEventKind::End => vec!["--end", &self.session],
            _ => Vec::new(),
        };
        drain::spawn_drain(self.cx, self.event.host, &options)
    }

    fn spool_answer(&self) -> Result<()> {
        let number = self.update_conversation(|state| Ok(state.record_answer()))?;
        let from_file = match (number, self.event.answer()) {
            (1.., Some(_)) => transcript::LastExchange::default(),
            _ => self
                .event
                .transcript_path()
                .map(|path| transcript::last_exchange(&path))
                .unwrap_or_default(),
        };
        // The hooks were installed after the prompt: take it from the event or the transcript.
        if number == 0
            && let Some(prompt) = self.user_message().or(from_file.prompt)
        {
            self.spool_turn(Role::User, &digest(&[&prompt]), &prompt)?;
        }
        let answer = self
            .event
            .answer()
            .map(|text| strip_injected_blocks(text).into_owned())
            .or(from_file.answer);
        match answer.filter(|answer| !answer.is_empty()) {
            Some(answer) => {
                let id = digest(&[&self.exchange_id(number), &answer]);
                let (run, turn) = self.spooled_turn(Role::Assistant, &id, &answer);
                self.put_turn(&run, Turn { answer: Some(self.event.recorded_answer()), ..turn })
            }
            None => Ok(()),
        }
    }

    /// Returns the host's id of the exchange, or the number of its prompt.
    fn exchange_id(&self, number: u64) -> String {
        self.event.exchange_id().map_or_else(|| number.to_string(), str::to_owned)
    }

    /// Spools a turn; `id` is unique in the conversation.
    fn spool_turn(&self, role: Role, id: &str, text: &str) -> Result<()> {
        let (run, turn) = self.spooled_turn(role, id, text);
        self.put_turn(&run, turn)
    }

    fn put_turn(&self, run: &str, turn: Turn) -> Result<()> {
        let spooled = self.spool.put_turn(run, &self.spool_entry(turn), self.masks_secrets());
        spooled.map_err(|error| self.io_error(error))
    }

    fn spool_entry(&self, turn: Turn) -> SpooledTurn {
        SpooledTurn {
            scope: self.cx.scope.clone(),
            host: self.event.host.as_str().to_owned(),
            turn,
        }
    }

    fn masks_secrets(&self) -> bool {
        self.cx.agent_config().memory.mask_secrets
    }

    /// Builds a turn and its run.
    fn spooled_turn(&self, role: Role, id: &str, text: &str) -> (String, Turn) {
        let run = format!("hook-{}", digest(&[&self.conversation_key, &format!("{role:?}"), id]));
        let turn = Turn {
            text: text.to_owned(),
            session: Some(self.session.clone()),
            role: Some(role),
            time: Some(to_millisecond(self.cx.now().timestamp())),
            ..Turn::default()
        };
        (run, turn)
    }

    fn update_conversation<T>(
        &self,
        change: impl FnOnce(&mut conversation::ConversationState) -> io::Result<T>,
    ) -> Result<T> {
        self.spool
            .update_conversation(&self.conversation_key, change)
            .map_err(|error| self.io_error(error))
    }

    fn io_error(&self, error: io::Error) -> CliError {
        CliError::io(self.cx.home.join("hooks").display().to_string(), error)
    }
}

/// Returns the session name of a new conversation: `HOST/PROJECT/ID`.
fn session_name(event: &HookEvent, id: &str) -> String {
    let host = event.host;
    let from_host = host.project_variable().and_then(std::env::var_os).map(PathBuf::from);
    let folder = from_host.filter(|folder| folder.is_absolute()).or_else(|| event.working_folder());
    let project = folder.map(|folder| project::project_name(&folder)).unwrap_or_default();
    if project.is_empty() {
        format!("{}/{id}", host.as_str())
    } else {
        format!("{}/{project}/{id}", host.as_str())
    }
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
