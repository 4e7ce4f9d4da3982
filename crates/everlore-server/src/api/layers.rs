//! Layered files: who the agent is (SOUL), who the user is (USER), notes (MEMORY) and the day (DAILY).

use axum::{Router, response::Response, routing::get};
use everlore::engine::{Layer, LayerEdit, LayerSize, LayerText, SectionSize};
use serde::Serialize;
#[cfg(test)]
use utoipa::ToSchema;

use crate::{
    ApiResult, App, JsonBody, JsonResponse, PathParam, Problem, Reader, Writer,
    etag::{IfMatch, text_etag, with_etag},
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/layers", get(list)).route("/v1/layers/{layer}", get(show).patch(edit))
}

/// Layer without its path: the location on disk concerns only the owner.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct LayerView {
    /// soul, user, memory or daily.
    layer: Layer,
    /// Text of the file; empty if there is no file.
    text: String,
    /// Characters of the text, and its budget.
    usage: LayerSize,
    /// Sections with their titles and sizes.
    sections: Vec<SectionSize>,
    /// Number of the change in the layer's history, after an edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<u64>,
    /// Hint for the caller, such as a file that is almost full.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

fn layer_view(LayerText { layer, text, usage, sections, .. }: LayerText) -> LayerView {
    LayerView { layer, text, usage, sections, change: None, note: None }
}

/// All layers.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct AllLayers {
    layers: Vec<LayerView>,
}

/// Read all layers
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/layers", tag = "layers",
    responses((status = 200, description = "The layers, in the order of the prompt", body = AllLayers)),
))]
pub(super) async fn list(Reader(access): Reader) -> ApiResult<AllLayers> {
    let mut layers = Vec::new();
    for layer in Layer::ALL {
        layers.push(layer_view(access.engine().read_layer(&access.scope, layer).await?));
    }
    Ok(JsonResponse::ok(AllLayers { layers }))
}

/// Read one layer; for daily, today's file
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/layers/{layer}", tag = "layers",
    params(("layer" = String, Path, description = "soul, user, memory or daily")),
    responses((status = 200, description = "The layer", body = LayerView)),
))]
pub(super) async fn show(
    Reader(access): Reader,
    PathParam(name): PathParam,
) -> Result<Response, Problem> {
    let layer = name.parse()?;
    Ok(layer_response(layer_view(access.engine().read_layer(&access.scope, layer).await?)))
}

fn layer_response(layer: LayerView) -> Response {
    with_etag(&text_etag(&layer.text), JsonResponse::ok(layer))
}

/// Edit one section of a layer, or all of it; soul only by the owner
#[cfg_attr(test, utoipa::path(
    patch, path = "/v1/layers/{layer}", tag = "layers", request_body = LayerEdit,
    params(
        (
            "If-Match" = Option<String>, Header,
            description = "ETag of the version that was read; the request fails with 412 if it has changed since",
        ),
        ("layer" = String, Path, description = "soul, user, memory or daily"),
    ),
    responses((status = 200, description = "The layer after the change", body = LayerView)),
))]
pub(super) async fn edit(
    Writer(access): Writer,
    PathParam(name): PathParam,
    if_match: IfMatch,
    JsonBody(edit, _): JsonBody<LayerEdit>,
) -> Result<Response, Problem> {
    let (actor, expected) = (access.author().actor, if_match.clone());
    let is_expected = move |text: &str| expected.allows(&text_etag(text));
    let change = access
        .engine()
        .edit_layer_if(&access.scope, name.parse()?, edit, actor, is_expected)
        .await
        .map_err(|error| if_match.to_problem(error))?;
    Ok(layer_response(LayerView {
        change: change.change,
        note: change.note,
        ..layer_view(change.layer)
    }))
}
