//! From turns to memories: claim a session, read its turns, extract, judge, reconcile, commit, report.

use std::{sync::Arc, time::Duration};

use jiff::SignedDuration;
use serde::Serialize;

use super::{
    Engine,
    drawing::{Drawn, MAX_DECISIONS, ModelArbiter},
    layers::aside,
};
use crate::{
    error::{Error, Result},
    ingest::{self, Arbiter, GateContext, Judging, Likeness, Outcome, Planned},
    llm::ChatModel,
    store::{Claim, Claimed, Due, Failure, Unread, Waiting},
    types::{Actor, Extracted, Held, HeldLimits, MemoryId, Scope, Timestamp, Write},
};

/// Turns that are read at once: a model still sees each of them, and little is read again if it fails.
pub(super) const MAX_TURNS: usize = 40;

/// A lease is longer than all answers of a model may take by this: judging and storing take a part of it.
const LEASE_SLACK: Duration = Duration::from_secs(30);

/// How long the first retry waits; each further one twice as long.
const FIRST_RETRY: SignedDuration = SignedDuration::from_secs(30);

/// No retry waits longer: a provider that is back should be noticed within the hour.
const LONGEST_RETRY: SignedDuration = SignedDuration::from_hours(1);

/// How often a plan is made anew because someone changed a memory meanwhile.
const MAX_ATTEMPTS: usize = 5;

/// What to draw from, by hand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExtractRequest {
    /// Only this session.
    pub session: Option<String>,
    /// Only say what would be done.
    pub dry_run: bool,
}

/// What was drawn from some turns of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Extraction {
    /// The session; none for turns outside of one.
    pub session: Option<String>,
    /// How many turns were read.
    pub turns: usize,
    /// Who read them: `rules`, or the name of a model.
    pub by: String,
    /// The run, by which all of it can be undone; none where nothing was changed.
    pub run: Option<String>,
    /// What became of each draft.
    pub drafts: Vec<Outcome>,
    /// The tokens that a model spent on it.
    pub tokens: u64,
    /// What should be known about how it went.
    pub note: Option<String>,
    /// Why nothing was drawn; the turns wait and are read again.
    pub error: Option<String>,
}

/// What waits, and what is held.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaptureStatus {
    /// Sessions with turns that were not read yet.
    pub waiting: Vec<Waiting>,
    /// All turns that wait.
    pub turns: usize,
    /// Drafts in quarantine, those that were rejected included.
    pub held: usize,
}

impl Engine {
    /// The same with a model that reads conversations, if the settings let it.
    #[must_use]
    pub fn with_chat_model(self, model: Arc<dyn ChatModel>) -> Self {
        Self { chat: Some(model), ..self }
    }

    /// Draws memories from everything that waits in a scope, or in one of its sessions. What fails waits further.
    pub async fn extract(
        &self,
        scope: &Scope,
        request: &ExtractRequest,
    ) -> Result<Vec<Extraction>> {
        self.check_enabled(scope)?;
        let mut done = Vec::new();
        for waiting in self.waiting_in(scope, request.session.as_deref()).await? {
            if request.dry_run {
                done.push(self.dry_run(&waiting).await?);
            } else {
                self.extract_all_of(scope, waiting.session, &mut done).await?;
            }
        }
        Ok(done)
    }

    /// Draws memories from one session that is due, of any scope; none if none is.
    pub async fn extract_due(&self) -> Result<Option<Extraction>> {
        match self.claim_next().await? {
            Some(claimed) => self.read_claimed(&claimed).await.map(Some),
            None => Ok(None),
        }
    }

    /// Leases the session that is due longest.
    pub(super) async fn claim_next(&self) -> Result<Option<Claimed>> {
        let due = self.due().await?;
        self.store.claim(&self.claim(None, None, Some(due))).await
    }

    /// What waits in a scope, and what is held.
    pub async fn capture_status(&self, scope: &Scope) -> Result<CaptureStatus> {
        let waiting = self.store.waiting(Some(scope)).await?;
        let turns = waiting.iter().map(|it| it.turns).sum();
        Ok(CaptureStatus { waiting, turns, held: self.store.held(scope).await?.len() })
    }

    /// Notes that a session is over, so that it is read without waiting for more.
    pub async fn announce_end(&self, scope: &Scope, session: &str) -> Result<bool> {
        let announced = self.store.announce_end(scope, session, self.now().timestamp()).await?;
        self.wake.notify_one();
        Ok(announced)
    }

    /// Drafts that were not remembered, newest first.
    pub async fn quarantine(&self, scope: &Scope) -> Result<Vec<Held>> {
        self.store.held(scope).await
    }

    async fn waiting_in(&self, scope: &Scope, session: Option<&str>) -> Result<Vec<Waiting>> {
        let mut waiting = self.store.waiting(Some(scope)).await?;
        if let Some(name) = session {
            waiting.retain(|it| it.session.as_deref() == Some(name));
        }
        Ok(waiting)
    }

    /// Reads a session to its end, or until something goes wrong.
    async fn extract_all_of(
        &self,
        scope: &Scope,
        session: Option<String>,
        done: &mut Vec<Extraction>,
    ) -> Result<()> {
        loop {
            let waits = self.waiting_in(scope, None).await?;
            let Some(waiting) = waits.iter().find(|it| it.session == session) else {
                return Ok(());
            };
            let claim = self.claim(Some(scope), Some(waiting), None);
            let Some(claimed) = self.store.claim(&claim).await? else {
                done.push(Extraction::leased(waiting));
                return Ok(());
            };
            let extraction = self.read_claimed(&claimed).await?;
            let failed = extraction.error.is_some();
            done.push(extraction);
            if failed {
                return Ok(());
            }
        }
    }

    fn claim(&self, scope: Option<&Scope>, waiting: Option<&Waiting>, due: Option<Due>) -> Claim {
        let now = self.now().timestamp();
        let model = self.chat.as_ref().filter(|_| self.config.memory_agent.enabled);
        let answer = model.map_or(Duration::ZERO, |_| self.config.memory_agent.timeout);
        Claim {
            scope: scope.cloned(),
            session: waiting.map(|waiting| waiting.session.clone()),
            owner: MemoryId::new(now).to_string(),
            now,
            lease: answer * (1 + MAX_DECISIONS as u32) + LEASE_SLACK,
            due,
        }
    }

    /// Draws memories from a session that is leased; if that fails, it goes back to the queue.
    pub(super) async fn read_claimed(&self, claimed: &Claimed) -> Result<Extraction> {
        let trouble = match self.read_and_commit(claimed).await {
            Ok(extraction) => return Ok(extraction),
            Err(trouble) => trouble,
        };
        let failure = Failure {
            error: trouble.error.to_string(),
            is_invalid: trouble.is_invalid,
            retry_at: self.now().timestamp() + retry_after(claimed.failures),
        };
        tracing::warn!(session = ?claimed.session, "{}: the turns wait", failure.error);
        self.store.give_back(claimed, Some(&failure)).await?;
        Ok(Extraction {
            session: claimed.session.clone(),
            error: Some(failure.error),
            tokens: trouble.tokens,
            ..Extraction::default()
        })
    }

    async fn read_and_commit(&self, claimed: &Claimed) -> Result<Extraction, Trouble> {
        let (scope, session) = (&claimed.scope, claimed.session.as_deref());
        let unread = self.store.unread_turns(scope, session, MAX_TURNS).await?;
        let drawn = self.draw(scope, &unread, claimed.invalid).await?;
        let arbiter = self.arbiter(scope, &drawn);
        let (planned, run) = self.commit(claimed, &unread, &drawn, arbiter.as_ref()).await?;
        let decided = arbiter.map_or(0, |arbiter| arbiter.tokens());
        let drawn = Drawn { tokens: drawn.tokens + decided, ..drawn };
        let changed = !planned.changes.is_empty();
        Ok(Extraction { run: changed.then_some(run), ..report(session, &unread, drawn, planned) })
    }

    /// Says what would be drawn from a session's first unread turns.
    async fn dry_run(&self, waiting: &Waiting) -> Result<Extraction> {
        let (scope, session) = (&waiting.scope, waiting.session.as_deref());
        let unread = self.store.unread_turns(scope, session, MAX_TURNS).await?;
        let drawn = match self.draw(scope, &unread, waiting.invalid).await {
            Ok(drawn) => drawn,
            Err(trouble) => return Err(trouble.error),
        };
        let now = self.now().timestamp();
        let judging = self.judging(scope, session, "preview", now).await?;
        let arbiter = self.arbiter(scope, &drawn);
        let deciding = arbiter.as_ref().map(|arbiter| arbiter as &dyn Arbiter);
        let planned = ingest::plan(&*self.store, &drawn.drafts, &judging, deciding).await?;
        Ok(report(session, &unread, drawn, planned))
    }

    /// Stores what is worth it, what is not, and how far was read, all at once.
    async fn commit(
        &self,
        claimed: &Claimed,
        unread: &Unread,
        drawn: &Drawn,
        arbiter: Option<&ModelArbiter<'_>>,
    ) -> Result<(Planned, String)> {
        let (scope, session) = (&claimed.scope, claimed.session.as_deref());
        let mut attempt = 1;
        loop {
            let now = self.now().timestamp();
            let run = run_name(now);
            let judging = self.judging(scope, session, &run, now).await?;
            let deciding = arbiter.map(|arbiter| arbiter as &dyn Arbiter);
            let planned = ingest::plan(&*self.store, &drawn.drafts, &judging, deciding).await?;
            let tokens = drawn.tokens + arbiter.map_or(0, ModelArbiter::tokens);
            let write = self.write(claimed, unread, (&planned, tokens), &run, now);
            match self.store.apply(write).await {
                // Someone changed a memory that this would change, or took the uri: judge again by what is known now.
                Err(Error::Conflict { .. }) if attempt < MAX_ATTEMPTS => attempt += 1,
                Err(error) => return Err(error),
                Ok(applied) => {
                    let ids: Vec<_> = applied.iter().map(|applied| applied.id).collect();
                    self.check_stored(scope, &ids).await?;
                    return Ok((planned, run));
                }
            }
        }
    }

    fn write(
        &self,
        claimed: &Claimed,
        unread: &Unread,
        (planned, tokens): (&Planned, u64),
        run: &str,
        now: Timestamp,
    ) -> Write {
        let extract = &self.settings(claimed.scope.agent()).memory_agent.extract;
        let days = i64::try_from(extract.held_days).unwrap_or(i64::MAX);
        let since = now - SignedDuration::from_hours(days.saturating_mul(24));
        let extracted = Extracted {
            session: claimed.session.clone(),
            owner: claimed.owner.clone(),
            from: unread.from,
            to: unread.to,
            held: planned.held.clone(),
            keep: HeldLimits { most: extract.max_held, since },
        };
        let cause = match &claimed.session {
            Some(session) => format!("extract from session {session}"),
            None => "extract".to_owned(),
        };
        let changes = planned.changes.clone();
        Write {
            run: Some(run.to_owned()),
            // Each line of the journal bears its part.
            cost: tokens.div_ceil(changes.len().max(1) as u64),
            extracted: Some(extracted),
            ..Write::new(&claimed.scope, Actor::Engine, cause, now, changes)
        }
    }

    async fn check_stored(&self, scope: &Scope, ids: &[MemoryId]) -> Result<()> {
        let verified = self.store.verify(scope, ids).await?;
        match ids.iter().zip(verified).find(|(_, verified)| !verified) {
            Some((id, _)) => {
                Err(Error::damaged(format!("memory `{id}` was stored but cannot be read back")))
            }
            None => Ok(()),
        }
    }

    async fn judging<'a>(
        &self,
        scope: &'a Scope,
        session: Option<&'a str>,
        run: &'a str,
        now: Timestamp,
    ) -> Result<Judging<'a>> {
        let extract = &self.settings(scope.agent()).memory_agent.extract;
        let gate = GateContext {
            min_confidence: extract.min_confidence,
            injected: self.told_in(scope, session).await?,
            system_prompt: self.host_prompt(scope).await,
            known: Vec::new(),
        };
        Ok(Judging { scope, session, run, gate, most: extract.max_facts, now })
    }

    /// What was put into the prompts of a session, so that an echo is told from news even after the memory is gone.
    async fn told_in(&self, scope: &Scope, session: Option<&str>) -> Result<Vec<Likeness>> {
        let Some(session) = session else { return Ok(Vec::new()) };
        let told = self.injected(scope, session).await?;
        Ok(told.into_iter().map(|(_, likeness)| likeness).collect())
    }

    /// The words that the agent was given for itself.
    async fn host_prompt(&self, scope: &Scope) -> Likeness {
        let (Ok(layers), today) = (self.layers(scope), self.now().date()) else {
            return Likeness::default();
        };
        match aside(move || layers.snapshot(today)).await {
            Ok(snapshot) => Likeness::of(&snapshot.soul.text),
            Err(error) => {
                tracing::warn!("{error}: what repeats SOUL.md is not told apart");
                Likeness::default()
            }
        }
    }
}

/// Why a session could not be read.
pub(super) struct Trouble {
    pub(super) error: Error,
    /// Whether a model answered what could not be used.
    pub(super) is_invalid: bool,
    pub(super) tokens: u64,
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self { error, is_invalid: false, tokens: 0 }
    }
}

impl Extraction {
    fn leased(waiting: &Waiting) -> Self {
        let until = waiting.leased_until.map(|until| until.strftime("%H:%M:%S UTC").to_string());
        let until = until.map_or_else(String::new, |until| format!(" until {until} at the latest"));
        let error = format!("memories of this user are being drawn by another process{until}");
        Self { session: waiting.session.clone(), error: Some(error), ..Self::default() }
    }
}

fn report(session: Option<&str>, unread: &Unread, drawn: Drawn, planned: Planned) -> Extraction {
    Extraction {
        session: session.map(str::to_owned),
        turns: unread.turns.len(),
        by: drawn.by,
        run: None,
        drafts: planned.outcomes,
        tokens: drawn.tokens,
        note: drawn.note,
        error: None,
    }
}

fn retry_after(failures: u32) -> SignedDuration {
    let doubled = FIRST_RETRY.as_secs().saturating_mul(1 << failures.min(20));
    SignedDuration::from_secs(doubled).min(LONGEST_RETRY)
}

/// A name for a run: when it was, and a few digits in case two are at once.
fn run_name(now: Timestamp) -> String {
    let id = MemoryId::new(now).to_string();
    format!("extract-{}-{}", now.as_millisecond(), &id[id.len() - 4..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_retry_waits_twice_as_long_up_to_an_hour() {
        let waits: Vec<_> = (0..9).map(|failures| retry_after(failures).as_secs()).collect();
        assert_eq!(waits, [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
        assert_eq!(retry_after(u32::MAX).as_secs(), 3_600);
    }
}
