//! Conversations with a language model: what is asked, and the answer as it comes.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Result;

/// A language model that answers in words and by calling tools.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Who serves it and what it is called there, such as `openai/gpt-5-mini`.
    fn name(&self) -> &str;

    /// Asks, and returns as soon as the answer begins. Dropping the answer ends the request.
    async fn chat(&self, request: &ChatRequest) -> Result<Box<dyn ChatStream>>;
}

/// An answer that is still coming.
#[async_trait]
pub trait ChatStream: Send {
    /// Its next piece; none after [`ChatChunk::End`]. Who stops waiting and asks again loses nothing.
    async fn next_chunk(&mut self) -> Result<Option<ChatChunk>>;
}

/// A part of an answer, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum ChatChunk {
    /// More of the text.
    Text(String),
    /// A tool that the model wants called; whole, however many pieces it came in.
    ToolCall(ToolCall),
    /// The end, with what it cost.
    End {
        /// Why the model stopped.
        stop: StopReason,
        /// What was read and written.
        tokens: TokenUsage,
    },
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// It had said everything.
    Done,
    /// It waits for the results of the tools it called.
    ToolCalls,
    /// It came to the limit of an answer.
    Length,
    /// Its provider did not let it say more.
    Refused,
}

/// What an answer cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Tokens that the model read, those from a cache included.
    pub read: u64,
    /// Of these, how many came from the provider's cache.
    pub cached: u64,
    /// Tokens that it wrote.
    pub written: u64,
}

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChatRequest {
    /// What stays the same for a whole conversation: providers keep it in a cache.
    pub system: String,
    /// What is added to the system prompt for this question only; empty for nothing.
    pub context: String,
    /// What was said so far; the last one is the question.
    pub messages: Vec<ChatMessage>,
    /// The tools it may call.
    pub tools: Vec<ChatTool>,
    /// The most tokens that it may write; none for the provider's own limit.
    pub max_tokens: Option<u32>,
    /// How freely it chooses its words, from 0; none for the provider's own.
    pub temperature: Option<f32>,
    /// Whether the answer must be one JSON object, where the provider can promise that.
    pub json: bool,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "role")]
pub enum ChatMessage {
    /// What the user says.
    User {
        /// The text.
        text: String,
    },
    /// What the model said.
    Assistant {
        /// The text; empty where it only called tools.
        text: String,
        /// The tools it called.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
    },
    /// What a tool answered.
    Tool {
        /// The call that it answers.
        call: String,
        /// The tool's name.
        name: String,
        /// What it says.
        text: String,
        /// Whether the call failed.
        failed: bool,
    },
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// What the provider knows it by.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// What the tool is given: a JSON object, or what the model wrote where it is none.
    pub arguments: Value,
}

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatTool {
    /// Its name.
    pub name: String,
    /// When to use it and what it does.
    pub description: String,
    /// What it is given, as JSON schema.
    pub schema: Value,
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatResponse {
    /// The text.
    pub text: String,
    /// The tools it called.
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What it cost.
    pub tokens: TokenUsage,
}

/// Asks and waits for the whole answer.
pub async fn complete(model: &dyn ChatModel, request: &ChatRequest) -> Result<ChatResponse> {
    let mut answer = model.chat(request).await?;
    let mut whole = ChatResponse {
        text: String::new(),
        calls: Vec::new(),
        stop: StopReason::Done,
        tokens: TokenUsage::default(),
    };
    while let Some(piece) = answer.next_chunk().await? {
        match piece {
            ChatChunk::Text(text) => whole.text += &text,
            ChatChunk::ToolCall(call) => whole.calls.push(call),
            ChatChunk::End { stop, tokens } => (whole.stop, whole.tokens) = (stop, tokens),
        }
    }
    Ok(whole)
}
