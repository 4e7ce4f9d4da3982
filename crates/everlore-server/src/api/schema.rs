//! The shapes of answers and bodies that the engine defines, for the description. Tests hold them against the real ones.

#![expect(dead_code, reason = "they are read by the description only")]

use serde_json::Value;
use utoipa::ToSchema;

use super::check_schema::NewCheck;

/// What sort of statement a memory is.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub(super) enum Kind {
    User,
    Feedback,
    Project,
    Reference,
    Knowledge,
    Experience,
    Session,
    Turn,
}

/// Whether a memory takes part in recall.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub(super) enum Status {
    Active,
    Superseded,
    Archived,
}

/// Who spoke.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub(super) enum Role {
    User,
    Assistant,
    System,
    Tool,
}

/// Something to remember. Only the content is needed.
#[derive(ToSchema)]
pub(super) struct Remember {
    /// The text.
    content: String,
    /// Judged by the text if left out.
    kind: Option<Kind>,
    /// A title; the beginning of the text if left out.
    name: Option<String>,
    /// One line that tells whether it matters.
    #[schema(required = false)]
    description: String,
    /// Keywords.
    #[schema(required = false)]
    tags: Vec<String>,
    /// How much it matters, from 0 to 1.
    importance: Option<f64>,
    /// How sure it is, from 0 to 1.
    confidence: Option<f64>,
    /// When it was said or became true (RFC 3339); now if left out.
    at: Option<String>,
    /// The conversation it came from.
    session: Option<String>,
    /// Free data of the caller.
    #[schema(required = false, value_type = Object)]
    metadata: Value,
    /// How a machine can tell whether it still holds.
    check: Option<NewCheck>,
}

/// What to change. What is left out stays as it is.
#[derive(ToSchema)]
pub(super) struct Edit {
    /// The new text.
    content: Option<String>,
    /// The new title.
    name: Option<String>,
    /// The new line that tells whether it matters.
    description: Option<String>,
    /// The new kind.
    kind: Option<Kind>,
    /// The new keywords, all of them.
    tags: Option<Vec<String>>,
    /// The new importance, from 0 to 1.
    importance: Option<f64>,
    /// The new weight, from 0 to 10.
    weight: Option<f64>,
    /// New free data, all of it.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Value>,
    /// A new check, in place of the one it has.
    check: Option<NewCheck>,
    /// Whether its check is taken away.
    #[schema(required = false)]
    no_check: bool,
}

/// What was stored.
#[derive(ToSchema)]
pub(super) struct Saved {
    /// The memory's id.
    id: String,
    /// Its uri.
    uri: String,
    /// Its kind.
    kind: Kind,
    /// Its status.
    status: Status,
    /// The proof that it is durable and can be found.
    receipt: Receipt,
    /// Secrets that were masked before anything was written.
    #[schema(required = false)]
    masked: Vec<String>,
}

/// The proof of a save.
#[derive(ToSchema)]
pub(super) struct Receipt {
    /// The journal's number.
    seq: u64,
    /// When it was saved.
    at: String,
    /// Whether the same was known already.
    known: bool,
    /// Whether it was read back and found through the index.
    verified: bool,
}

/// One stored statement or turn.
#[derive(ToSchema)]
pub(super) struct Memory {
    /// Its name for good.
    id: String,
    /// Its place in the tree of memories.
    uri: String,
    /// Whose memory it is: agent and user.
    #[schema(value_type = Object)]
    scope: Value,
    /// What sort of statement it is.
    kind: Kind,
    /// Its title; empty for turns.
    name: String,
    /// One line that tells whether it matters.
    description: String,
    /// The text itself.
    content: String,
    /// Keywords.
    tags: Vec<String>,
    /// How much it matters, from 0 to 1.
    importance: f64,
    /// How sure its writer was, from 0 to 1.
    confidence: f64,
    /// Stored worth: rises with use, falls with time.
    weight: f64,
    /// Whether it takes part in recall.
    status: Status,
    /// Free data of the caller.
    #[schema(required = false, value_type = Object)]
    metadata: Value,
    /// Where it comes from: via, session, speaker, role, turns.
    #[schema(value_type = Object)]
    source: Value,
    /// When it was said or became true.
    at: String,
    /// When it was stored.
    created_at: String,
    /// When it was last changed.
    updated_at: String,
    /// When it was last put into a prompt.
    last_used_at: Option<String>,
    /// The memory that replaced it.
    superseded_by: Option<String>,
    /// Counts its changes from 1.
    version: u32,
}

/// One line of the journal.
#[derive(ToSchema)]
pub(super) struct Entry {
    /// Its number; numbers only rise.
    seq: u64,
    /// When the change was made.
    at: String,
    /// Who made it: person, agent or engine.
    actor: String,
    /// Why.
    cause: String,
    /// The run it belongs to.
    run: Option<String>,
    /// The tokens a model spent on it.
    cost: u64,
    /// What it did: add, update, delete or erase.
    op: String,
    /// The memory it changed.
    id: String,
    /// The memory before.
    before: Option<Memory>,
    /// The memory after.
    after: Option<Memory>,
}

/// Which memories are meant. What is left out or empty means any.
#[derive(ToSchema)]
pub(super) struct Filter {
    /// Of one of these kinds.
    #[schema(required = false)]
    kinds: Vec<Kind>,
    /// With one of these statuses; active ones if none is named.
    #[schema(required = false)]
    statuses: Vec<Status>,
    /// With all of these tags.
    #[schema(required = false)]
    tags: Vec<String>,
    /// Said at or after this moment (RFC 3339).
    since: Option<String>,
    /// Said before this moment (RFC 3339).
    until: Option<String>,
    /// Of this conversation.
    session: Option<String>,
    /// Turns only if they were said before this moment (RFC 3339).
    turns_until: Option<String>,
}

/// Prompt text, with the figures of how it came about.
#[derive(ToSchema)]
pub(super) struct Block {
    /// What to append to the system prompt; empty if nothing is worth telling.
    text: String,
    /// The most tokens a model counts for it.
    tokens: usize,
    /// What it tells, in order: id, uri, tier, score, terms, check.
    #[schema(value_type = Vec<Object>)]
    entries: Vec<Value>,
    /// Hits that did not fit even as one line.
    left_out: Vec<String>,
}

/// What a tool answers.
#[derive(ToSchema)]
pub(super) struct ToolAnswer {
    /// For the model.
    text: String,
    /// The same for programs, as the output schema says.
    #[schema(value_type = Object)]
    structured: Value,
    /// Whether nothing was done and the text says why.
    is_error: bool,
}

/// Something in the tree.
#[derive(ToSchema)]
pub(super) struct FsItem {
    /// What it is called by; a folder's ends with a slash.
    uri: String,
    /// The last part of that.
    name: String,
    /// Whether there is something in it.
    folder: bool,
    /// What it is, in one line.
    #[schema(rename = "abstract")]
    summary: String,
    /// The memory, if it is one.
    #[schema(required = false)]
    id: String,
    /// Its kind.
    #[schema(required = false)]
    kind: Kind,
    /// Its status.
    #[schema(required = false)]
    status: Status,
    /// Its keywords.
    #[schema(required = false)]
    tags: Vec<String>,
    /// How long its text is, where that is known without reading it.
    #[schema(required = false)]
    bytes: usize,
    /// When it was made (RFC 3339).
    #[schema(required = false)]
    created_at: String,
    /// When it was last changed (RFC 3339).
    #[schema(required = false)]
    modified_at: String,
    /// Whether removing it is refused.
    read_only: bool,
    /// How many entries a folder has, where that was asked for.
    #[schema(required = false)]
    entries: usize,
    /// How far below the folder it stands, in a tree.
    #[schema(required = false)]
    depth: usize,
}

/// A page of a folder.
#[derive(ToSchema)]
pub(super) struct FsListing {
    /// The folder.
    uri: String,
    /// What is in it, by name.
    items: Vec<FsItem>,
    /// What to give as `after` for the next page; nothing if this is the last one.
    next: Option<String>,
}

/// A folder with what is in it.
#[derive(ToSchema)]
pub(super) struct FsTree {
    /// The folder.
    uri: String,
    /// Each entry before those in it.
    items: Vec<FsItem>,
    /// Whether there is more than was asked for.
    more: bool,
}

/// What was read.
#[derive(ToSchema)]
pub(super) struct FsText {
    /// Its uri.
    uri: String,
    /// l0, l1 or l2.
    level: String,
    /// The text.
    text: String,
    /// Whether a text was cut because it is too long for one answer.
    cut: bool,
}

/// What was found by meaning.
#[derive(ToSchema)]
pub(super) struct FsFinding {
    /// Best first: uri, document, id, kind, name, abstract, score.
    found: Vec<Value>,
    /// How probable it is that the best one answers, from 0 to 1.
    confidence: f64,
}

/// How much is held of an agent and a user.
#[derive(ToSchema)]
pub(super) struct FsStatus {
    /// Memories that take part in recall, by kind.
    memories: std::collections::BTreeMap<String, usize>,
    /// Memories that are archived or superseded.
    put_away: usize,
    /// Documents.
    documents: usize,
    /// Changes that the journal tells of.
    changes: usize,
    /// Texts that were erased and may not come back.
    erased: usize,
    /// The model by which memories are found by meaning, if any.
    model: Option<String>,
}

/// What was found by text.
#[derive(ToSchema)]
pub(super) struct FsGrepped {
    /// Lines: uri, line, text.
    matches: Vec<Value>,
    /// How many texts were read.
    read: usize,
    /// Whether there may be more.
    more: bool,
}

/// What was added.
#[derive(ToSchema)]
pub(super) struct FsAdded {
    /// Where it stands.
    uri: String,
    /// What was saved, if it is a memory.
    #[schema(required = false)]
    memory: Saved,
    /// What became of it, if it is a document.
    #[schema(required = false)]
    document: Value,
}

/// What was removed.
#[derive(ToSchema)]
pub(super) struct FsRemoved {
    /// Where it stood.
    uri: String,
    /// How many memories that were.
    memories: usize,
    /// The runs, by which it can be undone.
    runs: Vec<String>,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use everlore::{engine::fs, ingest, recall, store, types};
    use jiff::Timestamp;
    use serde::Serialize;
    use utoipa::PartialSchema;

    use super::{super::check_schema::Verdict, *};

    /// The fields that a schema and a value have.
    fn fields<S: PartialSchema>(value: impl Serialize) -> (BTreeSet<String>, BTreeSet<String>) {
        let keys = |value: Value| -> BTreeSet<String> {
            value.as_object().unwrap().keys().cloned().collect()
        };
        let schema = serde_json::to_value(S::schema()).unwrap();
        (keys(schema["properties"].clone()), keys(serde_json::to_value(value).unwrap()))
    }

    fn memory() -> types::Memory {
        let (at, scope) = (Timestamp::UNIX_EPOCH, types::Scope::default());
        let source = types::MemorySource::new(types::Origin::Remember);
        let mut memory =
            types::Memory::with_content(&scope, types::Kind::User, "茶".into(), source, at, at);
        memory.metadata.insert("a".into(), 1.into());
        memory.last_used_at = Some(at);
        memory.superseded_by = Some(memory.id);
        memory
    }

    /// An entry of a tree that is also counted.
    fn entry() -> Value {
        let (at, id) = (Timestamp::UNIX_EPOCH, memory().id);
        let item = fs::FsEntry {
            uri: String::new(),
            name: String::new(),
            folder: true,
            summary: String::new(),
            id: Some(id),
            kind: Some(types::Kind::User),
            status: Some(types::Status::Active),
            tags: vec!["茶".into()],
            bytes: Some(3),
            created_at: Some(at),
            modified_at: Some(at),
            read_only: false,
        };
        let counted = fs::FsStat { item: item.clone(), entries: Some(1) };
        let mut entry = serde_json::to_value(fs::FsTreeEntry { depth: 1, item }).unwrap();
        let counted = serde_json::to_value(counted).unwrap();
        entry.as_object_mut().unwrap().extend(counted.as_object().unwrap().clone());
        entry
    }

    #[test]
    fn described_shapes_are_the_real_ones() {
        let check = types::NewCheck {
            path: Some(String::new()),
            file: Some(String::new()),
            sha256: Some(String::new()),
            command: Some(Vec::new()),
            folder: Some(String::new()),
            prints: Some(String::new()),
            until: Some(String::new()),
            days: Some(1),
        };
        let (described, real) = fields::<NewCheck>(&check);
        assert_eq!(described, real);
        let remember =
            ingest::RememberRequest { check: Some(check), ..ingest::RememberRequest::default() };
        let (described, real) = fields::<Remember>(remember);
        assert_eq!(described, real);
        let (described, real) = fields::<Edit>(ingest::MemoryEdit::default());
        assert_eq!(described, real);
        let (described, real) = fields::<Filter>(store::MemoryFilter::default());
        assert_eq!(described, real);
        let (described, real) = fields::<Block>(recall::MemoryBlock::default());
        assert_eq!(described, real);
        let (described, real) = fields::<ToolAnswer>(everlore::ToolResult::error(""));
        assert_eq!(described, real);
        let (described, real) = fields::<Memory>(memory());
        assert_eq!(described, real);
        let (described, real) = fields::<FsItem>(entry());
        assert_eq!(described, real);
        let text = fs::FsText {
            uri: String::new(),
            level: everlore::types::Tier::L1,
            text: String::new(),
            cut: false,
        };
        let (described, real) = fields::<FsText>(text);
        assert_eq!(described, real);
        let removed = fs::FsRemoveReport { uri: String::new(), memories: 0, runs: Vec::new() };
        let (described, real) = fields::<FsRemoved>(removed);
        assert_eq!(described, real);
    }

    #[test]
    fn described_names_are_the_real_ones() {
        let names = |schema: Value| -> Vec<String> {
            serde_json::from_value(schema["enum"].clone()).unwrap()
        };
        let kinds = names(serde_json::to_value(Kind::schema()).unwrap());
        assert_eq!(kinds, types::Kind::ALL.map(types::Kind::as_str));
        let verdicts = names(serde_json::to_value(Verdict::schema()).unwrap());
        assert_eq!(verdicts, types::CheckStatus::ALL.map(types::CheckStatus::as_str));
        let statuses = names(serde_json::to_value(Status::schema()).unwrap());
        assert_eq!(statuses, types::Status::ALL.map(types::Status::as_str));
    }
}
