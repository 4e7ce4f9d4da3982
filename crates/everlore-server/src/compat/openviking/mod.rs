//! Routes of OpenViking: the same tree, by `viking://` uris.
//!
//! Requests carry its headers and get its envelope; in between they pass the same guards as ours. Fields that this
//! server does not use are ignored, because newer clients send more of them. See docs/fs.md.

mod envelope;
mod message;
mod tree;
mod content;
mod search;
mod sessions;
mod resources;

use axum::{
    Router,
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    middleware::{Next, from_fn, from_fn_with_state},
    response::Response,
    routing::{any, delete, get, post},
};

pub(super) use envelope::to_error_envelope;
pub(super) use resources::VikingState;

use crate::{App, Problem, auth::authenticate};

/// Headers of OpenViking, and ours with the same meaning.
const HEADER_ALIASES: [(&str, &str); 2] =
    [("x-openviking-user", "x-everlore-user"), ("x-openviking-actor-peer", "x-everlore-agent")];

/// Returns the routes, behind the same authentication as ours.
pub(super) fn router(app: &App) -> Router<App> {
    routes()
        .route_layer(from_fn(envelope::with_time))
        .route_layer(from_fn_with_state(app.clone(), authenticate))
        .route_layer(from_fn(translate_headers))
}

fn routes() -> Router<App> {
    Router::new()
        .route("/api/v1/fs", delete(tree::remove))
        .route("/api/v1/fs/ls", get(tree::list))
        .route("/api/v1/fs/tree", get(tree::tree))
        .route("/api/v1/fs/stat", get(tree::stat))
        .route("/api/v1/fs/mkdir", post(tree::make_folder))
        .route("/api/v1/content/read", get(content::read))
        .route("/api/v1/content/abstract", get(content::summary))
        .route("/api/v1/content/overview", get(content::overview))
        .route("/api/v1/content/download", get(content::download))
        .route("/api/v1/content/write", post(content::write))
        .route("/api/v1/search/find", post(search::find))
        .route("/api/v1/search/search", post(search::find))
        .route("/api/v1/search/grep", post(search::grep))
        .route("/api/v1/search/glob", post(search::glob))
        .route("/api/v1/resources", post(resources::add))
        .route("/api/v1/resources/temp_upload", post(resources::upload))
        .route("/api/v1/sessions", get(sessions::list).post(sessions::create))
        .route("/api/v1/sessions/{session}", get(sessions::show).delete(sessions::remove))
        .route("/api/v1/sessions/{session}/messages", post(sessions::add))
        .route("/api/v1/sessions/{session}/messages/batch", post(sessions::add_batch))
        .route("/api/v1/sessions/{session}/commit", post(sessions::commit))
        .route("/api/v1/sessions/{session}/context", get(sessions::context))
        .route("/api/v1/tasks/{task}", get(sessions::task))
        .route("/api/v1/system/wait", post(sessions::wait))
        .route("/api/v1/{*rest}", any(async || not_implemented()))
}

/// Returns `true` for a path of OpenViking.
pub(super) fn is_viking_route(path: &str) -> bool {
    path.starts_with("/api/v1/")
}

/// Middleware that translates OpenViking's headers into ours.
async fn translate_headers(mut request: Request, next: Next) -> Response {
    let headers = request.headers_mut();
    if !headers.contains_key(header::AUTHORIZATION)
        && let Some(value) = api_key_as_bearer(headers)
    {
        headers.insert(header::AUTHORIZATION, value);
    }
    for (theirs, ours) in HEADER_ALIASES {
        if let Some(value) = headers.get(theirs).cloned() {
            headers.insert(HeaderName::from_static(ours), value);
        }
    }
    next.run(request).await
}

/// Returns the API key as a bearer token.
fn api_key_as_bearer(headers: &HeaderMap) -> Option<HeaderValue> {
    let mut keys = headers.get_all("x-api-key").iter();
    let (key, None) = (keys.next()?.to_str().ok()?, keys.next()) else { return None };
    HeaderValue::from_str(&format!("Bearer {key}")).ok()
}

fn not_implemented() -> Problem {
    Problem::new(
        StatusCode::NOT_IMPLEMENTED,
        "unimplemented",
        "this part of OpenViking is not supported",
        "docs/fs.md lists the supported routes",
    )
}
