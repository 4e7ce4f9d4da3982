//! The routes of the proxy, in the words of their protocols, and their description.

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderValue, header},
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use everlore::llm::remote::ClientProtocol;
use serde_json::Value;
use utoipa::OpenApi;

use super::{
    chat_api::ChatApi, check_spending, edit_body, embeddings, inject::InjectionOutcome, models,
    read_request, relay_chat, relay_for, relay_request, request::ProxiedRequest,
    stream::client_response,
};
use crate::{
    app::App,
    auth::{Reader, authenticate_client},
    problem::{ErrorFormat, Problem},
    response::JsonResponse,
};

/// The path below which Anthropic's clients ask.
pub(super) const ANTHROPIC_PREFIX: &str = "/anthropic";

/// Everything that is passed on. Whoever asks needs a token or a key.
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

/// Whether a path is one of OpenAI's.
pub(crate) fn is_openai(path: &str) -> bool {
    let known = ["/v1/chat/completions", "/v1/responses", "/v1/embeddings", "/v1/models"];
    known.iter().any(|known| {
        path.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// An answer, whose problem is told as OpenAI does.
pub(crate) fn as_openai(response: Response) -> Response {
    set_error_format(ErrorFormat::Openai, response)
}

/// An answer, whose problem is told as Anthropic does.
pub(crate) fn as_anthropic(response: Response) -> Response {
    set_error_format(ErrorFormat::Anthropic, response)
}

/// An answer, whose problem is told in a dialect.
fn set_error_format(dialect: ErrorFormat, mut response: Response) -> Response {
    let Some(problem) = response.extensions_mut().get_mut::<Problem>() else { return response };
    problem.error_format = dialect;
    let is_settings = problem.code == "no_provider";
    let kind = HeaderValue::from_static(dialect.content_type());
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    if is_settings {
        // Clients would ask again a few times, which changes no settings.
        response.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
    }
    response
}

/// The description of these routes.
pub(crate) fn api_doc() -> utoipa::openapi::OpenApi {
    ProxyApiDoc::openapi()
}

#[derive(OpenApi)]
#[openapi(paths(
    chat,
    responses,
    embed,
    list,
    show,
    messages,
    count,
    list_anthropic,
    show_anthropic
))]
struct ProxyApiDoc;

/// A conversation as OpenAI's chat completions, with memory
#[utoipa::path(post, path = "/v1/chat/completions", tag = "proxy", operation_id = "proxy_chat", request_body = Object, responses((status = 200, description = "The provider's answer, byte for byte", body = Object)))]
async fn chat(Reader(access): Reader, request: Request) -> Result<Response, Problem> {
    relay_chat(ChatApi::Chat, access, request).await
}

/// A conversation as OpenAI's responses, with memory
#[utoipa::path(post, path = "/v1/responses", tag = "proxy", operation_id = "proxy_responses", request_body = Object, responses((status = 200, description = "The provider's answer, byte for byte", body = Object)))]
async fn responses(Reader(access): Reader, request: Request) -> Result<Response, Problem> {
    relay_chat(ChatApi::Responses, access, request).await
}

/// A conversation as Anthropic's messages, with memory
#[utoipa::path(post, path = "/anthropic/v1/messages", tag = "proxy", operation_id = "proxy_messages", request_body = Object, responses((status = 200, description = "The provider's answer, byte for byte", body = Object)))]
async fn messages(Reader(access): Reader, request: Request) -> Result<Response, Problem> {
    relay_chat(ChatApi::Messages, access, request).await
}

/// Vectors as OpenAI makes them: of the provider, or of the built-in model
#[utoipa::path(post, path = "/v1/embeddings", tag = "proxy", operation_id = "proxy_embeddings", request_body = Object, responses((status = 200, description = "The vectors", body = Object)))]
async fn embed(Reader(access): Reader, request: Request) -> Result<Response, Problem> {
    let (parts, body) = read_request(&access, request).await?;
    let providers = &access.app.options.providers;
    let relay = providers.embedding.as_ref().or(providers.openai.as_ref());
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    match relay.filter(|_| asked["model"] != embeddings::BUILTIN_MODEL) {
        Some(relay) => {
            check_spending(&access, &parts)?;
            Ok(client_response(relay_request(relay, "/embeddings", &parts, body).await?, None))
        }
        None => Ok(JsonResponse::ok(embeddings::embed(&body).await?).into_response()),
    }
}

/// How many tokens messages have, as Anthropic counts them
#[utoipa::path(post, path = "/anthropic/v1/messages/count_tokens", tag = "proxy", operation_id = "proxy_count", request_body = Object, responses((status = 200, description = "The count", body = Object)))]
async fn count(Reader(access): Reader, request: Request) -> Result<Response, Problem> {
    let relay = relay_for(&access.app, ClientProtocol::Anthropic)?;
    let (parts, body) = read_request(&access, request).await?;
    check_spending(&access, &parts)?;
    let asked = std::str::from_utf8(&body)
        .ok()
        .and_then(|text| ProxiedRequest::parse(ChatApi::Messages, text));
    let sent = asked
        .map(|asked| edit_body(ChatApi::Messages, &asked, &InjectionOutcome::Off, &relay, &body));
    let sent = sent.unwrap_or(body);
    Ok(client_response(
        relay_request(&relay, "/v1/messages/count_tokens", &parts, sent).await?,
        None,
    ))
}

/// The models of the provider and ours, as OpenAI lists them
#[utoipa::path(get, path = "/v1/models", tag = "proxy", operation_id = "proxy_models", responses((status = 200, description = "The models", body = Object)))]
async fn list(
    State(app): State<App>,
    reader: Reader,
    request: Request,
) -> Result<Response, Problem> {
    list_models(&app, reader, ClientProtocol::Openai, request).await
}

/// One model, as OpenAI shows it
#[utoipa::path(get, path = "/v1/models/{model}", tag = "proxy", operation_id = "proxy_model", params(("model" = String, Path, description = "Its name")), responses((status = 200, description = "The model", body = Object)))]
async fn show(
    State(app): State<App>,
    reader: Reader,
    request: Request,
) -> Result<Response, Problem> {
    show_model(&app, reader, ClientProtocol::Openai, request).await
}

/// The models of the provider and ours, as Anthropic lists them
#[utoipa::path(get, path = "/anthropic/v1/models", tag = "proxy", operation_id = "proxy_anthropic_models", responses((status = 200, description = "The models", body = Object)))]
async fn list_anthropic(
    State(app): State<App>,
    reader: Reader,
    request: Request,
) -> Result<Response, Problem> {
    list_models(&app, reader, ClientProtocol::Anthropic, request).await
}

/// One model, as Anthropic shows it
#[utoipa::path(get, path = "/anthropic/v1/models/{model}", tag = "proxy", operation_id = "proxy_anthropic_model", params(("model" = String, Path, description = "Its name")), responses((status = 200, description = "The model", body = Object)))]
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
    tongue: ClientProtocol,
    request: Request,
) -> Result<Response, Problem> {
    let Ok(relay) = relay_for(app, tongue) else {
        return Ok(JsonResponse::ok(models::own_model_list(tongue)).into_response());
    };
    let (parts, body) = read_request(&access, request).await?;
    let reply = relay_request(&relay, provider_path(&parts.uri, tongue), &parts, body).await?;
    models::append_own_models(reply, models::own_models(tongue, Some(&relay))).await
}

async fn show_model(
    app: &App,
    Reader(access): Reader,
    tongue: ClientProtocol,
    request: Request,
) -> Result<Response, Problem> {
    let relay = relay_for(app, tongue);
    let known = models::find_own_model(request.uri().path(), tongue, relay.as_deref().ok());
    if let Some(model) = known {
        return Ok(JsonResponse::ok(model).into_response());
    }
    check_model_name(request.uri().path())?;
    let (parts, body) = read_request(&access, request).await?;
    Ok(client_response(
        relay_request(&*relay?, provider_path(&parts.uri, tongue), &parts, body).await?,
        None,
    ))
}

/// A name goes on as it came, so that it must not lead to something else at the provider, with the owner's key.
fn check_model_name(path: &str) -> Result<(), Problem> {
    let plain = path.to_lowercase().replace("%2e", ".").replace("%2f", "/").replace("%5c", "/");
    match plain.split(['/', '\\']).any(|part| matches!(part, "." | "..")) {
        false => Ok(()),
        true => Err(Problem::invalid("no model has such a name", "GET the list of models")),
    }
}

/// A path below our address as it is below the provider's.
fn provider_path(uri: &axum::http::Uri, tongue: ClientProtocol) -> &str {
    let own = if tongue == ClientProtocol::Openai { "/v1" } else { ANTHROPIC_PREFIX };
    uri.path().strip_prefix(own).unwrap_or(uri.path())
}
