//! Loads one layout with a corpus and measures what it costs to fill, to save to, to ask and to open.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::Result;
use serde::Serialize;

use super::{Doc, Kind, Layout};
use crate::{
    corpus::{Corpus, ScopeClass},
    random::SplitMix64,
    terms::{BaselineTerm, hashed_terms},
    timing::{SampleStats, cpu_seconds, timed},
};

/// Memories of one transaction while loading.
const BATCH: usize = 2_000;
/// Durable saves measured, spread over the scopes.
const SAVES: u32 = 256;
/// Saves into one scope: enough for sixteen seals and two merges of layout 3.
const RUN_OF_SAVES: u32 = 1_024;
/// How often the file is opened anew for a first query.
const REOPENS: u32 = 20;
/// A frame of the write-ahead log: a page and its header.
const FRAME_BYTES: u64 = 4096 + 24;

/// What was measured of one layout at one total.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    pub(crate) layout: &'static str,
    pub(crate) total: u32,
    /// Fewer than the total when time ran out; then nothing below the bulk figures was measured.
    pub(crate) loaded: u32,
    pub(crate) bulk_us: f64,
    pub(crate) bulk_cpu_us: Option<f64>,
    pub(crate) bytes: f64,
    /// Durable saves spread over the scopes.
    pub(crate) save: Saves,
    /// Many saves into one scope, not waiting for the disk: what seals and merges add.
    pub(crate) run_of_saves: Saves,
    pub(crate) queries: Vec<ClassTimes>,
    pub(crate) first_query_ms: SampleStats,
}

/// Saves, each in a transaction of its own: their time and the pages they wrote.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Saves {
    pub(crate) ms: SampleStats,
    pub(crate) pages: SampleStats,
}

/// Query times in the scopes of one class.
#[derive(Debug, Serialize)]
pub(crate) struct ClassTimes {
    pub(crate) class: ScopeClass,
    pub(crate) scope_size: u32,
    /// Postings returned by a query, on average.
    pub(crate) postings: f64,
    pub(crate) ms: SampleStats,
}

/// How much to measure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) queries: u32,
    pub(crate) max_load_seconds: f64,
}

/// Measures one layout in a file of its own inside `folder`.
pub(crate) fn measure(
    kind: Kind,
    corpus: &Corpus,
    total: u32,
    effort: Effort,
    folder: &Path,
) -> Result<Measured> {
    let path = folder.join(format!("{}-{total}.db", kind.name()));
    let mut layout = kind.open(&path)?;
    let mut measured = load(kind, layout.as_mut(), corpus, total, effort)?;
    if measured.loaded == total {
        measured.save = saves(layout.as_mut(), &later_docs(corpus), "full", &path)?;
        measured.run_of_saves = saves(layout.as_mut(), &run_of_docs(corpus), "normal", &path)?;
        measured.queries = ScopeClass::ALL
            .into_iter()
            .map(|class| ask(layout.as_mut(), corpus, class, effort.queries))
            .collect::<Result<_>>()?;
        drop(layout);
        measured.first_query_ms = first_queries(kind, corpus, &path)?;
    }
    fs::remove_file(&path)?;
    Ok(measured)
}

fn load(
    kind: Kind,
    layout: &mut dyn Layout,
    corpus: &Corpus,
    total: u32,
    effort: Effort,
) -> Result<Measured> {
    let mut stream = corpus.stream().map(|memory| Doc::new(memory.id, memory.scope, &memory.text));
    let (mut loaded, mut wall_ms, mut cpu) = (0, 0.0, Some(0.0));
    loop {
        let batch: Vec<Doc> = stream.by_ref().take(BATCH).collect();
        if batch.is_empty() || wall_ms > effort.max_load_seconds * 1e3 {
            break;
        }
        let before = cpu_seconds();
        wall_ms += timed(|| layout.insert_batch(&batch))?.1;
        cpu = cpu.zip(before).zip(cpu_seconds()).map(|((sum, start), end)| sum + end - start);
        loaded += batch.len() as u32;
    }
    checkpoint(layout)?;
    let per_memory = f64::from(loaded.max(1));
    Ok(Measured {
        layout: kind.name(),
        total,
        loaded,
        bulk_us: wall_ms * 1e3 / per_memory,
        bulk_cpu_us: cpu.map(|seconds| seconds * 1e6 / per_memory),
        bytes: database_bytes(layout)? / per_memory,
        save: Saves::default(),
        run_of_saves: Saves::default(),
        queries: vec![],
        first_query_ms: SampleStats::default(),
    })
}

/// Saves one by one. Pages are counted in the log, which only grows meanwhile.
fn saves(layout: &mut dyn Layout, docs: &[Doc], synchronous: &str, path: &Path) -> Result<Saves> {
    layout.connection().pragma_update(None, "synchronous", synchronous)?;
    layout.connection().pragma_update(None, "wal_autocheckpoint", 0)?;
    let log = wal_path(path);
    let (mut times, mut pages) = (Vec::new(), Vec::new());
    for doc in docs {
        let before = fs::metadata(&log).map_or(0, |file| file.len());
        times.push(timed(|| layout.save_one(doc))?.1);
        pages.push(((fs::metadata(&log)?.len() - before) / FRAME_BYTES) as f64);
    }
    layout.connection().pragma_update(None, "wal_autocheckpoint", 1_000)?;
    checkpoint(layout)?;
    Ok(Saves { ms: SampleStats::from_samples(times), pages: SampleStats::from_samples(pages) })
}

/// One scope of the middle class goes on and on.
fn run_of_docs(corpus: &Corpus) -> Vec<Doc> {
    let scope = corpus.scopes_of(ScopeClass::Middle)[0];
    let first = corpus.total() + i64::from(SAVES);
    (0..RUN_OF_SAVES)
        .map(|number| {
            let place = corpus.size(scope) + 2_000 + number;
            let memory = corpus.memory(first + i64::from(number), scope, place);
            Doc::new(memory.id, scope, &memory.text)
        })
        .collect()
}

/// Memories that come after the corpus, in scopes weighted by their size.
fn later_docs(corpus: &Corpus) -> Vec<Doc> {
    let mut random = SplitMix64::from_keys(&[0x7361_7665]);
    let first = corpus.total();
    let mut owners = corpus.stream().step_by((first / i64::from(SAVES)).max(1) as usize);
    (0..SAVES)
        .map(|number| {
            let scope = owners.next().map_or(0, |memory| memory.scope);
            let place = corpus.size(scope) + random.below(1_000) as u32;
            let memory = corpus.memory(first + i64::from(number), scope, place);
            Doc::new(memory.id, scope, &memory.text)
        })
        .collect()
}

/// Query times; as many other queries go before to warm the caches.
fn ask(
    layout: &mut dyn Layout,
    corpus: &Corpus,
    class: ScopeClass,
    queries: u32,
) -> Result<ClassTimes> {
    let scopes = corpus.scopes_of(class);
    let mut postings = 0;
    let mut times = Vec::new();
    for number in 0..queries * 2 {
        let scope = scopes[number as usize % scopes.len()];
        let asked = query_terms(corpus, scope, number);
        let start = Instant::now();
        let found = layout.query(scope, &asked)?;
        if number >= queries {
            times.push(start.elapsed().as_secs_f64() * 1e3);
            postings += found.lists.iter().map(Vec::len).sum::<usize>();
        }
    }
    let postings = postings as f64 / f64::from(queries.max(1));
    Ok(ClassTimes {
        class,
        scope_size: corpus.size(scopes[0]),
        postings,
        ms: SampleStats::from_samples(times),
    })
}

/// Opens the file and asks once, in another small scope each time. The system's own cache stays as it is.
fn first_queries(kind: Kind, corpus: &Corpus, path: &Path) -> Result<SampleStats> {
    let scopes = corpus.scopes_of(ScopeClass::Small);
    let mut times = Vec::new();
    for number in 0..REOPENS {
        let scope = scopes[number as usize * 31 % scopes.len()];
        let asked = query_terms(corpus, scope, number);
        let (_, ms) = timed(|| kind.open(path)?.query(scope, &asked))?;
        times.push(ms);
    }
    Ok(SampleStats::from_samples(times))
}

/// The distinct terms of a query, five to twelve of them.
fn query_terms(corpus: &Corpus, scope: u32, number: u32) -> Vec<BaselineTerm> {
    let mut seen = Vec::new();
    for term in hashed_terms(&corpus.query(scope, number)) {
        if !seen.contains(&term) && seen.len() < 12 {
            seen.push(term);
        }
    }
    seen
}

fn checkpoint(layout: &dyn Layout) -> Result<()> {
    layout.connection().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

fn database_bytes(layout: &dyn Layout) -> Result<f64> {
    let value =
        |name| layout.connection().pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    Ok((value("page_count")? * value("page_size")?) as f64)
}

fn wal_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}
