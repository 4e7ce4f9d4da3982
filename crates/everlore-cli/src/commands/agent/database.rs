//! `everlore agent show` and `everlore agent move`: the database of an agent.

use std::path::Path;

use clap::{ArgGroup, Args};
use everlore::{
    config::StoreUrl,
    engine::{MoveProgress, MoveReport},
};
use indicatif::ProgressBar;
use serde_json::json;

use crate::{
    CliContext, CliError, Exit, Output, Result,
    cli::StoreArg,
    home_store::{self, HomeStore},
    render::pluralize,
};

/// Word for the database of the home.
const HOME: &str = "home";

/// Move the memories of an agent, of all its users, to another database, while it is in use
///
/// Every change is copied in its order with its own time, author and reason. Then writers wait for a moment, the last
/// changes are copied, both databases are compared, and the agent uses the new one; running servers notice by themselves.
/// An interrupted move goes on when the command is repeated. The old database keeps everything until --confirm, and --back
/// returns to it. Layers, settings and keys are files of the home and stay there.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("action").required(true).args(["to", "back", "confirm", "cancel"]))]
pub(crate) struct AgentMoveArgs {
    /// The agent
    name: String,
    /// Database to move to: sqlite:PATH, directory:PATH, postgres://…, mysql://…, or home for that of the home
    #[arg(long, value_name = "URL")]
    to: Option<StoreArg>,
    /// Return to the database that the last move left, with what came since
    #[arg(long)]
    back: bool,
    /// Erase the memories in the database that the last move left
    #[arg(long)]
    confirm: bool,
    /// End a move that was not finished: the agent stays where it is
    #[arg(long)]
    cancel: bool,
}

impl AgentMoveArgs {
    /// Moves the agent, or finishes or undoes a move.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let (engine, name) = (cx.engine().await?, &self.name);
        if self.confirm {
            let left = engine.confirm_agent_move(name).await?;
            let answer = json!({ "agent": name, "erased_in": left });
            return out.answer_line(&answer, &format!("erased: {name} in {left}"));
        }
        if self.cancel {
            let copy = engine.cancel_agent_move(name).await?;
            let answer = json!({ "agent": name, "ended": copy });
            return out.answer_line(&answer, &format!("ended: {name} does not move to {copy}"));
        }
        let bar = out.progress("copying changes", Some(0));
        let mut progress = |step: MoveProgress| show_progress(step, &bar, out);
        let report = match &self.to {
            Some(to) => {
                let to = named_database(cx, to)?;
                let moved = engine.move_agent(name, &to, &mut progress).await;
                moved.map_err(|error| explain(CliError::from(error), &to))
            }
            None => Ok(engine.move_agent_back(name, &mut progress).await?),
        };
        bar.finish_and_clear();
        print_report(&report?, out)
    }
}

/// Replaces the advice of a storage error, which is about files, if the agent moves to a server.
fn explain(error: CliError, to: &StoreUrl) -> CliError {
    if !to.is_server() || !error.is_of_store() {
        return error;
    }
    error.with_hint(format!(
        "nothing was switched; check that the database {to} runs and accepts this user, then repeat the command"
    ))
}

/// Returns the database that `--to` names; an empty address for that of the home.
fn named_database(cx: &CliContext, to: &StoreArg) -> Result<StoreUrl> {
    if to.0.reveal() == HOME {
        return Ok(StoreUrl::default());
    }
    let url = home_store::absolute(to.0.clone(), Path::new(""))
        .map_err(|error| CliError::io("--to", error))?;
    match url.validate_for_agent() {
        Ok(()) if url.is_empty() => {
            Err(CliError::invalid("--to names no database", "use sqlite:PATH or home"))
        }
        Ok(()) if url.directory_path().is_some() => Ok(url),
        Ok(()) if HomeStore::chosen(&cx.home, &url) == cx.store => Ok(StoreUrl::default()),
        Ok(()) => Ok(url),
        Err(problem) => Err(CliError::invalid(format!("--to {problem}"), "see docs/databases.md")),
    }
}

fn show_progress(step: MoveProgress, bar: &ProgressBar, out: &mut Output) {
    match step {
        MoveProgress::Copying { copied, total } => {
            bar.set_length(total);
            bar.set_position(copied);
        }
        MoveProgress::Sealed => out.note("copied; writers wait for the last changes"),
        MoveProgress::Comparing => out.note("comparing both databases"),
        MoveProgress::Switched => out.note("switched"),
    }
}

fn print_report(report: &MoveReport, out: &mut Output) -> Result<Exit> {
    let exit = Exit::from_success(report.moved);
    if out.is_json() {
        out.json(report)?;
        return Ok(exit);
    }
    let MoveReport { agent, from, to, .. } = report;
    for problem in &report.problems {
        out.say(&format!("differs: {agent}/{}: {}", problem.user, problem.problem))?;
    }
    if !report.moved {
        out.say(&format!("not moved: {agent} stays in {from}, because both databases differ"))?;
        out.note("repeat the command to copy again, or end the move with --cancel");
        return Ok(exit);
    }
    let memories = pluralize(report.memories, "memory", "memories");
    let users = pluralize(report.users, "user", "users");
    out.say(&format!("moved: {memories} of {users} of {agent} from {from} to {to}"))?;
    out.note(&format!(
        "writers waited {} ms; {from} keeps everything until `everlore agent move {agent} --confirm`, and --back returns to it",
        report.sealed_ms
    ));
    Ok(exit)
}

/// Prints the database of an agent, its move, and the database that the last move left.
pub(super) async fn show(cx: &CliContext, name: &str, out: &mut Output) -> Result<Exit> {
    let engine = cx.engine().await?;
    let database = engine.agent_database(name).await?;
    let store = engine.shown_database(&database.url);
    let to = database.moving.as_ref().map(|moving| engine.shown_database(&moving.to));
    let phase = database.moving.as_ref().map(|moving| json!(moving.phase));
    let kept = database.kept.as_ref().map(|kept| engine.shown_database(kept));
    if out.is_json() {
        let moving = to.map(|to| json!({ "to": to, "phase": phase }));
        let view = json!({ "agent": name, "store": store, "moving": moving, "kept": kept });
        out.json(&view)?;
        return Ok(Exit::Done);
    }
    out.say(&format!("{name}: {store}"))?;
    if let (Some(to), Some(phase)) = (to, phase) {
        let phase = phase.as_str().unwrap_or_default().to_owned();
        out.say(&format!("moving to {to}: {phase}"))?;
    }
    if let Some(kept) = kept {
        out.say(&format!("kept until --confirm: {kept}"))?;
    }
    Ok(Exit::Done)
}
