//! Who answers: a model, or memory alone.

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
use crate::error::Result;

/// The other side of a conversation.
pub(super) enum Responder {
    /// A model with memory.
    Model(Box<ChatSession>),
    /// Memory alone.
    Memory(Box<OfflineSession>),
}

/// An answer for programs.
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
    /// Says something; the answer is shown as it comes, until `interrupt` comes true.
    pub(super) async fn respond(
        &mut self,
        text: &str,
        screen: &mut ReplyPrinter<'_>,
        interrupt: impl Future<Output = ()> + Send,
    ) -> Result<(ChatReply, Option<OfflineAnswer>)> {
        match self {
            Self::Model(talk) => {
                let mut hear = |event: ChatEvent<'_>| screen.print_event(&event);
                Ok((talk.send(text, &mut hear, interrupt).await?, None))
            }
            Self::Memory(talk) => {
                let quoted = talk.send(text).await?;
                screen.print_event(&ChatEvent::Text(&quoted.text));
                Ok((quoted_reply(&quoted), Some(quoted)))
            }
        }
    }

    /// Ends the conversation; the model may sum it up.
    pub(super) async fn end_session(
        &mut self,
        interrupt: impl Future<Output = ()> + Send,
    ) -> Result<Option<SessionEnd>> {
        Ok(match self {
            Self::Model(talk) => talk.end(interrupt).await?,
            Self::Memory(talk) => talk.end().await?,
        })
    }

    /// The same without the model.
    pub(super) async fn end_without_summary(&self) -> Result<Option<SessionEnd>> {
        Ok(match self {
            Self::Model(talk) => talk.end_without_model().await?,
            Self::Memory(talk) => talk.end().await?,
        })
    }

    /// The model's side, if there is one.
    pub(super) fn conversation(&mut self) -> Option<&mut ChatSession> {
        match self {
            Self::Model(talk) => Some(talk),
            Self::Memory(_) => None,
        }
    }

    /// What was recalled for the last message.
    pub(super) fn injected(&self) -> Option<&InjectedContext> {
        match self {
            Self::Model(talk) => Some(talk.injected()),
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
