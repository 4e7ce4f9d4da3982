//! How sure recall should be in each scope that was calibrated: a small file in the home.
//!
//! It holds two numbers for a scope and no text, so it is kept beside the database, where a look-up would cost every recall:
//! deleting it, or a line of it, goes back to what is shipped.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use everlore::{Scope, recall::ConfidenceTuning, types::Timestamp};
use serde::{Deserialize, Serialize};

use crate::error::{CliError, Result};

/// The name of the file in a home.
const CALIBRATION_FILE: &str = "calibration.json";

/// What a calibration found for a scope.
#[derive(Debug, Serialize, Deserialize)]
struct CalibrationEntry {
    agent: String,
    user: String,
    #[serde(flatten)]
    tuning: ConfidenceTuning,
    at: Timestamp,
}

/// The scopes that were calibrated; none if the file is not there or cannot be read, which [`notes`] says.
pub(crate) fn read_tunings(home: &Path) -> Vec<(Scope, ConfidenceTuning)> {
    let entries = read_entries(home).unwrap_or_default().into_iter();
    entries.filter_map(|entry| Some((entry.scope()?, entry.tuning))).collect()
}

/// What is wrong with the file, and what to do.
pub(crate) fn notes(home: &Path) -> Option<String> {
    let error = read_entries(home).err()?;
    let path = path(home);
    Some(format!(
        "note: {} cannot be read ({error}), so recall is as sure as shipped; delete it, or run `everlore recall calibrate`",
        path.display()
    ))
}

/// Keeps what a calibration found for a scope, or forgets it; returns whether anything changed.
pub(crate) fn save_tuning(
    home: &Path,
    scope: &Scope,
    found: Option<(ConfidenceTuning, Timestamp)>,
) -> Result<bool> {
    let failed = |error: io::Error| CliError::io(path(home).display().to_string(), error);
    // A file that cannot be read is of no use to anybody.
    let mut all = read_entries(home).unwrap_or_default();
    let before = all.len();
    all.retain(|entry| entry.scope().as_ref() != Some(scope));
    let was_there = all.len() < before;
    let Some((tuning, at)) = found else {
        if was_there {
            write_entries(home, &all).map_err(failed)?;
        }
        return Ok(was_there);
    };
    let (agent, user) = (scope.agent().to_owned(), scope.user().to_owned());
    all.push(CalibrationEntry { agent, user, tuning, at });
    write_entries(home, &all).map_err(failed)?;
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
    let text = match fs::read_to_string(path(home)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text?,
    };
    let entries: Vec<CalibrationEntry> = serde_json::from_str(&text)?;
    let sound = |tuning: &ConfidenceTuning| {
        tuning.bias.is_finite() && tuning.slope > 0.0 && tuning.slope.is_finite()
    };
    match entries.iter().all(|entry| sound(&entry.tuning)) {
        true => Ok(entries),
        false => Err(io::Error::new(io::ErrorKind::InvalidData, "a slope is not positive")),
    }
}

/// Replaces the file at once, so that nobody reads half of it. Only the user may read it.
fn write_entries(home: &Path, entries: &[CalibrationEntry]) -> io::Result<()> {
    let beside = tempfile::NamedTempFile::new_in(home)?;
    fs::write(beside.path(), serde_json::to_string_pretty(entries)? + "\n")?;
    beside.persist(path(home))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_again_and_forgotten_by_scope() {
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
    fn a_broken_file_is_said_and_does_no_harm() {
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
