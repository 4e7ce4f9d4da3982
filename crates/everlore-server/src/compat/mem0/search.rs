//! Searching, in the scopes that a filter may mean.

use everlore::{
    Hit, Kind, Memory, RecallRequest, Scope, Status, store::MemoryFilter as Stored,
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
use crate::{
    auth::KeyRole,
    body::JsonBody,
    problem::Problem,
    response::{ApiResult, JsonResponse},
};

/// Memories that are looked at where the filter asks for what the index does not know.
const MAX_CANDIDATES: usize = 10_000;

/// Search memories, for mem0's clients
#[utoipa::path(post, path = "/v3/memories/search/", tag = "mem0", operation_id = "search", request_body(content = Object, example = json!({"query": "Where does Ana live?", "filters": {"AND": [{"user_id": "ana"}, {"created_at": {"gte": "2026-01-01"}}]}, "top_k": 5})), responses((status = 200, description = "The best memories, each with its score", body = Object)))]
pub(super) async fn search(
    asked: Mem0Access,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    let (results, ignored) =
        run_search(asked, RequestFields::from_body(body), FilterDialect::Hosted).await?;
    Ok(JsonResponse::ok(with_ignored(json!({ "results": results }), &ignored)))
}

/// The same, by the path of the open-source server, where unknown fields of filters are metadata
#[utoipa::path(post, path = "/search", tag = "mem0", operation_id = "search_open", request_body(content = Object, example = json!({"query": "Where does Ana live?", "filters": {"AND": [{"user_id": "ana"}, {"created_at": {"gte": "2026-01-01"}}]}, "top_k": 5})), responses((status = 200, description = "The best memories", body = Object)))]
pub(super) async fn search_open(
    asked: Mem0Access,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    let (results, ignored) =
        run_search(asked, RequestFields::from_body(body), FilterDialect::OpenSource).await?;
    Ok(JsonResponse::ok(with_ignored(json!({ "results": results }), &ignored)))
}

/// The same, as older clients read it: a list, unless `output_format` is `v1.1`
#[utoipa::path(post, path = "/v2/memories/search/", tag = "mem0", operation_id = "search_v2", request_body(content = Object, example = json!({"query": "Where does Ana live?", "filters": {"AND": [{"user_id": "ana"}, {"created_at": {"gte": "2026-01-01"}}]}, "top_k": 5})), responses((status = 200, description = "The best memories", body = Value)))]
pub(super) async fn search_v2(
    asked: Mem0Access,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    let mut fields = RequestFields::from_body(body);
    let is_wrapped = fields.text("output_format")?.as_deref() == Some("v1.1");
    let (results, _) = run_search(asked, fields, FilterDialect::Hosted).await?;
    Ok(JsonResponse::ok(if is_wrapped { json!({ "results": results }) } else { json!(results) }))
}

/// The same, by the first path
#[utoipa::path(post, path = "/v1/memories/search/", tag = "mem0", operation_id = "search_v1", request_body(content = Object, example = json!({"query": "Where does Ana live?", "filters": {"AND": [{"user_id": "ana"}, {"created_at": {"gte": "2026-01-01"}}]}, "top_k": 5})), responses((status = 200, description = "The best memories", body = Value)))]
pub(super) async fn search_v1(
    asked: Mem0Access,
    body: JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    search_v2(asked, body).await
}

async fn run_search(
    asked: Mem0Access,
    mut fields: RequestFields,
    dialect: FilterDialect,
) -> Result<(Vec<Value>, Vec<String>), Problem> {
    asked.require_role(KeyRole::Read)?;
    let query = fields.text("query")?.filter(|query| !query.trim().is_empty());
    let query =
        query.ok_or_else(|| Problem::invalid("`query` is empty", "say what to look for"))?;
    // Older clients call it `limit`.
    let name = if fields.has("limit") { "limit" } else { "top_k" };
    let top_k = fields.count(name, 10, MAX_RESULTS)?;
    let threshold = fields.fraction("threshold")?.unwrap_or(0.0);
    let only = fields.strings("fields")?;
    let at = fields.time_range("reference_date")?.map(|(_, last)| last);
    let view = parse_visibility(&asked, &mut fields, dialect)?;
    fields.take("output_format");
    let ignored = fields.finish()?;
    let mut hits = Vec::new();
    for scope in asked.scopes_for(&view.filter).await? {
        let asking = Mem0Query { query: &query, top_k, threshold, at };
        hits.extend(search_scope(&asked, &scope, &view, &asking).await?);
    }
    hits.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    hits.truncate(top_k);
    let shown = |(memory, score): &(Memory, f64)| {
        let mut item = to_json(memory, asked.default_scope());
        item["score"] = json!(score);
        select_fields(item, only.as_deref())
    };
    Ok((hits.iter().map(shown).collect(), ignored))
}

struct Mem0Query<'a> {
    query: &'a str,
    top_k: usize,
    threshold: f64,
    at: Option<Timestamp>,
}

/// The best of one scope that a view shows.
async fn search_scope(
    asked: &Mem0Access,
    scope: &Scope,
    view: &MemoryVisibility,
    asking: &Mem0Query<'_>,
) -> Result<Vec<(Memory, f64)>, Problem> {
    let engine = asked.engine();
    let depth =
        if view.filter.is_finer_than_scopes() { MAX_CANDIDATES } else { 3 * asking.top_k + 50 };
    let request = RecallRequest {
        filter: Stored {
            statuses: view.statuses(),
            session: view.filter.session().map(str::to_owned),
            ..Stored::default()
        },
        limit: depth,
        min_score: asking.threshold,
        ..engine.request(scope, asking.query)
    };
    let now = match asking.at {
        Some(at) => at.to_zoned(engine.now().time_zone().clone()),
        None => engine.now(),
    };
    let hits = engine.recall_unlimited(&request, &now).await?.hits;
    let is_all = hits.len() < depth;
    let shown = without_repeated_turns(asked, scope, view, hits, asking.top_k).await?;
    match is_all || shown.len() >= asking.top_k {
        true => Ok(shown),
        false if view.filter.is_finer_than_scopes() => Err(Problem::invalid(
            format!(
                "the filter lets too few of the best {MAX_CANDIDATES} memories through to be sure"
            ),
            "narrow the question, or name the run_id",
        )),
        false => Ok(shown),
    }
}

/// What a view shows of the hits, without turns that only say again what a memory before them says.
async fn without_repeated_turns(
    asked: &Mem0Access,
    scope: &Scope,
    view: &MemoryVisibility,
    hits: Vec<Hit>,
    most: usize,
) -> Result<Vec<(Memory, f64)>, Problem> {
    let mut shown: Vec<(Memory, f64)> = Vec::new();
    for Hit { memory, score, .. } in hits.into_iter().filter(|hit| view.shows(&hit.memory)) {
        if shown.len() >= most {
            break;
        }
        if memory.kind != Kind::Turn || !is_covered(asked, scope, &memory, &shown).await? {
            shown.push((memory, score));
        }
    }
    Ok(shown)
}

/// Whether a turn's memory stands before it, or whether nothing that was drawn from it holds any more.
async fn is_covered(
    asked: &Mem0Access,
    scope: &Scope,
    turn: &Memory,
    before: &[(Memory, f64)],
) -> Result<bool, Problem> {
    if Mem0Metadata::from_memory(turn).was_known {
        return Ok(before.iter().any(|(memory, _)| memory.kind != Kind::Turn));
    }
    let engine = asked.engine();
    let drawn = engine.derived_memories(scope, turn.id).await?;
    let drawn = engine.get_many(scope, &drawn).await?;
    let none_holds = drawn.iter().all(|memory| memory.status != Status::Active);
    let is_before = |memory: &Memory| before.iter().any(|(earlier, _)| earlier.id == memory.id);
    Ok(!drawn.is_empty() && (none_holds || drawn.iter().any(is_before)))
}
