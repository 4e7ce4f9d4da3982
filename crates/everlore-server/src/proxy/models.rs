//! The models that clients can name: those of the provider, and ours.

use axum::{
    body::Body,
    http::header,
    response::{IntoResponse, Response},
};
use everlore::llm::remote::{Relay, Relayed, Tongue};
use http_body_util::{BodyExt, Full, Limited};
use serde_json::{Value, json};

use super::{embeddings::BUILTIN, pass::to_client};
use crate::{answer::Answer, problem::Problem};

/// The name by which clients ask for the model of the settings.
pub(super) const CHOSEN: &str = "everlore";

/// A list of models is far shorter.
const MAX_LIST: usize = 8 << 20;

/// Our models in the words of a protocol; the one of the settings only where there is one.
pub(super) fn ours(tongue: Tongue, relay: Option<&Relay>) -> Vec<Value> {
    let openai =
        |id: &str| json!({ "id": id, "object": "model", "created": 0, "owned_by": "everlore" });
    let chosen = relay.filter(|relay| !relay.model().is_empty());
    match tongue {
        Tongue::Openai => {
            chosen.map(|_| openai(CHOSEN)).into_iter().chain([openai(BUILTIN)]).collect()
        }
        Tongue::Anthropic => {
            let name =
                |relay: &Relay| format!("{} (the model of everlore's settings)", relay.model());
            let made = "1970-01-01T00:00:00Z";
            let model = |relay| json!({ "type": "model", "id": CHOSEN, "display_name": name(relay), "created_at": made });
            chosen.map(model).into_iter().collect()
        }
    }
}

/// The list of a provider with ours at its end; what is no list is passed on as it is.
pub(super) async fn with_ours(reply: Relayed, ours: Vec<Value>) -> Result<Response, Problem> {
    if !reply.status.is_success() {
        return Ok(to_client(reply, None));
    }
    let read = Limited::new(reply.body, MAX_LIST).collect().await;
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
    Ok(Answer::ok(list).into_response())
}

/// The list where there is no provider.
pub(super) fn alone(tongue: Tongue) -> Value {
    let models = ours(tongue, None);
    match tongue {
        Tongue::Openai => json!({ "object": "list", "data": models }),
        Tongue::Anthropic => {
            json!({ "data": models, "has_more": false, "first_id": null, "last_id": null })
        }
    }
}

/// The model that a path names, if it is ours.
pub(super) fn named(path: &str, tongue: Tongue, relay: Option<&Relay>) -> Option<Value> {
    let name = path.rsplit('/').next()?;
    ours(tongue, relay).into_iter().find(|model| model["id"] == name)
}
