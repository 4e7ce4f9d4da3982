//! `mcp`: time to the first response of `everlore mcp`, process start included, beside a bare process start.

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use anyhow::{Context, Result, ensure};
use everlore::{Engine, Scope, llm::BuiltinEmbedder, store};
use serde_json::{Value, json};

use super::life::load;
use crate::{
    corpus::Corpus,
    table::{number, render},
    timing::{SampleStats, timed},
};

/// Runs before the measurement: the first one reads the program and the database from the disk.
const WARMUP_RUNS: u32 = 3;

/// Measure the time to the first response of `everlore mcp`, process start included
#[derive(clap::Args)]
pub(crate) struct McpArgs {
    /// Program to measure
    #[arg(long, value_name = "FILE", default_value = "target/release/everlore")]
    program: PathBuf,
    /// Memories of the scope
    #[arg(long, default_value_t = 100_000)]
    total: u32,
    /// Processes for each figure
    #[arg(long, default_value_t = 30)]
    runs: u32,
}

/// Runs the command.
pub(crate) fn run(args: &McpArgs) -> Result<()> {
    let home = tempfile::tempdir()?;
    let corpus = Corpus::new(args.total, 1);
    fill(home.path(), &corpus, args.total)?;
    let question = corpus.query(0, 1);
    let program = args.program.as_path();
    let tool = |name: &str, input: &dyn Fn() -> Value| {
        sample_runs(args.runs, || {
            let call = json!({ "name": name, "arguments": input() });
            time_first_answer(program, home.path(), &[stateless_request("tools/call", call)])
        })
    };
    let query = || json!({ "query": question });
    let content = || {
        let note = std::time::Instant::now();
        json!({ "content": format!("Note {note:?}: the harbour opens at nine.") })
    };
    let rows = [
        ("bare start: `everlore --version`", sample_runs(args.runs, || time_bare_start(program))?),
        (
            "handshake: start to the answer of initialize",
            sample_runs(args.runs, || time_first_answer(program, home.path(), &[initialize()]))?,
        ),
        (
            "without: start to the answer of server/discover",
            sample_runs(args.runs, || {
                time_first_answer(
                    program,
                    home.path(),
                    &[stateless_request("server/discover", json!({}))],
                )
            })?,
        ),
        ("start to the answer of memory_recall", tool("memory_recall", &query)?),
        ("start to the answer of memory_timeline", tool("memory_timeline", &query)?),
        ("start to the answer of memory_save", tool("memory_save", &content)?),
    ];
    let row = |(name, stats): &(&str, SampleStats)| {
        vec![(*name).to_owned(), number(stats.p50), number(stats.p95), stats.n.to_string()]
    };
    println!("{}", render(&["ms", "p50", "p95", "n"], &rows.iter().map(row).collect::<Vec<_>>()));
    Ok(())
}

fn fill(home: &Path, corpus: &Corpus, total: u32) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let store = store::open(home.join("everlore.db")).await?;
        let engine = Engine::builder(store).embedder(Arc::new(BuiltinEmbedder::new())).build();
        load(&engine, &Scope::default(), corpus, total).await?;
        engine.admin().close().await;
        Ok(())
    })
}

fn sample_runs(runs: u32, one: impl Fn() -> Result<f64>) -> Result<SampleStats> {
    for _ in 0..WARMUP_RUNS {
        one()?;
    }
    Ok(SampleStats::from_samples((0..runs).map(|_| one()).collect::<Result<Vec<_>>>()?))
}

fn time_bare_start(program: &Path) -> Result<f64> {
    let run = || Ok(Command::new(program).arg("--version").output()?);
    let (output, ms) = timed(run).with_context(|| program.display().to_string())?;
    ensure!(output.status.success(), "{} --version failed", program.display());
    Ok(ms)
}

/// Returns the milliseconds from before the start to the first response.
fn time_first_answer(program: &Path, home: &Path, lines: &[Value]) -> Result<f64> {
    let mut command = Command::new(program);
    command.arg("--home").arg(home).arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped());
    let run = || {
        let mut child = command.spawn()?;
        let mut input = child.stdin.take().context("no input")?;
        for line in lines {
            writeln!(input, "{line}")?;
        }
        let mut answer = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut answer)?;
        Ok((child, input, answer))
    };
    let ((mut child, input, answer), ms) = timed(run)?;
    drop(input);
    child.wait()?;
    let answer: Value = serde_json::from_str(&answer)?;
    ensure!(answer.get("result").is_some() && answer["result"]["isError"] != true, "{answer}");
    Ok(ms)
}

fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "eval", "version": "1" }
    } })
}

fn stateless_request(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}
