//! Documents and the agent's own files: both are kept by paths, and shown as the folders that the paths make.
//!
//! All of them are looked at to show one folder: there are far fewer of them than memories, and each is found by one step
//! in the index of uris.

use std::collections::BTreeMap;

use super::{
    Item, MAX_PAGE,
    items::{document_item, folder, memory_item},
    look::Thing,
    place::{self, Place, document_parts, document_path},
};
use crate::{
    engine::Engine,
    error::Result,
    ingest::{Catalogued, catalogued, document_at, note_at, note_of, root_uri},
    store::Name,
    types::{Memory, Scope, Status},
};

impl Engine {
    pub(super) async fn document(&self, scope: &Scope, parts: &[String]) -> Result<Option<Thing>> {
        if parts.is_empty() {
            return Ok(Some(Thing::Folder));
        }
        if let Some(document) = self.document_named(scope, parts).await? {
            let found = self.store.get(scope, &document.chunks).await?.into_iter().flatten();
            let active = found.filter(|chunk| chunk.status == Status::Active).collect();
            return Ok(Some(Thing::Document(Box::new(document), active)));
        }
        let all = self.all_documents(scope).await?;
        let is_above = |one: &Catalogued| document_parts(&one.path).starts_with(parts);
        Ok(all.iter().any(is_above).then_some(Thing::Folder))
    }

    /// The document with such a path; how exactly it was written does not matter.
    pub(super) async fn document_named(
        &self,
        scope: &Scope,
        parts: &[String],
    ) -> Result<Option<Catalogued>> {
        if let Some(found) = document_at(&*self.store, scope, &document_path(parts)).await? {
            return Ok(Some(found));
        }
        let all = self.all_documents(scope).await?;
        Ok(all.into_iter().find(|one| document_parts(&one.path) == parts))
    }

    /// Every document, in no order that means anything.
    pub(super) async fn all_documents(&self, scope: &Scope) -> Result<Vec<Catalogued>> {
        let folder = format!("{}knowledge/", root_uri(scope));
        let (mut found, mut after) = (Vec::new(), None::<String>);
        loop {
            let names = self.store.names(scope, &folder, after.as_deref(), MAX_PAGE).await?;
            let Some(last) = names.last() else { return Ok(found) };
            after = Some(last.key());
            for name in &names {
                let Name::Folder(name) = name else { continue };
                let lists = format!("{folder}{name}/document-");
                let lists = self.store.beginning(scope, &lists, None, MAX_PAGE).await?;
                found.extend(lists.into_iter().filter_map(catalogued));
            }
        }
    }

    pub(super) async fn document_items(
        &self,
        scope: &Scope,
        under: &[String],
    ) -> Result<Vec<Item>> {
        let documents = self.all_documents(scope).await?;
        let with_parts = documents.into_iter().map(|one| (document_parts(&one.path), one));
        let item = |document: Catalogued| document_item(scope, &document);
        Ok(level(scope, place::RESOURCES, under, with_parts, item))
    }

    pub(super) async fn file(&self, scope: &Scope, parts: &[String]) -> Result<Option<Thing>> {
        if parts.is_empty() {
            return Ok(Some(Thing::Folder));
        }
        let path = format!("/memories/{}", parts.join("/"));
        if let Some(note) = note_at(&*self.store, scope, &path).await? {
            return Ok(Some(Thing::Memory(Box::new(note))));
        }
        let notes = self.all_notes(scope).await?;
        Ok(notes.iter().any(|(path, _)| path.starts_with(parts)).then_some(Thing::Folder))
    }

    async fn all_notes(&self, scope: &Scope) -> Result<Vec<(Vec<String>, Memory)>> {
        let beginning = format!("{}knowledge/memories/", root_uri(scope));
        let (mut found, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = self.store.beginning(scope, &beginning, after.as_deref(), MAX_PAGE).await?;
            let Some(last) = page.last() else { return Ok(found) };
            after = Some(last.uri.clone());
            for memory in page {
                if let Some(note) = note_of(&memory) {
                    let path = note.file.trim_start_matches("/memories").to_owned();
                    found.push((document_parts(path.trim_start_matches('/')), memory));
                }
            }
        }
    }

    pub(super) async fn file_items(&self, scope: &Scope, under: &[String]) -> Result<Vec<Item>> {
        let notes = self.all_notes(scope).await?;
        let item = |note: Memory| {
            let item = memory_item(&note);
            let path = note_of(&note).map(|note| note.file).unwrap_or_default();
            let parts =
                document_parts(path.trim_start_matches("/memories").trim_start_matches('/'));
            let name = parts.last().cloned().unwrap_or_default();
            Item { uri: Place::File(parts).uri(scope), name, ..item }
        };
        Ok(level(scope, place::FILES, under, notes.into_iter(), item))
    }
}

/// One level of the folders that paths make.
fn level<T>(
    scope: &Scope,
    top: &str,
    under: &[String],
    all: impl Iterator<Item = (Vec<String>, T)>,
    item: impl Fn(T) -> Item,
) -> Vec<Item> {
    let mut items: BTreeMap<(String, bool), Item> = BTreeMap::new();
    for (parts, one) in all {
        match parts.strip_prefix(under) {
            Some([name]) => drop(items.insert((name.clone(), false), item(one))),
            Some([name, ..]) => {
                let path = std::iter::once(top).chain(under.iter().map(String::as_str));
                let path: Vec<&str> = path.chain([name.as_str()]).collect();
                let made = || Item { read_only: top == place::FILES, ..folder(scope, &path, "") };
                items.entry((name.clone(), true)).or_insert_with(made);
            }
            Some([]) | None => {}
        }
    }
    items.into_values().collect()
}
