//! Responder of a conversation: a model, or memory alone.

use everlore::{
    chat::{
        ChatEvent, ChatReply, ChatSession, InjectedContext, MemoryQuote, OfflineAnswer,
        OfflineSession, ReplyOutcome,
    },
    engine::SessionEnd,
    llm::TokenUsage,
};
use serde::Serialize;

use super::reply_printer::ReplyPrinter;
use crate::Result;

/// Responder of a conversation.
pub(super) enum Responder {
    /// A model with memory.
    Model(Box<ChatSession>),
    /// Memory alone.
    Memory(Box<OfflineSession>),
}

/// Answer for programs.
#[derive(Serialize)]
pub(super) struct ChatReplyView<'a> {
    pub(super) session: &'a str,
    pub(super) text: &'a str,
    /// done, length, refused, interrupted, rounds or failed
    pub(super) ended: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    pub(super) tokens: TokenUsage,
    pub(super) calls: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) injected: Option<&'a InjectedContext>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) quotes: Option<&'a [MemoryQuote]>,
}

impl Responder {
    /// Sends a message and prints the answer as it streams in, until `interrupt` completes.
    pub(super) async fn respond(
        &mut self,
        text: &str,
        printer: &mut ReplyPrinter<'_>,
        interrupt: impl Future<Output = ()> + Send,
    ) -> Result<(ChatReply, Option<OfflineAnswer>)> {
        match self {
            Self::Model(session) => {
                printer.wait();
                let mut sink = |event: ChatEvent<'_>| printer.print_event(&event);
                Ok((session.send(text, &mut sink, interrupt).await?, None))
            }
            Self::Memory(session) => {
                let quoted = session.send(text).await?;
                printer.print_event(&ChatEvent::Text(&quoted.text));
                Ok((quoted_reply(&quoted), Some(quoted)))
            }
        }
    }

    /// Ends the conversation; the model may write a summary.
    pub(super) async fn end_session(
        &mut self,
        interrupt: impl Future<Output = ()> + Send,
    ) -> Result<Option<SessionEnd>> {
        Ok(match self {
            Self::Model(session) => session.end(interrupt).await?,
            Self::Memory(session) => session.end().await?,
        })
    }

    /// Ends the conversation without asking the model.
    pub(super) async fn end_without_summary(&self) -> Result<Option<SessionEnd>> {
        Ok(match self {
            Self::Model(session) => session.end_without_model().await?,
            Self::Memory(session) => session.end().await?,
        })
    }

    /// Returns the session of the model, if there is one.
    pub(super) fn conversation(&mut self) -> Option<&mut ChatSession> {
        match self {
            Self::Model(session) => Some(session),
            Self::Memory(_) => None,
        }
    }

    /// Returns the context that was injected for the last message.
    pub(super) fn injected(&self) -> Option<&InjectedContext> {
        match self {
            Self::Model(session) => Some(session.injected()),
            Self::Memory(_) => None,
        }
    }
}

fn quoted_reply(quoted: &OfflineAnswer) -> ChatReply {
    ChatReply {
        text: quoted.text.clone(),
        outcome: ReplyOutcome::Done,
        tokens: TokenUsage::default(),
        tool_calls: 0,
        store_error: None,
    }
}
