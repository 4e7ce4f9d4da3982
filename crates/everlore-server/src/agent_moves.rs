//! Moves of agents that this server runs: at most one for each agent, with its progress and how the last one ended.

use std::collections::HashMap;
use std::sync::Mutex;

use everlore::{
    Engine,
    config::StoreUrl,
    engine::{MoveProgress, MoveReport},
};
use serde_json::{Value, json};

use crate::{App, lock, tasks};

/// Moves by agent.
#[derive(Default)]
pub(crate) struct AgentMoves(Mutex<HashMap<String, ServerMove>>);

/// Move that this server runs or ran last.
#[derive(Clone, Default)]
struct ServerMove {
    is_running: bool,
    copied: u64,
    total: u64,
    /// Reason why the last one failed.
    problem: Option<String>,
}

impl AgentMoves {
    /// Starts a move in the background (`None`: back to the database that the last one left); `false` if one runs already.
    pub(crate) fn start(app: &App, engine: Engine, agent: &str, to: Option<StoreUrl>) -> bool {
        let mut moves = lock(&app.agent_moves.0);
        let current = moves.entry(agent.to_owned()).or_default();
        if current.is_running {
            return false;
        }
        *current = ServerMove { is_running: true, ..ServerMove::default() };
        let (app, agent) = (app.clone(), agent.to_owned());
        drop(moves);
        tasks::spawn(Box::pin(async move {
            let mut progress = |step: MoveProgress| app.agent_moves.note(&agent, step);
            let outcome = match &to {
                Some(to) => engine.move_agent(&agent, to, &mut progress).await,
                None => engine.move_agent_back(&agent, &mut progress).await,
            };
            app.agent_moves.finish(&agent, outcome);
        }));
        true
    }

    /// Returns progress and outcome of the last move; `None` if this server ran none.
    pub(crate) fn describe(&self, agent: &str) -> Option<Value> {
        let ServerMove { is_running, copied, total, problem } = lock(&self.0).get(agent)?.clone();
        Some(json!({ "running": is_running, "copied": copied, "total": total, "problem": problem }))
    }

    fn note(&self, agent: &str, step: MoveProgress) {
        if let MoveProgress::Copying { copied, total } = step
            && let Some(current) = lock(&self.0).get_mut(agent)
        {
            (current.copied, current.total) = (copied, total);
        }
    }

    fn finish(&self, agent: &str, outcome: everlore::Result<MoveReport>) {
        let problem = match outcome {
            Ok(report) if report.moved => None,
            Ok(_) => Some("both databases differ; the agent stays where it is".to_owned()),
            Err(error) => {
                tracing::error!(agent, %error, "a move failed");
                Some(error.to_string())
            }
        };
        if let Some(current) = lock(&self.0).get_mut(agent) {
            (current.is_running, current.problem) = (false, problem);
        }
    }
}
