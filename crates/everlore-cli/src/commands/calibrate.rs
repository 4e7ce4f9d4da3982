//! `everlore recall calibrate`: fits the confidence of recall to the user's own memories.

use everlore::engine::{Calibration, CalibrationMetrics};
use serde_json::json;

use crate::{
    CliContext, Exit, Output, Result, calibration,
    messages::translate,
    render::{new_table, pluralize, render_table},
};

/// Calibrates and saves the result, only shows it, or goes back to the shipped confidence.
pub(super) async fn run(
    dry_run: bool,
    reset: bool,
    cx: &CliContext,
    out: &mut Output,
) -> Result<Exit> {
    if reset {
        return run_reset(cx, out);
    }
    let result = cx.engine().await?.calibrate(&cx.scope).await?;
    let saves = !dry_run;
    if saves {
        // A result without improvement removes an earlier calibration.
        let tuning = result.is_change().then(|| (result.tuning, cx.now().timestamp()));
        calibration::save_tuning(&cx.home, &cx.scope, tuning)?;
    }
    out.answer_words(
        &json!({ "calibration": result, "kept": saves && result.is_change() }),
        &render_calibration(&result, saves),
    )
}

fn run_reset(cx: &CliContext, out: &mut Output) -> Result<Exit> {
    let changed = calibration::save_tuning(&cx.home, &cx.scope, None)?;
    out.answer_line(
        &json!({ "reset": changed }),
        if changed {
            "recall uses the shipped confidence again"
        } else {
            "nothing was calibrated; recall uses the shipped confidence"
        },
    )
}

fn render_calibration(result: &Calibration, saves: bool) -> String {
    let questions = pluralize(result.questions, "question", "questions");
    let memories = pluralize(result.memories, "memory", "memories");
    let mut table =
        new_table(&["", "AUC", "Brier score", "answerable answered", "unanswerable silent"]);
    let row = |name: &str, metrics: &CalibrationMetrics| {
        let percent = |share: f64| format!("{:.0}%", share * 100.0);
        [
            name.to_owned(),
            format!("{:.3}", metrics.auc),
            format!("{:.3}", metrics.brier),
            percent(metrics.answered),
            percent(metrics.silenced),
        ]
    };
    table.add_row(row(&translate("before"), &result.before));
    table.add_row(row(&translate("after"), &result.after));
    let end = match (result.improves, saves) {
        (true, true) => {
            "saved for this agent and user; `everlore recall calibrate --reset` goes back"
        }
        (true, false) => "not saved; run it without --dry-run to save it",
        (false, _) => "the shipped values are as good, so they stay",
    };
    format!(
        "{questions} made from {memories}; each was asked of the half it was made from, and of the other half\n{}\n{end}\n",
        render_table(table)
    )
}
