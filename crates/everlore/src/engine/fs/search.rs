//! Finding in the tree: by meaning, which is recall confined to a folder, and by text.

use regex::{Regex, RegexBuilder};
use serde::Serialize;

use super::{
    entry::layer_file_names,
    resolve::FsNode,
    tiers,
    uri::{FsUri, document_parts},
};
use crate::{
    engine::Engine,
    error::{Error, Result},
    files::layers::Layer,
    ingest::{chunk_origin, root_uri},
    recall::{Hit, HitSignals, RecallRequest, ScoreFactors},
    store::{AddressQuery, ListOrder, ListQuery, MemoryFilter},
    types::{Kind, Memory, MemoryId, Scope, Status},
};

/// Memories that a search by text reads at a time, and at most.
const BATCH: usize = 500;
const MAX_TEXTS_READ: usize = 50_000;

/// A line of a match is cut here.
const MAX_LINE_CHARS: usize = 300;

/// A pattern that needs more memory than this is refused.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// What to find by meaning.
#[derive(Debug, Clone, PartialEq)]
pub struct FsFindRequest {
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
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FsFindReport {
    /// Best first.
    pub found: Vec<FsHit>,
    /// How probable it is that the best one answers, from 0 to 1.
    pub confidence: f64,
}

/// One hit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FsHit {
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
    pub signals: Option<HitSignals>,
    /// What its score was multiplied with, if explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factors: Option<ScoreFactors>,
}

/// What to find by text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsGrepRequest {
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
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FsGrepReport {
    /// The lines, in the order of the tree.
    pub matches: Vec<FsGrepMatch>,
    /// How many texts were read.
    pub read: usize,
    /// Whether there may be more lines than were asked for, or more texts than are read at once.
    pub more: bool,
}

/// A line that fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FsGrepMatch {
    /// Where it stands.
    pub uri: String,
    /// The number of the line, from 1; in a document, that of the document when it was read.
    pub line: usize,
    /// The line.
    pub text: String,
}

impl Engine {
    /// Finds memories of a folder by meaning.
    pub async fn fs_find(&self, scope: &Scope, request: &FsFindRequest) -> Result<FsFindReport> {
        super::check_limit(request.limit)?;
        let asked = self.request(scope, request.query.as_str());
        let asked = RecallRequest {
            limit: request.limit,
            min_score: request.min_score,
            ..self.confine_to_folder(asked, &request.uri).await?
        };
        let recalled = self.recall(&asked).await?;
        let told = |hit| to_fs_hit(scope, hit, request.explain);
        let found = recalled.hits.into_iter().map(told).collect();
        Ok(FsFindReport { found, confidence: recalled.confidence })
    }

    /// The request, confined to a folder.
    pub(super) async fn confine_to_folder(
        &self,
        request: RecallRequest,
        uri: &str,
    ) -> Result<RecallRequest> {
        let scope = &request.scope;
        let place = FsUri::parse(uri, scope)?;
        let area = SearchArea::for_uri(&place, scope)?;
        if place != FsUri::Root {
            self.resolve_node(scope, &place).await?;
        }
        let within = self.area_filter(scope, &area).await?;
        Ok(RecallRequest { filter: area.filter(), within, ..request })
    }

    /// The memories of a folder, where its kind or its session do not tell them.
    async fn area_filter(&self, scope: &Scope, area: &SearchArea) -> Result<Option<AddressQuery>> {
        Ok(match area {
            SearchArea::All | SearchArea::NoTurns | SearchArea::Turns | SearchArea::Session(_) => {
                None
            }
            SearchArea::Uri(uri) => Some(AddressQuery::Folder(uri.clone())),
            SearchArea::Document(parts) => {
                let all = self.all_documents(scope).await?.into_iter();
                let meant = all.filter(|one| document_parts(&one.path).starts_with(parts));
                Some(AddressQuery::Ids(meant.flat_map(|one| one.chunks).collect()))
            }
        })
    }

    /// Finds lines of a folder by text.
    pub async fn fs_grep(&self, scope: &Scope, request: &FsGrepRequest) -> Result<FsGrepReport> {
        super::check_limit(request.limit)?;
        let pattern = compile_pattern(request)?;
        let place = FsUri::parse(&request.uri, scope)?;
        let mut sought = GrepSearch::new(pattern, request.limit);
        match &place {
            FsUri::Root => {
                self.grep_memories(scope, &root_uri(scope), &mut sought).await?;
                self.grep_layers(scope, &mut sought).await?;
                self.grep_turns(scope, &mut sought).await?;
            }
            FsUri::Kinds => self.grep_memories(scope, &root_uri(scope), &mut sought).await?,
            FsUri::Layers => self.grep_layers(scope, &mut sought).await?,
            FsUri::Sessions => self.grep_turns(scope, &mut sought).await?,
            place => self.grep_node(scope, place, &mut sought).await?,
        }
        Ok(sought.report)
    }

    async fn grep_node(&self, scope: &Scope, place: &FsUri, sought: &mut GrepSearch) -> Result<()> {
        match (self.resolve_node(scope, place).await?, place) {
            (FsNode::Memory(memory), _) => sought.search_memory(&memory),
            (FsNode::Document(_, chunks), _) => {
                chunks.iter().for_each(|it| sought.search_memory(it))
            }
            (FsNode::Session(..), FsUri::Session(name)) => {
                return self.grep_session(scope, name, sought).await;
            }
            (FsNode::File(text), _) => sought.search_text(&place.uri(scope), 1, &text),
            (FsNode::Folder, FsUri::Memory(path)) => {
                let folder = format!("{}{path}/", root_uri(scope));
                return self.grep_memories(scope, &folder, sought).await;
            }
            (_, FsUri::Document(parts)) => {
                let knowledge = format!("{}knowledge/", root_uri(scope));
                sought.under = Some(parts.clone());
                return self.grep_memories(scope, &knowledge, sought).await;
            }
            (_, FsUri::File(_)) => {
                let notes = format!("{}knowledge/memories/", root_uri(scope));
                return self.grep_memories(scope, &notes, sought).await;
            }
            (_, place) => {
                return Err(Error::invalid(
                    format!("`{}` cannot be searched by text", place.uri(scope)),
                    format!("search {} one by one, or another folder", layer_file_names()),
                ));
            }
        }
        Ok(())
    }

    async fn grep_memories(
        &self,
        scope: &Scope,
        folder: &str,
        sought: &mut GrepSearch,
    ) -> Result<()> {
        let mut after: Option<String> = None;
        while !sought.is_done() {
            let page = self.store.uris().by_prefix(scope, folder, after.as_deref(), BATCH).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.uri.clone());
            let active = page.iter().filter(|memory| memory.status == Status::Active);
            active.for_each(|memory| sought.search_memory(memory));
        }
        Ok(())
    }

    async fn grep_session(&self, scope: &Scope, name: &str, sought: &mut GrepSearch) -> Result<()> {
        let mut after: Option<MemoryId> = None;
        while !sought.is_done() {
            let page = self.store.uris().turns(scope, name, after, BATCH).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.id);
            page.iter().for_each(|turn| sought.search_memory(turn));
        }
        Ok(())
    }

    async fn grep_turns(&self, scope: &Scope, sought: &mut GrepSearch) -> Result<()> {
        let filter = MemoryFilter { kinds: vec![Kind::Turn], ..MemoryFilter::default() };
        let mut page =
            ListQuery { filter, after: None, order: ListOrder::OldestFirst, limit: BATCH };
        while !sought.is_done() {
            let turns = self.store.memories().list(scope, &page).await?;
            let Some(last) = turns.last() else { return Ok(()) };
            page.after = Some(last.id);
            turns.iter().for_each(|turn| sought.search_memory(turn));
        }
        Ok(())
    }

    async fn grep_layers(&self, scope: &Scope, sought: &mut GrepSearch) -> Result<()> {
        if self.home.is_none() {
            return Ok(());
        }
        for layer in Layer::ALL {
            let read = self.read_layer(scope, layer).await?;
            sought.search_text(&FsUri::Layer(layer).uri(scope), 1, &read.text);
        }
        Ok(())
    }
}

/// Which memories stand in a folder.
enum SearchArea {
    All,
    NoTurns,
    Turns,
    Uri(String),
    Document(Vec<String>),
    Session(String),
}

impl SearchArea {
    fn for_uri(place: &FsUri, scope: &Scope) -> Result<Self> {
        Ok(match place {
            FsUri::Root => Self::All,
            FsUri::Kinds => Self::NoTurns,
            FsUri::Memory(path) => Self::Uri(root_uri(scope) + path),
            FsUri::File(_) => Self::Uri(root_uri(scope) + "knowledge/memories"),
            FsUri::Document(parts) => Self::Document(parts.clone()),
            FsUri::Sessions => Self::Turns,
            FsUri::Session(name) => Self::Session(name.clone()),
            FsUri::Layers | FsUri::Layer(_) | FsUri::Days | FsUri::Day(_) | FsUri::Turn(_) => {
                return Err(Error::invalid(
                    format!("`{}` is not searched by meaning", place.uri(scope)),
                    "layers are always in the prompt; search their text with `grep`",
                ));
            }
        })
    }

    /// What the index can tell of it.
    fn filter(&self) -> MemoryFilter {
        let no_turns = || Kind::ALL.into_iter().filter(|kind| *kind != Kind::Turn).collect();
        match self {
            Self::All => MemoryFilter::default(),
            Self::Turns => MemoryFilter { kinds: vec![Kind::Turn], ..MemoryFilter::default() },
            Self::Session(name) => {
                MemoryFilter { session: Some(name.clone()), ..MemoryFilter::default() }
            }
            Self::NoTurns | Self::Uri(_) | Self::Document(_) => {
                MemoryFilter { kinds: no_turns(), ..MemoryFilter::default() }
            }
        }
    }
}

fn is_under(memory: &Memory, parts: &[String]) -> bool {
    chunk_origin(memory).is_some_and(|(path, _)| document_parts(path).starts_with(parts))
}

fn to_fs_hit(scope: &Scope, hit: Hit, explain: bool) -> FsHit {
    let memory = &hit.memory;
    let document = chunk_origin(memory);
    let document = document.map(|(path, _)| FsUri::Document(document_parts(path)).uri(scope));
    FsHit {
        uri: memory.uri.clone(),
        document,
        id: memory.id,
        kind: memory.kind,
        name: memory.name.clone(),
        summary: tiers::memory_line(memory),
        score: hit.score,
        signals: explain.then_some(hit.signals),
        factors: explain.then_some(hit.factors),
    }
}

fn compile_pattern(request: &FsGrepRequest) -> Result<Regex> {
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
struct GrepSearch {
    pattern: Regex,
    limit: usize,
    /// Only pieces of documents below this path.
    under: Option<Vec<String>>,
    report: FsGrepReport,
}

impl GrepSearch {
    fn new(pattern: Regex, limit: usize) -> Self {
        let report = FsGrepReport { matches: Vec::new(), read: 0, more: false };
        Self { pattern, limit, under: None, report }
    }

    /// Whether enough was found or read.
    fn is_done(&mut self) -> bool {
        self.report.more |= self.report.read >= MAX_TEXTS_READ;
        self.report.more
    }

    fn search_memory(&mut self, memory: &Memory) {
        if self.under.as_ref().is_none_or(|parts| is_under(memory, parts)) {
            let first = chunk_origin(memory).map_or(1, |(_, line)| line);
            self.search_text(&memory.uri, first, &memory.content);
        }
    }

    fn search_text(&mut self, uri: &str, first: usize, text: &str) {
        self.report.read += 1;
        for (index, line) in text.lines().enumerate().filter(|(_, it)| self.pattern.is_match(it)) {
            if self.report.matches.len() == self.limit {
                self.report.more = true;
                return;
            }
            let text = line.chars().take(MAX_LINE_CHARS).collect();
            self.report.matches.push(FsGrepMatch {
                uri: uri.to_owned(),
                line: first + index,
                text,
            });
        }
    }
}
