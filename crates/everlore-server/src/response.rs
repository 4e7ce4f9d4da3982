//! Successful responses: a value as JSON with a status.

use axum::{
    body::Body,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;

use crate::problem::Problem;

/// Result of every handler that answers with JSON.
pub(crate) type ApiResult<T> = Result<JsonResponse<T>, Problem>;

/// Value sent as JSON with a status.
pub(crate) struct JsonResponse<T>(pub(crate) StatusCode, pub(crate) T);

impl<T> JsonResponse<T> {
    /// Returns a response with status 200.
    pub(crate) fn ok(value: T) -> Self {
        Self(StatusCode::OK, value)
    }
}

impl<T: Serialize> IntoResponse for JsonResponse<T> {
    fn into_response(self) -> Response {
        to_response(self.0, serde_json::to_vec(&self.1))
    }
}

fn to_response(status: StatusCode, json: serde_json::Result<Vec<u8>>) -> Response {
    match json {
        Ok(bytes) => (status, [(header::CONTENT_TYPE, "application/json")], Body::from(bytes))
            .into_response(),
        Err(error) => Problem::internal(&error).into_response(),
    }
}
