//! Adding to the tree and removing from it: by the ways that memories and documents have, so that all of it can be undone.

use serde::Serialize;

use super::{
    look::Thing,
    place::{Place, document_path},
};
use crate::{
    engine::Engine,
    error::{Error, Result},
    ingest::{Document, IngestOptions, IngestReport, Remember, Saved, ingest_run, root_uri},
    text::secrets::mask_all,
    types::{Change, Kind, Memory, MemoryId, Scope, Write},
};

/// The most memories that are removed at once; more is a mistake, or wants a narrower folder.
const MAX_REMOVED: usize = 10_000;

/// Memories read at a time.
const BATCH: usize = 1_000;

/// Something to add.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AddRequest {
    /// Where: a kind such as `user`, with a category such as `user/food`, or the path of a document in `resources`.
    pub uri: String,
    /// The text, or the bytes of a file.
    pub bytes: Vec<u8>,
    /// A title for a memory; the beginning of its text if left out.
    pub name: Option<String>,
    /// Keywords.
    pub tags: Vec<String>,
    /// Free data of the caller, for a memory.
    pub metadata: serde_json::Map<String, serde_json::Value>,
}

/// What was added.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Added {
    /// Where it stands.
    pub uri: String,
    /// What was saved, if it is a memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Saved>,
    /// What became of it, if it is a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<IngestReport>,
}

/// Something to remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoveRequest {
    /// Which.
    pub uri: String,
    /// Also a folder with all that is in it.
    pub recursive: bool,
    /// Only say what would be removed.
    pub dry_run: bool,
}

/// What was removed. The journal keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// Where it stood.
    pub uri: String,
    /// How many memories that were.
    pub memories: usize,
    /// The runs, by which it can be undone; one, or one a document.
    pub runs: Vec<String>,
}

impl Engine {
    /// Saves a text as a memory, or a file as a document.
    pub async fn fs_add(&self, scope: &Scope, request: AddRequest) -> Result<Added> {
        self.check_enabled(scope)?;
        match Place::parse(&request.uri, scope)? {
            Place::Document(parts) if !parts.is_empty() => {
                self.add_document(scope, &parts, request).await
            }
            Place::Document(_) => Err(Error::invalid(
                "a document needs a name",
                format!("name it, for example {}resources/notes.md", root_uri(scope)),
            )),
            Place::Memory(path) => self.add_memory(scope, &path, request).await,
            Place::Root | Place::Kinds => self.add_memory(scope, "", request).await,
            place => Err(read_only(&place, scope)),
        }
    }

    async fn add_document(
        &self,
        scope: &Scope,
        parts: &[String],
        request: AddRequest,
    ) -> Result<Added> {
        let known = self.document_named(scope, parts).await?;
        let path = known.map_or_else(|| document_path(parts), |document| document.path);
        let document = Document::new(path, request.bytes);
        let options = IngestOptions { tags: request.tags, ..IngestOptions::default() };
        let report = self.ingest_document(scope, &document, &options).await?;
        let uri = Place::Document(parts.to_vec()).uri(scope);
        Ok(Added { uri, memory: None, document: Some(report) })
    }

    /// The first part of the path is the kind, the second the category, the third a title.
    async fn add_memory(&self, scope: &Scope, path: &str, request: AddRequest) -> Result<Added> {
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        let kind: Option<Kind> = parts.next().map(kind_of).transpose()?;
        let category = parts.next().map(str::to_owned);
        let title = parts.next().map(|name| name.strip_suffix(".md").unwrap_or(name).to_owned());
        if parts.next().is_some() {
            return Err(Error::invalid(
                "memories stand in a kind and a category, no deeper",
                "use a path such as user/food, or resources/… for a document",
            ));
        }
        let mut content = text_of(request.bytes)?;
        let masked = if self.masks(scope) { mask_all([&mut content]) } else { Vec::new() };
        let mut tags = request.tags;
        if let Some(category) = category.filter(|category| category != "general") {
            tags.insert(0, category);
        }
        let (name, metadata) = (request.name.or(title), request.metadata);
        let draft = Remember { content, kind, name, tags, metadata, ..Remember::default() };
        let saved = self.remember(scope, draft).await?;
        let masked = [masked, saved.masked].concat();
        Ok(Added {
            uri: saved.uri.clone(),
            memory: Some(Saved { masked, ..saved }),
            document: None,
        })
    }

    /// Removes a memory, a document, a conversation, or a folder of such. The journal keeps what is removed.
    pub async fn fs_remove(&self, scope: &Scope, request: &RemoveRequest) -> Result<Removed> {
        let place = Place::parse(&request.uri, scope)?;
        let thing = self.find_thing(scope, &place).await?;
        if matches!(thing, Thing::Folder | Thing::Session(..)) && !request.recursive {
            return Err(Error::invalid(
                format!("`{}` is a folder", place.uri(scope)),
                "to remove it with all that is in it, say so: --recursive, or recursive=true",
            ));
        }
        match (thing, &place) {
            (Thing::Memory(memory), _) => {
                check_removable(&memory)?;
                self.remove_all(scope, &place, vec![memory.id], request).await
            }
            (Thing::Document(document, _), _) => {
                self.remove_documents(scope, &place, vec![document.path], request).await
            }
            (Thing::Folder, Place::Document(parts)) => {
                let all = self.all_documents(scope).await?;
                let paths = all.into_iter().map(|document| document.path);
                let is_under =
                    |path: &String| super::place::document_parts(path).starts_with(parts);
                self.remove_documents(scope, &place, paths.filter(is_under).collect(), request)
                    .await
            }
            (_, Place::Session(name)) => {
                let ids = self.turn_ids(scope, name).await?;
                self.remove_all(scope, &place, ids, request).await
            }
            (Thing::Folder, Place::Memory(path)) => {
                let ids = self.ids_below(scope, path).await?;
                self.remove_all(scope, &place, ids, request).await
            }
            _ => Err(read_only(&place, scope)),
        }
    }

    async fn turn_ids(&self, scope: &Scope, session: &str) -> Result<Vec<MemoryId>> {
        let turns = self.store.turns(scope, session, None, MAX_REMOVED + 1).await?;
        Ok(turns.iter().map(|turn| turn.id).collect())
    }

    /// What stands below a folder; documents and files of the agent have ways of their own to go.
    async fn ids_below(&self, scope: &Scope, path: &str) -> Result<Vec<MemoryId>> {
        let folder = format!("{}{path}/", root_uri(scope));
        let (mut ids, mut after) = (Vec::new(), None::<String>);
        while ids.len() <= MAX_REMOVED {
            let page = self.store.beginning(scope, &folder, after.as_deref(), BATCH).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.uri.clone());
            for memory in &page {
                check_removable(memory)?;
                ids.push(memory.id);
            }
        }
        Ok(ids)
    }

    async fn remove_all(
        &self,
        scope: &Scope,
        place: &Place,
        ids: Vec<MemoryId>,
        request: &RemoveRequest,
    ) -> Result<Removed> {
        if ids.len() > MAX_REMOVED {
            return Err(Error::invalid(
                format!("there are more than {MAX_REMOVED} memories in it"),
                "remove the folders in it one by one",
            ));
        }
        let now = self.now().timestamp();
        let run = ingest_run(now).replacen("ingest", "fs-rm", 1);
        let removed =
            Removed { uri: place.uri(scope), memories: ids.len(), runs: vec![run.clone()] };
        if !request.dry_run && !ids.is_empty() {
            let cause = self.author.cause_of("fs rm");
            let changes = ids.into_iter().map(Change::Delete).collect();
            let write = Write::new(scope, self.author.actor, cause, now, changes);
            self.store.apply(Write { run: Some(run), ..write }).await?;
        }
        Ok(removed)
    }

    async fn remove_documents(
        &self,
        scope: &Scope,
        place: &Place,
        paths: Vec<String>,
        request: &RemoveRequest,
    ) -> Result<Removed> {
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
        Ok(Removed { uri: place.uri(scope), memories, runs: vec![run] })
    }
}

fn kind_of(name: &str) -> Result<Kind> {
    match name.parse()? {
        Kind::Turn => Err(Error::invalid(
            "what was said in a conversation is not added here",
            "observe it: `everlore observe`, or POST /v1/turns",
        )),
        kind => Ok(kind),
    }
}

fn text_of(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| {
        Error::invalid(
            "a memory is text in UTF-8",
            "add a file of another sort as a document: to a uri in resources/",
        )
    })
}

/// What has another way to go says so.
fn check_removable(memory: &Memory) -> Result<()> {
    if let Some(note) = crate::ingest::note_of(memory) {
        return Err(Error::invalid(
            format!("the memory is the file {} that the agent keeps", note.file),
            "remove it with the tool `memory`",
        ));
    }
    match crate::ingest::catalogued(memory.clone()) {
        Some(document) => Err(Error::invalid(
            format!("the memory lists the pieces of the document {}", document.path),
            "remove the document: its uri is in resources/",
        )),
        None => Ok(()),
    }
}

fn read_only(place: &Place, scope: &Scope) -> Error {
    let hint = match place {
        Place::Layers | Place::Layer(_) | Place::Days | Place::Day(_) => {
            "change layers with `everlore layer`, or the tools memory_add, memory_replace and memory_remove"
        }
        Place::File(_) => "change the agent's own files with the tool `memory`",
        Place::Sessions | Place::Session(_) | Place::Turn(_) => {
            "what is said is observed: `everlore observe`, or POST /v1/turns"
        }
        _ => "name something in it",
    };
    Error::invalid(format!("`{}` cannot be changed here", place.uri(scope)), hint)
}
