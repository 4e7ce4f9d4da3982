//! Envelope of OpenViking's responses: `{"status":"ok","result":…}` and `{"status":"error","error":{…}}`.

use std::time::Instant;

use axum::{
    Extension,
    body::Body,
    extract::Request,
    http::{HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use everlore::internal::text::suspect::mark_suspect_json;
use serde_json::{Map, Value, json};

use crate::{JsonResponse, Problem, trace::BodyWritten};

/// Result of every handler.
pub(super) type VikingResult = Result<VikingResponse, Problem>;

/// Fields of a successful response; [`with_time`] completes and writes them.
#[derive(Clone)]
pub(super) struct VikingResponse(Map<String, Value>);

impl VikingResponse {
    /// Returns a result, with marks on texts that read like instructions: clients put them into prompts.
    pub(super) fn ok(mut result: Value) -> VikingResult {
        mark_suspect_json(&mut result);
        let fields = [("status".to_owned(), "ok".into()), ("result".to_owned(), result)];
        Ok(Self(Map::from_iter(fields)))
    }

    /// Returns a page of a list.
    pub(super) fn page(result: Value, has_more: bool) -> VikingResult {
        let mut page = Self::ok(result)?;
        page.0.insert("has_more".to_owned(), has_more.into());
        Ok(page)
    }
}

impl IntoResponse for VikingResponse {
    fn into_response(self) -> Response {
        Extension(self).into_response()
    }
}

/// Writes the body of a successful response, with the seconds that it took.
pub(super) async fn with_time(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let mut response = next.run(request).await;
    let Some(VikingResponse(mut body)) = response.extensions_mut().remove() else {
        return response;
    };
    body.insert("time".to_owned(), started.elapsed().as_secs_f64().into());
    let written = JsonResponse::ok(body).into_response();
    response.headers_mut().extend(written.headers().clone());
    *response.body_mut() = written.into_body();
    response
}

/// Writes a problem in OpenViking's shape.
pub(in crate::compat) fn to_error_envelope(mut response: Response) -> Response {
    let Some(problem) = response.extensions().get::<Problem>() else { return response };
    let (status, code) = error_code(problem.status);
    let message = format!("{}: {}", problem.title, problem.advice);
    // The client builds its message about a missing entry from these.
    let details = json!({ "resource": problem.title, "type": "uri", "reason": problem.advice });
    let body = json!({
        "status": "error",
        "error": { "code": code, "message": message, "details": details },
    });
    *response.status_mut() = status;
    *response.body_mut() = Body::from(body.to_string());
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response.extensions_mut().insert(BodyWritten);
    response
}

fn error_code(status: StatusCode) -> (StatusCode, &'static str) {
    let code = match status {
        StatusCode::NOT_FOUND => "NOT_FOUND",
        StatusCode::UNAUTHORIZED => "UNAUTHENTICATED",
        StatusCode::FORBIDDEN => "PERMISSION_DENIED",
        StatusCode::CONFLICT => "CONFLICT",
        StatusCode::TOO_MANY_REQUESTS => "RESOURCE_EXHAUSTED",
        StatusCode::NOT_IMPLEMENTED => "UNIMPLEMENTED",
        StatusCode::REQUEST_TIMEOUT => "DEADLINE_EXCEEDED",
        StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE => "UNAVAILABLE",
        StatusCode::UNPROCESSABLE_ENTITY => return (StatusCode::BAD_REQUEST, "INVALID_ARGUMENT"),
        status if status.is_client_error() => "INVALID_ARGUMENT",
        _ => "INTERNAL",
    };
    (status, code)
}
