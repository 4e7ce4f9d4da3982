//! `everlore profile`: what is known of the user, as fields.

use clap::{Args, Subcommand};
use everlore::engine::{ProfileDecision, ProfileField};
use serde_json::json;

use crate::{
    CliContext, Exit, Output, Result,
    render::{new_table, pluralize, render_table, sanitize},
};

/// Most characters of a value in the table; `--json` has all of it.
const MAX_SHOWN: usize = 60;

/// Show what is known of the user: role, tools, style, language, topics, hours and more, with evidence
///
/// The fields are read from what the user said and from when and how they write; nothing is stored for them. A newer
/// value does not erase an older one: both are listed with their dates. `set` writes a value of your own, which stands
/// above all others; `rm` takes it back. `reject` hides a value for good, whoever said it, until you `restore` it.
#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    #[command(subcommand)]
    command: Option<ProfileCommand>,
}

#[derive(Debug, Subcommand)]
enum ProfileCommand {
    /// Set a field
    Set {
        /// Name of the field: role, industry, expertise, tools or any other
        field: String,
        /// Its value, in plain words
        value: String,
        /// Value that it corrects, as the profile shows it; that one ends now
        #[arg(long, value_name = "VALUE")]
        instead_of: Option<String>,
    },
    /// Hide a value for good, even if the user says it again
    Reject {
        /// Name of the field
        field: String,
        /// Value as the profile shows it
        value: String,
    },
    /// Show a value again that was rejected
    Restore {
        /// Name of the field
        field: String,
        /// Value that was rejected
        value: String,
    },
    /// Take back the values of a field that were set; what the user said stays
    Rm {
        /// Name of the field
        field: String,
    },
}

impl ProfileArgs {
    /// Returns `true` if nothing is changed.
    pub(crate) fn is_read_only(&self) -> bool {
        self.command.is_none()
    }

    /// Shows or changes the profile.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        match self.command {
            None => show(cx, out).await,
            Some(ProfileCommand::Set { field, value, instead_of }) => {
                set(cx, out, &field, &value, instead_of.as_deref()).await
            }
            Some(ProfileCommand::Reject { field, value }) => reject(cx, out, &field, &value).await,
            Some(ProfileCommand::Restore { field, value }) => {
                restore(cx, out, &field, &value).await
            }
            Some(ProfileCommand::Rm { field }) => remove(cx, out, &field).await,
        }
    }
}

async fn show(cx: &CliContext, out: &mut Output) -> Result<Exit> {
    let profile = cx.engine().await?.profile(&cx.scope).await?;
    let found = Exit::from_found(!profile.fields.is_empty());
    if out.is_json() {
        out.json(&profile)?;
    } else if profile.fields.is_empty() {
        out.note("nothing is known of the user yet; talk, or set a field: everlore profile set role nurse");
    } else {
        let mut rows = new_table(&["field", "value", "sure", "since", "until"]);
        for field in &profile.fields {
            rows.add_row(row(field));
        }
        out.text(&render_table(rows))?;
    }
    if !out.is_json() && !profile.rejected.is_empty() {
        let count = profile.rejected.len();
        out.note(&format!("rejected and hidden values: {count}; --json lists them"));
    }
    Ok(found)
}

fn row(field: &ProfileField) -> [String; 5] {
    let value = sanitize(&field.value).to_string();
    let shown: String = value.chars().take(MAX_SHOWN).collect();
    let shown = if shown.len() < value.len() { format!("{shown}…") } else { shown };
    let day = |at: jiff::Timestamp| at.strftime("%Y-%m-%d").to_string();
    let until = field.until.map(day).unwrap_or_default();
    [
        field.name.clone(),
        shown,
        format!("{:.0}%", field.confidence * 100.0),
        day(field.since),
        until,
    ]
}

async fn set(
    cx: &CliContext,
    out: &mut Output,
    field: &str,
    value: &str,
    old: Option<&str>,
) -> Result<Exit> {
    let (engine, scope) = (cx.engine().await?, &cx.scope);
    let saved = match old {
        Some(old) => engine.correct_profile_value(scope, field, old, value).await?,
        None => engine.set_profile_field(scope, field, value).await?,
    };
    if out.is_json() {
        out.json(&saved)?;
    } else {
        let before = saved
            .superseded
            .first()
            .map(|older| format!(" (before: {})", sanitize(&older.content)));
        out.note(&format!("{} is set{}", sanitize(field), before.unwrap_or_default()));
    }
    Ok(Exit::Done)
}

async fn remove(cx: &CliContext, out: &mut Output, field: &str) -> Result<Exit> {
    let removed = cx.engine().await?.unset_profile_field(&cx.scope, field).await?;
    if out.is_json() {
        out.json(&json!({ "removed": removed }))?;
    } else {
        out.note(&format!(
            "{} of {} taken back",
            pluralize(removed, "value", "values"),
            sanitize(field)
        ));
    }
    Ok(Exit::from_found(removed > 0))
}

async fn reject(cx: &CliContext, out: &mut Output, field: &str, value: &str) -> Result<Exit> {
    let decided = cx.engine().await?.reject_profile_value(&cx.scope, field, value).await?;
    let said = if decided.changed { "is hidden from now on" } else { "was rejected before" };
    report(out, &decided, said)
}

async fn restore(cx: &CliContext, out: &mut Output, field: &str, value: &str) -> Result<Exit> {
    let decided = cx.engine().await?.restore_profile_value(&cx.scope, field, value).await?;
    let said = if decided.changed { "counts again" } else { "was not rejected" };
    report(out, &decided, said)
}

fn report(out: &mut Output, decided: &ProfileDecision, said: &str) -> Result<Exit> {
    if out.is_json() {
        out.json(decided)?;
    } else {
        out.note(&format!("{}: {} {said}", sanitize(&decided.name), sanitize(&decided.value)));
    }
    Ok(Exit::from_found(decided.changed))
}
