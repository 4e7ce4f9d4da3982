//! Steps that are left to a person after `connect`: restart the agent, trust its hooks, start the server.

use std::path::Path;

use super::{
    FileOutcome, agent_entries::TOKEN_VARIABLE, agents::CodingAgent, file_edit::EditOutcome,
};
use crate::{
    CliContext, Output, Result, messages::translate, render::shell_quote, text_width::fit_terminal,
};

/// Ways of a connection that ask for a step.
pub(super) struct NextSteps {
    pub(super) proxy: bool,
    pub(super) http: bool,
    pub(super) project: bool,
}

impl NextSteps {
    /// Returns the steps for the agents whose files were edited, each agent's own first.
    pub(super) fn of(
        &self,
        outcomes: &[FileOutcome],
        cx: &CliContext,
    ) -> Vec<(CodingAgent, String)> {
        let is_written = |file: &&FileOutcome| file.outcome != EditOutcome::NotEditable;
        let mut agents: Vec<CodingAgent> =
            outcomes.iter().filter(is_written).map(|file| file.agent).collect();
        agents.dedup();
        let steps = |agent: CodingAgent| {
            let own = self.own_steps(agent);
            let server = self.server_steps(agent, &cx.home);
            own.into_iter().chain(server).map(move |step| (agent, step))
        };
        agents.into_iter().flat_map(steps).collect()
    }

    /// Returns the steps inside the agent.
    fn own_steps(&self, agent: CodingAgent) -> Vec<String> {
        let steps: &[&str] = match agent {
            CodingAgent::ClaudeCode if self.project => &[
                "restart Claude Code in this project, and allow the server when it asks; `/mcp` and `/hooks` show it",
            ],
            CodingAgent::ClaudeCode => &["restart Claude Code; `/mcp` and `/hooks` show it"],
            CodingAgent::Codex => &[
                "restart Codex and trust the new hooks when it asks, or in `/hooks`: before that they do not run",
            ],
            CodingAgent::Gemini if self.project => &[
                "restart Gemini CLI and trust this folder when it asks; `/mcp` and `/hooks` show it",
            ],
            CodingAgent::Gemini => &["restart Gemini CLI; `/mcp` and `/hooks` show it"],
            CodingAgent::QwenCode if self.project => &[
                "restart Qwen Code and trust this folder when it asks; `/mcp` and `/hooks` show it",
            ],
            CodingAgent::QwenCode => &["restart Qwen Code; `/mcp` and `/hooks` show it"],
            CodingAgent::Opencode => &["restart OpenCode; it loads the plugin at its next start"],
            CodingAgent::Cursor => &["restart Cursor; Settings, MCP shows the server"],
            CodingAgent::Cline => &[
                "restart Cline",
                "memory that works by itself goes through the proxy: docs/connect.md#cline",
            ],
            CodingAgent::Continue if self.proxy => {
                &["restart Continue and choose the model Everlore"]
            }
            CodingAgent::Continue => &[
                "restart Continue",
                "memory that works by itself goes through the proxy: `everlore connect continue --proxy`",
            ],
            CodingAgent::Aider => &[],
            CodingAgent::Vscode => &["run \"MCP: List Servers\" in VS Code and start everlore"],
            CodingAgent::Windsurf => &["restart Windsurf"],
            CodingAgent::Zed => &["open the Agent Panel of Zed; its settings show the server"],
            CodingAgent::ClaudeDesktop => &["quit Claude Desktop and open it again"],
        };
        steps.iter().map(|step| (*step).to_owned()).collect()
    }

    /// Returns the steps that a server needs.
    fn server_steps(&self, agent: CodingAgent, home: &Path) -> Vec<String> {
        let token = shell_quote(&home.join("server.token").display().to_string());
        let is_proxied = agent == CodingAgent::Aider || (self.proxy && agent.has_proxy());
        let mut steps = Vec::new();
        if is_proxied || self.http {
            steps.push("start the server: `everlore serve`".to_owned());
        }
        if is_proxied {
            steps.push(
                "the server needs a model: section [chat] of the settings, or `everlore onboard`"
                    .to_owned(),
            );
        }
        let variable = if agent == CodingAgent::Aider { "OPENAI_API_KEY" } else { TOKEN_VARIABLE };
        if is_proxied || self.http {
            steps.push(format!("give it the token: export {variable}=\"$(cat {token})\""));
        }
        steps
    }
}

/// Prints the steps, each with its agent.
pub(super) fn print_next_steps(steps: &[(CodingAgent, String)], out: &mut Output) -> Result<()> {
    if !steps.is_empty() {
        out.say("next:")?;
    }
    for (agent, step) in steps {
        out.line(&fit_terminal(&format!("  {}: {}", agent.as_str(), translate(step))))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_has_a_next_step() {
        for (proxy, project) in [(false, false), (true, false), (false, true)] {
            let steps = NextSteps { proxy, http: false, project };
            for agent in CodingAgent::ALL {
                let own = steps.own_steps(agent);
                let server = steps.server_steps(agent, Path::new("/h"));
                assert!(!own.is_empty() || !server.is_empty(), "{agent:?}");
            }
        }
    }

    #[test]
    fn a_proxy_needs_a_server_a_model_and_a_key() {
        let steps = NextSteps { proxy: false, http: false, project: false };
        let aider = steps.server_steps(CodingAgent::Aider, Path::new("/h h")).join("\n");
        assert!(aider.contains("everlore serve") && aider.contains("[chat]"), "{aider}");
        assert!(aider.contains("export OPENAI_API_KEY=\"$(cat '/h h/server.token')\""), "{aider}");
        assert!(steps.server_steps(CodingAgent::Codex, Path::new("/h")).is_empty());
    }
}
