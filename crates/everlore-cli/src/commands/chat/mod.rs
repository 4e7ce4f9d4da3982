//! `everlore chat`: a conversation with an agent that remembers.

mod line;
mod markdown;
mod phrases;
mod screen;
mod partner;
mod commands;
mod talk;
mod piped;
mod reading;

use std::{
    io::{self, IsTerminal},
    path::PathBuf,
};

use clap::Args;
use everlore::{
    Tools,
    chat::{Conversation, Offline, Opening},
    text::language::language_of,
    tools::ToolSet,
};

pub(crate) use line::{HistoryFile, LineEditor, Read};
pub(crate) use phrases::Phrases;

use self::{partner::Partner, piped::Piped, reading::Reading, screen::Style, talk::Talk};
use crate::{
    chat_model,
    commands::{observe::new_session, onboard},
    context::Context,
    failure::{Exit, Failure, Result},
    input,
    output::Output,
};

/// Talk with an agent that remembers
///
/// What you say and what it answers is stored word for word, and what matters for a message is recalled for it. At the end
/// the conversation is summed up in the log of the day. On a terminal, /help lists what else can be asked for; Ctrl+C
/// interrupts an answer, and again ends the conversation. Without a terminal each line of standard input is a message.
#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// A message: it is answered, and that is all
    message: Vec<String>,
    /// Answer one message, from the arguments or all of standard input
    #[arg(long)]
    once: bool,
    /// Answer from memory alone, without a model: what is stored, with who said it and when
    #[arg(long)]
    offline: bool,
    /// The conversation; one that was had before is taken up again [default: a new one]
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// The model, as its provider spells it [default: from the settings]
    #[arg(long, value_name = "NAME", conflicts_with = "offline")]
    model: Option<String>,
    /// A file with a prompt of your own for the agent
    #[arg(long, value_name = "FILE", conflicts_with = "offline")]
    base_file: Option<PathBuf>,
    /// Let the model call no tools
    #[arg(long, conflicts_with = "offline")]
    no_tools: bool,
    /// Print answers as they come, without rendering markdown
    #[arg(long)]
    plain: bool,
}

impl ChatArgs {
    /// Talks until the end.
    pub(crate) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let phrases = Phrases::of(cx.language());
        let once = self.once || !self.message.is_empty();
        let at_terminal = io::stdin().is_terminal() && !once && !out.is_json();
        let message = if once { input::text(&self.message, out)? } else { String::new() };
        let session = self.session_name(cx);
        let Some(partner) = self.partner(cx, &session, &message).await? else {
            return no_model(cx, out, phrases, at_terminal).await;
        };
        let style = self.style(out);
        let reading = if once { Reading::at_end(cx).await? } else { Reading::along(cx).await? };
        if at_terminal {
            return Talk { cx, out, partner, reading, phrases, style, session }.run().await;
        }
        let piped = Piped { cx, out, partner, reading, phrases, style, session };
        if once { piped.once(&message).await } else { piped.lines().await }
    }

    fn session_name(&self, cx: &Context) -> String {
        let given = self.session.as_ref().filter(|session| !session.trim().is_empty());
        given.map_or_else(|| new_session(cx), |session| session.trim().to_owned())
    }

    fn style(&self, out: &Output) -> Style {
        match (out.is_terminal(), out.is_styled() && !self.plain) {
            (true, true) => Style::Rendered,
            (true, false) => Style::Plain,
            (false, _) => Style::Raw,
        }
    }

    /// Who answers; none if no model is set up.
    async fn partner(&self, cx: &Context, session: &str, message: &str) -> Result<Option<Partner>> {
        if self.offline {
            let engine = cx.engine().await?;
            return Ok(Some(Partner::Memory(Box::new(Offline::new(engine, &cx.scope, session)))));
        }
        let Some(model) = chat_model::for_chat(cx, self.model.as_deref())? else { return Ok(None) };
        let opening = Opening {
            scope: cx.scope.clone(),
            session: session.to_owned(),
            base: self.base()?,
            language: (!message.trim().is_empty()).then(|| language_of(message)),
            tools: Tools::of(if self.no_tools { &[] } else { &[ToolSet::Core, ToolSet::Layers] }),
            folder: Some(cx.memory_folder()),
        };
        let talk = Conversation::open(cx.engine().await?, model, opening).await?;
        Ok(Some(Partner::Model(Box::new(talk))))
    }

    fn base(&self) -> Result<String> {
        let Some(file) = &self.base_file else { return Ok(String::new()) };
        std::fs::read_to_string(file)
            .map_err(|error| Failure::io(file.display().to_string(), error))
    }
}

/// Says that no model is set up, and offers to set one up.
async fn no_model(
    cx: &Context,
    out: &mut Output,
    phrases: Phrases,
    at_terminal: bool,
) -> Result<Exit> {
    if at_terminal {
        out.note(phrases.no_model());
        if out.confirm(phrases.set_up_now())? {
            return onboard::OnboardArgs::default().run(cx, out).await;
        }
    }
    Err(Failure::invalid(
        phrases.no_model(),
        phrases.choose(
            "run `everlore onboard` to choose one, or `everlore chat --offline` to ask memory alone",
            "用 `everlore onboard` 选择模型，或用 `everlore chat --offline` 只问记忆",
        ),
    ))
}
