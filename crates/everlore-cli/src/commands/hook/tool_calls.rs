//! Tool calls of a coding agent: failures and what followed them as turns, the others as steps of the trajectory.

use everlore::{
    Turn,
    internal::text::{
        elision::{elide_middle, elide_texts},
        tool_event::{ToolEvent, only_reads},
    },
    types::{RecordedCall, Role},
};

use super::{call::HookCall, spool::digest};
use crate::error::Result;

impl HookCall<'_> {
    /// Spools a tool call. A failed one, and after it those that change something until the same call succeeds, are turns:
    /// capture reads from them what solved the failure. The others only belong to the trajectory.
    pub(super) fn spool_tool_call(&self, error: Option<&str>) -> Result<()> {
        let Some((tool, call)) = self.event.tool_call() else { return Ok(()) };
        let recorded = self.event.recorded_call(error.is_some()).filter(|_| self.records_calls());
        let key = format!("{tool}\n{call}");
        let matters = self.update_conversation(|state| match error {
            Some(_) => {
                state.record_failure(&key);
                Ok(true)
            }
            None => Ok(state.record_success(&key)),
        })?;
        let now = self.cx.now().timestamp().to_string();
        let id = digest(&[&key, self.event.tool_use_id().unwrap_or(&now)]);
        let (call_record, result) = recorded.unzip();
        if !matters || error.is_none() && only_reads(tool) {
            let Some(text) = result else { return Ok(()) };
            // A tool event of the same id is another entry: some hosts number calls by what they do.
            let (run, turn) = self.new_turn(Role::Tool, &digest(&[&id, "call"]), &text);
            return self.put_call(&run, Turn { call: call_record, ..turn });
        }
        let text = ToolEvent { tool, call: &call, error }.render();
        let (run, turn) = self.new_turn(Role::Tool, &id, &text);
        // The event of a success does not tell what the call printed.
        let max_chars = self.cx.settings.config.trajectories.max_chars;
        let result = result.filter(|result| error.is_none() && !result.is_empty());
        let result = result.map(|result| elide_middle(&result, max_chars));
        let call = call_record.map(|call| RecordedCall { is_event: true, result, ..call });
        self.put_in_spool(&run, Turn { call, ..turn })
    }

    /// Returns `true` if the settings let tool calls be recorded.
    fn records_calls(&self) -> bool {
        self.cx.settings.config.trajectories.enabled
    }

    /// Spools a tool call that only belongs to the trajectory, shortened to the limit of the settings.
    fn put_call(&self, run: &str, mut turn: Turn) -> Result<()> {
        let max_chars = self.cx.settings.config.trajectories.max_chars;
        turn.text = elide_middle(&turn.text, max_chars);
        if let Some(call) = &mut turn.call {
            elide_texts(&mut call.arguments, max_chars);
        }
        let spooled = self.spool.put_call(run, &self.to_spooled(turn), self.masks_secrets());
        spooled.map_err(|error| self.io_error(error))
    }
}
