//! API documentation page: static markup, style and script, with nothing from other hosts.

use axum::{
    Router,
    http::{HeaderName, header},
    response::IntoResponse,
    routing::get,
};

use crate::App;

/// Content security policy: the page may load its own files and call its own server, and nothing else.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const CONTENT_SECURITY_POLICY: HeaderName = header::CONTENT_SECURITY_POLICY;

/// Returns the routes of the page and its files.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route(
            "/docs",
            get(async || static_file("text/html; charset=utf-8", include_str!("page/index.html"))),
        )
        .route(
            "/docs/page.css",
            get(async || static_file("text/css; charset=utf-8", include_str!("page/page.css"))),
        )
        .route(
            "/docs/page.js",
            get(async || {
                static_file("text/javascript; charset=utf-8", include_str!("page/page.js"))
            }),
        )
}

fn static_file(kind: &'static str, text: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, kind), (CONTENT_SECURITY_POLICY, CSP)], text)
}
