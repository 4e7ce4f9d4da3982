//! `everlore memory weight`: sets by hand what a memory is worth.

use clap::Args;

use crate::{
    cli_context::CliContext,
    error::{Exit, Result},
    ids,
    output::Output,
    render::{TITLE_CELLS, memory_title, truncate_width},
};

/// Set what a memory is worth; neither use nor time moves it then
#[derive(Debug, Args)]
pub(crate) struct MemoryWeightArgs {
    /// The memory
    id: String,
    /// The weight, from 0 to 10; 1 is where memories begin, and above 2 recall sees no difference
    #[arg(value_name = "NUMBER", required_unless_present = "reset", conflicts_with = "reset")]
    weight: Option<f64>,
    /// Let it begin anew at 1 and move with use and time
    #[arg(long)]
    reset: bool,
}

impl MemoryWeightArgs {
    /// Sets the weight and says what it is now.
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
        let how = if self.reset { "and moves with use and time" } else { "and stays so" };
        out.line(&format!("weighs {} {how}: {} {name}", memory.weight, out.bold(&id)))?;
        Ok(Exit::Done)
    }
}
