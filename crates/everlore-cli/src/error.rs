//! Outcome of a command: an exit code, or an error with a hint.

use std::{io, process::ExitCode};

use serde::Serialize;
use serde_json::Value;

/// Result of everything a command does.
pub(crate) type Result<T, E = CliError> = std::result::Result<T, E>;

/// Exit of a command that ran to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success, exit code 0.
    Done,
    /// Nothing found, exit code 1.
    NothingFound,
    /// Failure that the answer itself reports, exit code 2.
    Failed,
}

impl Exit {
    /// Returns `Done` or `NothingFound`.
    pub(crate) fn from_found(found: bool) -> Self {
        if found { Self::Done } else { Self::NothingFound }
    }

    /// Returns `Done` or `Failed`.
    pub(crate) fn from_success(success: bool) -> Self {
        if success { Self::Done } else { Self::Failed }
    }

    /// Returns the exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::NothingFound => 1,
            Self::Failed => 2,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Error of a command.
#[derive(Debug, Clone)]
pub(crate) enum CliError {
    /// The reader of the output is gone, so nothing is printed.
    BrokenPipe,
    /// Error to print.
    Reported(Box<ErrorReport>),
}

/// Error as it is printed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ErrorReport {
    /// Short, stable word for programs.
    pub(crate) code: &'static str,
    /// Description of the error.
    pub(crate) message: String,
    /// Advice for the user.
    pub(crate) hint: String,
    /// Further JSON fields for programs.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) details: Option<Value>,
}

impl CliError {
    /// Returns an error about invalid input.
    pub(crate) fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new("invalid", message, hint)
    }

    /// Returns an I/O error; `context` names the file or the action.
    pub(crate) fn io(context: impl Into<String>, error: io::Error) -> Self {
        everlore::Error::io(context, error).into()
    }

    /// Returns an error with this code.
    pub(crate) fn new(
        code: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let (message, hint) = (message.into(), hint.into());
        Self::Reported(Box::new(ErrorReport { code, message, hint, details: None }))
    }

    /// Adds JSON fields for programs.
    pub(crate) fn with_details(self, details: Value) -> Self {
        match self {
            Self::Reported(report) => {
                Self::Reported(Box::new(ErrorReport { details: Some(details), ..*report }))
            }
            Self::BrokenPipe => self,
        }
    }

    /// Replaces the hint.
    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        match self {
            Self::Reported(report) => {
                Self::Reported(Box::new(ErrorReport { hint: hint.into(), ..*report }))
            }
            Self::BrokenPipe => self,
        }
    }

    /// Returns `true` if the disk or the database failed, so that valid input would be lost.
    pub(crate) fn is_storage(&self) -> bool {
        self.code().is_some_and(|code| ["store", "io", "damaged", "read_only"].contains(&code))
    }

    /// Returns `true` if the database failed.
    pub(crate) fn is_of_store(&self) -> bool {
        self.code() == Some("store")
    }

    /// Returns `true` if the hint begins with these words.
    pub(crate) fn has_hint(&self, start: &str) -> bool {
        matches!(self, Self::Reported(report) if report.hint.starts_with(start))
    }

    /// Returns `true` if the named thing does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        self.code() == Some("not_found")
    }

    fn code(&self) -> Option<&'static str> {
        match self {
            Self::Reported(report) => Some(report.code),
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
    fn a_broken_pipe_is_not_an_error_of_the_storage() {
        let error = |kind: io::ErrorKind| CliError::io("writing", kind.into());
        assert!(matches!(error(io::ErrorKind::BrokenPipe), CliError::BrokenPipe));
        assert!(error(io::ErrorKind::StorageFull).is_storage());
    }

    #[test]
    fn a_busy_database_gets_its_own_message() {
        let busy = CliError::from(everlore::Error::store("database is locked"));
        let CliError::Reported(report) = busy else { panic!("{busy:?}") };
        assert!(report.message.starts_with("another process"), "{report:?}");
    }

    #[test]
    fn details_stand_beside_the_rest_of_an_error() {
        let failure = CliError::invalid("bad", "fix it").with_details(serde_json::json!({"n": 1}));
        let CliError::Reported(report) = failure else { panic!("{failure:?}") };
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(json, r#"{"code":"invalid","message":"bad","hint":"fix it","n":1}"#);
    }
}
