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
use client::Client;
use serde_json::json;
pub(crate) use server::Server;

use crate::{corpus::Corpus, random::Random};

/// Users whose memories are asked; each client asks for all of them in turn.
const USERS: u64 = 16;

/// How often the server's memory is read while it is asked.
const READINGS: u32 = 4;

/// What the clients ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Load {
    /// A handler that does nothing.
    Nothing,
    /// Saves and recalls, one by one.
    Mixed,
    /// Recalls alone.
    Recalls,
}

impl Load {
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
pub(crate) struct Ran {
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
    server: &Server,
    load: Load,
    clients: usize,
    length: Duration,
    meanwhile: impl FnOnce() + Send,
) -> Result<Ran> {
    let (ran, over) = (Mutex::new(Ran::default()), AtomicBool::new(false));
    let corpus = Corpus::new(100_000, 7);
    std::thread::scope(|scope| {
        for number in 0..clients {
            let (ran, over, corpus) = (&ran, &over, &corpus);
            scope.spawn(move || {
                let own = ask_until(server, load, number as u64, corpus, over);
                let mut ran = ran.lock().unwrap_or_else(PoisonError::into_inner);
                ran.times.extend(own.times);
                ran.saved.extend(own.saved);
                ran.failed.extend(own.failed);
            });
        }
        scope.spawn(meanwhile);
        for _ in 0..READINGS {
            std::thread::sleep(length / READINGS);
            let memory = server.memory_bytes().unwrap_or(0);
            ran.lock().unwrap_or_else(PoisonError::into_inner).memory.push(memory);
        }
        over.store(true, Ordering::Relaxed);
    });
    Ok(ran.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// One client: asks until it is over, or until the server is gone.
fn ask_until(server: &Server, load: Load, number: u64, corpus: &Corpus, over: &AtomicBool) -> Ran {
    let mut ran = Ran::default();
    let mut random = Random::keyed(&[number, load as u64]);
    let mut client = match Client::connect(server) {
        Ok(client) => client,
        Err(error) => return Ran { failed: vec![error.to_string()], ..ran },
    };
    let mut asked = 0u32;
    while !over.load(Ordering::Relaxed) {
        let user = random.below(USERS) as u32;
        let saves = load == Load::Mixed && random.below(2) == 0;
        let begun = Instant::now();
        let answer = match (load, saves) {
            (Load::Nothing, _) => client.get("/health"),
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
