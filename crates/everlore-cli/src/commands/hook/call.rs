//! One call of a hook: what it stores of the event, and the conversation that the event belongs to.

use std::{borrow::Cow, io, path::PathBuf};

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

use super::{
    classify::is_command,
    conversation::{ConversationState, ConversationStates},
    drain,
    event::HookEvent,
    host::HookEventKind,
    project,
    spool::{Spool, SpooledTurn, digest},
    transcript,
};
use crate::{
    cli_context::CliContext,
    error::{CliError, Result},
};

/// One call of a hook: the event and its conversation.
pub(super) struct HookCall<'a> {
    pub(super) event: &'a HookEvent,
    pub(super) cx: &'a CliContext,
    pub(super) spool: Spool,
    conversations: ConversationStates,
    /// Host and the host's id of the conversation.
    conversation_key: String,
    /// Session name in the store.
    pub(super) session: String,
}

impl<'a> HookCall<'a> {
    /// Finds the conversation of an event; `None` if it has none.
    pub(super) fn for_event(event: &'a HookEvent, cx: &'a CliContext) -> Result<Option<Self>> {
        let Some(id) = event.conversation_id() else { return Ok(None) };
        let (spool, conversations) =
            (Spool::in_home(&cx.home), ConversationStates::in_home(&cx.home));
        let key = format!("{}/{id}", event.host.as_str());
        // The agent may change its folder; the session keeps its first name.
        let session = conversations.update(&key, |state| {
            if state.session.is_empty() {
                state.session = session_name(event, id);
            }
            Ok(state.session.clone())
        });
        // Context can be injected even if the state cannot be written.
        let session = session.unwrap_or_else(|_| session_name(event, id));
        Ok(Some(Self { event, cx, spool, conversations, conversation_key: key, session }))
    }

    /// Returns the user's own words; `None` for commands to the host and for what the host asks on its own account.
    pub(super) fn user_message(&self) -> Option<String> {
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
    pub(super) fn spool_prompt(&self, message: &str) -> io::Result<JoinHandle<io::Result<()>>> {
        let number = self
            .conversations
            .update(&self.conversation_key, |state| Ok(state.record_prompt(message)))?;
        let text = self.stored_text(message);
        let (run, turn) = self.new_turn(Role::User, &self.exchange_id(number), &text);
        let (spool, mask) = (self.spool.clone(), self.masks_secrets());
        let turn = self.to_spooled(turn);
        Ok(spawn_blocking(move || spool.put_turn(&run, &turn, mask)))
    }

    /// Handles the end of an exchange, of a visible context or of the conversation: spools the answer (stop), starts a new
    /// visible context (compact), and starts the process that drains the spool.
    pub(super) fn on_boundary(&self) -> Result<()> {
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
                let (run, turn) = self.new_turn(Role::Assistant, &id, &answer);
                self.put_in_spool(&run, Turn { answer: Some(self.event.recorded_answer()), ..turn })
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
        let (run, turn) = self.new_turn(role, id, text);
        self.put_in_spool(&run, turn)
    }

    /// Writes a turn to the spool.
    pub(super) fn put_in_spool(&self, run: &str, turn: Turn) -> Result<()> {
        let spooled = self.spool.put_turn(run, &self.to_spooled(turn), self.masks_secrets());
        spooled.map_err(|error| self.io_error(error))
    }

    /// Returns a turn as the spool holds it, with its scope and host.
    pub(super) fn to_spooled(&self, turn: Turn) -> SpooledTurn {
        SpooledTurn {
            scope: self.cx.scope.clone(),
            host: self.event.host.as_str().to_owned(),
            turn,
        }
    }

    /// Returns `true` if the settings mask secrets.
    pub(super) fn masks_secrets(&self) -> bool {
        self.cx.agent_config().memory.mask_secrets
    }

    /// Returns a turn of this conversation and its run.
    pub(super) fn new_turn(&self, role: Role, id: &str, text: &str) -> (String, Turn) {
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

    /// Changes the state of this conversation.
    pub(super) fn update_conversation<T>(
        &self,
        change: impl FnOnce(&mut ConversationState) -> io::Result<T>,
    ) -> Result<T> {
        let updated = self.conversations.update(&self.conversation_key, change);
        updated.map_err(|error| self.io_error(error))
    }

    /// Returns the error of a file of the spool or of a conversation.
    pub(super) fn io_error(&self, error: io::Error) -> CliError {
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
