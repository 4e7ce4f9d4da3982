//! `everlore chat`: a conversation with an agent that remembers.

mod line_editor;
mod markdown;
mod messages;
mod reply_printer;
mod responder;
mod slash_commands;
mod interactive;
mod non_interactive;
mod background_capture;

use std::{
    io::{self, IsTerminal},
    path::PathBuf,
};

use clap::Args;
use everlore::{
    ToolRegistry,
    chat::{ChatSession, ChatSessionOptions, OfflineSession},
    text::language::detect_language,
    tools::ToolSet,
};

pub(crate) use line_editor::{HistoryFile, LineEditor, LineInput};
pub(crate) use messages::UiMessages;

use self::{
    background_capture::BackgroundCapture, interactive::InteractiveChat,
    non_interactive::NonInteractiveChat, reply_printer::ReplyStyle, responder::Responder,
};
use crate::{
    chat_model,
    cli_context::CliContext,
    commands::{observe::new_session_name, onboard},
    error::{CliError, Exit, Result},
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
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let phrases = UiMessages::for_language(cx.language());
        let once = self.once || !self.message.is_empty();
        let at_terminal = io::stdin().is_terminal() && !once && !out.is_json();
        let message = if once { input::text_or_stdin(&self.message, out)? } else { String::new() };
        let session = self.session_name(cx);
        let Some(partner) = self.responder(cx, &session, &message).await? else {
            return offer_setup(cx, out, phrases, at_terminal).await;
        };
        let style = self.reply_style(out);
        let reading = if once {
            BackgroundCapture::without_worker(cx).await?
        } else {
            BackgroundCapture::spawn(cx).await?
        };
        if at_terminal {
            return InteractiveChat {
                cx,
                out,
                responder: partner,
                capture: reading,
                messages: phrases,
                style,
                session,
            }
            .run()
            .await;
        }
        let piped = NonInteractiveChat {
            cx,
            out,
            responder: partner,
            capture: reading,
            messages: phrases,
            style,
            session,
        };
        if once { piped.answer_once(&message).await } else { piped.answer_lines().await }
    }

    fn session_name(&self, cx: &CliContext) -> String {
        let given = self.session.as_ref().filter(|session| !session.trim().is_empty());
        given.map_or_else(|| new_session_name(cx), |session| session.trim().to_owned())
    }

    fn reply_style(&self, out: &Output) -> ReplyStyle {
        match (out.is_terminal(), out.is_styled() && !self.plain) {
            (true, true) => ReplyStyle::Rendered,
            (true, false) => ReplyStyle::Plain,
            (false, _) => ReplyStyle::Raw,
        }
    }

    /// Who answers; none if no model is set up.
    async fn responder(
        &self,
        cx: &CliContext,
        session: &str,
        message: &str,
    ) -> Result<Option<Responder>> {
        if self.offline {
            let engine = cx.engine().await?;
            return Ok(Some(Responder::Memory(Box::new(OfflineSession::new(
                engine, &cx.scope, session,
            )))));
        }
        let Some(model) = chat_model::for_chat(cx, self.model.as_deref())? else { return Ok(None) };
        let opening = ChatSessionOptions {
            scope: cx.scope.clone(),
            session: session.to_owned(),
            caller_prompt: self.base_prompt()?,
            language: (!message.trim().is_empty()).then(|| detect_language(message)),
            tools: ToolRegistry::for_sets(if self.no_tools {
                &[]
            } else {
                &[ToolSet::Core, ToolSet::Layers]
            }),
            folder: Some(cx.memory_folder()),
        };
        let talk = ChatSession::open(cx.engine().await?, model, opening).await?;
        Ok(Some(Responder::Model(Box::new(talk))))
    }

    fn base_prompt(&self) -> Result<String> {
        let Some(file) = &self.base_file else { return Ok(String::new()) };
        std::fs::read_to_string(file)
            .map_err(|error| CliError::io(file.display().to_string(), error))
    }
}

/// Says that no model is set up, and offers to set one up.
async fn offer_setup(
    cx: &CliContext,
    out: &mut Output,
    phrases: UiMessages,
    at_terminal: bool,
) -> Result<Exit> {
    if at_terminal {
        out.note(phrases.no_model());
        if out.confirm(phrases.ask_setup())? {
            return onboard::OnboardArgs::default().run(cx, out).await;
        }
    }
    Err(CliError::invalid(
        phrases.no_model(),
        phrases.choose(
            "run `everlore onboard` to choose one, or `everlore chat --offline` to ask memory alone",
            "用 `everlore onboard` 选择模型，或用 `everlore chat --offline` 只问记忆",
        ),
    ))
}
