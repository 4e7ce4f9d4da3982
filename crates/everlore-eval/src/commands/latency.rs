//! `latency`: time of a whole recall and of a durable save in one scope, by words, with vectors, and with the encoder.

use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use anyhow::Result;
use everlore::{
    Engine, RememberRequest, Scope, Turn,
    llm::BuiltinEmbedder,
    store::{self, Store},
};

use crate::{
    natural_texts::{NaturalTexts, questions},
    table::{number, render},
    timing::SampleStats,
};

/// Turns of a session, and of one write.
const SESSION_TURNS: u32 = 20;
const WRITE_TURNS: u32 = 2_000;

/// Recalls before the first that counts: caches fill and the encoder is unpacked.
const WARM_UP: u32 = 5;

/// Time recalls and saves in one scope: by words alone, with vectors, and with the built-in encoder
#[derive(clap::Args)]
pub(crate) struct LatencyArgs {
    /// Memories of the scope; several sizes are measured one after the other
    #[arg(long, value_name = "COUNT", value_delimiter = ',', default_values_t = [1_000, 10_000, 100_000])]
    memories: Vec<u32>,
    /// Recalls and saves measured in each way
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    rounds: u32,
    /// Keep the filled databases in this folder, and measure copies of those that it has: encoding 100,000 memories takes
    /// minutes
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Print the hits of every question with their scores instead of times, to compare two programs
    #[arg(long)]
    answers: bool,
}

/// Runs the command.
pub(crate) fn run(args: &LatencyArgs) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build()?;
    let mut rows = Vec::new();
    for &memories in &args.memories {
        rows.extend(runtime.block_on(measure_size(memories, args))?);
    }
    if args.answers {
        return Ok(());
    }
    let head = ["memories", "models", "recall p50 ms", "p95 ms", "save p50 ms", "p95 ms"];
    println!("{}", render(&head, &rows));
    Ok(())
}

/// Measures all ways on one database that has been encoded completely.
async fn measure_size(memories: u32, args: &LatencyArgs) -> Result<Vec<Vec<String>>> {
    let folder = tempfile::tempdir()?;
    let database = folder.path().join("latency.db");
    let kept = args.keep.as_ref().map(|keep| keep.join(format!("{memories}.db")));
    match &kept {
        Some(kept) if kept.exists() => {
            fs::copy(kept, &database)?;
        }
        _ => fill(&database, memories).await?,
    }
    if let Some(kept) = kept.filter(|kept| !kept.exists()) {
        fs::copy(&database, kept)?;
    }
    let store = store::open(&database).await?;
    let (texts, ways, questions) = (NaturalTexts::new(), ways(&store), questions()?);
    if let (true, Some((_, engine))) = (args.answers, ways.last()) {
        print_answers(engine, &questions).await?;
        return Ok(Vec::new());
    }
    let mut recalls = Vec::new();
    for (_, engine) in &ways {
        recalls.push(time_recalls(engine, &questions, args.rounds).await?);
    }
    let mut rows = Vec::new();
    for ((name, engine), recalls) in ways.iter().zip(recalls) {
        let saves = time_saves(engine, &texts, memories..memories + args.rounds).await?;
        let figures = [recalls.p50, recalls.p95, saves.p50, saves.p95].map(number);
        rows.push([memories.to_string(), (*name).to_owned()].into_iter().chain(figures).collect());
    }
    if let Some((_, engine)) = ways.last() {
        engine.admin().close().await;
    }
    Ok(rows)
}

/// Stores texts in a new database and encodes them all.
async fn fill(database: &Path, memories: u32) -> Result<()> {
    let store = store::open(database).await?;
    if let Some((_, engine)) = ways(&store).last() {
        observe(engine, &NaturalTexts::new(), memories).await?;
        engine.admin().backfill_token_vectors(&mut |_| {}).await?;
        engine.admin().close().await;
    }
    Ok(())
}

/// Prints what each question gets, to the last digit.
async fn print_answers(engine: &Engine, questions: &[String]) -> Result<()> {
    for question in questions {
        let found = engine.recall(&engine.recall_request(&Scope::default(), question)).await?;
        println!("{question} | {} of {}", found.confidence, found.candidates);
        for hit in &found.hits {
            println!("  {} {:?} {:?}", hit.score, hit.signals, hit.memory.content);
        }
    }
    Ok(())
}

/// Engines on one store, from the plainest to the one that the program runs.
fn ways(store: &Arc<dyn Store>) -> Vec<(&'static str, Engine)> {
    let builder = || Engine::builder(Arc::clone(store));
    let vectors = || builder().embedder(Arc::new(BuiltinEmbedder::new()));
    vec![
        ("words", builder().build()),
        ("and vectors", vectors().build()),
        #[cfg(feature = "local-model")]
        ("and encoder", vectors().builtin_encoder().build()),
    ]
}

/// Times recalls.
async fn time_recalls(engine: &Engine, questions: &[String], rounds: u32) -> Result<SampleStats> {
    let mut samples = Vec::new();
    for question in questions.iter().cycle().take((WARM_UP + rounds) as usize) {
        let request = engine.recall_request(&Scope::default(), question);
        let start = Instant::now();
        std::hint::black_box(engine.recall(&request).await?);
        samples.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(SampleStats::from_samples(samples.split_off(WARM_UP as usize)))
}

/// Times durable saves, while the models read what was saved before.
async fn time_saves(
    engine: &Engine,
    texts: &NaturalTexts,
    numbers: Range<u32>,
) -> Result<SampleStats> {
    let mut samples = Vec::new();
    for number in numbers {
        let request = RememberRequest::new(texts.text(number));
        let start = Instant::now();
        engine.remember(&Scope::default(), request).await?;
        samples.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(SampleStats::from_samples(samples))
}

/// Stores this many texts as turns.
async fn observe(engine: &Engine, texts: &NaturalTexts, total: u32) -> Result<()> {
    let turn = |number| {
        let session = Some(format!("session-{}", number / SESSION_TURNS));
        Turn { text: texts.text(number), session, ..Turn::default() }
    };
    for from in (0..total).step_by(WRITE_TURNS as usize) {
        let turns = (from..total.min(from + WRITE_TURNS)).map(turn).collect();
        engine.observe(&Scope::default(), turns).await?;
    }
    Ok(())
}
