//! Errors of calls, as Python gets them.

use everlore::Error;
use everlore_cli::HomeError;

/// Code, message and advice.
pub(crate) type CallError = (String, String, String);

/// Returns an error of the engine.
pub(crate) fn engine_error(error: &Error) -> CallError {
    (error.code().to_owned(), error.to_string(), error.hint().to_owned())
}

/// Returns the reason why a home cannot be opened.
pub(crate) fn home_error(HomeError { code, message, hint }: HomeError) -> CallError {
    (code.to_owned(), message, hint)
}

/// Returns the error of a call after the end.
pub(crate) fn closed() -> CallError {
    refusal("closed", "the memory is closed")
}

/// Returns the error of a handle in a child process that `fork` made.
pub(crate) fn forked() -> CallError {
    refusal("forked", "the memory was opened in the parent process")
}

fn refusal(code: &str, message: &str) -> CallError {
    (code.to_owned(), message.to_owned(), "open it with Memory.open()".to_owned())
}
