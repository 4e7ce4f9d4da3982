//! Search in the tree by text or regular expression.

use regex::{Regex, RegexBuilder};
use serde::Serialize;

use super::{
    entry::layer_file_names,
    resolve::FsNode,
    uri::{FsUri, document_parts},
};
use crate::{
    engine::Engine,
    error::{Error, Result},
    files::layers::Layer,
    ingest::{chunk_origin, root_uri},
    store::{MemoryFilter, MemoryPages},
    sync::boxed,
    types::{Kind, Memory, MemoryId, Scope, Status},
};

/// Memories that a text search reads at a time, and at most.
const BATCH: usize = 500;
const MAX_TEXTS_READ: usize = 50_000;

/// Most characters of a matching line.
const MAX_LINE_CHARS: usize = 300;

/// Most memory of a compiled pattern.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// Request for a search by text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsGrepRequest {
    /// Text, or a regular expression.
    pub pattern: String,
    /// URI of the folder.
    pub uri: String,
    /// Set when the pattern is a regular expression.
    pub regex: bool,
    /// Set to ignore case.
    pub ignore_case: bool,
    /// Most matching lines.
    pub limit: usize,
}

/// Result of a search by text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FsGrepReport {
    /// Matching lines, in the order of the tree.
    pub matches: Vec<FsGrepMatch>,
    /// Number of texts read.
    pub read: usize,
    /// Set when there may be more lines than the limit, or more texts than one search reads.
    pub more: bool,
}

/// Matching line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FsGrepMatch {
    /// URI of the text.
    pub uri: String,
    /// Line number, from 1; in a document, its number when the document was ingested.
    pub line: usize,
    /// Text of the line.
    pub text: String,
}

impl Engine {
    /// Returns the lines of a folder that match a pattern. Fails if the limit is out of range, if the pattern is empty
    /// or invalid, or if the URI is invalid or names nothing.
    #[boxed]
    pub async fn fs_grep(&self, scope: &Scope, request: &FsGrepRequest) -> Result<FsGrepReport> {
        super::check_limit(request.limit)?;
        Self::check_query(&request.pattern)?;
        let pattern = compile_pattern(request)?;
        let fs_uri = FsUri::parse(&request.uri, scope)?;
        let mut search = GrepSearch::new(pattern, request.limit);
        match &fs_uri {
            FsUri::Root => {
                self.grep_memories(scope, &root_uri(scope), &mut search).await?;
                self.grep_layers(scope, &mut search).await?;
                self.grep_turns(scope, &mut search).await?;
            }
            FsUri::Kinds => self.grep_memories(scope, &root_uri(scope), &mut search).await?,
            FsUri::Layers => self.grep_layers(scope, &mut search).await?,
            FsUri::Sessions => self.grep_turns(scope, &mut search).await?,
            fs_uri => self.grep_node(scope, fs_uri, &mut search).await?,
        }
        Ok(search.report)
    }

    async fn grep_node(
        &self,
        scope: &Scope,
        fs_uri: &FsUri,
        search: &mut GrepSearch,
    ) -> Result<()> {
        match (self.resolve_node(scope, fs_uri).await?, fs_uri) {
            (FsNode::Memory(memory), _) => search.search_memory(&memory),
            (FsNode::Document(_, chunks), _) => {
                chunks.iter().for_each(|it| search.search_memory(it))
            }
            (FsNode::Session(..), FsUri::Session(name)) => {
                return self.grep_session(scope, name, search).await;
            }
            (FsNode::File(text), _) => search.search_text(&fs_uri.uri(scope), 1, &text),
            (FsNode::Folder, FsUri::Memory(path)) => {
                let folder = format!("{}{path}/", root_uri(scope));
                return self.grep_memories(scope, &folder, search).await;
            }
            (_, FsUri::Document(parts)) => {
                let knowledge = format!("{}knowledge/", root_uri(scope));
                search.under = Some(parts.clone());
                return self.grep_memories(scope, &knowledge, search).await;
            }
            (_, FsUri::File(_)) => {
                let notes = format!("{}knowledge/memories/", root_uri(scope));
                return self.grep_memories(scope, &notes, search).await;
            }
            (_, fs_uri) => {
                return Err(Error::invalid(
                    format!("`{}` cannot be searched by text", fs_uri.uri(scope)),
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
        search: &mut GrepSearch,
    ) -> Result<()> {
        let mut after: Option<String> = None;
        while !search.is_done() {
            let page = self.store.uris().by_prefix(scope, folder, after.as_deref(), BATCH).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.uri.clone());
            let active = page.iter().filter(|memory| memory.status == Status::Active);
            active.for_each(|memory| search.search_memory(memory));
        }
        Ok(())
    }

    async fn grep_session(&self, scope: &Scope, name: &str, search: &mut GrepSearch) -> Result<()> {
        let mut after: Option<MemoryId> = None;
        while !search.is_done() {
            let page = self.store.uris().turns(scope, name, after, BATCH).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.id);
            page.iter().for_each(|turn| search.search_memory(turn));
        }
        Ok(())
    }

    async fn grep_turns(&self, scope: &Scope, search: &mut GrepSearch) -> Result<()> {
        let filter = MemoryFilter { kinds: vec![Kind::Turn], ..MemoryFilter::default() };
        let mut pages = MemoryPages::new(&*self.store, scope, filter, BATCH);
        while !search.is_done()
            && let Some(turns) = pages.next().await?
        {
            turns.iter().for_each(|turn| search.search_memory(turn));
        }
        Ok(())
    }

    async fn grep_layers(&self, scope: &Scope, search: &mut GrepSearch) -> Result<()> {
        if self.home.is_none() {
            return Ok(());
        }
        for layer in Layer::ALL {
            let read = self.read_layer(scope, layer).await?;
            search.search_text(&FsUri::Layer(layer).uri(scope), 1, &read.text);
        }
        Ok(())
    }
}

fn is_under(memory: &Memory, parts: &[String]) -> bool {
    chunk_origin(memory).is_some_and(|(path, _)| document_parts(path).starts_with(parts))
}

fn compile_pattern(request: &FsGrepRequest) -> Result<Regex> {
    if request.pattern.is_empty() {
        return Err(Error::invalid("there is no text to search for", "give one"));
    }
    let source =
        if request.regex { request.pattern.clone() } else { regex::escape(&request.pattern) };
    let mut builder = RegexBuilder::new(&source);
    builder.case_insensitive(request.ignore_case).size_limit(MAX_PATTERN_BYTES);
    builder.build().map_err(|_| {
        Error::invalid(
            "the pattern is not a valid regular expression",
            "check its brackets, or search for plain text",
        )
    })
}

/// Running text search.
struct GrepSearch {
    pattern: Regex,
    limit: usize,
    /// Path whose document chunks alone are searched.
    under: Option<Vec<String>>,
    report: FsGrepReport,
}

impl GrepSearch {
    fn new(pattern: Regex, limit: usize) -> Self {
        let report = FsGrepReport { matches: Vec::new(), read: 0, more: false };
        Self { pattern, limit, under: None, report }
    }

    /// Returns `true` if a limit is reached.
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
