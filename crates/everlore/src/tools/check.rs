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
        "description": "How to tell later whether it still holds; exactly one of path, file, until and days",
        "properties": {
            "path": { "type": "string", "description": "Something must be at this path" },
            "file": { "type": "string", "description": "This file must have the same bytes as now" },
            "until": { "type": "string", "description": "It holds until this day, which is included, or this moment" },
            "days": { "type": "integer", "minimum": 1, "maximum": 36_500, "description": "It is to be verified again after so many days" }
        }
    })
}

/// Returns the schema of a check result.
pub(super) fn verified_schema() -> Value {
    let text = |about: &str| json!({ "type": "string", "description": about });
    json!({
        "type": "object",
        "required": ["verdict", "why"],
        "description": "What its check told just now, if it has one",
        "properties": {
            "verdict": { "type": "string", "enum": CheckStatus::ALL.map(CheckStatus::as_str), "description": "Whether it still holds; verify what is not fresh before relying on it" },
            "why": text("Why"),
            "path": text("What must be there"),
            "file": text("The file that must be as it was"),
            "sha256": text("The digest of its bytes"),
            "command": { "type": "array", "items": { "type": "string" }, "description": "The command that must pass" },
            "folder": text("Where it is run"),
            "prints": text("What it must print"),
            "until": text("Until when it holds"),
            "days": { "type": "integer", "description": "After how many days it is to be verified again" }
        }
    })
}
