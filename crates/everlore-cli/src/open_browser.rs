//! Opening a link in the browser of this machine.

use std::{
    io,
    process::{Command, Stdio},
};

/// Program that opens links on this system, with the arguments before the link.
const OPENER: (&str, &[&str]) = if cfg!(target_os = "macos") {
    ("open", &[])
} else if cfg!(windows) {
    // Not `cmd /C start`: it would read `&` in a link as the end of the command.
    ("rundll32", &["url.dll,FileProtocolHandler"])
} else {
    ("xdg-open", &[])
};

/// Hands a link to the browser and returns at once. Fails if there is no program for that.
pub(crate) fn open_browser(link: &str) -> io::Result<()> {
    let (program, arguments) = OPENER;
    let mut opener = Command::new(program);
    opener.args(arguments).arg(link);
    opener.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = opener.spawn().map_err(|error| {
        io::Error::new(error.kind(), format!("`{program}` cannot be started: {error}"))
    })?;
    // It may run as long as the browser; a failure later than the start is only worth a line in the log.
    std::thread::spawn(move || match child.wait() {
        Ok(status) if status.success() => {}
        Ok(status) => {
            tracing::warn!("{program} could not open the page ({status}); open the link by hand")
        }
        Err(error) => tracing::warn!("{program} cannot be waited for: {error}"),
    });
    Ok(())
}
