//! `everlore layer list`, `show` and `path`.

use clap::Args;
use everlore::{
    engine::Layer,
    internal::files::{layers::fit_to_budget, sections::MarkdownSections},
};
use serde_json::json;

use super::{LayerTargetArgs, fill_bar};
use crate::{
    CliContext, Exit, Output, Result,
    messages::translate,
    render::{new_table, pluralize, render_table, sanitize},
};

/// List the files with their size and sections
#[derive(Debug, Args)]
pub(crate) struct LayerListArgs {}

/// Print a file, or one section of it
#[derive(Debug, Args)]
pub(crate) struct LayerShowArgs {
    #[command(flatten)]
    which: LayerTargetArgs,
    /// Only this section
    section: Option<String>,
    /// Print what goes into the prompt: a file over its budget is cut at its end
    #[arg(long, conflicts_with = "section")]
    injected: bool,
}

/// Print the path of a file
#[derive(Debug, Args)]
pub(crate) struct LayerPathArgs {
    #[command(flatten)]
    which: LayerTargetArgs,
}

impl LayerListArgs {
    /// Lists all four layers.
    pub(super) fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let (layers, today) = (cx.layers(), cx.now().date());
        let mut all = Vec::new();
        for layer in Layer::ALL {
            all.push(layers.read(layer, today)?);
        }
        if out.is_json() {
            out.json(&json!({ "layers": all }))?;
            return Ok(Exit::Done);
        }
        let mut rows = new_table(&["layer", "used", "sections", "file"]);
        for layer in &all {
            let link = layer.link_to.as_ref().map(|to| format!(" → {}", to.display()));
            let path = format!("{}{}", layer.path.display(), link.unwrap_or_default());
            let sections = layer.sections.len().to_string();
            let used = translate(&fill_bar(layer)).into_owned();
            rows.add_row([layer.layer.to_string(), used, sections, path]);
        }
        out.text(&render_table(rows))?;
        Ok(Exit::Done)
    }
}

impl LayerShowArgs {
    /// Prints the text.
    pub(super) fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let layer = cx.layers().read(self.which.layer, self.which.resolve_day(cx)?)?;
        let text = match &self.section {
            Some(title) => MarkdownSections::parse(&layer.text).expect(title)?.text.to_owned(),
            None if self.injected => fit_to_budget(&layer.text, layer.usage.budget).text,
            None => layer.text.clone(),
        };
        let found = Exit::from_found(!text.trim().is_empty());
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
            out.note(&format!("{} is empty or does not exist yet", layer.path.display()));
            return Ok(found);
        }
        out.line(sanitize(text.trim_end()).trim_start_matches('\u{feff}'))?;
        let sections = pluralize(layer.sections.len(), "section", "sections");
        out.note(&format!("{}, {sections}", fill_bar(&layer)));
        Ok(found)
    }
}

impl LayerPathArgs {
    /// Prints the path.
    pub(super) fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let path = cx.layers().path(self.which.layer, self.which.resolve_day(cx)?);
        out.answer_line(
            &json!({ "path": path, "exists": path.exists() }),
            &path.display().to_string(),
        )
    }
}
