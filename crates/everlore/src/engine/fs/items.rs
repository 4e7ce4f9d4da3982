//! What things look like in a list.

use super::{
    Item, Level, ListRequest, levels,
    look::Thing,
    place::{self, Place, encoded, layer_file},
};
use crate::{
    files::layers::Layer,
    ingest::{Catalogued, catalogued, note_of, root_uri},
    store::{Name, Talk},
    types::{Kind, Memory, Scope, Status, Timestamp},
};

/// The uri of a folder ends with a slash.
pub(super) fn folder_uri(place: &Place, scope: &Scope) -> String {
    let uri = place.uri(scope);
    if uri.ends_with('/') { uri } else { uri + "/" }
}

/// A page of entries that were all made.
pub(super) fn paged(mut items: Vec<Item>, page: &ListRequest) -> (Vec<Item>, Option<String>) {
    let key = |item: &Item| if item.folder { format!("{}/", item.name) } else { item.name.clone() };
    items.sort_by_key(key);
    items.retain(|item| page.after.as_ref().is_none_or(|after| key(item) > *after));
    let more = items.len() > page.limit;
    items.truncate(page.limit);
    let next = items.last().filter(|_| more).map(key);
    (items, next)
}

/// What a thing at a place looks like in a list.
pub(super) fn item_of(place: &Place, thing: &Thing, scope: &Scope) -> Item {
    let name = place.path().last().cloned().unwrap_or_default();
    match thing {
        Thing::Folder => {
            Item { uri: folder_uri(place, scope), folder: true, ..bare(scope, place, &name) }
        }
        Thing::Memory(memory) => memory_item(memory),
        Thing::Document(document, chunks) => {
            let bytes = chunks.iter().map(|chunk| chunk.content.len()).sum();
            Item { bytes: Some(bytes), ..document_item(scope, document) }
        }
        Thing::Session(turns, _) => Item {
            uri: folder_uri(place, scope),
            folder: true,
            read_only: false,
            summary: levels::of(thing, Level::L0).0,
            created_at: turns.first().map(|turn| turn.at),
            modified_at: turns.last().map(|turn| turn.at),
            ..bare(scope, place, &name)
        },
        Thing::File(text) => Item {
            summary: levels::of(thing, Level::L0).0,
            bytes: Some(text.len()),
            ..bare(scope, place, &name)
        },
    }
}

/// An entry of which nothing but the name is known.
pub(super) fn bare(scope: &Scope, place: &Place, name: &str) -> Item {
    Item {
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
pub(super) fn folder(scope: &Scope, parts: &[&str], what: &str) -> Item {
    let path: Vec<String> = parts.iter().map(|part| encoded(part)).collect();
    let name = parts.last().copied().unwrap_or_default();
    Item {
        uri: format!("{}{}/", root_uri(scope), path.join("/")),
        folder: true,
        summary: what.to_owned(),
        ..bare(scope, &Place::Root, name)
    }
}

/// A name of a folder of memories in a list.
pub(super) fn named(scope: &Scope, folder: &str, name: Name) -> Item {
    match name {
        Name::Folder(name) => Item {
            uri: format!("{folder}{name}/"),
            folder: true,
            read_only: false,
            summary: kind_says(&name).unwrap_or_default().to_owned(),
            ..bare(scope, &Place::Root, &name)
        },
        Name::File(name, memory) => Item { name, ..memory_item(&memory) },
    }
}

fn kind_says(name: &str) -> Option<&'static str> {
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
pub(super) fn memory_item(memory: &Memory) -> Item {
    let is_list = memory.status == Status::Archived && catalogued(memory.clone()).is_some();
    Item {
        uri: memory.uri.clone(),
        name: memory.uri.rsplit('/').next().unwrap_or_default().to_owned(),
        folder: false,
        summary: levels::line(memory),
        id: Some(memory.id),
        kind: Some(memory.kind),
        status: Some(memory.status),
        tags: memory.tags.clone(),
        bytes: Some(memory.content.len()),
        created_at: Some(memory.created_at),
        modified_at: Some(memory.updated_at),
        read_only: is_list || note_of(memory).is_some(),
    }
}

/// A document in a list: its text is not read for it.
pub(super) fn document_item(scope: &Scope, document: &Catalogued) -> Item {
    let parts = place::document_parts(&document.path);
    let name = parts.last().cloned().unwrap_or_default();
    Item {
        summary: format!("{}: {}", name, document.list.description),
        id: Some(document.list.id),
        kind: Some(Kind::Knowledge),
        tags: document.list.tags.clone(),
        created_at: Some(document.list.created_at),
        modified_at: Some(document.list.updated_at),
        read_only: false,
        ..bare(scope, &Place::Document(parts), &name)
    }
}

/// A conversation in a list.
pub(super) fn talk_item(scope: &Scope, talk: &Talk) -> Item {
    let day = |at: Timestamp| at.strftime("%F").to_string();
    let place = Place::Session(talk.session.clone());
    Item {
        uri: folder_uri(&place, scope),
        folder: true,
        summary: format!("A conversation from {} to {}", day(talk.first_at), day(talk.last_at)),
        created_at: Some(talk.first_at),
        modified_at: Some(talk.last_at),
        read_only: false,
        ..bare(scope, &place, &talk.session)
    }
}

/// The names of the layers' files, for errors.
pub(super) fn layer_names() -> String {
    Layer::ALL.map(layer_file).join(", ")
}
