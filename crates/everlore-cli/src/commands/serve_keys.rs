//! `everlore serve key`: API keys of the server.

use clap::{Args, Subcommand};
use everlore::internal::files::atomic_file::create_private_folder;
use everlore_server::{ApiKeys, KeyRole};
use serde_json::json;

use crate::{
    CliContext, CliError, Exit, Output, Result,
    render::{new_table, render_table},
    times::format_age,
};

/// Manage API keys: each opens the memory of one agent and one user
#[derive(Debug, Subcommand)]
pub(crate) enum ServeKeyCommand {
    Add(ServeKeyAddArgs),
    List(ServeKeyListArgs),
    Remove(ServeKeyRemoveArgs),
}

/// Create a key for the memory of --agent and --user; it is shown once
#[derive(Debug, Args)]
pub(crate) struct ServeKeyAddArgs {
    /// The name of the key in logs
    name: String,
    /// Permissions: read; write also saves and changes; admin also forgets, imports and runs upkeep
    #[arg(long, value_name = "ROLE", value_parser = KeyRole::ALL.map(KeyRole::as_str), default_value = "write")]
    role: String,
}

/// List the keys
#[derive(Debug, Args)]
pub(crate) struct ServeKeyListArgs {}

/// Remove a key; a running server rejects it from then on
#[derive(Debug, Args)]
pub(crate) struct ServeKeyRemoveArgs {
    /// The key
    name: String,
}

impl ServeKeyCommand {
    /// Adds, lists or removes keys.
    pub(crate) fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        create_private_folder(&cx.home)
            .map_err(|error| CliError::io(cx.home.display().to_string(), error))?;
        let keys = ApiKeys::new(&cx.home);
        match self {
            Self::Add(args) => args.run(&keys, cx, out),
            Self::List(_) => list_keys(&keys, cx, out),
            Self::Remove(args) => {
                keys.remove(&args.name)?;
                if out.is_json() {
                    out.json(&json!({ "removed": args.name }))?
                } else {
                    out.say(&format!("removed: {}", args.name))?
                }
                Ok(Exit::Done)
            }
        }
    }
}

impl ServeKeyAddArgs {
    fn run(self, keys: &ApiKeys, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let role: KeyRole = self.role.parse()?;
        let (key, secret) = keys.add(&self.name, cx.scope.clone(), role, cx.now().timestamp())?;
        if out.is_json() {
            let (agent, user) = (key.scope.agent(), key.scope.user());
            out.json(&json!({ "name": key.name, "agent": agent, "user": user, "role": role, "key": secret }))?;
        } else {
            out.note(&format!(
                "this key may {role} the memory of {}; it is not shown again:",
                key.scope
            ));
            out.line(&secret)?;
        }
        Ok(Exit::Done)
    }
}

fn list_keys(keys: &ApiKeys, cx: &CliContext, out: &mut Output) -> Result<Exit> {
    let keys = keys.list()?;
    if out.is_json() {
        let view = |key: &everlore_server::ApiKey| {
            json!({
                "name": key.name, "agent": key.scope.agent(), "user": key.scope.user(),
                "role": key.role, "created_at": key.created_at,
            })
        };
        out.json(&json!({ "keys": keys.iter().map(view).collect::<Vec<_>>() }))?;
    } else if keys.is_empty() {
        out.note("there are no keys; create one with `everlore serve key add NAME`");
    } else {
        let mut rows = new_table(&["key", "agent", "user", "role", "created"]);
        for key in keys.iter() {
            let (scope, created) = (&key.scope, format_age(key.created_at, &cx.now()));
            rows.add_row([&key.name, scope.agent(), scope.user(), key.role.as_str(), &created]);
        }
        out.text(&render_table(rows))?;
    }
    Ok(Exit::from_found(!keys.is_empty()))
}
