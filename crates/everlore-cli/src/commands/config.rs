//! `everlore config`: the settings in force, where they come from, and what is wrong with them.

use clap::Subcommand;
use serde_json::json;

use crate::{
    context::Context,
    failure::{Exit, Failure, Result},
    output::Output,
};

/// Show and check the settings
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print all settings in force: defaults, file and environment together
    Show,
    /// Check the settings and say what is wrong with them
    Check,
    /// Print where the settings are read from
    Path,
}

impl ConfigCommand {
    /// Shows, checks or locates the settings.
    pub(crate) fn run(&self, cx: &Context, out: &mut Output) -> Result<Exit> {
        match self {
            Self::Show => show(cx, out),
            Self::Check => check(cx, out),
            Self::Path => path(cx, out),
        }
    }
}

fn show(cx: &Context, out: &mut Output) -> Result<Exit> {
    let settings = &cx.settings;
    if let Some((message, hint)) = settings.problems.first() {
        return Err(Failure::invalid(message, hint));
    }
    for warning in &settings.warnings {
        out.note(&format!("warning: {warning}"));
    }
    if out.is_json() {
        out.json(&settings.config)?;
    } else {
        out.text(&settings.config.to_toml())?;
    }
    Ok(Exit::Done)
}

fn check(cx: &Context, out: &mut Output) -> Result<Exit> {
    let settings = &cx.settings;
    let well = settings.problems.is_empty();
    if out.is_json() {
        let problem =
            |(message, hint): &(String, String)| json!({ "message": message, "hint": hint });
        out.json(&json!({
            "ok": well,
            "path": settings.path.display().to_string(),
            "exists": settings.path.exists(),
            "problems": settings.problems.iter().map(problem).collect::<Vec<_>>(),
            "warnings": settings.warnings,
        }))?;
        return Ok(Exit::well(well));
    }
    for (message, hint) in &settings.problems {
        out.line(&format!("problem: {message}\n         {hint}"))?;
    }
    for warning in &settings.warnings {
        out.line(&format!("warning: {warning}"))?;
    }
    if well && settings.warnings.is_empty() {
        let file = if settings.path.exists() { "read" } else { "absent, so the defaults hold" };
        out.line(&format!("ok: {} ({file})", settings.path.display()))?;
    }
    Ok(Exit::well(well))
}

fn path(cx: &Context, out: &mut Output) -> Result<Exit> {
    let path = &cx.settings.path;
    if out.is_json() {
        out.json(&json!({ "path": path.display().to_string(), "exists": path.exists() }))?;
    } else {
        out.line(&path.display().to_string())?;
    }
    Ok(Exit::Done)
}
