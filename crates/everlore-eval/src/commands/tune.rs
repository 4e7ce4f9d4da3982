//! `tune`: constants of ranking, chosen on some conversations and judged on others.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use everlore::config::RecallConfig;

use super::bench::{Set, sets};
use crate::{
    retrieval::tune::{Bench, KNOBS, Part, Search, knob},
    table::render,
};

/// Search constants of ranking by folds, and print held-out beside in-sample figures
///
/// The objective is the mean of recall@10 and ndcg@10 over all sets whose answers are ranked. Conversations are dealt into
/// folds; then each set is left out as a whole. Constants that win by a hair are no better than the ones there are.
#[derive(clap::Args)]
pub(crate) struct TuneArgs {
    /// The folder with a folder for each set
    #[arg(long, value_name = "DIR")]
    bench_dir: PathBuf,
    /// Into how many folds the conversations are dealt
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    folds: usize,
    /// How many random choices are tried before constants are changed one by one
    #[arg(long, value_name = "COUNT", default_value_t = 60)]
    tries: u64,
    /// Ask only this many questions of a set with noise, spread over the file: each takes a copy of the noise
    #[arg(long, value_name = "COUNT", default_value_t = 300)]
    limit: usize,
    /// Begin with another value than the default; may be given more than once
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Search nothing: print the figures of the beginning and what every value of each constant does to them
    #[arg(long)]
    curves: bool,
}

/// Searches and prints.
pub(crate) fn run(args: &TuneArgs) -> Result<()> {
    if args.folds < 2 {
        bail!("with fewer than two folds nothing is held back");
    }
    let sets = ranked(args)?;
    let benches = sets
        .iter()
        .map(|set| Bench::new(set.name.clone(), &set.data))
        .collect::<Result<Vec<_>>>()?;
    let mut search = Search::new(benches);
    let begin = beginning(&args.set)?;
    print_figures(&mut search, "beginning", &begin, Part::All)?;
    if args.curves { curves(&mut search, &begin) } else { folds(&mut search, &begin, args) }
}

/// The sets whose answers are ranked.
fn ranked(args: &TuneArgs) -> Result<Vec<Set>> {
    let mut sets = sets(&args.bench_dir)?;
    sets.retain(Set::is_ranked);
    if sets.is_empty() {
        bail!("no data set with ranked answers in {}", args.bench_dir.display());
    }
    let noisy = sets.iter_mut().filter(|set| !set.data.noise.is_empty());
    noisy.for_each(|set| set.data.thin(args.limit));
    Ok(sets)
}

/// The defaults with what was given.
fn beginning(given: &[String]) -> Result<RecallConfig> {
    given.iter().try_fold(RecallConfig::default(), |config, given| {
        let (name, value) =
            given.split_once('=').with_context(|| format!("`{given}` is not NAME=VALUE"))?;
        let value = value.parse().with_context(|| format!("`{value}` is no number"))?;
        Ok(knob(name)?.set(&config, value))
    })
}

fn curves(search: &mut Search<'_>, begin: &RecallConfig) -> Result<()> {
    for knob in KNOBS {
        let curve = search.curve(knob, begin)?;
        let points = curve.iter().map(|(value, worth)| format!("{value}: {:.2}", 100.0 * worth));
        println!("{} (now {}): {}", knob.name, knob.get(begin), points.collect::<Vec<_>>().join(", "));
    }
    Ok(())
}

fn folds(search: &mut Search<'_>, begin: &RecallConfig, args: &TuneArgs) -> Result<()> {
    let of = args.folds;
    let by_conversation = (0..of).map(|fold| (Part::AllBut { fold, of }, Part::Only { fold, of }));
    let by_set = (0..search.benches.len()).map(|set| (Part::Without(set), Part::Set(set)));
    for (seen, held_back) in by_conversation.chain(by_set).collect::<Vec<_>>() {
        let best = search.best(begin, seen, args.tries)?;
        println!("\nchosen on {seen:?}: {}", changes(begin, &best));
        for (name, config) in [("beginning", begin), ("chosen", &best)] {
            print_figures(search, &format!("{name}, seen"), config, seen)?;
            print_figures(search, &format!("{name}, held back"), config, held_back)?;
        }
    }
    let best = search.best(begin, Part::All, args.tries)?;
    println!("\nchosen on everything: {}", changes(begin, &best));
    print_figures(search, "in sample", &best, Part::All)
}

/// What was changed.
fn changes(begin: &RecallConfig, to: &RecallConfig) -> String {
    let changed = KNOBS.iter().filter(|knob| knob.get(begin) != knob.get(to));
    changed.map(|knob| format!("{}={}", knob.name, knob.get(to))).collect::<Vec<_>>().join(" ")
}

fn print_figures(
    search: &mut Search<'_>,
    name: &str,
    config: &RecallConfig,
    part: Part,
) -> Result<()> {
    let worth = search.worth(config, part)?;
    let figures = search.figures(config, part)?;
    let cells = figures
        .iter()
        .map(|set| format!("{:.2} / {:.2}", 100.0 * set.recall_10, 100.0 * set.ndcg_10));
    let row = [name.to_owned(), format!("{:.2}", 100.0 * worth)].into_iter().chain(cells).collect();
    let names = search.benches.iter().map(|bench| bench.name.as_str());
    let head: Vec<&str> = ["recall@10 / ndcg@10", "worth"].into_iter().chain(names).collect();
    println!("{}", render(&head, &[row]));
    Ok(())
}
