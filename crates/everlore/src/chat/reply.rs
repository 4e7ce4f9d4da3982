//! Tool loop of one reply: the model answers and calls tools until it stops, is interrupted or fails.

use std::pin::Pin;

use serde_json::Value;

use super::{ChatSession, CompactionReport, InjectedContext, history::message_tokens};
use crate::{
    engine::DueReminder,
    error::{Error, Result},
    llm::{
        ChatChunk, ChatMessage, ChatModel, ChatRequest, ChatTool, StopReason, TokenUsage, ToolCall,
    },
    text::tokens::estimate_tokens,
    tools::{ToolContext, ToolResult},
    types::AnswerEnd,
};

/// Tool rounds per reply. In the last one the model is told to answer, and then it is stopped.
const MAX_TOOL_ROUNDS: usize = 8;

/// Longest tool result in the history, which holds many of them.
const MAX_RESULT_CHARS: usize = 20_000;

/// Event while a model answers.
#[derive(Debug)]
#[non_exhaustive]
pub enum ChatEvent<'a> {
    /// The older exchanges were summarized.
    Compacted(&'a CompactionReport),
    /// Reminders are due; the model is told as well.
    Reminders(&'a [DueReminder]),
    /// Context was added to the prompt for this message.
    Injected(&'a InjectedContext),
    /// The model cannot call tools, and is asked without them from now on.
    WithoutTools {
        /// Name of the model.
        model: &'a str,
    },
    /// Next part of the answer.
    Text(&'a str),
    /// A tool call begins.
    ToolStarted {
        /// Name of the tool.
        name: &'a str,
        /// Arguments of the call.
        arguments: &'a Value,
    },
    /// A tool call is done.
    ToolFinished {
        /// Name of the tool.
        name: &'a str,
        /// Text of the result.
        text: &'a str,
        /// Set when the call failed.
        failed: bool,
    },
}

/// Way in which a reply ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReplyOutcome {
    /// The answer is complete.
    Done,
    /// The answer reached its token limit.
    Length,
    /// The provider refused or cut off the answer.
    Refused,
    /// The caller interrupted it.
    Interrupted,
    /// The model kept calling tools.
    TooManyRounds,
    /// The model failed after it had begun.
    Failed(Error),
}

/// Reply, as far as it was received.
#[derive(Debug)]
pub struct ChatReply {
    /// Text of the model, its parts between tool calls joined.
    pub text: String,
    /// Way in which it ended.
    pub outcome: ReplyOutcome,
    /// Token usage.
    pub tokens: TokenUsage,
    /// Number of tool calls.
    pub tool_calls: usize,
    /// Error that prevented storing the answer.
    pub store_error: Option<Error>,
}

/// Output of one model call.
#[derive(Default)]
struct RoundOutput {
    text: String,
    calls: Vec<ToolCall>,
    stop: Option<StopReason>,
}

/// Future that completes when the caller wants the answer to end.
pub(super) type Interrupt<'a> = Pin<&'a mut (dyn Future<Output = ()> + Send)>;

/// Callback for the events of a reply.
pub(super) type EventSink<'a> = &'a mut (dyn FnMut(ChatEvent<'_>) + Send);

impl ChatSession {
    /// Runs the tool loop. Messages and tool results enter the history as far as they were received; a failure before
    /// the first word is an error.
    pub(super) async fn run_tool_loop(
        &mut self,
        context: &str,
        on_event: EventSink<'_>,
        mut interrupt: Interrupt<'_>,
    ) -> Result<ChatReply> {
        let mut reply = ChatReply::new();
        for round in 0..=MAX_TOOL_ROUNDS {
            let (output, end) =
                self.run_round(context, &mut reply.tokens, on_event, interrupt.as_mut()).await;
            let calls = if end.is_none() { output.calls } else { Vec::new() };
            reply.append_text(&output.text);
            self.push_assistant_message(output.text, &calls);
            if let Some(end) = end {
                return reply.finish(end);
            }
            if calls.is_empty() {
                return reply.finish(
                    output.stop.map_or(ReplyOutcome::Done, ReplyOutcome::from_stop_reason),
                );
            }
            reply.tool_calls += calls.len();
            if self.call_tools(calls, round, on_event, interrupt.as_mut()).await {
                return reply.finish(ReplyOutcome::Interrupted);
            }
        }
        reply.finish(ReplyOutcome::TooManyRounds)
    }

    fn request(&self, context: &str) -> ChatRequest {
        let tool = |spec: &crate::tools::ToolSpec| ChatTool {
            name: spec.name.to_owned(),
            description: spec.description.to_owned(),
            schema: spec.input_schema.clone(),
        };
        ChatRequest {
            system: self.prompt.clone(),
            context: context.to_owned(),
            messages: self
                .history
                .exchanges()
                .iter()
                .flat_map(|one| one.messages.clone())
                .collect(),
            tools: self.tools.specs().filter(|_| !self.without_tools).map(tool).collect(),
            ..ChatRequest::default()
        }
    }

    /// Calls the model and returns its output, with the outcome if the call ended early. A model that refuses tools is
    /// called again without them, now and for the rest of the session.
    async fn run_round(
        &mut self,
        context: &str,
        tokens: &mut TokenUsage,
        on_event: EventSink<'_>,
        mut interrupt: Interrupt<'_>,
    ) -> (RoundOutput, Option<ReplyOutcome>) {
        let called = self.call_model(context, tokens, on_event, interrupt.as_mut()).await;
        let refuses = |end: &ReplyOutcome| {
            matches!(end, ReplyOutcome::Failed(Error::ToolsUnsupported { .. }))
        };
        if self.without_tools || !called.1.as_ref().is_some_and(refuses) {
            return called;
        }
        self.without_tools = true;
        on_event(ChatEvent::WithoutTools { model: self.model.name() });
        self.call_model(context, tokens, on_event, interrupt).await
    }

    async fn call_model(
        &self,
        context: &str,
        tokens: &mut TokenUsage,
        on_event: EventSink<'_>,
        interrupt: Interrupt<'_>,
    ) -> (RoundOutput, Option<ReplyOutcome>) {
        let (request, mut output) = (self.request(context), RoundOutput::default());
        let end = tokio::select! {
            biased;
            () = interrupt => Some(ReplyOutcome::Interrupted),
            streamed = consume_stream(&*self.model, &request, &mut output, tokens, on_event) => {
                streamed.err().map(ReplyOutcome::Failed)
            }
        };
        let has_begun = !output.text.is_empty() || matches!(end, Some(ReplyOutcome::Interrupted));
        if output.stop.is_none() && has_begun {
            *tokens = add_usage(*tokens, estimated_usage(&request, &output.text));
        }
        (output, end)
    }

    fn push_assistant_message(&mut self, text: String, calls: &[ToolCall]) {
        if !text.trim().is_empty() || !calls.is_empty() {
            self.history.push(ChatMessage::Assistant { text, calls: calls.to_vec() });
        }
    }

    /// Calls tools in order. Every call gets a result, even if it was not run. Returns `true` if interrupted.
    async fn call_tools(
        &mut self,
        calls: Vec<ToolCall>,
        round: usize,
        on_event: EventSink<'_>,
        mut interrupt: Interrupt<'_>,
    ) -> bool {
        let mut stopped = false;
        let called_at = self.clock.next_instant(&self.engine).timestamp();
        for call in calls {
            // A running tool is not stopped in the middle of a change.
            stopped = stopped || is_ready(interrupt.as_mut()).await;
            let result = match (stopped, round >= MAX_TOOL_ROUNDS - 1) {
                (true, _) => ToolResult::error("The user interrupted; the tool was not called."),
                (false, true) => ToolResult::error(
                    "Too many tools were called for one answer. Answer now with what you have.",
                ),
                (false, false) => self.call_tool(&call, on_event).await,
            };
            let (text, failed) = (truncate_result(result.text), result.is_error);
            self.record_call(&call, &text, failed, called_at);
            self.history.push(ChatMessage::Tool { call: call.id, name: call.name, text, failed });
        }
        stopped
    }

    async fn call_tool(&self, call: &ToolCall, on_event: EventSink<'_>) -> ToolResult {
        on_event(ChatEvent::ToolStarted { name: &call.name, arguments: &call.arguments });
        let context = ToolContext {
            session: Some(&self.session),
            folder: self.folder.as_ref(),
            ..ToolContext::new(&self.engine, &self.scope)
        };
        let result = self.tools.call(&call.name, call.arguments.clone(), &context).await;
        on_event(ChatEvent::ToolFinished {
            name: &call.name,
            text: &result.text,
            failed: result.is_error,
        });
        result
    }
}

async fn consume_stream(
    model: &dyn ChatModel,
    request: &ChatRequest,
    output: &mut RoundOutput,
    spent: &mut TokenUsage,
    on_event: EventSink<'_>,
) -> Result<()> {
    let mut stream = model.chat(request).await?;
    while let Some(chunk) = stream.next_chunk().await? {
        match chunk {
            ChatChunk::Text(text) => {
                on_event(ChatEvent::Text(&text));
                output.text += &text;
            }
            ChatChunk::ToolCall(call) => output.calls.push(call),
            ChatChunk::End { stop, tokens } => {
                output.stop = Some(stop);
                *spent = add_usage(*spent, tokens);
            }
        }
    }
    Ok(())
}

/// Estimates what an answer cost that ended before its provider counted it: the request was read, and the text written.
fn estimated_usage(request: &ChatRequest, text: &str) -> TokenUsage {
    let tool = |tool: &ChatTool| {
        estimate_tokens(&tool.name)
            + estimate_tokens(&tool.description)
            + estimate_tokens(&tool.schema.to_string())
    };
    let prompt = estimate_tokens(&request.system) + estimate_tokens(&request.context);
    let messages: usize = request.messages.iter().map(message_tokens).sum();
    let tools: usize = request.tools.iter().map(tool).sum();
    TokenUsage {
        read: (prompt + messages + tools) as u64,
        cached: 0,
        written: estimate_tokens(text) as u64,
    }
}

/// Returns `true` if a future is ready now.
async fn is_ready(future: Interrupt<'_>) -> bool {
    tokio::select! {
        biased;
        () = future => true,
        () = std::future::ready(()) => false,
    }
}

/// Adds token counts.
pub(super) fn add_usage(one: TokenUsage, other: TokenUsage) -> TokenUsage {
    TokenUsage {
        read: one.read + other.read,
        cached: one.cached + other.cached,
        written: one.written + other.written,
    }
}

fn truncate_result(text: String) -> String {
    match text.char_indices().nth(MAX_RESULT_CHARS) {
        Some((end, _)) => format!("{}\n[cut: the answer is longer]", &text[..end]),
        None => text,
    }
}

impl ReplyOutcome {
    fn from_stop_reason(stop: StopReason) -> Self {
        match stop {
            StopReason::Done | StopReason::ToolCalls => Self::Done,
            StopReason::Length => Self::Length,
            StopReason::Refused => Self::Refused,
        }
    }

    /// Returns the outcome as a trajectory records it.
    pub(super) fn recorded_end(&self) -> AnswerEnd {
        match self {
            Self::Done => AnswerEnd::Done,
            Self::Length => AnswerEnd::Length,
            Self::Refused => AnswerEnd::Refused,
            Self::Interrupted => AnswerEnd::Interrupted,
            Self::TooManyRounds => AnswerEnd::Rounds,
            Self::Failed(_) => AnswerEnd::Failed,
        }
    }

    /// Returns a short, stable identifier for programs.
    pub fn as_str(&self) -> &'static str {
        self.recorded_end().as_str()
    }
}

impl ChatReply {
    fn new() -> Self {
        let (text, tokens) = (String::new(), TokenUsage::default());
        Self { text, outcome: ReplyOutcome::Done, tokens, tool_calls: 0, store_error: None }
    }

    fn append_text(&mut self, text: &str) {
        if !self.text.is_empty() && !text.trim().is_empty() {
            self.text += "\n\n";
        }
        if !text.trim().is_empty() {
            self.text += text;
        }
    }

    fn finish(self, ended: ReplyOutcome) -> Result<Self> {
        match ended {
            ReplyOutcome::Failed(error) if self.text.is_empty() && self.tool_calls == 0 => {
                Err(error)
            }
            ended => Ok(Self { outcome: ended, ..self }),
        }
    }
}
