//! `move`: an agent around SQLite, PostgreSQL, MariaDB and back, with exports and recalls compared after each step.

use std::{path::Path, sync::Arc, time::Instant};

use anyhow::{Result, bail, ensure};
use everlore::{
    Engine, Scope, Turn,
    config::StoreUrl,
    engine::{MoveProgress, MoveReport},
    llm::BuiltinEmbedder,
    store::{self, AgentStores},
};
use everlore_test_databases::{MariaDbOptions, MariaDbServer, PostgresOptions, PostgresServer};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use crate::{
    corpus::Corpus,
    table::{number, render},
};

/// Queries whose answers are compared after each step.
const QUERIES: u32 = 100;

/// Moment of the recalls: 2027-01-01.
const RECALL_SECONDS: i64 = 1_798_761_600;

/// Scope of the corpus whose texts are stored: the large one.
const CORPUS_SCOPE: u32 = 0;

/// Move an agent from SQLite to PostgreSQL, MariaDB and back to SQLite, and compare it after each step
#[derive(clap::Args)]
pub(crate) struct AgentMoveArgs {
    /// Memories of the agent, shared by its users
    #[arg(long, default_value_t = 100_000)]
    memories: u32,
    /// Users of the agent
    #[arg(long, default_value_t = 4)]
    users: u32,
    /// Memories of one write, as conversations have them
    #[arg(long, default_value_t = 8)]
    batch: u32,
    /// Seed of the texts
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// One step around.
#[derive(Debug, Serialize)]
struct MoveStep {
    to: &'static str,
    seconds: f64,
    changes_per_second: f64,
    writers_waited_ms: u64,
    erased_seconds: f64,
    exports_equal: bool,
    recalls_equal: bool,
}

/// Exports of all users in the order of their lines, and recalls with scores.
#[derive(PartialEq)]
struct AgentView {
    exports: Vec<Vec<String>>,
    recalls: Vec<Vec<String>>,
}

/// Runs the command.
pub(crate) fn run(args: &AgentMoveArgs) -> Result<()> {
    ensure!(args.users > 0 && args.batch > 0, "there must be users and batches");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let steps = runtime.block_on(measure(args))?;
    if args.json {
        println!("{:#}", json!({ "memories": args.memories, "steps": steps }));
    } else {
        let head = ["to", "s", "changes/s", "writers waited ms", "erasing s", "export", "recalls"];
        println!("{}", render(&head, &steps.iter().map(row).collect::<Vec<_>>()));
    }
    if steps.iter().all(|step| step.exports_equal && step.recalls_equal) {
        return Ok(());
    }
    bail!("the agent is not the same everywhere")
}

fn row(step: &MoveStep) -> Vec<String> {
    let verdict = |equal: bool| if equal { "equal" } else { "DIFFERS" }.to_owned();
    vec![
        step.to.to_owned(),
        number(step.seconds),
        number(step.changes_per_second),
        step.writers_waited_ms.to_string(),
        number(step.erased_seconds),
        verdict(step.exports_equal),
        verdict(step.recalls_equal),
    ]
}

async fn measure(args: &AgentMoveArgs) -> Result<Vec<MoveStep>> {
    let folder = tempfile::tempdir()?;
    let engine = open(folder.path()).await?;
    eprintln!("storing {} memories", args.memories);
    fill(&engine, args).await?;
    let before = view(&engine, args).await?;
    let postgres = PostgresServer::start(PostgresOptions::default()).await;
    let maria = MariaDbServer::start(MariaDbOptions::default()).await;
    let file = format!("sqlite:{}", folder.path().join("own.db").display());
    let mut steps = Vec::new();
    for (to, url) in [("PostgreSQL", postgres.url()), ("MariaDB", maria.url()), ("SQLite", file)] {
        eprintln!("moving to {to}");
        steps.push(step(&engine, to, url, &before, args).await?);
    }
    engine.admin().close().await;
    Ok(steps)
}

async fn step(
    engine: &Engine,
    to: &'static str,
    url: String,
    before: &AgentView,
    args: &AgentMoveArgs,
) -> Result<MoveStep> {
    let agent = Scope::default().agent().to_owned();
    let began = Instant::now();
    let mut silent = |_: MoveProgress| ();
    let report: MoveReport = engine.move_agent(&agent, &StoreUrl::new(url), &mut silent).await?;
    let seconds = began.elapsed().as_secs_f64();
    ensure!(report.moved, "{to}: {:?}", report.problems);
    let began = Instant::now();
    engine.confirm_agent_move(&agent).await?;
    let erased_seconds = began.elapsed().as_secs_f64();
    let now = view(engine, args).await?;
    Ok(MoveStep {
        to,
        seconds,
        changes_per_second: report.changes as f64 / seconds,
        writers_waited_ms: report.sealed_ms,
        erased_seconds,
        exports_equal: now.exports == before.exports,
        recalls_equal: now.recalls == before.recalls,
    })
}

async fn open(folder: &Path) -> Result<Engine> {
    let stores = AgentStores::open(store::open(folder.join("everlore.db")).await?).await?;
    let embedder = Arc::new(BuiltinEmbedder::new());
    Ok(Engine::with_agent_stores(stores).embedder(embedder).home(folder).build())
}

fn user(number: u32) -> Result<Scope> {
    Ok(Scope::new(Scope::default().agent(), &format!("user-{number}"))?)
}

async fn fill(engine: &Engine, args: &AgentMoveArgs) -> Result<()> {
    let corpus = Corpus::new(args.memories, args.seed);
    let each = args.memories / args.users;
    for number in 0..args.users {
        let scope = user(number)?;
        let turn = |position: u32| {
            let memory = corpus.memory(i64::from(position), CORPUS_SCOPE, number * each + position);
            let session = Some(format!("session-{}", memory.session));
            Turn { text: memory.text, session, ..Turn::default() }
        };
        for from in (0..each).step_by(args.batch as usize) {
            let turns = (from..each.min(from + args.batch)).map(turn).collect();
            engine.observe(&scope, turns).await?;
        }
    }
    Ok(())
}

async fn view(engine: &Engine, args: &AgentMoveArgs) -> Result<AgentView> {
    let corpus = Corpus::new(args.memories, args.seed);
    let mut view = AgentView { exports: Vec::new(), recalls: Vec::new() };
    for number in 0..args.users {
        let mut bytes = Vec::new();
        engine.export(&user(number)?, false, &mut bytes, &mut |_| ()).await?;
        // The header names the time.
        let lines = str::from_utf8(&bytes)?.lines().skip(1);
        let mut lines: Vec<String> = lines.map(str::to_owned).collect();
        lines.sort();
        view.exports.push(lines);
    }
    // The age of a memory counts: all recalls are of one moment.
    let now = Timestamp::from_second(RECALL_SECONDS)?;
    let recalling = engine.rebuild().clock(move || now).build();
    for number in 0..QUERIES {
        let scope = user(number % args.users)?;
        let request = recalling.recall_request(&scope, corpus.query(CORPUS_SCOPE, number));
        let hits = recalling.recall(&request).await?.hits;
        let hit = |hit: &everlore::engine::Hit| format!("{} {:.9}", hit.memory.id, hit.score);
        view.recalls.push(hits.iter().map(hit).collect());
    }
    Ok(view)
}
