//! `changes`: statements that a newer one replaces, remembered one after the other.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::{
    quality::changes::{ChangePair, ChangeWay, count_superseded},
    table::render,
};

/// Measure which older statements a newer one supersedes, by the classifier and by rules alone
#[derive(clap::Args)]
pub(crate) struct ChangesArgs {
    /// Read the pairs from these files: label, older and newer statement, separated by tabs
    #[arg(long, value_name = "FILE", required = true)]
    file: Vec<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &ChangesArgs) -> Result<()> {
    let mut pairs = Vec::new();
    for path in &args.file {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        pairs.extend(text.lines().filter(|line| !line.is_empty()).map(str::to_owned));
    }
    let pairs: Vec<ChangePair<'_>> =
        pairs.iter().map(|line| parse_pair(line)).collect::<Result<_>>()?;
    let own = count_superseded(&pairs, ChangeWay::Classifier)?;
    let rules = count_superseded(&pairs, ChangeWay::Rules)?;
    if args.json {
        println!("{:#}", json!({ "classifier": own, "rules": rules }));
        return Ok(());
    }
    let rows = own.iter().map(|(label, figures)| {
        let shown = [figures.superseded, rules[label].superseded]
            .map(|superseded| format!("{superseded}/{}", figures.pairs));
        [vec![label.clone()], shown.to_vec()].concat()
    });
    println!("{}", render(&["superseded", "classifier", "rules alone"], &rows.collect::<Vec<_>>()));
    Ok(())
}

fn parse_pair(line: &str) -> Result<ChangePair<'_>> {
    match line.split('\t').collect::<Vec<_>>()[..] {
        [label, old, new] => Ok(ChangePair { label, old, new }),
        _ => bail!("a line needs a label, an older and a newer statement: {line}"),
    }
}
