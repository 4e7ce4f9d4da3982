//! `everlore experience find`: finds experiences for an error or for words.

use clap::Args;
use everlore::engine::ExperienceQuery;
use serde_json::json;

use super::record;
use crate::{
    CliContext, Exit, Output, Result, input,
    messages::translate,
    render::{sanitize, truncate_width},
};

/// Width of a solution in the list.
const SOLUTION_CELLS: usize = 100;

/// Find what solved a problem before
///
/// The text is an argument or read from standard input. Experiences about the same failure come first, with a score
/// above 0.5; then those with similar words.
#[derive(Debug, Args)]
pub(crate) struct ExperienceFindArgs {
    /// The problem in words, or the error; without it, standard input is read
    text: Vec<String>,
    /// The text is an error as a program printed it: other failures are left out
    #[arg(long, value_name = "ERROR", num_args = 0..=1, default_missing_value = "")]
    error: Option<String>,
    /// The most experiences to print
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    limit: usize,
}

impl ExperienceFindArgs {
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let is_error = self.error.is_some();
        let given = self.error.into_iter().filter(|error| !error.is_empty());
        let words: Vec<String> = given.chain(self.text).collect();
        let text = input::query_or_stdin(&words, "experience find", out)?;
        let query = ExperienceQuery { text, is_error, limit: self.limit };
        let hits = cx.engine().await?.find_experiences(&cx.scope, &query).await?;
        let exit = Exit::from_found(!hits.is_empty());
        if out.is_json() {
            out.json(&json!({ "hits": hits }))?;
            return Ok(exit);
        }
        if hits.is_empty() {
            out.note("no experience is about this");
        }
        let ids: Vec<_> = hits.iter().map(|hit| hit.experience.id).collect();
        let short = cx.engine().await?.shorten_ids(&cx.scope, &ids).await?;
        for (hit, id) in hits.iter().zip(short) {
            let experience = &hit.experience;
            let relation = if hit.same { "same failure" } else { "similar words" };
            let (relation, record) = (translate(relation), record(experience));
            let (id, record) = (out.bold(&id), translate(&record));
            out.line(&format!("{id} {:.2} {relation}; {record}", hit.score))?;
            out.line(&format!(
                "  {}",
                truncate_width(&sanitize(&experience.pain), SOLUTION_CELLS)
            ))?;
            out.line(&format!(
                "  → {}",
                truncate_width(&sanitize(&experience.solution), SOLUTION_CELLS)
            ))?;
        }
        Ok(exit)
    }
}
