//! `everlore connect` and `everlore disconnect`: entries for tools and hooks in the settings of coding agents.
//!
//! `agents.rs` is the table of agents and files, `agent_entries.rs` makes the entries; `json_entries.rs`, `toml_section.rs`
//! and `yaml_block.rs` edit texts; `file_edit.rs` writes files and keeps backups; `next_steps.rs` says what is left to do.

mod agents;
mod agent_selection;
mod jsonc_document;
mod json_entries;
mod toml_section;
mod yaml_block;
mod agent_entries;
mod file_edit;
mod agent_list;
mod next_steps;

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use serde_json::json;

use self::{
    agent_entries::{ConnectionSpec, FileEdit},
    agent_selection::{AgentSelectionArgs, absolute},
    agents::{AgentPaths, CodingAgent},
    file_edit::EditOutcome,
    next_steps::{NextSteps, print_next_steps},
};
use crate::{CliContext, CliError, Exit, Output, Result, program};

pub(super) use self::agent_selection::installed_agents;

/// Let coding agents use this memory: as tools (MCP), and through hooks that recall and store by themselves
///
/// Agents: claude-code, codex, gemini, qwen-code, cursor and opencode (by a plugin) get both; cline, continue, vscode,
/// windsurf, zed and claude-desktop get tools; aider gets the memory proxy. Their settings are edited in place: comments
/// and everything else stay, and `everlore disconnect` restores the files. If a file cannot be edited safely, the text
/// to paste is printed instead. See docs/connect.md.
#[derive(Debug, Args)]
pub(crate) struct ConnectArgs {
    #[command(flatten)]
    which: AgentSelectionArgs,
    /// Connect to the server (`everlore serve`) over HTTP instead of starting a program; agents read the token from
    /// EVERLORE_TOKEN
    #[arg(long)]
    http: bool,
    /// Also send the model requests of an agent without hooks through the memory proxy (`everlore serve`), which recalls
    /// and stores by itself: continue, aider
    #[arg(long)]
    proxy: bool,
    /// Only tools, no hooks
    #[arg(long, conflicts_with = "no_tools")]
    no_hooks: bool,
    /// Only hooks, no tools
    #[arg(long)]
    no_tools: bool,
    /// Print what would go into which file, and change nothing
    #[arg(long)]
    print: bool,
    /// Only show which agents are installed and connected
    #[arg(long, conflicts_with_all = ["agents", "all", "print", "http", "proxy"])]
    list: bool,
}

/// Remove the memory from the settings of coding agents; nothing else in them is touched
///
/// A file that was not changed since `connect` is restored to the byte.
#[derive(Debug, Args)]
pub(crate) struct DisconnectArgs {
    #[command(flatten)]
    which: AgentSelectionArgs,
}

/// Outcome for one file of an agent.
#[derive(Debug, Serialize)]
struct FileOutcome {
    #[serde(serialize_with = "serialize_name")]
    agent: CodingAgent,
    path: PathBuf,
    #[serde(rename = "became")]
    outcome: EditOutcome,
    /// Text to paste, if the file was not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    paste: Option<String>,
}

impl ConnectArgs {
    /// Edits the settings of the agents, prints the edits, or lists the agents.
    pub(crate) fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let paths = self.which.agent_paths()?;
        if self.list {
            return agent_list::list_agents(&paths, out);
        }
        let mut agents = self.which.selected_agents(&paths, "connect")?;
        // Its model would no longer answer without a server: it must be meant.
        agents.retain(|agent| *agent != CodingAgent::Aider || self.proxy || !self.which.all);
        let spec = self.spec(cx, &paths)?;
        let proxy = format!("{}/v1", server_address(cx));
        let spec_of = |agent: CodingAgent| ConnectionSpec {
            proxy: (self.proxy || agent == CodingAgent::Aider).then(|| proxy.clone()),
            ..spec.clone()
        };
        let mut outcomes = Vec::new();
        for (agent, edit) in collect_edits(&agents, &paths, &spec_of, out) {
            outcomes.push(self.carry_out(agent, edit, &paths, cx)?);
        }
        let has_edits = |agent: &CodingAgent| outcomes.iter().any(|file| file.agent == *agent);
        // An installed agent that has no such way is left out; a named one was meant.
        let is_refused =
            if self.which.all { outcomes.is_empty() } else { !agents.iter().all(has_edits) };
        if self.print {
            print_pastes(&outcomes, out)?;
            return Ok(Exit::from_success(!is_refused));
        }
        let steps =
            NextSteps { proxy: self.proxy, http: self.http, project: paths.project.is_some() };
        print_outcomes(&outcomes, "connected", &steps.of(&outcomes, cx), out)?;
        if cx.settings.has_named_store && !self.http {
            out.note(
                "agents start everlore without --store and EVERLORE_STORE: set store.url in config.toml to the database too",
            );
        }
        Ok(if is_refused { Exit::Failed } else { exit_code(&outcomes) })
    }

    /// Returns the connection that the options describe, without the proxy.
    fn spec(&self, cx: &CliContext, paths: &AgentPaths) -> Result<ConnectionSpec> {
        Ok(ConnectionSpec {
            command: server_command(cx, paths.project.is_some())?,
            url: self.http.then(|| format!("{}/mcp", server_address(cx))),
            proxy: None,
            tools: !self.no_tools,
            hooks: !self.no_hooks,
        })
    }

    /// Writes an edit; with `--print`, only returns what to paste.
    fn carry_out(
        &self,
        agent: CodingAgent,
        edit: FileEdit,
        paths: &AgentPaths,
        cx: &CliContext,
    ) -> Result<FileOutcome> {
        let outcome = if self.print {
            EditOutcome::NotEditable
        } else {
            let known = agent.edits(paths, &any_connection());
            let known = known.into_iter().find(|known| known.path == edit.path);
            let known = known.map_or_else(|| edit.content.clone(), |known| known.content);
            file_edit::apply_edit(&cx.home, &edit, &known)?
        };
        let paste = (outcome == EditOutcome::NotEditable)
            .then(|| file_edit::text_to_paste(&edit.path, &edit.content))
            .flatten();
        Ok(FileOutcome { agent, path: edit.path, outcome, paste })
    }
}

impl DisconnectArgs {
    /// Removes the entries that `connect` inserted.
    pub(crate) fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let paths = self.which.agent_paths()?;
        let agents = self.which.selected_agents(&paths, "disconnect")?;
        let (mut outcomes, mut created) = (Vec::new(), Vec::new());
        for (agent, edit) in collect_edits(&agents, &paths, &|_| any_connection(), out) {
            let outcome = file_edit::revert_edit(&cx.home, &edit, &mut created)?;
            outcomes.push(FileOutcome { agent, path: edit.path, outcome, paste: None });
        }
        file_edit::remove_empty_folders(created);
        print_outcomes(&outcomes, "disconnected", &[], out)?;
        Ok(exit_code(&outcomes))
    }
}

/// Connects agents as `everlore connect` does.
pub(super) fn connect_agents(names: &[String], cx: &CliContext, out: &mut Output) -> Result<Exit> {
    let which = AgentSelectionArgs { agents: names.to_vec(), all: false, project: None };
    let args = ConnectArgs {
        which,
        http: false,
        proxy: false,
        no_hooks: false,
        no_tools: false,
        print: false,
        list: false,
    };
    args.run(cx, out)
}

/// Returns the command line for agents: with the full path of the program, since not every agent knows the user's
/// `PATH`; with its bare name in a project, which other people share. Options of this call are passed on.
fn server_command(cx: &CliContext, shared: bool) -> Result<Vec<String>> {
    let failed = |error| CliError::io("finding this program", error);
    let text = |path: &Path| match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(CliError::invalid(
            format!("{} is not valid Unicode", path.display()),
            "move it: settings of agents can only hold Unicode paths",
        )),
    };
    let path = program::path().map_err(failed)?;
    let mut words = match program::package_runner(&path) {
        _ if shared => vec!["everlore".to_owned()],
        Some(runner) => runner.iter().map(|&word| word.to_owned()).collect(),
        None => vec![text(&path)?],
    };
    let default_home = std::env::home_dir().map(|home| home.join(".everlore"));
    if default_home.as_ref() != Some(&cx.home) {
        words.extend(["--home".to_owned(), text(&absolute(&cx.home)?)?]);
    }
    let general = &cx.settings.config.general;
    for (option, value, default) in
        [("--agent", cx.scope.agent(), &general.agent), ("--user", cx.scope.user(), &general.user)]
    {
        if value != default {
            words.extend([option.to_owned(), value.to_owned()]);
        }
    }
    Ok(words)
}

/// Returns the address of the running server, or of the one that the settings describe.
fn server_address(cx: &CliContext) -> String {
    #[cfg(feature = "server")]
    if let Some(running) = everlore_server::find_running(&cx.home) {
        return running.url();
    }
    cx.settings.config.server.url()
}

fn collect_edits(
    agents: &[CodingAgent],
    paths: &AgentPaths,
    spec_of: &dyn Fn(CodingAgent) -> ConnectionSpec,
    out: &mut Output,
) -> Vec<(CodingAgent, FileEdit)> {
    let mut all = Vec::new();
    for agent in agents {
        let edits = agent.edits(paths, &spec_of(*agent));
        if edits.is_empty() {
            out.note(&format!(
                "{}: cannot be connected this way (docs/connect.md)",
                agent.as_str()
            ));
        }
        all.extend(edits.into_iter().map(|edit| (*agent, edit)));
    }
    all
}

/// Returns the spec that finds every entry of ours, whatever command or address it has.
fn any_connection() -> ConnectionSpec {
    let proxy = Some(String::new());
    let command = vec!["everlore".to_owned()];
    ConnectionSpec { command, url: None, proxy, tools: true, hooks: true }
}

fn exit_code(outcomes: &[FileOutcome]) -> Exit {
    Exit::from_success(outcomes.iter().all(|file| file.outcome != EditOutcome::NotEditable))
}

fn print_pastes(outcomes: &[FileOutcome], out: &mut Output) -> Result<()> {
    if out.is_json() {
        return out.json(&json!({ "files": outcomes }));
    }
    for file in outcomes {
        out.line(&out.bold(&format!("# {}", file.path.display())))?;
        out.text(file.paste.as_deref().unwrap_or_default())?;
        out.line("")?;
    }
    Ok(())
}

fn print_outcomes(
    outcomes: &[FileOutcome],
    done: &str,
    steps: &[(CodingAgent, String)],
    out: &mut Output,
) -> Result<()> {
    if out.is_json() {
        let step = |(agent, step): &(CodingAgent, String)| json!({ "agent": agent.as_str(), "step": step });
        let steps: Vec<_> = steps.iter().map(step).collect();
        return out.json(&json!({ "files": outcomes, "next": steps }));
    }
    for file in outcomes {
        let (agent, path) = (file.agent.as_str(), file.path.display());
        match file.outcome {
            EditOutcome::Changed => out.say(&format!("{done}: {agent}, {path}"))?,
            EditOutcome::Same => out.say(&format!("nothing to change: {agent}, {path}"))?,
            EditOutcome::NotEditable => match &file.paste {
                Some(paste) => {
                    out.note(&format!(
                        "{agent}: {path} cannot be edited safely and was not changed; add this by hand"
                    ));
                    out.text(paste)?;
                }
                None => out.note(&format!(
                    "{agent}: {path} cannot be edited safely and was not changed; remove what names everlore by hand"
                )),
            },
        }
    }
    print_next_steps(steps, out)
}

fn serialize_name<S: serde::Serializer>(
    agent: &CodingAgent,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(agent.as_str())
}
