//! Entries of listings, made from memories, documents, sessions and layers.

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

/// Returns the URI of a folder, which ends with a slash.
pub(super) fn folder_uri(fs_uri: &FsUri, scope: &Scope) -> String {
    let uri = fs_uri.uri(scope);
    if uri.ends_with('/') { uri } else { uri + "/" }
}

/// Returns one page of complete entries, sorted by name, and the cursor of the next page.
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

/// Returns the entry of a node.
pub(super) fn node_entry(fs_uri: &FsUri, node: &FsNode, scope: &Scope) -> FsEntry {
    let name = fs_uri.path().last().cloned().unwrap_or_default();
    match node {
        FsNode::Folder => FsEntry {
            uri: folder_uri(fs_uri, scope),
            folder: true,
            ..bare_entry(scope, fs_uri, &name)
        },
        FsNode::Memory(memory) => memory_entry(memory),
        FsNode::Document(document, chunks) => {
            let bytes = chunks.iter().map(|chunk| chunk.content.len()).sum();
            FsEntry { bytes: Some(bytes), ..document_entry(scope, document) }
        }
        FsNode::Session(turns, _) => FsEntry {
            uri: folder_uri(fs_uri, scope),
            folder: true,
            read_only: false,
            summary: tiers::render_node(node, Tier::L0).0,
            created_at: turns.first().map(|turn| turn.at),
            modified_at: turns.last().map(|turn| turn.at),
            ..bare_entry(scope, fs_uri, &name)
        },
        FsNode::File(text) => FsEntry {
            summary: tiers::render_node(node, Tier::L0).0,
            bytes: Some(text.len()),
            ..bare_entry(scope, fs_uri, &name)
        },
    }
}

/// Returns an entry with only a name.
pub(super) fn bare_entry(scope: &Scope, fs_uri: &FsUri, name: &str) -> FsEntry {
    FsEntry {
        uri: fs_uri.uri(scope),
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

/// Returns the entry of a folder, given the parts of its path.
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

/// Returns the entry of a child of a folder of memories.
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
        Kind::Schedule => "Reminders and tasks with their times",
        Kind::Suggestion => "Proposals that wait for a person's decision",
        Kind::Trajectory => "Steps of tasks and how they ended",
        Kind::Skill => "Skills and workflows that a person approved",
        Kind::Turn => return None,
    })
}

/// Returns the entry of a memory.
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

/// Returns the entry of a document, without reading its text.
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

/// Returns the entry of a session.
pub(super) fn session_entry(scope: &Scope, session: &SessionSummary) -> FsEntry {
    let day = |at: Timestamp| at.strftime("%F").to_string();
    let fs_uri = FsUri::Session(session.session.clone());
    FsEntry {
        uri: folder_uri(&fs_uri, scope),
        folder: true,
        summary: format!(
            "A conversation from {} to {}",
            day(session.first_at),
            day(session.last_at)
        ),
        created_at: Some(session.first_at),
        modified_at: Some(session.last_at),
        read_only: false,
        ..bare_entry(scope, &fs_uri, &session.session)
    }
}

/// Returns the names of the layer files, for error messages.
pub(super) fn layer_file_names() -> String {
    Layer::ALL.map(layer_file).join(", ")
}
