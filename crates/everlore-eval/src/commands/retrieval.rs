//! `retrieval`: ranking metrics on a data set with known answers.

use std::path::PathBuf;

use anyhow::{Result, bail};
use everlore::llm::LocalModel;
use serde_json::{Map, Value, json};

use crate::{
    retrieval::{
        Retriever, RetrieverSpec, baselines,
        compare::{self, RunDifference},
        data::DataSet,
        engine::{self, EngineRetriever, LocalModelUse},
        metrics::{EXCLUDED_CATEGORY, RankingScores, ScoreSummary},
        run::{RetrievalReport, run as measure, run_with},
    },
    table::{number, render},
};

/// Measure retrieval quality on a data set
///
/// Files are JSON Lines, for example ../shared/bench/locomo/corpus.jsonl and queries.jsonl.
#[derive(clap::Args)]
pub(crate) struct RetrievalArgs {
    /// Rows to store: id, scope, session, time, speaker, text
    #[arg(long)]
    corpus: PathBuf,
    /// Queries: id, scope, text, category, relevant
    #[arg(long)]
    queries: PathBuf,
    /// Rows to add to every scope
    #[arg(long)]
    noise: Option<PathBuf>,
    /// Use only this many queries, evenly spaced over the file
    #[arg(long, value_name = "COUNT")]
    limit: Option<usize>,
    /// Measure the baselines too
    #[arg(long)]
    baselines: bool,
    /// Save the scores of every query in this file
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Compare with the run saved in this file, query by query
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Rerank with the model in this folder
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// Leave out the built-in encoder
    #[arg(long, conflicts_with = "model")]
    table_only: bool,
    /// Use the model as embedder instead
    #[arg(long, requires = "model")]
    pooled: bool,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &RetrievalArgs) -> Result<()> {
    let mut set = DataSet::read(&args.corpus, &args.queries, args.noise.as_deref())?;
    if let Some(limit) = args.limit {
        set.sample_queries(limit);
    }
    if set.queries.is_empty() {
        bail!("no question with an answer in this data set");
    }
    let local = local_model_use(args)?;
    let chosen = retrievers(args.baselines);
    let mut reports = chosen.into_iter().map(|c| measure(c, &set)).collect::<Result<Vec<_>>>()?;
    if !matches!(local, LocalModelUse::None) {
        let make =
            || Ok(Box::new(EngineRetriever::with_local_model(&local)?) as Box<dyn Retriever>);
        reports.insert(0, run_with("everlore with a model", &make, &set)?);
    }
    let differences = differences(&reports[0], args)?;
    if args.json {
        let mut value = to_json(&reports)?;
        if let Some(differences) = differences {
            value["against"] = serde_json::to_value(differences)?;
        }
        println!("{value:#}");
    } else {
        reports.iter().for_each(print);
        print_differences(&differences.unwrap_or_default());
    }
    Ok(())
}

/// Reads the local model that the options name.
fn local_model_use(args: &RetrievalArgs) -> Result<LocalModelUse> {
    let Some(folder) = &args.model else {
        return Ok(if args.table_only { LocalModelUse::TableOnly } else { LocalModelUse::None });
    };
    let model = LocalModel::read(folder)?;
    Ok(if args.pooled { LocalModelUse::Embedder(model) } else { LocalModelUse::Reranker(model) })
}

/// Compares with a saved run, then saves this one: it may replace that file.
fn differences(
    report: &RetrievalReport,
    args: &RetrievalArgs,
) -> Result<Option<Vec<RunDifference>>> {
    let other = args.against.as_deref().map(compare::read).transpose()?;
    let differences = other.map(|other| compare::compare(&report.answers, &other)).transpose()?;
    if let Some(path) = &args.save {
        compare::save(path, &report.answers)?;
    }
    Ok(differences)
}

fn print_differences(differences: &[RunDifference]) {
    if differences.is_empty() {
        return;
    }
    let percent = |value: f64| format!("{:+.2}", value * 100.0);
    let rows: Vec<_> = differences
        .iter()
        .map(|difference| {
            let interval = format!("{} to {}", percent(difference.low), percent(difference.high));
            let name = difference.measure.to_owned();
            vec![name, percent(difference.mean), interval, format!("{:.3}", difference.not_better)]
        })
        .collect();
    println!("{}", render(&["against the saved run", "points", "95%", "not better"], &rows));
}

/// Returns the retrievers to measure, the engine first.
fn retrievers(with_baselines: bool) -> Vec<&'static RetrieverSpec> {
    let baselines = if with_baselines { baselines::RETRIEVERS } else { &[] };
    engine::RETRIEVERS.iter().chain(baselines).collect()
}

/// Renders the first report at the top level and the others under `baselines`.
fn to_json(reports: &[RetrievalReport]) -> Result<Value> {
    let Some((first, others)) = reports.split_first() else { return Ok(Value::Null) };
    let mut value = serde_json::to_value(first)?;
    let mut baselines = Map::new();
    for report in others {
        baselines.insert(report.retriever.to_owned(), serde_json::to_value(report)?);
    }
    if !baselines.is_empty() {
        value["baselines"] = json!(baselines);
    }
    Ok(value)
}

fn print(report: &RetrievalReport) {
    let head =
        [report.retriever, "n", "recall@5", "recall@10", "recall@20", "hit@5", "mrr@10", "ndcg@10"];
    let judged = &report.judged;
    let mut rows = vec![row("overall", &judged.overall), error_row(&judged.standard_error)];
    for (category, summary) in &judged.by_category {
        let apart = if category == EXCLUDED_CATEGORY { " (apart)" } else { "" };
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

fn row(name: &str, summary: &ScoreSummary) -> Vec<String> {
    let values = summary.mean.values().map(|value| format!("{:.1}", value * 100.0));
    [name.to_owned(), summary.n.to_string()].into_iter().chain(values).collect()
}

fn error_row(errors: &RankingScores) -> Vec<String> {
    let values = errors.values().map(|value| format!("±{:.1}", value * 100.0));
    ["standard error".to_owned(), String::new()].into_iter().chain(values).collect()
}
