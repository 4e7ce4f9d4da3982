//! What waits to be drawn from conversations, in RAM.

use async_trait::async_trait;

use super::{RamStore, shelf::Shelf};
use crate::{
    error::Result,
    store::{
        Claim, Claimed, Failure, Place, Queue, Unread, Waiting,
        queue::{CONTEXT_TURNS, begins_exchange, choose, read_by_another},
    },
    types::{Extracted, Held, HeldLimits, Kind, Memory, MemoryId, Scope, Timestamp},
};

/// How far a session was read.
#[derive(Debug, Clone, Default)]
pub(super) struct Capture {
    extracted: u32,
    last_at: Timestamp,
    ended_at: Option<Timestamp>,
    lease: Option<(String, Timestamp)>,
    failures: u32,
    invalid: u32,
    retry_at: Option<Timestamp>,
    error: Option<String>,
}

impl Shelf {
    /// Notes that a turn was stored.
    pub(super) fn turn_came(&mut self, place: Place, now: Timestamp) {
        let capture = self.captures.entry(place.session()).or_default();
        if capture.extracted <= place.position() {
            (capture.last_at, capture.ended_at) = (now, None);
        }
    }

    /// Moves on to what is unread now, if the lease is still the one's who read.
    pub(super) fn extracted(&mut self, extracted: &Extracted, now: Timestamp) -> Result<()> {
        let refused = || read_by_another(extracted.session.as_deref());
        let session = self.session_number(extracted.session.as_deref()).ok_or_else(refused)?;
        let capture = self.captures.get_mut(&session).ok_or_else(refused)?;
        let is_owner = capture.lease.as_ref().is_some_and(|(owner, _)| *owner == extracted.owner);
        if !is_owner || capture.extracted != extracted.from {
            return Err(refused());
        }
        *capture = Capture {
            extracted: extracted.to,
            last_at: capture.last_at,
            ended_at: capture.ended_at,
            ..Capture::default()
        };
        self.extracted_at = Some(now);
        self.hold(&extracted.held, extracted.keep);
        Ok(())
    }

    fn hold(&mut self, held: &[Held], limits: HeldLimits) {
        for draft in held {
            let text = draft.memory.fingerprint();
            self.held.retain(|other| other.memory.fingerprint() != text);
            self.held.push(draft.clone());
        }
        self.held.retain(|draft| draft.at >= limits.since);
        self.held.sort_by_key(|draft| std::cmp::Reverse((draft.verdict, draft.at, draft.id())));
        self.held.truncate(limits.most);
    }

    fn session_number(&self, session: Option<&str>) -> Option<u32> {
        session.map_or(Some(0), |name| self.sessions.get(name).copied())
    }

    fn capture_of(&mut self, claimed: &Claimed) -> Option<&mut Capture> {
        let session = self.session_number(claimed.session.as_deref())?;
        let capture = self.captures.get_mut(&session)?;
        let is_owner = capture.lease.as_ref().is_some_and(|(owner, _)| *owner == claimed.owner);
        is_owner.then_some(capture)
    }

    fn turns_from(&self, session: u32, from: u32) -> impl Iterator<Item = (&Place, &Memory)> {
        let range = Place::new(session, from)..Place::new(session, u32::MAX);
        self.rows.range(range).filter(|(_, memory)| memory.kind == Kind::Turn)
    }

    fn waiting(&self, scope: &Scope) -> Vec<(u32, Waiting)> {
        let waiting = |(session, capture): (&u32, &Capture)| {
            let turns: Vec<_> = self.turns_from(*session, capture.extracted).collect();
            let begins = turns.iter().filter(|(_, turn)| begins_exchange(turn)).count();
            let name = self.sessions.iter().find(|(_, number)| *number == session);
            let waiting = Waiting {
                scope: scope.clone(),
                session: name.map(|(name, _)| name.clone()),
                turns: turns.len(),
                exchanges: begins,
                last_at: capture.last_at,
                ended_at: capture.ended_at,
                leased_until: capture.lease.as_ref().map(|(_, until)| *until),
                failures: capture.failures,
                invalid: capture.invalid,
                retry_at: capture.retry_at,
                error: capture.error.clone(),
                last_run_at: self.extracted_at,
            };
            (waiting.turns > 0).then_some((*session, waiting))
        };
        self.captures.iter().filter_map(waiting).collect()
    }
}

#[async_trait]
impl Queue for RamStore {
    async fn claim(&self, claim: &Claim) -> Result<Option<Claimed>> {
        let mut shelves = self.shelves();
        let waiting = all_waiting(shelves.iter(), claim.scope.as_ref());
        let Some(chosen) = choose(&waiting, claim) else { return Ok(None) };
        let Waiting { scope, session, failures, invalid, .. } = waiting[chosen].clone();
        let Some(shelf) = shelves.get_mut(&scope) else { return Ok(None) };
        let number = shelf.session_number(session.as_deref()).unwrap_or_default();
        let until = claim.now + claim.lease;
        shelf.captures.entry(number).or_default().lease = Some((claim.owner.clone(), until));
        Ok(Some(Claimed { scope, session, owner: claim.owner.clone(), failures, invalid }))
    }

    async fn give_back(&self, claimed: &Claimed, failure: Option<&Failure>) -> Result<()> {
        let mut shelves = self.shelves();
        let shelf = shelves.get_mut(&claimed.scope);
        let Some(capture) = shelf.and_then(|shelf| shelf.capture_of(claimed)) else {
            return Ok(());
        };
        capture.lease = None;
        if let Some(failure) = failure {
            capture.failures += 1;
            capture.invalid += u32::from(failure.is_invalid);
            capture.retry_at = Some(failure.retry_at);
            capture.error = Some(failure.error.clone());
        }
        Ok(())
    }

    async fn unread_turns(
        &self,
        scope: &Scope,
        session: Option<&str>,
        limit: usize,
    ) -> Result<Unread> {
        let unread = |shelf: &Shelf| {
            let session = shelf.session_number(session)?;
            let from = shelf.captures.get(&session)?.extracted;
            let turns: Vec<_> = shelf.turns_from(session, from).take(limit).collect();
            let to = turns.last().map_or(from, |(place, _)| place.position() + 1);
            let mut before: Vec<Memory> = shelf
                .turns_from(session, 0)
                .filter(|(place, _)| place.position() < from)
                .map(|(_, turn)| turn.clone())
                .collect();
            before.drain(..before.len().saturating_sub(CONTEXT_TURNS));
            let turns = turns.into_iter().map(|(_, turn)| turn.clone()).collect();
            Some(Unread { before, turns, from, to })
        };
        Ok(self.read(scope, unread).unwrap_or_default())
    }

    async fn announce_end(&self, scope: &Scope, session: &str, now: Timestamp) -> Result<bool> {
        let mut shelves = self.shelves();
        let Some(shelf) = shelves.get_mut(scope) else { return Ok(false) };
        let number = shelf.session_number(Some(session));
        let capture = number.and_then(|number| shelf.captures.get_mut(&number));
        Ok(capture.map(|capture| capture.ended_at = Some(now)).is_some())
    }

    async fn waiting(&self, scope: Option<&Scope>) -> Result<Vec<Waiting>> {
        Ok(all_waiting(self.shelves().iter(), scope))
    }

    async fn held(&self, scope: &Scope) -> Result<Vec<Held>> {
        let mut held = self.read(scope, |shelf| shelf.held.clone());
        held.sort_by_key(|draft| std::cmp::Reverse((draft.at, draft.id())));
        Ok(held)
    }

    async fn drop_held(&self, scope: &Scope, ids: &[MemoryId]) -> Result<usize> {
        let mut shelves = self.shelves();
        let Some(shelf) = shelves.get_mut(scope) else { return Ok(0) };
        let before = shelf.held.len();
        shelf.held.retain(|draft| !ids.contains(&draft.id()));
        Ok(before - shelf.held.len())
    }
}

fn all_waiting<'a>(
    shelves: impl Iterator<Item = (&'a Scope, &'a Shelf)>,
    scope: Option<&Scope>,
) -> Vec<Waiting> {
    let mut waiting: Vec<_> = shelves
        .filter(|(owner, _)| scope.is_none_or(|scope| scope == *owner))
        .flat_map(|(owner, shelf)| shelf.waiting(owner))
        .collect();
    waiting.sort_by_key(|(number, it)| (it.last_at, *number));
    waiting.into_iter().map(|(_, waiting)| waiting).collect()
}
