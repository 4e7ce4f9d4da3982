//! What a folder tells a prompt.

use crate::{
    engine::Engine,
    error::Result,
    recall::{MemoryBlock, RecallRequest},
    types::Scope,
};

/// What to put into a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsInjectRequest {
    /// What the agent is about to answer.
    pub query: String,
    /// Where.
    pub uri: String,
    /// The most memories; as many as the settings say if left out.
    pub limit: Option<usize>,
    /// The most tokens; as many as the settings say if left out.
    pub budget: Option<usize>,
}

impl Engine {
    /// The block for a prompt, of what a folder holds; its text is empty if nothing in it is worth telling.
    pub async fn fs_inject(&self, scope: &Scope, request: &FsInjectRequest) -> Result<MemoryBlock> {
        let usual = self.settings(scope.agent()).memory.inject.token_budget;
        let asked = self.context_request(scope, request.query.as_str());
        let limit = request.limit.unwrap_or(asked.limit);
        let asked = RecallRequest { limit, ..self.confine_to_folder(asked, &request.uri).await? };
        self.context(&asked, request.budget.unwrap_or(usual)).await
    }
}
