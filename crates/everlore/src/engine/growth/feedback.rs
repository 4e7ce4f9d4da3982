//! Feedback on memories: given by id, or in words about what the last answer of a session used.

use serde::Serialize;

use super::{experiences::apply_report, skills::count_report};
use crate::{
    engine::Engine,
    error::{Error, Result},
    growth::{
        FeedbackRequest, FeedbackVerdict, apply_feedback,
        reflection::{PROPOSAL_KEY, Proposal, ProposalState},
    },
    ingest::Turn,
    store::{UsageRecord, UsageSelection},
    sync::boxed,
    text::{
        feedback_words::spoken_feedback, keywords::KeywordExtractor, quoted_text::SpokenText,
        secrets::mask_all, terms::terms,
    },
    types::{
        Actor, Change, Kind, Memory, MemoryFeedback, MemoryId, Role, Scope, Status, Timestamp,
        WriteBatch, run_name,
    },
};

/// Keywords of a memory by which a message may mean it.
const MAX_KEYWORDS: usize = 12;

/// Attempts to write feedback while others change the same memories.
const MAX_ATTEMPTS: usize = 20;

/// Memory after feedback.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FeedbackEffect {
    /// Id of the memory.
    pub id: MemoryId,
    /// Weight before.
    pub weight_before: f64,
    /// Weight after.
    pub weight: f64,
    /// Status after; archived if it is not brought up again.
    pub status: Status,
    /// Good verdicts so far.
    pub good: u32,
    /// Bad verdicts so far.
    pub bad: u32,
}

/// Receipt of feedback.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FeedbackReceipt {
    /// Verdict.
    pub verdict: FeedbackVerdict,
    /// Effect on each memory.
    pub memories: Vec<FeedbackEffect>,
    /// Run of the journal, which undoes it.
    pub run: String,
}

impl Engine {
    /// Records a verdict on memories and moves their weights within bounds, as one run of the journal. A verdict on an
    /// experience or a skill also reports that it worked or failed. Fails if the scope lacks one of the memories.
    #[boxed]
    pub async fn give_feedback(
        &self,
        scope: &Scope,
        ids: &[MemoryId],
        request: &FeedbackRequest,
    ) -> Result<FeedbackReceipt> {
        let mut request = request.clone();
        if self.masks_secrets(scope) {
            mask_all(&mut request.because);
        }
        for _ in 0..MAX_ATTEMPTS {
            match self.write_feedback(scope, ids, &request).await {
                Err(Error::Conflict { .. }) => {}
                outcome => return outcome,
            }
        }
        Err(Error::Conflict { what: "a memory that got feedback".to_owned() })
    }

    async fn write_feedback(
        &self,
        scope: &Scope,
        ids: &[MemoryId],
        request: &FeedbackRequest,
    ) -> Result<FeedbackReceipt> {
        let now = self.now().timestamp();
        let (mut changes, mut effects) = (Vec::new(), Vec::new());
        for id in ids {
            let mut memory = self.get(scope, *id).await?;
            let weight_before = memory.weight_at(now);
            if memory.kind == Kind::Experience {
                apply_report(&mut memory, request.verdict == FeedbackVerdict::Good, now)?;
            }
            if memory.kind == Kind::Skill {
                count_report(&mut memory, request.verdict == FeedbackVerdict::Good, now);
            }
            let weight = memory.weight;
            apply_feedback(&mut memory, request, now);
            if memory.kind == Kind::Suggestion {
                self.judge_suggestion(&mut memory, request, weight, now)?;
            }
            memory.updated_at = now;
            memory.version += 1;
            effects.push(FeedbackEffect::new(&memory, weight_before));
            changes.push(Change::Update(Box::new(memory)));
        }
        let run = self.author.run.clone().unwrap_or_else(|| run_name("feedback", now));
        let cause = self.author.reason_for(&format!("feedback: {}", request.verdict));
        let write = WriteBatch::new(scope, self.author.actor, cause, now, changes);
        self.store.apply(WriteBatch { run: Some(run.clone()), ..write }).await?;
        if self.has_skill_files(scope) {
            self.sync_skills_after(scope).await;
        }
        Ok(FeedbackReceipt { verdict: request.verdict, memories: effects, run })
    }

    /// Rejects a suggestion that feedback refused: it never comes back. Praise leaves its weight as it is. Fails if the caller
    /// may not decide on proposals.
    fn judge_suggestion(
        &self,
        memory: &mut Memory,
        request: &FeedbackRequest,
        weight: f64,
        now: Timestamp,
    ) -> Result<()> {
        if request.verdict == FeedbackVerdict::Good {
            memory.weight = weight;
        }
        let Some(mut proposal) = Proposal::of(memory) else { return Ok(()) };
        if memory.status == Status::Archived && proposal.state == ProposalState::Open {
            self.check_owner("a decision on a proposal")?;
            if self.author.actor != Actor::Person {
                return Err(Error::OwnerOnly { what: "a decision on a proposal".to_owned() });
            }
            proposal.state = ProposalState::Rejected;
            proposal.decided_at = Some(now);
            memory.metadata.insert(PROPOSAL_KEY.to_owned(), serde_json::json!(proposal));
        }
        Ok(())
    }

    /// Applies the verdicts in users' turns that were just stored. It never fails a save: a failure is logged.
    pub(in crate::engine) async fn hear_feedback(&self, scope: &Scope, turns: &[Turn]) {
        for turn in turns {
            let is_user = matches!(turn.role, None | Some(Role::User)) && turn.speaker.is_none();
            let Some(session) = turn.session.as_deref().filter(|_| is_user) else { continue };
            if let Err(error) = self.feedback_in_words(scope, session, &turn.text).await {
                tracing::warn!("{error}: feedback in words was not recorded");
            }
        }
    }

    /// Applies a verdict in words to what the last answer of a session used; `None` if the message is none, or if it is
    /// not clear what it means.
    pub async fn feedback_in_words(
        &self,
        scope: &Scope,
        session: &str,
        message: &str,
    ) -> Result<Option<FeedbackReceipt>> {
        let message = SpokenText::parse(message).own.into_owned();
        let Some(spoken) = spoken_feedback(&message) else { return Ok(None) };
        let used = self.used_in_last_answer(scope, session).await?;
        let meant = if spoken.is_good { used } else { meant_by(&message, used) };
        if meant.is_empty() {
            return Ok(None);
        }
        let verdict = if spoken.is_good { FeedbackVerdict::Good } else { FeedbackVerdict::Bad };
        let request =
            FeedbackRequest { verdict, because: Some(message), never_again: spoken.never_again };
        let ids: Vec<MemoryId> = meant.iter().map(|memory| memory.id).collect();
        self.give_feedback(scope, &ids, &request).await.map(Some)
    }

    /// Returns the memories that the last answer of a session used.
    async fn used_in_last_answer(&self, scope: &Scope, session: &str) -> Result<Vec<Memory>> {
        self.flush_usage().await;
        let session = self.stored_session(scope, session);
        let lines = self.store.usage().of_scope(scope, UsageSelection::AwaitingWeights).await?;
        let is_own = |line: &&UsageRecord| line.session == *session && line.used.is_some();
        let last = lines.iter().filter(is_own).map(|line| line.turn).max();
        let is_used = |line: &&UsageRecord| Some(line.turn) == last && line.used == Some(true);
        let ids: Vec<MemoryId> =
            lines.iter().filter(is_own).filter(is_used).map(|line| line.injected.id).collect();
        let mut memories = self.get_many(scope, &ids).await?;
        memories.retain(|memory| memory.kind != Kind::Turn);
        Ok(memories)
    }
}

impl FeedbackEffect {
    fn new(memory: &Memory, weight_before: f64) -> Self {
        let MemoryFeedback { good, bad, .. } =
            MemoryFeedback::of_memory(memory).unwrap_or_default();
        let (id, weight, status) = (memory.id, memory.weight, memory.status);
        Self { id, weight_before, weight, status, good, bad }
    }
}

/// Returns the memories that blame means: the only one, or those that the message names.
fn meant_by(message: &str, used: Vec<Memory>) -> Vec<Memory> {
    if used.len() <= 1 {
        return used;
    }
    let words = terms(message);
    let is_named = |memory: &Memory| {
        let extractor = KeywordExtractor::from_parts([memory.content.as_str()]);
        let keywords = extractor.keywords(&memory.content, MAX_KEYWORDS);
        keywords.iter().any(|keyword| terms(keyword).iter().all(|term| words.contains(term)))
    };
    used.into_iter().filter(is_named).collect()
}
