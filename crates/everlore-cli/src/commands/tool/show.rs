//! `everlore tool show`: description and schemas of a tool.

use clap::Args;
use everlore::{ToolRegistry, tools::ToolSpec};
use serde_json::Value;

use crate::{Exit, Output, Result};

/// Show a tool: its description, its annotations and the schemas of input and answer
#[derive(Debug, Args)]
pub(crate) struct ToolShowArgs {
    /// The tool
    name: String,
}

impl ToolShowArgs {
    /// Prints the tool.
    pub(super) fn run(self, out: &mut Output) -> Result<Exit> {
        let tools = ToolRegistry::all();
        let spec = tools.spec(&self.name)?;
        if out.is_json() {
            out.json(spec)?;
        } else {
            let title = out.bold(spec.name);
            out.text(&render_tool(spec, &title))?;
        }
        Ok(Exit::Done)
    }
}

fn render_tool(spec: &ToolSpec, title: &str) -> String {
    let ToolSpec { description, set, annotations, .. } = spec;
    let annotations = serde_json::to_string(annotations).unwrap_or_default();
    let (input, output) = (pretty_schema(&spec.input_schema), pretty_schema(&spec.output_schema));
    format!(
        "{title} ({set}): {}\n\n{description}\n\nannotations: {annotations}\n\ninput: {input}\n\noutput: {output}\n",
        spec.title
    )
}

fn pretty_schema(schema: &Value) -> String {
    // Serializing a JSON value cannot fail.
    serde_json::to_string_pretty(schema).unwrap_or_default()
}
