//! Session summaries: by the session's model, or extractive where there is none or it fails.

use std::{sync::Arc, time::Instant};

use super::history::Exchange;
use crate::{
    engine::Engine,
    llm::{ChatMessage, ChatModel, ChatRequest, ChatResponse, TokenUsage, complete},
    text::{
        language::{Language, detect_language},
        sanitize::sanitize,
        secrets::mask,
        summary::{Utterance, summarize, truncate_lines},
        tokens::estimate_tokens,
    },
    types::Scope,
};

/// Ledger label of summaries.
const LEDGER_JOB: &str = "summary";

/// Exchanges per extractive summary: a few sentences for each few exchanges cover a long session from beginning to end.
const EXCHANGES_PER_SUMMARY: usize = 4;

/// Characters of one extractive summary.
const CHARS_PER_SUMMARY: usize = 400;

/// Output tokens allowed per requested character: every Chinese character may be a token, and some models reason first.
const TOKENS_PER_CHAR: u32 = 2;

/// Speaker labels in a transcript.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpeakerLabels {
    pub(super) user: &'static str,
    pub(super) assistant: &'static str,
}

impl SpeakerLabels {
    /// Returns the labels in a language.
    pub(super) fn for_language(language: Language) -> Self {
        match language {
            Language::Chinese => Self { user: "用户", assistant: "助手" },
            _ => Self { user: "user", assistant: "assistant" },
        }
    }
}

/// Summary of exchanges and its origin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ExchangeSummary {
    /// Lines of the summary; empty if nothing was worth one.
    pub(super) text: String,
    /// Set when the model wrote it.
    pub(super) by_model: bool,
    /// Token usage of the model.
    pub(super) tokens: TokenUsage,
    /// Reason why the model did not write it, if it was called.
    pub(super) failure: Option<String>,
}

/// Model whose token usage goes to a scope's ledger; it is not called beyond the daily cap.
#[derive(Clone)]
pub(super) struct MeteredModel {
    pub(super) engine: Engine,
    pub(super) scope: Scope,
    pub(super) model: Arc<dyn ChatModel>,
}

impl MeteredModel {
    /// Summarizes a text in at most `max_chars` characters; `None` if the model's answer is of no use.
    ///
    /// Besides replies, this is the only place where a session calls its model.
    pub(super) async fn summarize(
        &self,
        text: &str,
        max_chars: usize,
    ) -> (Option<String>, ExchangeSummary) {
        let failed = |why: String| {
            (None, ExchangeSummary { failure: Some(why), ..ExchangeSummary::default() })
        };
        let request = ChatRequest {
            system: instructions(detect_language(text), max_chars),
            messages: vec![ChatMessage::User { text: text.to_owned() }],
            max_tokens: Some((max_chars as u32).saturating_mul(TOKENS_PER_CHAR)),
            ..ChatRequest::default()
        };
        match self.complete_metered(&request).await {
            Ok(ChatResponse { text, tokens, .. }) => {
                let lines = truncate_lines(&to_list_lines(&text), max_chars);
                let summary = ExchangeSummary { tokens, ..ExchangeSummary::default() };
                ((!lines.is_empty()).then_some(lines), summary)
            }
            Err(why) => failed(why),
        }
    }

    async fn complete_metered(&self, request: &ChatRequest) -> Result<ChatResponse, String> {
        let Self { engine, scope, model } = self;
        let allowance =
            engine.may_spend(scope, LEDGER_JOB).await.map_err(|error| error.to_string())?;
        if let Some(reason) = allowance.reason.filter(|_| !allowance.allowed) {
            return Err(reason);
        }
        let started = Instant::now();
        let response = complete(&**model, request).await.map_err(|error| error.to_string())?;
        if let Err(error) =
            engine.record_spending(scope, LEDGER_JOB, response.tokens, started.elapsed()).await
        {
            tracing::warn!("{error}: the token usage of a summary is not in the ledger");
        }
        Ok(response)
    }
}

/// Summarizes exchanges together with the summary before them: by the model, or extractively.
pub(super) async fn summarize_exchanges(
    model: Option<&MeteredModel>,
    before: &str,
    exchanges: &[Exchange],
    max_chars: usize,
) -> ExchangeSummary {
    let mut summary = ExchangeSummary::default();
    if let Some(model) = model {
        let (lines, attempt) = model.summarize(&transcript(before, exchanges), max_chars).await;
        if let Some(text) = lines {
            return ExchangeSummary { text, by_model: true, ..attempt };
        }
        summary = attempt;
    }
    let parts = exchanges.chunks(EXCHANGES_PER_SUMMARY).map(extract_sentences);
    let lines: Vec<String> =
        std::iter::once(before.to_owned()).chain(parts).filter(|part| !part.is_empty()).collect();
    ExchangeSummary { text: latest_lines(&lines.join("\n"), max_chars), ..summary }
}

/// Condenses one exchange to at most `max_tokens`, in its own sentences.
pub(super) fn condense(exchange: &Exchange, max_tokens: usize) -> String {
    let answer = exchange.answer();
    let utterances = speaker_texts(exchange, &answer);
    let whole = format!("{}\n{answer}", exchange.question());
    // Characters in proportion to the tokens; the margin of the estimate keeps the result below the limit.
    let mut room = whole.chars().count() * max_tokens / estimate_tokens(&whole).max(1);
    loop {
        let text = match summarize(&utterances, room) {
            lines if lines.is_empty() => whole.chars().take(room).collect(),
            lines => lines,
        };
        if estimate_tokens(&text) <= max_tokens || room == 0 {
            return text;
        }
        room /= 2;
    }
}

/// Renders exchanges as a transcript for a model.
pub(super) fn transcript(before: &str, exchanges: &[Exchange]) -> String {
    let lines = exchanges.iter().map(|exchange| {
        let labels = SpeakerLabels::for_language(detect_language(exchange.question()));
        format!(
            "{}: {}\n\n{}: {}",
            labels.user,
            sanitize(exchange.question()).trim_start(),
            labels.assistant,
            sanitize(&exchange.answer()).trim_start()
        )
    });
    let text = lines.collect::<Vec<_>>().join("\n\n");
    let text = if before.is_empty() { text } else { format!("{before}\n\n{text}") };
    // The summary may be written to a file.
    mask(&text).0.into_owned()
}

fn extract_sentences(exchanges: &[Exchange]) -> String {
    let answers: Vec<String> = exchanges.iter().map(Exchange::answer).collect();
    let pairs = exchanges.iter().zip(&answers);
    let all: Vec<Utterance<'_>> =
        pairs.flat_map(|(exchange, answer)| speaker_texts(exchange, answer)).collect();
    summarize(&all, CHARS_PER_SUMMARY)
}

fn speaker_texts<'a>(exchange: &'a Exchange, answer: &'a str) -> [Utterance<'a>; 2] {
    let by = SpeakerLabels::for_language(detect_language(exchange.question()));
    [
        Utterance { speaker: by.user, text: exchange.question(), is_user: true },
        Utterance { speaker: by.assistant, text: answer, is_user: false },
    ]
}

/// Returns the last lines that fit: the oldest content goes first.
fn latest_lines(text: &str, max_chars: usize) -> String {
    let reversed: Vec<&str> = text.lines().rev().collect();
    let fitting = truncate_lines(&reversed.join("\n"), max_chars);
    fitting.lines().rev().collect::<Vec<_>>().join("\n")
}

/// Turns model output into list items, none of which can pass for a heading or a fence.
fn to_list_lines(text: &str) -> String {
    let bare = |line: &str| {
        let line = line.trim().trim_start_matches(['#', '-', '*', '>', '`', '~', ' ', '•']);
        line.trim().to_owned()
    };
    let lines = text.lines().map(bare).filter(|line| !line.is_empty());
    lines.map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n")
}

fn instructions(language: Language, max_chars: usize) -> String {
    let text = match language {
        Language::Chinese => include_str!("../../prompts/summary_zh.md"),
        _ => include_str!("../../prompts/summary_en.md"),
    };
    text.replace("{chars}", &max_chars.to_string())
}
