//! The engine: owns the store, the settings and the clock, and is the way in for everything else.

mod embedding;
mod asking;
mod filler;
mod transfer;
mod foreign;
mod documents;
mod layers;
mod vault;
mod prompt;

use std::{path::PathBuf, sync::Arc};

use jiff::{Zoned, tz::TimeZone};
use serde::Serialize;

use self::{asking::Asking, embedding::Embedding, filler::Filler};
pub use embedding::EmbedStatus;
pub use foreign::{ForeignImport, ForeignRequest, LayerFilled};
pub use layers::{ArchivedDay, SessionEnd};
pub use prompt::PromptRequest;
pub use transfer::Exported;

use crate::{
    config::{Config, LanguageChoice, Trigger},
    error::{Error, Result},
    files::memory_folder::FileChange,
    ingest::{self, Edit, Remember, Saved, Turn, Undo},
    llm::Embedder,
    recall::{self, Block, Means, Recall, RecallRequest, WhyNot},
    store::{Counts, Filter, JournalQuery, Key, Order, Page, RamStore, Store, VectorCache},
    text::language::Language,
    types::{
        Actor, Author, Change, Entry, Erased, Memory, MemoryId, Scope, Status, Timestamp, Write,
        to_millisecond,
    },
};

/// Memories read at a time when all are looked at: bounds what is held.
const PAGE: usize = 1_000;

/// Memory for agents, on any store.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> everlore::Result<()> {
/// use std::sync::Arc;
/// use everlore::{Engine, RecallRequest, Remember, Scope, store::RamStore};
///
/// let engine = Engine::new(Arc::new(RamStore::default()));
/// let scope = Scope::new("assistant", "wang")?;
/// engine.remember(&scope, Remember { content: "我喜欢喝龙井茶".into(), ..Remember::default() }).await?;
/// let answer = engine.recall(&engine.request(&scope, "喝什么茶？")).await?;
/// assert_eq!(answer.hits[0].memory.content, "我喜欢喝龙井茶");
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Engine {
    store: Arc<dyn Store>,
    /// The model of memories, with what it takes to make vectors.
    filler: Option<Arc<Filler>>,
    /// The model of questions.
    questions: Option<Arc<dyn Embedder>>,
    config: Config,
    author: Author,
    clock: fn() -> Timestamp,
    zone: TimeZone,
    home: Option<PathBuf>,
}

/// What an erasure did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// The memory that is gone.
    pub id: MemoryId,
    /// The journal's number of the erasure.
    pub seq: u64,
    /// What was removed from where.
    pub removed: Erased,
}

/// What was put away because it is hardly worth anything any more.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cleaned {
    /// The run, to undo all of it; none if it was only tried.
    pub run: Option<String>,
    /// The memories.
    pub memories: Vec<Memory>,
}

impl Engine {
    /// An engine with default settings that tells days by UTC.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            filler: None,
            questions: None,
            config: Config::default(),
            author: Author::PERSON,
            clock: Timestamp::now,
            zone: TimeZone::UTC,
            home: None,
        }
    }

    /// The same with a model that tells how near two texts are in meaning. It makes vectors at every save, so it must be
    /// fast and near.
    #[must_use]
    pub fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        let questions = Arc::clone(&embedder);
        let filler = Filler::new(Arc::clone(&self.store), Arc::clone(&embedder), None, self.clock);
        let store = Arc::new(Embedding::AtOnce { store: self.store, embedder });
        Self { store, filler: Some(Arc::new(filler)), questions: Some(questions), ..self }
    }

    /// The same with a model on another server. Saves do not wait for it: vectors are made meanwhile, or later. What it
    /// said is kept in `cache`, up to the number of vectors given.
    #[must_use]
    pub fn with_remote_embedder(
        self,
        memories: Arc<dyn Embedder>,
        questions: Arc<dyn Embedder>,
        cache: Option<(Arc<dyn VectorCache>, usize)>,
    ) -> Self {
        let filler = Arc::new(Filler::new(self.store, memories, cache, self.clock));
        let store = Arc::new(Embedding::Later(Arc::clone(&filler)));
        Self { store, filler: Some(filler), questions: Some(questions), ..self }
    }

    /// The same with these settings.
    #[must_use]
    pub fn with_config(self, config: Config) -> Self {
        Self { config, ..self }
    }

    /// The same in the time zone of the user, by which "yesterday" is told.
    #[must_use]
    pub fn with_zone(self, zone: TimeZone) -> Self {
        Self { zone, ..self }
    }

    /// The same with another clock, for tests and for replaying the past.
    #[must_use]
    pub fn with_clock(self, clock: fn() -> Timestamp) -> Self {
        Self { clock, ..self }
    }

    /// The same, with what it remembers, edits and deletes journaled as this one's doing.
    #[must_use]
    pub fn on_behalf_of(&self, author: Author) -> Self {
        Self { author, ..self.clone() }
    }

    /// Its settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Its store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The time, in the zone of the user.
    pub fn now(&self) -> Zoned {
        to_millisecond((self.clock)()).to_zoned(self.zone.clone())
    }

    /// Stores a statement, or renews it if the same is known.
    pub async fn remember(&self, scope: &Scope, mut request: Remember) -> Result<Saved> {
        self.check_enabled()?;
        let masked = if self.masks() { request.mask_secrets() } else { Vec::new() };
        let now = self.now().timestamp();
        let saved = ingest::remember(&*self.store, scope, request, &self.author, now).await?;
        Ok(Saved { masked, ..saved })
    }

    /// Stores what was said, word for word, all or nothing.
    pub async fn observe(&self, scope: &Scope, mut turns: Vec<Turn>) -> Result<Vec<Saved>> {
        self.check_enabled()?;
        let masked: Vec<_> = turns
            .iter_mut()
            .map(|turn| if self.masks() { turn.mask_secrets() } else { Vec::new() })
            .collect();
        let saved = ingest::observe(&*self.store, scope, turns, self.now().timestamp()).await?;
        let with = |(saved, masked)| Saved { masked, ..saved };
        Ok(saved.into_iter().zip(masked).map(with).collect())
    }

    /// Whether secrets are masked before anything is written.
    pub(super) fn masks(&self) -> bool {
        self.config.memory.mask_secrets
    }

    /// Keeps what files of an agent's own folder said and will say, before they are changed.
    pub async fn keep_notes(
        &self,
        scope: &Scope,
        changes: &[FileChange],
        session: Option<&str>,
    ) -> Result<()> {
        self.check_enabled()?;
        let now = self.now().timestamp();
        ingest::keep_notes(&*self.store, scope, changes, session, &self.author, now).await
    }

    fn check_enabled(&self) -> Result<()> {
        if self.config.memory.enabled {
            return Ok(());
        }
        Err(Error::invalid(
            "memory is switched off",
            "set enabled = true in the section [memory] of the settings",
        ))
    }

    /// A request for the best memories, by the settings.
    pub fn request(&self, scope: &Scope, query: impl Into<String>) -> RecallRequest {
        RecallRequest::new(scope.clone(), query, &self.config.recall)
    }

    /// Finds what is worth knowing, best first.
    pub async fn recall(&self, request: &RecallRequest) -> Result<Recall> {
        self.recall_at(request, &self.now()).await
    }

    /// The same, asked at another time.
    pub async fn recall_at(&self, request: &RecallRequest, now: &Zoned) -> Result<Recall> {
        let asking = self.asking(&request.scope, now.timestamp());
        recall::recall(self.means(asking.as_ref(), now), &self.capped(request)).await
    }

    /// The model of questions, for one scope.
    fn asking<'a>(&'a self, scope: &'a Scope, now: Timestamp) -> Option<Asking<'a>> {
        let embedder = self.questions.as_deref()?;
        let kept = self.filler.as_ref().and_then(|filler| filler.kept());
        Some(Asking { embedder, kept, scope, question: true, now })
    }

    fn means<'a>(&'a self, asking: Option<&'a Asking<'a>>, now: &'a Zoned) -> Means<'a> {
        Means {
            store: &*self.store,
            embedder: asking.map(|asking| asking as &dyn Embedder),
            config: &self.config.recall,
            now,
        }
    }

    /// The request within the limit that the settings allow.
    fn capped(&self, request: &RecallRequest) -> RecallRequest {
        RecallRequest {
            limit: request.limit.min(self.config.memory.long_term.max_return),
            ..request.clone()
        }
    }

    /// Finds what was worth knowing at a moment, among what was known then.
    pub async fn recall_as_of(&self, request: &RecallRequest, at: Timestamp) -> Result<Recall> {
        let then = RamStore::holding(&request.scope, self.store.as_of(&request.scope, at).await?);
        let now = at.to_zoned(self.zone.clone());
        let means = Means { store: &then, embedder: None, config: &self.config.recall, now: &now };
        recall::recall(means, &self.capped(request)).await
    }

    /// Finds what is worth telling the model and packs it into at most `budget` tokens; empty if nothing is.
    pub async fn context(&self, request: &RecallRequest, budget: usize) -> Result<Block> {
        let now = self.now();
        if !self.injects(&request.query, &now) {
            return Ok(Block::default());
        }
        let found = self.recall_at(request, &now).await?;
        let language = match self.config.general.language {
            LanguageChoice::Auto => found.intent.language,
            LanguageChoice::En => Language::English,
            LanguageChoice::Zh => Language::Chinese,
        };
        Ok(recall::pack(&found.hits, language, budget, &now))
    }

    /// Whether the settings let a message have memories at all.
    fn injects(&self, query: &str, now: &Zoned) -> bool {
        let memory = &self.config.memory;
        let triggered = match memory.inject.long_term_trigger {
            Trigger::Always => true,
            Trigger::Never => false,
            Trigger::Keywords => recall::analyze(query, &self.config.recall, now).asks_memory(),
        };
        memory.enabled
            && memory.long_term.enabled
            && triggered
            && query.trim().chars().count() >= memory.inject.min_query_length
    }

    /// A request for a context block: few hits, and only if recall is sure enough.
    pub fn context_request(&self, scope: &Scope, query: impl Into<String>) -> RecallRequest {
        RecallRequest {
            limit: self.config.memory.inject.limit,
            min_confidence: self.config.recall.min_confidence,
            floor: self.config.recall.floor,
            ..self.request(scope, query)
        }
    }

    /// Says what kept a memory out of an answer.
    pub async fn why_not(&self, request: &RecallRequest, id: MemoryId) -> Result<WhyNot> {
        let request = self.capped(request);
        let now = self.now();
        let asking = self.asking(&request.scope, now.timestamp());
        recall::why_not(self.means(asking.as_ref(), &now), &request, id).await
    }

    /// The id that a whole id, a unique beginning of one, or a uri names.
    pub async fn resolve(&self, scope: &Scope, name: &str) -> Result<MemoryId> {
        if name.contains("://") {
            return self.resolve_uri(scope, name).await;
        }
        let digits = name.trim().replace('-', "").to_lowercase();
        if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(Error::invalid(
                format!("`{name}` is not an id"),
                "give an id, the beginning of one, or a uri",
            ));
        }
        // A third match would change nothing.
        let found = self.store.find(scope, &Key::IdPrefix(digits), 100).await?;
        match &found[..] {
            [] => Err(Error::not_found("memory", name)),
            [memory] => Ok(memory.id),
            more => Err(Error::Ambiguous { prefix: name.to_owned(), count: more.len() }),
        }
    }

    async fn resolve_uri(&self, scope: &Scope, uri: &str) -> Result<MemoryId> {
        let found = self.store.find(scope, &Key::Uri(uri.to_owned()), 1).await?;
        if let Some(memory) = found.first() {
            return Ok(memory.id);
        }
        // The uri of a turn ends with its id.
        let id = uri.rsplit('/').next().and_then(|last| last.parse().ok());
        let id: MemoryId = id.ok_or_else(|| Error::not_found("memory", uri))?;
        let memory = self.store.get(scope, &[id]).await?.pop().flatten();
        memory
            .filter(|memory| memory.uri == uri)
            .map(|_| id)
            .ok_or_else(|| Error::not_found("memory", uri))
    }

    /// A memory.
    pub async fn get(&self, scope: &Scope, id: MemoryId) -> Result<Memory> {
        self.store
            .get(scope, &[id])
            .await?
            .pop()
            .flatten()
            .ok_or_else(|| Error::not_found("memory", id))
    }

    /// The memories a filter lets through.
    pub async fn list(&self, scope: &Scope, page: &Page) -> Result<Vec<Memory>> {
        self.store.list(scope, page).await
    }

    /// How many memories there are.
    pub async fn count(&self, scope: &Scope) -> Result<Counts> {
        self.store.count(scope).await
    }

    /// Changes a memory and returns it as it is now.
    pub async fn edit(&self, scope: &Scope, id: MemoryId, edit: &Edit) -> Result<Memory> {
        let mut edit = edit.clone();
        if self.masks() {
            edit.mask_secrets();
        }
        ingest::edit(&*self.store, scope, id, &edit, &self.author, self.now().timestamp()).await
    }

    /// Puts a memory away: kept, but left out of recall.
    pub async fn archive(&self, scope: &Scope, id: MemoryId) -> Result<Memory> {
        ingest::set_status(&*self.store, scope, id, Status::Archived, self.now().timestamp()).await
    }

    /// Brings an archived or superseded memory back.
    pub async fn restore(&self, scope: &Scope, id: MemoryId) -> Result<Memory> {
        ingest::set_status(&*self.store, scope, id, Status::Active, self.now().timestamp()).await
    }

    /// Marks a memory as replaced by another.
    pub async fn supersede(&self, scope: &Scope, id: MemoryId, by: MemoryId) -> Result<Memory> {
        ingest::supersede(&*self.store, scope, id, by, self.now().timestamp()).await
    }

    /// Removes a memory; the journal keeps it, so that this can be undone. Returns the journal's number.
    pub async fn delete(&self, scope: &Scope, id: MemoryId) -> Result<u64> {
        let write = Write::new(
            scope,
            self.author.actor,
            self.author.cause_of("delete"),
            self.now().timestamp(),
            vec![Change::Delete(id)],
        );
        Ok(self.store.apply(write).await?[0].seq)
    }

    /// Removes a memory and every trace of what it said, for good.
    ///
    /// A day of the daily log that was put away goes with the memory that was made from it.
    pub async fn forget(&self, scope: &Scope, id: MemoryId) -> Result<Forgotten> {
        let day = self.archived_day(scope, id).await?;
        let write = Write::new(
            scope,
            Actor::Person,
            "forget",
            self.now().timestamp(),
            vec![Change::Erase(id)],
        );
        let applied = self.store.apply(write).await?.remove(0);
        if let Some(day) = day {
            self.layers(scope)?.forget_day(day)?;
        }
        Ok(Forgotten { id, seq: applied.seq, removed: applied.erased.unwrap_or_default() })
    }

    /// What happened, newest first.
    pub async fn history(&self, scope: &Scope, query: &JournalQuery) -> Result<Vec<Entry>> {
        self.store.journal(scope, query).await
    }

    /// Takes changes back and returns their numbers.
    pub async fn undo(&self, scope: &Scope, what: &Undo) -> Result<Vec<u64>> {
        ingest::undo(&*self.store, scope, what, self.now().timestamp()).await
    }

    /// Archives memories whose weight fell below `threshold` as one run; with `dry_run`, only finds them.
    pub async fn clean(&self, scope: &Scope, threshold: f64, dry_run: bool) -> Result<Cleaned> {
        let now = self.now().timestamp();
        let run = (!dry_run).then(|| format!("clean-{}", now.as_millisecond()));
        let active = Filter { statuses: vec![Status::Active], ..Filter::default() };
        let mut page = Page { filter: active, after: None, order: Order::OldestFirst, limit: PAGE };
        let mut cleaned = Cleaned { run, memories: Vec::new() };
        loop {
            let mut memories = self.store.list(scope, &page).await?;
            let Some(last) = memories.last() else { return Ok(cleaned) };
            page.after = Some(last.id);
            memories.retain(|memory| memory.weight < threshold);
            if let Some(run) = &cleaned.run {
                memories = ingest::archive_all(&*self.store, scope, memories, run, now).await?;
            }
            cleaned.memories.extend(memories);
        }
    }
}
