//! What a request gets back when all went well.

use axum::{
    body::Body,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;

use crate::problem::Problem;

/// The result of every handler.
pub(crate) type ApiResult<T> = Result<JsonResponse<T>, Problem>;

/// A value as JSON, with a status.
pub(crate) struct JsonResponse<T>(pub(crate) StatusCode, pub(crate) T);

impl<T> JsonResponse<T> {
    /// Done.
    pub(crate) fn ok(value: T) -> Self {
        Self(StatusCode::OK, value)
    }
}

impl<T: Serialize> IntoResponse for JsonResponse<T> {
    fn into_response(self) -> Response {
        let Self(status, value) = self;
        match serde_json::to_vec(&value) {
            Ok(bytes) => (status, [(header::CONTENT_TYPE, "application/json")], Body::from(bytes))
                .into_response(),
            Err(error) => Problem::internal(&error).into_response(),
        }
    }
}
