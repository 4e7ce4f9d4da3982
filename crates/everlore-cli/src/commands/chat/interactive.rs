//! A conversation at a terminal: lines are read, answered, and at the end summed up.

use std::sync::Arc;

use everlore::llm::ChatModel;

use super::{
    background_capture::BackgroundCapture,
    line_editor::{HistoryFile, LineEditor, LineInput},
    messages::UiMessages,
    reply_printer::{ReplyPrinter, ReplyStyle},
    responder::Responder,
    slash_commands,
};
use crate::{
    cli_context::CliContext,
    error::{CliError, Exit, Result},
    output::Output,
    rescue_log,
};

/// What the loop works with.
pub(super) struct InteractiveChat<'a> {
    pub(super) cx: &'a CliContext,
    pub(super) out: &'a mut Output,
    pub(super) responder: Responder,
    pub(super) capture: BackgroundCapture,
    pub(super) messages: UiMessages,
    pub(super) style: ReplyStyle,
    pub(super) session: String,
}

/// What comes after a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChatLoopState {
    /// Another line.
    Continue,
    /// Another line, but Ctrl+C ends the conversation.
    InterruptArmed,
    /// The end.
    End,
}

impl InteractiveChat<'_> {
    /// Reads lines and answers them until the end.
    pub(super) async fn run(mut self) -> Result<Exit> {
        let who = match self.responder.conversation() {
            Some(talk) => talk.model().name().to_owned(),
            None => self.messages.memory_only().to_owned(),
        };
        let welcome = self.messages.welcome(&who, &self.session);
        let welcome = self.out.dim(&welcome);
        self.out.line(&welcome)?;
        let editor = LineEditor::new(&slash_commands::COMMAND_NAMES, Some(self.history_file()));
        let mut next = ChatLoopState::Continue;
        while next != ChatLoopState::End {
            self.out.flush()?;
            next = match editor.read_line("› ").await? {
                LineInput::End => ChatLoopState::End,
                LineInput::Interrupted if next == ChatLoopState::InterruptArmed => {
                    ChatLoopState::End
                }
                LineInput::Interrupted => {
                    self.out.note(self.messages.interrupt_again_to_quit());
                    ChatLoopState::InterruptArmed
                }
                LineInput::Line(line) => self.on_line(line.trim()).await?,
            };
        }
        self.finish().await
    }

    async fn on_line(&mut self, line: &str) -> Result<ChatLoopState> {
        match (line.strip_prefix("//"), line.strip_prefix('/')) {
            _ if line.is_empty() => Ok(ChatLoopState::Continue),
            (Some(rest), _) => self.send_message(&format!("/{rest}")).await,
            (None, Some(command)) => self.run_command(command).await,
            (None, None) => self.send_message(line).await,
        }
    }

    /// Asks, and shows the answer. What fails is told, and the conversation goes on.
    async fn send_message(&mut self, text: &str) -> Result<ChatLoopState> {
        let mut screen = ReplyPrinter::new(self.out, self.messages, self.style);
        match self.responder.respond(text, &mut screen, wait_for_interrupt()).await {
            Ok((reply, _)) => {
                let armed = matches!(reply.outcome, everlore::chat::ReplyOutcome::Interrupted);
                screen.finish(&reply)?;
                Ok(if armed { ChatLoopState::InterruptArmed } else { ChatLoopState::Continue })
            }
            Err(failure) => {
                screen.abort()?;
                self.report_error(rescue_message(self.cx, text, &self.session, failure))?;
                Ok(ChatLoopState::Continue)
            }
        }
    }

    /// Tells a failure that does not end the conversation.
    pub(super) fn report_error(&mut self, failure: CliError) -> Result<()> {
        match failure {
            CliError::BrokenPipe => Err(failure),
            CliError::Reported(told) => {
                self.out.note(&format!("error: {}\nhint: {}", told.message, told.hint));
                Ok(())
            }
        }
    }

    /// Sums the conversation up into the log of the day.
    async fn finish(mut self) -> Result<Exit> {
        if self.responder.conversation().is_some_and(|talk| talk.cost().answers > 0) {
            self.out.note(self.messages.summarizing());
        }
        if let Some(ended) = self.responder.end_session(wait_for_interrupt()).await? {
            let logged = self.messages.logged(&ended);
            self.out.line(&logged)?;
            self.cx.engine().await?.archive_days(&self.cx.scope).await?;
            self.capture.finish(self.cx, &self.session, self.out, self.messages).await?;
        }
        Ok(Exit::Done)
    }

    fn history_file(&self) -> HistoryFile {
        let masks = self.cx.agent_config().memory.mask_secrets;
        HistoryFile::in_home(&self.cx.home, masks)
    }

    /// Lets another model answer.
    pub(super) fn use_model(&mut self, model: Arc<dyn ChatModel>) {
        if let Some(talk) = self.responder.conversation() {
            talk.set_model(model);
        }
    }
}

/// Comes true when the user presses Ctrl+C.
pub(super) async fn wait_for_interrupt() {
    if tokio::signal::ctrl_c().await.is_err() {
        // Where signals cannot be heard, nothing is interrupted.
        std::future::pending::<()>().await;
    }
}

/// Keeps a message that the disk or the database refused.
pub(super) fn rescue_message(
    cx: &CliContext,
    text: &str,
    session: &str,
    failure: CliError,
) -> CliError {
    if !failure.is_storage() {
        return failure;
    }
    let turn = everlore::Turn {
        text: text.to_owned(),
        session: Some(session.to_owned()),
        speaker: None,
        role: Some(everlore::types::Role::User),
        time: Some(everlore::types::to_millisecond(cx.now().timestamp())),
    };
    rescue_log::rescue_lines(cx, vec![everlore::ingest::ExportLine::Turn(turn)], failure)
}
