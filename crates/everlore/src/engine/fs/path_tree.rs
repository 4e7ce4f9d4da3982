//! Documents and the agent's own files, which are stored by path and shown as the folders of those paths.
//!
//! Showing one folder reads all of them: they are far fewer than memories, and one step in the URI index finds each.

use std::collections::BTreeMap;

use super::{
    FsEntry, MAX_PAGE_SIZE,
    entry::{document_entry, folder_entry, memory_entry},
    resolve::FsNode,
    uri::{self, FsUri, document_parts, document_path},
};
use crate::{
    engine::Engine,
    error::Result,
    ingest::{IngestedDocument, agent_note, find_document, find_note, ingested_document, root_uri},
    store::UriChild,
    sync::boxed,
    types::{Memory, Scope, Status},
};

impl Engine {
    pub(super) async fn document_node(
        &self,
        scope: &Scope,
        parts: &[String],
    ) -> Result<Option<FsNode>> {
        if parts.is_empty() {
            return Ok(Some(FsNode::Folder));
        }
        if let Some(document) = self.find_document(scope, parts).await? {
            let found =
                self.store.memories().get(scope, &document.chunks).await?.into_iter().flatten();
            let active = found.filter(|chunk| chunk.status == Status::Active).collect();
            return Ok(Some(FsNode::Document(Box::new(document), active)));
        }
        let all = self.all_documents(scope).await?;
        let is_above = |one: &IngestedDocument| document_parts(&one.path).starts_with(parts);
        Ok(all.iter().any(is_above).then_some(FsNode::Folder))
    }

    /// Returns the document with this path, ignoring differences of spelling such as `./`.
    pub(super) async fn find_document(
        &self,
        scope: &Scope,
        parts: &[String],
    ) -> Result<Option<IngestedDocument>> {
        if let Some(found) = find_document(&*self.store, scope, &document_path(parts)).await? {
            return Ok(Some(found));
        }
        let all = self.all_documents(scope).await?;
        Ok(all.into_iter().find(|one| document_parts(&one.path) == parts))
    }

    /// Returns every document, in no particular order.
    #[boxed]
    pub(super) async fn all_documents(&self, scope: &Scope) -> Result<Vec<IngestedDocument>> {
        let folder = format!("{}knowledge/", root_uri(scope));
        let (mut found, mut after) = (Vec::new(), None::<String>);
        loop {
            let names =
                self.store.uris().children(scope, &folder, after.as_deref(), MAX_PAGE_SIZE).await?;
            let Some(last) = names.last() else { return Ok(found) };
            after = Some(last.sort_key());
            for name in &names {
                let UriChild::Folder(name) = name else { continue };
                let lists = format!("{folder}{name}/document-");
                let lists = self.store.uris().by_prefix(scope, &lists, None, MAX_PAGE_SIZE).await?;
                found.extend(lists.into_iter().filter_map(ingested_document));
            }
        }
    }

    pub(super) async fn document_entries(
        &self,
        scope: &Scope,
        under: &[String],
    ) -> Result<Vec<FsEntry>> {
        let documents = self.all_documents(scope).await?;
        let with_parts = documents.into_iter().map(|one| (document_parts(&one.path), one));
        let item = |document: IngestedDocument| document_entry(scope, &document);
        Ok(folder_level(scope, uri::RESOURCES, under, with_parts, item))
    }

    pub(super) async fn file_node(
        &self,
        scope: &Scope,
        parts: &[String],
    ) -> Result<Option<FsNode>> {
        if parts.is_empty() {
            return Ok(Some(FsNode::Folder));
        }
        let path = format!("/memories/{}", parts.join("/"));
        if let Some(note) = find_note(&*self.store, scope, &path).await? {
            return Ok(Some(FsNode::Memory(Box::new(note))));
        }
        let notes = self.all_notes(scope).await?;
        Ok(notes.iter().any(|(path, _)| path.starts_with(parts)).then_some(FsNode::Folder))
    }

    #[boxed]
    async fn all_notes(&self, scope: &Scope) -> Result<Vec<(Vec<String>, Memory)>> {
        let prefix = format!("{}knowledge/memories/", root_uri(scope));
        let (mut found, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = self
                .store
                .uris()
                .by_prefix(scope, &prefix, after.as_deref(), MAX_PAGE_SIZE)
                .await?;
            let Some(last) = page.last() else { return Ok(found) };
            after = Some(last.uri.clone());
            for memory in page {
                if let Some(note) = agent_note(&memory) {
                    let path = note.file.trim_start_matches("/memories").to_owned();
                    found.push((document_parts(path.trim_start_matches('/')), memory));
                }
            }
        }
    }

    pub(super) async fn file_entries(
        &self,
        scope: &Scope,
        under: &[String],
    ) -> Result<Vec<FsEntry>> {
        let notes = self.all_notes(scope).await?;
        let item = |note: Memory| {
            let item = memory_entry(&note);
            let path = agent_note(&note).map(|note| note.file).unwrap_or_default();
            let parts =
                document_parts(path.trim_start_matches("/memories").trim_start_matches('/'));
            let name = parts.last().cloned().unwrap_or_default();
            FsEntry { uri: FsUri::File(parts).uri(scope), name, ..item }
        };
        Ok(folder_level(scope, uri::FILES, under, notes.into_iter(), item))
    }
}

/// Returns the entries directly under a folder, given all paths.
fn folder_level<T>(
    scope: &Scope,
    top: &str,
    under: &[String],
    all: impl Iterator<Item = (Vec<String>, T)>,
    item: impl Fn(T) -> FsEntry,
) -> Vec<FsEntry> {
    let mut items: BTreeMap<(String, bool), FsEntry> = BTreeMap::new();
    for (parts, one) in all {
        match parts.strip_prefix(under) {
            Some([name]) => drop(items.insert((name.clone(), false), item(one))),
            Some([name, ..]) => {
                let path = std::iter::once(top).chain(under.iter().map(String::as_str));
                let path: Vec<&str> = path.chain([name.as_str()]).collect();
                let folder =
                    || FsEntry { read_only: top == uri::FILES, ..folder_entry(scope, &path, "") };
                items.entry((name.clone(), true)).or_insert_with(folder);
            }
            Some([]) | None => {}
        }
    }
    items.into_values().collect()
}
