//! `cluster`: many servers on databases that are killed, fail over or hang behind a bad network.

use std::{path::PathBuf, time::Duration};

use anyhow::{Result, ensure};
use clap::ValueEnum as _;

use crate::{
    cluster::{ClusterOptions, ClusterReport, ClusterScenario, HEAD},
    table::render,
};

/// Let servers share databases that fail, and look for every write
#[derive(clap::Args)]
pub(crate) struct ClusterArgs {
    /// Everlore's program
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Only these scenarios; all by default
    #[arg(long, value_name = "SCENARIO", value_delimiter = ',')]
    only: Vec<ClusterScenario>,
    /// Runs of each failover and crash
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Seconds of each load and of each bad network
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Seed of the bad networks
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command; fails if a write is lost or doubled, or a limit is exceeded.
pub(crate) fn run(args: &ClusterArgs) -> Result<()> {
    let binary = match &args.binary {
        Some(binary) => binary.clone(),
        None => std::env::current_exe()?.with_file_name("everlore"),
    };
    let options = ClusterOptions {
        binary,
        runs: args.runs,
        length: Duration::from_secs(args.seconds),
        seed: args.seed,
        runtime: tokio::runtime::Builder::new_multi_thread().enable_all().build()?,
    };
    let all = ClusterScenario::value_variants();
    let chosen = if args.only.is_empty() { all } else { &args.only };
    let mut reports: Vec<ClusterReport> = Vec::new();
    for scenario in chosen {
        eprintln!("{scenario:?}");
        reports.extend(scenario.run(&options)?);
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&reports)?);
    } else {
        print_table(&reports);
    }
    let faults: usize = reports.iter().map(|report| report.faults.len()).sum();
    ensure!(faults == 0, "{faults} faults");
    Ok(())
}

/// Most faults and failures that are printed of a run.
const SHOWN: usize = 10;

fn print_table(reports: &[ClusterReport]) {
    let rows: Vec<Vec<String>> = reports.iter().map(ClusterReport::row).collect();
    println!("{}", render(&HEAD, &rows));
    for report in reports {
        for failure in report.failures.iter().take(SHOWN) {
            println!("{}: repeated: {failure}", report.scenario);
        }
        for fault in report.faults.iter().take(SHOWN) {
            println!("{}: FAULT: {fault}", report.scenario);
        }
    }
}
