//! `load`: many clients on a server, compared with a handler that does nothing.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context as _, Result};

use crate::{
    load::{LoadKind, LoadResult, ServerProcess, run},
    table::{number, render},
    timing::nearest_rank,
};

/// Load a server with saves and recalls of many clients, then look for every save
#[derive(clap::Args)]
pub(crate) struct LoadArgs {
    /// Binary to measure
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Concurrent clients
    #[arg(long, default_value_t = 64)]
    clients: usize,
    /// Seconds of each load
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Kill the server with -9 in the middle of the mixed load instead, start it again, and look for every save
    #[arg(long)]
    kill: bool,
}

/// Runs the command; fails if a save is lost or a request fails that no kill cut off.
pub(crate) fn run_load(args: &LoadArgs) -> Result<()> {
    let binary = match &args.binary {
        Some(binary) => binary.clone(),
        None => std::env::current_exe()?.with_file_name("everlore"),
    };
    let home = tempfile::tempdir()?;
    let length = Duration::from_secs(args.seconds);
    let mut server = ServerProcess::start(&binary, home.path())
        .with_context(|| format!("cannot start {}: give it by --binary", binary.display()))?;
    if args.kill {
        return kill_and_check(&mut server, args, length);
    }
    let mut rows = Vec::new();
    let mut saved = Vec::new();
    for load in [LoadKind::Nothing, LoadKind::Mixed, LoadKind::Recalls] {
        eprintln!("{}: {} clients for {} s", load.name(), args.clients, args.seconds);
        let ran = run(&server, load, args.clients, length, || {})?;
        anyhow::ensure!(ran.failed.is_empty(), "{} failed: {}", ran.failed.len(), ran.failed[0]);
        rows.push(row(load, &ran, length));
        saved.extend(ran.saved);
    }
    let lost = server.missing(&saved)?;
    println!("{}", render(&HEAD, &rows));
    println!("{} saves were acknowledged; {} are lost", saved.len(), lost.len());
    anyhow::ensure!(lost.is_empty(), "lost: {lost:?}");
    Ok(())
}

const HEAD: [&str; 7] =
    ["load", "requests/s", "p50 ms", "p99 ms", "max ms", "memory MB, each quarter", "failed"];

fn row(load: LoadKind, ran: &LoadResult, length: Duration) -> Vec<String> {
    let mut times = ran.times.clone();
    times.sort_by(f64::total_cmp);
    let memory: Vec<_> = ran.memory.iter().map(|bytes| number(*bytes as f64 / 1e6)).collect();
    vec![
        load.name().to_owned(),
        number(times.len() as f64 / length.as_secs_f64()),
        number(nearest_rank(&times, 0.50)),
        number(nearest_rank(&times, 0.99)),
        number(nearest_rank(&times, 1.0)),
        memory.join(" "),
        ran.failed.len().to_string(),
    ]
}

fn kill_and_check(server: &mut ServerProcess, args: &LoadArgs, length: Duration) -> Result<()> {
    let kill = server.killer();
    let ran = run(server, LoadKind::Mixed, args.clients, length, move || {
        std::thread::sleep(length / 2);
        kill();
    })?;
    server.restart()?;
    let lost = server.missing(&ran.saved)?;
    println!(
        "killed in the middle: {} saves were acknowledged before, {} requests were cut off, {} saves are lost",
        ran.saved.len(),
        ran.failed.len(),
        lost.len()
    );
    anyhow::ensure!(lost.is_empty(), "lost: {lost:?}");
    anyhow::ensure!(!ran.saved.is_empty() && !ran.failed.is_empty(), "nothing was cut off");
    Ok(())
}
