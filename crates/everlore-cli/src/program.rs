//! Path of this program, which coding agents and detached processes start again.

use std::{
    io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// Script that started the command line inside another program, whose own path would not start it again.
static LAUNCHER: OnceLock<PathBuf> = OnceLock::new();

/// Names the script that started the command line. Only the first one counts.
pub(crate) fn set_launcher(script: &Path) -> io::Result<()> {
    let script = std::path::absolute(script)?;
    LAUNCHER.get_or_init(|| script);
    Ok(())
}

/// Returns the path that starts this program again.
pub(crate) fn path() -> io::Result<PathBuf> {
    LAUNCHER.get().map_or_else(std::env::current_exe, |script| Ok(script.clone()))
}
