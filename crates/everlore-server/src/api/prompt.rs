//! Preview of a prompt: everything that a model would get for a message. Records nothing.

use axum::{Router, routing::post};
use everlore::{
    MemoryBlock, RecallRequest, engine::PromptRequest, internal::text::language::detect_language,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{ApiResult, App, JsonBody, JsonResponse, Reader, body::whole_number};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/prompt", post(preview))
}

/// Message to preview a prompt for; an empty one shows only what every prompt begins with.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct PromptPreviewBody {
    /// Message that the agent is about to answer.
    query: String,
    /// Token budget of the recalled block; from the settings by default.
    #[serde(default, deserialize_with = "whole_number")]
    #[cfg_attr(test, schema(maximum = 18_446_744_073_709_551_615_usize))]
    budget: Option<usize>,
    /// Largest number of recalled memories; from the settings by default.
    #[serde(default, deserialize_with = "whole_number")]
    #[cfg_attr(test, schema(maximum = 18_446_744_073_709_551_615_usize))]
    limit: Option<usize>,
}

/// Prompt in its parts.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct PromptPreview {
    /// Parts that are the same in every turn, in order: name, text, chars, tokens, cut_chars.
    #[cfg_attr(test, schema(value_type = Vec<Object>))]
    parts: Value,
    /// Memories recalled for the message, after the parts.
    block: MemoryBlock,
    /// Token budget of the block.
    budget: usize,
    /// Largest number of memories in the block.
    limit: usize,
}

/// Preview everything that a model would get for a message, part by part; nothing is recorded
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/prompt", tag = "recall", request_body = PromptPreviewBody,
    responses((status = 200, description = "The parts and the recalled block", body = PromptPreview)),
))]
pub(super) async fn preview(
    Reader(access): Reader,
    JsonBody(body, _): JsonBody<PromptPreviewBody>,
) -> ApiResult<PromptPreview> {
    let engine = access.engine();
    let is_blank = body.query.trim().is_empty();
    let language = (!is_blank).then(|| detect_language(&body.query));
    let request = PromptRequest { language, ..Default::default() };
    let prompt = engine.preview_prompt(&access.scope, &request).await?;
    let request = engine.context_request(&access.scope, body.query);
    let request = RecallRequest { limit: body.limit.unwrap_or(request.limit), ..request };
    let usual = engine.settings(access.scope.agent()).memory.inject.token_budget;
    let budget = body.budget.unwrap_or(usual);
    let limit = request.limit;
    let block =
        if is_blank { MemoryBlock::default() } else { engine.context(&request, budget).await? };
    Ok(JsonResponse::ok(PromptPreview { parts: json!(prompt.parts), block, budget, limit }))
}
