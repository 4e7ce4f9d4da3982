//! `extract`: precision and recall of rule-based extraction on hand-labelled statements.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::{
    quality::extraction::{Agreement, STATEMENTS, measure, parse_statements},
    table::render,
};

/// Measure rule-based extraction from plain statements
#[derive(clap::Args)]
pub(crate) struct ExtractArgs {
    /// Read the statements from this file instead of the built-in set
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// List every message on which rules and labels disagree
    #[arg(long)]
    verbose: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &ExtractArgs) -> Result<()> {
    let text = match &args.file {
        Some(path) => std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?,
        None => STATEMENTS.to_owned(),
    };
    let report = measure(&parse_statements(&text)?)?;
    if args.json {
        println!("{:#}", serde_json::to_value(&report)?);
        return Ok(());
    }
    let rows: Vec<_> = report.groups.iter().map(|(name, figures)| row(name, figures)).collect();
    let head = ["statements", "n", "negatives", "expected", "made", "right", "precision", "recall"];
    println!("{}", render(&head, &rows));
    if args.verbose {
        for miss in &report.disagreements {
            println!("\n{}", miss.message);
            println!("  made: {}", miss.made.join(" | "));
        }
    }
    Ok(())
}

fn row(name: &str, figures: &Agreement) -> Vec<String> {
    let counts =
        [figures.messages, figures.negatives, figures.expected, figures.made, figures.right];
    let shares = [figures.precision, figures.recall].map(|share| format!("{share:.3}"));
    let counts = counts.iter().map(ToString::to_string);
    [name.to_owned()].into_iter().chain(counts).chain(shares).collect()
}
