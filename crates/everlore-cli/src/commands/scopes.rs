//! `everlore scopes`: the agents and users of a home.

use clap::Args;
use serde_json::json;

use crate::{
    CliContext, Exit, Output, Result,
    render::{new_table, render_table},
};

/// List the agents and users whose memories this home holds
#[derive(Debug, Args)]
pub(crate) struct ScopesArgs {}

impl ScopesArgs {
    /// Lists every scope with its number of memories.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let mut listed = Vec::new();
        for scope in engine.admin().scopes().await? {
            let counts = engine.count(&scope).await?;
            let memories: usize = counts.memories.iter().map(|(_, _, count)| count).sum();
            listed.push((scope, memories));
        }
        let found = Exit::from_found(!listed.is_empty());
        if out.is_json() {
            let view = |(scope, memories): &(everlore::Scope, usize)| json!({ "agent": scope.agent(), "user": scope.user(), "memories": memories });
            out.json(&json!({ "scopes": listed.iter().map(view).collect::<Vec<_>>() }))?;
        } else if listed.is_empty() {
            out.note("nothing is stored yet");
        } else {
            let mut rows = new_table(&["agent", "user", "memories"]);
            for (scope, memories) in &listed {
                rows.add_row([scope.agent(), scope.user(), &memories.to_string()]);
            }
            out.text(&render_table(rows))?;
        }
        Ok(found)
    }
}
