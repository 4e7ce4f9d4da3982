//! Envelope of OpenViking's responses: `{"status":"ok","result":…}` and `{"status":"error","error":{…}}`.

use std::time::Instant;

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Map, Value, json};

use crate::{problem::Problem, response::JsonResponse, trace::BodyWritten};

/// Result of every handler.
pub(super) type VikingResult = Result<VikingResponse, Problem>;

/// Successful response.
pub(super) struct VikingResponse {
    result: Value,
    /// Fields beside the result.
    extra_fields: Map<String, Value>,
    started: Instant,
}

impl VikingResponse {
    /// Returns a result.
    pub(super) fn ok(started: Instant, result: Value) -> VikingResult {
        Ok(Self { result, extra_fields: Map::new(), started })
    }

    /// Returns a page of a list.
    pub(super) fn page(started: Instant, result: Value, has_more: bool) -> VikingResult {
        let extra_fields = Map::from_iter([("has_more".to_owned(), has_more.into())]);
        Ok(Self { result, extra_fields, started })
    }
}

impl IntoResponse for VikingResponse {
    fn into_response(self) -> Response {
        let mut body = self.extra_fields;
        body.insert("status".to_owned(), "ok".into());
        body.insert("result".to_owned(), self.result);
        body.insert("time".to_owned(), self.started.elapsed().as_secs_f64().into());
        JsonResponse::ok(body).into_response()
    }
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
