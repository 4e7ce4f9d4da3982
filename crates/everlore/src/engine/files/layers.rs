//! The layers of an agent, and what a conversation leaves in the daily log.

use jiff::civil::Date;
use serde::Serialize;

use crate::{
    engine::{Engine, SCAN_PAGE},
    error::{Error, Result},
    files::layers::{
        EditContext, Layer, LayerChange, LayerEdit, LayerSnapshot, LayerText, Layers, SessionDay,
    },
    ingest::{self, DayArchiveOutcome},
    store::{ListOrder, ListQuery, MemoryFilter},
    sync::run_blocking,
    text::{
        language::{Language, detect_language},
        secrets::mask_all,
        summary::{Utterance, summarize, truncate_lines},
    },
    types::{Actor, Kind, Memory, Role, Scope},
};

/// What the end of a conversation left in the daily log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionEnd {
    /// The day it was written to.
    pub day: Date,
    /// How many turns of that day it is about.
    pub turns: usize,
    /// The file as it is now; none if the day was full or nothing was worth a line.
    pub log: Option<LayerChange>,
}

/// A day of the log that was put away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArchivedDay {
    /// The day.
    pub day: Date,
    /// What became of it as a memory.
    pub memory: DayArchiveOutcome,
}

impl Engine {
    /// The most characters of a summary in the daily log: a few conversations fit into a day.
    pub const MAX_SUMMARY_CHARS: usize = 300;

    /// The files of a scope. They are read and written where they are asked for; an async caller uses the methods below.
    pub fn layers(&self, scope: &Scope) -> Result<Layers> {
        let home = self.home.as_ref().ok_or_else(|| {
            Error::invalid("there is no home folder", "build the engine with `EngineBuilder::home`")
        })?;
        let settings = self.settings(scope.agent());
        let keeps_secrets = !settings.memory.mask_secrets;
        Ok(Layers::new(home, scope, &settings.layers).keeping_secrets(keeps_secrets))
    }

    /// A layer as it is on disk; of the daily log, today's.
    pub async fn read_layer(&self, scope: &Scope, layer: Layer) -> Result<LayerText> {
        let (layers, today) = (self.layers(scope)?, self.now().date());
        run_blocking(move || layers.read(layer, today)).await
    }

    /// Changes a layer; of the daily log, today's file.
    pub async fn edit_layer(
        &self,
        scope: &Scope,
        layer: Layer,
        edit: LayerEdit,
        actor: Actor,
    ) -> Result<LayerChange> {
        self.edit_layer_if(scope, layer, edit, actor, |_| true).await
    }

    /// The same, if what the file says is still what the caller expects.
    pub async fn edit_layer_if(
        &self,
        scope: &Scope,
        layer: Layer,
        edit: LayerEdit,
        actor: Actor,
        is_expected: impl Fn(&str) -> bool + Send + 'static,
    ) -> Result<LayerChange> {
        let (layers, by) = (self.layers(scope)?, EditContext { actor, now: self.now() });
        run_blocking(move || layers.edit_if(layer, by.now.date(), &edit, &by, &is_expected)).await
    }

    /// The four layers as they reach the prompt of a conversation that begins now.
    pub async fn layer_snapshot(&self, scope: &Scope) -> Result<LayerSnapshot> {
        let (layers, today) = (self.layers(scope)?, self.now().date());
        run_blocking(move || layers.snapshot(today)).await
    }

    /// Writes what a conversation was about into the log of the day it ended on, and has memories drawn from it. Doing so again changes nothing.
    pub async fn end_session(&self, scope: &Scope, session: &str) -> Result<SessionEnd> {
        self.end_session_with_summary(scope, session, None).await
    }

    /// The same with lines that a model wrote; as many as the day has room for, and sentences of the conversation where
    /// not even the first fits.
    pub async fn end_session_with_summary(
        &self,
        scope: &Scope,
        session: &str,
        told: Option<&str>,
    ) -> Result<SessionEnd> {
        self.check_enabled(scope)?;
        self.mark_session_ended(scope, session).await?;
        let turns = self.session_turns(scope, session).await?;
        let day_of = |turn: &Memory| turn.at.to_zoned(self.zone.clone()).date();
        let Some(date) = turns.iter().map(day_of).max() else {
            return Err(Error::not_found("session", session));
        };
        let mut turns: Vec<Memory> =
            turns.into_iter().filter(|turn| day_of(turn) == date).collect();
        if self.masks_secrets(scope) {
            // They may have been stored while secrets were kept.
            mask_all(turns.iter_mut().map(|turn| &mut turn.content));
        }
        let (layers, by) =
            (self.layers(scope)?, EditContext { actor: Actor::Engine, now: self.now() });
        let (session, count) = (session.to_owned(), turns.len());
        let mut told = told.unwrap_or_default().to_owned();
        if self.masks_secrets(scope) {
            mask_all([&mut told]);
        }
        let log = run_blocking(move || {
            let chinese = is_chinese(&turns);
            let day = SessionDay { date, session: &session, turns: count, chinese };
            layers.log_session(&day, Self::MAX_SUMMARY_CHARS, &by, |room| {
                match truncate_lines(&told, room) {
                    lines if lines.is_empty() => summarize(&summary_input(&turns, chinese), room),
                    lines => lines,
                }
            })
        });
        Ok(SessionEnd { day: date, turns: count, log: log.await? })
    }

    /// Puts the days of the log away that no longer reach the prompt; they stay searchable as memories.
    pub async fn archive_days(&self, scope: &Scope) -> Result<Vec<ArchivedDay>> {
        let (layers, now) = (self.layers(scope)?, self.now());
        let (log, today) = (layers.clone(), now.date());
        let mut archived = Vec::new();
        for day in run_blocking(move || log.old_days(today)).await? {
            let mut said = day.clone();
            if self.masks_secrets(scope) {
                mask_all([&mut said.text]);
            }
            let kept = ingest::archive_day(&*self.store, scope, &said, &self.zone, now.timestamp())
                .await?;
            // A day that changed meanwhile is left for the next time.
            if layers.archive_day(&day)? {
                archived.push(ArchivedDay { day: day.date, memory: kept });
            }
        }
        Ok(archived)
    }

    /// The same where something else is being done, which must not fail for it: what cannot be put away now stays where it
    /// is. Most of the time there is nothing to do; to find that out, one small folder is listed, which takes less than
    /// handing it to another thread.
    pub(crate) async fn archive_old_days(&self, scope: &Scope) {
        let today = self.now().date();
        if !self.layers(scope).is_ok_and(|layers| layers.has_old_days(today)) {
            return;
        }
        if let Err(error) = self.archive_days(scope).await {
            tracing::warn!(%scope, %error, "days of the log could not be put away");
        }
    }

    /// Every turn of a conversation, in the order in which they were stored.
    pub(crate) async fn session_turns(&self, scope: &Scope, session: &str) -> Result<Vec<Memory>> {
        let filter = MemoryFilter {
            kinds: vec![Kind::Turn],
            session: Some(session.to_owned()),
            ..MemoryFilter::default()
        };
        let mut page =
            ListQuery { filter, after: None, order: ListOrder::OldestFirst, limit: SCAN_PAGE };
        let mut turns = Vec::new();
        loop {
            let found = self.store.memories().list(scope, &page).await?;
            let Some(last) = found.last() else { return Ok(turns) };
            page.after = Some(last.id);
            turns.extend(found);
        }
    }
}

/// Whether they are mostly Chinese.
pub(crate) fn is_chinese(turns: &[Memory]) -> bool {
    let text: String = turns.iter().map(|turn| turn.content.as_str()).collect();
    detect_language(&text) == Language::Chinese
}

/// The turns as a summary takes them.
pub(crate) fn summary_input(turns: &[Memory], chinese: bool) -> Vec<Utterance<'_>> {
    let by = |turn: &Memory| match (turn.source.role, chinese) {
        (Some(Role::User), false) => "user",
        (Some(Role::User), true) => "用户",
        (Some(Role::Assistant), false) => "assistant",
        (Some(Role::Assistant), true) => "助手",
        _ => "",
    };
    let kept = |turn: &&Memory| !matches!(turn.source.role, Some(Role::System | Role::Tool));
    let said = |turn| {
        let turn: &Memory = turn;
        let by = turn.source.speaker.as_deref().unwrap_or_else(|| by(turn));
        let by_user = turn.source.role != Some(Role::Assistant);
        Utterance { speaker: by, text: &turn.content, is_user: by_user }
    };
    turns.iter().filter(kept).map(said).collect()
}
