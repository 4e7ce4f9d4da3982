//! `everlore recall calibrate`: fits how sure recall is to one's own memories (A1).

use everlore::engine::{Calibration, CalibrationMetrics};
use serde_json::json;

use crate::{
    calibration,
    cli_context::CliContext,
    error::{Exit, Result},
    output::Output,
    render::{new_table, pluralize, render_table},
};

/// Fits and keeps what was found, only shows it, or goes back to what is shipped.
pub(super) async fn run(
    dry_run: bool,
    reset: bool,
    cx: &CliContext,
    out: &mut Output,
) -> Result<Exit> {
    if reset {
        return run_reset(cx, out);
    }
    let found = cx.engine().await?.calibrate(&cx.scope).await?;
    let keeps = !dry_run;
    if keeps {
        // What does not improve anything also replaces what was kept before.
        let kept = found.improves.then(|| (found.tuning, cx.now().timestamp()));
        calibration::save_tuning(&cx.home, &cx.scope, kept)?;
    }
    if out.is_json() {
        out.json(&json!({ "calibration": found, "kept": keeps && found.improves }))?;
    } else {
        out.text(&render_calibration(&found, keeps))?;
    }
    Ok(Exit::Done)
}

fn run_reset(cx: &CliContext, out: &mut Output) -> Result<Exit> {
    let changed = calibration::save_tuning(&cx.home, &cx.scope, None)?;
    if out.is_json() {
        out.json(&json!({ "reset": changed }))?;
    } else {
        out.line(match changed {
            true => "recall is as sure as shipped again",
            false => "nothing was calibrated; recall is as sure as shipped",
        })?;
    }
    Ok(Exit::Done)
}

fn render_calibration(found: &Calibration, keeps: bool) -> String {
    let questions = pluralize(found.questions, "question", "questions");
    let memories = pluralize(found.memories, "memory", "memories");
    let mut numbers = new_table(&["", "told apart", "error", "own answered", "foreign silenced"]);
    let row = |name: &str, told: &CalibrationMetrics| {
        let shares = [told.answered, told.silenced].map(|share| format!("{:.0}%", share * 100.0));
        let [answered, silenced] = shares;
        [
            name.to_owned(),
            format!("{:.3}", told.auc),
            format!("{:.3}", told.brier),
            answered,
            silenced,
        ]
    };
    numbers.add_row(row("before", &found.before));
    numbers.add_row(row("after", &found.after));
    let end = match (found.improves, keeps) {
        (true, true) => {
            "kept for this agent and user; `everlore recall calibrate --reset` goes back"
        }
        (true, false) => "only tried; run it without --dry-run to keep it",
        (false, _) => "the shipped values are as good, so they stay",
    };
    format!(
        "{questions} made of {memories}, each put to the half it was made from and to the other\n{}\n{end}\n",
        render_table(numbers)
    )
}
