//! `injection`: what reaches the prompt.

use std::path::{Path, PathBuf};

use anyhow::Result;
use everlore::{Config, llm::LocalModel};
use serde_json::{Map, Value, json};

use crate::{
    quality::injection::{
        InjectionFigures, InjectionModels, InjectionOutcome, InjectionReport, InjectionSetup,
        measure, measure_rivals, report,
    },
    retrieval::data::DataSet,
    table::render,
};

/// Measure what reaches the prompt: relevant memories in the block, noise, silence, beside rivals
///
/// Files are JSON Lines of the form of ../shared/bench/everyday_en: rows with kind, queries with relevant, optional and
/// stale ids; the category `none` is for messages that need no memory.
#[derive(clap::Args)]
pub(crate) struct InjectionArgs {
    /// Rows to store: id, scope, session, time, speaker, kind, text
    #[arg(long)]
    corpus: PathBuf,
    /// Messages: id, scope, text, category, relevant, optional, stale, time
    #[arg(long)]
    queries: PathBuf,
    /// Add the local model in this folder, to recall and as a rival
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// Leave out the built-in encoder
    #[arg(long, conflicts_with = "model")]
    table_only: bool,
    /// Change a setting, such as recall.floor=0; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Show the messages that miss a relevant memory, and those without need of memory that get one
    #[arg(long, conflicts_with = "json")]
    wrong: bool,
    /// Write the gate's inputs and the signals of the first hits to this file, one message a line
    #[arg(long, value_name = "FILE")]
    features: Option<PathBuf>,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Columns of the tables.
const HEAD: [&str; 11] =
    ["", "n", "injected", "any", "noise", "tokens", "silent", "stale", "r@1", "r@5", "r@10"];

/// Runs the command.
pub(crate) fn run(args: &InjectionArgs) -> Result<()> {
    let set = DataSet::read_all(&args.corpus, &args.queries)?;
    let model = args.model.as_deref().map(LocalModel::read).transpose()?;
    let models = match &model {
        Some(model) => InjectionModels::Local(model),
        None if args.table_only => InjectionModels::TableOnly,
        None => InjectionModels::Builtin,
    };
    let (config, _) = Config::parse(&args.settings.join("\n"))?;
    let outcomes = measure(&set, &InjectionSetup { models, config })?;
    if let Some(path) = &args.features {
        write_features(path, &outcomes)?;
    }
    let rivals = measure_rivals(&set, model.as_ref())?;
    let rivals: Vec<_> = rivals.iter().map(|(name, all)| (*name, report(all))).collect();
    let own = report(&outcomes);
    if args.json {
        println!("{:#}", to_json(&own, &rivals)?);
        return Ok(());
    }
    print(&own, &rivals);
    let missed = outcomes.iter().filter(|_| args.wrong).filter(|outcome| {
        let is_in = |id: &String| outcome.injected.iter().any(|(injected, _)| injected == id);
        if outcome.query.relevant.is_empty() {
            !outcome.injected.is_empty()
        } else {
            !outcome.query.relevant.iter().all(is_in)
        }
    });
    for outcome in missed {
        let ids: Vec<&str> = outcome.injected.iter().map(|(id, _)| id.as_str()).collect();
        let query = &outcome.query;
        println!(
            "{} [{}] {} -> {ids:?}, wanted {:?}",
            query.id, query.category, query.text, query.relevant
        );
    }
    Ok(())
}

/// Writes the inputs of the gate and the signals of the first hits.
fn write_features(path: &Path, outcomes: &[InjectionOutcome]) -> Result<()> {
    let mut lines = String::new();
    for outcome in outcomes {
        let (query, Some(recall)) = (&outcome.query, &outcome.recall) else { continue };
        let hits: Vec<Value> = recall.hits.iter().zip(&outcome.ranked).map(|(hit, row)| {
            let memory = &hit.memory;
            json!({"row": row, "relevant": query.relevant.contains(row), "optional": query.optional.contains(row),
                "stale": query.stale.contains(row), "kind": memory.kind, "role": memory.source.role,
                "chars": memory.content.chars().count(), "score": hit.score, "signals": hit.signals,
                "factors": hit.factors, "newer": hit.newer.is_some()})
        }).collect();
        let line = json!({"id": query.id, "category": query.category, "scope": query.scope, "text": query.text,
            "home": outcome.home_size, "relevant": query.relevant.len(), "evidence": recall.judgement.evidence,
            "basis": recall.judgement.basis, "confidence": recall.confidence, "need": recall.intent.need, "hits": hits});
        lines.push_str(&format!("{line}\n"));
    }
    Ok(std::fs::write(path, lines)?)
}

fn to_json(own: &InjectionReport, rivals: &[(&str, InjectionReport)]) -> Result<Value> {
    let mut value = serde_json::to_value(own)?;
    let rivals =
        rivals.iter().map(|(name, report)| Ok(((*name).into(), serde_json::to_value(report)?)));
    value["rivals"] = json!(rivals.collect::<Result<Map<String, Value>>>()?);
    Ok(value)
}

fn print(own: &InjectionReport, rivals: &[(&str, InjectionReport)]) {
    let mut rows = vec![row("everlore", &own.overall)];
    rows.extend(rivals.iter().map(|(name, report)| row(name, &report.overall)));
    println!("{}", render(&HEAD, &rows));
    let categories = own.by_category.iter().map(|(name, figures)| row(name, figures));
    println!("{}", render(&HEAD, &categories.collect::<Vec<_>>()));
    let sizes = own.by_size.iter().map(|(size, figures)| row(&format!("{size} memories"), figures));
    println!("{}", render(&HEAD, &sizes.collect::<Vec<_>>()));
}

fn row(name: &str, figures: &InjectionFigures) -> Vec<String> {
    let percent =
        |share: Option<f64>| share.map_or("–".into(), |share| format!("{:.1}", 100.0 * share));
    let plain = |value: Option<f64>, digits: usize| {
        value.map_or("–".into(), |value| format!("{value:.digits$}"))
    };
    vec![
        name.into(),
        figures.n.to_string(),
        percent(figures.injected),
        percent(figures.injected_any),
        plain(figures.noise, 2),
        plain(figures.tokens, 0),
        percent(figures.silent),
        plain(figures.stale, 2),
        percent(figures.recall_1),
        percent(figures.recall_5),
        percent(figures.recall_10),
    ]
}
