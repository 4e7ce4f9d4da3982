//! `everlore tool list`: one line per tool.

use clap::Args;
use everlore::{
    ToolRegistry,
    tools::{ToolSet, ToolSpec},
};
use serde_json::json;

use crate::{
    Exit, Output, Result,
    render::{new_table, render_table},
};

/// List the tools: name, set and what each is for
#[derive(Debug, Args)]
pub(crate) struct ToolListArgs {
    /// Only tools of this set; may be repeated
    #[arg(long, value_name = "SET", value_parser = ToolSet::ALL.map(ToolSet::as_str))]
    set: Vec<String>,
}

impl ToolListArgs {
    /// Lists the tools.
    pub(super) fn run(self, out: &mut Output) -> Result<Exit> {
        let sets = self.set.iter().map(|set| set.parse()).collect::<everlore::Result<Vec<_>>>()?;
        let tools =
            if sets.is_empty() { ToolRegistry::all() } else { ToolRegistry::for_sets(&sets) };
        let specs: Vec<&ToolSpec> = tools.specs().collect();
        if out.is_json() {
            out.json(&json!({ "tools": specs }))?;
        } else {
            let mut rows = new_table(&["tool", "set", "what it is for"]);
            for spec in &specs {
                rows.add_row([spec.name, spec.set.as_str(), first_line(spec)]);
            }
            out.text(&render_table(rows))?;
        }
        Ok(Exit::from_found(!specs.is_empty()))
    }
}

fn first_line(spec: &ToolSpec) -> &str {
    spec.description.lines().next().unwrap_or_default()
}
