//! Chat APIs that the proxy relays: their paths, and the text parts of their messages.

use everlore::internal::llm::ClientProtocol;

/// Chat API of a provider.
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
    /// Returns the protocol that the API belongs to.
    pub(super) fn protocol(self) -> ClientProtocol {
        match self {
            Self::Chat | Self::Responses => ClientProtocol::Openai,
            Self::Messages => ClientProtocol::Anthropic,
        }
    }

    /// Returns the path below a provider's base address.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/chat/completions",
            Self::Responses => "/responses",
            Self::Messages => "/v1/messages",
        }
    }

    /// Returns the `type` of a text part in a user message.
    pub(super) fn text_part(self) -> &'static str {
        match self {
            Self::Chat | Self::Messages => "text",
            Self::Responses => "input_text",
        }
    }
}
