//! Resolution of URIs to nodes, and listing of folders.

use jiff::civil::Date;

use super::{
    FsEntry, FsListRequest, FsListing,
    entry::{
        bare_entry, child_entry, folder_entry, folder_uri, memory_entry, node_entry, paginate,
        session_entry,
    },
    uri::{self, FsUri},
};
use crate::{
    engine::Engine,
    error::{Error, Result},
    files::layers::Layer,
    ingest::{IngestedDocument, root_uri},
    store::{MemoryKey, UriChild},
    sync::{boxed, run_blocking},
    types::{Kind, Memory, MemoryId, Scope, Status},
};

/// Most turns of a session read at once: a longer session is read turn by turn.
const MAX_TURNS: usize = 200;

/// Most store reads per page where most memories are archived: bounds the cost of a page.
const MAX_PAGE_READS: usize = 10;

/// Suggestions for a mistyped name: most names to compare with, least similarity, and most suggestions.
const MAX_COMPARED_NAMES: usize = 200;
const MIN_NAME_SIMILARITY: f64 = 0.75;
const MAX_SUGGESTIONS: usize = 3;

/// Node of the tree.
pub(super) enum FsNode {
    Folder,
    Memory(Box<Memory>),
    /// Document with its active chunks.
    Document(Box<IngestedDocument>, Vec<Memory>),
    /// First turns of a session, and `true` if there are more.
    Session(Vec<Memory>, bool),
    /// Text of a file that is no memory.
    File(String),
}

impl Engine {
    /// Returns the node of a URI. Fails with an error that suggests similar names.
    pub(super) async fn resolve_node(&self, scope: &Scope, fs_uri: &FsUri) -> Result<FsNode> {
        match self.lookup_node(scope, fs_uri).await? {
            Some(node) => Ok(node),
            None => Err(self.not_found_error(scope, fs_uri).await),
        }
    }

    #[boxed]
    async fn lookup_node(&self, scope: &Scope, fs_uri: &FsUri) -> Result<Option<FsNode>> {
        match fs_uri {
            FsUri::Root | FsUri::Kinds | FsUri::Layers | FsUri::Days | FsUri::Sessions => {
                Ok(Some(FsNode::Folder))
            }
            FsUri::Memory(path) => self.memory_node(scope, path).await,
            FsUri::Layer(layer) => {
                let read = self.read_layer(scope, *layer).await?;
                Ok(Some(FsNode::File(read.text)))
            }
            FsUri::Day(day) => Ok(self.day_text(scope, *day).await?.map(FsNode::File)),
            FsUri::Document(parts) => self.document_node(scope, parts).await,
            FsUri::File(parts) => self.file_node(scope, parts).await,
            FsUri::Session(name) => {
                let mut turns = self.store.uris().turns(scope, name, None, MAX_TURNS + 1).await?;
                let more = turns.len() > MAX_TURNS;
                turns.truncate(MAX_TURNS);
                Ok((!turns.is_empty()).then_some(FsNode::Session(turns, more)))
            }
            FsUri::Turn(id) => {
                let Ok(id) = id.parse::<MemoryId>() else { return Ok(None) };
                let found = self.store.memories().get(scope, &[id]).await?.pop().flatten();
                let turn = found.filter(|memory| memory.kind == Kind::Turn);
                Ok(turn.map(|memory| FsNode::Memory(Box::new(memory))))
            }
        }
    }

    async fn memory_node(&self, scope: &Scope, path: &str) -> Result<Option<FsNode>> {
        let uri = root_uri(scope) + path;
        let key = MemoryKey::Uri(uri.clone());
        if let Some(memory) = self.store.memories().find_one(scope, key).await? {
            return Ok(Some(FsNode::Memory(Box::new(memory))));
        }
        let inside = self.store.uris().children(scope, &format!("{uri}/"), None, 1).await?;
        // The folders of kinds exist even when empty.
        let is_kind = Kind::ALL.iter().any(|kind| kind.as_str() == path);
        Ok((is_kind || !inside.is_empty()).then_some(FsNode::Folder))
    }

    async fn day_text(&self, scope: &Scope, day: Date) -> Result<Option<String>> {
        let layers = self.layers(scope)?;
        let exists = layers.path(Layer::Daily, day).is_file();
        let read = run_blocking(move || layers.read(Layer::Daily, day)).await?;
        Ok(exists.then_some(read.text))
    }

    /// Returns a not-found error that suggests similar names.
    #[boxed]
    async fn not_found_error(&self, scope: &Scope, fs_uri: &FsUri) -> Error {
        let path = fs_uri.path();
        let wanted = path.last().cloned().unwrap_or_default();
        let similar = match fs_uri.parent() {
            Some(parent) => self.similar_names(scope, &parent, &wanted).await,
            None => Vec::new(),
        };
        let hint = if similar.is_empty() {
            "list the folder above it with `ls`".to_owned()
        } else {
            format!("did you mean {}?", similar.join(" or "))
        };
        Error::NoSuchUri { uri: fs_uri.uri(scope), hint }
    }

    async fn similar_names(&self, scope: &Scope, parent: &FsUri, wanted: &str) -> Vec<String> {
        let page = FsListRequest { limit: MAX_COMPARED_NAMES, ..FsListRequest::new("") };
        let Ok((items, _)) = self.folder_page(scope, parent, &page).await else {
            return Vec::new();
        };
        let wanted = wanted.to_lowercase();
        let similarity = |item: &FsEntry| {
            let name = item.name.to_lowercase();
            if name.starts_with(&wanted) { 1.0 } else { strsim::jaro_winkler(&wanted, &name) }
        };
        let mut similar: Vec<_> = items.iter().map(|item| (similarity(item), item)).collect();
        similar.retain(|(similarity, _)| *similarity >= MIN_NAME_SIMILARITY);
        similar.sort_by(|a, b| b.0.total_cmp(&a.0));
        similar.into_iter().take(MAX_SUGGESTIONS).map(|(_, item)| item.uri.clone()).collect()
    }

    /// Returns a page of a folder. Fails if the URI names no folder.
    #[boxed]
    pub(super) async fn list_folder(
        &self,
        scope: &Scope,
        fs_uri: &FsUri,
        page: &FsListRequest,
    ) -> Result<FsListing> {
        let (items, next) = self.folder_page(scope, fs_uri, page).await?;
        if items.is_empty() && page.after.is_none() {
            self.check_folder(scope, fs_uri).await?;
        }
        Ok(FsListing { uri: folder_uri(fs_uri, scope), items, next })
    }

    /// Returns the entries of a page and the next cursor; empty if the URI names no folder.
    #[boxed]
    async fn folder_page(
        &self,
        scope: &Scope,
        fs_uri: &FsUri,
        page: &FsListRequest,
    ) -> Result<(Vec<FsEntry>, Option<String>)> {
        Ok(match fs_uri {
            FsUri::Root => paginate(self.root_entries(scope).await?, page),
            FsUri::Kinds => paginate(self.kind_entries(scope).await?, page),
            FsUri::Layers => paginate(self.layer_entries(scope).await?, page),
            FsUri::Days => paginate(self.day_entries(scope).await?, page),
            FsUri::Sessions => self.session_entries(scope, page).await?,
            FsUri::Session(name) => self.turn_entries(scope, name, page).await?,
            FsUri::Document(parts) => paginate(self.document_entries(scope, parts).await?, page),
            FsUri::File(parts) => paginate(self.file_entries(scope, parts).await?, page),
            FsUri::Memory(path) => self.memory_entries(scope, path, page).await?,
            FsUri::Layer(_) | FsUri::Day(_) | FsUri::Turn(_) => (Vec::new(), None),
        })
    }

    /// Fails unless the URI names a folder: only a folder may have an empty page.
    async fn check_folder(&self, scope: &Scope, fs_uri: &FsUri) -> Result<()> {
        match self.lookup_node(scope, fs_uri).await? {
            Some(FsNode::Folder | FsNode::Session(..)) => Ok(()),
            Some(_) => Err(Error::invalid(
                format!("`{}` is not a folder", fs_uri.uri(scope)),
                "read it with `read`",
            )),
            None => Err(self.not_found_error(scope, fs_uri).await),
        }
    }

    async fn root_entries(&self, scope: &Scope) -> Result<Vec<FsEntry>> {
        let mut items = self.kind_entries(scope).await?;
        let fixed = [
            (uri::RESOURCES, "Documents that were ingested, by their paths"),
            (uri::SESSIONS, "Conversations, turn by turn"),
            (uri::FILES, "Files that the agent keeps for itself"),
        ];
        let layers = (uri::LAYERS, "Who the agent is, who the user is, notes, and the daily log");
        let layers = self.home.is_some().then_some(layers);
        items.extend(
            layers.into_iter().chain(fixed).map(|(name, what)| folder_entry(scope, &[name], what)),
        );
        Ok(items)
    }

    /// Returns the first parts of stored URIs: kinds, and others that an import brought.
    async fn kind_entries(&self, scope: &Scope) -> Result<Vec<FsEntry>> {
        let names =
            self.store.uris().children(scope, &root_uri(scope), None, super::MAX_PAGE_SIZE).await?;
        Ok(names.into_iter().map(|name| child_entry(scope, &root_uri(scope), name)).collect())
    }

    async fn layer_entries(&self, scope: &Scope) -> Result<Vec<FsEntry>> {
        let mut items = Vec::new();
        for layer in Layer::ALL {
            let node = FsNode::File(self.read_layer(scope, layer).await?.text);
            items.push(node_entry(&FsUri::Layer(layer), &node, scope));
        }
        items.push(folder_entry(scope, &[uri::LAYERS, uri::DAILY], "The log, a file a day"));
        Ok(items)
    }

    async fn day_entries(&self, scope: &Scope) -> Result<Vec<FsEntry>> {
        let (layers, today) = (self.layers(scope)?, self.now().date());
        let folder = layers.path(Layer::Daily, today).parent().map(std::path::Path::to_owned);
        let days = run_blocking(move || {
            let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok());
            let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
            let day = |name: std::ffi::OsString| name.to_str()?.strip_suffix(".md")?.parse().ok();
            Ok(names.filter_map(day).collect::<Vec<Date>>())
        });
        let days = days.await?;
        let day = |date: Date| FsEntry {
            summary: format!("What happened on {date}"),
            ..bare_entry(scope, &FsUri::Day(date), &format!("{date}.md"))
        };
        Ok(days.into_iter().map(day).collect())
    }

    async fn session_entries(
        &self,
        scope: &Scope,
        page: &FsListRequest,
    ) -> Result<(Vec<FsEntry>, Option<String>)> {
        let after = page.after.as_deref();
        let mut sessions = self.store.uris().sessions(scope, after, page.limit + 1).await?;
        let more = sessions.len() > page.limit;
        sessions.truncate(page.limit);
        let next = sessions.last().filter(|_| more).map(|session| session.session.clone());
        Ok((sessions.iter().map(|session| session_entry(scope, session)).collect(), next))
    }

    async fn turn_entries(
        &self,
        scope: &Scope,
        session: &str,
        page: &FsListRequest,
    ) -> Result<(Vec<FsEntry>, Option<String>)> {
        let after = page.after.as_deref().map(str::parse).transpose()?;
        let mut turns = self.store.uris().turns(scope, session, after, page.limit + 1).await?;
        let more = turns.len() > page.limit;
        turns.truncate(page.limit);
        let next = turns.last().filter(|_| more).map(|turn| turn.id.to_string());
        Ok((turns.iter().map(memory_entry).collect(), next))
    }

    async fn memory_entries(
        &self,
        scope: &Scope,
        path: &str,
        page: &FsListRequest,
    ) -> Result<(Vec<FsEntry>, Option<String>)> {
        let folder = format!("{}{path}/", root_uri(scope));
        let (mut items, mut after) = (Vec::new(), page.after.clone());
        for _ in 0..MAX_PAGE_READS {
            // One extra entry shows that there are more.
            let wanted = page.limit + 1 - items.len();
            let names =
                self.store.uris().children(scope, &folder, after.as_deref(), wanted).await?;
            let is_last = names.len() < wanted;
            after = names.last().map(UriChild::sort_key).or(after);
            let shown = names.into_iter().filter(|name| page.all || is_active(name));
            items.extend(shown.map(|name| (name.sort_key(), child_entry(scope, &folder, name))));
            if items.len() > page.limit {
                items.truncate(page.limit);
                after = items.last().map(|(key, _)| key.clone());
            } else if is_last {
                after = None;
            } else {
                continue;
            }
            break;
        }
        Ok((items.into_iter().map(|(_, item)| item).collect(), after))
    }
}

fn is_active(name: &UriChild) -> bool {
    match name {
        UriChild::Folder(_) => true,
        UriChild::File(_, memory) => memory.status == Status::Active,
    }
}
