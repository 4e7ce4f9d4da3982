//! Routes of mem0: those of its open-source server, and those of its hosted service that clients use.
//!
//! A `user_id` is our user, an `agent_id` our agent, a `run_id` a session; docs/mem0.md has the details. Requests pass
//! the same guards as ours; errors are `{"detail": …}`.

mod access;
mod filter;
mod filter_parser;
mod fields;
mod memory_json;
mod add;
mod search;
mod memories;
mod change;
mod status;
#[cfg(test)]
mod api_doc;
#[cfg(test)]
mod filter_tests;

#[cfg(test)]
pub(super) use self::api_doc::openapi;
pub(super) use self::memories::{CachedList, MAX_CACHED_LISTS};

use axum::{
    Router,
    extract::{FromRequestParts, Path},
    http::{HeaderValue, StatusCode, header, request::Parts},
    middleware::from_fn_with_state,
    response::Response,
    routing::{delete, get, post, put},
};
use serde_json::json;

use crate::{App, Problem, trace::BodyWritten};

/// Returns the routes behind mem0's authentication.
pub(super) fn router(app: &App) -> Router<App> {
    routes().route_layer(from_fn_with_state(app.clone(), access::authenticate))
}

fn routes() -> Router<App> {
    Router::new()
        .route("/v1/ping/", get(status::ping))
        .route("/v3/memories/add/", post(add::add))
        .route("/v3/memories/search/", post(search::search))
        .route("/v3/memories/", post(memories::list))
        .route("/v2/memories/search/", post(search::search_v2))
        .route("/v2/memories/", post(memories::list_v2))
        .route("/v1/memories/search/", post(search::search_v2))
        .route("/v1/memories/", get(memories::list_v1).post(add::add).delete(change::delete_all))
        .route("/v1/memories/{id}/", get(memories::show).put(change::update).delete(change::delete))
        .route("/v1/memories/{id}/history/", get(memories::history))
        .route("/v1/batch/", put(change::update_batch).delete(change::delete_batch))
        .route("/v1/feedback/", post(change::feedback))
        .route("/v1/entities/", get(status::entities))
        .route("/v2/entities/{kind}/{id}/", delete(change::delete_entity))
        .route("/v2/entities/user/{id}/profile/", get(status::profile))
        .route("/v1/event/{id}/", get(status::event))
        .route("/v1/events/", get(status::events))
        .route("/v1/exports/", post(status::make_export))
        .route("/v1/exports/get/", post(status::make_export))
        .route("/v1/summary/", post(status::summarize))
        .route("/memories", get(memories::list_open).post(add::add).delete(change::delete_all))
        .route("/memories/{id}", get(memories::show).put(change::update).delete(change::delete))
        .route("/memories/{id}/history", get(memories::history))
        .route("/search", post(search::search_open))
        .route("/reset", post(change::reset))
}

/// Returns `true` for a route of mem0: the hosted service's end with a slash, the open-source server's have these
/// roots.
pub(super) fn is_mem0_route(route: &str) -> bool {
    let first = route.split('/').nth(1).unwrap_or_default();
    route.len() > 1 && route.ends_with('/') || ["memories", "search", "reset"].contains(&first)
}

/// Writes a problem in mem0's shape.
pub(super) fn to_detail_response(mut response: Response) -> Response {
    let Some(problem) = response.extensions().get::<Problem>() else { return response };
    let detail = format!("{}: {}", problem.title, problem.advice);
    *response.body_mut() = json!({ "detail": detail }).to_string().into();
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    if response.status() == StatusCode::BAD_REQUEST {
        // The open-source server answers 422 to what does not fit; clients of both treat it alike.
        *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    }
    response.extensions_mut().insert(BodyWritten);
    response
}

/// Two path parameters, decoded.
pub(crate) struct PathPair(String, String);

impl FromRequestParts<App> for PathPair {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let path = Path::<(String, String)>::from_request_parts(parts, app).await;
        path.map(|Path((one, other))| Self(one, other)).map_err(|error| {
            let title = format!("the path cannot be read: {error}");
            Problem::invalid(title, "encode it as UTF-8 with % signs")
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn every_route_is_described_and_every_description_is_routed() {
        let routed: BTreeSet<&str> = include_str!("mod.rs")
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap()
            .split(".route(")
            .skip(1)
            .map(|rest| rest.split('"').nth(1).unwrap())
            .collect();
        let api = super::openapi();
        let described: BTreeSet<&str> = api.paths.paths.keys().map(String::as_str).collect();
        assert_eq!(routed, described);
        assert!(routed.into_iter().all(super::is_mem0_route));
    }
}
