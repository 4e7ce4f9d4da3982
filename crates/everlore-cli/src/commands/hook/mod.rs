//! `everlore hook`: what coding agents call at the moments of a conversation. It never fails and never takes long.
//!
//! An event is read (`event.rs`) and understood by the table of its host (`host.rs`). What is told comes from `tell.rs`; what
//! is said is put down durably (`desk.rs`) and stored by a process of its own (`store.rs`).

mod host;
mod event;
mod asks;
mod project;
mod transcript;
mod conversation;
mod desk;
mod tell;
mod store;

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
    text::blocks::without_blocks,
    types::{Role, to_millisecond},
};
use tokio::task::{JoinHandle, spawn_blocking};

use self::{
    asks::is_command,
    desk::{Desk, Waiting, digest},
    event::Event,
};
pub(crate) use desk::Left;
use host::Moment;
pub(crate) use host::{CODEX_TOKENS, Host};

use crate::{
    context::Context,
    failure::{Exit, Failure, Result},
    output::Output,
};

/// The most bytes of an event: results of tools can be long, and what is longer tells no more.
const MAX_EVENT_BYTES: u64 = 32 * 1024 * 1024;

/// How long storing and reading may take: a model may be asked, and some of them think for minutes.
const STORING_LIMIT: Duration = Duration::from_secs(15 * 60);

/// What stands for an event when everything that waits is to be stored.
const STORE: &str = "store";

/// The variable that switches hooks off.
const SWITCH: &str = "EVERLORE_HOOKS";

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
    pub(crate) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        if std::env::var(SWITCH).is_ok_and(|switch| switch.eq_ignore_ascii_case("off")) {
            return Ok(Exit::Done);
        }
        let host = Host::named(&self.host).ok_or_else(|| unknown("host", &self.host))?;
        if self.event == STORE {
            return Box::pin(store::run(cx, out, self.read.as_deref(), self.end.as_deref())).await;
        }
        let known = host.event(&self.event).ok_or_else(|| unknown("event", &self.event))?;
        limit(known.1.limit());
        match Event::read(host, known, &input()?) {
            Some(event) if !event.is_of_a_subagent() => answer(&event, cx, out).await,
            _ => Ok(Exit::Done),
        }
    }
}

/// Does what the moment asks for.
async fn answer(event: &Event, cx: &Context, out: &mut Output) -> Result<Exit> {
    if !cx.agent_config().memory.enabled {
        return Ok(Exit::Done);
    }
    if event.moment == Moment::Tool && event.failure().is_none() {
        return Ok(Exit::Done);
    }
    let Some(call) = Call::of(event, cx)? else { return Ok(Exit::Done) };
    let told = match event.moment {
        Moment::Start => tell::beginning(&call).await?,
        Moment::Prompt => match call.message() {
            Some(message) => heard(&call, &message).await?,
            None => None,
        },
        Moment::Tool => tell::for_failure(&call).await?,
        Moment::Stop | Moment::Compact | Moment::End => {
            call.close()?;
            None
        }
    };
    if let Some(context) = told {
        out.json(&event.host.answer(event.name, &context))?;
    }
    leave(out)
}

/// Puts down what the user said, and says what is worth knowing for it: even where nothing can be written.
async fn heard(call: &Call<'_>, message: &str) -> Result<Option<String>> {
    let hearing = call.hear(message);
    let told = tell::for_message(call, message).await;
    let heard = match hearing {
        Ok(hearing) => hearing.await.unwrap_or_else(|error| Err(io::Error::other(error))),
        Err(error) => Err(error),
    };
    match told? {
        None => heard.map(|()| None).map_err(|error| call.failed(error)),
        told => Ok(told),
    }
}

/// Ends the process as soon as the answer is out: letting go of what was read to answer would take longer than a tenth of
/// the whole.
fn leave(out: &mut Output) -> Result<Exit> {
    out.flush()?;
    std::process::exit(0)
}

/// One call of a hook, with what it needs.
struct Call<'a> {
    event: &'a Event,
    cx: &'a Context,
    desk: Desk,
    /// What the host calls the conversation, and which host it is.
    key: String,
    /// The name of the conversation in the memory.
    session: String,
}

impl<'a> Call<'a> {
    /// Finds the conversation; none if the event belongs to none.
    fn of(event: &'a Event, cx: &'a Context) -> Result<Option<Self>> {
        let Some(id) = event.session_id() else { return Ok(None) };
        let (desk, host) = (Desk::of(&cx.home), event.host);
        let key = format!("{}/{id}", host.as_str());
        let named = || {
            let told = host.project_variable().and_then(std::env::var_os).map(PathBuf::from);
            let folder = told.filter(|folder| folder.is_absolute()).or_else(|| event.folder());
            let project = folder.map(|folder| project::project_of(&folder)).unwrap_or_default();
            match project.is_empty() {
                true => key.clone(),
                false => format!("{}/{project}/{id}", host.as_str()),
            }
        };
        // An agent may change its folder; the conversation keeps its name.
        let session = desk.change(&key, |known| {
            if known.name.is_empty() {
                known.name = named();
            }
            Ok(known.name.clone())
        });
        // Where nothing can be written, something may still be told.
        let session = session.unwrap_or_else(|_| named());
        Ok(Some(Self { event, cx, desk, key, session }))
    }

    /// What the user said; none if it is nothing that a memory is about.
    fn message(&self) -> Option<String> {
        let said = without_blocks(self.event.prompt()?).into_owned();
        (!said.is_empty() && !is_command(&said)).then_some(said)
    }

    /// Puts down what the user said, while others go on: the disk is waited for, and looking for secrets takes its time.
    fn hear(&self, message: &str) -> io::Result<JoinHandle<io::Result<()>>> {
        let number = self.desk.change(&self.key, |known| Ok(known.hear(message)))?;
        let own = self.event.exchange_id().map_or_else(|| number.to_string(), str::to_owned);
        let (run, waiting) = self.waiting(Role::User, &own, message);
        let (desk, masks) = (self.desk.clone(), self.masks());
        Ok(spawn_blocking(move || desk.put(&run, &waiting, masks)))
    }

    /// Puts down what was answered, and has everything stored that waits.
    fn close(&self) -> Result<()> {
        let moment = self.event.moment;
        if moment == Moment::Stop {
            self.hear_answer()?;
        }
        if moment == Moment::Compact {
            self.changed(|known| {
                known.forget_told(self.cx.now().timestamp());
                Ok(())
            })?;
        }
        let then = match moment {
            Moment::Compact => vec!["--read", &self.session],
            Moment::End => vec!["--end", &self.session],
            _ => Vec::new(),
        };
        store::detach(self.cx, self.event.host, &then)
    }

    fn hear_answer(&self) -> Result<()> {
        let number = self.changed(|known| Ok(known.answered()))?;
        let from_file = match (number, self.event.answer()) {
            (1.., Some(_)) => transcript::Last::default(),
            _ => self.event.transcript().map(|path| transcript::last(&path)).unwrap_or_default(),
        };
        // The hooks were not there when it was asked: the event or the transcript tells what.
        if number == 0
            && let Some(prompt) = self.message().or(from_file.prompt)
        {
            self.put(Role::User, &digest(&[&prompt]), &prompt)?;
        }
        let answer =
            self.event.answer().map(|text| without_blocks(text).into_owned()).or(from_file.answer);
        match answer.filter(|answer| !answer.is_empty()) {
            Some(answer) => {
                let own =
                    self.event.exchange_id().map_or_else(|| number.to_string(), str::to_owned);
                self.put(Role::Assistant, &digest(&[&own, &answer]), &answer)
            }
            None => Ok(()),
        }
    }

    /// Puts a turn down; `own` tells it from the others of the conversation.
    fn put(&self, role: Role, own: &str, text: &str) -> Result<()> {
        let (run, waiting) = self.waiting(role, own, text);
        self.desk.put(&run, &waiting, self.masks()).map_err(|error| self.failed(error))
    }

    fn masks(&self) -> bool {
        self.cx.agent_config().memory.mask_secrets
    }

    /// A turn as it is put down, with its run.
    fn waiting(&self, role: Role, own: &str, text: &str) -> (String, Waiting) {
        let run = format!("hook-{}", digest(&[&self.key, &format!("{role:?}"), own]));
        let turn = Turn {
            text: text.to_owned(),
            session: Some(self.session.clone()),
            speaker: None,
            role: Some(role),
            time: Some(to_millisecond(self.cx.now().timestamp())),
        };
        let host = self.event.host.as_str().to_owned();
        (run, Waiting { scope: self.cx.scope.clone(), host, turn })
    }

    fn changed<T>(
        &self,
        change: impl FnOnce(&mut conversation::Conversation) -> io::Result<T>,
    ) -> Result<T> {
        self.desk.change(&self.key, change).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: io::Error) -> Failure {
        Failure::io(self.cx.home.join("hooks").display().to_string(), error)
    }
}

/// All of standard input, which may never end: then the limit does.
fn input() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(MAX_EVENT_BYTES).read_to_end(&mut bytes);
    read.map_err(|error| Failure::io("reading standard input", error))?;
    Ok(bytes)
}

/// Ends the process after this time, as if all were well: an agent must never wait for its memory.
fn limit(time: Duration) {
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
pub(crate) fn never_fails(args: &[OsString], work: impl FnOnce() -> ExitCode) -> ExitCode {
    if !args.iter().any(|arg| arg == STORE) {
        // Before anything is looked at: even a folder may not answer.
        limit(Moment::Prompt.limit());
    }
    // What went wrong was told on standard error already.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    ExitCode::SUCCESS
}

fn unknown(what: &str, name: &str) -> Failure {
    let hosts = Host::ALL.map(Host::as_str).join(", ");
    Failure::invalid(
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
        let args = [OsString::from(STORE)];
        let code = never_fails(&args, || panic!("this is only a test"));
        assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::SUCCESS));
        assert_eq!(format!("{:?}", never_fails(&args, || ExitCode::from(2))), format!("{code:?}"));
    }

    #[test]
    fn a_hook_is_known_before_its_arguments_are_understood() {
        let is = |line: &str| is_hook(&line.split(' ').map(Into::into).collect::<Vec<_>>());
        assert!(is("everlore hook") && is("everlore --home /x hook codex Stop --wrong"));
        assert!(!is("everlore recall tea") && !is("everlore"));
        assert!(!is("everlore recall hook") && !is("everlore --agent hook recall tea"));
    }
}
