//! `retrieval`: recall, hit, reciprocal rank and gain on a data set with known answers.

use std::path::PathBuf;

use anyhow::{Result, bail};
use serde_json::{Map, Value, json};

use crate::{
    retrieval::{
        Candidate, baselines,
        data::DataSet,
        engine,
        metrics::{APART, Scores, Summary},
        run::{Report, run as measure},
    },
    table::{number, render},
};

/// Measure the quality of retrieval on a data set
///
/// Files are JSON Lines, for example ../shared/bench/locomo/corpus.jsonl and queries.jsonl.
#[derive(clap::Args)]
pub(crate) struct RetrievalArgs {
    /// The rows to store: id, scope, session, time, speaker, text
    #[arg(long)]
    corpus: PathBuf,
    /// The questions: id, scope, text, category, relevant
    #[arg(long)]
    queries: PathBuf,
    /// Rows to add to every scope
    #[arg(long)]
    noise: Option<PathBuf>,
    /// Ask only this many questions, spread over the file
    #[arg(long, value_name = "COUNT")]
    limit: Option<usize>,
    /// Measure the baselines too
    #[arg(long)]
    baselines: bool,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Measures and prints.
pub(crate) fn run(args: &RetrievalArgs) -> Result<()> {
    let mut set = DataSet::read(&args.corpus, &args.queries, args.noise.as_deref())?;
    if let Some(limit) = args.limit {
        set.thin(limit);
    }
    if set.queries.is_empty() {
        bail!("no question with an answer in {}", args.queries.display());
    }
    let chosen = candidates(args.baselines);
    let reports = chosen.into_iter().map(|c| measure(c, &set)).collect::<Result<Vec<_>>>()?;
    if args.json {
        println!("{:#}", to_json(&reports)?);
    } else {
        reports.iter().for_each(print);
    }
    Ok(())
}

/// The engine first.
fn candidates(with_baselines: bool) -> Vec<&'static Candidate> {
    let beside = if with_baselines { baselines::CANDIDATES } else { &[] };
    engine::CANDIDATES.iter().chain(beside).collect()
}

/// The first report at the top, the others beside it under `baselines`.
fn to_json(reports: &[Report]) -> Result<Value> {
    let Some((first, others)) = reports.split_first() else { return Ok(Value::Null) };
    let mut value = serde_json::to_value(first)?;
    let mut beside = Map::new();
    for report in others {
        beside.insert(report.retriever.to_owned(), serde_json::to_value(report)?);
    }
    if !beside.is_empty() {
        value["baselines"] = json!(beside);
    }
    Ok(value)
}

fn print(report: &Report) {
    let head =
        [report.retriever, "n", "recall@5", "recall@10", "recall@20", "hit@5", "mrr@10", "ndcg@10"];
    let judged = &report.judged;
    let mut rows = vec![row("overall", &judged.overall), error_row(&judged.standard_error)];
    for (category, summary) in &judged.by_category {
        let apart = if category == APART { " (apart)" } else { "" };
        rows.push(row(&format!("{category}{apart}"), summary));
    }
    println!("{}", render(&head, &rows));
    let (load, search) = (report.ms.load, report.ms.search);
    println!(
        "load {} ms; search p50 {} ms, p95 {} ms\n",
        number(load),
        number(search.p50),
        number(search.p95)
    );
}

fn row(name: &str, summary: &Summary) -> Vec<String> {
    let values = summary.mean.values().map(|value| format!("{:.1}", value * 100.0));
    [name.to_owned(), summary.n.to_string()].into_iter().chain(values).collect()
}

fn error_row(errors: &Scores) -> Vec<String> {
    let values = errors.values().map(|value| format!("±{:.1}", value * 100.0));
    ["standard error".to_owned(), String::new()].into_iter().chain(values).collect()
}
