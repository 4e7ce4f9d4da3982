//! Operations by name: requests and answers are JSON in the shapes of the HTTP API.

use everlore::{
    Engine, Error, Hit, Memory, MemoryEdit, MemoryId, Recall, RecallRequest, RememberRequest,
    Result, Scope, Turn,
    engine::{DeleteReceipt, ExtractRequest, UndoTarget},
    internal::text::suspect::is_unverified,
    store::{JournalQuery, ListOrder, ListQuery, MemoryFilter},
    types::{CheckResult, Timestamp},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::call_error::{CallError, engine_error};

/// Page size by default.
const DEFAULT_PAGE: usize = 50;

/// Runs the operation with this name in the scope; nothing outside the scope is read or changed.
pub(crate) async fn run(
    engine: &Engine,
    scope: &Scope,
    operation: &str,
    request: &[u8],
) -> Result<Vec<u8>, CallError> {
    let call = ScopedCall { engine, scope, request };
    let answer = Box::pin(call.dispatch(operation)).await;
    answer.map_err(|error| engine_error(&error))
}

/// Request to an engine about one scope.
struct ScopedCall<'a> {
    engine: &'a Engine,
    scope: &'a Scope,
    request: &'a [u8],
}

/// Turns to observe.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnList {
    turns: Vec<Turn>,
}

/// Query with its limits.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Query {
    query: String,
    #[serde(default)]
    filter: MemoryFilter,
    limit: Option<usize>,
    #[serde(default)]
    min_score: f64,
    #[serde(default)]
    min_confidence: f64,
    as_of: Option<Timestamp>,
}

/// Message to build a block for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockQuery {
    query: String,
    budget: Option<usize>,
    limit: Option<usize>,
    session: Option<String>,
}

/// Id of a memory, or a unique prefix of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedMemory {
    id: String,
}

/// Edit of a memory.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedEdit {
    id: String,
    edit: MemoryEdit,
}

/// Page of memories.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListPage {
    #[serde(default)]
    filter: MemoryFilter,
    limit: Option<usize>,
    after: Option<String>,
    #[serde(default)]
    oldest_first: bool,
}

/// Page of the journal.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JournalPage {
    id: Option<String>,
    run: Option<String>,
    limit: Option<usize>,
    before: Option<u64>,
}

/// Change or run to undo; the newest step if neither is given.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UndoRequest {
    seq: Option<u64>,
    run: Option<String>,
}

/// Session to extract from; all if none is given.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionChoice {
    session: Option<String>,
}

/// Memory with its score for a query.
#[derive(Serialize)]
struct ScoredMemory {
    #[serde(flatten)]
    memory: Memory,
    score: f64,
    newer: Option<MemoryId>,
    unverified: bool,
    check: Option<CheckResult>,
}

impl ScopedCall<'_> {
    async fn dispatch(&self, operation: &str) -> Result<Vec<u8>> {
        match operation {
            "remember" => self.remember().await,
            "observe" => self.observe().await,
            "recall" => self.recall().await,
            "context" => self.context().await,
            "get" => self.get().await,
            "list" => self.list().await,
            "edit" => self.edit().await,
            "delete" => self.delete().await,
            "forget" => self.forget().await,
            "history" => self.history().await,
            "undo" => self.undo().await,
            "redo" => write(&self.engine.redo(self.scope).await?),
            "extract" => self.extract().await,
            _ => Err(Error::invalid(
                format!("there is no operation `{operation}`"),
                "the module and the Python files are of two versions: install everlore again",
            )),
        }
    }

    fn read<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(self.request).map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            Error::invalid(message, "see the docstring of the method")
        })
    }

    async fn resolve(&self, name: &str) -> Result<MemoryId> {
        self.engine.resolve(self.scope, name).await
    }

    async fn remember(&self) -> Result<Vec<u8>> {
        let request: RememberRequest = self.read()?;
        write(&self.engine.remember(self.scope, request).await?)
    }

    async fn observe(&self) -> Result<Vec<u8>> {
        let TurnList { turns } = self.read()?;
        write(&json!({ "saved": self.engine.observe(self.scope, turns).await? }))
    }

    async fn recall(&self) -> Result<Vec<u8>> {
        let body: Query = self.read()?;
        Engine::check_query(&body.query)?;
        check_fraction("min_score", body.min_score)?;
        check_fraction("min_confidence", body.min_confidence)?;
        let request = self.engine.recall_request(self.scope, body.query);
        let request = RecallRequest {
            filter: body.filter,
            limit: body.limit.unwrap_or(request.limit),
            min_score: body.min_score,
            min_confidence: body.min_confidence,
            ..request
        };
        let recalled = match body.as_of {
            Some(at) => self.engine.recall_as_of(&request, at).await?,
            None => self.engine.recall(&request).await?,
        };
        write(&answer_of(recalled))
    }

    async fn context(&self) -> Result<Vec<u8>> {
        let body: BlockQuery = self.read()?;
        let request = self.engine.context_request(self.scope, body.query);
        let request = RecallRequest { limit: body.limit.unwrap_or(request.limit), ..request };
        let usual = || self.engine.settings(self.scope.agent()).memory.inject.token_budget;
        let budget = body.budget.unwrap_or_else(usual);
        write(&match &body.session {
            Some(session) => self.engine.inject(&request, budget, session).await?,
            None => self.engine.context(&request, budget).await?,
        })
    }

    async fn get(&self) -> Result<Vec<u8>> {
        let NamedMemory { id } = self.read()?;
        let id = self.resolve(&id).await?;
        write(&self.engine.get(self.scope, id).await?)
    }

    async fn list(&self) -> Result<Vec<u8>> {
        let ListPage { filter, limit, after, oldest_first } = self.read()?;
        let after = match after {
            Some(name) => Some(self.resolve(&name).await?),
            None => None,
        };
        let limit = limit.unwrap_or(DEFAULT_PAGE);
        let order = if oldest_first { ListOrder::OldestFirst } else { ListOrder::NewestFirst };
        // One more than requested tells whether there is another page.
        let page = ListQuery { filter, after, order, limit: limit.saturating_add(1) };
        let mut memories = self.engine.list(self.scope, &page).await?;
        let has_more = memories.len() > limit;
        memories.truncate(limit);
        let next = memories.last().filter(|_| has_more).map(|memory| memory.id);
        write(&json!({ "memories": memories, "next": next }))
    }

    async fn edit(&self) -> Result<Vec<u8>> {
        let NamedEdit { id, edit } = self.read()?;
        let id = self.resolve(&id).await?;
        write(&self.engine.edit(self.scope, id, &edit).await?)
    }

    async fn delete(&self) -> Result<Vec<u8>> {
        let NamedMemory { id } = self.read()?;
        let id = self.resolve(&id).await?;
        let receipt = self.engine.delete_many(self.scope, &[id]).await?;
        let DeleteReceipt { deleted, turns, remaining_turns } = receipt;
        let seq = deleted[0].seq;
        write(&json!({ "id": id, "seq": seq, "turns": turns, "remaining_turns": remaining_turns }))
    }

    /// Takes the full id only: what is erased does not come back.
    async fn forget(&self) -> Result<Vec<u8>> {
        let NamedMemory { id } = self.read()?;
        write(&self.engine.forget(self.scope, id.parse()?).await?)
    }

    async fn history(&self) -> Result<Vec<u8>> {
        let JournalPage { id, run, limit, before } = self.read()?;
        let id = id.map(|id| id.parse()).transpose()?;
        let limit = limit.unwrap_or(DEFAULT_PAGE);
        let page = limit.saturating_add(1);
        let query = JournalQuery { id, run, before, limit: Some(page), ..Default::default() };
        let mut changes = self.engine.history(self.scope, &query).await?;
        let has_more = changes.len() > limit;
        changes.truncate(limit);
        let next = changes.last().filter(|_| has_more).map(|entry| entry.seq);
        write(&json!({ "changes": changes, "next": next }))
    }

    async fn undo(&self) -> Result<Vec<u8>> {
        let target = match self.read()? {
            UndoRequest { seq: Some(seq), run: None } => UndoTarget::Change(seq),
            UndoRequest { seq: None, run: Some(run) } => UndoTarget::Run(run),
            UndoRequest { seq: None, run: None } => {
                return write(&self.engine.undo_last(self.scope).await?);
            }
            UndoRequest { .. } => {
                let hint = "give seq, run, or neither for the newest step";
                return Err(Error::invalid("seq and run are two things to undo", hint));
            }
        };
        let undone = self.engine.undo(self.scope, &target).await?;
        write(&json!({ "step": target, "undone": undone }))
    }

    async fn extract(&self) -> Result<Vec<u8>> {
        let SessionChoice { session } = self.read()?;
        let request = ExtractRequest { session, dry_run: false };
        write(&json!({ "extractions": self.engine.extract(self.scope, &request).await? }))
    }
}

fn answer_of(recalled: Recall) -> Value {
    let hit = |Hit { memory, score, newer, check, .. }| {
        let unverified = is_unverified(&memory);
        ScoredMemory { memory, score, newer, unverified, check }
    };
    json!({
        "hits": recalled.hits.into_iter().map(hit).collect::<Vec<_>>(),
        "abstained": recalled.abstained,
        "confidence": recalled.confidence,
        "candidates": recalled.candidates,
        "without_meaning": recalled.without_meaning,
    })
}

fn check_fraction(name: &str, fraction: f64) -> Result<()> {
    if (0.0..=1.0).contains(&fraction) {
        return Ok(());
    }
    Err(Error::invalid(format!("`{name}` is {fraction}"), "give a number from 0 to 1"))
}

fn write(answer: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(answer).map_err(|error| Error::damaged(error.to_string()))
}
