//! One answer: the model speaks, calls tools, is told what they say, and speaks again, until it is done or stopped.

use std::pin::Pin;

use super::{ChatEvent, ChatSession};
use crate::{
    error::{Error, Result},
    llm::{
        ChatChunk, ChatMessage, ChatModel, ChatRequest, ChatTool, StopReason, TokenUsage, ToolCall,
    },
    tools::{ToolContext, ToolResult},
};

/// More rounds of tools than this lead nowhere: the model is told to answer, and then stopped.
const MAX_TOOL_ROUNDS: usize = 8;

/// A tool's answer is cut here: a conversation holds many of them.
const MAX_RESULT_CHARS: usize = 20_000;

/// How an answer ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReplyOutcome {
    /// All was said.
    Done,
    /// The limit of an answer was reached.
    Length,
    /// The provider did not let the model say more.
    Refused,
    /// It was interrupted.
    Interrupted,
    /// The model called tools without end.
    TooManyRounds,
    /// The model failed after it had begun.
    Failed(Error),
}

/// An answer, as far as it came.
#[derive(Debug)]
pub struct ChatReply {
    /// What the model said, its parts between tool calls joined.
    pub text: String,
    /// How it ended.
    pub outcome: ReplyOutcome,
    /// What it cost.
    pub tokens: TokenUsage,
    /// How many tools were called.
    pub tool_calls: usize,
    /// Why it could not be stored, if it could not.
    pub store_error: Option<Error>,
}

/// What was heard of one round.
#[derive(Default)]
struct RoundOutput {
    text: String,
    calls: Vec<ToolCall>,
    stop: Option<StopReason>,
}

/// Something that comes true when the caller wants an answer to end.
pub(super) type Interrupt<'a> = Pin<&'a mut (dyn Future<Output = ()> + Send)>;

/// The one who is told what happens.
pub(super) type EventSink<'a> = &'a mut (dyn FnMut(ChatEvent<'_>) + Send);

impl ChatSession {
    /// Asks the model and calls the tools that it wants. What it says and what the tools answer goes to the history, as far
    /// as it came; a failure before the first word is an error.
    pub(super) async fn run_tool_loop(
        &mut self,
        context: &str,
        hear: EventSink<'_>,
        mut interrupt: Interrupt<'_>,
    ) -> Result<ChatReply> {
        let mut reply = ChatReply::new();
        for round in 0..=MAX_TOOL_ROUNDS {
            let request = self.request(context);
            let (heard, end) =
                self.run_round(&request, &mut reply.tokens, hear, interrupt.as_mut()).await;
            let calls = if end.is_none() { heard.calls } else { Vec::new() };
            reply.append_text(&heard.text);
            self.push_assistant_message(heard.text, &calls);
            if let Some(end) = end {
                return reply.finish(end);
            }
            if calls.is_empty() {
                return reply
                    .finish(heard.stop.map_or(ReplyOutcome::Done, ReplyOutcome::from_stop_reason));
            }
            reply.tool_calls += calls.len();
            if self.call_tools(calls, round, hear, interrupt.as_mut()).await {
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
            tools: self.tools.specs().map(tool).collect(),
            ..ChatRequest::default()
        }
    }

    /// Hears the model until it stops; says what ended it early, if anything did.
    async fn run_round(
        &self,
        request: &ChatRequest,
        tokens: &mut TokenUsage,
        hear: EventSink<'_>,
        interrupt: Interrupt<'_>,
    ) -> (RoundOutput, Option<ReplyOutcome>) {
        let mut heard = RoundOutput::default();
        let end = tokio::select! {
            biased;
            () = interrupt => Some(ReplyOutcome::Interrupted),
            listened = consume_stream(&*self.model, request, &mut heard, tokens, hear) => {
                listened.err().map(ReplyOutcome::Failed)
            }
        };
        (heard, end)
    }

    fn push_assistant_message(&mut self, text: String, calls: &[ToolCall]) {
        if !text.trim().is_empty() || !calls.is_empty() {
            self.history.push(ChatMessage::Assistant { text, calls: calls.to_vec() });
        }
    }

    /// Calls the tools one after the other; each call gets an answer, even if it was not made. True if interrupted.
    async fn call_tools(
        &mut self,
        calls: Vec<ToolCall>,
        round: usize,
        hear: EventSink<'_>,
        mut interrupt: Interrupt<'_>,
    ) -> bool {
        let mut stopped = false;
        for call in calls {
            // A tool that has begun is not stopped in the middle of a change.
            stopped = stopped || is_ready(interrupt.as_mut()).await;
            let answer = match (stopped, round >= MAX_TOOL_ROUNDS - 1) {
                (true, _) => ToolResult::error("The user interrupted; the tool was not called."),
                (false, true) => ToolResult::error(
                    "Too many tools were called for one answer. Answer now with what you have.",
                ),
                (false, false) => self.call_tool(&call, hear).await,
            };
            let (text, failed) = (truncate_result(answer.text), answer.is_error);
            self.history.push(ChatMessage::Tool { call: call.id, name: call.name, text, failed });
        }
        stopped
    }

    async fn call_tool(&self, call: &ToolCall, hear: EventSink<'_>) -> ToolResult {
        hear(ChatEvent::ToolStarted { name: &call.name, arguments: &call.arguments });
        let context = ToolContext {
            session: Some(&self.session),
            folder: self.folder.as_ref(),
            ..ToolContext::new(&self.engine, &self.scope)
        };
        let answer = self.tools.call(&call.name, call.arguments.clone(), &context).await;
        hear(ChatEvent::ToolFinished {
            name: &call.name,
            text: &answer.text,
            failed: answer.is_error,
        });
        answer
    }
}

async fn consume_stream(
    model: &dyn ChatModel,
    request: &ChatRequest,
    heard: &mut RoundOutput,
    spent: &mut TokenUsage,
    hear: EventSink<'_>,
) -> Result<()> {
    let mut answer = model.chat(request).await?;
    while let Some(piece) = answer.next_chunk().await? {
        match piece {
            ChatChunk::Text(text) => {
                hear(ChatEvent::Text(&text));
                heard.text += &text;
            }
            ChatChunk::ToolCall(call) => heard.calls.push(call),
            ChatChunk::End { stop, tokens } => {
                heard.stop = Some(stop);
                *spent = add_usage(*spent, tokens);
            }
        }
    }
    Ok(())
}

/// Whether a future has come true by now.
async fn is_ready(future: Interrupt<'_>) -> bool {
    tokio::select! {
        biased;
        () = future => true,
        () = std::future::ready(()) => false,
    }
}

/// Both together.
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

    /// A short, stable word for programs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Length => "length",
            Self::Refused => "refused",
            Self::Interrupted => "interrupted",
            Self::TooManyRounds => "rounds",
            Self::Failed(_) => "failed",
        }
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
