//! The three ways in which programs hold conversations: where each is asked, and how a text stands in its messages.

use everlore::llm::remote::ClientProtocol;

/// A way to hold a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChatApi {
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages.
    Messages,
}

impl ChatApi {
    /// Whose protocol it belongs to.
    pub(super) fn protocol(self) -> ClientProtocol {
        match self {
            Self::Chat | Self::Responses => ClientProtocol::Openai,
            Self::Messages => ClientProtocol::Anthropic,
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
