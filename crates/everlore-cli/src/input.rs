//! Text input: from arguments or standard input, as a whole or line by line.

use std::io::{self, BufRead, IsTerminal, Read};

use everlore::types::MAX_CONTENT_BYTES;

use crate::{CliError, Output, Result};

/// Longest input line: a memory has 4 MiB at most, which JSON escapes can make six times as long.
const MAX_LINE_BYTES: usize = MAX_CONTENT_BYTES * 8;

/// Joins the arguments with blanks; reads standard input if there are none or only `-`.
pub(crate) fn text_or_stdin(words: &[String], out: &mut Output) -> Result<String> {
    match words {
        [] => read_stdin(out),
        [only] if only == "-" => read_stdin(out),
        words => Ok(words.join(" ")),
    }
}

/// Returns the query of a command: the arguments, or standard input for long messages.
pub(crate) fn query_or_stdin(words: &[String], command: &str, out: &mut Output) -> Result<String> {
    let query = match words {
        [] if io::stdin().is_terminal() => String::new(),
        words => text_or_stdin(words, out)?,
    };
    if words.is_empty() && query.trim().is_empty() {
        return Err(CliError::invalid(
            "there is no query",
            format!("type `everlore {command} WORDS`, or give the words on standard input"),
        ));
    }
    Ok(query.trim().to_owned())
}

/// Reads all of standard input.
fn read_stdin(out: &mut Output) -> Result<String> {
    if io::stdin().is_terminal() {
        out.note("type the text and end it with Ctrl-D on a line of its own");
    }
    let mut bytes = Vec::new();
    // One byte more than can be stored, so that a longer text is rejected and not cut.
    let limit = MAX_CONTENT_BYTES as u64 + 1;
    io::stdin()
        .lock()
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| CliError::io("reading standard input", error))?;
    String::from_utf8(bytes).or_else(|error| cut_or_not_utf8(&error, limit))
}

/// Returns a text that the limit cut inside a character, so that its length is reported; rejects any other invalid
/// UTF-8.
fn cut_or_not_utf8(error: &std::string::FromUtf8Error, limit: u64) -> Result<String> {
    let bytes = error.as_bytes();
    if bytes.len() as u64 == limit && error.utf8_error().error_len().is_none() {
        return Ok(String::from_utf8_lossy(bytes).into_owned());
    }
    Err(CliError::invalid(
        format!("the text is not valid UTF-8 at byte {}", error.utf8_error().valid_up_to() + 1),
        "convert it first, for example with: iconv -t UTF-8",
    ))
}

/// Reader of numbered lines with a length limit.
pub(crate) struct LineReader<R> {
    source: R,
    number: usize,
}

/// Line of a stream.
pub(crate) struct NumberedLine {
    /// Line number, from 1.
    pub(crate) number: usize,
    /// Bytes without the line break; an error if the line is too long.
    pub(crate) bytes: Result<Vec<u8>>,
}

impl<R: BufRead> LineReader<R> {
    /// Reads lines from a stream.
    pub(crate) fn new(source: R) -> Self {
        Self { source, number: 0 }
    }

    /// Reads the next line; `None` at the end.
    pub(crate) fn next_line(&mut self) -> Result<Option<NumberedLine>> {
        let mut bytes = Vec::new();
        let failed = |error| CliError::io("reading standard input", error);
        let mut limited = self.source.by_ref().take(MAX_LINE_BYTES as u64);
        if limited.read_until(b'\n', &mut bytes).map_err(failed)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if bytes.len() == MAX_LINE_BYTES && !bytes.ends_with(b"\n") {
            self.source.skip_until(b'\n').map_err(failed)?;
            let bytes = Err(CliError::invalid(
                format!("the line is longer than {MAX_LINE_BYTES} bytes"),
                "split it into parts",
            ));
            return Ok(Some(NumberedLine { number: self.number, bytes }));
        }
        while bytes.last().is_some_and(|byte| [b'\n', b'\r'].contains(byte)) {
            bytes.pop();
        }
        Ok(Some(NumberedLine { number: self.number, bytes: Ok(bytes) }))
    }
}
