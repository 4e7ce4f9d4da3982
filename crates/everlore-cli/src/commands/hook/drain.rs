//! Draining the spool into the store, in a separate process that no agent waits for.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use everlore::{
    Engine,
    store::JournalQuery,
    types::{Actor, ChangeAuthor, HOOK_CAUSE, Role},
};

use super::{
    DRAIN_LIMIT,
    conversation::ConversationStates,
    entry::{DRAIN_EVENT, exit_after},
    host::HookHost,
    spool::{Spool, SpoolBacklog, SpoolEntry, SpooledTurn},
};
use crate::{
    cli_context::CliContext,
    commands::{extract::extract_due, session},
    error::{CliError, Exit, Result},
    home_store::STORE_VARIABLE,
    output::Output,
    program,
};

/// Starts the draining process, detached from this one and from the terminal.
pub(super) fn spawn_drain(cx: &CliContext, host: HookHost, options: &[&str]) -> Result<()> {
    let failed = |error| CliError::io("starting to drain the spool", error);
    let mut command = Command::new(program::path().map_err(failed)?);
    command.arg("--home").arg(&cx.home);
    command.args(["--agent", cx.scope.agent(), "--user", cx.scope.user()]);
    if cx.settings.path != cx.home.join("config.toml") {
        command.arg("--config").arg(&cx.settings.path);
    }
    if !cx.settings.config.store.url.is_empty() {
        // Arguments can be seen by other users of the machine.
        command.env(STORE_VARIABLE, cx.store.address());
    }
    command.args(["hook", host.as_str(), DRAIN_EVENT]).args(options);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if cx.home.is_dir() {
        // The agent's working folder may be removed meanwhile.
        command.current_dir(&cx.home);
    }
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map(drop).map_err(failed)
}

/// Stores the pending entries; then ends a session, extracts memories from one, or extracts what is due.
pub(super) async fn run(
    cx: &CliContext,
    out: &mut Output,
    extract: Option<&str>,
    end: Option<&str>,
) -> Result<Exit> {
    exit_after(DRAIN_LIMIT);
    let spool = Spool::in_home(&cx.home);
    if spool.has_pending() {
        let _lock = spool.lock_drain().map_err(|error| CliError::io("storing", error))?;
        drain_spool(cx.engine().await?, &spool).await?;
    }
    ConversationStates::in_home(&cx.home).remove_stale();
    if cx.store.is_missing() {
        return Ok(Exit::Done);
    }
    match (extract, end) {
        (_, Some(session)) => session::end_session(cx, session, out).await,
        (Some(session), None) => {
            let engine = cx.capture_engine().await?;
            engine.mark_session_ended(&cx.scope, session).await?;
            session::extract_ended(&engine, &cx.scope, session).await?;
            Ok(Exit::Done)
        }
        // A running server extracts by itself.
        (None, None) if crate::server_client::is_running(cx) => Ok(Exit::Done),
        (None, None) => extract_due(&cx.capture_engine().await?).await.map(|()| Exit::Done),
    }
}

/// Stores the entries of a home's spool if some wait for too long: the process that should have stored them failed.
/// Another one that stores them now goes first.
pub(crate) async fn replay_overdue(engine: &Engine, home: &Path) {
    let spool = Spool::in_home(home);
    let is_read_only = engine.admin().store_info().is_read_only;
    if SpoolBacklog::scan(home).overdue == 0 || is_read_only || spool.is_draining() {
        return;
    }
    let Ok(_lock) = spool.lock_drain() else { return };
    if let Err(error) = drain_spool(engine, &spool).await {
        tracing::warn!(?error, "turns of hooks still wait to be stored");
    }
}

async fn drain_spool(engine: &Engine, spool: &Spool) -> Result<()> {
    for (run, entry) in spool.entries() {
        let failed = |error| CliError::io("storing", error);
        let stored = match entry.clone() {
            SpoolEntry::Turn(spooled) => store_turn(engine, &run, *spooled).await,
            SpoolEntry::Injection(record) => {
                let recorded = engine.record_injection(&record.scope, record.injection).await;
                recorded.map_err(CliError::from)
            }
        };
        match stored {
            Ok(()) => spool.remove_entry(&run, &entry).map_err(failed)?,
            Err(error) if error.is_storage() => return Err(error),
            Err(_) => spool.refuse_entry(&run, &entry).map_err(failed)?,
        }
    }
    Ok(())
}

/// Stores a turn, unless the journal has its run already. The journal names a person as author of both sides of the
/// conversation: the host reports what was said, no agent decided to save it.
async fn store_turn(engine: &Engine, run: &str, spooled: SpooledTurn) -> Result<()> {
    let SpooledTurn { scope, host, turn } = spooled;
    if turn.is_call_record() && !engine.records_trajectories() {
        return Ok(());
    }
    let query =
        JournalQuery { run: Some(run.to_owned()), limit: Some(1), ..JournalQuery::default() };
    if !engine.history(&scope, &query).await?.is_empty() {
        return Ok(());
    }
    let reason = Some(format!("{HOOK_CAUSE} {host}"));
    let author = ChangeAuthor { actor: Actor::Person, reason, run: Some(run.to_owned()) };
    engine.on_behalf_of(author).observe(&scope, vec![turn.clone()]).await?;
    if turn.role == Some(Role::Assistant)
        && let Some(session) = &turn.session
    {
        // The answer is stored even if its usage cannot be recorded.
        let _ = engine.record_answer(&scope, session, &turn.text).await;
    }
    Ok(())
}
