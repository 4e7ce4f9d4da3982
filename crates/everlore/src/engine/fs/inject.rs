//! Prompt blocks from the memories of one folder.

use crate::{
    engine::Engine,
    error::Result,
    recall::{MemoryBlock, RecallRequest},
    types::Scope,
};

/// Request for a prompt block from a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsInjectRequest {
    /// The user's message, which the agent is about to answer.
    pub query: String,
    /// Folder to recall from.
    pub uri: String,
    /// Most memories; `None` takes the settings' limit.
    pub limit: Option<usize>,
    /// Most tokens; `None` takes the settings' budget.
    pub budget: Option<usize>,
}

impl Engine {
    /// Returns the prompt block of a folder's memories; its text is empty if none is relevant. Fails if the URI is
    /// invalid or names nothing.
    pub async fn fs_inject(&self, scope: &Scope, request: &FsInjectRequest) -> Result<MemoryBlock> {
        let usual = self.settings(scope.agent()).memory.inject.token_budget;
        let recall_request = self.context_request(scope, request.query.as_str());
        let limit = request.limit.unwrap_or(recall_request.limit);
        let recall_request =
            RecallRequest { limit, ..self.confine_to_folder(recall_request, &request.uri).await? };
        self.context(&recall_request, request.budget.unwrap_or(usual)).await
    }
}
