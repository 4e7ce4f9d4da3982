//! `everlore config`: shows, changes and checks the settings, and stores API keys apart from them.

mod edit;

use std::io::{self, IsTerminal};

use clap::{Args, Subcommand};
use everlore::config::SecretString;
use serde_json::json;

use super::chat::{LineEditor, LineInput};
use crate::{CliContext, CliError, Exit, Output, Result, input, keys, messages::translate};

/// Show, change and check the settings
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the effective settings: defaults, file and environment together
    Show,
    /// Print one setting
    Get(edit::ConfigGetArgs),
    /// Change one setting in the file; comments and everything else stay
    Set(edit::ConfigSetArgs),
    /// Remove one setting from the file, so that its default applies
    Unset(edit::ConfigUnsetArgs),
    /// Open the settings file in $EDITOR; it is saved only if it is valid
    Edit,
    /// Check the settings and report their problems
    Check,
    /// Print the path of the settings file
    Path,
    /// Store the API key of a provider, typed or from standard input, in keys.toml, which only you can read
    Key(ConfigKeyArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ConfigKeyArgs {
    /// The provider as the settings name it, such as openai
    provider: String,
    /// Remove the key instead
    #[arg(long)]
    remove: bool,
}

impl ConfigCommand {
    /// Shows, changes, checks or locates the settings.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        match &self {
            Self::Show => print_config(cx, out),
            Self::Get(args) => args.run(cx, out),
            Self::Set(args) => args.run(cx, out),
            Self::Unset(args) => args.run(cx, out),
            Self::Edit => edit::edit(cx, out),
            Self::Check => check_config(cx, out),
            Self::Path => print_path(cx, out),
            Self::Key(args) => change_key(args, cx, out).await,
        }
    }
}

fn print_config(cx: &CliContext, out: &mut Output) -> Result<Exit> {
    let settings = &cx.settings;
    if let Some((message, hint)) = settings.problems.first() {
        return Err(CliError::invalid(message, hint));
    }
    for warning in &settings.warnings {
        out.note(&format!("warning: {warning}"));
    }
    out.answer_text(&settings.config, &settings.config.to_toml())
}

fn check_config(cx: &CliContext, out: &mut Output) -> Result<Exit> {
    let settings = &cx.settings;
    let valid = settings.problems.is_empty();
    if out.is_json() {
        let problem =
            |(message, hint): &(String, String)| json!({ "message": message, "hint": hint });
        out.json(&json!({
            "ok": valid,
            "path": settings.path.display().to_string(),
            "exists": settings.path.exists(),
            "problems": settings.problems.iter().map(problem).collect::<Vec<_>>(),
            "warnings": settings.warnings,
        }))?;
        return Ok(Exit::from_success(valid));
    }
    for (message, hint) in &settings.problems {
        out.line(&format!("problem: {message}\n         {hint}"))?;
    }
    for warning in &settings.warnings {
        out.line(&format!("warning: {warning}"))?;
    }
    if valid && settings.warnings.is_empty() {
        let file = if settings.path.exists() { "read" } else { "absent, so the defaults apply" };
        out.say(&format!("ok: {} ({file})", settings.path.display()))?;
    }
    Ok(Exit::from_success(valid))
}

fn print_path(cx: &CliContext, out: &mut Output) -> Result<Exit> {
    let path = &cx.settings.path;
    out.answer_line(
        &json!({ "path": path.display().to_string(), "exists": path.exists() }),
        &path.display().to_string(),
    )
}

/// Stores or removes a key. It comes from standard input, since arguments stay in the shell's history.
async fn change_key(args: &ConfigKeyArgs, cx: &CliContext, out: &mut Output) -> Result<Exit> {
    keys::check_provider(&args.provider)?;
    let key = if args.remove { None } else { Some(read_key(out).await?) };
    keys::write_key(&cx.home, &args.provider, key.as_ref())?;
    let path = cx.home.join(keys::KEYS_FILE).display().to_string();
    if out.is_json() {
        out.json(&json!({ "provider": args.provider, "kept": !args.remove, "path": path }))?;
    } else {
        let done = if args.remove { "was removed from" } else { "was saved in" };
        out.say(&format!("the key of {} {done} {path}", args.provider))?;
    }
    Ok(Exit::Done)
}

/// Reads a key: at a terminal one line that is not shown, otherwise all of the input.
async fn read_key(out: &mut Output) -> Result<SecretString> {
    let text = if io::stdin().is_terminal() && out.is_terminal() {
        out.flush()?;
        let question = format!("{} ", translate("Key (shown as *, ends with Enter):"));
        match LineEditor::new(&[], None).read_secret(&question).await? {
            LineInput::Line(line) => line,
            LineInput::Interrupted | LineInput::End => String::new(),
        }
    } else {
        input::text_or_stdin(&[], out)?
    };
    let key = text.trim();
    if key.is_empty() || key.contains(char::is_whitespace) {
        return Err(CliError::invalid(
            "the input is not a key",
            "give it on standard input, on one line: everlore config key PROVIDER < FILE",
        ));
    }
    Ok(SecretString::new(key))
}
