//! Finding what a place holds, and listing what is in it.

use jiff::civil::Date;

use super::{
    Item, ListRequest, Listing,
    items::{bare, folder, folder_uri, item_of, memory_item, named, paged, talk_item},
    place::{self, Place},
};
use crate::{
    engine::{Engine, layers::aside},
    error::{Error, Result},
    files::layers::Layer,
    ingest::{Catalogued, root_uri},
    store::{Key, Name},
    types::{Kind, Memory, MemoryId, Scope, Status},
};

/// Turns of a conversation that are read at once: a long one is read turn by turn.
const MAX_TURNS: usize = 200;

/// How many times a page is looked at, where most of what stands there is archived: what a page costs stays bounded.
const MAX_LOOKS: usize = 10;

/// Names of a folder that a mistyped one is compared with, how near one must be, and how many are told.
const COMPARED: usize = 200;
const NEAR: f64 = 0.75;
const TOLD: usize = 3;

/// What a place holds.
pub(super) enum Thing {
    Folder,
    Memory(Box<Memory>),
    /// A document with the chunks that are left of it.
    Document(Box<Catalogued>, Vec<Memory>),
    /// A conversation's first turns, and whether there are more.
    Session(Vec<Memory>, bool),
    /// A file that is no memory.
    File(String),
}

impl Engine {
    /// What a place holds, or an error that names what is near.
    pub(super) async fn find_thing(&self, scope: &Scope, place: &Place) -> Result<Thing> {
        match self.look_up(scope, place).await? {
            Some(thing) => Ok(thing),
            None => Err(self.no_such(scope, place).await),
        }
    }

    async fn look_up(&self, scope: &Scope, place: &Place) -> Result<Option<Thing>> {
        match place {
            Place::Root | Place::Kinds | Place::Layers | Place::Days | Place::Sessions => {
                Ok(Some(Thing::Folder))
            }
            Place::Memory(path) => self.memory_at(scope, path).await,
            Place::Layer(layer) => {
                let read = self.read_layer(scope, *layer).await?;
                Ok(Some(Thing::File(read.text)))
            }
            Place::Day(day) => Ok(self.day_text(scope, *day).await?.map(Thing::File)),
            Place::Document(parts) => self.document(scope, parts).await,
            Place::File(parts) => self.file(scope, parts).await,
            Place::Session(name) => {
                let mut turns = self.store.turns(scope, name, None, MAX_TURNS + 1).await?;
                let more = turns.len() > MAX_TURNS;
                turns.truncate(MAX_TURNS);
                Ok((!turns.is_empty()).then_some(Thing::Session(turns, more)))
            }
            Place::Turn(id) => {
                let Ok(id) = id.parse::<MemoryId>() else { return Ok(None) };
                let found = self.store.get(scope, &[id]).await?.pop().flatten();
                let turn = found.filter(|memory| memory.kind == Kind::Turn);
                Ok(turn.map(|memory| Thing::Memory(Box::new(memory))))
            }
        }
    }

    async fn memory_at(&self, scope: &Scope, path: &str) -> Result<Option<Thing>> {
        let uri = root_uri(scope) + path;
        if let Some(memory) = self.store.find(scope, &Key::Uri(uri.clone()), 1).await?.pop() {
            return Ok(Some(Thing::Memory(Box::new(memory))));
        }
        let inside = self.store.names(scope, &format!("{uri}/"), None, 1).await?;
        // The kinds are there, even if nothing is in them.
        let is_kind = Kind::ALL.iter().any(|kind| kind.as_str() == path);
        Ok((is_kind || !inside.is_empty()).then_some(Thing::Folder))
    }

    async fn day_text(&self, scope: &Scope, day: Date) -> Result<Option<String>> {
        let layers = self.layers(scope)?;
        let exists = layers.path(Layer::Daily, day).is_file();
        let read = aside(move || layers.read(Layer::Daily, day)).await?;
        Ok(exists.then_some(read.text))
    }

    /// An error that names what is near.
    async fn no_such(&self, scope: &Scope, place: &Place) -> Error {
        let path = place.path();
        let asked = path.last().cloned().unwrap_or_default();
        let near = match place.parent() {
            Some(parent) => self.near(scope, &parent, &asked).await,
            None => Vec::new(),
        };
        let hint = match near.is_empty() {
            true => "look around with `ls` from the folder above".to_owned(),
            false => format!("did you mean {}?", near.join(" or ")),
        };
        Error::NoSuchUri { uri: place.uri(scope), hint }
    }

    async fn near(&self, scope: &Scope, parent: &Place, asked: &str) -> Vec<String> {
        let page = ListRequest { limit: COMPARED, ..ListRequest::new("") };
        let Ok((items, _)) = self.page_of(scope, parent, &page).await else { return Vec::new() };
        let asked = asked.to_lowercase();
        let nearness = |item: &Item| {
            let name = item.name.to_lowercase();
            if name.starts_with(&asked) { 1.0 } else { strsim::jaro_winkler(&asked, &name) }
        };
        let mut near: Vec<_> = items.iter().map(|item| (nearness(item), item)).collect();
        near.retain(|(nearness, _)| *nearness >= NEAR);
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        near.into_iter().take(TOLD).map(|(_, item)| item.uri.clone()).collect()
    }

    /// A page of what is in a place.
    pub(super) async fn list_place(
        &self,
        scope: &Scope,
        place: &Place,
        page: &ListRequest,
    ) -> Result<Listing> {
        let (items, next) = self.page_of(scope, place, page).await?;
        if items.is_empty() && page.after.is_none() {
            self.check_folder(scope, place).await?;
        }
        Ok(Listing { uri: folder_uri(place, scope), items, next })
    }

    /// The same, empty where there is no such place.
    async fn page_of(
        &self,
        scope: &Scope,
        place: &Place,
        page: &ListRequest,
    ) -> Result<(Vec<Item>, Option<String>)> {
        Ok(match place {
            Place::Root => paged(self.root_items(scope).await?, page),
            Place::Kinds => paged(self.kind_items(scope).await?, page),
            Place::Layers => paged(self.layer_items(scope).await?, page),
            Place::Days => paged(self.day_items(scope).await?, page),
            Place::Sessions => self.session_items(scope, page).await?,
            Place::Session(name) => self.turn_items(scope, name, page).await?,
            Place::Document(parts) => paged(self.document_items(scope, parts).await?, page),
            Place::File(parts) => paged(self.file_items(scope, parts).await?, page),
            Place::Memory(path) => self.memory_items(scope, path, page).await?,
            Place::Layer(_) | Place::Day(_) | Place::Turn(_) => (Vec::new(), None),
        })
    }

    /// An empty page is right for a folder only.
    async fn check_folder(&self, scope: &Scope, place: &Place) -> Result<()> {
        match self.look_up(scope, place).await? {
            Some(Thing::Folder | Thing::Session(..)) => Ok(()),
            Some(_) => Err(Error::invalid(
                format!("`{}` is no folder", place.uri(scope)),
                "read it with `read`",
            )),
            None => Err(self.no_such(scope, place).await),
        }
    }

    async fn root_items(&self, scope: &Scope) -> Result<Vec<Item>> {
        let mut items = self.kind_items(scope).await?;
        let fixed = [
            (place::RESOURCES, "Documents that were ingested, by their paths"),
            (place::SESSIONS, "Conversations, turn by turn"),
            (place::FILES, "Files that the agent keeps for itself"),
        ];
        let layers = (place::LAYERS, "Who the agent is, who the user is, notes, and the daily log");
        let layers = self.home.is_some().then_some(layers);
        items.extend(
            layers.into_iter().chain(fixed).map(|(name, what)| folder(scope, &[name], what)),
        );
        Ok(items)
    }

    /// The first parts of stored uris: kinds, and whatever else an import brought.
    async fn kind_items(&self, scope: &Scope) -> Result<Vec<Item>> {
        let names = self.store.names(scope, &root_uri(scope), None, super::MAX_PAGE).await?;
        Ok(names.into_iter().map(|name| named(scope, &root_uri(scope), name)).collect())
    }

    async fn layer_items(&self, scope: &Scope) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        for layer in Layer::ALL {
            let thing = Thing::File(self.read_layer(scope, layer).await?.text);
            items.push(item_of(&Place::Layer(layer), &thing, scope));
        }
        items.push(folder(scope, &[place::LAYERS, place::DAILY], "The log, a file a day"));
        Ok(items)
    }

    async fn day_items(&self, scope: &Scope) -> Result<Vec<Item>> {
        let (layers, today) = (self.layers(scope)?, self.now().date());
        let folder = layers.path(Layer::Daily, today).parent().map(std::path::Path::to_owned);
        let days = aside(move || {
            let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok());
            let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
            let day = |name: std::ffi::OsString| name.to_str()?.strip_suffix(".md")?.parse().ok();
            Ok(names.filter_map(day).collect::<Vec<Date>>())
        });
        let days = days.await?;
        let day = |date: Date| Item {
            summary: format!("What happened on {date}"),
            ..bare(scope, &Place::Day(date), &format!("{date}.md"))
        };
        Ok(days.into_iter().map(day).collect())
    }

    async fn session_items(
        &self,
        scope: &Scope,
        page: &ListRequest,
    ) -> Result<(Vec<Item>, Option<String>)> {
        let after = page.after.as_deref();
        let mut talks = self.store.sessions(scope, after, page.limit + 1).await?;
        let more = talks.len() > page.limit;
        talks.truncate(page.limit);
        let next = talks.last().filter(|_| more).map(|talk| talk.session.clone());
        Ok((talks.iter().map(|talk| talk_item(scope, talk)).collect(), next))
    }

    async fn turn_items(
        &self,
        scope: &Scope,
        session: &str,
        page: &ListRequest,
    ) -> Result<(Vec<Item>, Option<String>)> {
        let after = page.after.as_deref().map(str::parse).transpose()?;
        let mut turns = self.store.turns(scope, session, after, page.limit + 1).await?;
        let more = turns.len() > page.limit;
        turns.truncate(page.limit);
        let next = turns.last().filter(|_| more).map(|turn| turn.id.to_string());
        Ok((turns.iter().map(memory_item).collect(), next))
    }

    async fn memory_items(
        &self,
        scope: &Scope,
        path: &str,
        page: &ListRequest,
    ) -> Result<(Vec<Item>, Option<String>)> {
        let folder = format!("{}{path}/", root_uri(scope));
        let (mut items, mut after) = (Vec::new(), page.after.clone());
        for _ in 0..MAX_LOOKS {
            // One more than is needed tells whether there is more.
            let wanted = page.limit + 1 - items.len();
            let names = self.store.names(scope, &folder, after.as_deref(), wanted).await?;
            let is_last = names.len() < wanted;
            after = names.last().map(Name::key).or(after);
            let shown = names.into_iter().filter(|name| page.all || is_active(name));
            items.extend(shown.map(|name| (name.key(), named(scope, &folder, name))));
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

fn is_active(name: &Name) -> bool {
    match name {
        Name::Folder(_) => true,
        Name::File(_, memory) => memory.status == Status::Active,
    }
}
