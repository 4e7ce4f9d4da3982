//! Checks of memories: signed when set in this home, and verified before memories are returned.
//!
//! One check:
//!
//! 1. `Engine::remember` and `Engine::edit` take a `NewCheck` (`everlore remember --check-path`). `prepare_check`
//!    verifies that it holds now, takes the digest of a file (`file_probe.rs`) and signs it with the key of the home
//!    (`check_mac.rs`). It is stored in the memory's metadata (`types/check.rs`), so export, history, undo and vaults
//!    carry it.
//! 2. Ranking ignores checks. `Engine::recall_at` calls `verify_and_demote` on the hits it is about to return: dates by
//!    the clock, files and commands (`run_command.rs`) on a thread, within a time limit. A hanging file system must not
//!    hang a recall, nor the end of the program. A check without a valid signature is not run.
//! 3. Hits whose check is stale go behind the others. `recall/answer/pack.rs` notes it beside the memory's age, in the
//!    words of `text/check_note.rs`.

mod file_probe;
mod run_command;
mod check_mac;

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, timeout, timeout_at},
};

use self::{check_mac::MacKeySource, file_probe::FileDigestCache, run_command::CommandResultCache};
use super::{Engine, SCAN_PAGE};
use crate::{
    error::{Error, Result},
    ingest::{MemoryEdit, RememberRequest},
    recall::{Hit, Recall, WhyNot},
    store::{MemoryFilter, MemoryPages},
    sync::boxed,
    text::secrets::find_secrets,
    types::{
        Actor, CHECK_KEY, Check, CheckReason, CheckResult, CheckStatus, Kind, Memory, NewCheck,
        Scope, StoredCheck, Trust,
    },
};

/// Time limit for verifying a memory that the caller named.
pub const NAMED_CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// Time limit per page when verifying a whole scope: a page may have many files, and a caller waits for the report.
pub(super) const PAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// Time limit for setting a check: the largest file takes a fraction of this, even from a slow disk.
const SAVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Most threads that read files or run commands at a time. More means that something hangs.
const MAX_THREADS: usize = 8;

type CheckResultSender = mpsc::UnboundedSender<(usize, CheckResult)>;

/// Verifier of checks, shared by all clones of an engine.
#[derive(Default)]
pub(super) struct CheckVerifier {
    key_source: MacKeySource,
    digests: FileDigestCache,
    command_results: CommandResultCache,
    threads: Arc<AtomicUsize>,
    /// Environment of commands; they get no other variables.
    environment: Vec<(OsString, OsString)>,
}

impl CheckVerifier {
    /// Creates a verifier whose commands get these variables and no others.
    pub(super) fn with_environment(environment: Vec<(OsString, OsString)>) -> Self {
        Self { environment, ..Self::default() }
    }

    /// Returns a variable of the environment that commands get.
    pub(super) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_os_str())
    }
}

/// Check of one memory that needs access to this machine.
struct CheckJob {
    /// Index in the result.
    index: usize,
    stored: StoredCheck,
    scope: Scope,
    /// Set when it may run a command.
    trusted: bool,
}

/// Context of a verification thread.
struct CheckRunner {
    verifier: Arc<CheckVerifier>,
    home: Option<PathBuf>,
    commands: bool,
    results: CheckResultSender,
}

/// Permit for one thread, returned on drop.
struct ThreadPermit(Arc<AtomicUsize>);

impl Drop for ThreadPermit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Engine {
    /// Returns this engine with command checks disabled, for a process that may end before they do.
    #[must_use]
    pub fn without_commands(mut self) -> Self {
        Arc::make_mut(&mut self.config).checks.commands = false;
        self
    }

    /// Verifies the checks of memories within `limit` and returns the results in the same order; `None` for a memory
    /// without a check. A check that exceeds the limit is unverifiable.
    #[boxed]
    pub async fn verify_memories(
        &self,
        memories: &[&Memory],
        limit: Duration,
    ) -> Vec<Option<CheckResult>> {
        let now = self.now().timestamp();
        let mut results = vec![None; memories.len()];
        let mut jobs = Vec::new();
        for (index, memory) in memories.iter().enumerate() {
            let Some(stored) = memory.check() else { continue };
            results[index] = stored.evaluate_date(now);
            if results[index].is_none() {
                let trusted = stored.set_by == Actor::Person && memory.trust() >= Trust::Said;
                jobs.push(CheckJob { index, stored, scope: memory.scope.clone(), trusted });
            }
        }
        for (index, verified) in self.run_checks(jobs, limit).await {
            results[index] = Some(verified);
        }
        results
    }

    /// Verifies the check of one memory within [`NAMED_CHECK_TIMEOUT`]; returns `None` if it has none.
    pub async fn verify_memory(&self, memory: &Memory) -> Option<CheckResult> {
        self.verify_memories(&[memory], NAMED_CHECK_TIMEOUT).await.pop().flatten()
    }

    /// Verifies the checks of all hits within `limit` and stores the results in the hits.
    pub(crate) async fn verify_hits(&self, found: &mut Recall, limit: Duration) {
        if !found.hits.iter().any(|hit| hit.memory.metadata.contains_key(CHECK_KEY)) {
            return;
        }
        let memories: Vec<&Memory> = found.hits.iter().map(|hit| &hit.memory).collect();
        let verified = self.verify_memories(&memories, limit).await;
        for (hit, verified) in found.hits.iter_mut().zip(verified) {
            hit.check = verified;
        }
    }

    /// Verifies the hits and moves stale ones behind valid ones that matter as well, so that a token budget goes to those
    /// first. Drops nothing, and leaves hits in chronological order as they are.
    pub(super) async fn verify_and_demote(&self, found: &mut Recall) {
        self.verify_hits(found, Duration::from_millis(self.config.checks.time_limit_ms)).await;
        if !found.intent.asks_period {
            demote_stale(&mut found.hits);
        }
    }

    /// Returns the explanation with the memory's final rank, after verification.
    pub(super) fn with_final_rank(found: &Recall, why_not: WhyNot) -> WhyNot {
        let WhyNot::Returned { hit, .. } = &why_not else { return why_not };
        match found.hits.iter().position(|other| other.memory.id == hit.memory.id) {
            Some(index) => {
                WhyNot::Returned { rank: index + 1, hit: Box::new(found.hits[index].clone()) }
            }
            None => why_not,
        }
    }

    /// Verifies every memory of a scope that has a check and returns the results, oldest memory first. Fails if the
    /// store fails.
    pub async fn verify_all(&self, scope: &Scope) -> Result<Vec<(Memory, CheckResult)>> {
        let filter = MemoryFilter { kinds: Kind::statements(), ..MemoryFilter::default() };
        let mut pages = MemoryPages::new(&*self.store, scope, filter, SCAN_PAGE);
        let mut all = Vec::new();
        while let Some(memories) = pages.next().await? {
            let carry = |memory: &Memory| memory.metadata.contains_key(CHECK_KEY);
            let carriers: Vec<Memory> = memories.into_iter().filter(carry).collect();
            let verified =
                self.verify_memories(&carriers.iter().collect::<Vec<_>>(), PAGE_TIMEOUT).await;
            let results = carriers.into_iter().zip(verified);
            all.extend(results.filter_map(|(memory, verified)| Some((memory, verified?))));
        }
        Ok(all)
    }

    /// Returns the request with its check verified, signed and moved into the metadata.
    pub(super) async fn with_stored_check(
        &self,
        scope: &Scope,
        mut request: RememberRequest,
    ) -> Result<RememberRequest> {
        if let Some(new) = request.check.take() {
            let stored = self.prepare_check(scope, new).await?;
            request.metadata.insert(CHECK_KEY.to_owned(), to_json(&stored));
        }
        Ok(request)
    }

    /// Returns the edit with its check verified and signed.
    pub(super) async fn with_stored_check_edit(
        &self,
        scope: &Scope,
        mut edit: MemoryEdit,
    ) -> Result<MemoryEdit> {
        match edit.check.take() {
            Some(_) if edit.no_check => Err(Error::invalid(
                "a check is both set and removed",
                "give check or no_check, not both",
            )),
            Some(new) => {
                Ok(MemoryEdit { stored_check: Some(self.prepare_check(scope, new).await?), ..edit })
            }
            None => Ok(edit),
        }
    }

    /// Returns a check as the store holds it: verified now and signed with this home's key. Fails if the check
    /// contains a secret, does not hold now, or takes longer than [`SAVE_TIMEOUT`].
    #[boxed]
    async fn prepare_check(&self, scope: &Scope, new: NewCheck) -> Result<StoredCheck> {
        if self.masks_secrets(scope)
            && new.texts().iter().any(|text| !find_secrets(text).is_empty())
        {
            return Err(Error::invalid(
                "the check holds what looks like a secret",
                "keep the secret in a file that the command reads by itself",
            ));
        }
        let (now, probes) = (self.now(), new.probes_machine());
        let check = new.validate(&now)?;
        if matches!(check, Check::Command { .. }) && self.author.actor != Actor::Person {
            return Err(Error::invalid(
                "a check that runs a command is set by a person",
                "ask the user to set it with `everlore memory edit ID --check-command`, or use a path, a file or a date",
            ));
        }
        let stored = StoredCheck::unsigned(check, self.author.actor, now.timestamp());
        if !probes {
            return Ok(stored);
        }
        let (verifier, home, scope) =
            (Arc::clone(&self.check_verifier), self.home.clone(), scope.clone());
        let signed = self.check_verifier.run_with_timeout(SAVE_TIMEOUT, move || {
            let mut stored = file_probe::with_digest(stored)?;
            stored.seal =
                Some(verifier.key_source.load_or_create(home.as_deref())?.mac(&scope, &stored));
            Ok(stored)
        });
        signed.await?
    }

    /// Runs checks until the deadline; unfinished ones count as timed out.
    async fn run_checks(&self, jobs: Vec<CheckJob>, limit: Duration) -> Vec<(usize, CheckResult)> {
        if jobs.is_empty() {
            return Vec::new();
        }
        let commands = self.config.checks.commands;
        let runs = commands && jobs.iter().any(|job| is_command(&job.stored) && job.trusted);
        let deadline =
            Instant::now() + if runs { limit.max(run_command::MAX_COMMAND_WAIT) } else { limit };
        let mut results: HashMap<usize, CheckResult> = HashMap::new();
        for job in &jobs {
            results.insert(job.index, job.stored.unverifiable(CheckReason::TimedOut));
        }
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let verifier = Arc::clone(&self.check_verifier);
        let runner = CheckRunner { verifier, home: self.home.clone(), commands, results: sender };
        if self.check_verifier.spawn_thread(move || runner.run_all(jobs)) {
            while let Ok(Some((index, verified))) = timeout_at(deadline, receiver.recv()).await {
                results.insert(index, verified);
            }
        }
        results.into_iter().collect()
    }
}

impl CheckVerifier {
    /// Spawns a detached thread; returns `false` if too many hang already.
    fn spawn_thread(&self, work: impl FnOnce() + Send + 'static) -> bool {
        let permit = ThreadPermit(Arc::clone(&self.threads));
        // The permit is counted before the comparison, and its drop returns it.
        if permit.0.fetch_add(1, Ordering::AcqRel) >= MAX_THREADS {
            return false;
        }
        let worker = move || {
            let _permit = permit;
            work();
        };
        thread::Builder::new().name("checks".to_owned()).spawn(worker).is_ok()
    }

    /// Runs `work` on a detached thread and returns its result. Fails if it exceeds `limit`.
    async fn run_with_timeout<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let (sender, receiver) = oneshot::channel();
        let started = self.spawn_thread(move || drop(sender.send(work())));
        let result = if started { timeout(limit, receiver).await.ok() } else { None };
        result.and_then(Result::ok).ok_or_else(|| {
            Error::invalid(
                "reading the file of the check took too long",
                "make sure that its disk responds, or leave the check out",
            )
        })
    }
}

impl CheckRunner {
    /// Runs all jobs, commands first: they run by themselves while files are read.
    fn run_all(self, mut jobs: Vec<CheckJob>) {
        let key = self.verifier.key_source.load_existing(self.home.as_deref());
        jobs.sort_by_key(|job| !is_command(&job.stored));
        for job in jobs {
            let is_ours = key.as_ref().is_some_and(|key| key.verify(&job.scope, &job.stored));
            let verified = match &job.stored.check {
                _ if !is_ours => job.stored.unverifiable(CheckReason::SetElsewhere),
                Check::Command { .. } if !self.commands => {
                    job.stored.unverifiable(CheckReason::CommandsDisabled)
                }
                Check::Command { .. } if !job.trusted => {
                    job.stored.unverifiable(CheckReason::UntrustedAuthor)
                }
                Check::Command { .. } => {
                    self.run_command(job);
                    continue;
                }
                _ => self.verifier.digests.probe(&job.stored),
            };
            // The caller may have stopped waiting.
            let _ = self.results.send((job.index, verified));
        }
    }

    /// Sends the cached result of a command, at most a minute old, or runs it on a thread of its own.
    fn run_command(&self, job: CheckJob) {
        let (verifier, sender) = (Arc::clone(&self.verifier), self.results.clone());
        if let Some(verified) = verifier.command_results.cached(&job.stored) {
            let _ = sender.send((job.index, verified));
            return;
        }
        self.verifier.spawn_thread(move || {
            let verified =
                verifier.command_results.run_and_cache(&job.stored, &verifier.environment);
            let _ = sender.send((job.index, verified));
        });
    }
}

fn is_command(stored: &StoredCheck) -> bool {
    matches!(stored.check, Check::Command { .. })
}

/// Returns a check as JSON for the metadata: a struct of plain values always serializes.
fn to_json(stored: &StoredCheck) -> serde_json::Value {
    serde_json::to_value(stored).unwrap_or_default()
}

/// Returns the path of a home's key file.
fn key_file(home: &Path) -> PathBuf {
    home.join("checks.key")
}

/// Least score of a valid hit, as a share of a stale one's, that comes before it: a memory that hardly bears on the query
/// does not.
const MIN_VALID_SHARE: f64 = 0.25;

/// Moves each stale hit behind the valid ones after it that matter as well.
fn demote_stale(hits: &mut [Hit]) {
    let is_stale =
        |hit: &Hit| hit.check.as_ref().is_some_and(|check| check.verdict == CheckStatus::Stale);
    for start in (0..hits.len()).rev().filter(|start| is_stale(&hits[*start])).collect::<Vec<_>>() {
        let mut index = start;
        while let [hit, next, ..] = &hits[index..]
            && !is_stale(next)
            && next.score >= MIN_VALID_SHARE * hit.score
        {
            hits.swap(index, index + 1);
            index += 1;
        }
    }
}
