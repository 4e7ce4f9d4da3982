//! `everlore agent`: the agents of a home, their overrides of settings and their databases.

mod database;

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use everlore::{
    config::AgentConfigPatch, engine::AgentSettings,
    internal::files::agent_settings::AgentSettingsFile,
};
use serde_json::{Map, Value, json};

use crate::{
    CliContext, CliError, Exit, Output, Result,
    messages::translate,
    render::{new_table, pluralize, render_table},
};

/// List agents, show or change settings of a single agent, and move it to another database
#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// List the agents of this home
    List,
    /// Show the effective settings of an agent, and where each comes from
    Settings(AgentSettingsArgs),
    /// Override settings for one agent
    Set(AgentSetArgs),
    /// Remove overrides of an agent, so that the settings of the home apply
    Unset(AgentUnsetArgs),
    /// Remove all overrides of an agent
    Reset(AgentResetArgs),
    /// Show the database of an agent, and how far a move is
    Show(AgentShowArgs),
    Move(database::AgentMoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AgentSettingsArgs {
    /// The agent [default: the one in use]
    name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AgentShowArgs {
    /// The agent [default: the one in use]
    name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AgentSetArgs {
    /// The agent
    name: String,
    /// Settings and their values, such as memory.enabled=false or memory.inject.limit=3
    #[arg(required = true, value_name = "KEY=VALUE")]
    settings: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AgentUnsetArgs {
    /// The agent
    name: String,
    /// Settings or sections, such as memory.inject
    #[arg(required = true, value_name = "KEY")]
    keys: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AgentResetArgs {
    /// The agent
    name: String,
}

impl AgentCommand {
    /// Returns `true` for commands that only read.
    pub(crate) fn is_read_only(&self) -> bool {
        matches!(self, Self::List | Self::Settings(_) | Self::Show(_))
    }

    /// Returns `true` for commands that change settings of an agent.
    pub(crate) fn changes_settings(&self) -> bool {
        matches!(self, Self::Set(_) | Self::Unset(_) | Self::Reset(_))
    }

    /// Lists agents, or shows or changes the settings of one.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        match self {
            Self::List => list_agents(cx, out).await,
            Self::Settings(args) => {
                let name = args.name.as_deref().unwrap_or(cx.scope.agent());
                print_settings(&cx.files_only_engine().agent_settings(name).await?, out)
            }
            Self::Set(args) => {
                let values = args.settings.iter().map(|setting| parse_assignment(cx, setting));
                let patch = AgentConfigPatch::from_paths(values.collect::<Result<Vec<_>>>()?);
                apply_patch(cx, &args.name, patch, out).await
            }
            Self::Unset(args) => {
                let patch =
                    AgentConfigPatch::from_paths(args.keys.into_iter().map(|key| (key, None)));
                apply_patch(cx, &args.name, patch, out).await
            }
            Self::Reset(args) => {
                let settings =
                    cx.files_only_engine().reset_agent_settings(&args.name, |_| true).await?;
                print_overrides(&settings, out)
            }
            Self::Show(args) => {
                let name = args.name.as_deref().unwrap_or(cx.scope.agent());
                database::show(cx, name, out).await
            }
            Self::Move(args) => args.run(cx, out).await,
        }
    }
}

async fn list_agents(cx: &CliContext, out: &mut Output) -> Result<Exit> {
    let mut agents = BTreeMap::<String, (usize, usize)>::new();
    let engine = cx.engine().await?;
    for scope in engine.admin().scopes().await? {
        let counts = engine.count(&scope).await?;
        let memories: usize = counts.memories.iter().map(|(_, _, count)| count).sum();
        let (users, total) = agents.entry(scope.agent().to_owned()).or_default();
        *users += 1;
        *total += memories;
    }
    let engine = cx.files_only_engine();
    let listed = agents.iter().map(|(agent, (users, memories))| {
        let enabled = engine.settings(agent).memory.enabled;
        let overrides = AgentSettingsFile::for_agent(&cx.home, agent).path().exists();
        (agent, users, memories, enabled, overrides)
    });
    if out.is_json() {
        let views = listed.map(|(agent, users, memories, enabled, overrides)| {
            json!({ "agent": agent, "users": users, "memories": memories, "enabled": enabled, "own_settings": overrides })
        });
        out.json(&json!({ "agents": views.collect::<Vec<_>>() }))?;
    } else if agents.is_empty() {
        out.note("nothing is stored yet");
    } else {
        let mut rows = new_table(&["agent", "users", "memories", "memory", "settings"]);
        for (agent, users, memories, enabled, overrides) in listed {
            let enabled = translate(if enabled { "on" } else { "off" });
            let settings = translate(if overrides { "its own" } else { "the home's" });
            rows.add_row([agent, &*users.to_string(), &memories.to_string(), &enabled, &settings]);
        }
        out.text(&render_table(rows))?;
    }
    Ok(Exit::from_found(!agents.is_empty()))
}

fn print_settings(settings: &AgentSettings, out: &mut Output) -> Result<Exit> {
    let exit = Exit::from_success(settings.problem.is_none());
    if out.is_json() {
        out.json(&settings_json(settings))?;
        return Ok(exit);
    }
    let mut rows = new_table(&["setting", "value", "from"]);
    let overrides = flatten_settings(&settings.own);
    for (key, value) in flatten_settings(&settings.settings) {
        let from = translate(if overrides.contains_key(&key) { "agent" } else { "home" });
        rows.add_row([key.as_str(), value.as_str(), &from]);
    }
    out.text(&render_table(rows))?;
    print_problems(settings, out);
    Ok(exit)
}

fn print_problems(settings: &AgentSettings, out: &mut Output) {
    let path = settings.path.display();
    for warning in &settings.warnings {
        out.note(&format!("warning: {path}: {warning}"));
    }
    if let Some(problem) = &settings.problem {
        out.note(&format!("problem: {path}: {problem}"));
    }
}

async fn apply_patch(
    cx: &CliContext,
    name: &str,
    patch: AgentConfigPatch,
    out: &mut Output,
) -> Result<Exit> {
    let settings = cx.files_only_engine().change_agent_settings(name, patch, |_| true).await?;
    print_overrides(&settings, out)
}

/// Prints the overrides of an agent after a change.
fn print_overrides(settings: &AgentSettings, out: &mut Output) -> Result<Exit> {
    if out.is_json() {
        out.json(&settings_json(settings))?;
        return Ok(Exit::Done);
    }
    let overrides = flatten_settings(&settings.own);
    let count = pluralize(overrides.len(), "setting", "settings");
    out.say(&format!("{} has {count} of its own", settings.agent))?;
    for (key, value) in overrides {
        out.line(&format!("  {key} = {value}"))?;
    }
    print_problems(settings, out);
    Ok(Exit::Done)
}

fn settings_json(settings: &AgentSettings) -> Value {
    let mut view = json!(settings);
    view["path"] = json!(settings.path.display().to_string());
    view
}

/// Flattens sections to dotted names with their values as text.
fn flatten_settings(sections: &Map<String, Value>) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (key, value) in sections {
        match value {
            Value::Object(inner) => {
                let inner = flatten_settings(inner).into_iter();
                all.extend(inner.map(|(name, value)| (format!("{key}.{name}"), value)));
            }
            value => {
                all.insert(key.clone(), value.to_string());
            }
        }
    }
    all
}

/// Parses `KEY=VALUE`, with the value as the type that the setting has.
fn parse_assignment(cx: &CliContext, setting: &str) -> Result<(String, Option<Value>)> {
    if setting.starts_with("store.") {
        return Err(CliError::invalid(
            "the database of an agent is no setting",
            "move its memories with `everlore agent move NAME --to URL`",
        ));
    }
    let Some((key, text)) = setting.split_once('=') else {
        return Err(CliError::invalid(
            format!("`{setting}` sets nothing"),
            "write the setting, = and its value: memory.inject.limit=3",
        ));
    };
    let (key, text) = (key.trim(), text.trim());
    let config = json!(cx.settings.config);
    let current = config.pointer(&format!("/{}", key.replace('.', "/")));
    let is_text = current.is_some_and(Value::is_string);
    let parsed = serde_json::from_str(text).ok().filter(|_| !is_text);
    let value = parsed.unwrap_or_else(|| Value::String(text.trim_matches('"').to_owned()));
    Ok((key.to_owned(), Some(value)))
}
