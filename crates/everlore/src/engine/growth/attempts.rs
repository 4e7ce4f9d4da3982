//! Attempts in capture: failures that a conversation solved become experiences, or reports about known ones.

use super::experiences::apply_report;
use crate::{
    engine::Engine,
    error::Result,
    growth::{NewExperience, ObservedAttempt, SessionTurn, is_same_cure, observed_attempts},
    ingest::{Draft, TurnText},
    store::UnreadTurns,
    text::{error_signature::signature, experience_text::experience_text, secrets::mask_all},
    types::{Change, Kind, Memory, MemoryId, QUOTED_KEY, Scope, Timestamp},
};

/// Outcome of a known solution that was tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AttemptReport {
    /// Experience that holds the solution.
    pub(crate) id: MemoryId,
    /// `true` if it worked.
    pub(crate) worked: bool,
}

impl Engine {
    /// Finds what unread turns tried against failures: drafts of new experiences, and reports about known ones.
    pub(in crate::engine) async fn read_attempts(
        &self,
        scope: &Scope,
        unread: &UnreadTurns,
    ) -> Result<(Vec<Draft>, Vec<AttemptReport>)> {
        let turns: Vec<_> = unread.context.iter().chain(&unread.turns).collect();
        let turns = self.turns_with_quotes(scope, &turns);
        let (mut drafts, mut reports) = (Vec::new(), Vec::new());
        for attempt in observed_attempts(&turns, unread.context.len()) {
            let known = self.known_cure(scope, &attempt).await?;
            if let Some(id) = known {
                reports.push(AttemptReport { id, worked: attempt.worked });
            } else if attempt.worked {
                drafts.push(self.attempt_draft(attempt)?);
            }
        }
        Ok((drafts, reports))
    }

    /// Returns the experience that says what was tried against the same failure.
    async fn known_cure(
        &self,
        scope: &Scope,
        attempt: &ObservedAttempt,
    ) -> Result<Option<MemoryId>> {
        let cures = self.cures_of(scope, &signature(&attempt.error)).await?;
        let is_tried = |solution: &str| is_same_cure(solution, &attempt.solution);
        let found = cures.iter().find(|(hit, _)| is_tried(&hit.experience.solution));
        Ok(found.map(|(_, memory)| memory.id))
    }

    fn attempt_draft(&self, attempt: ObservedAttempt) -> Result<Draft> {
        let ObservedAttempt { pain, solution, outcome, error, tools, trust, evidence, at, .. } =
            attempt;
        let new = NewExperience {
            pain,
            solution,
            outcome,
            error: Some(error),
            tools,
            ..NewExperience::default()
        };
        let experience = new.into_experience(at)?;
        Ok(Draft::of_experience(experience_text(&experience), experience, trust, evidence, at))
    }

    /// Returns the changes that reports make to stored experiences. Those that are gone are left out.
    pub(in crate::engine) async fn report_changes(
        &self,
        scope: &Scope,
        reports: &[AttemptReport],
        now: Timestamp,
    ) -> Result<Vec<Change>> {
        let ids: Vec<MemoryId> = reports.iter().map(|report| report.id).collect();
        let mut memories = self.get_many(scope, &ids).await?;
        memories.dedup_by_key(|memory| memory.id);
        for memory in &mut memories {
            let id = memory.id;
            for report in reports.iter().filter(|report| report.id == id) {
                apply_report(memory, report.worked, now)?;
            }
            memory.updated_at = now;
            memory.version += 1;
        }
        Ok(memories.into_iter().map(|memory| Change::Update(Box::new(memory))).collect())
    }

    /// Converts turns for the rules, masked again as for an extractor.
    fn turns_with_quotes(&self, scope: &Scope, turns: &[&Memory]) -> Vec<SessionTurn> {
        let convert = |turn: &&Memory| {
            let TurnText { id, role, text, at, .. } = TurnText::from_turn(turn);
            let quoted = turn.metadata.get(QUOTED_KEY).and_then(|quoted| quoted.as_str());
            SessionTurn { id, role, text, quoted: quoted.unwrap_or_default().to_owned(), at }
        };
        let is_turn = |turn: &&&Memory| turn.kind == Kind::Turn;
        let mut turns: Vec<_> = turns.iter().filter(is_turn).map(convert).collect();
        if self.masks_secrets(scope) {
            mask_all(turns.iter_mut().flat_map(|turn| [&mut turn.text, &mut turn.quoted]));
        }
        turns
    }
}
