//! `growth-model`: what a recall and a save cost on each database, measured, and what that makes of growth, computed.

use anyhow::Result;
use serde::Serialize;
use serde_json::json;

use crate::{
    corpus::Corpus,
    scale::{
        operation_cost::{ClassCost, OperationCost, SubjectCost, measure_costs},
        subject::SubjectKind,
    },
    table::{number, render},
};

/// Databases that are measured.
const KINDS: [SubjectKind; 3] =
    [SubjectKind::Everlore, SubjectKind::EverlorePostgres, SubjectKind::EverloreMariaDb];

/// Round trips of networks, in milliseconds: one machine, one zone of a data centre, two zones, two regions.
const NETWORKS_MS: [f64; 4] = [0.0, 0.3, 1.0, 10.0];

/// Measure the cost of a recall and a save on each database, and compute from it what growth takes
#[derive(clap::Args)]
pub(crate) struct GrowthModelArgs {
    /// Memories of the corpus, in 1,000 scopes
    #[arg(long, value_name = "COUNT", default_value_t = 100_000)]
    total: u32,
    /// Turns per second for which processors are computed; a turn is one recall and one save
    #[arg(long, value_name = "COUNT", value_delimiter = ',', default_values_t = [10, 100, 1_000, 10_000])]
    turns: Vec<u32>,
    /// Memories for which disk space is computed
    #[arg(long, value_name = "COUNT", value_delimiter = ',', default_values_t = [1_000_000, 10_000_000, 100_000_000])]
    memories: Vec<u64>,
    /// Seed of the corpus
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Processors that a load keeps busy.
#[derive(Debug, Serialize)]
struct LoadRow {
    subject: &'static str,
    scope_size: u32,
    turns_per_second: u32,
    server_cores: f64,
    database_cores: f64,
}

/// Runs the command.
pub(crate) fn run(args: &GrowthModelArgs) -> Result<()> {
    let corpus = Corpus::new(args.total, args.seed);
    let mut costs = Vec::new();
    for kind in KINDS {
        eprintln!("measuring {} at {}", kind.name(), args.total);
        costs.push(measure_costs(kind, &corpus, args.total)?);
    }
    let loads = load_rows(&costs, &args.turns);
    if args.json {
        println!("{:#}", json!({ "total": args.total, "measured": costs, "loads": loads }));
    } else {
        print(args, &costs, &loads);
    }
    Ok(())
}

fn print(args: &GrowthModelArgs, costs: &[SubjectCost], loads: &[LoadRow]) {
    println!("measured at {} memories in 1,000 scopes\n", args.total);
    let head = [
        "subject, scope",
        "operation",
        "ms p50",
        "ms p95",
        "round trips",
        "engine cpu ms",
        "database cpu ms",
    ];
    println!("{}", render(&head, &of_classes(costs, measured_rows)));
    println!("computed: ms of an operation (p50 plus round trips) by the network's round trip\n");
    let names = NETWORKS_MS.map(|ms| format!("{ms} ms"));
    let head: Vec<&str> = ["subject, scope", "operation"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .collect();
    println!("{}", render(&head, &of_classes(costs, network_rows)));
    println!("computed: processor cores that are busy\n");
    let row = |load: &LoadRow| {
        let cores = [load.server_cores, load.database_cores].map(number);
        let label = format!("{}, {}", load.subject, load.scope_size);
        [label, load.turns_per_second.to_string()].into_iter().chain(cores).collect()
    };
    let rows: Vec<Vec<String>> = loads.iter().map(row).collect();
    println!(
        "{}",
        render(&["subject, scope", "turns/s", "cores, all servers", "cores, database"], &rows)
    );
    println!("computed: gigabytes on disk by memories in all\n");
    let names: Vec<String> = args.memories.iter().map(u64::to_string).collect();
    let head: Vec<&str> =
        ["subject", "bytes/memory"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let rows: Vec<_> = costs.iter().map(|cost| disk_row(cost, &args.memories)).collect();
    println!("{}", render(&head, &rows));
}

/// Returns the rows of every class of every subject.
fn of_classes(
    costs: &[SubjectCost],
    rows: fn(&str, &ClassCost) -> Vec<Vec<String>>,
) -> Vec<Vec<String>> {
    let of_subject = |cost: &SubjectCost| {
        let of_class =
            |class: &ClassCost| rows(&format!("{}, {}", cost.subject, class.scope_size), class);
        cost.classes.iter().flat_map(of_class).collect::<Vec<_>>()
    };
    costs.iter().flat_map(of_subject).collect()
}

fn operations(class: &ClassCost) -> [(&'static str, &OperationCost); 2] {
    [("recall", &class.recall), ("save", &class.save)]
}

fn measured_rows(label: &str, class: &ClassCost) -> Vec<Vec<String>> {
    let row = |(name, cost): (&str, &OperationCost)| {
        let figures =
            [cost.ms.p50, cost.ms.p95, cost.round_trips, cost.engine_cpu_ms, cost.database_cpu_ms];
        [label.to_owned(), name.to_owned()].into_iter().chain(figures.map(number)).collect()
    };
    operations(class).map(row).into()
}

fn network_rows(label: &str, class: &ClassCost) -> Vec<Vec<String>> {
    let row = |(name, cost): (&str, &OperationCost)| {
        let times = NETWORKS_MS.map(|ms| number(cost.ms.p50 + cost.round_trips.round() * ms));
        [label.to_owned(), name.to_owned()].into_iter().chain(times).collect()
    };
    operations(class).map(row).into()
}

fn load_rows(costs: &[SubjectCost], turns: &[u32]) -> Vec<LoadRow> {
    let mut rows = Vec::new();
    for cost in costs {
        for class in &cost.classes {
            rows.extend(turns.iter().map(|&rate| load_row(cost.subject, class, rate)));
        }
    }
    rows
}

fn load_row(subject: &'static str, class: &ClassCost, turns_per_second: u32) -> LoadRow {
    let cores = |cost: fn(&OperationCost) -> f64| {
        f64::from(turns_per_second) * (cost(&class.recall) + cost(&class.save)) / 1e3
    };
    LoadRow {
        subject,
        scope_size: class.scope_size,
        turns_per_second,
        server_cores: cores(|cost| cost.engine_cpu_ms),
        database_cores: cores(|cost| cost.database_cpu_ms),
    }
}

fn disk_row(cost: &SubjectCost, memories: &[u64]) -> Vec<String> {
    let gigabytes =
        memories.iter().map(|&count| number(cost.bytes_per_memory * count as f64 / 1e9));
    [cost.subject.to_owned(), number(cost.bytes_per_memory)].into_iter().chain(gigabytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::SampleStats;

    fn cost(ms: f64, trips: f64) -> OperationCost {
        let ms = SampleStats { p50: ms, ..SampleStats::default() };
        OperationCost { ms, round_trips: trips, engine_cpu_ms: 2.0, database_cpu_ms: 0.5 }
    }

    #[test]
    fn growth_is_what_was_measured_times_the_load() {
        let class = ClassCost { scope_size: 80, recall: cost(1.0, 1.9), save: cost(4.0, 3.1) };
        let load = load_row("everlore", &class, 1_000);
        assert_eq!((load.server_cores, load.database_cores), (4.0, 1.0));
        let rows = network_rows("x", &class);
        assert_eq!(rows[0][2..], ["1.00", "1.60", "3.00", "21.0"]);
        assert_eq!(rows[1][2..], ["4.00", "4.90", "7.00", "34.0"]);
    }
}
