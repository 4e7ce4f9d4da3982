//! Measures loading, durable saves, queries and opening of one subject on one corpus.

use anyhow::Result;
use serde::Serialize;

use super::subject::ScaleSubject;
use crate::{
    corpus::{Corpus, GeneratedMemory, ScopeClass},
    timing::{SampleStats, timed},
};

const SAVES: u32 = 100;
const REOPENS: u32 = 10;

/// Figures of a subject at one total.
#[derive(Debug, Serialize)]
pub(crate) struct ScaleResult {
    pub(crate) subject: &'static str,
    pub(crate) total: u32,
    pub(crate) memories_per_second: f64,
    pub(crate) bytes_per_memory: f64,
    pub(crate) save_ms: SampleStats,
    pub(crate) queries: Vec<ScopeClassTimes>,
    pub(crate) first_recall_ms: SampleStats,
}

/// Query times in the scopes of one class.
#[derive(Debug, Serialize)]
pub(crate) struct ScopeClassTimes {
    pub(crate) class: ScopeClass,
    pub(crate) scope_size: u32,
    /// Mean number of memories returned.
    pub(crate) found: f64,
    pub(crate) ms: SampleStats,
}

impl ScaleResult {
    /// Returns the query times of a class.
    pub(crate) fn class(&self, class: ScopeClass) -> Option<&ScopeClassTimes> {
        self.queries.iter().find(|times| times.class == class)
    }
}

/// Size of a measurement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScaleRun {
    /// Memories of the corpus.
    pub(crate) total: u32,
    /// Queries in each class of scopes.
    pub(crate) queries: u32,
    /// Memories of one batch while loading.
    pub(crate) batch: usize,
}

/// Measures a new subject.
pub(crate) fn measure(
    mut subject: Box<dyn ScaleSubject>,
    name: &'static str,
    corpus: &Corpus,
    run: ScaleRun,
) -> Result<ScaleResult> {
    let ScaleRun { total, queries, batch } = run;
    let seconds = load_corpus(subject.as_mut(), corpus, batch)?;
    eprintln!("{name} loaded in {seconds:.0} s");
    subject.reopen()?;
    let measured = |class| time_queries(subject.as_mut(), corpus, class, queries);
    let queries = ScopeClass::ALL.into_iter().map(measured).collect::<Result<_>>()?;
    Ok(ScaleResult {
        subject: name,
        total,
        memories_per_second: f64::from(total) / seconds,
        bytes_per_memory: subject.bytes()? as f64 / f64::from(total),
        queries,
        first_recall_ms: time_first_recalls(subject.as_mut(), corpus)?,
        save_ms: time_saves(subject.as_mut(), corpus, total)?,
    })
}

/// Loads a corpus in batches and returns the seconds.
pub(super) fn load_corpus(
    subject: &mut dyn ScaleSubject,
    corpus: &Corpus,
    batch: usize,
) -> Result<f64> {
    let mut stream = corpus.stream();
    let mut ms = 0.0;
    loop {
        let batch: Vec<GeneratedMemory> = stream.by_ref().take(batch).collect();
        if batch.is_empty() {
            ms += timed(|| subject.finish_loading())?.1;
            return Ok(ms / 1e3);
        }
        ms += timed(|| subject.load(&batch))?.1;
    }
}

/// Times queries in the scopes of a class, after a few others that warm the caches.
fn time_queries(
    subject: &mut dyn ScaleSubject,
    corpus: &Corpus,
    class: ScopeClass,
    queries: u32,
) -> Result<ScopeClassTimes> {
    let scopes = corpus.scopes_of(class);
    let warm = queries / 5;
    let (mut times, mut found) = (Vec::new(), 0);
    for number in 0..queries + warm {
        let scope = scopes[number as usize % scopes.len()];
        let text = corpus.query(scope, number);
        let (count, ms) = timed(|| subject.query(scope, &text))?;
        if number >= warm {
            times.push(ms);
            found += count;
        }
    }
    let found = found as f64 / f64::from(queries.max(1));
    Ok(ScopeClassTimes {
        class,
        scope_size: corpus.size(scopes[0]),
        found,
        ms: SampleStats::from_samples(times),
    })
}

/// Times opening plus one recall, in another small scope each time; the system's page cache stays warm.
fn time_first_recalls(subject: &mut dyn ScaleSubject, corpus: &Corpus) -> Result<SampleStats> {
    let scopes = corpus.scopes_of(ScopeClass::Small);
    let mut times = Vec::new();
    for number in 0..REOPENS {
        let scope = scopes[number as usize * 31 % scopes.len()];
        let text = corpus.query(scope, number);
        let recall = || subject.reopen().and_then(|()| subject.query(scope, &text));
        times.push(timed(recall)?.1);
    }
    Ok(SampleStats::from_samples(times))
}

/// Times durable saves into small scopes.
fn time_saves(subject: &mut dyn ScaleSubject, corpus: &Corpus, total: u32) -> Result<SampleStats> {
    let scopes = corpus.scopes_of(ScopeClass::Small);
    let mut times = Vec::new();
    for number in 0..SAVES {
        let scope = scopes[number as usize * 7 % scopes.len()];
        let memory = corpus.memory((total + number).into(), scope, corpus.size(scope) + number);
        times.push(timed(|| subject.save_one(&memory))?.1);
    }
    Ok(SampleStats::from_samples(times))
}
