//! `life`: cost of usage tracking per turn, and of upkeep.

use std::{path::Path, sync::Arc};

use anyhow::Result;
use everlore::{
    Engine, Kind, Memory, RecallRequest, Scope, Turn,
    engine::UpkeepRequest,
    internal::store_of,
    llm::BuiltinEmbedder,
    store,
    types::{Actor, Change, MemorySource, Origin, Role, WriteBatch},
};
use jiff::Timestamp;
use serde_json::json;

use crate::{
    corpus::Corpus,
    table::{number, render},
    timing::{SampleStats, sync_ms},
};

/// Memories of one write while loading.
const BATCH: u32 = 2_000;

/// One in this many memories is a statement, the others are turns.
const STATEMENTS: u32 = 10;

/// Row for the latency that a conversation feels.
const WHOLE_TURN: &str = "a whole turn without the model (recall, turn stored, answer stored; log and usage written in the background)";

/// Row for the same without the confidence gate: the most that a turn can cost.
const WHOLE_TURN_UNGATED: &str = "the same, every hit injected";

/// Steps of a turn that are measured separately.
const STEPS: [&str; 6] = [
    "context, without the log",
    "inject, with the log",
    "observe a turn, the log written in the background",
    "rest of the log after that",
    "record the answer",
    "a weight set by hand",
];

/// Measure the cost of usage tracking per turn, and of upkeep, in one scope
#[derive(clap::Args)]
pub(crate) struct LifeArgs {
    /// Memories of the scope
    #[arg(long, default_value_t = 100_000)]
    total: u32,
    /// Turns to measure
    #[arg(long, default_value_t = 100)]
    turns: u32,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &LifeArgs) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let sync = sync_ms(folder.path())?;
    let rows = load_and_measure(&folder.path().join("everlore.db"), args)?;
    if args.json {
        let rows: serde_json::Map<_, _> =
            rows.into_iter().map(|(name, stats)| (name.to_owned(), json!(stats))).collect();
        println!("{:#}", json!({ "total": args.total, "sync_ms": sync, "ms": rows }));
        return Ok(());
    }
    println!("one sync of a 4 KB append: {} ms (median of {})\n", number(sync.p50), sync.n);
    let row = |(name, stats): &(&str, SampleStats)| {
        vec![(*name).to_owned(), number(stats.p50), number(stats.p95), stats.n.to_string()]
    };
    println!("{}", render(&["ms", "p50", "p95", "n"], &rows.iter().map(row).collect::<Vec<_>>()));
    Ok(())
}

/// Loads one scope into a database and measures it.
fn load_and_measure(path: &Path, args: &LifeArgs) -> Result<Vec<(&'static str, SampleStats)>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let engine = Engine::builder(store::open(path).await?)
            .embedder(Arc::new(BuiltinEmbedder::new()))
            .build();
        let (corpus, scope) = (Corpus::new(args.total, 1), Scope::default());
        load(&engine, &scope, &corpus, args.total).await?;
        measure(&engine, &scope, &corpus, args).await
    })
}

/// Loads generated turns and statements into a scope.
pub(super) async fn load(
    engine: &Engine,
    scope: &Scope,
    corpus: &Corpus,
    total: u32,
) -> Result<()> {
    let now = Timestamp::now();
    for first in (0..total).step_by(BATCH as usize) {
        let changes = (first..total.min(first + BATCH)).map(|number| {
            let generated = corpus.memory(number.into(), 0, number);
            let kind = if number % STATEMENTS == 0 { Kind::User } else { Kind::Turn };
            let mut source = MemorySource::new(Origin::Observe);
            if kind == Kind::Turn {
                source.session = Some(format!("session-{}", generated.session));
            }
            let at = Timestamp::from_second(generated.at_seconds)?;
            let mut memory = Memory::with_content(scope, kind, generated.text, source, at, now);
            memory.uri = format!("agent://default/{kind}/{}", memory.id);
            Ok(Change::Add(Box::new(memory)))
        });
        let changes = changes.collect::<Result<Vec<_>>>()?;
        store_of(engine).apply(WriteBatch::new(scope, Actor::Engine, "load", now, changes)).await?;
    }
    Ok(())
}

async fn measure(
    engine: &Engine,
    scope: &Scope,
    corpus: &Corpus,
    args: &LifeArgs,
) -> Result<Vec<(&'static str, SampleStats)>> {
    let mut times: [Vec<f64>; STEPS.len()] = Default::default();
    for number in 0..args.turns + args.turns / 5 {
        let measured = time_steps(engine, scope, corpus.query(0, number), number).await?;
        // The first turns warm the caches.
        if number >= args.turns / 5 {
            times.iter_mut().zip(measured).for_each(|(times, ms)| times.extend(ms));
        }
    }
    let mut rows: Vec<_> =
        STEPS.into_iter().zip(times.into_iter().map(SampleStats::from_samples)).collect();
    for (name, gated) in [(WHOLE_TURN, true), (WHOLE_TURN_UNGATED, false)] {
        rows.push((
            name,
            SampleStats::from_samples(whole_turns(engine, scope, corpus, gated, args).await?),
        ));
    }
    let yes = UpkeepRequest { dry_run: false, yes: true };
    for name in ["upkeep, all of it", "upkeep, nothing to do"] {
        let (_, ms) = timed_async(engine.upkeep(scope, &yes, &mut |_| {})).await?;
        rows.push((name, SampleStats::from_samples(vec![ms])));
    }
    Ok(rows)
}

/// Times the steps of a turn, in the order of [`STEPS`]; `None` for the weight if recall found nothing.
async fn time_steps(
    engine: &Engine,
    scope: &Scope,
    query: String,
    number: u32,
) -> Result<[Option<f64>; STEPS.len()]> {
    // Every hit is injected: this measures the log, not the gate.
    let request = RecallRequest {
        min_confidence: 0.0,
        min_probability: 0.0,
        ..engine.context_request(scope, &query)
    };
    let session = format!("talk {}", number / 10);
    let turn = Turn { text: query, session: Some(session.clone()), ..Turn::default() };
    let (block, context) = timed_async(engine.context(&request, 2_000)).await?;
    let (_, inject) = timed_async(engine.inject(&request, 2_000, &session)).await?;
    let (_, observe) = timed_async(engine.observe(scope, vec![turn])).await?;
    let flush = async {
        engine.flush_usage().await;
        Ok(())
    };
    let ((), flushed) = timed_async(flush).await?;
    let answer: String = block.text.chars().take(400).collect();
    let (_, answered) = timed_async(engine.record_answer(scope, &session, &answer)).await?;
    let weight = match block.entries.first() {
        Some(entry) => Some(timed_async(engine.set_weight(scope, entry.id, None)).await?.1),
        None => None,
    };
    Ok([Some(context), Some(inject), Some(observe), Some(flushed), Some(answered), weight])
}

/// Times whole turns as a host runs them: inject, store the question, store the answer of a model that takes no time;
/// the usage check runs in the background.
async fn whole_turns(
    engine: &Engine,
    scope: &Scope,
    corpus: &Corpus,
    gated: bool,
    args: &LifeArgs,
) -> Result<Vec<f64>> {
    let mut times = Vec::new();
    let warming = args.turns / 5;
    for number in 0..args.turns + warming {
        // Other queries than those that warmed the caches.
        let query = corpus.query(0, args.turns * (2 + 2 * u32::from(gated)) + number);
        let session = format!("whole {gated} {}", number / 10);
        let turn = |role, text: String| Turn {
            text,
            role: Some(role),
            session: Some(session.clone()),
            ..Turn::default()
        };
        let usual = engine.context_request(scope, &query);
        let request = if gated {
            usual
        } else {
            RecallRequest { min_confidence: 0.0, min_probability: 0.0, ..usual }
        };
        let turn = async {
            let block = engine.inject(&request, 2_000, &session).await?;
            engine.observe(scope, vec![turn(Role::User, query)]).await?;
            let answer: String = block.text.chars().take(400).collect();
            let answer = if answer.is_empty() { "I do not know.".to_owned() } else { answer };
            engine.observe(scope, vec![turn(Role::Assistant, answer.clone())]).await?;
            engine.spawn_usage_check(scope, &session, &answer);
            Ok(())
        };
        let ((), ms) = timed_async(turn).await?;
        // The user does not wait for this; it is over before the next question.
        engine.flush_usage().await;
        times.extend((number >= warming).then_some(ms));
    }
    Ok(times)
}

/// Waits for `work` and returns its result with the milliseconds it took.
async fn timed_async<T>(work: impl Future<Output = everlore::Result<T>>) -> Result<(T, f64)> {
    let start = std::time::Instant::now();
    let result = work.await?;
    Ok((result, start.elapsed().as_secs_f64() * 1e3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_of_every_turn_is_measured() {
        let folder = tempfile::tempdir().unwrap();
        let args = LifeArgs { total: 200, turns: 5, json: true };
        let rows = load_and_measure(&folder.path().join("everlore.db"), &args).unwrap();
        let turns: Vec<_> = rows[..STEPS.len() + 2].iter().map(|(_, times)| times.n).collect();
        assert_eq!(turns, [5; STEPS.len() + 2]);
        assert!(rows.iter().all(|(name, times)| times.p50 > 0.0 || panic!("{name}")));
        assert_eq!(rows.len(), STEPS.len() + 4);
    }
}
