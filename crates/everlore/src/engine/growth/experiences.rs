//! Experiences: create, read, update, list, search, and report how a solution went.

use serde::Serialize;
use serde_json::{Map, json};

use crate::{
    engine::Engine,
    error::{Error, Result},
    growth::{
        CureMatch, CureSource, ExperienceEdit, NewExperience, is_retired, match_error,
        report_outcome, success_rate,
    },
    ingest::{MemoryEdit, RememberRequest, change_memory},
    recall::{Hit, RecallRequest},
    store::{ListOrder, ListQuery, MemoryFilter},
    sync::boxed,
    text::{
        error_signature::{ErrorSignature, signature},
        experience_text::experience_text,
        secrets::mask_all,
    },
    types::{
        Actor, Experience, Kind, Memory, MemoryId, Scope, Status, TRUST_KEY, Timestamp, Trust,
    },
};

/// Part of a hit's score that the same failure alone earns: what is only alike in words stays below it.
const SAME_FAILURE_SCORE: f64 = 0.5;

/// Least strength of a hit by words: the share of the query's weight that it covers, or its cosine. A single common
/// word in a sentence covers less.
const MIN_STRENGTH: f64 = 0.25;

/// Experience as callers see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ExperienceView {
    /// Id of the memory that holds it.
    pub id: MemoryId,
    /// Problem in plain words.
    pub pain: String,
    /// Solution that was tried.
    pub solution: String,
    /// Outcome in plain words.
    pub outcome: String,
    /// Error as a program printed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Tools and commands that took part.
    pub tools: Vec<String>,
    /// Circumstances.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// Probability that the solution works, from 0 to 1, by its reports.
    pub success: f64,
    /// Times that it worked, the first one included.
    pub worked: u32,
    /// Times that it failed.
    pub failed: u32,
    /// Times that it was used again.
    pub uses: u32,
    /// Trust in the solution by its source: suspect, outside, tool, imported, inferred, said or approved.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub trust: Trust,
    /// Status; archived if it was retired.
    pub status: Status,
    /// Time at which it happened.
    pub at: Timestamp,
    /// Time of the last report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_at: Option<Timestamp>,
}

/// Experience found for a query.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ExperienceHit {
    /// The experience.
    #[serde(flatten)]
    pub experience: ExperienceView,
    /// Worth for this query, from 0 to 1; above a half it is about the same failure.
    pub score: f64,
    /// Set if it is about the same failure, not only alike in words.
    pub same: bool,
}

/// Search for experiences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExperienceQuery {
    /// Error as it was printed, or words.
    pub text: String,
    /// Set if the text is an error: what is known to be another failure is left out.
    pub is_error: bool,
    /// Maximum number of hits.
    pub limit: usize,
}

impl Engine {
    /// Records an experience and returns it. One with the same words is known already: the outcome is reported for it.
    /// Fails if it has no problem or no solution, or if memory is disabled for the agent.
    pub async fn add_experience(
        &self,
        scope: &Scope,
        mut new: NewExperience,
    ) -> Result<ExperienceView> {
        if self.masks_secrets(scope) {
            let texts = [&mut new.pain, &mut new.solution, &mut new.outcome, &mut new.context];
            mask_all(texts.into_iter().chain(&mut new.error).chain(&mut new.tools));
        }
        let source = self.cure_trust(new.source);
        let session = new.session.take();
        let experience = new.into_experience(self.now().timestamp())?;
        let mut metadata = Map::new();
        experience.store_in(&mut metadata);
        metadata.insert(TRUST_KEY.to_owned(), json!(experience.trust_from(source)));
        let request = RememberRequest {
            kind: Some(Kind::Experience),
            tags: experience.tools.clone(),
            metadata,
            session,
            ..RememberRequest::new(experience_text(&experience))
        };
        let saved = self.remember(scope, request).await?;
        if saved.receipt.known && experience.reported_at.is_some() {
            return self.report_experience(scope, saved.id, experience.worked > 0).await;
        }
        self.experience(scope, saved.id).await
    }

    /// Returns an experience. Fails if the scope has none with this id.
    pub async fn experience(&self, scope: &Scope, id: MemoryId) -> Result<ExperienceView> {
        ExperienceView::of_memory(&self.get(scope, id).await?)
    }

    /// Edits an experience and returns it. Fails if the scope has none with this id or the edit is invalid.
    pub async fn edit_experience(
        &self,
        scope: &Scope,
        id: MemoryId,
        edit: &ExperienceEdit,
    ) -> Result<ExperienceView> {
        let memory = self.get(scope, id).await?;
        let mut experience = experience_of(&memory)?;
        edit.apply_to(&mut experience)?;
        let mut metadata = memory.metadata.clone();
        experience.store_in(&mut metadata);
        let trust = experience.trust_from(memory.trust().min(self.cure_trust(None)));
        metadata.insert(TRUST_KEY.to_owned(), json!(trust));
        let edit = MemoryEdit {
            content: Some(experience_text(&experience)),
            tags: edit.tools.clone(),
            metadata: Some(metadata),
            expected_versions: vec![memory.version],
            ..MemoryEdit::default()
        };
        ExperienceView::of_memory(&self.edit(scope, id, &edit).await?)
    }

    /// Deletes an experience and returns the journal number. Fails if the scope has none with this id.
    pub async fn delete_experience(&self, scope: &Scope, id: MemoryId) -> Result<u64> {
        experience_of(&self.get(scope, id).await?)?;
        self.delete(scope, id).await
    }

    /// Returns at most `limit` experiences, newest first; with `retired`, those too that stopped working.
    pub async fn experiences(
        &self,
        scope: &Scope,
        limit: usize,
        retired: bool,
    ) -> Result<Vec<ExperienceView>> {
        let statuses =
            if retired { vec![Status::Active, Status::Archived] } else { vec![Status::Active] };
        let filter =
            MemoryFilter { kinds: vec![Kind::Experience], statuses, ..MemoryFilter::default() };
        let page = ListQuery { filter, after: None, order: ListOrder::NewestFirst, limit };
        let memories = self.list(scope, &page).await?;
        memories.iter().map(ExperienceView::of_memory).collect()
    }

    /// Reports that a solution was used again and worked or failed, and returns the experience. After three failures in
    /// a row it is retired; a success brings it back. Fails if the scope has none with this id.
    pub async fn report_experience(
        &self,
        scope: &Scope,
        id: MemoryId,
        worked: bool,
    ) -> Result<ExperienceView> {
        let now = self.now().timestamp();
        let report = |memory: &mut Memory| apply_report(memory, worked, now);
        let what = if worked { "experience worked" } else { "experience failed" };
        let changed =
            change_memory(&*self.store, scope, id, &self.author, what, now, &report).await?;
        ExperienceView::of_memory(&changed)
    }

    /// Finds experiences for an error or for words, best first: those about the same failure, then those alike in words.
    #[boxed]
    pub async fn find_experiences(
        &self,
        scope: &Scope,
        query: &ExperienceQuery,
    ) -> Result<Vec<ExperienceHit>> {
        Self::check_query(&query.text)?;
        let signature = signature(&query.text);
        let mut hits = self.same_failures(scope, &signature).await?;
        let is_open = hits.is_empty() || !query.is_error;
        if is_open && hits.len() < query.limit {
            let known: Vec<MemoryId> = hits.iter().map(|hit| hit.experience.id).collect();
            let by_words = self.experiences_by_words(scope, query, &signature).await?;
            hits.extend(by_words.into_iter().filter(|hit| !known.contains(&hit.experience.id)));
        }
        hits.truncate(query.limit);
        Ok(hits)
    }

    async fn experiences_by_words(
        &self,
        scope: &Scope,
        query: &ExperienceQuery,
        signature: &ErrorSignature,
    ) -> Result<Vec<ExperienceHit>> {
        let filter = MemoryFilter { kinds: vec![Kind::Experience], ..MemoryFilter::default() };
        let request =
            RecallRequest { filter, limit: query.limit, ..self.recall_request(scope, &query.text) };
        let found = self.recall_unlimited(&request, &self.now()).await?;
        let mut hits = Vec::new();
        for hit in &found.hits {
            let related = match_error(signature, &experience_of(&hit.memory)?);
            let strength = match (query.is_error, related) {
                (_, Some(found)) if found.is_same => {
                    hits.push(ExperienceHit::same_failure(&hit.memory, found)?);
                    continue;
                }
                (true, None) => continue,
                (true, Some(CureMatch { similarity, .. })) => similarity,
                (false, _) => word_strength(hit),
            };
            if strength >= MIN_STRENGTH {
                hits.push(ExperienceHit::alike(&hit.memory, strength)?);
            }
        }
        if query.is_error {
            self.add_alike(scope, signature, &mut hits).await?;
        }
        hits.sort_by(|one, other| other.score.total_cmp(&one.score));
        Ok(hits)
    }

    /// Adds experiences that share a key with an error and may be about it: a code in another language has no words in
    /// common with what was stored.
    async fn add_alike(
        &self,
        scope: &Scope,
        signature: &ErrorSignature,
        hits: &mut Vec<ExperienceHit>,
    ) -> Result<()> {
        for memory in self.experiences_with_keys(scope, signature).await? {
            let found = match_error(signature, &experience_of(&memory)?);
            let is_known = hits.iter().any(|hit| hit.experience.id == memory.id);
            if let Some(found) = found.filter(|found| !found.is_same && !is_known) {
                hits.push(ExperienceHit::alike(&memory, found.similarity)?);
            }
        }
        Ok(())
    }

    /// Returns the trust in a solution of this source that the engine's caller gives.
    fn cure_trust(&self, source: Option<CureSource>) -> Trust {
        let claimed = match source {
            Some(CureSource::Web) => Trust::Outside,
            Some(CureSource::Tool) => Trust::Tool,
            Some(CureSource::Agent) => Trust::Inferred,
            Some(CureSource::User) | None => Trust::Said,
        };
        // An agent may pass on what it read: its word is a conclusion.
        let most = if self.author.actor == Actor::Person { Trust::Said } else { Trust::Inferred };
        claimed.min(most)
    }
}

impl ExperienceView {
    /// Returns a note for solutions of low trust.
    pub fn trust_note(&self) -> Option<String> {
        match self.trust {
            Trust::Suspect => Some("unverified: reads like an instruction".to_owned()),
            trust @ (Trust::Outside | Trust::Tool | Trust::Imported) => {
                Some(format!("low trust: {trust}"))
            }
            Trust::Inferred | Trust::Said | Trust::Approved => None,
        }
    }

    /// Reads the experience of a memory. Fails if the memory is of another kind.
    pub(crate) fn of_memory(memory: &Memory) -> Result<Self> {
        let experience = experience_of(memory)?;
        Ok(Self {
            id: memory.id,
            success: rounded(success_rate(&experience)),
            pain: experience.pain,
            solution: experience.solution,
            outcome: experience.outcome,
            error: experience.error,
            tools: experience.tools,
            context: experience.context,
            worked: experience.worked,
            failed: experience.failed,
            uses: experience.uses,
            trust: memory.trust(),
            status: memory.status,
            at: memory.at,
            reported_at: experience.reported_at,
        })
    }
}

impl ExperienceHit {
    /// Builds the hit of an experience about the same failure.
    pub(super) fn same_failure(memory: &Memory, found: CureMatch) -> Result<Self> {
        let experience = ExperienceView::of_memory(memory)?;
        let worth = (found.similarity + experience.success) / 2.0;
        let score = SAME_FAILURE_SCORE + (1.0 - SAME_FAILURE_SCORE) * worth;
        Ok(Self { experience, score: rounded(score), same: true })
    }

    /// Builds the hit of an experience that is only alike.
    fn alike(memory: &Memory, strength: f64) -> Result<Self> {
        let score = rounded(SAME_FAILURE_SCORE * strength.min(1.0));
        Ok(Self { experience: ExperienceView::of_memory(memory)?, score, same: false })
    }
}

/// Reads the experience of a memory; one that was stored in other ways has only a problem.
pub(super) fn experience_of(memory: &Memory) -> Result<Experience> {
    if memory.kind != Kind::Experience {
        return Err(Error::invalid(
            format!("`{}` is a memory of the kind {}, not an experience", memory.id, memory.kind),
            "list experiences with `everlore experience list`",
        ));
    }
    let plain = || Experience { pain: memory.content.clone(), ..Experience::default() };
    Ok(Experience::of_memory(memory).unwrap_or_else(plain))
}

/// Records a report in a memory: counts, and its status.
pub(super) fn apply_report(memory: &mut Memory, worked: bool, now: Timestamp) -> Result<()> {
    let mut experience = experience_of(memory)?;
    let was_retired = is_retired(&experience);
    report_outcome(&mut experience, worked, now);
    if is_retired(&experience) {
        memory.status = Status::Archived;
    } else if was_retired && worked {
        memory.status = Status::Active;
    }
    experience.store_in(&mut memory.metadata);
    Ok(())
}

/// Returns how much of the query a hit answers, by words or by meaning.
fn word_strength(hit: &Hit) -> f64 {
    let signals = &hit.signals;
    signals.coverage.max(signals.cosine.unwrap_or(0.0)).max(signals.rerank_cosine.unwrap_or(0.0))
}

/// Rounds a share to three digits: more say nothing.
fn rounded(share: f64) -> f64 {
    (share * 1_000.0).round() / 1_000.0
}
