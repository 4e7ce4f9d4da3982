//! The layered files: who the agent is, who the user is, notes, and the day.

use axum::{Router, response::Response, routing::get};
use everlore::files::layers::{Layer, LayerEdit, LayerText, SectionSize, Usage};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    answer::{Answer, Answered},
    app::App,
    auth::{Reader, Writer},
    body::{Json, Named},
    matching::{IfMatch, tag_of_text, tagged},
    problem::Problem,
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
    usage: Usage,
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

fn view(LayerText { layer, text, usage, sections, .. }: LayerText) -> LayerView {
    LayerView { layer, text, usage, sections, change: None, note: None }
}

/// All layers.
#[derive(Serialize, ToSchema)]
pub(super) struct AllLayers {
    layers: Vec<LayerView>,
}

/// Read all layers
#[utoipa::path(get, path = "/v1/layers", tag = "layers", responses((status = 200, description = "The layers, in the order of the prompt", body = AllLayers)))]
pub(super) async fn list(Reader(access): Reader) -> Answered<AllLayers> {
    let mut layers = Vec::new();
    for layer in Layer::ALL {
        layers.push(view(access.engine().read_layer(&access.scope, layer).await?));
    }
    Ok(Answer::ok(AllLayers { layers }))
}

/// Read one layer; of the daily log, today's file
#[utoipa::path(get, path = "/v1/layers/{layer}", tag = "layers", params(("layer" = String, Path, description = "soul, user, memory or daily")), responses((status = 200, description = "The layer", body = LayerView)))]
pub(super) async fn show(Reader(access): Reader, Named(name): Named) -> Result<Response, Problem> {
    let layer = name.parse()?;
    Ok(with_tag(view(access.engine().read_layer(&access.scope, layer).await?)))
}

fn with_tag(layer: LayerView) -> Response {
    tagged(&tag_of_text(&layer.text), Ok(Answer::ok(layer)))
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
    Named(name): Named,
    matching: IfMatch,
    Json(body, _): Json<LayerBody>,
) -> Result<Response, Problem> {
    let edit = match body {
        LayerBody::Add { section, content } => LayerEdit::Add { section, content },
        LayerBody::Replace { section, old, new } => LayerEdit::Replace { section, old, new },
        LayerBody::Remove { section } => LayerEdit::Remove { section },
        LayerBody::Write { before, text } => LayerEdit::Write { before, text },
    };
    let (actor, meant) = (access.author().actor, matching.clone());
    let is_expected = move |text: &str| meant.lets(&tag_of_text(text));
    let done = access
        .engine()
        .edit_layer_if(&access.scope, name.parse()?, edit, actor, is_expected)
        .await
        .map_err(|error| matching.told(error))?;
    Ok(with_tag(LayerView { change: done.change, note: done.note, ..view(done.layer) }))
}
