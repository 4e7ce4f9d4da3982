//! What is seen while an answer comes: its text, the tools that are called, and at its end the figures.

use everlore::{
    chat::{Event, Reply},
    llm::Tokens,
};
use serde_json::Value;

use super::{markdown::Markdown, phrases::Phrases};
use crate::{
    failure::{Failure, Result},
    output::Output,
    words::{count, cut, visible},
};

/// The cells of a tool's input and answer that are shown.
const TOOL_CELLS: usize = 100;

/// Where an answer appears.
pub(super) struct Screen<'a> {
    out: &'a mut Output,
    phrases: Phrases,
    /// How markdown is shown; none if text is printed as it comes.
    markdown: Option<Markdown>,
    /// Whether somebody looks at it.
    live: bool,
    silent: bool,
    at_line_start: bool,
    failure: Option<Failure>,
    recalled: usize,
}

impl<'a> Screen<'a> {
    pub(super) fn new(out: &'a mut Output, phrases: Phrases, style: Style) -> Self {
        let markdown = (style == Style::Rendered).then(Markdown::new);
        let (live, silent) =
            (matches!(style, Style::Rendered | Style::Plain), style == Style::Silent);
        Self {
            out,
            phrases,
            markdown,
            live,
            silent,
            at_line_start: true,
            failure: None,
            recalled: 0,
        }
    }

    /// Shows what happens. A reader that went away is noted and told at the end.
    pub(super) fn show(&mut self, event: &Event<'_>) {
        let shown = match event {
            Event::Text(text) => self.text(text),
            Event::Injected(injected) => {
                self.recalled = injected.memories.len();
                Ok(())
            }
            Event::Compacted(done) => self.aside(&self.phrases.compacted(done)),
            Event::Calling { name, arguments } => {
                let input = brief(arguments);
                self.aside(&format!("· {name} {input}"))
            }
            Event::Called { text, failed: true, .. } => {
                let line = visible(text.lines().next().unwrap_or_default()).into_owned();
                self.aside(&format!("  ✗ {}", cut(&line, TOOL_CELLS)))
            }
            _ => Ok(()),
        };
        if let Err(failure) = shown {
            self.failure.get_or_insert(failure);
        }
    }

    /// Ends the answer's last line, and says how it ended.
    pub(super) fn finish(mut self, reply: &Reply) -> Result<()> {
        self.end_text()?;
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if reply.text.is_empty() && self.live {
            self.aside(self.phrases.no_answer())?;
        }
        if let Some(told) = self.phrases.ended(&reply.ended).filter(|_| !self.silent) {
            self.out.note(&visible(&told));
        }
        if let Some(error) = &reply.not_stored {
            let told = format!("error: the answer is not stored: {error}\nhint: {}", error.hint());
            self.out.note(&told);
        }
        let Tokens { read, written, .. } = reply.tokens;
        if self.live && read + written > 0 {
            let figures = figures(self.recalled, reply.tokens, self.phrases);
            self.aside(&figures)?;
        }
        self.out.flush()
    }

    /// Ends what was shown of an answer that failed.
    pub(super) fn give_up(mut self) -> Result<()> {
        self.end_text()
    }

    fn text(&mut self, text: &str) -> Result<()> {
        if self.silent {
            return Ok(());
        }
        let shown = match &mut self.markdown {
            Some(markdown) => markdown.push(text),
            None if self.live => visible(text).into_owned(),
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
    fn aside(&mut self, line: &str) -> Result<()> {
        if !self.live {
            return Ok(());
        }
        self.end_text()?;
        let line = self.out.faint(&visible(line));
        self.out.line(&line)?;
        self.out.flush()
    }
}

/// How an answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Markdown, for a terminal.
    Rendered,
    /// As it is, for a terminal.
    Plain,
    /// As it is, for a program.
    Raw,
    /// Not at all: the answer is told as a whole.
    Silent,
}

fn figures(memories: usize, tokens: Tokens, phrases: Phrases) -> String {
    let Tokens { read, cached, written } = tokens;
    let chinese = phrases.choose("", "zh") == "zh";
    match chinese {
        false => format!(
            "  {} · {read} tokens read, {cached} cached, {written} written",
            count(memories, "memory", "memories")
        ),
        true => format!("  {memories} 条记忆 · 读入 {read} token，缓存 {cached}，写出 {written}"),
    }
}

/// A tool's input in a few words.
fn brief(arguments: &Value) -> String {
    let words: Vec<String> = match arguments {
        Value::Object(fields) => fields.values().map(in_words).collect(),
        other => vec![in_words(other)],
    };
    cut(&visible(&words.join(" ").replace('\n', " ")), TOOL_CELLS)
}

fn in_words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
