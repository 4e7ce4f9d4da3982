//! Trajectories: the recorder's limits, and the views of a scope.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::{
    engine::Engine,
    error::{Error, Result},
    growth::trajectory::{LinkedExperience, Trajectory, TrajectorySummary},
    ingest::Turn,
    store::{MemoryFilter, MemoryPages, SessionSummary},
    sync::boxed,
    text::elision::{elide_middle, elide_texts},
    types::{Kind, Memory, MemoryId, Scope, Timestamp},
};

use super::super::SCAN_PAGE;

/// Trajectories of a page unless a caller says otherwise.
const DEFAULT_LIMIT: usize = 20;

/// Most trajectories of a page: each one is read whole.
const MAX_LIMIT: usize = 200;

/// Most experiences of one trajectory.
const MAX_EXPERIENCES: usize = 100;

/// Selection of trajectories.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrajectoryQuery {
    /// Only those with a step at this time or later.
    pub since: Option<Timestamp>,
    /// Only those after this session in the list: `next` of the page before.
    pub after: Option<String>,
    /// Most of them, from 1 to 200; 20 by default.
    pub limit: Option<usize>,
}

/// Page of trajectories.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TrajectoryPage {
    /// Trajectories, the one with the latest step first.
    pub trajectories: Vec<TrajectorySummary>,
    /// Session after which the next page begins; `None` on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl Engine {
    /// Returns `true` if the settings let tool calls be recorded.
    pub fn records_trajectories(&self) -> bool {
        self.config().trajectories.enabled
    }

    /// Returns the trajectories of a scope, the one with the latest message first. Fails if the limit is out of range.
    pub async fn trajectories(
        &self,
        scope: &Scope,
        query: &TrajectoryQuery,
    ) -> Result<TrajectoryPage> {
        let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(Error::invalid(
                format!("a page of {limit} trajectories"),
                format!("ask for 1 to {MAX_LIMIT}"),
            ));
        }
        let sessions = self.trajectory_sessions(scope, query.since).await?;
        let start = query.after.as_ref().map_or(0, |after| {
            sessions.iter().position(|it| it.session == *after).map_or(sessions.len(), |at| at + 1)
        });
        let page = &sessions[start..sessions.len().min(start + limit)];
        let mut trajectories = Vec::with_capacity(page.len());
        for session in page {
            let found = self.read_trajectory(scope, &session.session).await?;
            trajectories.extend(found.map(|trajectory| trajectory.summary()));
        }
        let is_last = start + page.len() >= sessions.len();
        let next = page.last().filter(|_| !is_last).map(|last| last.session.clone());
        Ok(TrajectoryPage { trajectories, next })
    }

    /// Returns the trajectory of a session, which its last part names too where no other has it: `s1` for
    /// `claude-code/tmp/s1`. Fails if the scope has no turns of such a session.
    #[boxed]
    pub async fn trajectory(&self, scope: &Scope, session: &str) -> Result<Trajectory> {
        let session = self.stored_session(scope, session).into_owned();
        let mut found = self.read_trajectory(scope, &session).await?;
        if found.is_none()
            && let Some(whole) = self.session_ending_in(scope, &session).await?
        {
            found = self.read_trajectory(scope, &whole).await?;
        }
        let mut trajectory = found.ok_or_else(|| Error::not_found("session", session.as_str()))?;
        trajectory.experiences = self.linked_experiences(scope, &trajectory).await?;
        Ok(trajectory)
    }

    /// Returns the only session whose name ends in `/part`.
    async fn session_ending_in(&self, scope: &Scope, part: &str) -> Result<Option<String>> {
        let end = format!("/{part}");
        let mut names = self.trajectory_names(scope, None).await?;
        names.retain(|name| name.ends_with(&end));
        Ok(names.pop().filter(|_| names.is_empty()))
    }

    /// Returns the names of the sessions with a step at `since` or later, the one with the latest message first.
    pub async fn trajectory_names(
        &self,
        scope: &Scope,
        since: Option<Timestamp>,
    ) -> Result<Vec<String>> {
        let sessions = self.trajectory_sessions(scope, since).await?;
        Ok(sessions.into_iter().map(|it| it.session).collect())
    }

    async fn trajectory_sessions(
        &self,
        scope: &Scope,
        since: Option<Timestamp>,
    ) -> Result<Vec<SessionSummary>> {
        let mut sessions: Vec<SessionSummary> = Vec::new();
        loop {
            let after = sessions.last().map(|it| it.session.clone());
            let page = self.store.uris().sessions(scope, after.as_deref(), SCAN_PAGE).await?;
            let is_last = page.len() < SCAN_PAGE;
            sessions.extend(page);
            if is_last {
                break;
            }
        }
        sessions.retain(|it| since.is_none_or(|since| it.last_at >= since));
        sessions.sort_by(|one, other| {
            (other.last_at, &one.session).cmp(&(one.last_at, &other.session))
        });
        Ok(sessions)
    }

    async fn read_trajectory(&self, scope: &Scope, session: &str) -> Result<Option<Trajectory>> {
        let mut memories = self.session_turns(scope, session).await?;
        let tags = vec![Kind::Trajectory.as_str().to_owned(), session.to_owned()];
        memories.extend(self.tagged_records(scope, Kind::Trajectory, tags).await?);
        Ok(Trajectory::new(session, scope.agent(), memories))
    }

    /// Returns the experiences that were recorded in a session or that capture drew from its turns.
    async fn linked_experiences(
        &self,
        scope: &Scope,
        trajectory: &Trajectory,
    ) -> Result<Vec<LinkedExperience>> {
        let turns: HashSet<MemoryId> = trajectory.steps.iter().map(|step| step.id).collect();
        let is_linked = |memory: &Memory| {
            memory.source.session.as_ref() == Some(&trajectory.session)
                || memory.source.turns.iter().any(|turn| turns.contains(turn))
        };
        let filter = MemoryFilter {
            kinds: vec![Kind::Experience],
            since: Some(trajectory.started_at),
            ..MemoryFilter::default()
        };
        let mut pages = MemoryPages::new(&*self.store, scope, filter, SCAN_PAGE);
        let mut found: Vec<Memory> = Vec::new();
        while let Some(page) = pages.next().await? {
            found.extend(page.into_iter().filter(is_linked));
        }
        found.sort_by_key(|memory| (memory.at, memory.id));
        found.truncate(MAX_EXPERIENCES);
        Ok(found.iter().filter_map(LinkedExperience::of_memory).collect())
    }

    /// Shortens a recorded tool call to the limits of the settings. If they switch recording off, a call that is a turn loses
    /// its arguments, and any other fails.
    pub(in crate::engine) fn limit_recorded_call(&self, turn: &mut Turn) -> Result<()> {
        let settings = &self.config().trajectories;
        let is_record = turn.is_call_record();
        if !settings.enabled && !is_record {
            turn.call = None;
        }
        let Some(call) = &mut turn.call else { return Ok(()) };
        if !settings.enabled {
            return Err(Error::invalid(
                "tool calls are not recorded here",
                "set `enabled = true` in section [trajectories] of the settings",
            ));
        }
        elide_texts(&mut call.arguments, settings.max_chars);
        call.result = call.result.take().map(|text| elide_middle(&text, settings.max_chars));
        if is_record {
            turn.text = elide_middle(&turn.text, settings.max_chars);
        }
        Ok(())
    }

    /// Returns the recorded tool calls of a scope of which a text satisfies `is_erased`.
    pub(in crate::engine) async fn calls_with_text(
        &self,
        scope: &Scope,
        is_erased: &(dyn Fn(&str) -> bool + Send + Sync),
    ) -> Result<Vec<Memory>> {
        let mut records = self.active_records(scope, Kind::Trajectory).await?;
        records.retain(|record| {
            is_erased(&record.content) || record.metadata.values().any(|it| has_text(it, is_erased))
        });
        Ok(records)
    }
}

fn has_text(value: &serde_json::Value, is_erased: &(dyn Fn(&str) -> bool + Send + Sync)) -> bool {
    use serde_json::Value;
    match value {
        Value::String(text) => is_erased(text),
        Value::Array(items) => items.iter().any(|item| has_text(item, is_erased)),
        Value::Object(fields) => fields.values().any(|field| has_text(field, is_erased)),
        _ => false,
    }
}
