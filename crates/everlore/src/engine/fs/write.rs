//! Adding to the tree and removing from it, through the operations of memories and documents, so that all of it can be
//! undone.

use std::borrow::Cow;

use serde::Serialize;

use super::{
    resolve::FsNode,
    uri::{FsUri, document_path},
};
use crate::{
    engine::{Engine, RemovalMode},
    error::{Error, Result},
    ingest::{
        Document, IngestOptions, IngestReport, RememberRequest, SavedMemory, record_refusal,
        root_uri,
    },
    sync::boxed,
    text::secrets::{mask_all, mask_path},
    types::{Change, Kind, Memory, MemoryId, Scope, WriteBatch, run_name},
};

/// Most memories removed at once; more is a mistake, or needs a narrower folder.
const MAX_REMOVED: usize = 10_000;

/// Memories read at a time.
const BATCH: usize = 1_000;

/// Request to add a memory or a document.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FsAddRequest {
    /// Target: a kind such as `user`, with a category such as `user/food`, or the path of a document in `resources`.
    pub uri: String,
    /// Text of a memory, or bytes of a file.
    pub bytes: Vec<u8>,
    /// Title of a memory; `None` takes the beginning of its text.
    pub name: Option<String>,
    /// Keywords.
    pub tags: Vec<String>,
    /// Caller's own metadata of a memory.
    pub metadata: serde_json::Map<String, serde_json::Value>,
}

/// Report of an addition.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FsAddReport {
    /// URI of the new node.
    pub uri: String,
    /// Saved memory, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<SavedMemory>,
    /// Ingestion report, if it is a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<IngestReport>,
}

/// Request to remove a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsRemoveRequest {
    /// URI of the node.
    pub uri: String,
    /// Set to remove a folder with all its contents.
    pub recursive: bool,
    /// Set to report without removing anything.
    pub dry_run: bool,
}

/// Report of a removal, which the journal keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FsRemoveReport {
    /// URI of the removed node.
    pub uri: String,
    /// Number of removed memories.
    pub memories: usize,
    /// Run ids, for undoing it; one, or one per document.
    pub runs: Vec<String>,
}

impl Engine {
    /// Saves a text as a memory, or a file as a document, and returns a report. Fails if memory is disabled for the
    /// agent, the URI is invalid or read-only, or a memory's text is not UTF-8.
    #[boxed]
    pub async fn fs_add(&self, scope: &Scope, request: FsAddRequest) -> Result<FsAddReport> {
        self.check_writable(scope)?;
        let masks = self.masks_secrets(scope);
        let uri = if masks { mask_path(&request.uri) } else { Cow::Borrowed(&*request.uri) };
        match FsUri::parse(&uri, scope)? {
            FsUri::Document(parts) if !parts.is_empty() => {
                self.add_document(scope, &parts, request).await
            }
            FsUri::Document(_) => Err(Error::invalid(
                "a document needs a name",
                format!("name it, for example {}resources/notes.md", root_uri(scope)),
            )),
            FsUri::Memory(path) => self.add_memory(scope, &path, request).await,
            FsUri::Root | FsUri::Kinds => self.add_memory(scope, "", request).await,
            fs_uri => Err(read_only_error(&fs_uri, scope)),
        }
    }

    async fn add_document(
        &self,
        scope: &Scope,
        parts: &[String],
        request: FsAddRequest,
    ) -> Result<FsAddReport> {
        let known = self.find_document(scope, parts).await?;
        let path = known.map_or_else(|| document_path(parts), |document| document.path);
        let document = Document::new(path, request.bytes);
        let options = IngestOptions { tags: request.tags, ..IngestOptions::default() };
        let report = self.ingest_document(scope, &document, &options).await?;
        let uri = FsUri::Document(parts.to_vec()).uri(scope);
        Ok(FsAddReport { uri, memory: None, document: Some(report) })
    }

    /// Adds a memory: the first part of the path is the kind, the second the category, the third a title.
    #[boxed]
    async fn add_memory(
        &self,
        scope: &Scope,
        path: &str,
        request: FsAddRequest,
    ) -> Result<FsAddReport> {
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        let kind: Option<Kind> = parts.next().map(parse_memory_kind).transpose()?;
        let category = parts.next().map(str::to_owned);
        let title = parts.next().map(|name| name.strip_suffix(".md").unwrap_or(name).to_owned());
        if parts.next().is_some() {
            return Err(Error::invalid(
                "a memory has a kind and a category, and no deeper folders",
                "use a path such as user/food, or resources/… for a document",
            ));
        }
        let mut content = utf8_text(request.bytes)?;
        let masked = if self.masks_secrets(scope) { mask_all([&mut content]) } else { Vec::new() };
        let mut tags = request.tags;
        if let Some(category) = category.filter(|category| category != "general") {
            tags.insert(0, category);
        }
        let (name, metadata) = (request.name.or(title), request.metadata);
        let draft =
            RememberRequest { content, kind, name, tags, metadata, ..RememberRequest::default() };
        let saved = self.remember(scope, draft).await?;
        let masked = [masked, saved.masked].concat();
        Ok(FsAddReport {
            uri: saved.uri.clone(),
            memory: Some(SavedMemory { masked, ..saved }),
            document: None,
        })
    }

    /// Removes a memory, a document, a session, or a folder of these; the journal keeps them. Fails if the URI is
    /// invalid, names nothing or is read-only, if a folder is removed without `recursive`, or above 10,000 memories.
    #[boxed]
    pub async fn fs_remove(
        &self,
        scope: &Scope,
        request: &FsRemoveRequest,
    ) -> Result<FsRemoveReport> {
        let fs_uri = FsUri::parse(&request.uri, scope)?;
        let node = self.resolve_node(scope, &fs_uri).await?;
        if matches!(node, FsNode::Folder | FsNode::Session(..)) && !request.recursive {
            return Err(Error::invalid(
                format!("`{}` is a folder", fs_uri.uri(scope)),
                "to remove it with all its contents, use --recursive, or recursive=true",
            ));
        }
        match (node, &fs_uri) {
            (FsNode::Memory(memory), _) => {
                check_removable(&memory)?;
                self.remove_memories(scope, &fs_uri, vec![memory.id], request).await
            }
            (FsNode::Document(document, _), _) => {
                self.remove_documents(scope, &fs_uri, vec![document.path], request).await
            }
            (FsNode::Folder, FsUri::Document(parts)) => {
                let all = self.all_documents(scope).await?;
                let paths = all.into_iter().map(|document| document.path);
                let is_under = |path: &String| super::uri::document_parts(path).starts_with(parts);
                self.remove_documents(scope, &fs_uri, paths.filter(is_under).collect(), request)
                    .await
            }
            (_, FsUri::Session(name)) => {
                let ids = self.turn_ids(scope, name).await?;
                self.remove_memories(scope, &fs_uri, ids, request).await
            }
            (FsNode::Folder, FsUri::Memory(path)) => {
                let ids = self.ids_below(scope, path).await?;
                self.remove_memories(scope, &fs_uri, ids, request).await
            }
            _ => Err(read_only_error(&fs_uri, scope)),
        }
    }

    async fn turn_ids(&self, scope: &Scope, session: &str) -> Result<Vec<MemoryId>> {
        let turns = self.store.uris().turns(scope, session, None, MAX_REMOVED + 1).await?;
        Ok(turns.iter().map(|turn| turn.id).collect())
    }

    /// Returns the memories below a folder. Fails at documents and agent files, which have their own ways of removal.
    async fn ids_below(&self, scope: &Scope, path: &str) -> Result<Vec<MemoryId>> {
        let folder = format!("{}{path}/", root_uri(scope));
        let (mut ids, mut after) = (Vec::new(), None::<String>);
        while ids.len() <= MAX_REMOVED {
            let page = self.store.uris().by_prefix(scope, &folder, after.as_deref(), BATCH).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.uri.clone());
            for memory in &page {
                check_removable(memory)?;
                ids.push(memory.id);
            }
        }
        Ok(ids)
    }

    #[boxed]
    async fn remove_memories(
        &self,
        scope: &Scope,
        fs_uri: &FsUri,
        ids: Vec<MemoryId>,
        request: &FsRemoveRequest,
    ) -> Result<FsRemoveReport> {
        if ids.len() > MAX_REMOVED {
            return Err(Error::invalid(
                format!("there are more than {MAX_REMOVED} memories in it"),
                "remove the folders in it one by one",
            ));
        }
        let sources = self.source_turns(scope, &ids, RemovalMode::Delete).await?;
        let ids = [ids, sources.alone].concat();
        let now = self.now().timestamp();
        let run = run_name("fs-rm", now);
        let removed =
            FsRemoveReport { uri: fs_uri.uri(scope), memories: ids.len(), runs: vec![run.clone()] };
        if !request.dry_run && !ids.is_empty() {
            let cause = self.author.reason_for("fs rm");
            let changes = ids.into_iter().map(Change::Delete).collect();
            let write = WriteBatch::new(scope, self.author.actor, cause, now, changes);
            self.store.apply(WriteBatch { run: Some(run), ..write }).await?;
        }
        Ok(removed)
    }

    #[boxed]
    async fn remove_documents(
        &self,
        scope: &Scope,
        fs_uri: &FsUri,
        paths: Vec<String>,
        request: &FsRemoveRequest,
    ) -> Result<FsRemoveReport> {
        let run = self.ingest_run();
        let options = IngestOptions {
            run: Some(run.clone()),
            dry_run: request.dry_run,
            ..IngestOptions::default()
        };
        let mut memories = 0;
        for path in paths {
            memories += self.remove_document(scope, &path, &options).await?.removed;
        }
        Ok(FsRemoveReport { uri: fs_uri.uri(scope), memories, runs: vec![run] })
    }
}

fn parse_memory_kind(name: &str) -> Result<Kind> {
    match name.parse()? {
        Kind::Turn => Err(Error::invalid(
            "turns of a conversation cannot be added here",
            "use `everlore observe`, or POST /v1/turns",
        )),
        kind if kind.is_record() => Err(record_refusal(kind)),
        kind => Ok(kind),
    }
}

fn utf8_text(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| {
        Error::invalid(
            "a memory is text in UTF-8",
            "add other files as documents, to a uri in resources/",
        )
    })
}

/// Fails if a memory has its own way of removal, and names it.
fn check_removable(memory: &Memory) -> Result<()> {
    if let Some(note) = crate::ingest::agent_note(memory) {
        return Err(Error::invalid(
            format!("the memory is the agent's own file {}", note.file),
            "remove it with the tool `memory`",
        ));
    }
    match crate::ingest::ingested_document(memory.clone()) {
        Some(document) => Err(Error::invalid(
            format!("the memory lists the chunks of the document {}", document.path),
            "remove the document: its uri is in resources/",
        )),
        None => Ok(()),
    }
}

fn read_only_error(fs_uri: &FsUri, scope: &Scope) -> Error {
    let hint = match fs_uri {
        FsUri::Layers | FsUri::Layer(_) | FsUri::Days | FsUri::Day(_) => {
            "change layers with `everlore layer`, or the tools memory_add, memory_replace and memory_remove"
        }
        FsUri::File(_) => "change the agent's own files with the tool `memory`",
        FsUri::Sessions | FsUri::Session(_) | FsUri::Turn(_) => {
            "add turns with `everlore observe`, or POST /v1/turns"
        }
        _ => "name an entry in it",
    };
    Error::invalid(format!("`{}` cannot be changed here", fs_uri.uri(scope)), hint)
}
