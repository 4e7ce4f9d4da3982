//! Browsers that are signed in to the web page, and signing out.

use axum::{
    Router,
    routing::{delete, get, post},
};
use everlore::{Error, types::Timestamp};
use serde::Serialize;
use serde_json::{Value, json};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{
    ApiResult, App, JsonResponse, PathParam, Problem, QueryParams, Reader,
    browsers::SignedInBrowser,
    sign_in::{WithCookie, with_cookie},
};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/browsers", get(list))
        .route("/v1/browsers/{browser}", delete(remove))
        .route("/v1/sign-out", post(sign_out))
}

/// Signed-in browser without its secret.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct BrowserView {
    /// Id, with which it is signed out.
    id: String,
    /// Program as it names itself.
    program: String,
    /// Time of the sign-in.
    #[cfg_attr(test, schema(value_type = String))]
    created_at: Timestamp,
    /// Time at which the sign-in ends.
    #[cfg_attr(test, schema(value_type = String))]
    expires_at: Timestamp,
    /// Set for the browser that asks.
    current: bool,
}

impl BrowserView {
    fn new(browser: SignedInBrowser, current: Option<&String>) -> Self {
        let SignedInBrowser { id, program, created_at, expires_at, .. } = browser;
        Self { current: current == Some(&id), id, program, created_at, expires_at }
    }
}

/// All browsers that are signed in.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct BrowserList {
    /// Browsers, the newest first.
    browsers: Vec<BrowserView>,
}

/// List the browsers that are signed in; for the owner only
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/browsers", tag = "browsers",
    responses((status = 200, description = "Browsers, the newest first", body = BrowserList)),
))]
pub(super) async fn list(Reader(access): Reader, params: QueryParams) -> ApiResult<BrowserList> {
    params.finish()?;
    access.require_owner()?;
    let known = access.app.credentials.browsers.list(Timestamp::now())?;
    let current = access.caller.browser.as_ref();
    let browsers = known.into_iter().rev().map(|one| BrowserView::new(one, current)).collect();
    Ok(JsonResponse::ok(BrowserList { browsers }))
}

/// Sign a browser out: the server refuses it at once; for the owner only
#[cfg_attr(test, utoipa::path(
    delete, path = "/v1/browsers/{browser}", tag = "browsers",
    params(("browser" = String, Path, description = "Id of the browser")),
    responses((status = 200, description = "The id", body = Object)),
))]
pub(super) async fn remove(Reader(access): Reader, PathParam(id): PathParam) -> ApiResult<Value> {
    access.require_owner()?;
    if !access.app.credentials.browsers.remove(&id, Timestamp::now())? {
        return Err(Error::not_found("browser", &id).into());
    }
    Ok(JsonResponse::ok(json!({ "id": id })))
}

/// Sign out the browser that asks
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/sign-out", tag = "browsers",
    responses((status = 200, description = "The id of the browser; null for a program", body = Object)),
))]
pub(super) async fn sign_out(Reader(access): Reader) -> Result<WithCookie<Value>, Problem> {
    if let Some(id) = &access.caller.browser {
        access.app.credentials.browsers.remove(id, Timestamp::now())?;
    }
    Ok(with_cookie(access.app.page_cookie.sign_out(), json!({ "id": access.caller.browser })))
}
