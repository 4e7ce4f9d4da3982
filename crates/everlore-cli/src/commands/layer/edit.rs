//! `everlore layer add`, `replace`, `remove` and `edit`.

use std::{
    fs,
    io::{self, IsTerminal, Write},
};

use clap::Args;
use everlore::engine::{LayerChange, LayerEdit};

use super::{LayerTargetArgs, by_person, fill_bar};
use crate::{
    CliContext, CliError, Exit, Output, Result,
    cli_context::private_file,
    editor,
    input::{self, LineReader},
};

/// Add a text to a section, which is created if it does not exist
#[derive(Debug, Args)]
pub(crate) struct LayerAddArgs {
    #[command(flatten)]
    which: LayerTargetArgs,
    /// The title of the section
    section: String,
    /// The text; standard input if left out
    text: Vec<String>,
    /// Add each line of standard input separately, as it arrives
    #[arg(long, conflicts_with = "text")]
    lines: bool,
}

/// Replace a text that occurs once in a section
#[derive(Debug, Args)]
pub(crate) struct LayerReplaceArgs {
    #[command(flatten)]
    which: LayerTargetArgs,
    /// The title of the section
    section: String,
    /// The exact text to replace
    old: String,
    /// The new text; if left out, the old text is removed
    #[arg(default_value = "")]
    new: String,
}

/// Remove a section
#[derive(Debug, Args)]
pub(crate) struct LayerRemoveArgs {
    #[command(flatten)]
    which: LayerTargetArgs,
    /// The title of the section
    section: String,
}

/// Open a file in $EDITOR
#[derive(Debug, Args)]
pub(crate) struct LayerEditArgs {
    #[command(flatten)]
    which: LayerTargetArgs,
}

impl LayerAddArgs {
    /// Adds the text, or line by line.
    pub(super) fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        if !self.lines {
            let content = input::text_or_stdin(&self.text, out)?;
            let section = self.section;
            return apply_edit(&self.which, &LayerEdit::Add { section, content }, cx, out);
        }
        let mut lines = LineReader::new(io::stdin().lock());
        while let Some(line) = lines.next_line()? {
            let content = String::from_utf8(line.bytes?).map_err(|_| {
                CliError::invalid(
                    format!("line {} is not valid UTF-8", line.number),
                    "convert it first, for example with: iconv -t UTF-8",
                )
            })?;
            if !content.trim().is_empty() {
                let section = self.section.clone();
                apply_edit(&self.which, &LayerEdit::Add { section, content }, cx, out)?;
                out.flush()?;
            }
        }
        Ok(Exit::Done)
    }
}

impl LayerReplaceArgs {
    /// Replaces the text.
    pub(super) fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let Self { which, section, old, new } = self;
        apply_edit(&which, &LayerEdit::Replace { section, old, new }, cx, out)
    }
}

impl LayerRemoveArgs {
    /// Removes the section.
    pub(super) fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        apply_edit(&self.which, &LayerEdit::Remove { section: self.section }, cx, out)
    }
}

impl LayerEditArgs {
    /// Opens the file in the editor; a text that cannot be saved is kept as a draft in the home.
    pub(super) fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        if !io::stdin().is_terminal() {
            return Err(CliError::invalid(
                "an editor needs a terminal",
                "use `everlore layer add`, `replace` or `remove`, or edit the file itself",
            ));
        }
        let before = cx.layers().read(self.which.layer, self.which.resolve_day(cx)?)?.text;
        let Some(text) = editor::edit_text(&before)? else {
            out.note("nothing was changed");
            return Ok(Exit::Done);
        };
        let edit = LayerEdit::Write { before, text: text.clone() };
        let saved = apply_edit(&self.which, &edit, cx, out);
        saved.map_err(|error| self.rescue_text(cx, &text, error))
    }

    /// Saves the edited text as a draft and adds its path to the hint.
    fn rescue_text(&self, cx: &CliContext, text: &str, error: CliError) -> CliError {
        let path = cx.home.join(format!("draft-{}.md", self.which.layer));
        let file = private_file().create(true).truncate(true).open(&path);
        match file.and_then(|mut file| file.write_all(text.as_bytes())) {
            Ok(()) => error.with_hint(format!("your text was saved in {}", path.display())),
            Err(_) => {
                // An incomplete draft is worse than none.
                let _ = fs::remove_file(&path);
                error
            }
        }
    }
}

fn apply_edit(
    which: &LayerTargetArgs,
    edit: &LayerEdit,
    cx: &CliContext,
    out: &mut Output,
) -> Result<Exit> {
    let day = which.resolve_day(cx)?;
    let change = cx.layers().edit_day(which.layer, day, edit, &by_person(cx))?;
    print_change(&change, out)
}

/// Prints the change and the new size of the file.
pub(super) fn print_change(change: &LayerChange, out: &mut Output) -> Result<Exit> {
    if out.is_json() {
        out.json(change)?;
        return Ok(Exit::Done);
    }
    match change.change {
        Some(number) => out.say(&format!(
            "changed: {} (#{number}), {}",
            change.layer.path.display(),
            fill_bar(&change.layer)
        ))?,
        None => out.note("nothing was changed"),
    }
    if let Some(note) = &change.note {
        out.note(&format!("note: {note}"));
    }
    if let Some(target) = &change.layer.link_to {
        out.note(&format!("note: the file is a link; {} was changed", target.display()));
    }
    Ok(Exit::Done)
}
