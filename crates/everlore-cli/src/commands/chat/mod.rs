//! `everlore chat`: a conversation with an agent that remembers.

mod line_editor;
mod markdown;
mod markdown_table;
mod word_wrap;
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
    internal::text::language::detect_language,
    tools::ToolSet,
};

pub(crate) use line_editor::{LineEditor, LineInput};
pub(crate) use messages::UiMessages;

use self::{
    background_capture::BackgroundCapture, reply_printer::ReplyStyle, responder::Responder,
};
use crate::{
    CliContext, CliError, Exit, Output, Result, chat_model,
    commands::{observe::new_session_name, onboard},
    input,
};

/// Talk with an agent that remembers
///
/// Messages and answers are stored word for word, and each message gets the relevant memories. At the end, a summary
/// goes into the daily log. On a terminal, /help lists the commands; Ctrl+C interrupts an answer, and again ends the
/// conversation. Without a terminal, each line of standard input is a message.
#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// A single message to answer
    message: Vec<String>,
    /// Answer one message, from the arguments or all of standard input
    #[arg(long)]
    once: bool,
    /// Answer from memory alone, without a model: quotes stored texts with speaker and date
    #[arg(long)]
    offline: bool,
    /// The conversation; an earlier one is resumed [default: a new one]
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// The provider's name of the model [default: from the settings]
    #[arg(long, value_name = "NAME", conflicts_with = "offline")]
    model: Option<String>,
    /// A file with your own prompt for the agent
    #[arg(long, value_name = "FILE", conflicts_with = "offline")]
    base_file: Option<PathBuf>,
    /// Offer no tools to the model
    #[arg(long, conflicts_with = "offline")]
    no_tools: bool,
    /// Print answers without rendering markdown
    #[arg(long)]
    plain: bool,
}

/// Conversation, at a terminal (`interactive`) or without one (`non_interactive`).
struct ChatRun<'a> {
    cx: &'a CliContext,
    out: &'a mut Output,
    responder: Responder,
    capture: BackgroundCapture,
    messages: UiMessages,
    style: ReplyStyle,
    session: String,
}

impl ChatArgs {
    /// Answers one message, or runs a conversation.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let messages = UiMessages::for_language(cx.language());
        let once = self.once || !self.message.is_empty();
        let at_terminal = io::stdin().is_terminal() && !once && !out.is_json();
        let message = if once { input::text_or_stdin(&self.message, out)? } else { String::new() };
        let session = self.session_name(cx);
        let Some(responder) = self.responder(cx, &session, &message).await? else {
            return offer_setup(cx, out, messages, at_terminal).await;
        };
        let style = self.reply_style(out);
        let capture = if once {
            BackgroundCapture::without_worker(cx).await?
        } else {
            BackgroundCapture::spawn(cx).await?
        };
        let chat = ChatRun { cx, out, responder, capture, messages, style, session };
        match (at_terminal, once) {
            (true, _) => chat.run().await,
            (false, true) => chat.answer_once(&message).await,
            (false, false) => chat.answer_lines().await,
        }
    }

    fn session_name(&self, cx: &CliContext) -> String {
        let named = self.session.as_ref().filter(|session| !session.trim().is_empty());
        named.map_or_else(|| new_session_name(cx), |session| session.trim().to_owned())
    }

    fn reply_style(&self, out: &Output) -> ReplyStyle {
        match (out.is_terminal(), out.is_styled() && !self.plain) {
            (true, true) => ReplyStyle::Rendered,
            (true, false) => ReplyStyle::Plain,
            (false, _) => ReplyStyle::Raw,
        }
    }

    /// Returns the responder; `None` if no model is set up.
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
        let options = ChatSessionOptions {
            scope: cx.scope.clone(),
            session: session.to_owned(),
            caller_prompt: self.base_prompt()?,
            language: (!message.trim().is_empty()).then(|| detect_language(message)),
            tools: ToolRegistry::for_sets(if self.no_tools {
                &[]
            } else {
                &[ToolSet::Core, ToolSet::Layers, ToolSet::Growth]
            }),
            folder: Some(cx.memory_folder()),
        };
        let engine = chat_model::with_summary_model(cx, cx.engine().await?.clone())?;
        let session = ChatSession::open(&engine, model, options).await?;
        Ok(Some(Responder::Model(Box::new(session))))
    }

    fn base_prompt(&self) -> Result<String> {
        let Some(file) = &self.base_file else { return Ok(String::new()) };
        std::fs::read_to_string(file)
            .map_err(|error| CliError::io(file.display().to_string(), error))
    }
}

/// Reports that no model is set up, and offers to run `everlore onboard`.
async fn offer_setup(
    cx: &CliContext,
    out: &mut Output,
    messages: UiMessages,
    at_terminal: bool,
) -> Result<Exit> {
    if at_terminal {
        out.note(messages.no_model());
        if out.confirm(messages.ask_setup())? {
            return onboard::OnboardArgs::default().run(cx, out).await;
        }
    }
    Err(CliError::invalid(
        messages.no_model(),
        messages.choose(
            "run `everlore onboard` to choose one, or `everlore chat --offline` to ask memory alone",
            "用 `everlore onboard` 选择模型，或用 `everlore chat --offline` 只问记忆",
        ),
    ))
}
