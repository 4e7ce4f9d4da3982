//! What a scripted model is asked, in the words of no protocol.

/// A request as the model sees it.
#[derive(Debug, Clone, Default)]
pub struct ModelRequest {
    /// The system prompt, with what is added to it for this question.
    pub system: String,
    /// What was said: who, and what.
    pub messages: Vec<(MessageRole, String)>,
    /// The names of the tools it may call.
    pub tools: Vec<String>,
    /// Whether the answer must be JSON.
    pub json: bool,
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageRole {
    /// The user.
    User,
    /// The model.
    Model,
    /// A tool.
    Tool,
}

impl ModelRequest {
    /// The user's message, if it comes last.
    pub fn last_user_message(&self) -> Option<&str> {
        self.last_from(MessageRole::User)
    }

    /// The result of a tool, if it comes last.
    pub fn last_tool_result(&self) -> Option<&str> {
        self.last_from(MessageRole::Tool)
    }

    /// How long everything is together.
    pub(super) fn chars(&self) -> usize {
        let said: usize = self.messages.iter().map(|(_, text)| text.chars().count()).sum();
        said + self.system.chars().count()
    }

    fn last_from(&self, wanted: MessageRole) -> Option<&str> {
        let (role, text) = self.messages.last()?;
        (*role == wanted).then_some(text.as_str())
    }
}
