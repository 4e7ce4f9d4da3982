//! What is seen while an answer comes: its text, the tools that are called, and at its end the figures.

use everlore::{
    chat::{ChatEvent, ChatReply},
    llm::TokenUsage,
};
use serde_json::Value;

use super::{markdown::MarkdownRenderer, messages::UiMessages};
use crate::{
    error::{CliError, Result},
    output::Output,
    render::{pluralize, sanitize, truncate_width},
};

/// The cells of a tool's input and answer that are shown.
const MAX_TOOL_CELLS: usize = 100;

/// Where an answer appears.
pub(super) struct ReplyPrinter<'a> {
    out: &'a mut Output,
    messages: UiMessages,
    /// How markdown is shown; none if text is printed as it comes.
    markdown: Option<MarkdownRenderer>,
    /// Whether somebody looks at it.
    is_live: bool,
    is_silent: bool,
    at_line_start: bool,
    write_error: Option<CliError>,
    recalled: usize,
}

impl<'a> ReplyPrinter<'a> {
    pub(super) fn new(out: &'a mut Output, messages: UiMessages, style: ReplyStyle) -> Self {
        let markdown = (style == ReplyStyle::Rendered).then(MarkdownRenderer::new);
        let (is_live, is_silent) = (
            matches!(style, ReplyStyle::Rendered | ReplyStyle::Plain),
            style == ReplyStyle::Silent,
        );
        Self {
            out,
            messages,
            markdown,
            is_live,
            is_silent,
            at_line_start: true,
            write_error: None,
            recalled: 0,
        }
    }

    /// Shows what happens. A reader that went away is noted and told at the end.
    pub(super) fn print_event(&mut self, event: &ChatEvent<'_>) {
        let shown = match event {
            ChatEvent::Text(text) => self.print_text(text),
            ChatEvent::Injected(injected) => {
                self.recalled = injected.memories.len();
                Ok(())
            }
            ChatEvent::Compacted(done) => self.print_aside(&self.messages.compacted(done)),
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
        if let Err(failure) = shown {
            self.write_error.get_or_insert(failure);
        }
    }

    /// Ends the answer's last line, and says how it ended.
    pub(super) fn finish(mut self, reply: &ChatReply) -> Result<()> {
        self.end_text()?;
        if let Some(failure) = self.write_error.take() {
            return Err(failure);
        }
        if reply.text.is_empty() && self.is_live {
            self.print_aside(self.messages.no_answer())?;
        }
        if let Some(told) = self.messages.ended(&reply.outcome).filter(|_| !self.is_silent) {
            self.out.note(&sanitize(&told));
        }
        if let Some(error) = &reply.store_error {
            let told = format!("error: the answer is not stored: {error}\nhint: {}", error.hint());
            self.out.note(&told);
        }
        let TokenUsage { read, written, .. } = reply.tokens;
        if self.is_live && read + written > 0 {
            let figures = usage_line(self.recalled, reply.tokens, self.messages);
            self.print_aside(&figures)?;
        }
        self.out.flush()
    }

    /// Ends what was shown of an answer that failed.
    pub(super) fn abort(mut self) -> Result<()> {
        self.end_text()
    }

    fn print_text(&mut self, text: &str) -> Result<()> {
        if self.is_silent {
            return Ok(());
        }
        let shown = match &mut self.markdown {
            Some(markdown) => markdown.push(text),
            None if self.is_live => sanitize(text).into_owned(),
            None => text.to_owned(),
        };
        if let Some(last) = text.chars().next_back() {
            self.at_line_start = last == '\n';
        }
        self.out.text(&shown)?;
        self.out.flush()
    }

    fn end_text(&mut self) -> Result<()> {
        match &mut self.markdown {
            Some(markdown) => {
                let rest = markdown.finish();
                self.out.text(&rest)?;
            }
            None if !self.at_line_start => self.out.text("\n")?,
            None => {}
        }
        self.at_line_start = true;
        self.out.flush()
    }

    /// A line beside the answer, for those who look at it.
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

/// How an answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyStyle {
    /// Markdown, for a terminal.
    Rendered,
    /// As it is, for a terminal.
    Plain,
    /// As it is, for a program.
    Raw,
    /// Not at all: the answer is told as a whole.
    Silent,
}

fn usage_line(memories: usize, tokens: TokenUsage, phrases: UiMessages) -> String {
    let TokenUsage { read, cached, written } = tokens;
    let chinese = phrases.choose("", "zh") == "zh";
    match chinese {
        false => format!(
            "  {} · {read} tokens read, {cached} cached, {written} written",
            pluralize(memories, "memory", "memories")
        ),
        true => format!("  {memories} 条记忆 · 读入 {read} token，缓存 {cached}，写出 {written}"),
    }
}

/// A tool's input in a few words.
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
