//! `everlore tool list`: the tools in a line each.

use clap::Args;
use everlore::{
    Tools,
    tools::{Spec, ToolSet},
};
use serde_json::json;

use crate::{
    failure::{Exit, Result},
    output::Output,
    words::{rendered, table},
};

/// List the tools: name, set and what each is for
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only those of this set; may be repeated
    #[arg(long, value_name = "SET", value_parser = ToolSet::ALL.map(ToolSet::as_str))]
    set: Vec<String>,
}

impl ListArgs {
    /// Lists them.
    pub(super) fn run(self, out: &mut Output) -> Result<Exit> {
        let sets = self.set.iter().map(|set| set.parse()).collect::<everlore::Result<Vec<_>>>()?;
        let tools = if sets.is_empty() { Tools::all() } else { Tools::of(&sets) };
        let specs: Vec<&Spec> = tools.specs().collect();
        if out.is_json() {
            out.json(&json!({ "tools": specs }))?;
        } else {
            let mut rows = table(&["tool", "set", "what it is for"]);
            for spec in &specs {
                rows.add_row([spec.name, spec.set.as_str(), first_line(spec)]);
            }
            out.text(&rendered(rows))?;
        }
        Ok(Exit::found(!specs.is_empty()))
    }
}

fn first_line(spec: &Spec) -> &str {
    spec.description.lines().next().unwrap_or_default()
}
