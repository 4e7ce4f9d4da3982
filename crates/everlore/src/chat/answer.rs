//! One answer: the model speaks, calls tools, is told what they say, and speaks again, until it is done or stopped.

use std::pin::Pin;

use super::{Conversation, Event};
use crate::{
    error::{Error, Result},
    llm::{ChatModel, ChatRequest, ChatTool, Message, Piece, Stop, Tokens, ToolCall},
    tools::{ToolAnswer, ToolContext},
};

/// More rounds of tools than this lead nowhere: the model is told to answer, and then stopped.
const MAX_ROUNDS: usize = 8;

/// A tool's answer is cut here: a conversation holds many of them.
const MAX_RESULT_CHARS: usize = 20_000;

/// How an answer ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum Ended {
    /// All was said.
    Done,
    /// The limit of an answer was reached.
    Length,
    /// The provider did not let the model say more.
    Refused,
    /// It was interrupted.
    Interrupted,
    /// The model called tools without end.
    Rounds,
    /// The model failed after it had begun.
    Failed(Error),
}

/// An answer, as far as it came.
#[derive(Debug)]
pub struct Reply {
    /// What the model said, its parts between tool calls joined.
    pub text: String,
    /// How it ended.
    pub ended: Ended,
    /// What it cost.
    pub tokens: Tokens,
    /// How many tools were called.
    pub calls: usize,
    /// Why it could not be stored, if it could not.
    pub not_stored: Option<Error>,
}

/// What was heard of one round.
#[derive(Default)]
struct Heard {
    text: String,
    calls: Vec<ToolCall>,
    stop: Option<Stop>,
}

/// Something that comes true when the caller wants an answer to end.
pub(super) type Interrupt<'a> = Pin<&'a mut (dyn Future<Output = ()> + Send)>;

/// The one who is told what happens.
pub(super) type Hear<'a> = &'a mut (dyn FnMut(Event<'_>) + Send);

impl Conversation {
    /// Asks the model and calls the tools that it wants. What it says and what the tools answer goes to the history, as far
    /// as it came; a failure before the first word is an error.
    pub(super) async fn answer(
        &mut self,
        context: &str,
        hear: Hear<'_>,
        mut interrupt: Interrupt<'_>,
    ) -> Result<Reply> {
        let mut reply = Reply::new();
        for round in 0..=MAX_ROUNDS {
            let request = self.request(context);
            let (heard, end) =
                self.round(&request, &mut reply.tokens, hear, interrupt.as_mut()).await;
            let calls = if end.is_none() { heard.calls } else { Vec::new() };
            reply.add(&heard.text);
            self.heard(heard.text, &calls);
            if let Some(end) = end {
                return reply.ended(end);
            }
            if calls.is_empty() {
                return reply.ended(heard.stop.map_or(Ended::Done, Ended::of));
            }
            reply.calls += calls.len();
            if self.call(calls, round, hear, interrupt.as_mut()).await {
                return reply.ended(Ended::Interrupted);
            }
        }
        reply.ended(Ended::Rounds)
    }

    fn request(&self, context: &str) -> ChatRequest {
        let tool = |spec: &crate::tools::Spec| ChatTool {
            name: spec.name.to_owned(),
            description: spec.description.to_owned(),
            schema: spec.input_schema.clone(),
        };
        ChatRequest {
            system: self.prompt.clone(),
            context: context.to_owned(),
            messages: self.history.all().iter().flat_map(|one| one.messages.clone()).collect(),
            tools: self.tools.specs().map(tool).collect(),
            ..ChatRequest::default()
        }
    }

    /// Hears the model until it stops; says what ended it early, if anything did.
    async fn round(
        &self,
        request: &ChatRequest,
        tokens: &mut Tokens,
        hear: Hear<'_>,
        interrupt: Interrupt<'_>,
    ) -> (Heard, Option<Ended>) {
        let mut heard = Heard::default();
        let end = tokio::select! {
            biased;
            () = interrupt => Some(Ended::Interrupted),
            listened = listen(&*self.model, request, &mut heard, tokens, hear) => {
                listened.err().map(Ended::Failed)
            }
        };
        (heard, end)
    }

    fn heard(&mut self, text: String, calls: &[ToolCall]) {
        if !text.trim().is_empty() || !calls.is_empty() {
            self.history.push(Message::Assistant { text, calls: calls.to_vec() });
        }
    }

    /// Calls the tools one after the other; each call gets an answer, even if it was not made. True if interrupted.
    async fn call(
        &mut self,
        calls: Vec<ToolCall>,
        round: usize,
        hear: Hear<'_>,
        mut interrupt: Interrupt<'_>,
    ) -> bool {
        let mut stopped = false;
        for call in calls {
            // A tool that has begun is not stopped in the middle of a change.
            stopped = stopped || is_ready(interrupt.as_mut()).await;
            let answer = match (stopped, round >= MAX_ROUNDS - 1) {
                (true, _) => ToolAnswer::error("The user interrupted; the tool was not called."),
                (false, true) => ToolAnswer::error(
                    "Too many tools were called for one answer. Answer now with what you have.",
                ),
                (false, false) => self.called(&call, hear).await,
            };
            let (text, failed) = (cut(answer.text), answer.is_error);
            self.history.push(Message::Tool { call: call.id, name: call.name, text, failed });
        }
        stopped
    }

    async fn called(&self, call: &ToolCall, hear: Hear<'_>) -> ToolAnswer {
        hear(Event::Calling { name: &call.name, arguments: &call.arguments });
        let context = ToolContext {
            session: Some(&self.session),
            folder: self.folder.as_ref(),
            ..ToolContext::new(&self.engine, &self.scope)
        };
        let answer = self.tools.call(&call.name, call.arguments.clone(), &context).await;
        hear(Event::Called { name: &call.name, text: &answer.text, failed: answer.is_error });
        answer
    }
}

async fn listen(
    model: &dyn ChatModel,
    request: &ChatRequest,
    heard: &mut Heard,
    spent: &mut Tokens,
    hear: Hear<'_>,
) -> Result<()> {
    let mut answer = model.chat(request).await?;
    while let Some(piece) = answer.next().await? {
        match piece {
            Piece::Text(text) => {
                hear(Event::Text(&text));
                heard.text += &text;
            }
            Piece::Call(call) => heard.calls.push(call),
            Piece::End { stop, tokens } => {
                heard.stop = Some(stop);
                *spent = sum(*spent, tokens);
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
pub(super) fn sum(one: Tokens, other: Tokens) -> Tokens {
    Tokens {
        read: one.read + other.read,
        cached: one.cached + other.cached,
        written: one.written + other.written,
    }
}

fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_RESULT_CHARS) {
        Some((end, _)) => format!("{}\n[cut: the answer is longer]", &text[..end]),
        None => text,
    }
}

impl Ended {
    fn of(stop: Stop) -> Self {
        match stop {
            Stop::Done | Stop::Calls => Self::Done,
            Stop::Length => Self::Length,
            Stop::Refused => Self::Refused,
        }
    }

    /// A short, stable word for programs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Length => "length",
            Self::Refused => "refused",
            Self::Interrupted => "interrupted",
            Self::Rounds => "rounds",
            Self::Failed(_) => "failed",
        }
    }
}

impl Reply {
    fn new() -> Self {
        let (text, tokens) = (String::new(), Tokens::default());
        Self { text, ended: Ended::Done, tokens, calls: 0, not_stored: None }
    }

    fn add(&mut self, text: &str) {
        if !self.text.is_empty() && !text.trim().is_empty() {
            self.text += "\n\n";
        }
        if !text.trim().is_empty() {
            self.text += text;
        }
    }

    fn ended(self, ended: Ended) -> Result<Self> {
        match ended {
            Ended::Failed(error) if self.text.is_empty() && self.calls == 0 => Err(error),
            ended => Ok(Self { ended, ..self }),
        }
    }
}
