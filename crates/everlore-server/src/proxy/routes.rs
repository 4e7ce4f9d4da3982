//! Routes of the proxy, in the shapes of their protocols, and their OpenAPI description.

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderValue, header},
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use everlore::internal::llm::ClientProtocol;
use serde_json::Value;
#[cfg(test)]
use utoipa::OpenApi;

use super::{
    chat_api::ChatApi, check_spending, edit_body, embeddings, inject::InjectionOutcome, models,
    read_request, relay_chat, relay_request, request::ProxiedRequest, stream::client_response,
    upstream_for,
};
#[cfg(test)]
use crate::problem::{AnthropicError, OpenaiError};
use crate::{
    app::App,
    auth::{Reader, authenticate_client},
    problem::{ErrorFormat, Problem},
    response::JsonResponse,
};

/// Path prefix for Anthropic's clients.
pub(super) const ANTHROPIC_PREFIX: &str = "/anthropic";

/// Returns the relayed routes. Clients need a token or a key.
pub(crate) fn routes(app: &App) -> Router<App> {
    let openai = Router::new()
        .route("/v1/chat/completions", post(chat))
        .route("/v1/responses", post(responses))
        .route("/v1/embeddings", post(embed))
        .route("/v1/models", get(list))
        .route("/v1/models/{*model}", get(show));
    let anthropic = Router::new()
        .route("/anthropic/v1/messages", post(messages))
        .route("/anthropic/v1/messages/count_tokens", post(count))
        .route("/anthropic/v1/models", get(list_anthropic))
        .route("/anthropic/v1/models/{*model}", get(show_anthropic));
    openai.merge(anthropic).route_layer(from_fn_with_state(app.clone(), authenticate_client))
}

/// Returns `true` for a path of OpenAI's API.
pub(crate) fn is_openai(path: &str) -> bool {
    let own = ["/v1/chat/completions", "/v1/responses", "/v1/embeddings", "/v1/models"];
    own.iter().any(|own| {
        path.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// Writes an error as OpenAI does.
pub(crate) fn as_openai(response: Response) -> Response {
    set_error_format(ErrorFormat::Openai, response)
}

/// Writes an error as Anthropic does.
pub(crate) fn as_anthropic(response: Response) -> Response {
    set_error_format(ErrorFormat::Anthropic, response)
}

/// Sets the shape in which `trace` writes an error.
fn set_error_format(format: ErrorFormat, mut response: Response) -> Response {
    let Some(problem) = response.extensions_mut().get_mut::<Problem>() else { return response };
    problem.error_format = format;
    let is_settings = problem.code == "no_provider";
    let kind = HeaderValue::from_static(format.content_type());
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    if is_settings {
        // Clients would retry a few times, which changes no settings.
        response.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
    }
    response
}

/// Returns the OpenAPI description of these routes.
#[cfg(test)]
pub(crate) fn api_doc() -> utoipa::openapi::OpenApi {
    ProxyApiDoc::openapi()
}

#[cfg(test)]
#[derive(OpenApi)]
#[openapi(
    paths(chat, responses, embed, list, show, messages, count, list_anthropic, show_anthropic),
    components(schemas(OpenaiError, AnthropicError))
)]
struct ProxyApiDoc;

/// Chat with OpenAI's chat completions and memory
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/chat/completions", tag = "proxy", operation_id = "proxy_chat", request_body = Object,
    responses((status = 200, description = "The provider's response, byte for byte", body = Object)),
))]
async fn chat(Reader(access): Reader, request: Request) -> Result<Response, Problem> {
    relay_chat(ChatApi::Chat, access, request).await
}

/// Chat with OpenAI's responses and memory
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/responses", tag = "proxy", operation_id = "proxy_responses", request_body = Object,
    responses((status = 200, description = "The provider's response, byte for byte", body = Object)),
))]
async fn responses(Reader(access): Reader, request: Request) -> Result<Response, Problem> {
    relay_chat(ChatApi::Responses, access, request).await
}

/// Chat with Anthropic's messages and memory
#[cfg_attr(test, utoipa::path(
    post, path = "/anthropic/v1/messages", tag = "proxy", operation_id = "proxy_messages", request_body = Object,
    responses((status = 200, description = "The provider's response, byte for byte", body = Object)),
))]
async fn messages(Reader(access): Reader, request: Request) -> Result<Response, Problem> {
    relay_chat(ChatApi::Messages, access, request).await
}

/// Embed texts as OpenAI does, with the provider or the built-in model
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/embeddings", tag = "proxy", operation_id = "proxy_embeddings", request_body = Object,
    responses((status = 200, description = "The embeddings", body = Object)),
))]
async fn embed(Reader(access): Reader, request: Request) -> Result<Response, Problem> {
    let (parts, body) = read_request(&access, request).await?;
    let providers = &access.app.options.providers;
    let upstream = providers.embedding.as_ref().or(providers.openai.as_ref());
    let request_body: Value = serde_json::from_slice(&body).unwrap_or_default();
    match upstream.filter(|_| request_body["model"] != embeddings::BUILTIN_MODEL) {
        Some(upstream) => {
            check_spending(&access, &parts)?;
            Ok(client_response(relay_request(upstream, "/embeddings", &parts, body).await?, None))
        }
        None => Ok(JsonResponse::ok(embeddings::embed(&body).await?).into_response()),
    }
}

/// Count tokens as Anthropic does
#[cfg_attr(test, utoipa::path(
    post, path = "/anthropic/v1/messages/count_tokens", tag = "proxy", operation_id = "proxy_count",
    request_body = Object, responses((status = 200, description = "The count", body = Object)),
))]
async fn count(Reader(access): Reader, request: Request) -> Result<Response, Problem> {
    let upstream = upstream_for(&access.app, ClientProtocol::Anthropic)?;
    let (parts, body) = read_request(&access, request).await?;
    check_spending(&access, &parts)?;
    let proxied = std::str::from_utf8(&body)
        .ok()
        .and_then(|text| ProxiedRequest::parse(ChatApi::Messages, text));
    let sent = proxied.map(|proxied| {
        edit_body(ChatApi::Messages, &proxied, &InjectionOutcome::Off, &upstream, &body)
    });
    let sent = sent.unwrap_or(body);
    Ok(client_response(
        relay_request(&upstream, "/v1/messages/count_tokens", &parts, sent).await?,
        None,
    ))
}

/// List the models of the provider and ours, as OpenAI does
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/models", tag = "proxy", operation_id = "proxy_models",
    responses((status = 200, description = "The models", body = Object)),
))]
async fn list(
    State(app): State<App>,
    reader: Reader,
    request: Request,
) -> Result<Response, Problem> {
    list_models(&app, reader, ClientProtocol::Openai, request).await
}

/// Show a model, as OpenAI does
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/models/{model}", tag = "proxy", operation_id = "proxy_model",
    params(("model" = String, Path, description = "Name of the model")),
    responses((status = 200, description = "The model", body = Object)),
))]
async fn show(
    State(app): State<App>,
    reader: Reader,
    request: Request,
) -> Result<Response, Problem> {
    show_model(&app, reader, ClientProtocol::Openai, request).await
}

/// List the models of the provider and ours, as Anthropic does
#[cfg_attr(test, utoipa::path(
    get, path = "/anthropic/v1/models", tag = "proxy", operation_id = "proxy_anthropic_models",
    responses((status = 200, description = "The models", body = Object)),
))]
async fn list_anthropic(
    State(app): State<App>,
    reader: Reader,
    request: Request,
) -> Result<Response, Problem> {
    list_models(&app, reader, ClientProtocol::Anthropic, request).await
}

/// Show a model, as Anthropic does
#[cfg_attr(test, utoipa::path(
    get, path = "/anthropic/v1/models/{model}", tag = "proxy", operation_id = "proxy_anthropic_model",
    params(("model" = String, Path, description = "Name of the model")),
    responses((status = 200, description = "The model", body = Object)),
))]
async fn show_anthropic(
    State(app): State<App>,
    reader: Reader,
    request: Request,
) -> Result<Response, Problem> {
    show_model(&app, reader, ClientProtocol::Anthropic, request).await
}

async fn list_models(
    app: &App,
    Reader(access): Reader,
    protocol: ClientProtocol,
    request: Request,
) -> Result<Response, Problem> {
    let Ok(upstream) = upstream_for(app, protocol) else {
        return Ok(JsonResponse::ok(models::own_model_list(protocol)).into_response());
    };
    let (parts, body) = read_request(&access, request).await?;
    let reply = relay_request(&upstream, provider_path(&parts.uri, protocol), &parts, body).await?;
    models::append_own_models(reply, models::own_models(protocol, Some(&upstream))).await
}

async fn show_model(
    app: &App,
    Reader(access): Reader,
    protocol: ClientProtocol,
    request: Request,
) -> Result<Response, Problem> {
    let upstream = upstream_for(app, protocol);
    let own = models::find_own_model(request.uri().path(), protocol, upstream.as_deref().ok());
    if let Some(model) = own {
        return Ok(JsonResponse::ok(model).into_response());
    }
    check_model_name(request.uri().path())?;
    let (parts, body) = read_request(&access, request).await?;
    Ok(client_response(
        relay_request(&*upstream?, provider_path(&parts.uri, protocol), &parts, body).await?,
        None,
    ))
}

/// Refuses names that would lead to another path of the provider, with the owner's key.
fn check_model_name(path: &str) -> Result<(), Problem> {
    let plain = path.to_lowercase().replace("%2e", ".").replace("%2f", "/").replace("%5c", "/");
    if plain.split(['/', '\\']).any(|part| matches!(part, "." | "..")) {
        return Err(Problem::invalid("no model has such a name", "GET the list of models"));
    }
    Ok(())
}

/// Returns the path below the provider's base address.
fn provider_path(uri: &axum::http::Uri, protocol: ClientProtocol) -> &str {
    let prefix = if protocol == ClientProtocol::Openai { "/v1" } else { ANTHROPIC_PREFIX };
    uri.path().strip_prefix(prefix).unwrap_or(uri.path())
}
