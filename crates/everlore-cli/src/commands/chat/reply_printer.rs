//! Printing of a streamed answer: its text, the tool calls, and token counts at the end.

use everlore::{
    chat::{ChatEvent, ChatReply},
    engine::DueReminder,
    llm::TokenUsage,
};
use indicatif::ProgressBar;
use serde_json::Value;

use super::{markdown::MarkdownRenderer, messages::UiMessages, word_wrap::WrappedText};
use crate::{
    CliError, Output, Result,
    output::terminal_width,
    render::{pluralize, sanitize, truncate_width},
};

/// Width of a tool's input and answer.
const MAX_TOOL_CELLS: usize = 100;

/// Printer of one answer.
pub(super) struct ReplyPrinter<'a> {
    out: &'a mut Output,
    messages: UiMessages,
    /// Markdown renderer; `None` prints the text as it is.
    markdown: Option<MarkdownRenderer>,
    /// Word wrap of a text that is not rendered, on a terminal.
    plain: Option<WrappedText>,
    /// Sign that the answer is being waited for.
    waiting: Option<ProgressBar>,
    /// `true` on a terminal.
    is_live: bool,
    is_silent: bool,
    at_line_start: bool,
    write_error: Option<CliError>,
    recalled: usize,
}

impl<'a> ReplyPrinter<'a> {
    pub(super) fn new(out: &'a mut Output, messages: UiMessages, style: ReplyStyle) -> Self {
        let width = terminal_width();
        let markdown = (style == ReplyStyle::Rendered).then(|| MarkdownRenderer::new(width));
        let plain = (style == ReplyStyle::Plain).then(|| WrappedText::new(width));
        let (is_live, is_silent) = (
            matches!(style, ReplyStyle::Rendered | ReplyStyle::Plain),
            style == ReplyStyle::Silent,
        );
        Self {
            out,
            messages,
            markdown,
            plain,
            waiting: None,
            is_live,
            is_silent,
            at_line_start: true,
            write_error: None,
            recalled: 0,
        }
    }

    /// Shows that the answer is being waited for, on a terminal.
    pub(super) fn wait(&mut self) {
        if self.is_live && self.waiting.is_none() {
            self.waiting = Some(self.out.waiting_sign(self.messages.waiting()));
        }
    }

    fn end_wait(&mut self) {
        if let Some(sign) = self.waiting.take() {
            sign.finish_and_clear();
        }
    }

    /// Prints an event. A write error is returned by [`Self::finish`].
    pub(super) fn print_event(&mut self, event: &ChatEvent<'_>) {
        self.end_wait();
        let printed = match event {
            ChatEvent::Text(text) => self.print_text(text),
            ChatEvent::Injected(injected) => {
                self.recalled = injected.memories.len();
                Ok(())
            }
            ChatEvent::Reminders(due) => self.print_reminders(due),
            ChatEvent::Compacted(report) => self.print_aside(&self.messages.compacted(report)),
            ChatEvent::WithoutTools { model } => {
                self.out.note(&self.messages.without_tools(model));
                Ok(())
            }
            ChatEvent::ToolStarted { name, arguments } => {
                let input = summarize_arguments(arguments);
                self.print_aside(&format!("· {name} {input}"))
            }
            ChatEvent::ToolFinished { text, failed: true, .. } => {
                let line = sanitize(text.lines().next().unwrap_or_default()).into_owned();
                self.print_aside(&format!("  ✗ {}", truncate_width(&line, MAX_TOOL_CELLS)))
            }
            _ => Ok(()),
        };
        if let Err(error) = printed {
            self.write_error.get_or_insert(error);
        }
        if !matches!(event, ChatEvent::Text(_)) {
            self.wait();
        }
    }

    /// Ends the last line, and prints the outcome and token counts.
    pub(super) fn finish(mut self, reply: &ChatReply) -> Result<()> {
        self.end_wait();
        self.end_text()?;
        if let Some(error) = self.write_error.take() {
            return Err(error);
        }
        if reply.text.is_empty() && self.is_live {
            self.print_aside(self.messages.no_answer())?;
        }
        if let Some(note) = self.messages.ended(&reply.outcome).filter(|_| !self.is_silent) {
            self.out.note(&sanitize(&note));
        }
        if let Some(error) = &reply.store_error {
            let note = format!("error: the answer is not stored: {error}\nhint: {}", error.hint());
            self.out.note(&note);
        }
        let TokenUsage { read, written, .. } = reply.tokens;
        if self.is_live && read + written > 0 {
            let usage = usage_line(self.recalled, reply.tokens, self.messages);
            self.print_aside(&usage)?;
        }
        self.out.flush()
    }

    /// Ends the text of a failed answer.
    pub(super) fn abort(mut self) -> Result<()> {
        self.end_wait();
        self.end_text()
    }

    fn print_reminders(&mut self, due: &[DueReminder]) -> Result<()> {
        if self.is_silent {
            return Ok(());
        }
        for reminder in due {
            let line = self.messages.reminder(&reminder.line(self.messages.is_chinese()));
            self.out.note(&sanitize(&line));
        }
        Ok(())
    }

    fn print_text(&mut self, text: &str) -> Result<()> {
        if self.is_silent {
            return Ok(());
        }
        let rendered = match (&mut self.markdown, &mut self.plain) {
            (Some(markdown), _) => markdown.push(text),
            (None, Some(plain)) => {
                plain.push_str(&sanitize(text));
                plain.take()
            }
            (None, None) => text.to_owned(),
        };
        if let Some(last) = text.chars().next_back() {
            self.at_line_start = last == '\n';
        }
        self.out.text(&rendered)?;
        self.out.flush()
    }

    fn end_text(&mut self) -> Result<()> {
        if let Some(markdown) = &mut self.markdown {
            let rest = markdown.finish();
            self.out.text(&rest)?;
        } else {
            let rest = self.plain.as_mut().map(WrappedText::finish).unwrap_or_default();
            let end = if self.at_line_start { "" } else { "\n" };
            if let Some(plain) = &mut self.plain {
                *plain = WrappedText::new(terminal_width());
            }
            self.out.text(&format!("{rest}{end}"))?;
        }
        self.at_line_start = true;
        self.out.flush()
    }

    /// Prints a dimmed line beside the answer, on a terminal only.
    fn print_aside(&mut self, line: &str) -> Result<()> {
        if !self.is_live {
            return Ok(());
        }
        self.end_text()?;
        let line = self.out.dim(&sanitize(line));
        self.out.line(&line)?;
        self.out.flush()
    }
}

/// Style of a printed answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyStyle {
    /// Rendered markdown, for a terminal.
    Rendered,
    /// Unrendered text, for a terminal.
    Plain,
    /// Unrendered text, for a program.
    Raw,
    /// Nothing: the caller prints the complete answer as JSON.
    Silent,
}

fn usage_line(memories: usize, tokens: TokenUsage, messages: UiMessages) -> String {
    let TokenUsage { read, cached, written } = tokens;
    if messages.is_chinese() {
        format!("  {memories} 条记忆 · 读入 {read} token，缓存 {cached}，写出 {written}")
    } else {
        format!(
            "  {} · {read} tokens read, {cached} cached, {written} written",
            pluralize(memories, "memory", "memories")
        )
    }
}

/// Shortens a tool's input to one line.
fn summarize_arguments(arguments: &Value) -> String {
    let words: Vec<String> = match arguments {
        Value::Object(fields) => fields.values().map(value_text).collect(),
        other => vec![value_text(other)],
    };
    truncate_width(&sanitize(&words.join(" ").replace('\n', " ")), MAX_TOOL_CELLS)
}

fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
