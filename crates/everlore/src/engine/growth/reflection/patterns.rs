//! Proposals of skills and workflows: recurring tool calls, and pains that came back and whose cure is known.
//!
//! Only the user's own words and calls that a hook reported become text of a skill: what an assistant, a tool, a page, an
//! import or another person said does not.

use serde_json::Value;

use super::{
    preferences::is_by_user,
    proven::{ProvenCure, proven_failure},
};
use crate::{
    engine::{Engine, ExperienceQuery, SCAN_PAGE, growth::skills::StoredSkill},
    error::Result,
    growth::{
        SessionTurn, calls_of_solution,
        patterns::{ComplaintScan, FailureScan, MadeCall, RepeatedPain, SequenceScan},
        profile::pain_topic,
        reflection::{Proposal, ProposalState, ProposedChange, ProposedSkill, Topic},
        skill::{CureText, SkillDraft, SkillEffectRecord, SkillForm, cure_skill, sequence_skill},
        success_rate,
    },
    store::{JournalQuery, MemoryFilter, MemoryPages},
    sync::{boxed, run_blocking},
    text::{
        error_signature::is_same,
        suspect::{is_suspect, is_unverified},
        tool_event::ToolEvent,
    },
    types::{
        Actor, CALL_SESSION_KEY, Experience, HOOK_CAUSE, JournalEntry, Kind, Memory, MemoryId,
        Origin, QUOTED_KEY, RecordedCall, Role, Scope, Status, Trust,
    },
};

/// Least success rate of a cure that is proposed: it worked more often than it failed.
const MIN_SUCCESS: f64 = 0.6;

/// Most cures of a complaint that are looked at: a search by words finds others too.
const MAX_CURES: usize = 5;

/// Arguments that hold the command of a shell tool.
const COMMAND_ARGUMENTS: [&str; 2] = ["command", "cmd"];

/// Beginning of the reason of what an import stores.
const IMPORT_CAUSE: &str = "import";

/// Turns of a scope, read for patterns.
#[derive(Debug, Default)]
pub(super) struct PatternScan {
    /// Tool calls.
    pub calls: SequenceScan,
    failures: FailureScan,
    complaints: ComplaintScan,
}

impl PatternScan {
    fn read(&mut self, turn: &Memory, scope: &Scope) {
        if let Some(recorded) = RecordedToolCall::of(turn) {
            let RecordedToolCall { session, tool, call, worked } = &recorded;
            let made = MadeCall { tool, call, worked: *worked, turn: turn.id, at: turn.at };
            self.calls.read_call(session, &made);
            return;
        }
        let Some(session) = turn.source.session.as_deref() else { return };
        if is_by_user(turn, scope) {
            self.calls.read_request(session, turn.id, &turn.content);
            self.complaints.read(session, turn.id, turn.at, &turn.content);
            self.failures.read_message(&turn.content);
            self.failures.read(session, &session_turn(turn, Role::User));
        } else if turn.source.role == Some(Role::Tool)
            && let Some(event) = ToolEvent::parse(&turn.content)
        {
            let (tool, call, worked) = (event.tool, event.call, event.error.is_none());
            let made = MadeCall { tool, call, worked, turn: turn.id, at: turn.at };
            self.calls.read_call(session, &made);
            if event.error.is_some() {
                self.failures.read(session, &session_turn(turn, Role::Tool));
            }
        }
    }
}

impl Engine {
    /// Reads the turns of a scope for patterns.
    pub(super) async fn scan_patterns(
        &self,
        scope: &Scope,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<PatternScan> {
        let kinds = vec![Kind::Turn, Kind::Trajectory];
        let filter = MemoryFilter { kinds, ..MemoryFilter::default() };
        let mut pages = MemoryPages::new(&*self.store, scope, filter, SCAN_PAGE);
        let (mut scan, mut count) = (PatternScan::default(), 0);
        while let Some(page) = pages.next().await? {
            count += page.len();
            let owner = scope.clone();
            scan = run_blocking(move || {
                page.iter().for_each(|turn| scan.read(turn, &owner));
                Ok(scan)
            })
            .await?;
            progress(count);
        }
        Ok(scan)
    }

    /// Returns proposals of skills and workflows, and of better cures for skills that failed.
    pub(super) async fn skill_proposals(
        &self,
        scope: &Scope,
        scan: PatternScan,
        skills: &[StoredSkill],
    ) -> Result<Vec<Proposal>> {
        let mut taken: Vec<(SkillForm, String)> =
            skills.iter().map(|it| (it.record.form, it.record.name.clone())).collect();
        let mut proposals = Vec::new();
        for (draft, cures) in self.skill_drafts(scope, scan).await? {
            let known = skills.iter().find(|it| it.record.pattern.is_same(&draft.pattern));
            let proposed = match known {
                Some(known) => better_version(known, &draft, cures),
                None => {
                    let name = Self::free_skill_name(&taken, draft.form, &draft.name);
                    taken.push((draft.form, name.clone()));
                    Some(proposed_skill(&draft, name, 1, None, cures))
                }
            };
            proposals.extend(proposed.map(|proposed| proposal(draft, proposed)));
        }
        Ok(proposals)
    }

    /// Returns drafts of skills with the experiences that tell their cures.
    #[boxed]
    async fn skill_drafts(
        &self,
        scope: &Scope,
        scan: PatternScan,
    ) -> Result<Vec<(SkillDraft, Vec<MemoryId>)>> {
        let PatternScan { calls, failures, complaints } = scan;
        let (sequences, pains) = run_blocking(move || {
            let pains: Vec<_> = failures.finish().into_iter().chain(complaints.finish()).collect();
            Ok((calls.finish(), pains))
        })
        .await?;
        let mut drafts = Vec::new();
        for sequence in sequences {
            if self.are_reported_calls(scope, &sequence.occasions.turns).await? {
                drafts.push((sequence_skill(&sequence), Vec::new()));
            }
        }
        let known = self.proven_cures(scope, &pains).await?;
        for pain in &pains {
            let cure = self.trusted_cure(scope, pain).await?;
            drafts.extend(cure.and_then(|(memory, cure)| cure_draft(pain, &memory, &cure)));
        }
        for ProvenCure { pain, memory } in &known {
            let cure = match pain.signature {
                Some(_) => self.trusted_cure(scope, pain).await?,
                None => self.saved_cure(scope, memory).await?.map(|cure| (memory.clone(), cure)),
            };
            drafts.extend(cure.and_then(|(memory, cure)| cure_draft(pain, &memory, &cure)));
        }
        Ok(drafts)
    }

    /// Returns the cure of an experience that a person saved in their own words.
    async fn saved_cure(&self, scope: &Scope, memory: &Memory) -> Result<Option<CureText>> {
        let Some(experience) = Experience::of_memory(memory) else { return Ok(None) };
        let is_fit = memory.source.via == Origin::Remember
            && success_rate(&experience) >= MIN_SUCCESS
            && !is_unverified(memory)
            && !is_suspect(&experience.pain);
        if is_fit { self.cure_text(scope, memory, &experience).await } else { Ok(None) }
    }

    /// Returns the failures whose cure worked often enough, besides those that turns show.
    async fn proven_cures(&self, scope: &Scope, pains: &[RepeatedPain]) -> Result<Vec<ProvenCure>> {
        let filter = MemoryFilter {
            kinds: vec![Kind::Experience],
            statuses: vec![Status::Active],
            ..MemoryFilter::default()
        };
        let mut pages = MemoryPages::new(&*self.store, scope, filter, SCAN_PAGE);
        let mut found = Vec::new();
        while let Some(page) = pages.next().await? {
            let proven = page.iter().filter_map(proven_failure);
            let is_new = |it: &ProvenCure| pains.iter().all(|other| !is_same_pain(&it.pain, other));
            found.extend(proven.filter(is_new));
        }
        Ok(found)
    }

    /// Returns the best cure of a pain that comes from the user or from calls; `None` if there is none.
    async fn trusted_cure(
        &self,
        scope: &Scope,
        pain: &RepeatedPain,
    ) -> Result<Option<(Memory, CureText)>> {
        let candidates: Vec<Memory> = match &pain.signature {
            Some(signature) => {
                let cures = self.cures_of(scope, signature).await?;
                cures.into_iter().map(|(_, memory)| memory).collect()
            }
            None => self.cures_by_words(scope, &pain.text).await?,
        };
        for memory in candidates {
            let Some(experience) = Experience::of_memory(&memory) else { continue };
            if success_rate(&experience) < MIN_SUCCESS || is_unverified(&memory) {
                continue;
            }
            if let Some(cure) = self.cure_text(scope, &memory, &experience).await? {
                return Ok(Some((memory, cure)));
            }
        }
        Ok(None)
    }

    async fn cures_by_words(&self, scope: &Scope, text: &str) -> Result<Vec<Memory>> {
        let topic = pain_topic(text);
        let query = ExperienceQuery { text: text.to_owned(), is_error: false, limit: MAX_CURES };
        let hits = self.find_experiences(scope, &query).await?;
        let is_about = |pain: &str| topic.is_same(&pain_topic(pain));
        let ids: Vec<MemoryId> = { hits.iter() }
            .filter(|hit| is_about(&hit.experience.pain))
            .map(|hit| hit.experience.id)
            .collect();
        self.get_many(scope, &ids).await
    }

    /// Returns the text of a cure that may become an instruction, by its lineage: what a person saved, what the user said
    /// word for word, or calls that a hook reported.
    async fn cure_text(
        &self,
        scope: &Scope,
        memory: &Memory,
        experience: &Experience,
    ) -> Result<Option<CureText>> {
        let solution = experience.solution.as_str();
        if is_suspect(solution) {
            return Ok(None);
        }
        if memory.source.via == Origin::Remember {
            let is_person = self.saves_by_person(scope, memory.id).await?.is_some();
            let is_fit = is_person && memory.trust() >= Trust::Said;
            return Ok(is_fit.then(|| CureText::Said(solution.to_owned())));
        }
        if memory.source.via != Origin::Extract || memory.trust() < Trust::Inferred {
            return Ok(None);
        }
        let turns = self.get_many(scope, &memory.source.turns).await?;
        let said = solution.trim_end_matches('…').trim_end();
        let is_said = |turn: &Memory| is_by_user(turn, scope) && turn.content.contains(said);
        if !said.is_empty() && turns.iter().any(is_said) {
            return Ok(Some(CureText::Said(solution.to_owned())));
        }
        let Some(calls) = calls_of_solution(solution) else { return Ok(None) };
        let ids: Vec<MemoryId> = { turns.iter() }
            .filter(|turn| turn.source.role == Some(Role::Tool))
            .map(|turn| turn.id)
            .collect();
        let is_fit = !ids.is_empty()
            && turns.iter().all(|turn| turn.source.role != Some(Role::Assistant))
            && self.are_reported_calls(scope, &ids).await?;
        Ok(is_fit.then(|| CureText::from_calls(&calls)))
    }

    /// Returns `true` if a hook reported every one of these turns, or a recorder stored the call as such: the output of a
    /// tool can look like a call.
    async fn are_reported_calls(&self, scope: &Scope, turns: &[MemoryId]) -> Result<bool> {
        for id in turns {
            let query = JournalQuery { id: Some(*id), ..JournalQuery::default() };
            let entries = self.store.journal().entries(scope, &query).await?;
            if !entries.iter().any(is_reported) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn is_reported(entry: &JournalEntry) -> bool {
    let by_hook = entry.actor == Actor::Person && entry.cause.starts_with(HOOK_CAUSE);
    let recorded = || entry.after.as_ref().and_then(|memory| RecordedToolCall::of(memory));
    by_hook || !entry.cause.starts_with(IMPORT_CAUSE) && recorded().is_some()
}

/// Tool call that a recorder stored with its arguments, apart from what the tool printed.
struct RecordedToolCall {
    session: String,
    tool: String,
    call: String,
    worked: bool,
}

impl RecordedToolCall {
    /// Returns the call of a trajectory's record; `None` for any other memory.
    fn of(memory: &Memory) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let recorded =
            RecordedCall::of_memory(memory).filter(|_| memory.kind == Kind::Trajectory)?;
        let main = COMMAND_ARGUMENTS.iter().find_map(|name| text(recorded.arguments.get(name)?));
        Some(Self {
            session: text(memory.metadata.get(CALL_SESSION_KEY)?)?,
            tool: recorded.name,
            call: main.unwrap_or_default(),
            worked: !recorded.failed,
        })
    }
}

fn session_turn(turn: &Memory, role: Role) -> SessionTurn {
    let quoted = turn.metadata.get(QUOTED_KEY).and_then(|quoted| quoted.as_str());
    SessionTurn {
        id: turn.id,
        role,
        text: turn.content.clone(),
        quoted: quoted.unwrap_or_default().to_owned(),
        at: turn.at,
    }
}

fn cure_draft(
    pain: &RepeatedPain,
    memory: &Memory,
    cure: &CureText,
) -> Option<(SkillDraft, Vec<MemoryId>)> {
    cure_skill(pain, cure, &[memory.id]).map(|draft| (draft, vec![memory.id]))
}

fn is_same_pain(one: &RepeatedPain, other: &RepeatedPain) -> bool {
    match (&one.signature, &other.signature) {
        (Some(one), Some(other)) => is_same(one, other),
        (None, None) => pain_topic(&one.text).is_same(&pain_topic(&other.text)),
        _ => false,
    }
}

/// Returns another version of a skill if it failed and another cure is known.
fn better_version(
    known: &StoredSkill,
    draft: &SkillDraft,
    cures: Vec<MemoryId>,
) -> Option<ProposedSkill> {
    let effect = SkillEffectRecord::of(&known.memory);
    let is_other = cures.iter().any(|id| effect.cures.iter().all(|cure| cure.id != *id));
    let has_failed = effect.failed > 0 && known.record.form == SkillForm::Skill;
    (is_other && has_failed).then(|| {
        let (name, base) = (known.record.name.clone(), Some(known.memory.content.clone()));
        proposed_skill(draft, name, known.record.latest + 1, base, cures)
    })
}

fn proposed_skill(
    draft: &SkillDraft,
    name: String,
    version: u32,
    base: Option<String>,
    cures: Vec<MemoryId>,
) -> ProposedSkill {
    ProposedSkill {
        form: draft.form,
        text: draft.render(&name, version),
        name,
        base,
        steps: draft.steps.clone(),
        pattern: draft.pattern.clone(),
        cures,
        expected: draft.expected,
    }
}

fn proposal(draft: SkillDraft, proposed: ProposedSkill) -> Proposal {
    Proposal {
        reason: draft.reason,
        why: draft.why,
        evidence: draft.evidence,
        change: ProposedChange::Skill(Box::new(proposed)),
        state: ProposalState::Open,
        topic: Topic::default(),
        decided_at: None,
        applied: None,
    }
}
