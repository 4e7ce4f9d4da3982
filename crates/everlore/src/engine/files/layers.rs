//! Layers of an agent, and the daily log of its sessions.

use jiff::civil::Date;
use serde::Serialize;

use crate::{
    engine::{Engine, SCAN_PAGE},
    error::{Error, Result},
    files::layers::{
        EditContext, Layer, LayerChange, LayerEdit, LayerSnapshot, LayerText, Layers, SessionDay,
    },
    ingest::{self, DayArchiveOutcome},
    store::{MemoryFilter, MemoryPages},
    sync::{boxed, run_blocking},
    text::{
        language::{Language, detect_language},
        secrets::mask_all,
        summary::{Utterance, summarize, truncate_lines},
        summary_evidence::supported_lines,
        suspect::is_suspect,
    },
    types::{Actor, Kind, Memory, Role, Scope},
};

/// Entry of an ended session in the daily log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionEnd {
    /// Day of the log.
    pub day: Date,
    /// Number of the session's turns on that day.
    pub turns: usize,
    /// File after the change; `None` if the day was full or nothing was worth a line.
    pub log: Option<LayerChange>,
}

/// Archived day of the daily log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArchivedDay {
    /// Date.
    pub day: Date,
    /// Outcome for the memory made from it.
    pub memory: DayArchiveOutcome,
}

impl Engine {
    /// Most characters of a summary in the daily log: a few sessions fit into a day.
    pub const MAX_SUMMARY_CHARS: usize = 300;

    /// Returns the layer files of a scope. Their methods block; an async caller uses the methods below. Fails if the
    /// engine has no home.
    pub(crate) fn layers(&self, scope: &Scope) -> Result<Layers> {
        let home = self.home.as_ref().ok_or_else(|| {
            Error::invalid("there is no home folder", "build the engine with `EngineBuilder::home`")
        })?;
        let settings = self.settings(scope.agent());
        let keeps_secrets = !settings.memory.mask_secrets;
        Ok(Layers::new(home, scope, &settings.layers).keeping_secrets(keeps_secrets))
    }

    /// Returns a layer as it is on disk; of the daily log, today's file. Fails if the engine has no home or the file
    /// cannot be read.
    #[boxed]
    pub async fn read_layer(&self, scope: &Scope, layer: Layer) -> Result<LayerText> {
        let (layers, today) = (self.layers(scope)?, self.now().date());
        run_blocking(move || layers.read(layer, today)).await
    }

    /// Edits a layer and returns the change; of the daily log, it edits today's file. Fails if the engine has no home,
    /// the text exceeds the layer's budget, or the file cannot be written.
    pub async fn edit_layer(
        &self,
        scope: &Scope,
        layer: Layer,
        edit: LayerEdit,
        actor: Actor,
    ) -> Result<LayerChange> {
        self.edit_layer_if(scope, layer, edit, actor, |_| true).await
    }

    /// Edits a layer like [`Engine::edit_layer`], but only if `is_expected` accepts its current text; fails with a
    /// conflict otherwise.
    pub async fn edit_layer_if(
        &self,
        scope: &Scope,
        layer: Layer,
        edit: LayerEdit,
        actor: Actor,
        is_expected: impl Fn(&str) -> bool + Send + 'static,
    ) -> Result<LayerChange> {
        self.check_layer_owner(scope, layer, actor).await?;
        let (layers, by) = (self.layers(scope)?, EditContext { actor, now: self.now() });
        let edited =
            run_blocking(move || layers.edit_if(layer, by.now.date(), &edit, &by, &is_expected));
        self.write_files(edited).await
    }

    /// Fails if the edit needs the owner. SOUL.md reaches every user's prompt, so an agent with several users leaves it
    /// to the owner.
    async fn check_layer_owner(&self, scope: &Scope, layer: Layer, actor: Actor) -> Result<()> {
        if layer != Layer::Soul {
            return Ok(());
        }
        self.check_owner("SOUL.md")?;
        if actor != Actor::Person && self.has_other_users(scope).await? {
            return Err(Error::OwnerOnly { what: "SOUL.md".to_owned() });
        }
        Ok(())
    }

    /// Returns `true` if the agent of a scope has memories of another user.
    pub(in crate::engine) async fn has_other_users(&self, scope: &Scope) -> Result<bool> {
        let scopes = self.store.admin().scopes().await?;
        Ok(scopes.iter().any(|one| one.agent() == scope.agent() && one.user() != scope.user()))
    }

    /// Returns the four layers as a session that starts now sees them in its prompt.
    pub async fn layer_snapshot(&self, scope: &Scope) -> Result<LayerSnapshot> {
        let (layers, today) = (self.layers(scope)?, self.now().date());
        run_blocking(move || layers.snapshot(today)).await
    }

    /// Ends a session: writes a summary into the log of its last day and queues its turns for extraction. Repeating it
    /// changes nothing. Fails if memory is disabled for the agent, the session has no turns, or the engine has no
    /// home.
    #[boxed]
    pub async fn end_session(&self, scope: &Scope, session: &str) -> Result<SessionEnd> {
        self.end_session_with_summary(scope, session, None).await
    }

    /// Ends a session like [`Engine::end_session`] with a summary that a model wrote: as many of the lines that the turns
    /// support as the day has room for, or sentences of the session if there are none or the first does not fit.
    pub async fn end_session_with_summary(
        &self,
        scope: &Scope,
        session: &str,
        summary: Option<&str>,
    ) -> Result<SessionEnd> {
        self.check_writable(scope)?;
        let session = &*self.stored_session(scope, session);
        self.mark_session_ended(scope, session).await?;
        let turns = self.session_turns(scope, session).await?;
        let day_of = |turn: &Memory| turn.at.to_zoned(self.zone.clone()).date();
        let Some(date) = turns.iter().map(day_of).max() else {
            return Err(Error::not_found("session", session));
        };
        let mut turns: Vec<Memory> =
            turns.into_iter().filter(|turn| day_of(turn) == date).collect();
        if self.masks_secrets(scope) {
            // The turns may date from a time when the settings did not mask secrets.
            mask_all(turns.iter_mut().map(|turn| &mut turn.content));
        }
        let (layers, by) =
            (self.layers(scope)?, EditContext { actor: Actor::Engine, now: self.now() });
        let (session, count) = (session.to_owned(), turns.len());
        let mut summary = without_suspect_lines(summary.unwrap_or_default());
        if self.masks_secrets(scope) {
            mask_all([&mut summary]);
        }
        let log = run_blocking(move || {
            // The log is in the prompts of the next days: what reads like an instruction stays out of it.
            turns.retain(|turn| !is_suspect_turn(turn));
            if is_suspect(&session) {
                return Ok(None);
            }
            let chinese = is_chinese(&turns);
            let day = SessionDay { date, session: &session, turns: count, chinese };
            let said = summary_input(&turns, chinese);
            let summary = supported_lines(&summary, &said);
            layers.log_session(&day, Self::MAX_SUMMARY_CHARS, &by, |room| {
                match truncate_lines(&summary, room) {
                    lines if lines.is_empty() => summarize(&said, room),
                    lines => lines,
                }
            })
        });
        Ok(SessionEnd { day: date, turns: count, log: self.write_files(log).await? })
    }

    /// Archives the days of the log that no longer reach the prompt and returns them; they stay searchable as
    /// memories. Fails if the engine has no home, or if a file or the store fails.
    #[boxed]
    pub async fn archive_days(&self, scope: &Scope) -> Result<Vec<ArchivedDay>> {
        let (layers, now) = (self.layers(scope)?, self.now());
        let (log, today) = (layers.clone(), now.date());
        let mut archived = Vec::new();
        for day in run_blocking(move || log.old_days(today)).await? {
            let mut masked = day.clone();
            if self.masks_secrets(scope) {
                mask_all([&mut masked.text]);
            }
            let memory =
                ingest::archive_day(&*self.store, scope, &masked, &self.zone, now.timestamp())
                    .await?;
            // A day that changed meanwhile is left for the next time.
            if self.write_files(async { layers.archive_day(&day) }).await? {
                archived.push(ArchivedDay { day: day.date, memory });
            }
        }
        Ok(archived)
    }

    /// Archives old days on behalf of another operation, which must not fail for it: a day that cannot be archived now
    /// stays. Most of the time there is nothing to do; finding that out lists one small folder, which takes less time
    /// than handing it to another thread.
    pub(crate) async fn archive_old_days(&self, scope: &Scope) {
        let today = self.now().date();
        if !self.layers(scope).is_ok_and(|layers| layers.has_old_days(today)) {
            return;
        }
        if let Err(error) = self.archive_days(scope).await {
            tracing::warn!(%scope, %error, "old days of the log could not be archived");
        }
    }

    /// Returns every turn of a session, in the order of storage.
    pub(crate) async fn session_turns(&self, scope: &Scope, session: &str) -> Result<Vec<Memory>> {
        let filter = MemoryFilter {
            kinds: vec![Kind::Turn],
            session: Some(self.stored_session(scope, session).into_owned()),
            ..MemoryFilter::default()
        };
        let mut pages = MemoryPages::new(&*self.store, scope, filter, SCAN_PAGE);
        let mut turns = Vec::new();
        while let Some(found) = pages.next().await? {
            turns.extend(found);
        }
        Ok(turns)
    }
}

/// Returns `true` if the text or the speaker of a turn reads like an instruction to the model.
fn is_suspect_turn(turn: &Memory) -> bool {
    is_suspect(&turn.content) || turn.source.speaker.as_deref().is_some_and(is_suspect)
}

/// Returns a summary without its suspect lines; empty if only the lines together are suspect.
fn without_suspect_lines(summary: &str) -> String {
    let lines: Vec<&str> = summary.lines().filter(|line| !is_suspect(line)).collect();
    let rest = lines.join("\n");
    if is_suspect(&rest) { String::new() } else { rest }
}

/// Returns `true` if the turns are mostly Chinese.
pub(crate) fn is_chinese(turns: &[Memory]) -> bool {
    let text: String = turns.iter().map(|turn| turn.content.as_str()).collect();
    detect_language(&text) == Language::Chinese
}

/// Converts turns to the summarizer's input.
pub(crate) fn summary_input(turns: &[Memory], chinese: bool) -> Vec<Utterance<'_>> {
    let by = |turn: &Memory| match (turn.source.role, chinese) {
        (Some(Role::User), false) => "user",
        (Some(Role::User), true) => "用户",
        (Some(Role::Assistant), false) => "assistant",
        (Some(Role::Assistant), true) => "助手",
        _ => "",
    };
    let is_spoken = |turn: &&Memory| !matches!(turn.source.role, Some(Role::System | Role::Tool));
    let utterance = |turn| {
        let turn: &Memory = turn;
        let by = turn.source.speaker.as_deref().unwrap_or_else(|| by(turn));
        let by_user = turn.source.role != Some(Role::Assistant);
        Utterance { speaker: by, text: &turn.content, is_user: by_user }
    };
    turns.iter().filter(is_spoken).map(utterance).collect()
}
