//! Conversation without a terminal: a single message, or one per line of standard input.

use tokio::sync::mpsc;

use super::{
    ChatRun,
    interactive::{rescue_message, wait_for_interrupt},
    reply_printer::{ReplyPrinter, ReplyStyle},
    responder::ChatReplyView,
};
use crate::{CliError, Exit, Result, commands::observe::spawn_line_reader, input::NumberedLine};

impl ChatRun<'_> {
    /// Answers one message.
    pub(super) async fn answer_once(mut self, message: &str) -> Result<Exit> {
        if message.trim().is_empty() {
            return Err(CliError::invalid(
                "there is no message",
                "give it as an argument or on standard input",
            ));
        }
        let exit = self.answer_message(message.trim()).await?;
        self.responder.end_without_summary().await?;
        self.capture.finish(self.cx, &self.session, self.out, self.messages).await?;
        Ok(exit)
    }

    /// Answers each line, and writes a summary at the end.
    pub(super) async fn answer_lines(mut self) -> Result<Exit> {
        let mut lines = spawn_line_reader();
        let mut exit = Exit::Done;
        while let Some(line) = next_line(&mut lines).await.transpose()? {
            let text = String::from_utf8(line.bytes?).map_err(|_| {
                CliError::invalid(
                    format!("line {} is not valid UTF-8", line.number),
                    "convert it first, for example with: iconv -t UTF-8",
                )
            })?;
            if !text.trim().is_empty() && self.answer_message(text.trim()).await? == Exit::Failed {
                exit = Exit::Failed;
            }
        }
        self.responder.end_session(wait_for_interrupt()).await?;
        self.capture.finish(self.cx, &self.session, self.out, self.messages).await?;
        Ok(exit)
    }

    async fn answer_message(&mut self, text: &str) -> Result<Exit> {
        let json = self.out.is_json();
        let style = if json { ReplyStyle::Silent } else { self.style };
        let mut printer = ReplyPrinter::new(self.out, self.messages, style);
        let response = self.responder.respond(text, &mut printer, wait_for_interrupt()).await;
        let (reply, quoted) = match response {
            Ok(response) => response,
            Err(error) => {
                printer.abort()?;
                return Err(rescue_message(self.cx, text, &self.session, error));
            }
        };
        printer.finish(&reply)?;
        let error = match &reply.outcome {
            everlore::chat::ReplyOutcome::Failed(error) => Some(error.to_string()),
            _ => None,
        };
        let failed = error.is_some() || reply.store_error.is_some();
        let found_nothing = quoted.as_ref().is_some_and(|quoted| quoted.quotes.is_empty());
        if json {
            self.out.json(&ChatReplyView {
                session: &self.session,
                text: &reply.text,
                ended: reply.outcome.as_str(),
                error,
                tokens: reply.tokens,
                calls: reply.tool_calls,
                injected: self.responder.injected(),
                quotes: quoted.as_ref().map(|quoted| quoted.quotes.as_slice()),
            })?;
        }
        self.out.flush()?;
        Ok(match (failed, found_nothing) {
            (true, _) => Exit::Failed,
            (false, true) => Exit::NothingFound,
            (false, false) => Exit::Done,
        })
    }
}

/// Reads the next line; `None` at the end, or after Ctrl+C.
async fn next_line(
    lines: &mut mpsc::Receiver<Result<NumberedLine>>,
) -> Option<Result<NumberedLine>> {
    tokio::select! {
        biased;
        () = wait_for_interrupt() => None,
        line = lines.recv() => line,
    }
}
