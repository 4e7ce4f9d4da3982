//! `everlore hook`: what coding agents call at the moments of a conversation. It never fails and never takes long.
//!
//! An event is read (`event.rs`) and understood by the table of its host (`host.rs`). What is told comes from `tell.rs`; what
//! is said is put down durably (`desk.rs`) and stored by a process of its own (`store.rs`).

mod host;
mod event;
mod classify;
mod project;
mod transcript;
mod conversation;
mod spool;
mod context;
mod drain;

use std::{
    ffi::OsString,
    io::{self, Read},
    path::PathBuf,
    process::ExitCode,
    thread,
    time::Duration,
};

use clap::Args;
use everlore::{
    Turn,
    text::injected_blocks::strip_injected_blocks,
    types::{Role, to_millisecond},
};
use tokio::task::{JoinHandle, spawn_blocking};

use self::{
    classify::is_command,
    event::HookEvent,
    spool::{Spool, SpooledTurn, digest},
};
use host::HookEventKind;
pub(crate) use host::{CODEX_MAX_TOKENS, HookHost};
pub(crate) use spool::SpoolBacklog;

use crate::{
    cli_context::CliContext,
    error::{CliError, Exit, Result},
    output::Output,
};

/// The most bytes of an event: results of tools can be long, and what is longer tells no more.
const MAX_EVENT_BYTES: u64 = 32 * 1024 * 1024;

/// How long storing and reading may take: a model may be asked, and some of them think for minutes.
const DRAIN_LIMIT: Duration = Duration::from_secs(15 * 60);

/// What stands for an event when everything that waits is to be stored.
const DRAIN_EVENT: &str = "store";

/// The variable that switches hooks off.
const HOOKS_VARIABLE: &str = "EVERLORE_HOOKS";

/// Answer an event of a coding agent: JSON on standard input, JSON on standard output
///
/// Hosts: claude-code, codex, gemini, cursor. EVENT is the host's name for it, such as UserPromptSubmit. The beginning of a
/// conversation is told who the user is, each message what is worth knowing for it, a tool that failed what is known about the failure;
/// answers are stored. Nothing is printed if there is nothing to tell. It always exits with 0 and within two seconds;
/// EVERLORE_HOOKS=off switches it off. `everlore connect` makes agents call it (docs/connect.md). The event `store` stores
/// what waits, for which hooks start a process of its own.
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// The agent that calls
    host: String,
    /// What happened, as the agent calls it
    event: String,
    /// With `store`: also draw memories from this conversation
    #[arg(long, value_name = "SESSION", hide = true)]
    read: Option<String>,
    /// With `store`: also end this conversation
    #[arg(long, value_name = "SESSION", hide = true)]
    end: Option<String>,
}

impl HookArgs {
    /// Tells, stores, or does nothing. What goes wrong is left to whoever calls: see [`never_fails`].
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        if std::env::var(HOOKS_VARIABLE).is_ok_and(|switch| switch.eq_ignore_ascii_case("off")) {
            return Ok(Exit::Done);
        }
        let host =
            HookHost::from_name(&self.host).ok_or_else(|| unknown_name("host", &self.host))?;
        if self.event == DRAIN_EVENT {
            return Box::pin(drain::run(cx, out, self.read.as_deref(), self.end.as_deref())).await;
        }
        let known =
            host.find_event(&self.event).ok_or_else(|| unknown_name("event", &self.event))?;
        exit_after(known.1.time_limit());
        match HookEvent::parse(host, known, &read_stdin()?) {
            Some(event) if !event.is_from_subagent() => respond(&event, cx, out).await,
            _ => Ok(Exit::Done),
        }
    }
}

/// Does what the moment asks for.
async fn respond(event: &HookEvent, cx: &CliContext, out: &mut Output) -> Result<Exit> {
    if !cx.agent_config().memory.enabled {
        return Ok(Exit::Done);
    }
    if event.kind == HookEventKind::Tool && event.tool_error().is_none() {
        return Ok(Exit::Done);
    }
    let Some(call) = HookCall::for_event(event, cx)? else { return Ok(Exit::Done) };
    let told = match event.kind {
        HookEventKind::Start => context::for_session_start(&call).await?,
        HookEventKind::Prompt => match call.user_message() {
            Some(message) => on_prompt(&call, &message).await?,
            None => None,
        },
        HookEventKind::Tool => context::for_tool_error(&call).await?,
        HookEventKind::Stop | HookEventKind::Compact | HookEventKind::End => {
            call.on_stop()?;
            None
        }
    };
    if let Some(context) = told {
        out.json(&event.host.context_response(event.name, &context))?;
    }
    exit_now(out)
}

/// Puts down what the user said, and says what is worth knowing for it: even where nothing can be written.
async fn on_prompt(call: &HookCall<'_>, message: &str) -> Result<Option<String>> {
    let hearing = call.spool_prompt(message);
    let told = context::for_prompt(call, message).await;
    let heard = match hearing {
        Ok(hearing) => hearing.await.unwrap_or_else(|error| Err(io::Error::other(error))),
        Err(error) => Err(error),
    };
    match told? {
        None => heard.map(|()| None).map_err(|error| call.io_error(error)),
        told => Ok(told),
    }
}

/// Ends the process as soon as the answer is out: letting go of what was read to answer would take longer than a tenth of
/// the whole.
fn exit_now(out: &mut Output) -> Result<Exit> {
    out.flush()?;
    std::process::exit(0)
}

/// One call of a hook, with what it needs.
struct HookCall<'a> {
    event: &'a HookEvent,
    cx: &'a CliContext,
    spool: Spool,
    /// What the host calls the conversation, and which host it is.
    conversation_key: String,
    /// The name of the conversation in the memory.
    session: String,
}

impl<'a> HookCall<'a> {
    /// Finds the conversation; none if the event belongs to none.
    fn for_event(event: &'a HookEvent, cx: &'a CliContext) -> Result<Option<Self>> {
        let Some(id) = event.session_id() else { return Ok(None) };
        let (desk, host) = (Spool::in_home(&cx.home), event.host);
        let key = format!("{}/{id}", host.as_str());
        let named = || {
            let told = host.project_variable().and_then(std::env::var_os).map(PathBuf::from);
            let folder =
                told.filter(|folder| folder.is_absolute()).or_else(|| event.working_folder());
            let project = folder.map(|folder| project::project_name(&folder)).unwrap_or_default();
            match project.is_empty() {
                true => key.clone(),
                false => format!("{}/{project}/{id}", host.as_str()),
            }
        };
        // An agent may change its folder; the conversation keeps its name.
        let session = desk.update_conversation(&key, |known| {
            if known.name.is_empty() {
                known.name = named();
            }
            Ok(known.name.clone())
        });
        // Where nothing can be written, something may still be told.
        let session = session.unwrap_or_else(|_| named());
        Ok(Some(Self { event, cx, spool: desk, conversation_key: key, session }))
    }

    /// What the user said; none if it is nothing that a memory is about.
    fn user_message(&self) -> Option<String> {
        let said = strip_injected_blocks(self.event.prompt()?).into_owned();
        (!said.is_empty() && !is_command(&said)).then_some(said)
    }

    /// Puts down what the user said, while others go on: the disk is waited for, and looking for secrets takes its time.
    fn spool_prompt(&self, message: &str) -> io::Result<JoinHandle<io::Result<()>>> {
        let number = self.spool.update_conversation(&self.conversation_key, |known| {
            Ok(known.record_prompt(message))
        })?;
        let own = self.event.exchange_id().map_or_else(|| number.to_string(), str::to_owned);
        let (run, waiting) = self.spooled_turn(Role::User, &own, message);
        let (desk, masks) = (self.spool.clone(), self.masks_secrets());
        Ok(spawn_blocking(move || desk.put_turn(&run, &waiting, masks)))
    }

    /// Puts down what was answered, and has everything stored that waits.
    fn on_stop(&self) -> Result<()> {
        let moment = self.event.kind;
        if moment == HookEventKind::Stop {
            self.spool_answer()?;
        }
        if moment == HookEventKind::Compact {
            self.update_conversation(|known| {
                known.forget_injected(self.cx.now().timestamp());
                Ok(())
            })?;
        }
        let then = match moment {
            HookEventKind::Compact => vec!["--read", &self.session],
            HookEventKind::End => vec!["--end", &self.session],
            _ => Vec::new(),
        };
        drain::spawn_drain(self.cx, self.event.host, &then)
    }

    fn spool_answer(&self) -> Result<()> {
        let number = self.update_conversation(|known| Ok(known.record_answer()))?;
        let from_file = match (number, self.event.answer()) {
            (1.., Some(_)) => transcript::LastExchange::default(),
            _ => self
                .event
                .transcript_path()
                .map(|path| transcript::last_exchange(&path))
                .unwrap_or_default(),
        };
        // The hooks were not there when it was asked: the event or the transcript tells what.
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
                let own =
                    self.event.exchange_id().map_or_else(|| number.to_string(), str::to_owned);
                self.spool_turn(Role::Assistant, &digest(&[&own, &answer]), &answer)
            }
            None => Ok(()),
        }
    }

    /// Puts a turn down; `own` tells it from the others of the conversation.
    fn spool_turn(&self, role: Role, own: &str, text: &str) -> Result<()> {
        let (run, waiting) = self.spooled_turn(role, own, text);
        self.spool
            .put_turn(&run, &waiting, self.masks_secrets())
            .map_err(|error| self.io_error(error))
    }

    fn masks_secrets(&self) -> bool {
        self.cx.agent_config().memory.mask_secrets
    }

    /// A turn as it is put down, with its run.
    fn spooled_turn(&self, role: Role, own: &str, text: &str) -> (String, SpooledTurn) {
        let run = format!("hook-{}", digest(&[&self.conversation_key, &format!("{role:?}"), own]));
        let turn = Turn {
            text: text.to_owned(),
            session: Some(self.session.clone()),
            speaker: None,
            role: Some(role),
            time: Some(to_millisecond(self.cx.now().timestamp())),
        };
        let host = self.event.host.as_str().to_owned();
        (run, SpooledTurn { scope: self.cx.scope.clone(), host, turn })
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

/// All of standard input, which may never end: then the limit does.
fn read_stdin() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(MAX_EVENT_BYTES).read_to_end(&mut bytes);
    read.map_err(|error| CliError::io("reading standard input", error))?;
    Ok(bytes)
}

/// Ends the process after this time, as if all were well: an agent must never wait for its memory.
fn exit_after(time: Duration) {
    thread::spawn(move || {
        thread::sleep(time);
        std::process::exit(0);
    });
}

/// Whether these are the arguments of a hook, as far as can be told before they are understood.
pub(crate) fn is_hook(args: &[OsString]) -> bool {
    let mut args = args.iter().skip(1);
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        if ["--home", "--agent", "--user", "--config", "--color"].contains(&&*text) {
            args.next();
        } else if !text.starts_with('-') {
            return text == "hook";
        }
    }
    false
}

/// What a hook exits with, whatever happened: to some hosts any other number means that the agent must not go on.
pub(crate) fn always_succeed(args: &[OsString], work: impl FnOnce() -> ExitCode) -> ExitCode {
    if !args.iter().any(|arg| arg == DRAIN_EVENT) {
        // Before anything is looked at: even a folder may not answer.
        exit_after(HookEventKind::Prompt.time_limit());
    }
    // What went wrong was told on standard error already.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    ExitCode::SUCCESS
}

fn unknown_name(what: &str, name: &str) -> CliError {
    let hosts = HookHost::ALL.map(HookHost::as_str).join(", ");
    CliError::invalid(
        format!("there is no {what} `{name}`"),
        format!("hosts: {hosts}; `everlore connect HOST --print` shows the events of each"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_that_panics_exits_with_zero() {
        // As when storing, so that no limit ends the test.
        let args = [OsString::from(DRAIN_EVENT)];
        let code = always_succeed(&args, || panic!("this is only a test"));
        assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::SUCCESS));
        assert_eq!(
            format!("{:?}", always_succeed(&args, || ExitCode::from(2))),
            format!("{code:?}")
        );
    }

    #[test]
    fn a_hook_is_known_before_its_arguments_are_understood() {
        let is = |line: &str| is_hook(&line.split(' ').map(Into::into).collect::<Vec<_>>());
        assert!(is("everlore hook") && is("everlore --home /x hook codex Stop --wrong"));
        assert!(!is("everlore recall tea") && !is("everlore"));
        assert!(!is("everlore recall hook") && !is("everlore --agent hook recall tea"));
    }
}
