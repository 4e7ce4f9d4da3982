//! `everlore layer list`, `show` and `path`: what the files say and where they are.

use clap::Args;
use everlore::files::{
    layers::{Layer, view},
    sections::Sections,
};
use serde_json::json;

use super::{Which, bar};
use crate::{
    context::Context,
    failure::{Exit, Result},
    output::Output,
    words::{count, rendered, table, visible},
};

/// List the files, how full they are and their sections
#[derive(Debug, Args)]
pub(crate) struct ListArgs {}

/// Print a file, or one section of it
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    which: Which,
    /// Only this section
    section: Option<String>,
    /// Print what reaches the prompt: a file over its budget is cut at its end
    #[arg(long, conflicts_with = "section")]
    injected: bool,
}

/// Print where a file is
#[derive(Debug, Args)]
pub(crate) struct PathArgs {
    #[command(flatten)]
    which: Which,
}

impl ListArgs {
    /// Lists all four, readable or not.
    pub(super) fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let (layers, today) = (cx.layers(), cx.now().date());
        let mut all = Vec::new();
        for layer in Layer::ALL {
            all.push(layers.read(layer, today)?);
        }
        let filled = all.iter().any(|layer| !layer.text.is_empty());
        if out.is_json() {
            out.json(&json!({ "layers": all }))?;
            return Ok(Exit::found(filled));
        }
        let mut rows = table(&["layer", "used", "sections", "file"]);
        for layer in &all {
            let link = layer.link_to.as_ref().map(|to| format!(" → {}", to.display()));
            let path = format!("{}{}", layer.path.display(), link.unwrap_or_default());
            let sections = layer.sections.len().to_string();
            rows.add_row([layer.layer.to_string(), bar(layer), sections, path]);
        }
        out.text(&rendered(rows))?;
        Ok(Exit::found(filled))
    }
}

impl ShowArgs {
    /// Prints the text as it is.
    pub(super) fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let layer = cx.layers().read(self.which.layer, self.which.day(cx)?)?;
        let text = match &self.section {
            Some(title) => Sections::of(&layer.text).expect(title)?.text.to_owned(),
            None if self.injected => view(&layer.text, layer.usage.budget).text,
            None => layer.text.clone(),
        };
        let found = Exit::found(!text.trim().is_empty());
        if out.is_json() {
            out.json(&json!({
                "layer": layer.layer,
                "path": layer.path,
                "text": text,
                "usage": layer.usage,
                "sections": layer.sections,
            }))?;
            return Ok(found);
        }
        if text.trim().is_empty() {
            out.note(&format!("{} is empty or not there yet", layer.path.display()));
            return Ok(found);
        }
        out.line(visible(text.trim_end()).trim_start_matches('\u{feff}'))?;
        let sections = count(layer.sections.len(), "section", "sections");
        out.note(&format!("{}, {sections}", bar(&layer)));
        Ok(found)
    }
}

impl PathArgs {
    /// Prints the path, and where it leads if it is a link.
    pub(super) fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let path = cx.layers().path(self.which.layer, self.which.day(cx)?);
        if out.is_json() {
            out.json(&json!({ "path": path, "exists": path.exists() }))?;
        } else {
            out.line(&path.display().to_string())?;
        }
        Ok(Exit::Done)
    }
}
