//! `tune`: searches ranking constants on some conversations and scores them on others.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use everlore::config::RecallConfig;

use super::bench::{NamedDataSet, read_sets};
use crate::{
    retrieval::tune::{ConstantSearch, KNOBS, QuestionSplit, TuneSet, find_knob, worth},
    table::render,
};

/// Search ranking constants by folds, and print held-out beside in-sample figures
///
/// The objective is the mean of recall@10 and ndcg@10 over all sets whose answers are ranked. Conversations are dealt
/// into folds; then each set is left out as a whole. Constants that win by a hair are no better than the ones there
/// are.
#[derive(clap::Args)]
pub(crate) struct TuneArgs {
    /// Folder with a folder for each set
    #[arg(long, value_name = "DIR")]
    bench_dir: PathBuf,
    /// Folds of the conversations
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    folds: usize,
    /// Random configurations to try before constants are changed one by one
    #[arg(long, value_name = "COUNT", default_value_t = 60)]
    tries: u64,
    /// Use only this many queries of each set, evenly spaced over the file
    #[arg(long, value_name = "COUNT", default_value_t = 300)]
    limit: usize,
    /// Start from another value than the default; may be given more than once
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Search only this constant; may be given more than once
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Search nothing: print the figures of the start and those of every value of each constant
    #[arg(long)]
    curves: bool,
}

/// Runs the command.
pub(crate) fn run(args: &TuneArgs) -> Result<()> {
    if args.folds < 2 {
        bail!("with fewer than two folds nothing is held back");
    }
    let sets = ranked_sets(args)?;
    let benches = sets
        .iter()
        .map(|set| TuneSet::new(set.name.clone(), &set.data))
        .collect::<Result<Vec<_>>>()?;
    let mut search = ConstantSearch::new(benches);
    search.restrict_to(&args.only)?;
    let begin = initial_config(&args.set)?;
    let rows = [row(&mut search, "beginning", &begin, QuestionSplit::All)?];
    print(&search, &rows);
    if args.curves { curves(&mut search, &begin) } else { folds(&mut search, &begin, args) }
}

/// Reads the sets with ranked answers.
fn ranked_sets(args: &TuneArgs) -> Result<Vec<NamedDataSet>> {
    let mut sets = read_sets(&args.bench_dir)?;
    sets.retain(NamedDataSet::is_ranked);
    if sets.is_empty() {
        bail!("no data set with ranked answers in {}", args.bench_dir.display());
    }
    sets.iter_mut().for_each(|set| set.data.sample_queries(args.limit));
    Ok(sets)
}

/// Returns the default constants with the given changes.
fn initial_config(given: &[String]) -> Result<RecallConfig> {
    given.iter().try_fold(RecallConfig::default(), |config, given| {
        let (name, value) =
            given.split_once('=').with_context(|| format!("`{given}` is not NAME=VALUE"))?;
        let value = value.parse().with_context(|| format!("`{value}` is no number"))?;
        Ok(find_knob(name)?.set(&config, value))
    })
}

fn curves(search: &mut ConstantSearch<'_>, begin: &RecallConfig) -> Result<()> {
    for knob in search.knobs.clone() {
        let row = |value: &f64| {
            row(search, &value.to_string(), &knob.set(begin, *value), QuestionSplit::All)
        };
        let rows = knob.values.iter().map(row).collect::<Result<Vec<_>>>()?;
        println!("\n{} (now {})\n", knob.name, knob.get(begin));
        print(search, &rows);
    }
    Ok(())
}

fn folds(search: &mut ConstantSearch<'_>, begin: &RecallConfig, args: &TuneArgs) -> Result<()> {
    let of = args.folds;
    let by_conversation =
        (0..of).map(|fold| (QuestionSplit::AllBut { fold, of }, QuestionSplit::Only { fold, of }));
    let by_set =
        (0..search.sets.len()).map(|set| (QuestionSplit::Without(set), QuestionSplit::Set(set)));
    for (seen, held_back) in by_conversation.chain(by_set).collect::<Vec<_>>() {
        let best = search.best(begin, seen, args.tries)?;
        println!("\nchosen on {seen:?}: {}\n", changes(begin, &best));
        let rows = [
            row(search, "beginning, seen", begin, seen)?,
            row(search, "chosen, seen", &best, seen)?,
            row(search, "beginning, held back", begin, held_back)?,
            row(search, "chosen, held back", &best, held_back)?,
        ];
        print(search, &rows);
    }
    let best = search.best(begin, QuestionSplit::All, args.tries)?;
    println!("\nchosen on everything: {}\n", changes(begin, &best));
    let rows = [row(search, "chosen, in sample", &best, QuestionSplit::All)?];
    print(search, &rows);
    Ok(())
}

/// Renders the constants that differ.
fn changes(begin: &RecallConfig, to: &RecallConfig) -> String {
    let changed = KNOBS.iter().filter(|knob| knob.get(begin) != knob.get(to));
    let changed: Vec<_> = changed.map(|knob| format!("{}={}", knob.name, knob.get(to))).collect();
    if changed.is_empty() { "nothing better than the beginning".into() } else { changed.join(" ") }
}

/// Renders the figures of a configuration on the sets of a split.
fn row(
    search: &mut ConstantSearch<'_>,
    name: &str,
    config: &RecallConfig,
    split: QuestionSplit,
) -> Result<Vec<String>> {
    let percent = |share: f64| format!("{:.2}", 100.0 * share);
    let figures = search.figures(config, split)?;
    let mut row = vec![name.to_owned(), percent(worth(&figures))];
    row.extend(figures.iter().map(|set| match set {
        Some(set) => format!("{} / {}", percent(set.recall_10), percent(set.ndcg_10)),
        None => "-".to_owned(),
    }));
    Ok(row)
}

fn print(search: &ConstantSearch<'_>, rows: &[Vec<String>]) {
    let names = search.sets.iter().map(|bench| bench.name.as_str());
    let head: Vec<&str> = ["recall@10 / ndcg@10", "mean"].into_iter().chain(names).collect();
    println!("{}", render(&head, rows));
}
