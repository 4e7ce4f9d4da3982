//! Request to a scripted model, independent of the API.

/// Request as the model sees it.
#[derive(Debug, Clone, Default)]
pub struct ModelRequest {
    /// System prompt, with the additions for this request.
    pub system: String,
    /// Messages with their roles.
    pub messages: Vec<(MessageRole, String)>,
    /// Names of the tools that it may call.
    pub tools: Vec<String>,
    /// Set if the response must be JSON.
    pub json: bool,
}

/// Role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageRole {
    /// User.
    User,
    /// Assistant.
    Model,
    /// Tool result.
    Tool,
}

impl ModelRequest {
    /// Returns the user's message if it is the last one.
    pub fn last_user_message(&self) -> Option<&str> {
        self.last_from(MessageRole::User)
    }

    /// Returns the tool result if it is the last message.
    pub fn last_tool_result(&self) -> Option<&str> {
        self.last_from(MessageRole::Tool)
    }

    /// Returns the characters of all messages and the system prompt.
    pub(super) fn chars(&self) -> usize {
        let messages: usize = self.messages.iter().map(|(_, text)| text.chars().count()).sum();
        messages + self.system.chars().count()
    }

    fn last_from(&self, wanted: MessageRole) -> Option<&str> {
        let (role, text) = self.messages.last()?;
        (*role == wanted).then_some(text.as_str())
    }
}
