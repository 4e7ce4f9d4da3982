//! Request tracing: id, metrics, log line and audit line of every request, and the body of an error, which has the id.

use std::time::{Duration, Instant};

use axum::{
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use everlore::internal::system_now;
use tokio::sync::watch;
use uuid::Uuid;

use crate::{
    Access, App, BoxFuture, Problem,
    audit::AuditRecord,
    offload::{is_large, offload},
};

/// Header with the id of a request.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Methods that are logged by name.
const LOGGED_METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// Longest request id that a client may choose.
const MAX_ID_BYTES: usize = 64;

/// Marks an error response whose body is already written, in the shape of another protocol.
#[derive(Clone, Copy)]
pub(crate) struct BodyWritten;

/// Presence of the client, so that work done for it alone can stop when it disconnects.
#[derive(Clone)]
pub(crate) struct ClientPresence(
    #[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "only the proxy stops early"))]
    watch::Receiver<()>,
);

#[cfg(feature = "remote")]
impl ClientPresence {
    /// Completes when the client disconnects before it is answered.
    pub(crate) async fn disconnected(&mut self) {
        // Nothing is ever sent: the channel closes with the connection.
        while self.0.changed().await.is_ok() {}
    }
}

/// Runs a request in a task of its own: a client that disconnects does not cancel a write that has begun, and a panic
/// becomes a 500 for this request alone.
pub(crate) async fn trace_request(
    State(app): State<App>,
    mut request: Request,
    next: Next,
) -> Response {
    let (_connected, presence) = watch::channel(());
    request.extensions_mut().insert(ClientPresence(presence));
    let is_large = is_large(request.headers());
    let answered: BoxFuture<'static, Response> = Box::pin(run_traced(app.clone(), request, next));
    let answered = if is_large { Box::pin(offload(&app, answered)) } else { answered };
    let response = tokio::spawn(answered).await;
    response.unwrap_or_else(|error| {
        let problem = Problem::internal(&error);
        let body = problem.body("unknown");
        let mut response = problem.into_response();
        *response.body_mut() = body;
        response
    })
}

async fn run_traced(app: App, request: Request, next: Next) -> Response {
    let (started, trace, _in_flight) =
        (Instant::now(), RequestTrace::new(&request), app.metrics.start_request());
    let mut response = next.run(request).await;
    let problem = response.extensions_mut().remove::<Problem>();
    let is_written = response.extensions_mut().remove::<BodyWritten>().is_some();
    if let (Some(problem), false) = (&problem, is_written) {
        *response.body_mut() = problem.body(&trace.id);
    }
    set_response_headers(response.headers_mut(), &trace.id);
    trace.record(&app, &response, problem.map(|problem| problem.code), started.elapsed());
    response
}

/// Parts of a request that may be logged.
struct RequestTrace {
    id: String,
    method: &'static str,
    route: String,
}

impl RequestTrace {
    fn new(request: &Request) -> Self {
        let id = client_request_id(request.headers()).unwrap_or_else(|| Uuid::now_v7().to_string());
        let method = LOGGED_METHODS.into_iter().find(|known| *known == request.method().as_str());
        let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
        // An unknown path or method may contain anything, so neither is logged.
        Self { id, method: method.unwrap_or("-"), route: route.unwrap_or_else(|| "-".to_owned()) }
    }

    fn record(self, app: &App, response: &Response, code: Option<&str>, latency: Duration) {
        let Self { id, method, route } = self;
        let (status, ms) = (response.status().as_u16(), latency.as_millis() as u64);
        let access = response.extensions().get::<Access>();
        let caller = access.map(|access| access.caller.name.as_str());
        app.metrics.finish_request(method, &route, status, latency);
        tracing::info!(request = id, caller, method, route, status, code, ms, "answered");
        if is_audited(&route, status) {
            app.audit.write(&AuditRecord {
                at: system_now(),
                request: &id,
                caller,
                agent: access.map(|access| access.scope.agent()),
                user: access.map(|access| access.scope.user()),
                method,
                route: &route,
                status,
                code,
            });
        }
    }
}

/// Returns `true` for routes that reach memory, and for refused requests.
fn is_audited(route: &str, status: u16) -> bool {
    let is_plain = ["-", "/health", "/ready", "/metrics", "/v1/openapi.json"].contains(&route)
        || route.starts_with("/docs");
    !is_plain || matches!(status, 401 | 403 | 429)
}

/// Returns the client's own request id if it is safe in any log.
fn client_request_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(&REQUEST_ID)?.to_str().ok()?;
    let is_plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    (is_plain && (1..=MAX_ID_BYTES).contains(&id.len())).then(|| id.to_owned())
}

/// Keeps responses private: no cache stores them, no page embeds them, no browser guesses their type.
fn set_response_headers(headers: &mut HeaderMap, id: &str) {
    if let Ok(id) = HeaderValue::from_str(id) {
        // A provider's own id stays: its support asks for it.
        headers.entry(REQUEST_ID).or_insert(id);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_ids_of_callers_are_taken_over() {
        let id = |value: &'static str| {
            client_request_id(&HeaderMap::from_iter([(
                REQUEST_ID,
                HeaderValue::from_static(value),
            )]))
        };
        assert_eq!(id("turn-7.a_B").as_deref(), Some("turn-7.a_B"));
        for bad in ["", "a b", "a\tb", "a\"b", "<b>"] {
            assert_eq!(id(bad), None, "{bad:?}");
        }
        assert_eq!(client_request_id(&HeaderMap::new()), None);
    }
}
