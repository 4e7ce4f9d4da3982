//! Recorder of a session: messages as turns, and the tool calls of a reply for its trajectory.

use super::{ChatReply, ChatSession};
use crate::{
    error::Result,
    ingest::Turn,
    llm::{TokenUsage, ToolCall},
    types::{RecordedAnswer, RecordedCall, Role, StepTokens, Timestamp},
};

impl ChatSession {
    /// Builds a turn of this session.
    pub(super) fn turn(&self, role: Role, text: &str, at: Timestamp) -> Turn {
        Turn {
            text: text.to_owned(),
            session: Some(self.session.clone()),
            role: Some(role),
            time: Some(at),
            ..Turn::default()
        }
    }

    /// Returns how an answer came about.
    pub(super) fn recorded_answer(&self, reply: &ChatReply) -> RecordedAnswer {
        let TokenUsage { read, cached, written } = reply.tokens;
        let tokens = StepTokens { read, cached, written };
        RecordedAnswer {
            model: Some(self.model.name().to_owned()),
            tokens: (tokens != StepTokens::default()).then_some(tokens),
            ended: Some(reply.outcome.recorded_end()),
        }
    }

    /// Stores turns verbatim; does nothing if there are none or memory is switched off.
    pub(super) async fn store_turns(&self, turns: Vec<Turn>) -> Result<()> {
        if turns.is_empty() || !self.engine.settings(self.scope.agent()).memory.enabled {
            return Ok(());
        }
        self.engine.observe(&self.scope, turns).await.map(drop)
    }

    /// Keeps a tool call for the trajectory, which is stored with the answer.
    pub(super) fn record_call(
        &mut self,
        call: &ToolCall,
        result: &str,
        failed: bool,
        at: Timestamp,
    ) {
        if !self.engine.records_trajectories() {
            return;
        }
        let ToolCall { id, name, arguments } = call.clone();
        let recorded =
            RecordedCall { id: Some(id), name, arguments, failed, ..RecordedCall::default() };
        let turn = self.turn(Role::Tool, result, at);
        self.calls.push(Turn { call: Some(recorded), ..turn });
    }
}
