//! What things look like in a list.

use super::{
    FsEntry, FsListRequest,
    resolve::FsNode,
    tiers,
    uri::{self, FsUri, layer_file, percent_encode},
};
use crate::{
    files::layers::Layer,
    ingest::{IngestedDocument, agent_note, ingested_document, root_uri},
    store::{SessionSummary, UriChild},
    types::{Kind, Memory, Scope, Status, Tier, Timestamp},
};

/// The uri of a folder ends with a slash.
pub(super) fn folder_uri(place: &FsUri, scope: &Scope) -> String {
    let uri = place.uri(scope);
    if uri.ends_with('/') { uri } else { uri + "/" }
}

/// A page of entries that were all made.
pub(super) fn paginate(
    mut items: Vec<FsEntry>,
    page: &FsListRequest,
) -> (Vec<FsEntry>, Option<String>) {
    let key =
        |item: &FsEntry| if item.folder { format!("{}/", item.name) } else { item.name.clone() };
    items.sort_by_key(key);
    items.retain(|item| page.after.as_ref().is_none_or(|after| key(item) > *after));
    let more = items.len() > page.limit;
    items.truncate(page.limit);
    let next = items.last().filter(|_| more).map(key);
    (items, next)
}

/// What a thing at a place looks like in a list.
pub(super) fn node_entry(place: &FsUri, thing: &FsNode, scope: &Scope) -> FsEntry {
    let name = place.path().last().cloned().unwrap_or_default();
    match thing {
        FsNode::Folder => FsEntry {
            uri: folder_uri(place, scope),
            folder: true,
            ..bare_entry(scope, place, &name)
        },
        FsNode::Memory(memory) => memory_entry(memory),
        FsNode::Document(document, chunks) => {
            let bytes = chunks.iter().map(|chunk| chunk.content.len()).sum();
            FsEntry { bytes: Some(bytes), ..document_entry(scope, document) }
        }
        FsNode::Session(turns, _) => FsEntry {
            uri: folder_uri(place, scope),
            folder: true,
            read_only: false,
            summary: tiers::render_node(thing, Tier::L0).0,
            created_at: turns.first().map(|turn| turn.at),
            modified_at: turns.last().map(|turn| turn.at),
            ..bare_entry(scope, place, &name)
        },
        FsNode::File(text) => FsEntry {
            summary: tiers::render_node(thing, Tier::L0).0,
            bytes: Some(text.len()),
            ..bare_entry(scope, place, &name)
        },
    }
}

/// An entry of which nothing but the name is known.
pub(super) fn bare_entry(scope: &Scope, place: &FsUri, name: &str) -> FsEntry {
    FsEntry {
        uri: place.uri(scope),
        name: name.to_owned(),
        folder: false,
        summary: String::new(),
        id: None,
        kind: None,
        status: None,
        tags: Vec::new(),
        bytes: None,
        created_at: None,
        modified_at: None,
        read_only: true,
    }
}

/// A folder by the parts of its path.
pub(super) fn folder_entry(scope: &Scope, parts: &[&str], what: &str) -> FsEntry {
    let path: Vec<String> = parts.iter().map(|part| percent_encode(part)).collect();
    let name = parts.last().copied().unwrap_or_default();
    FsEntry {
        uri: format!("{}{}/", root_uri(scope), path.join("/")),
        folder: true,
        summary: what.to_owned(),
        ..bare_entry(scope, &FsUri::Root, name)
    }
}

/// A name of a folder of memories in a list.
pub(super) fn child_entry(scope: &Scope, folder: &str, name: UriChild) -> FsEntry {
    match name {
        UriChild::Folder(name) => FsEntry {
            uri: format!("{folder}{name}/"),
            folder: true,
            read_only: false,
            summary: kind_summary(&name).unwrap_or_default().to_owned(),
            ..bare_entry(scope, &FsUri::Root, &name)
        },
        UriChild::File(name, memory) => FsEntry { name, ..memory_entry(&memory) },
    }
}

fn kind_summary(name: &str) -> Option<&'static str> {
    Some(match name.parse::<Kind>().ok().filter(|kind| kind.as_str() == name)? {
        Kind::User => "Who the user is: role, preferences, habits",
        Kind::Feedback => "How the agent should behave",
        Kind::Project => "What is going on: goals, decisions, progress",
        Kind::Reference => "Where something outside is to be found",
        Kind::Knowledge => "Facts, and pieces of documents",
        Kind::Experience => "Problems, what solved them and how it ended",
        Kind::Session => "Summaries of conversations and days",
        Kind::Turn => return None,
    })
}

/// A memory in a list.
pub(super) fn memory_entry(memory: &Memory) -> FsEntry {
    let is_list = memory.status == Status::Archived && ingested_document(memory.clone()).is_some();
    FsEntry {
        uri: memory.uri.clone(),
        name: memory.uri.rsplit('/').next().unwrap_or_default().to_owned(),
        folder: false,
        summary: tiers::memory_line(memory),
        id: Some(memory.id),
        kind: Some(memory.kind),
        status: Some(memory.status),
        tags: memory.tags.clone(),
        bytes: Some(memory.content.len()),
        created_at: Some(memory.created_at),
        modified_at: Some(memory.updated_at),
        read_only: is_list || agent_note(memory).is_some(),
    }
}

/// A document in a list: its text is not read for it.
pub(super) fn document_entry(scope: &Scope, document: &IngestedDocument) -> FsEntry {
    let parts = uri::document_parts(&document.path);
    let name = parts.last().cloned().unwrap_or_default();
    FsEntry {
        summary: format!("{}: {}", name, document.manifest_memory.description),
        id: Some(document.manifest_memory.id),
        kind: Some(Kind::Knowledge),
        tags: document.manifest_memory.tags.clone(),
        created_at: Some(document.manifest_memory.created_at),
        modified_at: Some(document.manifest_memory.updated_at),
        read_only: false,
        ..bare_entry(scope, &FsUri::Document(parts), &name)
    }
}

/// A conversation in a list.
pub(super) fn session_entry(scope: &Scope, talk: &SessionSummary) -> FsEntry {
    let day = |at: Timestamp| at.strftime("%F").to_string();
    let place = FsUri::Session(talk.session.clone());
    FsEntry {
        uri: folder_uri(&place, scope),
        folder: true,
        summary: format!("A conversation from {} to {}", day(talk.first_at), day(talk.last_at)),
        created_at: Some(talk.first_at),
        modified_at: Some(talk.last_at),
        read_only: false,
        ..bare_entry(scope, &place, &talk.session)
    }
}

/// The names of the layers' files, for errors.
pub(super) fn layer_file_names() -> String {
    Layer::ALL.map(layer_file).join(", ")
}
