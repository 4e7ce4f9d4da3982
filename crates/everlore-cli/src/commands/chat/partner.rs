//! Who answers: a model, or memory alone.

use everlore::{
    chat::{Conversation, Ended, Event, Injected, Offline, Quote, Quoted, Reply},
    engine::SessionEnd,
    llm::Tokens,
};
use serde::Serialize;

use super::screen::Screen;
use crate::failure::Result;

/// The other side of a conversation.
pub(super) enum Partner {
    /// A model with memory.
    Model(Box<Conversation>),
    /// Memory alone.
    Memory(Box<Offline>),
}

/// An answer for programs.
#[derive(Serialize)]
pub(super) struct Answered<'a> {
    pub(super) session: &'a str,
    pub(super) text: &'a str,
    /// done, length, refused, interrupted, rounds or failed
    pub(super) ended: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    pub(super) tokens: Tokens,
    pub(super) calls: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) injected: Option<&'a Injected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) quotes: Option<&'a [Quote]>,
}

impl Partner {
    /// Says something; the answer is shown as it comes, until `interrupt` comes true.
    pub(super) async fn say(
        &mut self,
        text: &str,
        screen: &mut Screen<'_>,
        interrupt: impl Future<Output = ()> + Send,
    ) -> Result<(Reply, Option<Quoted>)> {
        match self {
            Self::Model(talk) => {
                let mut hear = |event: Event<'_>| screen.show(&event);
                Ok((talk.say(text, &mut hear, interrupt).await?, None))
            }
            Self::Memory(talk) => {
                let quoted = talk.say(text).await?;
                screen.show(&Event::Text(&quoted.text));
                Ok((told(&quoted), Some(quoted)))
            }
        }
    }

    /// Ends the conversation; the model may sum it up.
    pub(super) async fn end(
        &mut self,
        interrupt: impl Future<Output = ()> + Send,
    ) -> Result<Option<SessionEnd>> {
        Ok(match self {
            Self::Model(talk) => talk.end(interrupt).await?,
            Self::Memory(talk) => talk.end().await?,
        })
    }

    /// The same without the model.
    pub(super) async fn end_quietly(&self) -> Result<Option<SessionEnd>> {
        Ok(match self {
            Self::Model(talk) => talk.end_quietly().await?,
            Self::Memory(talk) => talk.end().await?,
        })
    }

    /// The model's side, if there is one.
    pub(super) fn model(&mut self) -> Option<&mut Conversation> {
        match self {
            Self::Model(talk) => Some(talk),
            Self::Memory(_) => None,
        }
    }

    /// What was recalled for the last message.
    pub(super) fn injected(&self) -> Option<&Injected> {
        match self {
            Self::Model(talk) => Some(talk.injected()),
            Self::Memory(_) => None,
        }
    }
}

fn told(quoted: &Quoted) -> Reply {
    Reply {
        text: quoted.text.clone(),
        ended: Ended::Done,
        tokens: Tokens::default(),
        calls: 0,
        not_stored: None,
    }
}
