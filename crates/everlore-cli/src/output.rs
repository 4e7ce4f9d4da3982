//! The only place that prints: answers to standard output, everything else to standard error.

use std::{
    io::{self, BufWriter, IsTerminal, Stdout, Write},
    process::ExitCode,
};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use serde_json::json;

use crate::error::{CliError, Exit, Result};

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Where a command's answer goes.
pub(crate) struct Output {
    json: bool,
    styled: bool,
    writer: BufWriter<Stdout>,
}

impl Output {
    /// Prints answers for people or, with `json`, for programs.
    pub(crate) fn new(json: bool, color: ColorChoice) -> Self {
        let styled = match color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                io::stdout().is_terminal()
                    && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        };
        Self { json, styled, writer: BufWriter::new(io::stdout()) }
    }

    /// Whether the answer is for programs.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints one value as one line of JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<()> {
        let line = serde_json::to_string(value)
            .map_err(|error| CliError::io("writing JSON", error.into()))?;
        self.line(&line)
    }

    /// Prints one line.
    pub(crate) fn line(&mut self, line: &str) -> Result<()> {
        check_write(writeln!(self.writer, "{line}"))
    }

    /// Prints a text that ends with a line break of its own, or needs none.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        check_write(self.writer.write_all(text.as_bytes()))
    }

    /// Sends what was printed on its way.
    pub(crate) fn flush(&mut self) -> Result<()> {
        check_write(self.writer.flush())
    }

    /// Whether somebody looks at the answer.
    pub(crate) fn is_terminal(&self) -> bool {
        self.writer.get_ref().is_terminal()
    }

    /// Whether colours are used.
    pub(crate) fn is_styled(&self) -> bool {
        self.styled
    }

    /// Where to write what is too long to hold.
    pub(crate) fn writer_mut(&mut self) -> &mut (impl Write + Send + use<>) {
        &mut self.writer
    }

    /// What stands out.
    pub(crate) fn bold(&self, text: &str) -> String {
        self.style("1", text)
    }

    /// What stands back.
    pub(crate) fn dim(&self, text: &str) -> String {
        self.style("2", text)
    }

    fn style(&self, code: &str, text: &str) -> String {
        if self.styled { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Tells something that is not part of the answer.
    pub(crate) fn note(&mut self, note: &str) {
        // What went before comes first; nothing can be done about a standard error that is closed.
        let _ = self.writer.flush();
        let _ = writeln!(io::stderr(), "{note}");
    }

    /// Asks for a yes on the terminal; anything else is a no.
    pub(crate) fn confirm(&mut self, question: &str) -> Result<bool> {
        self.flush()?;
        let _ = write!(io::stderr(), "{question} [y/N] ");
        let _ = io::stderr().flush();
        let mut answer = String::new();
        io::stdin()
            .read_line(&mut answer)
            .map_err(|error| CliError::io("reading the answer", error))?;
        Ok(["y", "yes", "是"].contains(&answer.trim().to_lowercase().as_str()))
    }

    /// Shows that long work goes on, on a terminal only. Without a `total`, only how much is done.
    pub(crate) fn progress(&self, what: &str, total: Option<usize>) -> ProgressBar {
        let target =
            if self.json { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(total.map(|total| total as u64), target);
        let template = match total {
            Some(_) => "{msg} {wide_bar} {human_pos} of {human_len}, {eta} left",
            None => "{msg} {human_pos}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        bar
    }

    /// Tells how the command ended and gives its exit code.
    pub(crate) fn finish(mut self, outcome: Result<Exit>) -> Exit {
        let outcome = outcome.and_then(|exit| self.flush().map(|()| exit));
        match outcome {
            Ok(exit) => exit,
            Err(CliError::BrokenPipe) => Exit::Done,
            Err(CliError::Reported(told)) => {
                if self.json {
                    // If even this cannot be told, the exit code still tells.
                    let _ = self.json(&json!({ "error": told })).and_then(|()| self.flush());
                } else {
                    self.note(&format!("error: {}\nhint: {}", told.message, told.hint));
                }
                Exit::Failed
            }
        }
    }
}

/// Answers arguments that could not be understood, and requests for help.
pub(crate) fn print_usage(usage: &clap::Error, as_json: bool) -> ExitCode {
    if !usage.use_stderr() {
        // Help that nobody reads any more is no failure.
        let _ = usage.print();
        return ExitCode::SUCCESS;
    }
    if as_json {
        let rendered = usage.render().to_string();
        let message = rendered.lines().next().unwrap_or_default();
        let message = message.strip_prefix("error: ").unwrap_or(message);
        let hint = "see `everlore --help`, or `everlore COMMAND --help`";
        let error = json!({ "error": { "code": "usage", "message": message, "hint": hint } });
        let _ = writeln!(io::stdout(), "{error}");
    } else {
        let _ = usage.print();
    }
    Exit::Failed.into()
}

fn check_write(result: io::Result<()>) -> Result<()> {
    result.map_err(|error| CliError::io("writing the answer", error))
}
