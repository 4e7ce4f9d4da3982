//! How a command ends: done, nothing found, or a failure that says what to do about it.

use std::{io, process::ExitCode};

use serde::Serialize;
use serde_json::Value;

/// The result of everything a command does.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// How a command that did not break off ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what it was asked for.
    Done,
    /// It found nothing.
    Nothing,
    /// It said what went wrong as part of its answer.
    Failed,
}

impl Exit {
    /// Done if there is something, nothing found if not.
    pub(crate) fn found(something: bool) -> Self {
        if something { Self::Done } else { Self::Nothing }
    }

    /// Done if all is well, failed if not.
    pub(crate) fn well(well: bool) -> Self {
        if well { Self::Done } else { Self::Failed }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Nothing => 1,
            Exit::Failed => 2,
        })
    }
}

/// Why a command broke off.
#[derive(Debug, Clone)]
pub(crate) enum Failure {
    /// Whoever read the output went away; nobody is left to tell.
    BrokenPipe,
    /// Something to tell the user.
    Told(Box<Told>),
}

/// A failure as it is told.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Told {
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

impl Failure {
    /// The input cannot be accepted as it is.
    pub(crate) fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::told("invalid", message, hint)
    }

    /// A file or stream failed.
    pub(crate) fn io(what: impl Into<String>, error: io::Error) -> Self {
        everlore::Error::io(what, error).into()
    }

    /// Anything else that can be told.
    pub(crate) fn told(
        code: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let (message, hint) = (message.into(), hint.into());
        Self::Told(Box::new(Told { code, message, hint, details: None }))
    }

    /// The same, with more for programs.
    pub(crate) fn with_details(self, details: Value) -> Self {
        match self {
            Self::Told(told) => Self::Told(Box::new(Told { details: Some(details), ..*told })),
            Self::BrokenPipe => self,
        }
    }

    /// The same, with another hint.
    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        match self {
            Self::Told(told) => Self::Told(Box::new(Told { hint: hint.into(), ..*told })),
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
            Self::Told(told) => Some(told.code),
            Self::BrokenPipe => None,
        }
    }
}

impl From<everlore::Error> for Failure {
    fn from(error: everlore::Error) -> Self {
        match &error {
            everlore::Error::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => {
                Self::BrokenPipe
            }
            everlore::Error::Store(cause) if cause.to_string().contains("database is locked") => {
                Self::told(
                    error.code(),
                    "another process has been writing to the database for more than a minute",
                    "wait until it is done, or end it, and try again",
                )
            }
            _ => Self::told(error.code(), error.to_string(), error.hint()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_went_away_is_told_from_other_failures() {
        let failure = |kind: io::ErrorKind| Failure::io("writing", kind.into());
        assert!(matches!(failure(io::ErrorKind::BrokenPipe), Failure::BrokenPipe));
        assert!(failure(io::ErrorKind::StorageFull).is_storage());
    }

    #[test]
    fn a_busy_database_is_told_in_words() {
        let busy = Failure::from(everlore::Error::store("database is locked"));
        let Failure::Told(told) = busy else { panic!("{busy:?}") };
        assert!(told.message.starts_with("another process"), "{told:?}");
    }

    #[test]
    fn details_stand_beside_the_rest_of_an_error() {
        let failure = Failure::invalid("bad", "mend it").with_details(serde_json::json!({"n": 1}));
        let Failure::Told(told) = failure else { panic!("{failure:?}") };
        let json = serde_json::to_string(&told).unwrap();
        assert_eq!(json, r#"{"code":"invalid","message":"bad","hint":"mend it","n":1}"#);
    }
}
