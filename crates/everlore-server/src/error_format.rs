//! Error shapes by route: clients of other systems get errors in their own shape, whichever layer refused them.
//!
//! A refusal is an empty response with a [`Problem`](crate::problem::Problem) attached. For OpenAI and Anthropic,
//! `format_errors` sets `Problem::error_format`, and `trace` writes the body in that shape, as it does for plain problems.
//! The shapes of mem0 and OpenViking (`compat/`) need no request id: `format_errors` writes their bodies itself and marks
//! the response with `trace::BodyWritten`.

use axum::{
    extract::{MatchedPath, Request},
    http::Uri,
    middleware::Next,
    response::Response,
};

use crate::compat;

/// Rewrites errors of the inner layers into the shape of the route's clients.
pub(crate) async fn format_errors(request: Request, next: Next) -> Response {
    let translate = formatter_for(request.extensions().get::<MatchedPath>(), request.uri());
    translate(next.run(request).await)
}

/// Returns the formatter of a route's errors; an unknown path is judged by its prefix.
fn formatter_for(route: Option<&MatchedPath>, uri: &Uri) -> fn(Response) -> Response {
    let path = route.map_or(uri.path(), MatchedPath::as_str);
    match path {
        #[cfg(feature = "remote")]
        path if path.starts_with("/anthropic/") => crate::proxy::as_anthropic,
        #[cfg(feature = "remote")]
        path if crate::proxy::is_openai(path) => crate::proxy::as_openai,
        _ => compat::error_formatter(route, uri).unwrap_or(|response| response),
    }
}
