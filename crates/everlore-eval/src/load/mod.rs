//! Load test: many clients on one server.

mod client;
mod server;

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Result;
use client::LoadClient;
use everlore::internal::lock;
use serde_json::json;
pub(crate) use server::ServerProcess;

use crate::{corpus::Corpus, random::SplitMix64};

/// Users of the load; each client goes through all of them in turn.
const USERS: u64 = 16;

/// Samples of the server's memory during a load.
const MEMORY_READINGS: u32 = 4;

/// Requests of the clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadKind {
    /// Requests to a handler that does nothing.
    Nothing,
    /// Saves and recalls in turn.
    Mixed,
    /// Recalls alone.
    Recalls,
}

impl LoadKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nothing => "bare handler (/health)",
            Self::Mixed => "saves and recalls",
            Self::Recalls => "recalls alone",
        }
    }
}

/// Result of a load.
#[derive(Default)]
pub(crate) struct LoadResult {
    /// Milliseconds of each successful request.
    pub(crate) times: Vec<f64>,
    /// Users and ids of memories whose save was acknowledged.
    pub(crate) saved: Vec<(u32, String)>,
    /// Errors of failed requests.
    pub(crate) failed: Vec<String>,
    /// Bytes of the server's memory over time.
    pub(crate) memory: Vec<u64>,
}

/// Runs the clients for a time; `meanwhile` runs beside them.
pub(crate) fn run(
    server: &ServerProcess,
    load: LoadKind,
    clients: usize,
    length: Duration,
    meanwhile: impl FnOnce() + Send,
) -> Result<LoadResult> {
    let (ran, over) = (Mutex::new(LoadResult::default()), AtomicBool::new(false));
    let corpus = Corpus::new(100_000, 7);
    std::thread::scope(|scope| {
        for number in 0..clients {
            let (ran, over, corpus) = (&ran, &over, &corpus);
            scope.spawn(move || {
                let own = run_client(server, load, number as u64, corpus, over);
                let mut ran = lock(ran);
                ran.times.extend(own.times);
                ran.saved.extend(own.saved);
                ran.failed.extend(own.failed);
            });
        }
        scope.spawn(meanwhile);
        for _ in 0..MEMORY_READINGS {
            std::thread::sleep(length / MEMORY_READINGS);
            let memory = server.memory_bytes().unwrap_or(0);
            lock(&ran).memory.push(memory);
        }
        over.store(true, Ordering::Relaxed);
    });
    Ok(ran.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Sends requests until the time is over or the server is gone.
fn run_client(
    server: &ServerProcess,
    load: LoadKind,
    number: u64,
    corpus: &Corpus,
    over: &AtomicBool,
) -> LoadResult {
    let mut ran = LoadResult::default();
    let mut random = SplitMix64::from_keys(&[number, load as u64]);
    let mut client = match LoadClient::connect(server) {
        Ok(client) => client,
        Err(error) => return LoadResult { failed: vec![error.to_string()], ..ran },
    };
    let mut sent = 0u32;
    while !over.load(Ordering::Relaxed) {
        let user = random.below(USERS) as u32;
        let saves = load == LoadKind::Mixed && random.below(2) == 0;
        let begun = Instant::now();
        let answer = match (load, saves) {
            (LoadKind::Nothing, _) => client.get("/health"),
            (_, true) => {
                let memory = corpus.memory(sent.into(), user, sent);
                let text = format!("{} ({number}-{sent})", memory.text);
                client.post(&format!("/v1/memories?user=u{user}"), &json!({ "content": text }))
            }
            (_, false) => {
                let query = corpus.query(user, sent);
                client.post(&format!("/v1/recall?user=u{user}"), &json!({ "query": query }))
            }
        };
        sent += 1;
        match answer {
            Ok(body) => {
                ran.times.push(begun.elapsed().as_secs_f64() * 1e3);
                let id = body["id"].as_str().map(str::to_owned);
                ran.saved.extend(id.filter(|_| saves).map(|id| (user, id)));
            }
            Err(error) => {
                ran.failed.push(error.to_string());
                return ran;
            }
        }
    }
    ran
}
