//! `changes`: statements that a later one ends, said in homes of one person each.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::json;

use crate::{
    quality::changes::{ChangeFigures, ChangeHome, ChangeWay, measure_changes},
    table::render,
};

/// Measure which stored statements a later one supersedes, by the classifier and by rules alone
#[derive(clap::Args)]
pub(crate) struct ChangesArgs {
    /// Read homes from these files: named statements, then what is said later with the names of what it ends
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    home: Vec<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &ChangesArgs) -> Result<()> {
    let homes: Vec<ChangeHome> = args.home.iter().map(read_home).collect::<Result<_>>()?;
    let own = measure_changes(&homes, ChangeWay::Classifier)?;
    let rules = measure_changes(&homes, ChangeWay::Rules)?;
    if args.json {
        println!("{:#}", json!({ "classifier": own, "rules": rules }));
    } else {
        println!("{}", render(&["", "classifier", "rules alone"], &rows(&own, &rules)));
    }
    Ok(())
}

fn read_home(path: &PathBuf) -> Result<ChangeHome> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    ChangeHome::parse(&text).with_context(|| path.display().to_string())
}

fn rows(own: &ChangeFigures, rules: &ChangeFigures) -> Vec<Vec<String>> {
    let row = |name: &str, part: fn(&ChangeFigures) -> (usize, usize)| {
        let shown = [own, rules].map(|figures| {
            let (count, of) = part(figures);
            format!("{count}/{of} ({:.1}%)", 100.0 * count as f64 / of.max(1) as f64)
        });
        [vec![name.to_owned()], shown.to_vec()].concat()
    };
    vec![
        row("ended, superseded", |it| (it.superseded, it.ended)),
        row("ended, superseded or marked", |it| (it.marked, it.ended)),
        row("saves that superseded what holds", |it| (it.wrongly_superseded, it.saves)),
        row("saves that marked what holds", |it| (it.wrongly_marked, it.saves)),
        row("ordinary saves that superseded", |it| (it.ordinary_wrong, it.ordinary_saves)),
    ]
}
