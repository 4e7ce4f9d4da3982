//! Checks as tools accept and report them.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{
    error::{Error, Result},
    types::{CheckStatus, NewCheck},
};

/// Checks that an agent may set. A check of a file reveals something about this machine, so only an agent that works
/// here, for its owner, may set one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum CheckPermission {
    /// Dates only.
    #[default]
    Dates,
    /// Dates and files, by absolute paths.
    Files,
    /// Dates and files, with paths relative to this folder.
    FilesFrom(PathBuf),
}

impl CheckPermission {
    /// Returns the check with absolute paths, if it is permitted.
    pub(super) fn permit(&self, check: NewCheck) -> Result<NewCheck> {
        match self {
            Self::Dates if check.probes_machine() => Err(Error::invalid(
                "checks of files can only be set on the machine of the owner",
                "use until or days, or let the user set it with `everlore memory edit`",
            )),
            Self::Dates | Self::Files => Ok(check),
            Self::FilesFrom(folder) => Ok(check.resolve_paths(folder)),
        }
    }
}

/// Returns the schema of a new check.
pub(super) fn check_schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": [],
        "description": "Check that verifies later if the memory still holds: exactly one of path, file, until and days",
        "properties": {
            "path": { "type": "string", "description": "Holds as long as this path exists" },
            "file": { "type": "string", "description": "Holds as long as this file is unchanged" },
            "until": { "type": "string", "description": "Holds until this day, inclusive, or this time" },
            "days": { "type": "integer", "minimum": 1, "maximum": 36_500, "description": "Must be verified again after this many days" }
        }
    })
}

/// Returns the schema of a check result.
pub(super) fn verified_schema() -> Value {
    let text = |about: &str| json!({ "type": "string", "description": about });
    json!({
        "type": "object",
        "required": ["verdict", "why"],
        "description": "Result of its check, if it has one",
        "properties": {
            "verdict": { "type": "string", "enum": CheckStatus::ALL.map(CheckStatus::as_str), "description": "Status of the memory; verify it before relying on it unless it is fresh" },
            "why": text("Reason for the verdict"),
            "path": text("Path that must exist"),
            "file": text("File that must be unchanged"),
            "sha256": text("SHA-256 digest of the file"),
            "command": { "type": "array", "items": { "type": "string" }, "description": "Command that must succeed" },
            "folder": text("Folder in which the command runs"),
            "prints": text("Text that the command must print"),
            "until": text("Last time at which it holds"),
            "days": { "type": "integer", "description": "Days after which it must be verified again" }
        }
    })
}
