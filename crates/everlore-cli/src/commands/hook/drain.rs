//! Stores what hooks put down, in a process of its own that no agent waits for.

use std::process::{Command, Stdio};

use everlore::{
    Engine,
    store::JournalQuery,
    types::{Actor, ChangeAuthor, Role},
};

use super::{
    DRAIN_EVENT, DRAIN_LIMIT,
    host::HookHost,
    spool::{Spool, SpoolEntry, SpooledTurn},
};
use crate::{
    cli_context::CliContext,
    commands::{extract::extract_due, session},
    error::{CliError, Exit, Result},
    output::Output,
};

/// Starts the process, with nothing that ties it to this one or to the terminal.
pub(super) fn spawn_drain(cx: &CliContext, host: HookHost, then: &[&str]) -> Result<()> {
    let failed = |error| CliError::io("starting to store", error);
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.arg("--home").arg(&cx.home);
    command.args(["--agent", cx.scope.agent(), "--user", cx.scope.user()]);
    if cx.settings.path != cx.home.join("config.toml") {
        command.arg("--config").arg(&cx.settings.path);
    }
    command.args(["hook", host.as_str(), DRAIN_EVENT]).args(then);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if cx.home.is_dir() {
        // The folder of the agent may go away.
        command.current_dir(&cx.home);
    }
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map(drop).map_err(failed)
}

/// Stores what waits; then memories are drawn from what is due, or from a conversation that was named, or it is ended.
pub(super) async fn run(
    cx: &CliContext,
    out: &mut Output,
    read: Option<&str>,
    end: Option<&str>,
) -> Result<Exit> {
    super::exit_after(DRAIN_LIMIT);
    let desk = Spool::in_home(&cx.home);
    if desk.has_pending() {
        let _alone = desk.lock_drain().map_err(|error| CliError::io("storing", error))?;
        drain_spool(cx, &desk).await?;
    }
    desk.remove_stale();
    if !cx.database_path().exists() {
        return Ok(Exit::Done);
    }
    match (read, end) {
        (_, Some(session)) => session::end_session(cx, session, out).await,
        (Some(session), None) => {
            let engine = cx.capture_engine().await?;
            engine.mark_session_ended(&cx.scope, session).await?;
            session::extract_ended(&engine, &cx.scope, session).await?;
            Ok(Exit::Done)
        }
        // A server reads along by itself.
        (None, None) if crate::server_client::is_running(cx) => Ok(Exit::Done),
        (None, None) => extract_due(&cx.capture_engine().await?).await.map(|()| Exit::Done),
    }
}

async fn drain_spool(cx: &CliContext, desk: &Spool) -> Result<()> {
    let engine = cx.engine().await?;
    for (run, note) in desk.entries() {
        let failed = |error| CliError::io("storing", error);
        let stored = match note.clone() {
            SpoolEntry::Turn(waiting) => store_turn(engine, &run, waiting).await,
            SpoolEntry::Injection(given) => {
                let noted = engine.record_injection(&given.scope, given.prompted).await;
                noted.map_err(CliError::from)
            }
        };
        match stored {
            Ok(()) => desk.remove_entry(&run, &note).map_err(failed)?,
            Err(failure) if failure.is_storage() => return Err(failure),
            Err(_) => desk.refuse_entry(&run, &note).map_err(failed)?,
        }
    }
    Ok(())
}

/// Stores a turn, unless the journal says that it was stored before.
async fn store_turn(engine: &Engine, run: &str, waiting: SpooledTurn) -> Result<()> {
    let SpooledTurn { scope, host, turn } = waiting;
    let query =
        JournalQuery { run: Some(run.to_owned()), limit: Some(1), ..JournalQuery::default() };
    if !engine.history(&scope, &query).await?.is_empty() {
        return Ok(());
    }
    let cause = Some(format!("observed by the hook of {host}"));
    let author = ChangeAuthor { actor: Actor::Person, reason: cause, run: Some(run.to_owned()) };
    engine.on_behalf_of(author).observe(&scope, vec![turn.clone()]).await?;
    if turn.role == Some(Role::Assistant)
        && let Some(session) = &turn.session
    {
        // What was of use is learned where it can be; the answer is stored all the same.
        let _ = engine.record_answer(&scope, session, &turn.text).await;
    }
    Ok(())
}
