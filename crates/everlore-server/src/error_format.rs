//! In whose words a problem is told: clients of other systems read their own shape, whatever it was that refused them.

use axum::{
    extract::{MatchedPath, Request},
    http::Uri,
    middleware::Next,
    response::Response,
};

use crate::compat;

/// Tells what goes wrong further in as the clients of the route read it.
pub(crate) async fn format_errors(request: Request, next: Next) -> Response {
    let translate = formatter_for(request.extensions().get::<MatchedPath>(), request.uri());
    translate(next.run(request).await)
}

/// How problems of a route are told. A path that leads nowhere is judged by its beginning.
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
