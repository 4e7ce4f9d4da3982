//! `everlore ledger`: the cost of background work, and its caps.

use clap::Args;
use everlore::{engine::LedgerReport, store::ModelSpend};

use crate::{
    CliContext, Exit, Output, Result,
    messages::translate,
    render::{new_table, pluralize, render_table},
};

/// Show the cost of background work: tokens, time and money by day and job
///
/// Costs follow the prices in the section [memory_agent.budget] of the settings. Above the daily cap, background work
/// continues by rules, without a model.
#[derive(Debug, Args)]
pub(crate) struct LedgerArgs {
    /// Number of days to show, including today
    #[arg(long, value_name = "NUMBER", default_value_t = 30)]
    days: u32,
}

impl LedgerArgs {
    /// Prints the ledger.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let report = cx.engine().await?.ledger(&cx.scope, self.days).await?;
        out.answer_words(&report, &render_ledger(&report))
    }
}

fn render_ledger(report: &LedgerReport) -> String {
    let mut text = String::new();
    if report.spending.is_empty() {
        text += "nothing was spent\n";
    } else {
        let mut rows = new_table(&["day", "job", "calls", "read", "written", "time", "cost"]);
        for line in &report.spending {
            rows.add_row(row_cells(&line.day.to_string(), &line.job, &line.spend));
        }
        rows.add_row(row_cells(&translate("all"), "", &report.total));
        text += &render_table(rows);
    }
    let (today, next, allowance) = (&report.today, &report.next, &report.allowance);
    let left = |left: &Option<u64>| left.map_or("no cap".to_owned(), |left| format!("{left} left"));
    text += &format!(
        "today    {} and {:.4} by all agents and users ({}; {})\n",
        pluralize(today.tokens() as usize, "token", "tokens"),
        today.cost,
        left(&allowance.tokens_left),
        allowance.cost_left.map_or("no cap of cost".to_owned(), |left| format!("{left:.4} left")),
    );
    if let Some(reason) = &allowance.reason {
        text += &format!("         {reason}\n");
    }
    text += &format!(
        "next     an extraction of {} would read about {} tokens, write up to {} and cost about {:.4}\n",
        pluralize(next.turns, "turn", "turns"),
        next.read,
        next.written,
        next.cost
    );
    text
}

fn row_cells(day: &str, job: &str, spend: &ModelSpend) -> [String; 7] {
    [
        day.to_owned(),
        job.to_owned(),
        spend.calls.to_string(),
        spend.read.to_string(),
        spend.written.to_string(),
        format!("{:.1} s", spend.millis as f64 / 1_000.0),
        format!("{:.4}", spend.cost),
    ]
}
