//! The three ways in which programs hold conversations: where each is asked, and how a text stands in its messages.

use everlore::llm::remote::Tongue;

/// A way to hold a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages.
    Messages,
}

impl Wire {
    /// Whose protocol it belongs to.
    pub(super) fn tongue(self) -> Tongue {
        match self {
            Self::Chat | Self::Responses => Tongue::Openai,
            Self::Messages => Tongue::Anthropic,
        }
    }

    /// Where a provider is asked, below its address.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/chat/completions",
            Self::Responses => "/responses",
            Self::Messages => "/v1/messages",
        }
    }

    /// What a part of a user's message is called that holds a text.
    pub(super) fn text_part(self) -> &'static str {
        match self {
            Self::Chat | Self::Messages => "text",
            Self::Responses => "input_text",
        }
    }
}
