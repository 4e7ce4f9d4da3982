//! Checks of memories: set with a proof of this home, and verified when memories are told (A11).
//!
//! Ranking knows nothing of them. What is about to be told is looked at, within a time limit and on a thread that nobody has
//! to wait for: a file system that hangs must not hang a recall, nor the end of the program.

mod file_probe;
mod run_command;
mod check_mac;

use std::{
    collections::HashMap,
    ffi::OsString,
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
    recall::{Recall, WhyNot},
    store::{ListOrder, ListQuery, MemoryFilter},
    text::secrets::find_secrets,
    types::{
        Actor, CHECK_KEY, Check, CheckReason, CheckResult, CheckStatus, Kind, Memory, NewCheck,
        Scope, StoredCheck, Trust,
    },
};

/// What is asked for by name may take a moment.
pub const NAMED_CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// A page of a whole scope may have many files, and someone waits for the report.
const PAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// A file of the largest size is read in a fraction of this, even from a slow disk.
const SAVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Threads that look at files or run commands at a time. More means that something hangs.
const MAX_THREADS: usize = 8;

type VerdictSender = mpsc::UnboundedSender<(usize, CheckResult)>;

/// What verifying works with, shared by all clones of an engine.
#[derive(Default)]
pub(super) struct CheckVerifier {
    key_source: MacKeySource,
    digests: FileDigestCache,
    command_results: CommandResultCache,
    threads: Arc<AtomicUsize>,
    /// All that commands get to know.
    environment: Vec<(OsString, OsString)>,
}

impl CheckVerifier {
    /// Creates a verifier whose commands get these variables and no others.
    pub(super) fn with_environment(environment: Vec<(OsString, OsString)>) -> Self {
        Self { environment, ..Self::default() }
    }
}

/// One memory that needs a look at this machine.
struct CheckJob {
    /// Its place in the answer.
    index: usize,
    stored: StoredCheck,
    scope: Scope,
    /// Whether it may run a command.
    trusted: bool,
}

/// What a thread works with.
struct CheckRunner {
    verifier: Arc<CheckVerifier>,
    home: Option<PathBuf>,
    commands: bool,
    results: VerdictSender,
}

/// The right to a thread, given back when it ends.
struct ThreadPermit(Arc<AtomicUsize>);

impl Drop for ThreadPermit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Engine {
    /// Returns the engine with commands of checks switched off, for a process that may end before they do.
    #[must_use]
    pub fn without_commands(mut self) -> Self {
        Arc::make_mut(&mut self.config).checks.commands = false;
        self
    }

    /// What the checks of these memories tell now, in their order; none for those without a check.
    pub async fn verify_memories(
        &self,
        memories: &[&Memory],
        limit: Duration,
    ) -> Vec<Option<CheckResult>> {
        let now = self.now().timestamp();
        let mut told = vec![None; memories.len()];
        let mut jobs = Vec::new();
        for (place, memory) in memories.iter().enumerate() {
            let Some(kept) = memory.check() else { continue };
            told[place] = kept.evaluate_date(now);
            if told[place].is_none() {
                let trusted = kept.set_by == Actor::Person && memory.trust() >= Trust::Said;
                jobs.push(CheckJob {
                    index: place,
                    stored: kept,
                    scope: memory.scope.clone(),
                    trusted,
                });
            }
        }
        for (place, verified) in self.run_checks(jobs, limit).await {
            told[place] = Some(verified);
        }
        told
    }

    /// What the check of one memory tells now, if it has one.
    pub async fn verify_memory(&self, memory: &Memory) -> Option<CheckResult> {
        self.verify_memories(&[memory], NAMED_CHECK_TIMEOUT).await.pop().flatten()
    }

    /// Says of each hit what its check tells.
    pub async fn verify_hits(&self, found: &mut Recall, limit: Duration) {
        if !found.hits.iter().any(|hit| hit.memory.metadata.contains_key(CHECK_KEY)) {
            return;
        }
        let memories: Vec<&Memory> = found.hits.iter().map(|hit| &hit.memory).collect();
        let verified = self.verify_memories(&memories, limit).await;
        for (hit, verified) in found.hits.iter_mut().zip(verified) {
            hit.check = verified;
        }
    }

    /// The same for an answer: what does not hold stands after what does, so that a budget of tokens is spent on that first.
    /// Nothing is left out for it, and what is told in the order of time stays so.
    pub(super) async fn verify_and_demote(&self, found: &mut Recall) {
        self.verify_hits(found, Duration::from_millis(self.config.checks.time_limit_ms)).await;
        if !found.intent.asks_period {
            let stale = |check: &Option<CheckResult>| {
                check.as_ref().is_some_and(|check| check.verdict == CheckStatus::Stale)
            };
            found.hits.sort_by_key(|hit| stale(&hit.check));
        }
    }

    /// Says of a memory that is in the answer where it stands there, once all were verified.
    pub(super) fn with_final_rank(found: &Recall, why_not: WhyNot) -> WhyNot {
        let WhyNot::Returned { hit, .. } = &why_not else { return why_not };
        match found.hits.iter().position(|other| other.memory.id == hit.memory.id) {
            Some(index) => {
                WhyNot::Returned { rank: index + 1, hit: Box::new(found.hits[index].clone()) }
            }
            None => why_not,
        }
    }

    /// Verifies every memory of a scope that has a check, the oldest first.
    pub async fn verify_all(&self, scope: &Scope) -> Result<Vec<(Memory, CheckResult)>> {
        let kinds = Kind::ALL.into_iter().filter(|kind| *kind != Kind::Turn).collect();
        let filter = MemoryFilter { kinds, ..MemoryFilter::default() };
        let mut page =
            ListQuery { filter, after: None, order: ListOrder::OldestFirst, limit: SCAN_PAGE };
        let mut all = Vec::new();
        loop {
            let memories = self.store.memories().list(scope, &page).await?;
            let Some(last) = memories.last() else { return Ok(all) };
            page.after = Some(last.id);
            let carry = |memory: &Memory| memory.metadata.contains_key(CHECK_KEY);
            let carriers: Vec<Memory> = memories.into_iter().filter(carry).collect();
            let verified =
                self.verify_memories(&carriers.iter().collect::<Vec<_>>(), PAGE_TIMEOUT).await;
            let told = carriers.into_iter().zip(verified);
            all.extend(told.filter_map(|(memory, verified)| Some((memory, verified?))));
        }
    }

    /// The request with its check looked at, sealed and among its data.
    pub(super) async fn with_stored_check(
        &self,
        scope: &Scope,
        mut request: RememberRequest,
    ) -> Result<RememberRequest> {
        if let Some(new) = request.check.take() {
            let kept = self.prepare_check(scope, new).await?;
            request.metadata.insert(CHECK_KEY.to_owned(), to_json(&kept));
        }
        Ok(request)
    }

    /// The edit with its check looked at and sealed.
    pub(super) async fn with_stored_check_edit(
        &self,
        scope: &Scope,
        mut edit: MemoryEdit,
    ) -> Result<MemoryEdit> {
        match edit.check.take() {
            Some(_) if edit.no_check => Err(Error::invalid(
                "a check is both given and taken away",
                "give check or no_check, not both",
            )),
            Some(new) => {
                Ok(MemoryEdit { stored_check: Some(self.prepare_check(scope, new).await?), ..edit })
            }
            None => Ok(edit),
        }
    }

    /// A check as it is kept: what it looks at is there now, and it is proven to be of this home.
    async fn prepare_check(&self, scope: &Scope, new: NewCheck) -> Result<StoredCheck> {
        if self.masks_secrets(scope) && new.texts().any(|text| !find_secrets(text).is_empty()) {
            return Err(Error::invalid(
                "the check holds what looks like a secret",
                "keep the secret in a file that the command reads by itself",
            ));
        }
        let (now, looks) = (self.now(), new.probes_machine());
        let check = new.validate(&now)?;
        if matches!(check, Check::Command { .. }) && self.author.actor != Actor::Person {
            return Err(Error::invalid(
                "a check that runs a command is set by a person",
                "ask the user to set it with `everlore memory edit ID --check-command`, or use a path, a file or a date",
            ));
        }
        let kept = StoredCheck::unsigned(check, self.author.actor, now.timestamp());
        if !looks {
            return Ok(kept);
        }
        let (verifier, home, scope) =
            (Arc::clone(&self.check_verifier), self.home.clone(), scope.clone());
        let sealed = self.check_verifier.run_with_timeout(SAVE_TIMEOUT, move || {
            let mut kept = file_probe::with_digest(kept)?;
            kept.seal =
                Some(verifier.key_source.load_or_create(home.as_deref())?.mac(&scope, &kept));
            Ok(kept)
        });
        sealed.await?
    }

    /// Looks, until the time is up; what is not done then took too long.
    async fn run_checks(&self, jobs: Vec<CheckJob>, limit: Duration) -> Vec<(usize, CheckResult)> {
        if jobs.is_empty() {
            return Vec::new();
        }
        let commands = self.config.checks.commands;
        let runs = commands && jobs.iter().any(|job| is_command(&job.stored) && job.trusted);
        let deadline =
            Instant::now() + if runs { limit.max(run_command::MAX_COMMAND_WAIT) } else { limit };
        let mut told: HashMap<usize, CheckResult> = HashMap::new();
        for job in &jobs {
            told.insert(job.index, job.stored.unverifiable(CheckReason::TimedOut));
        }
        let (tell, mut heard) = mpsc::unbounded_channel();
        let verifier = Arc::clone(&self.check_verifier);
        let desk = CheckRunner { verifier, home: self.home.clone(), commands, results: tell };
        if self.check_verifier.spawn_thread(move || desk.run_all(jobs)) {
            while let Ok(Some((place, verified))) = timeout_at(deadline, heard.recv()).await {
                told.insert(place, verified);
            }
        }
        told.into_iter().collect()
    }
}

impl CheckVerifier {
    /// Starts a thread that nobody waits for, unless too many hang already.
    fn spawn_thread(&self, work: impl FnOnce() + Send + 'static) -> bool {
        let seat = ThreadPermit(Arc::clone(&self.threads));
        // The seat is taken before it is looked at, and given back by its drop.
        if seat.0.fetch_add(1, Ordering::AcqRel) >= MAX_THREADS {
            return false;
        }
        let worker = move || {
            let _seat = seat;
            work();
        };
        thread::Builder::new().name("checks".to_owned()).spawn(worker).is_ok()
    }

    /// What a thread makes, if it does so in time.
    async fn run_with_timeout<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let (tell, heard) = oneshot::channel();
        let started = self.spawn_thread(move || drop(tell.send(work())));
        let made = if started { timeout(limit, heard).await.ok() } else { None };
        made.and_then(Result::ok).ok_or_else(|| {
            Error::invalid(
                "looking at what the check names took too long",
                "check that its disk answers, or leave the check out",
            )
        })
    }
}

impl CheckRunner {
    /// Commands first: they go on by themselves while files are looked at.
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
            // Whoever asked may have stopped waiting.
            let _ = self.results.send((job.index, verified));
        }
    }

    /// Tells what a command said within the last minute, or runs it on a thread of its own.
    fn run_command(&self, job: CheckJob) {
        let (verifier, tell) = (Arc::clone(&self.verifier), self.results.clone());
        if let Some(verified) = verifier.command_results.cached(&job.stored) {
            let _ = tell.send((job.index, verified));
            return;
        }
        self.verifier.spawn_thread(move || {
            let verified =
                verifier.command_results.run_and_cache(&job.stored, &verifier.environment);
            let _ = tell.send((job.index, verified));
        });
    }
}

fn is_command(kept: &StoredCheck) -> bool {
    matches!(kept.check, Check::Command { .. })
}

/// A check as a memory's metadata holds it: a struct of plain values can always be written as JSON.
fn to_json(kept: &StoredCheck) -> serde_json::Value {
    serde_json::to_value(kept).unwrap_or_default()
}

/// The file of the key in a home.
fn key_file(home: &Path) -> PathBuf {
    home.join("checks.key")
}
