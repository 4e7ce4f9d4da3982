//! Conversation at a terminal: reads lines, answers them, and writes a summary at the end.

use std::sync::Arc;

use everlore::llm::ChatModel;

use super::{
    ChatRun,
    line_editor::{HistoryFile, LineEditor, LineInput},
    reply_printer::ReplyPrinter,
    slash_commands,
};
use crate::{CliContext, CliError, Exit, Result, rescue_log};

/// Next step of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChatLoopState {
    /// Read another line.
    Continue,
    /// Read another line; Ctrl+C ends the conversation.
    InterruptArmed,
    /// End the conversation.
    End,
}

impl ChatRun<'_> {
    /// Reads lines and answers them until the end.
    pub(super) async fn run(mut self) -> Result<Exit> {
        let name = match self.responder.conversation() {
            Some(session) => session.model().name().to_owned(),
            None => self.messages.memory_only().to_owned(),
        };
        let welcome = self.messages.welcome(&name, &self.session);
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

    /// Sends a message and prints the answer. An error is reported, and the conversation goes on.
    async fn send_message(&mut self, text: &str) -> Result<ChatLoopState> {
        let mut printer = ReplyPrinter::new(self.out, self.messages, self.style);
        match self.responder.respond(text, &mut printer, wait_for_interrupt()).await {
            Ok((reply, _)) => {
                let interrupted =
                    matches!(reply.outcome, everlore::chat::ReplyOutcome::Interrupted);
                printer.finish(&reply)?;
                Ok(if interrupted {
                    ChatLoopState::InterruptArmed
                } else {
                    ChatLoopState::Continue
                })
            }
            Err(error) => {
                printer.abort()?;
                self.report_error(rescue_message(self.cx, text, &self.session, error))?;
                Ok(ChatLoopState::Continue)
            }
        }
    }

    /// Reports an error that does not end the conversation.
    pub(super) fn report_error(&mut self, error: CliError) -> Result<()> {
        match error {
            CliError::BrokenPipe => Err(error),
            CliError::Reported(report) => {
                self.out.note_error(&report);
                Ok(())
            }
        }
    }

    /// Writes the summary into the daily log and extracts memories.
    async fn finish(mut self) -> Result<Exit> {
        if self.responder.conversation().is_some_and(|session| session.cost().answers > 0) {
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
        HistoryFile::in_home(&self.cx.home, self.cx.agent_config().memory.mask_secrets)
    }

    /// Switches to another model.
    pub(super) fn use_model(&mut self, model: Arc<dyn ChatModel>) {
        if let Some(session) = self.responder.conversation() {
            session.set_model(model);
        }
    }
}

/// Completes when the user presses Ctrl+C.
pub(super) async fn wait_for_interrupt() {
    if tokio::signal::ctrl_c().await.is_err() {
        // Without signals nothing is interrupted.
        std::future::pending::<()>().await;
    }
}

/// Writes a message that the disk or the database refused to the rescue log.
pub(super) fn rescue_message(
    cx: &CliContext,
    text: &str,
    session: &str,
    error: CliError,
) -> CliError {
    if !error.is_storage() {
        return error;
    }
    let turn = everlore::Turn {
        text: text.to_owned(),
        session: Some(session.to_owned()),
        role: Some(everlore::types::Role::User),
        time: Some(everlore::internal::to_millisecond(cx.now().timestamp())),
        ..everlore::Turn::default()
    };
    rescue_log::rescue_lines(
        cx,
        vec![everlore::internal::ingest::ExportLine::Turn(Box::new(turn))],
        error,
    )
}
