//! The layered files: who the agent is, who the user is, notes, and the day.

use axum::{Router, response::Response, routing::get};
use everlore::files::layers::{Layer, LayerEdit, LayerSize, LayerText, SectionSize};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    app::App,
    auth::{Reader, Writer},
    body::{JsonBody, PathParam},
    etag::{IfMatch, text_etag, with_etag},
    problem::Problem,
    response::{ApiResult, JsonResponse},
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/layers", get(list)).route("/v1/layers/{layer}", get(show).patch(edit))
}

/// A layer. Where it lies on the disk is the owner's business.
#[derive(Serialize, ToSchema)]
pub(super) struct LayerView {
    /// soul, user, memory or daily.
    #[schema(value_type = String)]
    layer: Layer,
    /// What it says; empty if there is no such file.
    text: String,
    /// How much of its budget that takes.
    #[schema(value_type = Object)]
    usage: LayerSize,
    /// Its sections, each with its title and characters.
    #[schema(value_type = Vec<Object>)]
    sections: Vec<SectionSize>,
    /// The number of the change, after one.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<u64>,
    /// What the one who asked for it should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

fn layer_view(LayerText { layer, text, usage, sections, .. }: LayerText) -> LayerView {
    LayerView { layer, text, usage, sections, change: None, note: None }
}

/// All layers.
#[derive(Serialize, ToSchema)]
pub(super) struct AllLayers {
    layers: Vec<LayerView>,
}

/// Read all layers
#[utoipa::path(get, path = "/v1/layers", tag = "layers", responses((status = 200, description = "The layers, in the order of the prompt", body = AllLayers)))]
pub(super) async fn list(Reader(access): Reader) -> ApiResult<AllLayers> {
    let mut layers = Vec::new();
    for layer in Layer::ALL {
        layers.push(layer_view(access.engine().read_layer(&access.scope, layer).await?));
    }
    Ok(JsonResponse::ok(AllLayers { layers }))
}

/// Read one layer; of the daily log, today's file
#[utoipa::path(get, path = "/v1/layers/{layer}", tag = "layers", params(("layer" = String, Path, description = "soul, user, memory or daily")), responses((status = 200, description = "The layer", body = LayerView)))]
pub(super) async fn show(
    Reader(access): Reader,
    PathParam(name): PathParam,
) -> Result<Response, Problem> {
    let layer = name.parse()?;
    Ok(layer_response(layer_view(access.engine().read_layer(&access.scope, layer).await?)))
}

fn layer_response(layer: LayerView) -> Response {
    with_etag(&text_etag(&layer.text), Ok(JsonResponse::ok(layer)))
}

/// What to do with a layer: `action` is add, replace, remove or write.
#[derive(Deserialize, ToSchema)]
#[serde(tag = "action", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum LayerBody {
    /// Appends to a section, which is made if there is none.
    Add {
        /// Its title.
        section: String,
        /// What to append.
        content: String,
    },
    /// Replaces a text that occurs exactly once in a section.
    Replace {
        /// Its title.
        section: String,
        /// The exact text to replace.
        old: String,
        /// What stands there then.
        new: String,
    },
    /// Removes a section.
    Remove {
        /// Its title.
        section: String,
    },
    /// Replaces the whole file, if it still says what it did.
    Write {
        /// What it said when it was read.
        before: String,
        /// What it says then.
        text: String,
    },
}

/// Change one section of a layer, or all of it
#[utoipa::path(patch, path = "/v1/layers/{layer}", tag = "layers", request_body = LayerBody, params(("If-Match" = Option<String>, Header, description = "The ETag of what was seen: if it was changed since, nothing is done (412)"), ("layer" = String, Path, description = "soul, user, memory or daily")), responses((status = 200, description = "The layer as it is now", body = LayerView)))]
pub(super) async fn edit(
    Writer(access): Writer,
    PathParam(name): PathParam,
    matching: IfMatch,
    JsonBody(body, _): JsonBody<LayerBody>,
) -> Result<Response, Problem> {
    let edit = match body {
        LayerBody::Add { section, content } => LayerEdit::Add { section, content },
        LayerBody::Replace { section, old, new } => LayerEdit::Replace { section, old, new },
        LayerBody::Remove { section } => LayerEdit::Remove { section },
        LayerBody::Write { before, text } => LayerEdit::Write { before, text },
    };
    let (actor, meant) = (access.author().actor, matching.clone());
    let is_expected = move |text: &str| meant.allows(&text_etag(text));
    let done = access
        .engine()
        .edit_layer_if(&access.scope, name.parse()?, edit, actor, is_expected)
        .await
        .map_err(|error| matching.to_problem(error))?;
    Ok(layer_response(LayerView { change: done.change, note: done.note, ..layer_view(done.layer) }))
}
