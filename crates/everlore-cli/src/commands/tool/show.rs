//! `everlore tool show`: all there is to know of a tool.

use clap::Args;
use everlore::{Tools, tools::Spec};
use serde_json::Value;

use crate::{
    failure::{Exit, Result},
    output::Output,
};

/// Show a tool: its description, its annotations and the schemas of input and answer
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The tool
    name: String,
}

impl ShowArgs {
    /// Shows it.
    pub(super) fn run(self, out: &mut Output) -> Result<Exit> {
        let tools = Tools::all();
        let spec = tools.spec(&self.name)?;
        if out.is_json() {
            out.json(spec)?;
        } else {
            let title = out.strong(spec.name);
            out.text(&described(spec, &title))?;
        }
        Ok(Exit::Done)
    }
}

fn described(spec: &Spec, title: &str) -> String {
    let Spec { description, set, annotations, .. } = spec;
    let annotations = serde_json::to_string(annotations).unwrap_or_default();
    let (input, output) = (pretty(&spec.input_schema), pretty(&spec.output_schema));
    format!(
        "{title} ({set}): {}\n\n{description}\n\nannotations: {annotations}\n\ninput: {input}\n\noutput: {output}\n",
        spec.title
    )
}

fn pretty(schema: &Value) -> String {
    // A schema of ours can always be written.
    serde_json::to_string_pretty(schema).unwrap_or_default()
}
