//! The models that clients can name: those of the provider, and ours.

use axum::{
    body::Body,
    http::header,
    response::{IntoResponse, Response},
};
use everlore::llm::remote::{ClientProtocol, Upstream, UpstreamResponse};
use http_body_util::{BodyExt, Full, Limited};
use serde_json::{Value, json};

use super::{embeddings::BUILTIN_MODEL, stream::client_response};
use crate::{problem::Problem, response::JsonResponse};

/// The name by which clients ask for the model of the settings.
pub(super) const CONFIGURED_MODEL: &str = "everlore";

/// A list of models is far shorter.
const MAX_LIST_BYTES: usize = 8 << 20;

/// Our models in the words of a protocol; the one of the settings only where there is one.
pub(super) fn own_models(tongue: ClientProtocol, relay: Option<&Upstream>) -> Vec<Value> {
    let openai =
        |id: &str| json!({ "id": id, "object": "model", "created": 0, "owned_by": "everlore" });
    let chosen = relay.filter(|relay| !relay.model().is_empty());
    match tongue {
        ClientProtocol::Openai => chosen
            .map(|_| openai(CONFIGURED_MODEL))
            .into_iter()
            .chain([openai(BUILTIN_MODEL)])
            .collect(),
        ClientProtocol::Anthropic => {
            let name =
                |relay: &Upstream| format!("{} (the model of everlore's settings)", relay.model());
            let made = "1970-01-01T00:00:00Z";
            let model = |relay| json!({ "type": "model", "id": CONFIGURED_MODEL, "display_name": name(relay), "created_at": made });
            chosen.map(model).into_iter().collect()
        }
    }
}

/// The list of a provider with ours at its end; what is no list is passed on as it is.
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

/// The list where there is no provider.
pub(super) fn own_model_list(tongue: ClientProtocol) -> Value {
    let models = own_models(tongue, None);
    match tongue {
        ClientProtocol::Openai => json!({ "object": "list", "data": models }),
        ClientProtocol::Anthropic => {
            json!({ "data": models, "has_more": false, "first_id": null, "last_id": null })
        }
    }
}

/// The model that a path names, if it is ours.
pub(super) fn find_own_model(
    path: &str,
    tongue: ClientProtocol,
    relay: Option<&Upstream>,
) -> Option<Value> {
    let name = path.rsplit('/').next()?;
    own_models(tongue, relay).into_iter().find(|model| model["id"] == name)
}
