//! Check as a caller gives it, and its validation.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use jiff::{Timestamp, Zoned, civil::Date};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::{Check, to_millisecond};
use crate::error::{Error, Result};

/// Most bytes of a path; most systems open no longer one.
const MAX_PATH_BYTES: usize = 4_096;

/// Most arguments of a command; a command with more of them, or with more bytes in all, belongs into a script.
const MAX_COMMAND_ARGS: usize = 64;
const MAX_COMMAND_BYTES: usize = 8_192;

/// Most days until a check is due: a hundred years.
const MAX_DAYS: u32 = 36_500;

/// Check as a caller gives it: exactly one of path, file, command, until and days.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NewCheck {
    /// Path at which something must exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// File that must have the same bytes as when the check was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// With `file`: SHA-256 of its bytes in hexadecimal; taken from the file if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Program and arguments, run without a shell; it must exit with 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// With `command`: working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// With `command`: expected output, blanks around it aside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prints: Option<String>,
    /// Time until which the memory holds: a day, which is included, or a moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Days after which the memory must be verified again.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "whole_number")]
    pub days: Option<u32>,
}

impl NewCheck {
    /// Returns `true` if the check looks at this machine: its answer reveals something about files or programs.
    pub fn probes_machine(&self) -> bool {
        self.path.is_some() || self.file.is_some() || self.command.is_some()
    }

    /// Resolves relative paths against `folder`; a command is run there.
    #[must_use]
    pub fn resolve_paths(mut self, folder: &Path) -> Self {
        let absolute = |path: String| {
            if path.trim().is_empty() {
                path
            } else {
                normalize_path(&folder.join(path)).display().to_string()
            }
        };
        self.path = self.path.map(absolute);
        self.file = self.file.map(absolute);
        if self.command.is_some() {
            let at = self.folder.map_or_else(|| folder.to_path_buf(), |inner| folder.join(inner));
            self.folder = Some(normalize_path(&at).display().to_string());
        }
        self
    }

    /// Returns every text in it, for a search for secrets: the words of its command alone and as one line, because an
    /// option says that the next word is a password.
    pub(crate) fn texts(&self) -> Vec<Cow<'_, str>> {
        let single = [&self.path, &self.file, &self.folder, &self.prints].into_iter().flatten();
        let words = self.command.iter().flatten();
        let line = self.command.iter().map(|words| Cow::Owned(words.join(" ")));
        single.chain(words).map(|text| Cow::Borrowed(text.as_str())).chain(line).collect()
    }

    /// Returns the check if exactly one is given and valid; days end by the calendar of `now`.
    pub(crate) fn validate(self, now: &Zoned) -> Result<Check> {
        let given = [
            self.path.is_some(),
            self.file.is_some(),
            self.command.is_some(),
            self.until.is_some(),
            self.days.is_some(),
        ];
        if given.iter().filter(|given| **given).count() != 1 {
            return Err(Error::invalid(
                "a check has exactly one of path, file, command, until and days",
                "give one of them; a memory has one check at most",
            ));
        }
        self.check_companion_fields()?;
        let Self { path, file, sha256, command, folder, prints, until, days } = self;
        match (path, file, command, until, days) {
            (Some(path), ..) => Ok(Check::Path { path: require_absolute(path)? }),
            (_, Some(file), ..) => {
                let sha256 = sha256.map(|digest| validate_digest(&digest)).transpose()?;
                Ok(Check::File { file: require_absolute(file)?, sha256 })
            }
            (_, _, Some(command), ..) => {
                let folder = folder.map(require_absolute).transpose()?;
                Ok(Check::Command { command: validate_command(command)?, folder, prints })
            }
            (_, _, _, Some(until), _) => Ok(Check::Until { until: parse_until(&until, now)? }),
            (_, _, _, _, days) => {
                Ok(Check::Days { days: validate_days(days.unwrap_or_default())? })
            }
        }
    }

    /// Refuses fields that belong to another sort of check.
    fn check_companion_fields(&self) -> Result<()> {
        let unpaired = |field: &str, with: &str| {
            Err(Error::invalid(
                format!("`{field}` is given without `{with}`"),
                format!("`{field}` belongs to a check with `{with}`; leave it out"),
            ))
        };
        if self.sha256.is_some() && self.file.is_none() {
            return unpaired("sha256", "file");
        }
        if self.prints.is_some() && self.command.is_none() {
            return unpaired("prints", "command");
        }
        if self.folder.is_some() && self.command.is_none() {
            return unpaired("folder", "command");
        }
        Ok(())
    }
}

/// Returns the path without `.` in it; `..` stays, because a link may stand before it.
fn normalize_path(path: &Path) -> PathBuf {
    path.components().collect()
}

fn require_absolute(path: String) -> Result<String> {
    if path.trim().is_empty() || path.contains('\0') {
        return Err(Error::invalid("the path of the check is empty or has a NUL", "give a path"));
    }
    if path.len() > MAX_PATH_BYTES {
        return Err(Error::invalid(
            format!("the path of the check is longer than {MAX_PATH_BYTES} bytes"),
            "give a path that can be opened",
        ));
    }
    if Path::new(&path).is_absolute() {
        return Ok(path);
    }
    Err(Error::invalid(
        format!("`{path}` is relative, and the current folder is not known here"),
        "give an absolute path",
    ))
}

fn validate_digest(digest: &str) -> Result<String> {
    let digest = digest.trim().to_lowercase();
    if digest.len() == 64 && digest.chars().all(|c| c.is_ascii_hexdigit()) {
        Ok(digest)
    } else {
        Err(Error::invalid(
            "`sha256` is not a SHA-256 digest",
            "give 64 hexadecimal digits, or leave it out to take it from the file",
        ))
    }
}

fn validate_command(command: Vec<String>) -> Result<Vec<String>> {
    let bytes: usize = command.iter().map(String::len).sum();
    let program = command.first().is_some_and(|program| !program.trim().is_empty());
    if !program || command.iter().any(|word| word.contains('\0')) {
        return Err(Error::invalid(
            "the command of the check is empty or has a NUL",
            "give a program and its arguments",
        ));
    }
    if command.len() > MAX_COMMAND_ARGS || bytes > MAX_COMMAND_BYTES {
        return Err(Error::invalid(
            format!(
                "the command has more than {MAX_COMMAND_ARGS} words or {MAX_COMMAND_BYTES} bytes in all"
            ),
            "put it into a script and give its path",
        ));
    }
    Ok(command)
}

/// Deserializes a whole number, also one that a program writes as 5.0.
fn whole_number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    let Some(number) = Option::<serde_json::Number>::deserialize(from)? else { return Ok(None) };
    let whole = number.as_f64().filter(|float| float.fract() == 0.0);
    let fits = whole.filter(|float| (0.0..=f64::from(u32::MAX)).contains(float));
    match fits {
        Some(float) => Ok(Some(float as u32)),
        None => Err(D::Error::custom(format!("`days` goes from 1 to {MAX_DAYS}"))),
    }
}

fn validate_days(days: u32) -> Result<u32> {
    if (1..=MAX_DAYS).contains(&days) {
        Ok(days)
    } else {
        Err(Error::invalid(format!("`days` is {days}"), format!("days go from 1 to {MAX_DAYS}")))
    }
}

/// Returns the first moment after `text`, a day or a moment.
fn parse_until(text: &str, now: &Zoned) -> Result<Timestamp> {
    let text = text.trim();
    let after = |day: Date| day.tomorrow()?.to_zoned(now.time_zone().clone());
    let day = |text: &str| text.parse::<Date>().and_then(after).map(|next| next.timestamp());
    // A moment first: a date would be read from its beginning.
    text.parse::<Timestamp>().or_else(|_| day(text)).map(to_millisecond).map_err(|_| {
        Error::invalid(
            format!("`until` is `{text}`, which is not a date"),
            "write a day such as 2026-12-31, or a moment with its offset such as 2026-12-31T18:00:00+01:00",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Zoned {
        "2026-03-02T12:00:00+08:00[Asia/Shanghai]".parse().unwrap()
    }

    fn until(text: &str) -> NewCheck {
        NewCheck { until: Some(text.into()), ..NewCheck::default() }
    }

    #[test]
    fn a_check_is_one_thing_and_its_paths_are_whole() {
        let path = |path: &str| NewCheck { path: Some(path.into()), ..NewCheck::default() };
        let refused = |check: NewCheck| check.validate(&now()).unwrap_err();
        assert!(refused(NewCheck::default()).to_string().contains("exactly one"));
        let two = NewCheck { days: Some(1), ..path("/a") };
        assert!(refused(two).to_string().contains("exactly one"));
        assert!(refused(path("源/a.rs")).hint().contains("absolute path"));
        let from = path("./源/a.rs").resolve_paths(Path::new("/home/wang"));
        assert_eq!(
            from.validate(&now()).unwrap(),
            Check::Path { path: "/home/wang/源/a.rs".into() }
        );
        let odd = NewCheck { prints: Some("x".into()), ..path("/a") };
        assert!(refused(odd).to_string().contains("without `command`"));
        let digest =
            NewCheck { file: Some("/a".into()), sha256: Some("12".into()), ..NewCheck::default() };
        assert!(refused(digest).to_string().contains("not a SHA-256"));
        for bad in ["", "soon", "2026-13-01", "2026-03-01 noon"] {
            assert!(refused(until(bad)).to_string().contains("not a date"), "{bad}");
        }
        for days in [0, MAX_DAYS + 1] {
            let days = NewCheck { days: Some(days), ..NewCheck::default() };
            assert!(refused(days).hint().contains("from 1 to"));
        }
    }
}
