//! Web page: the bundle that `make ui` builds from `ui/`, embedded in the binary.

use axum::{
    Router,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use sha2::{Digest, Sha256};

use crate::{App, PathParam, Problem, token::hex};

/// Content security policy: the page loads its own files and calls its own server; no inline script or style, no eval,
/// and no frame around it.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                   base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// File of the bundle.
struct BundledFile {
    name: &'static str,
    media_type: &'static str,
    content: &'static [u8],
}

macro_rules! bundle {
    ($($name:literal: $media_type:literal),* $(,)?) => {
        [$(BundledFile {
            name: $name,
            media_type: $media_type,
            content: include_bytes!(concat!("page/ui/", $name)),
        }),*]
    };
}

static BUNDLE: [BundledFile; 7] = bundle! {
    "index.html": "text/html; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "app.css": "text/css; charset=utf-8",
    "chart.js": "text/javascript; charset=utf-8",
    "graph.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "licenses.txt": "text/plain; charset=utf-8",
};

/// Returns the routes of the page and its files. The page keeps its own paths behind `#`.
pub(crate) fn routes() -> Router<App> {
    Router::new().route("/", get(index)).route("/ui/{file}", get(file))
}

async fn index(headers: HeaderMap) -> Response {
    serve(&BUNDLE[0], &headers)
}

async fn file(PathParam(name): PathParam, headers: HeaderMap) -> Result<Response, Problem> {
    let found = BUNDLE.iter().find(|file| file.name == name);
    found.map(|file| serve(file, &headers)).ok_or_else(|| {
        Problem::new(
            StatusCode::NOT_FOUND,
            "no_route",
            "the page has no such file",
            "open / for the page",
        )
    })
}

/// Answers 304 if the browser has this version: names stay the same when the content changes.
fn serve(file: &'static BundledFile, headers: &HeaderMap) -> Response {
    let etag = format!("\"{}\"", &hex(&Sha256::digest(file.content))[..32]);
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let common = [
        (header::ETAG, HeaderValue::from_str(&etag).unwrap_or(HeaderValue::from_static("\"\""))),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CSP)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    if known == Some(etag.as_str()) {
        return (StatusCode::NOT_MODIFIED, common).into_response();
    }
    (common, [(header::CONTENT_TYPE, file.media_type)], file.content).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_no_inline_script_or_style_and_names_only_bundled_files() {
        let html = std::str::from_utf8(BUNDLE[0].content).unwrap();
        assert!(!html.contains("<style") && !html.contains("style=") && !html.contains(" on"));
        for reference in html.split("/ui/").skip(1) {
            let name = reference.split('"').next().unwrap();
            assert!(BUNDLE.iter().any(|file| file.name == name), "{name}");
        }
        assert_eq!(html.matches("<script").count(), html.matches("src=\"/ui/").count());
    }
}
