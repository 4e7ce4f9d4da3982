//! API keys; for the owner only.

use axum::{
    Router,
    http::StatusCode,
    routing::{delete, get},
};
use everlore::{Error, Scope, types::Timestamp};
use serde::{Deserialize, Serialize};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{
    ApiResult, App, JsonBody, JsonResponse, PathParam, QueryParams, Reader,
    keys::{ApiKey, ApiKeys},
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/keys", get(list).post(add)).route("/v1/keys/{name}", delete(remove))
}

/// Key without its secret.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct ApiKeyView {
    /// Name in logs.
    name: String,
    /// Agent whose memory it opens.
    agent: String,
    /// User whose memory it opens.
    user: String,
    /// Role: read, write or admin.
    role: &'static str,
    /// Time of creation.
    #[cfg_attr(test, schema(value_type = String))]
    created_at: Timestamp,
}

impl From<&ApiKey> for ApiKeyView {
    fn from(key: &ApiKey) -> Self {
        Self {
            name: key.name.clone(),
            agent: key.scope.agent().to_owned(),
            user: key.scope.user().to_owned(),
            role: key.role.as_str(),
            created_at: key.created_at,
        }
    }
}

/// All keys by name.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct ApiKeyList {
    keys: Vec<ApiKeyView>,
}

/// New key.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct NewApiKey {
    /// Name: letters, digits, hyphens, underscores and dots.
    name: String,
    /// Agent whose memory it opens.
    agent: String,
    /// User whose memory it opens.
    user: String,
    /// Role: read, write or admin.
    role: String,
}

/// Key with its secret, which is shown once and stored nowhere.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct CreatedApiKey {
    key: ApiKeyView,
    secret: String,
}

/// List the API keys, without their secrets; for the owner only
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/keys", tag = "keys",
    responses((status = 200, description = "Keys by name", body = ApiKeyList)),
))]
pub(super) async fn list(Reader(access): Reader, params: QueryParams) -> ApiResult<ApiKeyList> {
    params.finish()?;
    access.require_owner()?;
    let keys = ApiKeys::new(&access.app.options.home).list()?;
    Ok(JsonResponse::ok(ApiKeyList { keys: keys.iter().map(ApiKeyView::from).collect() }))
}

/// Create an API key and show its secret, once; for the owner only
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/keys", tag = "keys", request_body = NewApiKey,
    responses((status = 201, description = "The key and its secret", body = CreatedApiKey)),
))]
pub(super) async fn add(
    Reader(access): Reader,
    JsonBody(body, _): JsonBody<NewApiKey>,
) -> ApiResult<CreatedApiKey> {
    access.require_owner()?;
    let scope = Scope::new(&body.agent, &body.user)?;
    let keys = ApiKeys::new(&access.app.options.home);
    let role = body.role.parse()?;
    let added = async { keys.add(&body.name, scope, role, Timestamp::now()) };
    let (key, secret) = access.engine().write_files(added).await?;
    let created = CreatedApiKey { key: ApiKeyView::from(&key), secret };
    Ok(JsonResponse(StatusCode::CREATED, created))
}

/// Remove an API key: the server refuses it at once; for the owner only
#[cfg_attr(test, utoipa::path(
    delete, path = "/v1/keys/{name}", tag = "keys",
    params(("name" = String, Path, description = "Name of the key")),
    responses((status = 200, description = "The removed key", body = ApiKeyView)),
))]
pub(super) async fn remove(
    Reader(access): Reader,
    PathParam(name): PathParam,
) -> ApiResult<ApiKeyView> {
    access.require_owner()?;
    let keys = ApiKeys::new(&access.app.options.home);
    let known = keys.list()?;
    let key = known.iter().find(|key| key.name == name);
    let key = key.ok_or_else(|| Error::not_found("key", &name))?;
    access.engine().write_files(async { keys.remove(&name) }).await?;
    Ok(JsonResponse::ok(ApiKeyView::from(key)))
}
