//! `everlore agent`: the agents of this home, and the settings that each has for itself.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use everlore::{
    config::AgentConfigPatch, engine::AgentSettings, files::agent_settings::AgentSettingsFile,
    store::Store,
};
use serde_json::{Map, Value, json};

use crate::{
    cli_context::CliContext,
    error::{CliError, Exit, Result},
    output::Output,
    render::{new_table, pluralize, render_table},
};

/// List agents, and show or change the settings that one has for itself
#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// List the agents of this home
    List,
    /// Show what holds for an agent, and where it comes from
    Settings(AgentSettingsArgs),
    /// Set settings for an agent alone
    Set(AgentSetArgs),
    /// Remove settings of an agent, so that those of the home hold
    Unset(AgentUnsetArgs),
    /// Remove all settings of an agent
    Reset(AgentResetArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AgentSettingsArgs {
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
    /// Whether it only looks.
    pub(crate) fn is_read_only(&self) -> bool {
        matches!(self, Self::List | Self::Settings(_))
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
                let given = args.settings.iter().map(|given| parse_assignment(cx, given));
                let change = AgentConfigPatch::from_paths(given.collect::<Result<Vec<_>>>()?);
                apply_change(cx, &args.name, change, out).await
            }
            Self::Unset(args) => {
                let change =
                    AgentConfigPatch::from_paths(args.keys.into_iter().map(|key| (key, None)));
                apply_change(cx, &args.name, change, out).await
            }
            Self::Reset(args) => {
                let done =
                    cx.files_only_engine().reset_agent_settings(&args.name, |_| true).await?;
                print_own_settings(&done, out)
            }
        }
    }
}

async fn list_agents(cx: &CliContext, out: &mut Output) -> Result<Exit> {
    let mut agents = BTreeMap::<String, (usize, usize)>::new();
    let store = cx.store().await?;
    for scope in store.admin().scopes().await? {
        let counts = store.memories().count(&scope).await?;
        let memories: usize = counts.memories.iter().map(|(_, _, count)| count).sum();
        let known = agents.entry(scope.agent().to_owned()).or_default();
        *known = (known.0 + 1, known.1 + memories);
    }
    let engine = cx.files_only_engine();
    let listed = agents.iter().map(|(agent, (users, memories))| {
        let enabled = engine.settings(agent).memory.enabled;
        let own = AgentSettingsFile::for_agent(&cx.home, agent).path().exists();
        (agent, users, memories, enabled, own)
    });
    if out.is_json() {
        let told = listed.map(|(agent, users, memories, enabled, own)| {
            json!({ "agent": agent, "users": users, "memories": memories, "enabled": enabled, "own_settings": own })
        });
        out.json(&json!({ "agents": told.collect::<Vec<_>>() }))?;
    } else if agents.is_empty() {
        out.note("nothing is stored yet");
    } else {
        let mut rows = new_table(&["agent", "users", "memories", "memory", "settings"]);
        for (agent, users, memories, enabled, own) in listed {
            let enabled = if enabled { "on" } else { "off" };
            let own = if own { "its own" } else { "the home's" };
            rows.add_row([agent, &users.to_string(), &memories.to_string(), enabled, own]);
        }
        out.text(&render_table(rows))?;
    }
    Ok(Exit::from_found(!agents.is_empty()))
}

fn print_settings(found: &AgentSettings, out: &mut Output) -> Result<Exit> {
    let well = Exit::from_success(found.problem.is_none());
    if out.is_json() {
        out.json(&settings_json(found))?;
        return Ok(well);
    }
    let mut rows = new_table(&["setting", "value", "from"]);
    let own = flatten_settings(&found.own);
    for (key, value) in flatten_settings(&found.settings) {
        let from = if own.contains_key(&key) { "agent" } else { "home" };
        rows.add_row([&key, &value, from]);
    }
    out.text(&render_table(rows))?;
    print_problems(found, out);
    Ok(well)
}

fn print_problems(found: &AgentSettings, out: &mut Output) {
    let path = found.path.display();
    for warning in &found.warnings {
        out.note(&format!("warning: {path}: {warning}"));
    }
    if let Some(problem) = &found.problem {
        out.note(&format!("problem: {path}: {problem}"));
    }
}

async fn apply_change(
    cx: &CliContext,
    name: &str,
    change: AgentConfigPatch,
    out: &mut Output,
) -> Result<Exit> {
    let done = cx.files_only_engine().change_agent_settings(name, change, |_| true).await?;
    print_own_settings(&done, out)
}

/// Says what an agent has for itself after a change.
fn print_own_settings(done: &AgentSettings, out: &mut Output) -> Result<Exit> {
    if out.is_json() {
        out.json(&settings_json(done))?;
        return Ok(Exit::Done);
    }
    let own = flatten_settings(&done.own);
    let settings = pluralize(own.len(), "setting", "settings");
    out.line(&format!("{} has {settings} of its own", done.agent))?;
    for (key, value) in own {
        out.line(&format!("  {key} = {value}"))?;
    }
    print_problems(done, out);
    Ok(Exit::Done)
}

fn settings_json(found: &AgentSettings) -> Value {
    let mut told = json!(found);
    told["path"] = json!(found.path.display().to_string());
    told
}

/// Every setting by its dotted name, with its value in words.
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

/// A setting and its value, read as the type that the setting has.
fn parse_assignment(cx: &CliContext, given: &str) -> Result<(String, Option<Value>)> {
    let Some((key, text)) = given.split_once('=') else {
        return Err(CliError::invalid(
            format!("`{given}` sets nothing"),
            "write the setting, = and its value: memory.inject.limit=3",
        ));
    };
    let (key, text) = (key.trim(), text.trim());
    let all = json!(cx.settings.config);
    let slot = all.pointer(&format!("/{}", key.replace('.', "/")));
    let is_text = slot.is_some_and(Value::is_string);
    let read = serde_json::from_str(text).ok().filter(|_| !is_text);
    let value = read.unwrap_or_else(|| Value::String(text.trim_matches('"').to_owned()));
    Ok((key.to_owned(), Some(value)))
}
