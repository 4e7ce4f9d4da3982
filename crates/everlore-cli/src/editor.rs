//! Editing a text in the user's editor.

use std::{fs, io::Write, process::Command};

use crate::{CliError, Result};

/// Opens a copy of the text in the user's editor and returns the edited text; `None` if it did not change.
pub(crate) fn edit_text(content: &str) -> Result<Option<String>> {
    let failed = |error| CliError::io("editing the text", error);
    // Only the user may read it, and it is removed when this function ends.
    let mut file = tempfile::Builder::new().suffix(".md").tempfile().map_err(failed)?;
    file.write_all(content.as_bytes()).map_err(failed)?;
    let path = file.into_temp_path();
    let editor = ["VISUAL", "EDITOR"].into_iter().find_map(std::env::var_os);
    let editor = editor.filter(|editor| !editor.is_empty()).unwrap_or_else(|| "vi".into());
    // EDITOR may contain options, so a shell splits it.
    let mut command = Command::new("sh");
    command.args(["-c", r#"exec $1 "$2""#, "sh"]).arg(editor).arg(&path);
    let status = command.status().map_err(failed)?;
    if !status.success() {
        return Err(CliError::invalid(
            "the editor failed, so nothing was changed",
            "set EDITOR to a command that works, or use --content TEXT",
        ));
    }
    let edited = fs::read_to_string(&path).map_err(failed)?;
    Ok((edited.trim_end() != content.trim_end()).then_some(edited))
}
