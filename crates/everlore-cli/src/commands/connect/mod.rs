//! `everlore connect` and `everlore disconnect`: entries for tools and hooks in the settings of coding agents.
//!
//! `agents.rs` is the table of files and entries; `json_entries.rs` and `toml_section.rs` edit texts; `file_edit.rs`
//! writes files and keeps backups.

mod agents;
mod jsonc_document;
mod json_entries;
mod toml_section;
mod file_edit;

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use serde_json::json;

use self::{
    agents::{AgentPaths, CodingAgent, ConnectionSpec, FileEdit, TOKEN_VARIABLE},
    file_edit::EditOutcome,
};
use crate::{
    CliContext, CliError, Exit, Output, Result,
    messages::translate,
    near_words::nearest,
    program,
    render::{new_table, render_table, shell_quote},
};

/// Let coding agents use this memory: as tools (MCP), and through hooks that recall and store by themselves
///
/// Agents: claude-code, codex, gemini and cursor get both; vscode, windsurf, zed, opencode and claude-desktop get
/// tools. Their settings are edited in place: comments and everything else stay, and `everlore disconnect` restores the
/// files. If a file cannot be parsed, the text to paste is printed instead. See docs/connect.md.
#[derive(Debug, Args)]
pub(crate) struct ConnectArgs {
    #[command(flatten)]
    which: AgentSelectionArgs,
    /// Connect to the server (`everlore serve`) over HTTP instead of starting a program; agents read the token from
    /// EVERLORE_TOKEN
    #[arg(long)]
    http: bool,
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
    #[arg(long, conflicts_with_all = ["agents", "all", "print", "http"])]
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

#[derive(Debug, Args)]
struct AgentSelectionArgs {
    /// Agents, such as claude-code
    #[arg(value_name = "AGENT")]
    agents: Vec<String>,
    /// All agents that are installed
    #[arg(long, conflicts_with = "agents")]
    all: bool,
    /// Only in this project; without DIR, in the current folder
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    project: Option<PathBuf>,
}

/// Shortest part of a name that is taken for it.
const MIN_NAME_PART: usize = 3;

/// Outcome for one file of an agent.
#[derive(Debug, Serialize)]
struct FileOutcome {
    agent: &'static str,
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
            return list_agents(&paths, out);
        }
        let agents = self.which.selected_agents(&paths)?;
        let spec = ConnectionSpec {
            command: server_command(cx, paths.project.is_some())?,
            url: self.http.then(|| server_url(cx)),
            tools: !self.no_tools,
            hooks: !self.no_hooks,
        };
        let mut outcomes = Vec::new();
        for (agent, edit) in collect_edits(&agents, &paths, &spec, out) {
            let outcome = if self.print {
                EditOutcome::NotEditable
            } else {
                file_edit::apply_edit(&cx.home, &edit)?
            };
            let paste = (outcome == EditOutcome::NotEditable)
                .then(|| file_edit::with_edit("", &edit.content))
                .flatten();
            outcomes.push(FileOutcome { agent: agent.as_str(), path: edit.path, outcome, paste });
        }
        if self.print {
            return print_pastes(&outcomes, out);
        }
        print_outcomes(&outcomes, "connected", out)?;
        if cx.settings.has_named_store && !self.http {
            out.note(
                "agents start everlore without --store and EVERLORE_STORE: set store.url in config.toml to the database too",
            );
        }
        if self.http {
            let token = shell_quote(&cx.home.join("server.token").display().to_string());
            out.note(&format!("agents need the token: export {TOKEN_VARIABLE}=\"$(cat {token})\""));
        }
        Ok(exit_code(&outcomes))
    }
}

impl DisconnectArgs {
    /// Removes the entries that `connect` inserted.
    pub(crate) fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let paths = self.which.agent_paths()?;
        let agents = self.which.selected_agents(&paths)?;
        let mut outcomes = Vec::new();
        for (agent, edit) in collect_edits(&agents, &paths, &any_connection(), out) {
            let outcome = file_edit::revert_edit(&cx.home, &edit)?;
            let agent = agent.as_str();
            outcomes.push(FileOutcome { agent, path: edit.path, outcome, paste: None });
        }
        print_outcomes(&outcomes, "disconnected", out)?;
        Ok(exit_code(&outcomes))
    }
}

impl AgentSelectionArgs {
    fn selected_agents(&self, paths: &AgentPaths) -> Result<Vec<CodingAgent>> {
        let installed =
            CodingAgent::ALL.into_iter().filter(|agent| agent.install_folder(paths).is_dir());
        let known = CodingAgent::ALL.map(CodingAgent::as_str).join(", ");
        if self.all {
            let installed: Vec<_> = installed.collect();
            return if installed.is_empty() {
                let hint = format!("name one: {known}");
                Err(CliError::invalid("no agent was found on this machine", hint))
            } else {
                Ok(installed)
            };
        }
        if self.agents.is_empty() {
            let found: Vec<_> = installed.map(CodingAgent::as_str).collect();
            let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
            return Err(CliError::invalid(
                "no agent is named",
                format!("name some of: {known}; or use --all for the installed ones: {found}"),
            ));
        }
        let named = |name: &String| {
            CodingAgent::from_name(name).ok_or_else(|| {
                let hint = match nearest_agent(name) {
                    Some(near) => format!("try `everlore connect {near}`; agents: {known}"),
                    None => format!("choose one of: {known}"),
                };
                CliError::invalid(format!("there is no agent `{name}`"), hint)
            })
        };
        self.agents.iter().map(named).collect()
    }

    fn agent_paths(&self) -> Result<AgentPaths> {
        let user_home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
        let user_home = user_home
            .ok_or_else(|| CliError::invalid("your home folder is not known", "set HOME"))?;
        let folder = |name: &str| {
            std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
        };
        let config_folder = folder("XDG_CONFIG_HOME").unwrap_or_else(|| user_home.join(".config"));
        let app_folder = match std::env::consts::OS {
            "macos" => user_home.join("Library").join("Application Support"),
            "windows" => {
                folder("APPDATA").unwrap_or_else(|| user_home.join("AppData").join("Roaming"))
            }
            _ => config_folder.clone(),
        };
        let project = self.project.as_deref().map(absolute).transpose()?;
        let (claude_folder, codex_folder) = (folder("CLAUDE_CONFIG_DIR"), folder("CODEX_HOME"));
        Ok(AgentPaths {
            user_home,
            config_folder,
            app_folder,
            claude_folder,
            codex_folder,
            project,
        })
    }
}

/// Returns the agent that a part of its name or a slip of the finger means.
fn nearest_agent(name: &str) -> Option<&'static str> {
    let (name, names) = (name.to_lowercase(), CodingAgent::ALL.map(CodingAgent::as_str));
    let begins = |known: &&str| name.len() >= MIN_NAME_PART && known.starts_with(&*name);
    names.into_iter().find(begins).or_else(|| nearest(&name, names))
}

/// Returns the agents that are installed on this machine.
pub(super) fn installed_agents() -> Vec<&'static str> {
    let which = AgentSelectionArgs { agents: Vec::new(), all: true, project: None };
    let selected = which.agent_paths().and_then(|paths| which.selected_agents(&paths));
    selected.unwrap_or_default().into_iter().map(CodingAgent::as_str).collect()
}

/// Connects agents as `everlore connect` does.
pub(super) fn connect_agents(names: &[String], cx: &CliContext, out: &mut Output) -> Result<Exit> {
    let which = AgentSelectionArgs { agents: names.to_vec(), all: false, project: None };
    let args = ConnectArgs {
        which,
        http: false,
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
    let mut words = if shared {
        vec!["everlore".to_owned()]
    } else {
        vec![text(&program::path().map_err(failed)?)?]
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

/// Returns the MCP address of the running server, or of the one that the settings describe.
fn server_url(cx: &CliContext) -> String {
    #[cfg(feature = "server")]
    if let Some(running) = everlore_server::find_running(&cx.home) {
        return format!("{}/mcp", running.url());
    }
    format!("{}/mcp", cx.settings.config.server.url())
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|error| CliError::io(path.display().to_string(), error))
}

fn collect_edits(
    agents: &[CodingAgent],
    paths: &AgentPaths,
    spec: &ConnectionSpec,
    out: &mut Output,
) -> Vec<(CodingAgent, FileEdit)> {
    let mut all = Vec::new();
    for agent in agents {
        let edits = agent.edits(paths, spec);
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
    ConnectionSpec { command: vec!["everlore".to_owned()], url: None, tools: true, hooks: true }
}

fn exit_code(outcomes: &[FileOutcome]) -> Exit {
    Exit::from_success(outcomes.iter().all(|file| file.outcome != EditOutcome::NotEditable))
}

fn print_pastes(outcomes: &[FileOutcome], out: &mut Output) -> Result<Exit> {
    if out.is_json() {
        out.json(&json!({ "files": outcomes }))?;
        return Ok(Exit::Done);
    }
    for file in outcomes {
        out.line(&out.bold(&format!("# {}", file.path.display())))?;
        out.text(file.paste.as_deref().unwrap_or_default())?;
        out.line("")?;
    }
    Ok(Exit::Done)
}

fn print_outcomes(outcomes: &[FileOutcome], done: &str, out: &mut Output) -> Result<()> {
    if out.is_json() {
        return out.json(&json!({ "files": outcomes }));
    }
    for file in outcomes {
        let (agent, path) = (file.agent, file.path.display());
        match file.outcome {
            EditOutcome::Changed => out.say(&format!("{done}: {agent}, {path}"))?,
            EditOutcome::Same => out.say(&format!("nothing to change: {agent}, {path}"))?,
            EditOutcome::NotEditable => {
                out.note(&format!(
                    "{agent}: {path} cannot be parsed and was not changed; edit it by hand"
                ));
                out.text(file.paste.as_deref().unwrap_or_default())?;
            }
        }
    }
    Ok(())
}

fn list_agents(paths: &AgentPaths, out: &mut Output) -> Result<Exit> {
    let mut rows = Vec::new();
    for agent in CodingAgent::ALL {
        let has = |tools: bool, hooks: bool| {
            is_connected(agent, paths, &ConnectionSpec { tools, hooks, ..any_connection() })
        };
        let installed = agent.install_folder(paths).is_dir();
        rows.push((agent, installed, has(true, false)?, has(false, true)?));
    }
    if out.is_json() {
        let row = |(agent, installed, tools, hooks): &(CodingAgent, bool, bool, bool)| json!({ "agent": agent.as_str(), "installed": installed, "tools": tools, "hooks": hooks });
        out.json(&json!({ "agents": rows.iter().map(row).collect::<Vec<_>>() }))?;
        return Ok(Exit::Done);
    }
    let mut table = new_table(&["agent", "installed", "tools", "hooks"]);
    for (agent, installed, tools, hooks) in rows {
        let yes = |yes: bool| if yes { "yes" } else { "no" };
        let hooks = if agent.host().is_some() { yes(hooks) } else { "–" };
        let cells = [agent.as_str(), yes(installed), yes(tools), hooks];
        table.add_row(cells.map(translate));
    }
    out.text(&render_table(table))?;
    Ok(Exit::Done)
}

/// Returns `true` if the agent's files have all entries of this spec.
fn is_connected(agent: CodingAgent, paths: &AgentPaths, spec: &ConnectionSpec) -> Result<bool> {
    let edits = agent.edits(paths, spec);
    let applied = edits.iter().map(file_edit::is_applied).collect::<Result<Vec<_>>>()?;
    Ok(!applied.is_empty() && applied.into_iter().all(|applied| applied))
}
