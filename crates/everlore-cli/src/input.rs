//! Text from arguments or from standard input.

use std::io::{self, BufRead, IsTerminal, Read};

use everlore::types::MAX_CONTENT_BYTES;

use crate::{
    error::{CliError, Result},
    output::Output,
};

/// A longer line is no turn: a memory has 4 MiB at most, which escapes can make six times as long.
const MAX_LINE_BYTES: usize = MAX_CONTENT_BYTES * 8;

/// The words of the arguments joined by blanks, or standard input if there are none or only `-`.
pub(crate) fn text_or_stdin(words: &[String], out: &mut Output) -> Result<String> {
    match words {
        [] => read_stdin(out),
        [only] if only == "-" => read_stdin(out),
        words => Ok(words.join(" ")),
    }
}

/// What is asked: the words of the arguments, or standard input where a long message comes from.
pub(crate) fn query_or_stdin(words: &[String], out: &mut Output) -> Result<String> {
    let asked = match words {
        [] if io::stdin().is_terminal() => String::new(),
        words => text_or_stdin(words, out)?,
    };
    if words.is_empty() && asked.trim().is_empty() {
        return Err(CliError::invalid(
            "there is no query",
            "give it as an argument or on standard input",
        ));
    }
    Ok(asked.trim().to_owned())
}

/// All of standard input.
fn read_stdin(out: &mut Output) -> Result<String> {
    if io::stdin().is_terminal() {
        out.note("type the text and end it with Ctrl-D on a line of its own");
    }
    let mut bytes = Vec::new();
    // One byte more than can be stored, so that a longer text is refused and not cut.
    let limit = MAX_CONTENT_BYTES as u64 + 1;
    io::stdin()
        .lock()
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| CliError::io("reading standard input", error))?;
    String::from_utf8(bytes).or_else(|error| cut_or_not_utf8(&error, limit))
}

/// A text that is too long may have been cut inside a character; the length is then what is wrong with it.
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

/// Lines of a stream with their numbers, none of them endless.
pub(crate) struct LineReader<R> {
    source: R,
    number: usize,
}

/// One line, or the failure to read it, with its number from 1.
pub(crate) struct NumberedLine {
    /// Its number.
    pub(crate) number: usize,
    /// Its bytes without the line break, unless there are too many.
    pub(crate) bytes: Result<Vec<u8>>,
}

impl<R: BufRead> LineReader<R> {
    /// The lines of a stream.
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
