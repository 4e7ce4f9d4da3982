//! Finding in the tree: by meaning, which is recall confined to a folder, and by text.

use regex::{Regex, RegexBuilder};
use serde::Serialize;

use super::{
    items::layer_names,
    levels,
    look::Thing,
    place::{Place, document_parts},
};
use crate::{
    engine::Engine,
    error::{Error, Result},
    files::layers::Layer,
    ingest::{chunk_of, root_uri},
    recall::{Factors, Hit, RecallRequest, Signals},
    store::{Filter, Order, Page, Within},
    types::{Kind, Memory, MemoryId, Scope, Status},
};

/// Memories that a search by text reads at a time, and at most.
const BATCH: usize = 500;
const MAX_READ: usize = 50_000;

/// A line of a match is cut here.
const MAX_LINE_CHARS: usize = 300;

/// A pattern that needs more memory than this is refused.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// What to find by meaning.
#[derive(Debug, Clone, PartialEq)]
pub struct FindRequest {
    /// What is asked.
    pub query: String,
    /// Where; the root for everywhere.
    pub uri: String,
    /// The most hits.
    pub limit: usize,
    /// Hits with a lower score are left out.
    pub min_score: f64,
    /// Also say every number that made the scores (A12).
    pub explain: bool,
}

/// What was found by meaning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Best first.
    pub found: Vec<Found>,
    /// How probable it is that the best one answers, from 0 to 1.
    pub confidence: f64,
}

/// One hit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// Where it stands.
    pub uri: String,
    /// The document that it is a piece of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// The memory.
    pub id: MemoryId,
    /// Its kind.
    pub kind: Kind,
    /// Its title.
    pub name: String,
    /// It in one line (L0).
    #[serde(rename = "abstract")]
    pub summary: String,
    /// Its worth for this query, from 0 to 1.
    pub score: f64,
    /// What spoke for it, if explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signals: Option<Signals>,
    /// What its score was multiplied with, if explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factors: Option<Factors>,
}

/// What to find by text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepRequest {
    /// The text, or a regular expression.
    pub pattern: String,
    /// Where.
    pub uri: String,
    /// Whether the pattern is a regular expression.
    pub regex: bool,
    /// Whether capitals matter not.
    pub ignore_case: bool,
    /// The most lines.
    pub limit: usize,
}

/// What was found by text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Grepped {
    /// The lines, in the order of the tree.
    pub matches: Vec<Match>,
    /// How many texts were read.
    pub read: usize,
    /// Whether there may be more lines than were asked for, or more texts than are read at once.
    pub more: bool,
}

/// A line that fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Match {
    /// Where it stands.
    pub uri: String,
    /// The number of the line, from 1; in a document, that of the document when it was read.
    pub line: usize,
    /// The line.
    pub text: String,
}

impl Engine {
    /// Finds memories of a folder by meaning.
    pub async fn fs_find(&self, scope: &Scope, request: &FindRequest) -> Result<Finding> {
        super::check_limit(request.limit)?;
        let asked = self.request(scope, request.query.as_str());
        let asked = RecallRequest {
            limit: request.limit,
            min_score: request.min_score,
            ..self.confined(asked, &request.uri).await?
        };
        let recalled = self.recall(&asked).await?;
        let told = |hit| found(scope, hit, request.explain);
        let found = recalled.hits.into_iter().map(told).collect();
        Ok(Finding { found, confidence: recalled.confidence })
    }

    /// The request, confined to a folder.
    pub(super) async fn confined(
        &self,
        request: RecallRequest,
        uri: &str,
    ) -> Result<RecallRequest> {
        let scope = &request.scope;
        let place = Place::parse(uri, scope)?;
        let area = Area::of(&place, scope)?;
        if place != Place::Root {
            self.find_thing(scope, &place).await?;
        }
        let within = self.within(scope, &area).await?;
        Ok(RecallRequest { filter: area.filter(), within, ..request })
    }

    /// The memories of a folder, where its kind or its session do not tell them.
    async fn within(&self, scope: &Scope, area: &Area) -> Result<Option<Within>> {
        Ok(match area {
            Area::All | Area::NoTurns | Area::Turns | Area::Session(_) => None,
            Area::Uri(uri) => Some(Within::Folder(uri.clone())),
            Area::Document(parts) => {
                let all = self.all_documents(scope).await?.into_iter();
                let meant = all.filter(|one| document_parts(&one.path).starts_with(parts));
                Some(Within::Ids(meant.flat_map(|one| one.chunks).collect()))
            }
        })
    }

    /// Finds lines of a folder by text.
    pub async fn fs_grep(&self, scope: &Scope, request: &GrepRequest) -> Result<Grepped> {
        super::check_limit(request.limit)?;
        let pattern = pattern(request)?;
        let place = Place::parse(&request.uri, scope)?;
        let mut sought = Sought::new(pattern, request.limit);
        match &place {
            Place::Root => {
                self.grep_memories(scope, &root_uri(scope), &mut sought).await?;
                self.grep_layers(scope, &mut sought).await?;
                self.grep_turns(scope, &mut sought).await?;
            }
            Place::Kinds => self.grep_memories(scope, &root_uri(scope), &mut sought).await?,
            Place::Layers => self.grep_layers(scope, &mut sought).await?,
            Place::Sessions => self.grep_turns(scope, &mut sought).await?,
            place => self.grep_thing(scope, place, &mut sought).await?,
        }
        Ok(sought.found)
    }

    async fn grep_thing(&self, scope: &Scope, place: &Place, sought: &mut Sought) -> Result<()> {
        match (self.find_thing(scope, place).await?, place) {
            (Thing::Memory(memory), _) => sought.memory(&memory),
            (Thing::Document(_, chunks), _) => chunks.iter().for_each(|it| sought.memory(it)),
            (Thing::Session(..), Place::Session(name)) => {
                return self.grep_session(scope, name, sought).await;
            }
            (Thing::File(text), _) => sought.text(&place.uri(scope), 1, &text),
            (Thing::Folder, Place::Memory(path)) => {
                let folder = format!("{}{path}/", root_uri(scope));
                return self.grep_memories(scope, &folder, sought).await;
            }
            (_, Place::Document(parts)) => {
                let knowledge = format!("{}knowledge/", root_uri(scope));
                sought.under = Some(parts.clone());
                return self.grep_memories(scope, &knowledge, sought).await;
            }
            (_, Place::File(_)) => {
                let notes = format!("{}knowledge/memories/", root_uri(scope));
                return self.grep_memories(scope, &notes, sought).await;
            }
            (_, place) => {
                return Err(Error::invalid(
                    format!("`{}` cannot be searched by text", place.uri(scope)),
                    format!("search {} one by one, or another folder", layer_names()),
                ));
            }
        }
        Ok(())
    }

    async fn grep_memories(&self, scope: &Scope, folder: &str, sought: &mut Sought) -> Result<()> {
        let mut after: Option<String> = None;
        while !sought.is_done() {
            let page = self.store.beginning(scope, folder, after.as_deref(), BATCH).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.uri.clone());
            let active = page.iter().filter(|memory| memory.status == Status::Active);
            active.for_each(|memory| sought.memory(memory));
        }
        Ok(())
    }

    async fn grep_session(&self, scope: &Scope, name: &str, sought: &mut Sought) -> Result<()> {
        let mut after: Option<MemoryId> = None;
        while !sought.is_done() {
            let page = self.store.turns(scope, name, after, BATCH).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.id);
            page.iter().for_each(|turn| sought.memory(turn));
        }
        Ok(())
    }

    async fn grep_turns(&self, scope: &Scope, sought: &mut Sought) -> Result<()> {
        let filter = Filter { kinds: vec![Kind::Turn], ..Filter::default() };
        let mut page = Page { filter, after: None, order: Order::OldestFirst, limit: BATCH };
        while !sought.is_done() {
            let turns = self.store.list(scope, &page).await?;
            let Some(last) = turns.last() else { return Ok(()) };
            page.after = Some(last.id);
            turns.iter().for_each(|turn| sought.memory(turn));
        }
        Ok(())
    }

    async fn grep_layers(&self, scope: &Scope, sought: &mut Sought) -> Result<()> {
        if self.home.is_none() {
            return Ok(());
        }
        for layer in Layer::ALL {
            let read = self.read_layer(scope, layer).await?;
            sought.text(&Place::Layer(layer).uri(scope), 1, &read.text);
        }
        Ok(())
    }
}

/// Which memories stand in a folder.
enum Area {
    All,
    NoTurns,
    Turns,
    Uri(String),
    Document(Vec<String>),
    Session(String),
}

impl Area {
    fn of(place: &Place, scope: &Scope) -> Result<Self> {
        Ok(match place {
            Place::Root => Self::All,
            Place::Kinds => Self::NoTurns,
            Place::Memory(path) => Self::Uri(root_uri(scope) + path),
            Place::File(_) => Self::Uri(root_uri(scope) + "knowledge/memories"),
            Place::Document(parts) => Self::Document(parts.clone()),
            Place::Sessions => Self::Turns,
            Place::Session(name) => Self::Session(name.clone()),
            Place::Layers | Place::Layer(_) | Place::Days | Place::Day(_) | Place::Turn(_) => {
                return Err(Error::invalid(
                    format!("`{}` is not searched by meaning", place.uri(scope)),
                    "layers are always in the prompt; search their text with `grep`",
                ));
            }
        })
    }

    /// What the index can tell of it.
    fn filter(&self) -> Filter {
        let no_turns = || Kind::ALL.into_iter().filter(|kind| *kind != Kind::Turn).collect();
        match self {
            Self::All => Filter::default(),
            Self::Turns => Filter { kinds: vec![Kind::Turn], ..Filter::default() },
            Self::Session(name) => Filter { session: Some(name.clone()), ..Filter::default() },
            Self::NoTurns | Self::Uri(_) | Self::Document(_) => {
                Filter { kinds: no_turns(), ..Filter::default() }
            }
        }
    }
}

fn is_under(memory: &Memory, parts: &[String]) -> bool {
    chunk_of(memory).is_some_and(|(path, _)| document_parts(path).starts_with(parts))
}

fn found(scope: &Scope, hit: Hit, explain: bool) -> Found {
    let memory = &hit.memory;
    let document = chunk_of(memory);
    let document = document.map(|(path, _)| Place::Document(document_parts(path)).uri(scope));
    Found {
        uri: memory.uri.clone(),
        document,
        id: memory.id,
        kind: memory.kind,
        name: memory.name.clone(),
        summary: levels::line(memory),
        score: hit.score,
        signals: explain.then_some(hit.signals),
        factors: explain.then_some(hit.factors),
    }
}

fn pattern(request: &GrepRequest) -> Result<Regex> {
    if request.pattern.is_empty() {
        return Err(Error::invalid("there is no text to search for", "give one"));
    }
    let source = match request.regex {
        true => request.pattern.clone(),
        false => regex::escape(&request.pattern),
    };
    let mut builder = RegexBuilder::new(&source);
    builder.case_insensitive(request.ignore_case).size_limit(MAX_PATTERN_BYTES);
    builder.build().map_err(|_| {
        Error::invalid(
            "the pattern is no regular expression that can be searched for",
            "check its brackets, or search for the text as it is",
        )
    })
}

/// A search by text under way.
struct Sought {
    pattern: Regex,
    limit: usize,
    /// Only pieces of documents below this path.
    under: Option<Vec<String>>,
    found: Grepped,
}

impl Sought {
    fn new(pattern: Regex, limit: usize) -> Self {
        let found = Grepped { matches: Vec::new(), read: 0, more: false };
        Self { pattern, limit, under: None, found }
    }

    /// Whether enough was found or read.
    fn is_done(&mut self) -> bool {
        self.found.more |= self.found.read >= MAX_READ;
        self.found.more
    }

    fn memory(&mut self, memory: &Memory) {
        if self.under.as_ref().is_none_or(|parts| is_under(memory, parts)) {
            let first = chunk_of(memory).map_or(1, |(_, line)| line);
            self.text(&memory.uri, first, &memory.content);
        }
    }

    fn text(&mut self, uri: &str, first: usize, text: &str) {
        self.found.read += 1;
        for (index, line) in text.lines().enumerate().filter(|(_, it)| self.pattern.is_match(it)) {
            if self.found.matches.len() == self.limit {
                self.found.more = true;
                return;
            }
            let text = line.chars().take(MAX_LINE_CHARS).collect();
            self.found.matches.push(Match { uri: uri.to_owned(), line: first + index, text });
        }
    }
}
