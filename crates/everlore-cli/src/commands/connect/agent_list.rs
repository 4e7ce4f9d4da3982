//! `everlore connect --list`: which agents are installed, and how each is connected.

use serde_json::{Value, json};

use super::{
    agent_entries::ConnectionSpec,
    agents::{AgentPaths, CodingAgent},
    any_connection, file_edit,
};
use crate::{
    Exit, Output, Result,
    messages::translate,
    render::{new_table, render_table},
};

/// Prints the agents with their connections.
pub(super) fn list_agents(paths: &AgentPaths, out: &mut Output) -> Result<Exit> {
    let mut rows = Vec::new();
    for agent in CodingAgent::ALL {
        let has = |tools: bool, hooks: bool| {
            let proxy = (!tools && !hooks).then(String::new);
            is_connected(agent, paths, &ConnectionSpec { tools, hooks, proxy, ..any_connection() })
        };
        let connected = [has(true, false)?, has(false, true)?, has(false, false)?];
        rows.push(AgentRow { agent, installed: agent.is_installed(paths), connected });
    }
    if out.is_json() {
        out.json(&json!({ "agents": rows.iter().map(AgentRow::json).collect::<Vec<_>>() }))?;
        return Ok(Exit::Done);
    }
    let mut table = new_table(&["agent", "installed", "tools", "hooks", "proxy"]);
    for row in rows {
        table.add_row(row.cells().map(translate));
    }
    out.text(&render_table(table))?;
    Ok(Exit::Done)
}

/// Agent in the list: if it is installed, and if its tools, hooks and proxy are connected.
struct AgentRow {
    agent: CodingAgent,
    installed: bool,
    connected: [bool; 3],
}

impl AgentRow {
    fn json(&self) -> Value {
        let [tools, hooks, proxy] = self.connected;
        json!({ "agent": self.agent.as_str(), "installed": self.installed, "tools": tools, "hooks": hooks, "proxy": proxy })
    }

    fn cells(&self) -> [&'static str; 5] {
        let yes = |yes: bool| if yes { "yes" } else { "no" };
        let [tools, hooks, proxy] = self.connected.map(yes);
        let tools = if self.agent == CodingAgent::Aider { "–" } else { tools };
        let hooks = if self.agent.host().is_some() { hooks } else { "–" };
        let proxy = if self.agent.has_proxy() { proxy } else { "–" };
        [self.agent.as_str(), yes(self.installed), tools, hooks, proxy]
    }
}

/// Returns `true` if the agent's files have all entries of this spec.
fn is_connected(agent: CodingAgent, paths: &AgentPaths, spec: &ConnectionSpec) -> Result<bool> {
    let edits = agent.edits(paths, spec);
    let applied = edits.iter().map(file_edit::is_applied).collect::<Result<Vec<_>>>()?;
    Ok(!applied.is_empty() && applied.into_iter().all(|applied| applied))
}
