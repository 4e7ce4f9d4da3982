//! Small calls: the tokens and the vector of a text, the providers of vectors, and the database.

use axum::{
    Router,
    routing::{get, post},
};
use everlore::engine::{EmbeddedText, EmbeddingProviderView, StoreHealth, TextSize};
use serde::{Deserialize, Serialize};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{ApiResult, App, JsonBody, JsonResponse, QueryParams, Reader, Writer};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/tokens", post(count))
        .route("/v1/embed", post(embed))
        .route("/v1/embed/providers", get(providers))
        .route("/v1/store", get(store))
}

/// Text to look at; it is not stored.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct TextBody {
    /// Text.
    text: String,
}

/// Text to embed; it is not stored.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct EmbedBody {
    /// Text.
    #[cfg_attr(test, schema(min_length = 1, pattern = r"\S"))]
    text: String,
}

/// Providers of vectors.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct EmbeddingProviderList {
    /// Providers that the settings can name.
    providers: Vec<EmbeddingProviderView>,
}

/// Count the tokens of a text, as budgets do
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/tokens", tag = "models", request_body = TextBody,
    responses((status = 200, description = "Tokens, characters and bytes", body = TextSize)),
))]
pub(super) async fn count(
    Reader(access): Reader,
    JsonBody(body, _): JsonBody<TextBody>,
) -> ApiResult<TextSize> {
    Ok(JsonResponse::ok(access.engine().count_tokens(&body.text)))
}

/// Embed a text as memories are embedded
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/embed", tag = "models", request_body = EmbedBody,
    responses((status = 200, description = "Model and vector", body = EmbeddedText)),
))]
pub(super) async fn embed(
    Writer(access): Writer,
    JsonBody(body, _): JsonBody<EmbedBody>,
) -> ApiResult<EmbeddedText> {
    Ok(JsonResponse::ok(access.engine().embed_text(&body.text).await?))
}

/// List the providers of vectors, and the one in use
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/embed/providers", tag = "models", operation_id = "embedding_providers",
    responses((status = 200, description = "Providers that the settings can name", body = EmbeddingProviderList)),
))]
pub(super) async fn providers(
    Reader(access): Reader,
    params: QueryParams,
) -> ApiResult<EmbeddingProviderList> {
    params.finish()?;
    let providers = access.engine().embedding_providers();
    Ok(JsonResponse::ok(EmbeddingProviderList { providers }))
}

/// Show where the database is; for the owner only
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/store", tag = "server", operation_id = "show_store",
    responses((status = 200, description = "Address without a password, kind, schema and size", body = StoreHealth)),
))]
pub(super) async fn store(Reader(access): Reader, params: QueryParams) -> ApiResult<StoreHealth> {
    params.finish()?;
    access.require_owner()?;
    Ok(JsonResponse::ok(access.app.engine.admin().store_health().await?))
}
