//! Map of the memories by their vectors.

use axum::{Router, routing::get};
use everlore::{
    Kind,
    engine::{MapRequest, VectorMap},
    store::MemoryFilter,
    types::Status,
};

use crate::{ApiResult, App, JsonResponse, QueryParams, Reader};

/// Most points of a map: more are not told apart on a screen.
const MAX_POINTS: usize = 10_000;

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/map", get(map))
}

/// Place the memories in a plane by their vectors: close ones mean about the same
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/map", tag = "map",
    params(
        ("kind" = Option<Vec<String>>, Query, description = "Kinds; all but turns and records by default"),
        ("status" = Option<Vec<String>>, Query, description = "Statuses; active and superseded by default"),
        ("limit" = Option<usize>, Query, description = "Most points, the newest memories first; 10000 by default and at most"),
    ),
    responses((status = 200, description = "Points, the newest first", body = VectorMap)),
))]
pub(super) async fn map(Reader(access): Reader, mut params: QueryParams) -> ApiResult<VectorMap> {
    let kinds = or_default(params.repeated("kind")?, statement_kinds);
    let statuses =
        or_default(params.repeated("status")?, || vec![Status::Active, Status::Superseded]);
    let limit = params.in_range("limit", 1..=MAX_POINTS)?.unwrap_or(MAX_POINTS);
    params.finish()?;
    let filter = MemoryFilter { kinds, statuses, ..MemoryFilter::default() };
    let request = MapRequest { filter, limit };
    Ok(JsonResponse::ok(access.engine().vector_map(&access.scope, &request).await?))
}

fn or_default<T>(given: Vec<T>, default: impl FnOnce() -> Vec<T>) -> Vec<T> {
    if given.is_empty() { default() } else { given }
}

fn statement_kinds() -> Vec<Kind> {
    Kind::without_records().into_iter().filter(|kind| *kind != Kind::Turn).collect()
}
