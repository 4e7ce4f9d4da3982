//! What a scripted model is asked, in the words of no protocol.

/// A request as the model sees it.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// The system prompt, with what is added to it for this question.
    pub system: String,
    /// What was said: who, and what.
    pub messages: Vec<(Role, String)>,
    /// The names of the tools it may call.
    pub tools: Vec<String>,
    /// Whether the answer must be JSON.
    pub json: bool,
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Model,
    /// A tool.
    Tool,
}

impl Asked {
    /// The user's message, if it comes last.
    pub fn question(&self) -> Option<&str> {
        self.last(Role::User)
    }

    /// The result of a tool, if it comes last.
    pub fn result(&self) -> Option<&str> {
        self.last(Role::Tool)
    }

    /// How long everything is together.
    pub(super) fn chars(&self) -> usize {
        let said: usize = self.messages.iter().map(|(_, text)| text.chars().count()).sum();
        said + self.system.chars().count()
    }

    fn last(&self, wanted: Role) -> Option<&str> {
        let (role, text) = self.messages.last()?;
        (*role == wanted).then_some(text.as_str())
    }
}
