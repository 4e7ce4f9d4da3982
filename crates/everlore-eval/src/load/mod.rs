//! Many clients on one server.

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

/// Users whose memories are asked; each client asks for all of them in turn.
const USERS: u64 = 16;

/// How often the server's memory is read while it is asked.
const MEMORY_READINGS: u32 = 4;

/// What the clients ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadKind {
    /// A handler that does nothing.
    Nothing,
    /// Saves and recalls, one by one.
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

/// What came of it.
#[derive(Default)]
pub(crate) struct LoadResult {
    /// Milliseconds of each request that was answered.
    pub(crate) times: Vec<f64>,
    /// The users and ids of memories whose save was acknowledged.
    pub(crate) saved: Vec<(u32, String)>,
    /// Why requests failed.
    pub(crate) failed: Vec<String>,
    /// The bytes of the server's memory, in time.
    pub(crate) memory: Vec<u64>,
}

/// Has clients ask for a time; `meanwhile` runs beside them.
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

/// One client: asks until it is over, or until the server is gone.
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
    let mut asked = 0u32;
    while !over.load(Ordering::Relaxed) {
        let user = random.below(USERS) as u32;
        let saves = load == LoadKind::Mixed && random.below(2) == 0;
        let begun = Instant::now();
        let answer = match (load, saves) {
            (LoadKind::Nothing, _) => client.get("/health"),
            (_, true) => {
                let said = corpus.memory(asked.into(), user, asked);
                let text = format!("{} ({number}-{asked})", said.text);
                client.post(&format!("/v1/memories?user=u{user}"), &json!({ "content": text }))
            }
            (_, false) => {
                let query = corpus.query(user, asked);
                client.post(&format!("/v1/recall?user=u{user}"), &json!({ "query": query }))
            }
        };
        asked += 1;
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
