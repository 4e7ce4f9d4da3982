//! `tmd`, `updates` and `abstain`: qualities that a ranked list does not show.

use std::path::PathBuf;

use anyhow::Result;

use crate::{
    quality::{
        abstention::{self, AbstentionScores},
        periods::{self, SetScores},
        updates::{self, UpdateScores},
    },
    retrieval::data::DataSet,
    table::render,
};

/// Files of a data set
#[derive(clap::Args)]
pub(crate) struct DataFiles {
    /// Rows to store: id, scope, session, time, speaker, text, seq
    #[arg(long)]
    corpus: PathBuf,
    /// Queries: id, scope, text, category, relevant, time
    #[arg(long)]
    queries: PathBuf,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Measure precision and recall of questions for a period
#[derive(clap::Args)]
pub(crate) struct TmdArgs {
    #[command(flatten)]
    files: DataFiles,
    /// Use every wording of each question
    #[arg(long)]
    paraphrases: bool,
    /// Show this many of the worst wordings
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    worst: usize,
}

/// Measure how often the newest of several statements ranks first
#[derive(clap::Args)]
pub(crate) struct UpdatesArgs {
    #[command(flatten)]
    files: DataFiles,
    /// Extract memories from the turns first, as the end of a session does
    #[arg(long)]
    extract: bool,
    /// Show this many of the questions in which the newest does not rank first
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    worst: usize,
}

/// Measure how well recall abstains from questions that no memory answers
#[derive(clap::Args)]
pub(crate) struct AbstainArgs {
    #[command(flatten)]
    files: DataFiles,
}

impl DataFiles {
    fn read(&self) -> Result<DataSet> {
        DataSet::read(&self.corpus, &self.queries, None)
    }
}

/// Runs `tmd`.
pub(crate) fn run_tmd(args: &TmdArgs) -> Result<()> {
    let report = periods::measure(&args.files.read()?, args.paraphrases)?;
    if args.files.json {
        println!("{:#}", serde_json::to_value(&report)?);
        return Ok(());
    }
    let mut rows = vec![set_row("overall", &report.overall)];
    for (category, scores) in &report.by_category {
        let apart = if category == periods::EXCLUDED_CATEGORY { " (apart)" } else { "" };
        rows.push(set_row(&format!("{category}{apart}"), scores));
    }
    println!("{}", render(&["periods", "n", "f1", "precision", "recall", "macro f1"], &rows));
    for answered in
        report.worst.iter().filter(|a| a.category != periods::EXCLUDED_CATEGORY).take(args.worst)
    {
        let kind = if answered.asks_period { "period" } else { "no period" };
        println!("{:.2} {kind} [{}] {}", answered.scores.f1, answered.category, answered.text);
    }
    Ok(())
}

fn set_row(name: &str, scores: &SetScores) -> Vec<String> {
    let shares = [scores.f1, scores.precision, scores.recall, scores.macro_f1];
    [name.to_owned(), scores.n.to_string()].into_iter().chain(shares.map(percent)).collect()
}

/// Runs `updates`.
pub(crate) fn run_updates(args: &UpdatesArgs) -> Result<()> {
    let report = updates::measure(&args.files.read()?, args.extract)?;
    if args.files.json {
        println!("{:#}", serde_json::to_value(&report)?);
        return Ok(());
    }
    let row = |name: &str, shares: &UpdateScores| {
        let counts = [shares.n.to_string(), percent(shares.newest_first)];
        let all = [shares.asked.to_string(), percent(shares.found)];
        [name.to_owned()].into_iter().chain(counts).chain(all).collect::<Vec<_>>()
    };
    let mut rows = vec![row("overall", &report.overall)];
    rows.extend(report.by_category.iter().map(|(name, shares)| row(name, shares)));
    println!("{}", render(&["updates", "n", "newest first", "asked", "found"], &rows));
    if args.extract {
        println!("{} drafts extracted from the turns", report.drafts);
    }
    for missed in report.missed.iter().take(args.worst) {
        println!("{} wants {}, got {}", missed.text, missed.newest, missed.answer.join(" "));
    }
    Ok(())
}

/// Runs `abstain`.
pub(crate) fn run_abstain(args: &AbstainArgs) -> Result<()> {
    let report = abstention::measure(&args.files.read()?)?;
    if args.files.json {
        println!("{:#}", serde_json::to_value(&report)?);
        return Ok(());
    }
    let row = |name: &str, scores: &AbstentionScores| {
        let shares =
            [scores.own_answered, scores.foreign_silenced, scores.silenced_at_95].map(percent);
        let auc = [name.to_owned(), format!("{:.3}", scores.auc)];
        auc.into_iter().chain(shares).collect::<Vec<_>>()
    };
    let rows = vec![row("kept", &report.names_kept), row("removed", &report.names_removed)];
    let head = ["names", "auc", "own answered", "foreign silenced", "silenced at 95% answered"];
    println!("{}", render(&head, &rows));
    println!("{} questions, threshold {}", report.n, report.threshold);
    Ok(())
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}
