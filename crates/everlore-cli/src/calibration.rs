//! Calibrated confidence of recall for each scope, in the file `calibration.json` of the home.
//!
//! It holds two numbers per scope and no text. It is a file because a lookup in the database would slow every recall
//! down; deleting it, or one entry, goes back to the shipped confidence.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use everlore::{Scope, engine::ConfidenceTuning, types::Timestamp};
use serde::{Deserialize, Serialize};

use crate::{CliError, Result};
use everlore::internal::files::regular_file::{self, MAX_SETTINGS_BYTES};

/// Name of the file in a home.
const CALIBRATION_FILE: &str = "calibration.json";

/// Calibration of one scope.
#[derive(Debug, Serialize, Deserialize)]
struct CalibrationEntry {
    agent: String,
    user: String,
    #[serde(flatten)]
    tuning: ConfidenceTuning,
    at: Timestamp,
}

/// Returns the calibrated scopes; none if the file is missing or cannot be read, which [`notes`] reports.
pub(crate) fn read_tunings(home: &Path) -> Vec<(Scope, ConfidenceTuning)> {
    let entries = read_entries(home).unwrap_or_default().into_iter();
    entries.filter_map(|entry| Some((entry.scope()?, entry.tuning))).collect()
}

/// Returns the problem of a file that cannot be read, with a hint.
pub(crate) fn notes(home: &Path) -> Option<String> {
    let error = read_entries(home).err()?;
    let path = path(home);
    Some(format!(
        "note: {} cannot be read ({error}), so recall uses the shipped confidence; delete it, or run `everlore recall calibrate`",
        path.display()
    ))
}

/// Saves the calibration of a scope, or removes it; returns `true` if anything changed.
pub(crate) fn save_tuning(
    home: &Path,
    scope: &Scope,
    calibrated: Option<(ConfidenceTuning, Timestamp)>,
) -> Result<bool> {
    let failed = |error: io::Error| CliError::io(path(home).display().to_string(), error);
    // A file that cannot be read is replaced.
    let mut entries = read_entries(home).unwrap_or_default();
    let before = entries.len();
    entries.retain(|entry| entry.scope().as_ref() != Some(scope));
    let existed = entries.len() < before;
    let Some((tuning, at)) = calibrated else {
        if existed {
            write_entries(home, &entries).map_err(failed)?;
        }
        return Ok(existed);
    };
    let (agent, user) = (scope.agent().to_owned(), scope.user().to_owned());
    entries.push(CalibrationEntry { agent, user, tuning, at });
    write_entries(home, &entries).map_err(failed)?;
    Ok(true)
}

impl CalibrationEntry {
    fn scope(&self) -> Option<Scope> {
        Scope::new(&self.agent, &self.user).ok()
    }
}

fn path(home: &Path) -> PathBuf {
    home.join(CALIBRATION_FILE)
}

fn read_entries(home: &Path) -> io::Result<Vec<CalibrationEntry>> {
    let text = match regular_file::read_to_string(&path(home), MAX_SETTINGS_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text?,
    };
    let entries: Vec<CalibrationEntry> = serde_json::from_str(&text)?;
    let is_valid = |tuning: &ConfidenceTuning| {
        tuning.bias.is_finite() && tuning.slope > 0.0 && tuning.slope.is_finite()
    };
    if entries.iter().all(|entry| is_valid(&entry.tuning)) {
        Ok(entries)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidData, "the slope of an entry is not positive"))
    }
}

/// Replaces the file atomically; only the user may read it.
fn write_entries(home: &Path, entries: &[CalibrationEntry]) -> io::Result<()> {
    let temporary = tempfile::NamedTempFile::new_in(home)?;
    fs::write(temporary.path(), serde_json::to_string_pretty(entries)? + "\n")?;
    temporary.persist(path(home))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calibration_is_saved_and_removed_by_scope() {
        let home = tempfile::tempdir().unwrap();
        let (ann, bob) = (Scope::new("a", "ann").unwrap(), Scope::new("a", "王").unwrap());
        let tuning = ConfidenceTuning { bias: -0.25, slope: 1.5 };
        for scope in [&ann, &bob] {
            assert!(
                save_tuning(home.path(), scope, Some((tuning, Timestamp::UNIX_EPOCH))).unwrap()
            );
        }
        assert!(save_tuning(home.path(), &ann, None).unwrap());
        assert!(!save_tuning(home.path(), &ann, None).unwrap());
        assert_eq!(read_tunings(home.path()), [(bob, tuning)]);
        assert_eq!(notes(home.path()), None);
    }

    #[test]
    fn a_broken_file_is_reported_and_does_no_harm() {
        let home = tempfile::tempdir().unwrap();
        for text in [
            "{",
            "[{\"agent\":\"a\",\"user\":\"u\",\"bias\":0.0,\"slope\":-1.0,\"at\":\"2026-01-01T00:00:00Z\"}]",
        ] {
            fs::write(path(home.path()), text).unwrap();
            assert_eq!(read_tunings(home.path()), []);
            assert!(notes(home.path()).unwrap().contains("everlore recall calibrate"));
        }
    }
}
