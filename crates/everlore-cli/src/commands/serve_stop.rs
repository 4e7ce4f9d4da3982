//! `everlore serve --stop`: ends the server of the home, and waits until it is gone.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{CliContext, CliError, Exit, Output, Result};

/// Time for requests in flight, after which the command no longer waits.
const STOP_LIMIT: Duration = Duration::from_secs(60);

/// Time between two looks.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Asks the server to end and waits until it has.
pub(super) async fn stop(cx: &CliContext, out: &mut Output) -> Result<Exit> {
    let Some(running) = everlore_server::find_running(&cx.home) else {
        out.note("no server runs on this home; start one with `everlore serve`");
        return Ok(Exit::NothingFound);
    };
    terminate(running.pid)?;
    let asked_at = Instant::now();
    while everlore_server::find_running(&cx.home).is_some_and(|found| found.pid == running.pid) {
        if asked_at.elapsed() > STOP_LIMIT {
            return Err(CliError::invalid(
                format!("the server still answers requests after {} seconds", STOP_LIMIT.as_secs()),
                format!("wait, or end it at once with: kill {}", running.pid),
            ));
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    let url = running.url();
    let view = json!({ "stopped": true, "pid": running.pid, "url": url });
    out.answer_line(&view, &format!("stopped: {url} (process {})", running.pid))
}

/// Sends the signal that ends a server when its requests are answered.
fn terminate(pid: u32) -> Result<()> {
    if !cfg!(unix) {
        let hint = "press Ctrl+C where it runs, or end its process";
        return Err(CliError::invalid("a server cannot be stopped from here on this system", hint));
    }
    // The shell's own `kill`, so that no package is needed.
    let sent =
        Command::new("sh").args(["-c", r#"kill -TERM "$1""#, "sh", &pid.to_string()]).output();
    let sent = sent.map_err(|error| CliError::io("stopping the server", error))?;
    if sent.status.success() {
        return Ok(());
    }
    Err(CliError::invalid(
        format!("the server, process {pid}, cannot be stopped by this user"),
        "stop it as the user that started it",
    ))
}
