//! Models that clients can name: the provider's and ours.

use axum::{
    body::Body,
    http::header,
    response::{IntoResponse, Response},
};
use everlore::internal::llm::{ClientProtocol, Upstream, UpstreamResponse};
use http_body_util::{BodyExt, Full, Limited};
use serde_json::{Value, json};

use super::{embeddings::BUILTIN_MODEL, stream::client_response};
use crate::{problem::Problem, response::JsonResponse};

/// Name by which clients ask for the configured model.
pub(super) const CONFIGURED_MODEL: &str = "everlore";

/// Longest model list; real ones are far shorter.
const MAX_LIST_BYTES: usize = 8 << 20;

/// Lists our models in the shape of a protocol; the configured one only if there is one.
pub(super) fn own_models(protocol: ClientProtocol, upstream: Option<&Upstream>) -> Vec<Value> {
    let openai =
        |id: &str| json!({ "id": id, "object": "model", "created": 0, "owned_by": "everlore" });
    let configured = upstream.filter(|upstream| !upstream.model().is_empty());
    match protocol {
        ClientProtocol::Openai => configured
            .map(|_| openai(CONFIGURED_MODEL))
            .into_iter()
            .chain([openai(BUILTIN_MODEL)])
            .collect(),
        ClientProtocol::Anthropic => {
            let name = |upstream: &Upstream| {
                format!("{} (the model of everlore's settings)", upstream.model())
            };
            let created_at = "1970-01-01T00:00:00Z";
            let model = |upstream| json!({ "type": "model", "id": CONFIGURED_MODEL, "display_name": name(upstream), "created_at": created_at });
            configured.map(model).into_iter().collect()
        }
    }
}

/// Appends our models to a provider's list; relays anything else as it is.
pub(super) async fn append_own_models(
    reply: UpstreamResponse,
    ours: Vec<Value>,
) -> Result<Response, Problem> {
    if !reply.status.is_success() {
        return Ok(client_response(reply, None));
    }
    let read = Limited::new(reply.body, MAX_LIST_BYTES).collect().await;
    let bytes = read.map_err(|error| Problem::internal(&error))?.to_bytes();
    let mut list: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let Some(models) = list["data"].as_array_mut() else {
        let mut response = Response::new(Body::new(Full::new(bytes)));
        if let Some(kind) = reply.headers.get(header::CONTENT_TYPE) {
            response.headers_mut().insert(header::CONTENT_TYPE, kind.clone());
        }
        return Ok(response);
    };
    models.extend(ours);
    Ok(JsonResponse::ok(list).into_response())
}

/// Returns the model list where there is no provider.
pub(super) fn own_model_list(protocol: ClientProtocol) -> Value {
    let models = own_models(protocol, None);
    match protocol {
        ClientProtocol::Openai => json!({ "object": "list", "data": models }),
        ClientProtocol::Anthropic => {
            json!({ "data": models, "has_more": false, "first_id": null, "last_id": null })
        }
    }
}

/// Returns the model that a path names, if it is ours.
pub(super) fn find_own_model(
    path: &str,
    protocol: ClientProtocol,
    upstream: Option<&Upstream>,
) -> Option<Value> {
    let name = path.rsplit('/').next()?;
    own_models(protocol, upstream).into_iter().find(|model| model["id"] == name)
}
