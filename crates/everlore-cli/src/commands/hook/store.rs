//! Stores what hooks put down, in a process of its own that no agent waits for.

use std::process::{Command, Stdio};

use everlore::{
    Engine,
    store::JournalQuery,
    types::{Actor, Author, Role},
};

use super::{
    STORE, STORING_LIMIT,
    desk::{Desk, Note, Waiting},
    host::Host,
};
use crate::{
    commands::{extract::read_due, session},
    context::Context,
    failure::{Exit, Failure, Result},
    output::Output,
};

/// Starts the process, with nothing that ties it to this one or to the terminal.
pub(super) fn detach(cx: &Context, host: Host, then: &[&str]) -> Result<()> {
    let failed = |error| Failure::io("starting to store", error);
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.arg("--home").arg(&cx.home);
    command.args(["--agent", cx.scope.agent(), "--user", cx.scope.user()]);
    if cx.settings.path != cx.home.join("config.toml") {
        command.arg("--config").arg(&cx.settings.path);
    }
    command.args(["hook", host.as_str(), STORE]).args(then);
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
    cx: &Context,
    out: &mut Output,
    read: Option<&str>,
    end: Option<&str>,
) -> Result<Exit> {
    super::limit(STORING_LIMIT);
    let desk = Desk::of(&cx.home);
    if desk.has_waiting() {
        let _alone = desk.storing().map_err(|error| Failure::io("storing", error))?;
        store_all(cx, &desk).await?;
    }
    desk.tidy();
    if !cx.database().exists() {
        return Ok(Exit::Done);
    }
    match (read, end) {
        (_, Some(session)) => session::end(cx, session, out).await,
        (Some(session), None) => {
            let engine = cx.reading().await?;
            engine.announce_end(&cx.scope, session).await?;
            session::read_ended(&engine, &cx.scope, session).await?;
            Ok(Exit::Done)
        }
        // A server reads along by itself.
        (None, None) if crate::server::runs(cx) => Ok(Exit::Done),
        (None, None) => read_due(&cx.reading().await?).await.map(|()| Exit::Done),
    }
}

async fn store_all(cx: &Context, desk: &Desk) -> Result<()> {
    let engine = cx.engine().await?;
    for (run, note) in desk.notes() {
        let failed = |error| Failure::io("storing", error);
        let stored = match note.clone() {
            Note::Turn(waiting) => store(engine, &run, waiting).await,
            Note::Given(given) => {
                let noted = engine.note_told(&given.scope, given.prompted).await;
                noted.map_err(Failure::from)
            }
        };
        match stored {
            Ok(()) => desk.done(&run, &note).map_err(failed)?,
            Err(failure) if failure.is_storage() => return Err(failure),
            Err(_) => desk.refuse(&run, &note).map_err(failed)?,
        }
    }
    Ok(())
}

/// Stores a turn, unless the journal says that it was stored before.
async fn store(engine: &Engine, run: &str, waiting: Waiting) -> Result<()> {
    let Waiting { scope, host, turn } = waiting;
    let query =
        JournalQuery { run: Some(run.to_owned()), limit: Some(1), ..JournalQuery::default() };
    if !engine.history(&scope, &query).await?.is_empty() {
        return Ok(());
    }
    let cause = Some(format!("observed by the hook of {host}"));
    let author = Author { actor: Actor::Person, cause, run: Some(run.to_owned()) };
    engine.on_behalf_of(author).observe(&scope, vec![turn.clone()]).await?;
    if turn.role == Some(Role::Assistant)
        && let Some(session) = &turn.session
    {
        // What was of use is learned where it can be; the answer is stored all the same.
        let _ = engine.answered(&scope, session, &turn.text).await;
    }
    Ok(())
}
