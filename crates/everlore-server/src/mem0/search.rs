//! Searching, in the scopes that a filter may mean.

use everlore::{
    Hit, Kind, Memory, RecallRequest, Scope, Status, store::Filter as Stored, types::Timestamp,
};
use serde_json::{Map, Value, json};

use super::{
    asked::Asked,
    fields::Fields,
    filter::Dialect,
    item::{Marks, View, item},
    look::{MAX_RESULTS, picked, view, with_ignored},
};
use crate::{
    answer::{Answer, Answered},
    auth::Role,
    body::Json,
    problem::Problem,
};

/// Memories that are looked at where the filter asks for what the index does not know.
const DEPTH: usize = 10_000;

/// Search memories, for mem0's clients
#[utoipa::path(post, path = "/v3/memories/search/", tag = "mem0", operation_id = "search", request_body(content = Object, example = json!({"query": "Where does Ana live?", "filters": {"AND": [{"user_id": "ana"}, {"created_at": {"gte": "2026-01-01"}}]}, "top_k": 5})), responses((status = 200, description = "The best memories, each with its score", body = Object)))]
pub(super) async fn search(
    asked: Asked,
    Json(body, _): Json<Map<String, Value>>,
) -> Answered<Value> {
    let (results, ignored) = found(asked, Fields::of(body), Dialect::Hosted).await?;
    Ok(Answer::ok(with_ignored(json!({ "results": results }), &ignored)))
}

/// The same, by the path of the open-source server, where unknown fields of filters are metadata
#[utoipa::path(post, path = "/search", tag = "mem0", operation_id = "search_open", request_body(content = Object, example = json!({"query": "Where does Ana live?", "filters": {"AND": [{"user_id": "ana"}, {"created_at": {"gte": "2026-01-01"}}]}, "top_k": 5})), responses((status = 200, description = "The best memories", body = Object)))]
pub(super) async fn search_open(
    asked: Asked,
    Json(body, _): Json<Map<String, Value>>,
) -> Answered<Value> {
    let (results, ignored) = found(asked, Fields::of(body), Dialect::Open).await?;
    Ok(Answer::ok(with_ignored(json!({ "results": results }), &ignored)))
}

/// The same, as older clients read it: a list, unless `output_format` is `v1.1`
#[utoipa::path(post, path = "/v2/memories/search/", tag = "mem0", operation_id = "search_v2", request_body(content = Object, example = json!({"query": "Where does Ana live?", "filters": {"AND": [{"user_id": "ana"}, {"created_at": {"gte": "2026-01-01"}}]}, "top_k": 5})), responses((status = 200, description = "The best memories", body = Value)))]
pub(super) async fn search_v2(
    asked: Asked,
    Json(body, _): Json<Map<String, Value>>,
) -> Answered<Value> {
    let mut fields = Fields::of(body);
    let is_wrapped = fields.text("output_format")?.as_deref() == Some("v1.1");
    let (results, _) = found(asked, fields, Dialect::Hosted).await?;
    Ok(Answer::ok(if is_wrapped { json!({ "results": results }) } else { json!(results) }))
}

/// The same, by the first path
#[utoipa::path(post, path = "/v1/memories/search/", tag = "mem0", operation_id = "search_v1", request_body(content = Object, example = json!({"query": "Where does Ana live?", "filters": {"AND": [{"user_id": "ana"}, {"created_at": {"gte": "2026-01-01"}}]}, "top_k": 5})), responses((status = 200, description = "The best memories", body = Value)))]
pub(super) async fn search_v1(asked: Asked, body: Json<Map<String, Value>>) -> Answered<Value> {
    search_v2(asked, body).await
}

async fn found(
    asked: Asked,
    mut fields: Fields,
    dialect: Dialect,
) -> Result<(Vec<Value>, Vec<String>), Problem> {
    asked.check(Role::Read)?;
    let query = fields.text("query")?.filter(|query| !query.trim().is_empty());
    let query =
        query.ok_or_else(|| Problem::invalid("`query` is empty", "say what to look for"))?;
    // Older clients call it `limit`.
    let name = if fields.has("limit") { "limit" } else { "top_k" };
    let top_k = fields.count(name, 10, MAX_RESULTS)?;
    let threshold = fields.share("threshold")?.unwrap_or(0.0);
    let only = fields.texts("fields")?;
    let at = fields.moment("reference_date")?.map(|(_, last)| last);
    let view = view(&asked, &mut fields, dialect)?;
    fields.take("output_format");
    let ignored = fields.end()?;
    let mut hits = Vec::new();
    for scope in asked.meant(&view.filter).await? {
        let asking = Asking { query: &query, top_k, threshold, at };
        hits.extend(in_scope(&asked, &scope, &view, &asking).await?);
    }
    hits.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    hits.truncate(top_k);
    let shown = |(memory, score): &(Memory, f64)| {
        let mut item = item(memory, asked.home());
        item["score"] = json!(score);
        picked(item, only.as_deref())
    };
    Ok((hits.iter().map(shown).collect(), ignored))
}

struct Asking<'a> {
    query: &'a str,
    top_k: usize,
    threshold: f64,
    at: Option<Timestamp>,
}

/// The best of one scope that a view shows.
async fn in_scope(
    asked: &Asked,
    scope: &Scope,
    view: &View,
    asking: &Asking<'_>,
) -> Result<Vec<(Memory, f64)>, Problem> {
    let engine = asked.engine();
    let depth = if view.filter.is_finer_than_scopes() { DEPTH } else { 3 * asking.top_k + 50 };
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
    let hits = engine.recall_deep(&request, &now).await?.hits;
    let is_all = hits.len() < depth;
    let shown = told_once(asked, scope, view, hits, asking.top_k).await?;
    match is_all || shown.len() >= asking.top_k {
        true => Ok(shown),
        false if view.filter.is_finer_than_scopes() => Err(Problem::invalid(
            format!("the filter lets too few of the best {DEPTH} memories through to be sure"),
            "narrow the question, or name the run_id",
        )),
        false => Ok(shown),
    }
}

/// What a view shows of the hits, without turns that only say again what a memory before them says.
async fn told_once(
    asked: &Asked,
    scope: &Scope,
    view: &View,
    hits: Vec<Hit>,
    most: usize,
) -> Result<Vec<(Memory, f64)>, Problem> {
    let mut shown: Vec<(Memory, f64)> = Vec::new();
    for Hit { memory, score, .. } in hits.into_iter().filter(|hit| view.shows(&hit.memory)) {
        if shown.len() >= most {
            break;
        }
        if memory.kind != Kind::Turn || !is_told(asked, scope, &memory, &shown).await? {
            shown.push((memory, score));
        }
    }
    Ok(shown)
}

/// Whether a turn's memory stands before it, or whether nothing that was drawn from it holds any more.
async fn is_told(
    asked: &Asked,
    scope: &Scope,
    turn: &Memory,
    before: &[(Memory, f64)],
) -> Result<bool, Problem> {
    if Marks::of(turn).was_known {
        return Ok(before.iter().any(|(memory, _)| memory.kind != Kind::Turn));
    }
    let engine = asked.engine();
    let drawn = engine.drawn_from(scope, turn.id).await?;
    let drawn = engine.store().get(scope, &drawn).await?;
    let drawn: Vec<&Memory> = drawn.iter().flatten().collect();
    let none_holds = drawn.iter().all(|memory| memory.status != Status::Active);
    let is_before = |memory: &&Memory| before.iter().any(|(earlier, _)| earlier.id == memory.id);
    Ok(!drawn.is_empty() && (none_holds || drawn.iter().any(is_before)))
}
