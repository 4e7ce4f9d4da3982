//! `audit`: time that an audit and a reflection of one large scope take, without a model.

use std::time::Instant;

use anyhow::Result;
use everlore::{
    Engine, Kind, Memory, Scope,
    engine::{AuditRequest, ReflectRequest, UndoTarget},
    internal::store_of,
    store,
    types::{Actor, Change, MemorySource, Origin, Role, WriteBatch},
};
use jiff::Timestamp;
use serde_json::json;

use crate::corpus::Corpus;

/// Memories of one write while loading.
const BATCH: u32 = 2_000;

/// One in this many statements repeats the one before it, with another case.
const DUPLICATES: u32 = 20;

/// Measure the time of an audit, its fixes, their undo and a reflection of one scope
#[derive(clap::Args)]
pub(crate) struct AuditArgs {
    /// Memories of the scope; half of them are turns
    #[arg(long, default_value_t = 100_000)]
    total: u32,
    /// Print JSON instead of lines
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &AuditArgs) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let store = store::open(&folder.path().join("everlore.db")).await?;
        let engine = Engine::builder(store).home(folder.path()).build();
        load(&engine, args.total).await?;
        measure(&engine, args).await
    })
}

async fn measure(engine: &Engine, args: &AuditArgs) -> Result<()> {
    let scope = Scope::default();
    let started = Instant::now();
    let report = engine.audit(&scope, &AuditRequest::default(), &mut |_| {}).await?;
    let audit = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let reflection = engine.reflect(&scope, &ReflectRequest::default(), &mut |_| {}).await?;
    let reflect = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let fixed = engine.audit(&scope, &AuditRequest { fix: true, yes: true }, &mut |_| {}).await?;
    let fix = started.elapsed().as_secs_f64();
    let started = Instant::now();
    if let Some(fixed) = &fixed.fixed {
        engine.undo(&scope, &UndoTarget::Run(fixed.run.clone())).await?;
    }
    let undo = started.elapsed().as_secs_f64();
    let figures = json!({
        "total": args.total, "statements": report.memories, "score": report.score,
        "findings": report.findings.len(), "proposals": reflection.proposals.len(),
        "left_out": reflection.left_out, "fixed": fixed.fixed.map(|fixed| fixed.memories),
        "seconds": { "audit": audit, "reflect": reflect, "audit_and_fix": fix, "undo": undo },
    });
    println!("{}", if args.json { figures.to_string() } else { format!("{figures:#}") });
    Ok(())
}

/// Loads turns and statements, with planted faults, into one scope.
async fn load(engine: &Engine, total: u32) -> Result<()> {
    let (corpus, scope, now) = (Corpus::new(total, 1), Scope::default(), Timestamp::now());
    for first in (0..total).step_by(BATCH as usize) {
        let batch = first..total.min(first + BATCH);
        let changes = batch.map(|number| Ok(Change::Add(Box::new(memory(&corpus, number, now)?))));
        let changes = changes.collect::<Result<Vec<_>>>()?;
        let write = WriteBatch::new(&scope, Actor::Engine, "load", now, changes);
        store_of(engine).apply(write).await?;
    }
    Ok(())
}

/// Returns a memory: every other one is a turn of a user or an assistant, the rest are statements.
fn memory(corpus: &Corpus, number: u32, now: Timestamp) -> Result<Memory> {
    let generated = corpus.memory(number.into(), 0, number);
    let at = Timestamp::from_second(generated.at_seconds)?;
    let is_turn = number.is_multiple_of(2);
    let kind =
        if is_turn { Kind::Turn } else { [Kind::User, Kind::Project][number as usize / 2 % 2] };
    let mut source = MemorySource::new(if is_turn { Origin::Observe } else { Origin::Remember });
    if is_turn {
        source.session = Some(format!("session-{}", generated.session));
        source.role = Some([Role::User, Role::Assistant][number as usize / 2 % 2]);
    }
    let text = if is_turn { generated.text } else { statement(corpus, number, generated.text) };
    let mut memory = Memory::with_content(&Scope::default(), kind, text, source, at, now);
    memory.uri = format!("agent://default/{kind}/{}", memory.id);
    Ok(memory)
}

/// Returns the text of a statement: generated, after a template that thousands share, or a repetition.
fn statement(corpus: &Corpus, number: u32, generated: String) -> String {
    match number / 2 % DUPLICATES {
        0 => corpus.memory(number.into(), 0, number.saturating_sub(4)).text.to_uppercase(),
        1..4 => {
            format!("The server of project {} runs on port {}.", number % 997, 8_000 + number % 7)
        }
        4 => format!("项目{}的截止日期是{}月{}日", number % 499, number % 12 + 1, number % 28 + 1),
        5 => format!("I prefer {generated}"),
        _ => generated,
    }
}
