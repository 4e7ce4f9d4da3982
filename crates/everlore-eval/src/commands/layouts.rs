//! `layouts`: three layouts of the lexical index, measured on the same corpus.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::json;

use crate::{
    corpus::{Corpus, ScopeClass},
    layouts::{
        Kind,
        measure::{Effort, Measured, measure},
    },
    table::{number, render},
    timing::{SampleStats, sync_ms},
};

/// Measure three layouts of the lexical index
#[derive(clap::Args)]
pub(crate) struct LayoutsArgs {
    /// How many memories the corpus has; several totals are measured one after the other
    #[arg(long, value_delimiter = ',', default_value = "100000")]
    total: Vec<u32>,
    /// The layouts to measure: rows, fts, segments
    #[arg(long, value_delimiter = ',', default_value = "rows,fts,segments")]
    only: Vec<Kind>,
    /// Queries measured in each class of scopes
    #[arg(long, default_value_t = 200)]
    queries: u32,
    /// Stop loading a layout after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 180.0)]
    max_load_seconds: f64,
    /// Where the databases are made; the system's temporary folder if not given
    #[arg(long)]
    folder: Option<PathBuf>,
    /// The number the corpus grows from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Measures and prints.
pub(crate) fn run(args: &LayoutsArgs) -> Result<()> {
    let base = args.folder.clone().unwrap_or_else(std::env::temp_dir);
    let folder = tempfile::tempdir_in(base)?;
    let effort = Effort { queries: args.queries, max_load_seconds: args.max_load_seconds };
    let sync = sync_ms(folder.path())?;
    let mut all = Vec::new();
    for &total in &args.total {
        let corpus = Corpus::new(total, args.seed);
        for &kind in &args.only {
            eprintln!("measuring {} at {total}", kind.name());
            all.push(measure(kind, &corpus, total, effort, folder.path())?);
        }
    }
    if args.json {
        println!("{:#}", json!({ "sync_ms": sync, "layouts": all }));
    } else {
        print(&all, sync);
    }
    Ok(())
}

fn print(all: &[Measured], sync: SampleStats) {
    println!("one sync of a 4 KB append: {} ms (median of {})\n", number(sync.p50), sync.n);
    let head = [
        "layout, total",
        "bulk µs",
        "cpu µs",
        "bytes",
        "save ms p50/p95",
        "pages p50/mean",
        "run ms mean/max",
        "run pages mean/max",
        "open + first ms",
    ];
    println!("{}", render(&head, &all.iter().map(cost_row).collect::<Vec<_>>()));
    println!("query ms, p50 / p95, by class of scope (its size)\n");
    let mut head = vec!["layout, total"];
    head.extend(ScopeClass::ALL.map(ScopeClass::name));
    println!("{}", render(&head, &all.iter().map(query_row).collect::<Vec<_>>()));
    for measured in all.iter().filter(|measured| measured.loaded < measured.total) {
        println!("{} stopped after {} of {}", measured.layout, measured.loaded, measured.total);
    }
}

fn cost_row(measured: &Measured) -> Vec<String> {
    let unknown = || "–".to_owned();
    let complete = |text: String| if measured.loaded == measured.total { text } else { unknown() };
    let pair = |a, b| complete(format!("{} / {}", number(a), number(b)));
    let (save, run) = (&measured.save, &measured.run_of_saves);
    vec![
        label(measured),
        number(measured.bulk_us),
        measured.bulk_cpu_us.map_or_else(unknown, number),
        number(measured.bytes),
        pair(save.ms.p50, save.ms.p95),
        pair(save.pages.p50, save.pages.mean),
        pair(run.ms.mean, run.ms.max),
        pair(run.pages.mean, run.pages.max),
        complete(number(measured.first_query_ms.p50)),
    ]
}

fn query_row(measured: &Measured) -> Vec<String> {
    let times = ScopeClass::ALL.map(|class| {
        let times = measured.queries.iter().find(|times| times.class == class);
        times.map_or_else(
            || "–".to_owned(),
            |t| format!("{} / {} ({})", number(t.ms.p50), number(t.ms.p95), t.scope_size),
        )
    });
    [label(measured)].into_iter().chain(times).collect()
}

fn label(measured: &Measured) -> String {
    format!("{}, {}k", measured.layout, measured.total / 1_000)
}
