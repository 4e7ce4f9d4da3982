//! Clients that write: each write is repeated under its idempotency key, through other servers too, until it is
//! acknowledged.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use everlore::internal::lock;
use serde_json::json;

use super::{
    client::{ClusterClient, HttpAnswer, PATIENCE},
    fleet::ServerAccess,
};
use crate::random::SplitMix64;

/// Users of the clients: some clients write to the same scope at once.
pub(super) const USERS: usize = 4;

/// Wait before a write is sent again: short, because the time until a success is measured.
const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// Time after which an impatient client gives up: shorter than a silence of the network.
const SHORT_PATIENCE: Duration = Duration::from_secs(1);

/// Time for which writes under way are repeated after the end of the load.
const DRAIN_LIMIT: Duration = Duration::from_secs(60);

const SUBJECTS: [&str; 8] =
    ["lantern", "orchard", "harbour", "violin", "glacier", "compass", "mosaic", "canyon"];
const PLACES: [&str; 8] =
    ["attic", "cellar", "workshop", "library", "garage", "balcony", "pantry", "studio"];

/// Form of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WriteKind {
    Memory,
    Turn,
}

/// Write that a server acknowledged.
#[derive(Debug, Clone)]
pub(super) struct AcknowledgedWrite {
    pub(super) user: usize,
    pub(super) kind: WriteKind,
    pub(super) id: String,
    pub(super) text: String,
    pub(super) client: usize,
    pub(super) at: Instant,
}

/// Record of what the clients did.
#[derive(Debug, Default)]
pub(super) struct WriteLog {
    pub(super) acknowledged: Vec<AcknowledgedWrite>,
    /// Texts whose last attempt failed: each may be stored once or not at all.
    pub(super) uncertain: Vec<(usize, WriteKind, String)>,
    /// Failed attempts by what was said.
    pub(super) failures: BTreeMap<String, usize>,
    /// Failures that were not retryable as documented.
    pub(super) faults: Vec<String>,
    /// Seconds of the longest request.
    pub(super) longest: f64,
    /// Milliseconds of recalls and writes.
    pub(super) times: Vec<f64>,
}

/// Load of the clients.
#[derive(Debug, Clone, Copy)]
pub(super) struct WriteLoad {
    pub(super) clients: usize,
    /// Set to recall after every write.
    pub(super) recalls: bool,
    /// Set to let every fourth client give up early and send the same write to another server, while the first may be
    /// making it.
    pub(super) has_impatient: bool,
    /// Number that makes the texts of this load different from those of others.
    pub(super) number: u64,
}

/// Runs clients beside `meanwhile`, until it returns; then waits for the writes under way.
pub(super) fn write_while<T>(
    servers: &[ServerAccess],
    load: WriteLoad,
    meanwhile: impl FnOnce(&Mutex<WriteLog>) -> T,
) -> (T, WriteLog) {
    let (log, over) = (Mutex::new(WriteLog::default()), AtomicBool::new(false));
    let outcome = thread::scope(|scope| {
        for client in 0..load.clients {
            let writer = Writer::new(client, load, servers, &log, &over);
            scope.spawn(move || writer.run());
        }
        let outcome = meanwhile(&log);
        over.store(true, Ordering::Relaxed);
        outcome
    });
    (outcome, log.into_inner().unwrap_or_else(PoisonError::into_inner))
}

struct Writer<'a> {
    number: usize,
    load: WriteLoad,
    client: ClusterClient,
    random: SplitMix64,
    log: &'a Mutex<WriteLog>,
    over: &'a AtomicBool,
    /// Time at which the end of the load was noticed.
    ended: Option<Instant>,
}

/// Write that is being sent.
struct PendingWrite {
    kind: WriteKind,
    text: String,
    key: String,
}

impl<'a> Writer<'a> {
    fn new(
        number: usize,
        load: WriteLoad,
        servers: &[ServerAccess],
        log: &'a Mutex<WriteLog>,
        over: &'a AtomicBool,
    ) -> Self {
        let is_impatient = load.has_impatient && number % 4 == 3;
        let patience = if is_impatient { SHORT_PATIENCE } else { PATIENCE };
        let client = ClusterClient::new(servers.to_vec(), number, patience);
        let random = SplitMix64::from_keys(&[load.number, number as u64]);
        Self { number, load, client, random, log, over, ended: None }
    }

    fn run(mut self) {
        let mut sent = 0;
        while !self.over.load(Ordering::Relaxed) {
            let write = self.next_write(sent);
            sent += 1;
            if self.load.recalls {
                self.recall(&write.text);
            }
            self.send_until_acknowledged(write);
        }
    }

    /// Composes a write that no other resembles: every third is a turn, which asks, so that nothing is captured from it.
    fn next_write(&mut self, sent: u64) -> PendingWrite {
        let marker = format!("w{}x{}x{sent}", self.load.number, self.number);
        let (subject, place) = (self.random.pick(&SUBJECTS), self.random.pick(&PLACES));
        let kind = if sent % 3 == 2 { WriteKind::Turn } else { WriteKind::Memory };
        let text = match kind {
            WriteKind::Memory => format!("Item {marker} is the {subject} in the {place}."),
            WriteKind::Turn => format!("Where is item {marker}, the {subject} of the {place}?"),
        };
        PendingWrite { kind, text, key: marker }
    }

    fn send_until_acknowledged(&mut self, write: PendingWrite) {
        loop {
            let began = Instant::now();
            let answer = self.send(&write);
            self.note_time(began);
            match answer {
                Ok(answer) if answer.is_success() => return self.acknowledge(write, &answer),
                Ok(answer) => self.note_refusal(&answer),
                Err(error) => self.note_failure(format!("{error:#}")),
            }
            if self.is_drained() {
                let user = self.user();
                lock(self.log).uncertain.push((user, write.kind, write.text));
                return;
            }
            self.client.next_server();
            thread::sleep(RETRY_PAUSE);
        }
    }

    fn send(&mut self, write: &PendingWrite) -> anyhow::Result<HttpAnswer> {
        let user = self.user();
        match write.kind {
            WriteKind::Memory => {
                let body = json!({ "content": write.text });
                self.client.post(&format!("/v1/memories?user=u{user}"), Some(&write.key), &body)
            }
            WriteKind::Turn => {
                let body = json!({ "text": write.text, "session": format!("s{}", self.number) });
                self.client.post(&format!("/v1/turns?user=u{user}"), Some(&write.key), &body)
            }
        }
    }

    fn recall(&mut self, text: &str) {
        let (began, user) = (Instant::now(), self.user());
        let answer =
            self.client.post(&format!("/v1/recall?user=u{user}"), None, &json!({ "query": text }));
        self.note_time(began);
        match answer {
            Ok(answer) if answer.is_success() => {}
            Ok(answer) => self.note_refusal(&answer),
            Err(error) => self.note_failure(format!("{error:#}")),
        }
    }

    fn user(&self) -> usize {
        self.number % USERS
    }

    fn acknowledge(&self, write: PendingWrite, answer: &HttpAnswer) {
        let id = answer.body["id"].as_str().unwrap_or_default().to_owned();
        let PendingWrite { kind, text, .. } = write;
        let (user, client, at) = (self.user(), self.number, Instant::now());
        lock(self.log).acknowledged.push(AcknowledgedWrite { user, kind, id, text, client, at });
    }

    /// Notes an answer that is no success: it must say that the request can be sent again.
    fn note_refusal(&self, answer: &HttpAnswer) {
        let (status, code) = (answer.status, answer.body["code"].as_str().unwrap_or("?"));
        let said = format!("{status} {code}");
        let mut log = lock(self.log);
        if !(answer.has_retry_after && [409, 503].contains(&status)) {
            log.faults.push(format!("{said}: {}", answer.body));
        }
        *log.failures.entry(said).or_default() += 1;
    }

    fn note_failure(&self, said: String) {
        *lock(self.log).failures.entry(said).or_default() += 1;
    }

    fn note_time(&self, began: Instant) {
        let seconds = began.elapsed().as_secs_f64();
        let mut log = lock(self.log);
        log.longest = log.longest.max(seconds);
        log.times.push(seconds * 1e3);
    }

    /// Returns `true` when the load ended so long ago that a write is given up.
    fn is_drained(&mut self) -> bool {
        if self.over.load(Ordering::Relaxed) {
            return self.ended.get_or_insert_with(Instant::now).elapsed() > DRAIN_LIMIT;
        }
        false
    }
}
