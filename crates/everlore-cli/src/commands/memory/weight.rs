//! `everlore memory weight`: pins the weight of a memory.

use clap::Args;

use crate::{
    CliContext, Exit, Output, Result, ids,
    render::{TITLE_CELLS, memory_title, truncate_width},
};

/// Set the weight of a memory; neither use nor time changes it then
#[derive(Debug, Args)]
pub(crate) struct MemoryWeightArgs {
    /// The memory
    id: String,
    /// The weight, from 0 to 10; memories begin with 1, and above 2 recall sees no difference
    #[arg(value_name = "NUMBER", required_unless_present = "reset", conflicts_with = "reset")]
    weight: Option<f64>,
    /// Start again at 1, and change with use and time
    #[arg(long)]
    reset: bool,
}

impl MemoryWeightArgs {
    /// Sets the weight and prints it.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let id = engine.resolve(&cx.scope, &self.id).await?;
        let memory = engine.set_weight(&cx.scope, id, self.weight).await?;
        if out.is_json() {
            out.json(&memory)?;
            return Ok(Exit::Done);
        }
        let (id, name) = (
            ids::shorten_id(engine, &cx.scope, id).await?,
            truncate_width(&memory_title(&memory), TITLE_CELLS),
        );
        let pinned = if self.reset { "changes with use and time" } else { "pinned" };
        out.say(&format!("weight {} ({pinned}): {} {name}", memory.weight, out.bold(&id)))?;
        Ok(Exit::Done)
    }
}
