//! Chat interface to language models: requests, streamed responses and tool calls.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Result;

/// Language model that answers with text and tool calls.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Returns provider and model name, such as `openai/gpt-5-mini`.
    fn name(&self) -> &str;

    /// Sends a request and returns as soon as the response begins. Dropping the stream cancels the request.
    async fn chat(&self, request: &ChatRequest) -> Result<Box<dyn ChatStream>>;
}

/// Response that is still being received.
#[async_trait]
pub trait ChatStream: Send {
    /// Returns the next chunk, or `None` after [`ChatChunk::End`]. Cancel-safe: a caller that stops waiting and calls
    /// again loses nothing.
    async fn next_chunk(&mut self) -> Result<Option<ChatChunk>>;
}

/// One decoded part of a streamed response.
#[derive(Debug, Clone, PartialEq)]
pub enum ChatChunk {
    /// Next part of the text.
    Text(String),
    /// Complete tool call, even if the provider streamed it in several deltas.
    ToolCall(ToolCall),
    /// End of the response.
    End {
        /// Reason for the end.
        stop: StopReason,
        /// Tokens used by the request.
        tokens: TokenUsage,
    },
}

/// Reason why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The answer is complete.
    Done,
    /// The model waits for the results of its tool calls.
    ToolCalls,
    /// The answer reached its token limit.
    Length,
    /// The provider refused or cut off the answer.
    Refused,
}

/// Token counts of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Input tokens, cached ones included.
    pub read: u64,
    /// Input tokens served from the provider's cache.
    pub cached: u64,
    /// Output tokens.
    pub written: u64,
}

/// Request to a language model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChatRequest {
    /// System prompt that stays the same for a whole session, so that providers can cache it.
    pub system: String,
    /// Addition to the user's last message for this request only; empty for none. It follows the history, so that the
    /// provider's cache of everything before it stays valid.
    pub context: String,
    /// Messages so far; the last one is the question.
    pub messages: Vec<ChatMessage>,
    /// Tools that the model may call.
    pub tools: Vec<ChatTool>,
    /// Output token limit; `None` uses the provider's own.
    pub max_tokens: Option<u32>,
    /// Sampling temperature, from 0; `None` uses the provider's own.
    pub temperature: Option<f32>,
    /// Set to require one JSON object as the answer, where the provider supports it.
    pub json: bool,
}

/// One message of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "role")]
pub enum ChatMessage {
    /// Message of the user.
    User {
        /// Text of the message.
        text: String,
    },
    /// Message of the model.
    Assistant {
        /// Text; empty if the model only called tools.
        text: String,
        /// Tool calls of the model.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
    },
    /// Result of a tool call.
    Tool {
        /// Id of the call.
        call: String,
        /// Name of the tool.
        name: String,
        /// Text of the result.
        text: String,
        /// Set when the call failed.
        failed: bool,
    },
}

/// Tool call by a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Id that the provider gave the call.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// JSON object, or the model's own text if it is no valid object.
    pub arguments: Value,
}

/// Tool definition sent to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatTool {
    /// Name of the tool.
    pub name: String,
    /// Purpose of the tool and when to use it.
    pub description: String,
    /// JSON schema of the arguments.
    pub schema: Value,
}

/// Complete response.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatResponse {
    /// Text of the response.
    pub text: String,
    /// Tool calls of the model.
    pub calls: Vec<ToolCall>,
    /// Reason for the end.
    pub stop: StopReason,
    /// Tokens used by the request.
    pub tokens: TokenUsage,
}

/// Sends a request and waits for the complete response.
pub async fn complete(model: &dyn ChatModel, request: &ChatRequest) -> Result<ChatResponse> {
    let mut stream = model.chat(request).await?;
    let mut response = ChatResponse {
        text: String::new(),
        calls: Vec::new(),
        stop: StopReason::Done,
        tokens: TokenUsage::default(),
    };
    while let Some(chunk) = stream.next_chunk().await? {
        match chunk {
            ChatChunk::Text(text) => response.text += &text,
            ChatChunk::ToolCall(call) => response.calls.push(call),
            ChatChunk::End { stop, tokens } => (response.stop, response.tokens) = (stop, tokens),
        }
    }
    Ok(response)
}
