//! `scale`: speed of the engine and of what databases do by themselves, as other people's memories grow.

use std::path::PathBuf;

use anyhow::{Result, bail};
use serde_json::{Map, Value, json};

use crate::{
    corpus::{Corpus, ScopeClass},
    scale::{
        measure::{ScaleResult, ScaleRun, measure},
        subject::{SubjectKind, open_store},
    },
    table::{number, render},
    timing::{SampleStats, sync_ms},
};

/// Measure speed at one or more totals
#[derive(clap::Args)]
pub(crate) struct ScaleArgs {
    /// Memories of the corpus; several totals are measured one after the other
    #[arg(long, value_delimiter = ',', default_value = "100000,1000000")]
    total: Vec<u32>,
    /// Subjects to measure: source, postgres-text, pgvector, mariadb-text, everlore, everlore-postgres and
    /// everlore-mariadb; source and everlore if not given. Servers are started with the programs that tests use
    #[arg(long, value_delimiter = ',')]
    only: Vec<SubjectKind>,
    /// Address of an empty database that runs already, such as those of `tools/databases/run`: the engine is measured on
    /// it too, as `everlore-store`; takes one total
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Memories of one batch while loading: larger ones load faster
    #[arg(long, value_name = "COUNT", default_value_t = 2_000)]
    batch: usize,
    /// Queries measured in each class of scopes
    #[arg(long, default_value_t = 60)]
    queries: u32,
    /// Folder of the databases; the system's temporary folder if not given
    #[arg(long)]
    folder: Option<PathBuf>,
    /// Seed of the corpus
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
}

impl ScaleArgs {
    /// Returns the subjects, without the given store.
    fn kinds(&self) -> Vec<SubjectKind> {
        if self.only.is_empty() && self.store.is_none() {
            return SubjectKind::LOCAL.to_vec();
        }
        self.only.clone()
    }

    fn run_at(&self, total: u32) -> ScaleRun {
        ScaleRun { total, queries: self.queries, batch: self.batch.max(1) }
    }
}

/// Runs the command.
pub(crate) fn run(args: &ScaleArgs) -> Result<()> {
    let base = args.folder.clone().unwrap_or_else(std::env::temp_dir);
    let sync = sync_ms(&base)?;
    let kinds = args.kinds();
    if args.store.is_some() && args.total.len() != 1 {
        bail!("--store takes one --total: the database must be empty before it");
    }
    let mut all = Vec::new();
    for &total in &args.total {
        let corpus = Corpus::new(total, args.seed);
        for &kind in &kinds {
            eprintln!("measuring {} at {total}", kind.name());
            let folder = tempfile::tempdir_in(&base)?;
            all.push(measure(kind.open(folder.path())?, kind.name(), &corpus, args.run_at(total))?);
        }
        if let Some(url) = &args.store {
            eprintln!("measuring the given store at {total}");
            all.push(measure(open_store(url)?, "everlore-store", &corpus, args.run_at(total))?);
        }
    }
    if args.json {
        println!("{:#}", json!({ "sync_ms": sync, "runs": all, "ratios": ratios(&all) }));
    } else {
        print(&all, sync);
    }
    Ok(())
}

fn print(all: &[ScaleResult], sync: SampleStats) {
    println!("one sync of a 4 KB append: {} ms (median of {})\n", number(sync.p50), sync.n);
    let head =
        ["subject, total", "memories/s", "bytes", "save ms p50/p95", "open + first ms p50/p95"];
    println!("{}", render(&head, &all.iter().map(cost_row).collect::<Vec<_>>()));
    println!("query ms, p50 / p95, by class of scope (its size)\n");
    let mut head = vec!["subject, total"];
    head.extend(ScopeClass::ALL.map(ScopeClass::as_str));
    println!("{}", render(&head, &all.iter().map(query_row).collect::<Vec<_>>()));
    println!("ratios of p50\n");
    let rows: Vec<_> = ratio_rows(all)
        .into_iter()
        .map(|(label, cells)| {
            let cells = cells.map(|ratio| ratio.map_or_else(|| "–".to_owned(), number));
            [label].into_iter().chain(cells).collect()
        })
        .collect();
    println!("{}", render(&[&["ratio"], &head[1..]].concat(), &rows));
}

fn cost_row(measured: &ScaleResult) -> Vec<String> {
    let pair = |stats: SampleStats| format!("{} / {}", number(stats.p50), number(stats.p95));
    vec![
        label(measured),
        number(measured.memories_per_second),
        number(measured.bytes_per_memory),
        pair(measured.save_ms),
        pair(measured.first_recall_ms),
    ]
}

fn query_row(measured: &ScaleResult) -> Vec<String> {
    let times = measured.queries.iter().map(|times| {
        format!("{} / {} ({})", number(times.ms.p50), number(times.ms.p95), times.scope_size)
    });
    [label(measured)].into_iter().chain(times).collect()
}

type Ratios = [Option<f64>; ScopeClass::ALL.len()];

/// Returns the growth of each subject from one total to a larger one, and the slowdown of each subject against a later
/// one.
fn ratio_rows(all: &[ScaleResult]) -> Vec<(String, Ratios)> {
    let mut rows = Vec::new();
    for (index, later) in all.iter().enumerate() {
        for earlier in &all[..index] {
            let grown = earlier.subject == later.subject && earlier.total < later.total;
            let beside = earlier.subject != later.subject && earlier.total == later.total;
            if grown {
                rows.push((
                    format!("{} against {}", label(later), label(earlier)),
                    ratio(later, earlier),
                ));
            } else if beside {
                rows.push((
                    format!("{} against {}", label(earlier), label(later)),
                    ratio(earlier, later),
                ));
            }
        }
    }
    rows
}

fn ratio(above: &ScaleResult, below: &ScaleResult) -> Ratios {
    ScopeClass::ALL.map(|class| {
        let p50 = |measured: &ScaleResult| measured.class(class).map(|times| times.ms.p50);
        p50(above).zip(p50(below)).map(|(above, below)| above / below)
    })
}

fn ratios(all: &[ScaleResult]) -> Value {
    let rows = ratio_rows(all).into_iter().map(|(label, ratios)| {
        let by_class = ScopeClass::ALL.iter().zip(ratios);
        let cells: Map<String, Value> =
            by_class.map(|(class, ratio)| (class.as_str().to_owned(), json!(ratio))).collect();
        (label, Value::Object(cells))
    });
    Value::Object(rows.collect())
}

fn label(measured: &ScaleResult) -> String {
    format!("{}, {}k", measured.subject, measured.total / 1_000)
}
