//! Requests that are sent again: a write with an `Idempotency-Key` is made once, however often it arrives.
//!
//! What was done is found in the journal, where the key stands (as a digest) in the same transaction as the change. So the
//! promise holds for as long as the journal is kept, also when the server was killed between the write and its answer.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
};

use axum::{
    extract::FromRequestParts,
    http::{StatusCode, request::Parts},
};
use everlore::{
    Engine, Error, Memory, MemoryId,
    ingest::{SaveReceipt, SavedMemory},
    store::JournalQuery,
    types::{ChangeAuthor, ChangeOp, JournalEntry},
};
use sha2::{Digest, Sha256};

use crate::{auth::Access, problem::Problem, token::hex};

/// The longest key; a uuid has 36.
const MAX_KEY_BYTES: usize = 200;

/// Keys of requests that are being answered.
#[derive(Default)]
pub(crate) struct InFlightKeys(Mutex<HashSet<String>>);

/// The key of a request, if it has one.
pub(crate) struct IdempotencyKey(Option<String>);

impl<S: Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let mut given = parts.headers.get_all("idempotency-key").iter();
        let (key, more) = (given.next(), given.next());
        let key = key.map(|key| String::from_utf8_lossy(key.as_bytes()).into_owned());
        let fits = key.as_ref().is_none_or(|key| (1..=MAX_KEY_BYTES).contains(&key.len()));
        match fits && more.is_none() {
            true => Ok(Self(key)),
            false => Err(Problem::invalid(
                "the Idempotency-Key cannot be used",
                "give one key of up to 200 bytes, such as a uuid",
            )),
        }
    }
}

/// A write that is to be made once.
pub(crate) struct IdempotentWrite {
    access: Access,
    run: String,
    cause: String,
}

impl IdempotentWrite {
    /// Begins the write; nothing if it has no key. `what` is done with `body`.
    pub(crate) fn begin(
        access: &Access,
        key: IdempotencyKey,
        what: &str,
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
        let own = digest(&[scope.agent().as_bytes(), scope.user().as_bytes(), key.as_bytes()]);
        let run = format!("http-{own}");
        let mut under_way =
            access.app.in_flight_keys.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !under_way.insert(run.clone()) {
            return Err(in_progress());
        }
        let cause = format!("{what} over HTTP {}", &digest(&[what.as_bytes(), body])[..12]);
        Ok(Some(Self { access: access.clone(), run, cause }))
    }

    /// The engine, whose changes bear the key.
    pub(crate) fn engine(&self) -> Engine {
        let (cause, run) = (Some(self.cause.clone()), Some(self.run.clone()));
        self.access.app.engine.on_behalf_of(ChangeAuthor {
            reason: cause,
            run,
            ..self.access.author()
        })
    }

    /// What the write did when it came before; nothing if it is new.
    pub(crate) async fn earlier_result(&self) -> Result<Option<Vec<SavedMemory>>, Problem> {
        let query = JournalQuery { run: Some(self.run.clone()), ..JournalQuery::default() };
        let mut lines = self.access.app.engine.history(&self.access.scope, &query).await?;
        // Undoing a run is part of its story, and not what was asked for.
        lines.retain(|line| line.cause.contains(" over HTTP "));
        lines.reverse();
        match lines.first() {
            None => Ok(None),
            Some(first) if first.cause != self.cause => Err(key_reused()),
            Some(_) => Ok(Some(self.saved_from_journal(lines).await?)),
        }
    }

    async fn saved_from_journal(
        &self,
        lines: Vec<JournalEntry>,
    ) -> Result<Vec<SavedMemory>, Problem> {
        let mut saved = Vec::new();
        for JournalEntry { id, seq, at, op, after, .. } in lines {
            let memory = match after {
                Some(memory) => *memory,
                None => self.current_memory(id).await?,
            };
            let receipt = SaveReceipt { seq, at, known: op == ChangeOp::Update, verified: true };
            let (uri, kind, status) = (memory.uri, memory.kind, memory.status);
            saved.push(SavedMemory { id, uri, kind, status, receipt, masked: Vec::new() });
        }
        Ok(saved)
    }
}

impl IdempotentWrite {
    async fn current_memory(&self, id: MemoryId) -> Result<Memory, Problem> {
        match self.access.app.engine.get(&self.access.scope, id).await {
            Err(Error::NotFound { .. }) => Err(already_removed(id)),
            found => Ok(found?),
        }
    }
}

impl Drop for IdempotentWrite {
    fn drop(&mut self) {
        let mut under_way =
            self.access.app.in_flight_keys.0.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.remove(&self.run);
    }
}

fn in_progress() -> Problem {
    Problem {
        retry_after: Some(1),
        ..Problem::new(
            StatusCode::CONFLICT,
            "in_progress",
            "a request with this Idempotency-Key is being answered",
            "wait a moment and send it again",
        )
    }
}

fn already_removed(id: MemoryId) -> Problem {
    Problem::new(
        StatusCode::GONE,
        "gone",
        format!("this request was answered before, and memory `{id}` was removed since"),
        "make a new key to save it again",
    )
}

fn key_reused() -> Problem {
    Problem::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "key_reused",
        "another request had this Idempotency-Key",
        "make a new key for each request",
    )
}
