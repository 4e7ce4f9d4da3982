//! A conversation at a terminal: lines are read, answered, and at the end summed up.

use std::sync::Arc;

use everlore::llm::ChatModel;

use super::{
    commands,
    line::{HistoryFile, LineEditor, Read},
    partner::Partner,
    phrases::Phrases,
    reading::Reading,
    screen::{Screen, Style},
};
use crate::{
    context::Context,
    failure::{Exit, Failure, Result},
    output::Output,
    unsaved,
};

/// What the loop works with.
pub(super) struct Talk<'a> {
    pub(super) cx: &'a Context,
    pub(super) out: &'a mut Output,
    pub(super) partner: Partner,
    pub(super) reading: Reading,
    pub(super) phrases: Phrases,
    pub(super) style: Style,
    pub(super) session: String,
}

/// What comes after a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Another line.
    Line,
    /// Another line, but Ctrl+C ends the conversation.
    Armed,
    /// The end.
    End,
}

impl Talk<'_> {
    /// Reads lines and answers them until the end.
    pub(super) async fn run(mut self) -> Result<Exit> {
        let who = match self.partner.model() {
            Some(talk) => talk.model().name().to_owned(),
            None => self.phrases.memory_answers().to_owned(),
        };
        let welcome = self.phrases.welcome(&who, &self.session);
        let welcome = self.out.faint(&welcome);
        self.out.line(&welcome)?;
        let editor = LineEditor::new(&commands::NAMES, Some(self.history()));
        let mut next = Next::Line;
        while next != Next::End {
            self.out.flush()?;
            next = match editor.read("› ").await? {
                Read::End => Next::End,
                Read::Interrupted if next == Next::Armed => Next::End,
                Read::Interrupted => {
                    self.out.note(self.phrases.again_quits());
                    Next::Armed
                }
                Read::Line(line) => self.line(line.trim()).await?,
            };
        }
        self.end().await
    }

    async fn line(&mut self, line: &str) -> Result<Next> {
        match (line.strip_prefix("//"), line.strip_prefix('/')) {
            _ if line.is_empty() => Ok(Next::Line),
            (Some(rest), _) => self.message(&format!("/{rest}")).await,
            (None, Some(command)) => self.command(command).await,
            (None, None) => self.message(line).await,
        }
    }

    /// Asks, and shows the answer. What fails is told, and the conversation goes on.
    async fn message(&mut self, text: &str) -> Result<Next> {
        let mut screen = Screen::new(self.out, self.phrases, self.style);
        match self.partner.say(text, &mut screen, interrupted()).await {
            Ok((reply, _)) => {
                let armed = matches!(reply.ended, everlore::chat::Ended::Interrupted);
                screen.finish(&reply)?;
                Ok(if armed { Next::Armed } else { Next::Line })
            }
            Err(failure) => {
                screen.give_up()?;
                self.tell(keep_unsaved(self.cx, text, &self.session, failure))?;
                Ok(Next::Line)
            }
        }
    }

    /// Tells a failure that does not end the conversation.
    pub(super) fn tell(&mut self, failure: Failure) -> Result<()> {
        match failure {
            Failure::BrokenPipe => Err(failure),
            Failure::Told(told) => {
                self.out.note(&format!("error: {}\nhint: {}", told.message, told.hint));
                Ok(())
            }
        }
    }

    /// Sums the conversation up into the log of the day.
    async fn end(mut self) -> Result<Exit> {
        if self.partner.model().is_some_and(|talk| talk.cost().answers > 0) {
            self.out.note(self.phrases.summing_up());
        }
        if let Some(ended) = self.partner.end(interrupted()).await? {
            let logged = self.phrases.logged(&ended);
            self.out.line(&logged)?;
            self.cx.engine().await?.archive_days(&self.cx.scope).await?;
            self.reading.end(self.cx, &self.session, self.out, self.phrases).await?;
        }
        Ok(Exit::Done)
    }

    fn history(&self) -> HistoryFile {
        let masks = self.cx.agent_config().memory.mask_secrets;
        HistoryFile::of(&self.cx.home, masks)
    }

    /// Lets another model answer.
    pub(super) fn use_model(&mut self, model: Arc<dyn ChatModel>) {
        if let Some(talk) = self.partner.model() {
            talk.use_model(model);
        }
    }
}

/// Comes true when the user presses Ctrl+C.
pub(super) async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        // Where signals cannot be heard, nothing is interrupted.
        std::future::pending::<()>().await;
    }
}

/// Keeps a message that the disk or the database refused.
pub(super) fn keep_unsaved(cx: &Context, text: &str, session: &str, failure: Failure) -> Failure {
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
    unsaved::keep(cx, vec![everlore::ingest::Line::Turn(turn)], failure)
}
