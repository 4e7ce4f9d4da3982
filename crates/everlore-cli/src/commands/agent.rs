//! `everlore agent`: the agents of this home, and the settings that each has for itself.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use everlore::{
    config::OwnChange, engine::AgentSettings, files::agent_settings::SettingsFile, store::Store,
};
use serde_json::{Map, Value, json};

use crate::{
    context::Context,
    failure::{Exit, Failure, Result},
    output::Output,
    words::{count, rendered, table},
};

/// List agents, and show or change the settings that one has for itself
#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// List the agents of this home
    List,
    /// Show what holds for an agent, and where it comes from
    Settings(SettingsArgs),
    /// Set settings for an agent alone
    Set(SetArgs),
    /// Remove settings of an agent, so that those of the home hold
    Unset(UnsetArgs),
    /// Remove all settings of an agent
    Reset(ResetArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SettingsArgs {
    /// The agent [default: the one in use]
    name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// The agent
    name: String,
    /// Settings and their values, such as memory.enabled=false or memory.inject.limit=3
    #[arg(required = true, value_name = "KEY=VALUE")]
    settings: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct UnsetArgs {
    /// The agent
    name: String,
    /// Settings or sections, such as memory.inject
    #[arg(required = true, value_name = "KEY")]
    keys: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ResetArgs {
    /// The agent
    name: String,
}

impl AgentCommand {
    /// Whether it only looks.
    pub(crate) fn only_reads(&self) -> bool {
        matches!(self, Self::List | Self::Settings(_))
    }

    /// Lists agents, or shows or changes the settings of one.
    pub(crate) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        match self {
            Self::List => list(cx, out).await,
            Self::Settings(args) => {
                let name = args.name.as_deref().unwrap_or(cx.scope.agent());
                show(&cx.on_files().agent_settings(name).await?, out)
            }
            Self::Set(args) => {
                let given = args.settings.iter().map(|given| assigned(cx, given));
                let change = OwnChange::of_paths(given.collect::<Result<Vec<_>>>()?);
                changed(cx, &args.name, change, out).await
            }
            Self::Unset(args) => {
                let change = OwnChange::of_paths(args.keys.into_iter().map(|key| (key, None)));
                changed(cx, &args.name, change, out).await
            }
            Self::Reset(args) => {
                let done = cx.on_files().reset_agent_settings(&args.name, |_| true).await?;
                tell(&done, out)
            }
        }
    }
}

async fn list(cx: &Context, out: &mut Output) -> Result<Exit> {
    let mut agents = BTreeMap::<String, (usize, usize)>::new();
    let store = cx.store().await?;
    for scope in store.scopes().await? {
        let counts = store.count(&scope).await?;
        let memories: usize = counts.memories.iter().map(|(_, _, count)| count).sum();
        let known = agents.entry(scope.agent().to_owned()).or_default();
        *known = (known.0 + 1, known.1 + memories);
    }
    let engine = cx.on_files();
    let listed = agents.iter().map(|(agent, (users, memories))| {
        let enabled = engine.settings(agent).memory.enabled;
        let own = SettingsFile::of(&cx.home, agent).path().exists();
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
        let mut rows = table(&["agent", "users", "memories", "memory", "settings"]);
        for (agent, users, memories, enabled, own) in listed {
            let enabled = if enabled { "on" } else { "off" };
            let own = if own { "its own" } else { "the home's" };
            rows.add_row([agent, &users.to_string(), &memories.to_string(), enabled, own]);
        }
        out.text(&rendered(rows))?;
    }
    Ok(Exit::found(!agents.is_empty()))
}

fn show(found: &AgentSettings, out: &mut Output) -> Result<Exit> {
    let well = Exit::well(found.problem.is_none());
    if out.is_json() {
        out.json(&with_path(found))?;
        return Ok(well);
    }
    let mut rows = table(&["setting", "value", "from"]);
    let own = flat(&found.own);
    for (key, value) in flat(&found.settings) {
        let from = if own.contains_key(&key) { "agent" } else { "home" };
        rows.add_row([&key, &value, from]);
    }
    out.text(&rendered(rows))?;
    notes(found, out);
    Ok(well)
}

fn notes(found: &AgentSettings, out: &mut Output) {
    let path = found.path.display();
    for warning in &found.warnings {
        out.note(&format!("warning: {path}: {warning}"));
    }
    if let Some(problem) = &found.problem {
        out.note(&format!("problem: {path}: {problem}"));
    }
}

async fn changed(cx: &Context, name: &str, change: OwnChange, out: &mut Output) -> Result<Exit> {
    let done = cx.on_files().change_agent_settings(name, change, |_| true).await?;
    tell(&done, out)
}

/// Says what an agent has for itself after a change.
fn tell(done: &AgentSettings, out: &mut Output) -> Result<Exit> {
    if out.is_json() {
        out.json(&with_path(done))?;
        return Ok(Exit::Done);
    }
    let own = flat(&done.own);
    let settings = count(own.len(), "setting", "settings");
    out.line(&format!("{} has {settings} of its own", done.agent))?;
    for (key, value) in own {
        out.line(&format!("  {key} = {value}"))?;
    }
    notes(done, out);
    Ok(Exit::Done)
}

fn with_path(found: &AgentSettings) -> Value {
    let mut told = json!(found);
    told["path"] = json!(found.path.display().to_string());
    told
}

/// Every setting by its dotted name, with its value in words.
fn flat(sections: &Map<String, Value>) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (key, value) in sections {
        match value {
            Value::Object(inner) => {
                let inner = flat(inner).into_iter();
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
fn assigned(cx: &Context, given: &str) -> Result<(String, Option<Value>)> {
    let Some((key, text)) = given.split_once('=') else {
        return Err(Failure::invalid(
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
