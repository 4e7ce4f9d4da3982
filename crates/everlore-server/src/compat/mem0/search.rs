//! Searching the scopes that a filter may match.

use everlore::{
    Engine, Hit, Kind, Memory, RecallRequest, Scope, Status,
    internal::text::{sanitize::sanitize_verbatim, suspect::marked_text},
    store::MemoryFilter as Stored,
    types::Timestamp,
};
use serde_json::{Map, Value, json};

use super::{
    access::Mem0Access,
    fields::RequestFields,
    filter::FilterDialect,
    memories::{MAX_RESULTS, parse_visibility, select_fields, with_ignored},
    memory_json::{Mem0Metadata, MemoryVisibility, to_json},
};
use crate::{ApiResult, BoxFuture, JsonBody, JsonResponse, KeyRole, Problem};

/// Memories to recall where the filter tests what the index does not know.
const MAX_CANDIDATES: usize = 10_000;

/// Search memories, for mem0's clients
#[cfg_attr(test, utoipa::path(
    post, path = "/v3/memories/search/", tag = "mem0", operation_id = "search",
    request_body(
        content = Object,
        example = json!({"query": "Where does Ana live?", "filters": {"AND": [{"user_id": "ana"}, {"created_at": {"gte": "2026-01-01"}}]}, "top_k": 5}),
    ),
    responses((status = 200, description = "The best memories, each with its score", body = Object)),
))]
pub(super) async fn search(
    access: Mem0Access,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    let (results, ignored) =
        run_search(access, RequestFields::from_body(body), FilterDialect::Hosted).await?;
    Ok(JsonResponse::ok(with_ignored(json!({ "results": results }), &ignored)))
}

/// Search at the path of the open-source server, where unknown filter fields are metadata
#[cfg_attr(test, utoipa::path(
    post, path = "/search", tag = "mem0", operation_id = "search_open",
    request_body(
        content = Object,
        example = json!({"query": "Where does Ana live?", "filters": {"AND": [{"user_id": "ana"}, {"created_at": {"gte": "2026-01-01"}}]}, "top_k": 5}),
    ),
    responses((status = 200, description = "The best memories", body = Object)),
))]
pub(super) async fn search_open(
    access: Mem0Access,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    let (results, ignored) =
        run_search(access, RequestFields::from_body(body), FilterDialect::OpenSource).await?;
    Ok(JsonResponse::ok(with_ignored(json!({ "results": results }), &ignored)))
}

/// Search as older clients do: a list, unless `output_format` is `v1.1`
#[cfg_attr(test, utoipa::path(
    post, path = "/v2/memories/search/", tag = "mem0", operation_id = "search_v2",
    request_body(
        content = Object,
        example = json!({"query": "Where does Ana live?", "filters": {"AND": [{"user_id": "ana"}, {"created_at": {"gte": "2026-01-01"}}]}, "top_k": 5}),
    ),
    responses((status = 200, description = "The best memories", body = Value)),
))]
pub(super) async fn search_v2(
    access: Mem0Access,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    let mut fields = RequestFields::from_body(body);
    let is_wrapped = fields.text("output_format")?.as_deref() == Some("v1.1");
    let (results, _) = run_search(access, fields, FilterDialect::Hosted).await?;
    Ok(JsonResponse::ok(if is_wrapped { json!({ "results": results }) } else { json!(results) }))
}

/// Results of a search, and the names of unsupported fields.
type SearchResults = Result<(Vec<Value>, Vec<String>), Problem>;

/// Searches for every path; boxed, so that it is compiled once.
fn run_search(
    access: Mem0Access,
    mut fields: RequestFields,
    dialect: FilterDialect,
) -> BoxFuture<'static, SearchResults> {
    Box::pin(async move {
        access.require_role(KeyRole::Read)?;
        let query = fields.text("query")?.filter(|query| !query.trim().is_empty());
        let query =
            query.ok_or_else(|| Problem::invalid("`query` is empty", "say what to look for"))?;
        Engine::check_query(&query)?;
        // Older clients call it `limit`.
        let name = if fields.has("limit") { "limit" } else { "top_k" };
        let top_k = fields.count(name, 10, MAX_RESULTS)?;
        let threshold = fields.fraction("threshold")?.unwrap_or(0.0);
        let selected = fields.strings("fields")?;
        let at = fields.time_range("reference_date")?.map(|(_, last)| last);
        let view = parse_visibility(&access, &mut fields, dialect)?;
        fields.take("output_format");
        let ignored = fields.finish()?;
        let mut hits = Vec::new();
        for scope in access.scopes_for(&view.filter).await? {
            let query = Mem0Query { query: &query, top_k, threshold, at };
            hits.extend(search_scope(&access, &scope, &view, &query).await?);
        }
        hits.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        hits.truncate(top_k);
        let shown = |(memory, score): &(Memory, f64)| {
            let mut item = to_json(memory, access.default_scope());
            item["score"] = json!(score);
            item["memory"] = json!(marked_text(memory, &sanitize_verbatim(&memory.content)));
            select_fields(item, selected.as_deref())
        };
        Ok((hits.iter().map(shown).collect(), ignored))
    })
}

struct Mem0Query<'a> {
    query: &'a str,
    top_k: usize,
    threshold: f64,
    at: Option<Timestamp>,
}

/// Returns the best visible memories of one scope.
async fn search_scope(
    access: &Mem0Access,
    scope: &Scope,
    view: &MemoryVisibility,
    query: &Mem0Query<'_>,
) -> Result<Vec<(Memory, f64)>, Problem> {
    let engine = access.engine();
    let depth =
        if view.filter.is_finer_than_scopes() { MAX_CANDIDATES } else { 3 * query.top_k + 50 };
    let request = RecallRequest {
        filter: Stored {
            statuses: view.statuses(),
            session: view.filter.session().map(str::to_owned),
            ..Stored::default()
        },
        limit: depth,
        min_score: query.threshold,
        ..engine.recall_request(scope, query.query)
    };
    let now = match query.at {
        Some(at) => at.to_zoned(engine.now().time_zone().clone()),
        None => engine.now(),
    };
    let hits = engine.recall_unlimited(&request, &now).await?.hits;
    let is_complete = hits.len() < depth;
    let visible = without_repeated_turns(access, scope, view, hits, query.top_k).await?;
    let is_finer = view.filter.is_finer_than_scopes();
    if is_finer && !is_complete && visible.len() < query.top_k {
        return Err(Problem::invalid(
            format!("the filter matches too few of the best {MAX_CANDIDATES} memories to be sure"),
            "narrow the query, or name the run_id",
        ));
    }
    Ok(visible)
}

/// Returns the visible hits, without turns that only repeat a memory before them.
async fn without_repeated_turns(
    access: &Mem0Access,
    scope: &Scope,
    view: &MemoryVisibility,
    hits: Vec<Hit>,
    limit: usize,
) -> Result<Vec<(Memory, f64)>, Problem> {
    let mut visible: Vec<(Memory, f64)> = Vec::new();
    for Hit { memory, score, .. } in hits.into_iter().filter(|hit| view.shows(&hit.memory)) {
        if visible.len() >= limit {
            break;
        }
        if memory.kind != Kind::Turn || !is_covered(access, scope, &memory, &visible).await? {
            visible.push((memory, score));
        }
    }
    Ok(visible)
}

/// Returns `true` if a memory of the turn ranks before it, or if no memory extracted from it is still active.
async fn is_covered(
    access: &Mem0Access,
    scope: &Scope,
    turn: &Memory,
    before: &[(Memory, f64)],
) -> Result<bool, Problem> {
    if Mem0Metadata::from_memory(turn).was_known {
        return Ok(before.iter().any(|(memory, _)| memory.kind != Kind::Turn));
    }
    let engine = access.engine();
    let derived = engine.derived_memories(scope, turn.id).await?;
    let derived = engine.get_many(scope, &derived).await?;
    let none_active = derived.iter().all(|memory| memory.status != Status::Active);
    let is_before = |memory: &Memory| before.iter().any(|(earlier, _)| earlier.id == memory.id);
    Ok(!derived.is_empty() && (none_active || derived.iter().any(is_before)))
}
