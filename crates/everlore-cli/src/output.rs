//! Printing, in one place: answers to standard output, everything else to standard error.

use std::{
    io::{self, BufWriter, IsTerminal, Stdout, Write},
    time::Duration,
};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use serde_json::json;

use crate::{
    error::{CliError, ErrorReport, Exit, Result},
    messages::{error_line, hint_line, translate},
    usage_error,
};

/// Interval at which a waiting sign moves.
const SIGN_INTERVAL: Duration = Duration::from_millis(120);

/// Use of colours.
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

/// Output of a command.
pub(crate) struct Output {
    json: bool,
    styled: bool,
    writer: BufWriter<Stdout>,
}

impl Output {
    /// Returns an output for people or, with `json`, for programs.
    pub(crate) fn new(json: bool, color: ColorChoice) -> Self {
        let styled = match color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => is_colored(&io::stdout()),
        };
        Self { json, styled, writer: BufWriter::new(io::stdout()) }
    }

    /// Returns `true` if the answer is JSON for programs.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints one value as one line of JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<()> {
        let line = serde_json::to_string(value)
            .map_err(|error| CliError::io("writing JSON", error.into()))?;
        self.line(&line)
    }

    /// Answers a program with `value` and people with a line of the program's own words.
    pub(crate) fn answer_line(&mut self, value: &impl Serialize, line: &str) -> Result<Exit> {
        let line = translate(line);
        self.answer_text(value, &format!("{line}\n"))
    }

    /// Answers a program with `value` and people with a text of the program's own words.
    pub(crate) fn answer_words(&mut self, value: &impl Serialize, text: &str) -> Result<Exit> {
        self.answer_text(value, &translate(text))
    }

    /// Answers a program with `value` and people with a text.
    pub(crate) fn answer_text(&mut self, value: &impl Serialize, text: &str) -> Result<Exit> {
        if self.json {
            self.json(value)?
        } else {
            self.text(text)?
        }
        Ok(Exit::Done)
    }

    /// Prints a line of the program's own words, in the chosen language.
    pub(crate) fn say(&mut self, line: &str) -> Result<()> {
        self.line(&translate(line))
    }

    /// Prints a text of the program's own words, in the chosen language, without adding a line break.
    pub(crate) fn say_text(&mut self, text: &str) -> Result<()> {
        self.text(&translate(text))
    }

    /// Prints one line as it is.
    pub(crate) fn line(&mut self, line: &str) -> Result<()> {
        check_write(writeln!(self.writer, "{line}"))
    }

    /// Prints a text as it is, without adding a line break.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        check_write(self.writer.write_all(text.as_bytes()))
    }

    /// Flushes standard output.
    pub(crate) fn flush(&mut self) -> Result<()> {
        check_write(self.writer.flush())
    }

    /// Returns `true` if standard output is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.writer.get_ref().is_terminal()
    }

    /// Returns `true` if colours are used.
    pub(crate) fn is_styled(&self) -> bool {
        self.styled
    }

    /// Returns the writer, for answers too long to hold in memory.
    pub(crate) fn writer_mut(&mut self) -> &mut (impl Write + Send + use<>) {
        &mut self.writer
    }

    /// Returns the text in bold.
    pub(crate) fn bold(&self, text: &str) -> String {
        self.style("1", text)
    }

    /// Returns the text dimmed.
    pub(crate) fn dim(&self, text: &str) -> String {
        self.style("2", text)
    }

    fn style(&self, code: &str, text: &str) -> String {
        if self.styled { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Prints a note on standard error, in the chosen language; it is not part of the answer.
    pub(crate) fn note(&mut self, note: &str) {
        // Earlier output comes first. A closed standard error is ignored.
        let _ = self.writer.flush();
        let _ = writeln!(io::stderr(), "{}", translate(note));
    }

    /// Prints an error with its hint on standard error.
    pub(crate) fn note_error(&mut self, report: &ErrorReport) {
        let _ = self.writer.flush();
        let (error, hint) = (error_line(&report.message), hint_line(&report.hint));
        let _ = writeln!(io::stderr(), "{error}\n{hint}");
    }

    /// Asks on the terminal; anything but a yes is a no.
    pub(crate) fn confirm(&mut self, question: &str) -> Result<bool> {
        self.flush()?;
        let _ = write!(io::stderr(), "{} [y/N] ", translate(question));
        let _ = io::stderr().flush();
        let mut answer = String::new();
        io::stdin()
            .read_line(&mut answer)
            .map_err(|error| CliError::io("reading the answer", error))?;
        Ok(["y", "yes", "是"].contains(&answer.trim().to_lowercase().as_str()))
    }

    /// Shows a progress bar, on a terminal only; without a `total`, only a counter.
    pub(crate) fn progress(&self, message: &str, total: Option<usize>) -> ProgressBar {
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
        bar.set_message(translate(message).into_owned());
        bar
    }

    /// Shows a sign that something is being waited for and for how long, on a terminal only.
    pub(crate) fn waiting_sign(&self, message: &str) -> ProgressBar {
        let sign = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed}") {
            sign.set_style(style);
        }
        sign.set_message(message.to_owned());
        sign.enable_steady_tick(SIGN_INTERVAL);
        sign
    }

    /// Prints the error of a command, if any, and returns its exit.
    pub(crate) fn finish(mut self, outcome: Result<Exit>) -> Exit {
        let outcome = outcome.and_then(|exit| self.flush().map(|()| exit));
        match outcome {
            Ok(exit) => exit,
            Err(CliError::BrokenPipe) => Exit::Done,
            Err(CliError::Reported(report)) => {
                if self.json {
                    // If even this cannot be printed, the exit code remains.
                    let _ = self.json(&json!({ "error": report })).and_then(|()| self.flush());
                } else {
                    self.note_error(&report);
                }
                Exit::Failed
            }
        }
    }
}

/// Returns the width of the terminal on standard output; `None` if it is none.
pub(crate) fn terminal_width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
    Some(usize::from(width.0)).filter(|width| *width > 0)
}

/// Prints help or a usage error and returns the exit.
pub(crate) fn print_usage(usage: &clap::Error, words: &[String], as_json: bool) -> Exit {
    if !usage.use_stderr() {
        // A broken pipe is no failure.
        let _ = write!(io::stdout(), "{}", usage_error::rendered(usage, is_colored(&io::stdout())));
        return Exit::Done;
    }
    if as_json {
        let _ = writeln!(io::stdout(), "{}", usage_error::for_programs(usage, words));
    } else {
        let text = usage_error::for_people(usage, words, is_colored(&io::stderr()));
        let _ = write!(io::stderr(), "{text}");
    }
    Exit::Failed
}

fn is_colored(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn check_write(result: io::Result<()>) -> Result<()> {
    result.map_err(|error| CliError::io("writing the answer", error))
}
