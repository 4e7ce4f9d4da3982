//! `everlore connect` and `everlore disconnect`: agents get the memory as tools and hooks, and lose them again.
//!
//! `agents.rs` is the table of what has to stand where; `json.rs` and `toml.rs` make edits of it, `file.rs` writes them.

mod agents;
mod spans;
mod json;
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
    cli_context::CliContext,
    error::{CliError, Exit, Result},
    output::Output,
    render::{new_table, render_table, shell_quote},
};

/// Let coding agents use this memory: as tools (MCP), and by hooks that recall and store by themselves
///
/// Agents: claude-code, codex, gemini and cursor get both; vscode, windsurf, zed, opencode and claude-desktop get tools. Their
/// settings are edited in place, nothing else in them is touched, and `everlore disconnect` gives them back as they were.
/// A file with comments is not edited: what to paste is printed instead. docs/connect.md tells more.
#[derive(Debug, Args)]
pub(crate) struct ConnectArgs {
    #[command(flatten)]
    which: AgentSelectionArgs,
    /// Ask the server (`everlore serve`) over HTTP instead of starting a program; agents take the token from EVERLORE_TOKEN
    #[arg(long)]
    http: bool,
    /// Only tools, no hooks
    #[arg(long, conflicts_with = "no_tools")]
    no_hooks: bool,
    /// Only hooks, no tools
    #[arg(long)]
    no_tools: bool,
    /// Print what would stand in which file, and change nothing
    #[arg(long)]
    print: bool,
    /// Only show which agents are installed and connected
    #[arg(long, conflicts_with_all = ["agents", "all", "print", "http"])]
    list: bool,
}

/// Take the memory out of the settings of coding agents; nothing else in them is touched
///
/// A file that was not changed since is given back to the byte.
#[derive(Debug, Args)]
pub(crate) struct DisconnectArgs {
    #[command(flatten)]
    which: AgentSelectionArgs,
}

#[derive(Debug, Args)]
struct AgentSelectionArgs {
    /// The agents, such as claude-code
    #[arg(value_name = "AGENT")]
    agents: Vec<String>,
    /// All that are installed
    #[arg(long, conflicts_with = "agents")]
    all: bool,
    /// Only in this project; without a folder, in the one it is called in
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    project: Option<PathBuf>,
}

/// What became of one file.
#[derive(Debug, Serialize)]
struct FileOutcome {
    agent: &'static str,
    path: PathBuf,
    became: EditOutcome,
    /// What to paste, where it was not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    paste: Option<String>,
}

impl ConnectArgs {
    /// Writes, prints or lists.
    pub(crate) fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let places = self.which.agent_paths()?;
        if self.list {
            return list_agents(&places, out);
        }
        let agents = self.which.selected_agents(&places)?;
        let way = ConnectionSpec {
            command: server_command(cx, places.project.is_some())?,
            url: self.http.then(|| server_url(cx)),
            tools: !self.no_tools,
            hooks: !self.no_hooks,
        };
        let mut done = Vec::new();
        for (agent, edit) in collect_edits(&agents, &places, &way, out) {
            let became = if self.print {
                EditOutcome::Foreign
            } else {
                file_edit::apply_edit(&cx.home, &edit)?
            };
            let paste = (became == EditOutcome::Foreign)
                .then(|| file_edit::with_edit("", &edit.content))
                .flatten();
            done.push(FileOutcome { agent: agent.as_str(), path: edit.path, became, paste });
        }
        if self.print {
            return print_pastes(&done, out);
        }
        print_outcomes(&done, "connected", out)?;
        if self.http {
            let token = shell_quote(&cx.home.join("server.token").display().to_string());
            out.note(&format!("agents need the token: export {TOKEN_VARIABLE}=\"$(cat {token})\""));
        }
        Ok(Exit::from_success(done.iter().all(|done| done.became != EditOutcome::Foreign)))
    }
}

impl DisconnectArgs {
    /// Takes out what `connect` put in.
    pub(crate) fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let places = self.which.agent_paths()?;
        let agents = self.which.selected_agents(&places)?;
        let command = vec!["everlore".to_owned()];
        let way = ConnectionSpec { command, url: None, tools: true, hooks: true };
        let mut done = Vec::new();
        for (agent, edit) in collect_edits(&agents, &places, &way, out) {
            let became = file_edit::revert_edit(&cx.home, &edit)?;
            done.push(FileOutcome { agent: agent.as_str(), path: edit.path, became, paste: None });
        }
        print_outcomes(&done, "disconnected", out)?;
        Ok(Exit::from_success(done.iter().all(|done| done.became != EditOutcome::Foreign)))
    }
}

impl AgentSelectionArgs {
    fn selected_agents(&self, places: &AgentPaths) -> Result<Vec<CodingAgent>> {
        let installed =
            CodingAgent::ALL.into_iter().filter(|agent| agent.install_folder(places).is_dir());
        let known = CodingAgent::ALL.map(CodingAgent::as_str).join(", ");
        if self.all {
            let installed: Vec<_> = installed.collect();
            return match installed.is_empty() {
                true => Err(CliError::invalid(
                    "no agent was found on this machine",
                    format!("name one: {known}"),
                )),
                false => Ok(installed),
            };
        }
        if self.agents.is_empty() {
            let found: Vec<_> = installed.map(CodingAgent::as_str).collect();
            let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
            return Err(CliError::invalid(
                "no agent is named",
                format!("name some of: {known}; or --all for those that were found: {found}"),
            ));
        }
        let named = |name: &String| {
            CodingAgent::from_name(name).ok_or_else(|| {
                CliError::invalid(
                    format!("there is no agent `{name}`"),
                    format!("known are: {known}"),
                )
            })
        };
        self.agents.iter().map(named).collect()
    }

    fn agent_paths(&self) -> Result<AgentPaths> {
        let own = std::env::home_dir().filter(|own| !own.as_os_str().is_empty());
        let own =
            own.ok_or_else(|| CliError::invalid("your home folder is not known", "set HOME"))?;
        let folder = |name: &str| {
            std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
        };
        let settings = folder("XDG_CONFIG_HOME").unwrap_or_else(|| own.join(".config"));
        let applications = match std::env::consts::OS {
            "macos" => own.join("Library").join("Application Support"),
            "windows" => folder("APPDATA").unwrap_or_else(|| own.join("AppData").join("Roaming")),
            _ => settings.clone(),
        };
        let project = self.project.as_deref().map(absolute).transpose()?;
        let (claude, codex) = (folder("CLAUDE_CONFIG_DIR"), folder("CODEX_HOME"));
        Ok(AgentPaths {
            user_home: own,
            config_folder: settings,
            app_folder: applications,
            claude_folder: claude,
            codex_folder: codex,
            project,
        })
    }
}

/// The agents that were found on this machine.
pub(super) fn installed_agents() -> Vec<&'static str> {
    let which = AgentSelectionArgs { agents: Vec::new(), all: true, project: None };
    let chosen = which.agent_paths().and_then(|places| which.selected_agents(&places));
    chosen.unwrap_or_default().into_iter().map(CodingAgent::as_str).collect()
}

/// Connects agents as the command does.
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

/// The program as agents call it: by its whole path, as not all of them know the user's; in a project, which others share,
/// by its name. Options that were given for this call are given for theirs.
fn server_command(cx: &CliContext, shared: bool) -> Result<Vec<String>> {
    let failed = |error| CliError::io("finding this program", error);
    let text = |path: &Path| match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(CliError::invalid(
            format!("{} is not valid Unicode", path.display()),
            "settings of agents can only hold paths that are; move it",
        )),
    };
    let mut words = match shared {
        true => vec!["everlore".to_owned()],
        false => vec![text(&std::env::current_exe().map_err(failed)?)?],
    };
    let usual = std::env::home_dir().map(|own| own.join(".everlore"));
    if usual.as_ref() != Some(&cx.home) {
        words.extend(["--home".to_owned(), text(&absolute(&cx.home)?)?]);
    }
    let general = &cx.settings.config.general;
    for (option, given, usual) in
        [("--agent", cx.scope.agent(), &general.agent), ("--user", cx.scope.user(), &general.user)]
    {
        if given != usual {
            words.extend([option.to_owned(), given.to_owned()]);
        }
    }
    Ok(words)
}

/// Where the server is, or will be by the settings.
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
    places: &AgentPaths,
    way: &ConnectionSpec,
    out: &mut Output,
) -> Vec<(CodingAgent, FileEdit)> {
    let mut all = Vec::new();
    for agent in agents {
        let edits = agent.edits(places, way);
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

fn print_pastes(done: &[FileOutcome], out: &mut Output) -> Result<Exit> {
    if out.is_json() {
        out.json(&json!({ "files": done }))?;
        return Ok(Exit::Done);
    }
    for done in done {
        out.line(&out.bold(&format!("# {}", done.path.display())))?;
        out.text(done.paste.as_deref().unwrap_or_default())?;
        out.line("")?;
    }
    Ok(Exit::Done)
}

fn print_outcomes(done: &[FileOutcome], what: &str, out: &mut Output) -> Result<()> {
    if out.is_json() {
        return out.json(&json!({ "files": done }));
    }
    for done in done {
        let (agent, path) = (done.agent, done.path.display());
        match done.became {
            EditOutcome::Changed => out.line(&format!("{what}: {agent}, {path}"))?,
            EditOutcome::Same => out.line(&format!("nothing to change: {agent}, {path}"))?,
            EditOutcome::Foreign => {
                out.note(&format!("{agent}: {path} has comments or is no JSON, so it was left as it is; edit it by hand"));
                out.text(done.paste.as_deref().unwrap_or_default())?;
            }
        }
    }
    Ok(())
}

fn list_agents(places: &AgentPaths, out: &mut Output) -> Result<Exit> {
    let way = ConnectionSpec {
        command: vec!["everlore".to_owned()],
        url: None,
        tools: true,
        hooks: true,
    };
    let mut rows = Vec::new();
    for agent in CodingAgent::ALL {
        let (mut tools, mut hooks) = (false, agent.host().is_some());
        for part in [true, false] {
            let way = ConnectionSpec { tools: part, hooks: !part, ..way.clone() };
            let there = agent
                .edits(places, &way)
                .iter()
                .map(file_edit::is_applied)
                .collect::<Result<Vec<_>>>()?;
            let all = !there.is_empty() && there.into_iter().all(|there| there);
            *(if part { &mut tools } else { &mut hooks }) = all;
        }
        rows.push((agent, agent.install_folder(places).is_dir(), tools, hooks));
    }
    if out.is_json() {
        let row = |(agent, installed, tools, hooks): &(CodingAgent, bool, bool, bool)| json!({ "agent": agent.as_str(), "installed": installed, "tools": tools, "hooks": hooks });
        out.json(&json!({ "agents": rows.iter().map(row).collect::<Vec<_>>() }))?;
        return Ok(Exit::Done);
    }
    let mut shown = new_table(&["agent", "installed", "tools", "hooks"]);
    for (agent, installed, tools, hooks) in rows {
        let yes = |yes: bool| if yes { "yes" } else { "no" };
        let hooks = if agent.host().is_some() { yes(hooks) } else { "–" };
        shown.add_row([agent.as_str(), yes(installed), yes(tools), hooks]);
    }
    out.text(&render_table(shown))?;
    Ok(Exit::Done)
}
