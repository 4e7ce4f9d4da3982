//! Idempotent writes: one with an `Idempotency-Key` is made once, however often it is sent.
//!
//! The journal keeps a digest of the key in the same transaction as the change, and tells what an earlier request did.
//! So the promise holds for as long as the journal, even if the server is killed between the write and its response.

use std::{collections::HashSet, sync::Mutex};

use axum::{
    extract::FromRequestParts,
    http::{StatusCode, request::Parts},
};
use everlore::{
    Engine, Error, Memory, MemoryId, Status,
    engine::{DoubtedMemory, SaveReceipt, SavedMemory, SupersededMemory, UndoRun},
    store::JournalQuery,
    types::{ChangeAuthor, ChangeOp, JournalEntry, SINGLE_WRITE_RUN},
};
use sha2::{Digest, Sha256};

use crate::{Access, App, Problem, lock, token::hex};

/// Longest key; a uuid has 36 bytes.
const MAX_KEY_BYTES: usize = 200;

/// Idempotency keys of requests in progress.
#[derive(Default)]
pub(crate) struct InFlightKeys(Mutex<HashSet<String>>);

/// Idempotency key of a request, if it has one.
pub(crate) struct IdempotencyKey(Option<String>);

impl FromRequestParts<App> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let mut given = parts.headers.get_all("idempotency-key").iter();
        let (key, more) = (given.next(), given.next());
        let key = key.map(|key| String::from_utf8_lossy(key.as_bytes()).into_owned());
        let fits = key.as_ref().is_none_or(|key| (1..=MAX_KEY_BYTES).contains(&key.len()));
        if fits && more.is_none() {
            return Ok(Self(key));
        }
        Err(Problem::invalid(
            "the Idempotency-Key cannot be used",
            "give one key of up to 200 bytes, such as a uuid",
        ))
    }
}

/// Write with an idempotency key; its key is in progress until this is dropped.
pub(crate) struct IdempotentWrite {
    access: Access,
    run: String,
    reason: String,
}

impl IdempotentWrite {
    /// Begins a write of `operation` with `body`; `None` if it has no key.
    pub(crate) fn begin(
        access: &Access,
        key: IdempotencyKey,
        operation: &str,
        body: &[u8],
    ) -> Result<Option<Self>, Problem> {
        let Some(key) = key.0 else { return Ok(None) };
        let digest = |parts: &[&[u8]]| {
            let mut digest = Sha256::new();
            for part in parts {
                digest.update((part.len() as u64).to_le_bytes());
                digest.update(part);
            }
            hex(&digest.finalize()[..16])
        };
        let scope = &access.scope;
        let scoped_key =
            digest(&[scope.agent().as_bytes(), scope.user().as_bytes(), key.as_bytes()]);
        let run = format!("{SINGLE_WRITE_RUN}{scoped_key}");
        let mut in_flight = lock(&access.app.in_flight_keys.0);
        if !in_flight.insert(run.clone()) {
            return Err(in_progress());
        }
        let reason =
            format!("{operation} over HTTP {}", &digest(&[operation.as_bytes(), body])[..12]);
        Ok(Some(Self { access: access.clone(), run, reason }))
    }

    /// Makes the write, unless an earlier request with this key did; a server beside this one may be making it right now.
    pub(crate) async fn make<F>(
        &self,
        write: impl FnOnce(Engine) -> F,
    ) -> Result<Vec<SavedMemory>, Problem>
    where
        F: Future<Output = everlore::Result<Vec<SavedMemory>>>,
    {
        if let Some(saved) = self.earlier_result().await? {
            return Ok(saved);
        }
        match write(self.engine()).await {
            Err(Error::Repeated { .. }) => self.earlier_result().await?.ok_or_else(in_progress),
            outcome => Ok(outcome?),
        }
    }

    /// Returns the engine that journals its changes under the key.
    fn engine(&self) -> Engine {
        let (reason, run) = (Some(self.reason.clone()), Some(self.run.clone()));
        self.access.engine_for(ChangeAuthor { reason, run, ..self.access.author() })
    }

    /// Returns the result of an earlier request with this key; `None` if there was none.
    async fn earlier_result(&self) -> Result<Option<Vec<SavedMemory>>, Problem> {
        let query = JournalQuery { run: Some(self.run.clone()), ..JournalQuery::default() };
        let mut entries = self.access.app.engine.history(&self.access.scope, &query).await?;
        // The journal also has the undo of the run, which is not the result of the request.
        entries.retain(|entry| entry.cause.contains(" over HTTP "));
        entries.reverse();
        match entries.first() {
            None => Ok(None),
            Some(first) if first.cause != self.reason => Err(key_reused()),
            Some(_) => Ok(Some(self.saved_from_journal(entries).await?)),
        }
    }

    async fn saved_from_journal(
        &self,
        entries: Vec<JournalEntry>,
    ) -> Result<Vec<SavedMemory>, Problem> {
        let mut saved: Vec<SavedMemory> = Vec::new();
        for JournalEntry { id, seq, at, op, before, after, .. } in entries {
            if let (Some(before), Some(after), Some(last)) = (&before, &after, saved.last_mut())
                && before.status == Status::Active
                && after.superseded_by == Some(last.id)
            {
                last.superseded.push(SupersededMemory::new(before, last.id));
                last.undo = Some(UndoRun { run: self.run.clone() });
                continue;
            }
            let memory = match after {
                Some(memory) => *memory,
                None => self.current_memory(id).await?,
            };
            let may_replace = self.doubted_memory(&memory).await?;
            let receipt = SaveReceipt { seq, at, known: op == ChangeOp::Update, verified: true };
            let (uri, kind, status) = (memory.uri, memory.kind, memory.status);
            let (masked, superseded) = (Vec::new(), Vec::new());
            saved.push(SavedMemory {
                id,
                uri,
                kind,
                status,
                receipt,
                masked,
                superseded,
                may_replace,
                undo: None,
            });
        }
        Ok(saved)
    }
}

impl IdempotentWrite {
    /// Returns the older memory that a saved one may replace, unless it is gone.
    async fn doubted_memory(&self, memory: &Memory) -> Result<Option<DoubtedMemory>, Problem> {
        let Some(older) = memory.may_replace() else { return Ok(None) };
        match self.access.app.engine.get(&self.access.scope, older).await {
            Err(Error::NotFound { .. }) => Ok(None),
            older => Ok(older.map(|it| Some(DoubtedMemory { id: it.id, content: it.content }))?),
        }
    }

    async fn current_memory(&self, id: MemoryId) -> Result<Memory, Problem> {
        match self.access.app.engine.get(&self.access.scope, id).await {
            Err(Error::NotFound { .. }) => Err(already_removed(id)),
            memory => Ok(memory?),
        }
    }
}

impl Drop for IdempotentWrite {
    fn drop(&mut self) {
        let mut in_flight = lock(&self.access.app.in_flight_keys.0);
        in_flight.remove(&self.run);
    }
}

fn in_progress() -> Problem {
    Problem {
        retry_after: Some(1),
        ..Problem::new(
            StatusCode::CONFLICT,
            "in_progress",
            "a request with this Idempotency-Key is in progress",
            "wait a moment and send it again",
        )
    }
}

fn already_removed(id: MemoryId) -> Problem {
    Problem::new(
        StatusCode::GONE,
        "gone",
        format!("an earlier request with this key saved memory `{id}`, which was removed since"),
        "use a new key to save it again",
    )
}

fn key_reused() -> Problem {
    Problem::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "key_reused",
        "another request had this Idempotency-Key",
        "use a new key for each request",
    )
}
