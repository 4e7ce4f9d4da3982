//! How a command ends: done, nothing found, or a failure that says what to do about it.

use std::{io, process::ExitCode};

use serde::Serialize;
use serde_json::Value;

/// The result of everything a command does.
pub(crate) type Result<T, E = CliError> = std::result::Result<T, E>;

/// How a command that did not break off ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what it was asked for.
    Done,
    /// It found nothing.
    NothingFound,
    /// It said what went wrong as part of its answer.
    Failed,
}

impl Exit {
    /// Done if there is something, nothing found if not.
    pub(crate) fn from_found(something: bool) -> Self {
        if something { Self::Done } else { Self::NothingFound }
    }

    /// Done if all is well, failed if not.
    pub(crate) fn from_success(well: bool) -> Self {
        if well { Self::Done } else { Self::Failed }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::NothingFound => 1,
            Exit::Failed => 2,
        })
    }
}

/// Why a command broke off.
#[derive(Debug, Clone)]
pub(crate) enum CliError {
    /// Whoever read the output went away; nobody is left to tell.
    BrokenPipe,
    /// Something to tell the user.
    Reported(Box<ErrorReport>),
}

/// A failure as it is told.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ErrorReport {
    /// A short, stable word for programs.
    pub(crate) code: &'static str,
    /// What went wrong.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: String,
    /// More for programs, beside the rest.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) details: Option<Value>,
}

impl CliError {
    /// The input cannot be accepted as it is.
    pub(crate) fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new("invalid", message, hint)
    }

    /// A file or stream failed.
    pub(crate) fn io(what: impl Into<String>, error: io::Error) -> Self {
        everlore::Error::io(what, error).into()
    }

    /// Anything else that can be told.
    pub(crate) fn new(
        code: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let (message, hint) = (message.into(), hint.into());
        Self::Reported(Box::new(ErrorReport { code, message, hint, details: None }))
    }

    /// The same, with more for programs.
    pub(crate) fn with_details(self, details: Value) -> Self {
        match self {
            Self::Reported(told) => {
                Self::Reported(Box::new(ErrorReport { details: Some(details), ..*told }))
            }
            Self::BrokenPipe => self,
        }
    }

    /// The same, with another hint.
    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        match self {
            Self::Reported(told) => {
                Self::Reported(Box::new(ErrorReport { hint: hint.into(), ..*told }))
            }
            Self::BrokenPipe => self,
        }
    }

    /// Whether the disk or the database failed, so that good input would be lost.
    pub(crate) fn is_storage(&self) -> bool {
        self.code().is_some_and(|code| ["store", "io", "damaged", "read_only"].contains(&code))
    }

    /// Whether the named thing does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        self.code() == Some("not_found")
    }

    fn code(&self) -> Option<&'static str> {
        match self {
            Self::Reported(told) => Some(told.code),
            Self::BrokenPipe => None,
        }
    }
}

impl From<everlore::Error> for CliError {
    fn from(error: everlore::Error) -> Self {
        match &error {
            everlore::Error::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => {
                Self::BrokenPipe
            }
            everlore::Error::Store(cause) if cause.to_string().contains("database is locked") => {
                Self::new(
                    error.code(),
                    "another process has been writing to the database for more than a minute",
                    "wait until it is done, or end it, and try again",
                )
            }
            _ => Self::new(error.code(), error.to_string(), error.hint()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_went_away_is_told_from_other_failures() {
        let failure = |kind: io::ErrorKind| CliError::io("writing", kind.into());
        assert!(matches!(failure(io::ErrorKind::BrokenPipe), CliError::BrokenPipe));
        assert!(failure(io::ErrorKind::StorageFull).is_storage());
    }

    #[test]
    fn a_busy_database_is_told_in_words() {
        let busy = CliError::from(everlore::Error::store("database is locked"));
        let CliError::Reported(told) = busy else { panic!("{busy:?}") };
        assert!(told.message.starts_with("another process"), "{told:?}");
    }

    #[test]
    fn details_stand_beside_the_rest_of_an_error() {
        let failure = CliError::invalid("bad", "mend it").with_details(serde_json::json!({"n": 1}));
        let CliError::Reported(told) = failure else { panic!("{failure:?}") };
        let json = serde_json::to_string(&told).unwrap();
        assert_eq!(json, r#"{"code":"invalid","message":"bad","hint":"mend it","n":1}"#);
    }
}
