//! `everlore experience list`: lists experiences.

use clap::Args;
use everlore::MemoryId;
use serde_json::json;

use crate::{
    CliContext, Exit, Output, Result,
    render::{new_table, render_list, sanitize, truncate_width},
    times::format_age,
};

/// Width of the columns of problem and solution.
const TEXT_CELLS: usize = 44;

/// List experiences, newest first
#[derive(Debug, Args)]
pub(crate) struct ExperienceListArgs {
    /// Also list those that stopped working
    #[arg(long)]
    retired: bool,
    /// The most experiences to list
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    limit: usize,
}

impl ExperienceListArgs {
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let experiences = engine.experiences(&cx.scope, self.limit, self.retired).await?;
        let exit = Exit::from_found(!experiences.is_empty());
        if out.is_json() {
            out.json(&json!({ "experiences": experiences }))?;
            return Ok(exit);
        }
        if experiences.is_empty() {
            out.note("no experience is recorded");
            return Ok(exit);
        }
        let ids: Vec<MemoryId> = experiences.iter().map(|experience| experience.id).collect();
        let short = engine.shorten_ids(&cx.scope, &ids).await?;
        let mut rows = new_table(&["id", "pain", "solution", "success", "uses", "age"]);
        for (experience, id) in experiences.iter().zip(short) {
            rows.add_row([
                id,
                truncate_width(&sanitize(&experience.pain), TEXT_CELLS),
                truncate_width(&sanitize(&experience.solution), TEXT_CELLS),
                format!("{:.0} %", experience.success * 100.0),
                experience.uses.to_string(),
                format_age(experience.at, &cx.now()),
            ]);
        }
        out.text(&render_list(rows))?;
        Ok(exit)
    }
}
