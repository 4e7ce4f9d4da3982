//! Answers without a terminal: one message, or one for each line of standard input.

use tokio::sync::mpsc;

use super::{
    partner::{Answered, Partner},
    phrases::Phrases,
    reading::Reading,
    screen::{Screen, Style},
    talk::{interrupted, keep_unsaved},
};
use crate::{
    commands::observe::read_lines,
    context::Context,
    failure::{Exit, Failure, Result},
    input::Numbered,
    output::Output,
};

/// What answers work with.
pub(super) struct Piped<'a> {
    pub(super) cx: &'a Context,
    pub(super) out: &'a mut Output,
    pub(super) partner: Partner,
    pub(super) reading: Reading,
    pub(super) phrases: Phrases,
    pub(super) style: Style,
    pub(super) session: String,
}

impl Piped<'_> {
    /// Answers one message.
    pub(super) async fn once(mut self, message: &str) -> Result<Exit> {
        if message.trim().is_empty() {
            return Err(Failure::invalid(
                "there is no message",
                "give it as an argument or on standard input",
            ));
        }
        let exit = self.answer(message.trim()).await?;
        self.partner.end_quietly().await?;
        self.reading.end(self.cx, &self.session, self.out, self.phrases).await?;
        Ok(exit)
    }

    /// Answers each line; at the end the conversation is summed up.
    pub(super) async fn lines(mut self) -> Result<Exit> {
        let mut lines = read_lines();
        let mut exit = Exit::Done;
        while let Some(line) = next(&mut lines).await.transpose()? {
            let text = String::from_utf8(line.bytes?).map_err(|_| {
                Failure::invalid(
                    format!("line {} is not valid UTF-8", line.number),
                    "convert it first, for example with: iconv -t UTF-8",
                )
            })?;
            if !text.trim().is_empty() && self.answer(text.trim()).await? == Exit::Failed {
                exit = Exit::Failed;
            }
        }
        self.partner.end(interrupted()).await?;
        self.reading.end(self.cx, &self.session, self.out, self.phrases).await?;
        Ok(exit)
    }

    async fn answer(&mut self, text: &str) -> Result<Exit> {
        let json = self.out.is_json();
        let style = if json { Style::Silent } else { self.style };
        let mut screen = Screen::new(self.out, self.phrases, style);
        let said = self.partner.say(text, &mut screen, interrupted()).await;
        let (reply, quoted) = match said {
            Ok(said) => said,
            Err(failure) => {
                screen.give_up()?;
                return Err(keep_unsaved(self.cx, text, &self.session, failure));
            }
        };
        screen.finish(&reply)?;
        let error = match &reply.ended {
            everlore::chat::Ended::Failed(error) => Some(error.to_string()),
            _ => None,
        };
        let failed = error.is_some() || reply.not_stored.is_some();
        let nothing = quoted.as_ref().is_some_and(|quoted| quoted.quotes.is_empty());
        if json {
            self.out.json(&Answered {
                session: &self.session,
                text: &reply.text,
                ended: reply.ended.as_str(),
                error,
                tokens: reply.tokens,
                calls: reply.calls,
                injected: self.partner.injected(),
                quotes: quoted.as_ref().map(|quoted| quoted.quotes.as_slice()),
            })?;
        }
        self.out.flush()?;
        Ok(match (failed, nothing) {
            (true, _) => Exit::Failed,
            (false, true) => Exit::Nothing,
            (false, false) => Exit::Done,
        })
    }
}

/// The next line; none at the end, or when the user presses Ctrl+C.
async fn next(lines: &mut mpsc::Receiver<Result<Numbered>>) -> Option<Result<Numbered>> {
    tokio::select! {
        biased;
        () = interrupted() => None,
        line = lines.recv() => line,
    }
}
