//! Making much short: by the model of the conversation, and by choosing sentences where there is none or it fails.

use std::{sync::Arc, time::Instant};

use super::history::Exchange;
use crate::{
    engine::Engine,
    llm::{ChatMessage, ChatModel, ChatRequest, ChatResponse, TokenUsage, complete},
    text::{
        language::{Language, detect_language},
        secrets::mask,
        summary::{Utterance, summarize, truncate_lines},
        tokens::estimate_tokens,
    },
    types::Scope,
};

/// What summaries are called in the ledger.
const LEDGER_JOB: &str = "summary";

/// Exchanges that are summed up together where there is no model: a few sentences for each few exchanges keep what a long
/// conversation was about from its beginning to its end.
const EXCHANGES_PER_SUMMARY: usize = 4;

/// The characters of one such summary.
const CHARS_PER_SUMMARY: usize = 400;

/// A model that is asked for so many characters may write this many tokens: every character of Chinese may be one, and some
/// models think first.
const TOKENS_PER_CHAR: u32 = 2;

/// What the two are called in a text for a model or a log.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpeakerLabels {
    pub(super) user: &'static str,
    pub(super) assistant: &'static str,
}

impl SpeakerLabels {
    /// In a language.
    pub(super) fn for_language(language: Language) -> Self {
        match language {
            Language::Chinese => Self { user: "用户", assistant: "助手" },
            _ => Self { user: "user", assistant: "assistant" },
        }
    }
}

/// Lines, and who wrote them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ExchangeSummary {
    /// The lines; empty if nothing was worth one.
    pub(super) text: String,
    /// Whether the model wrote them.
    pub(super) by_model: bool,
    /// What the model read and wrote.
    pub(super) tokens: TokenUsage,
    /// Why the model did not write it, if it was asked.
    pub(super) failure: Option<String>,
}

/// A model that is asked on somebody's account: what it takes is written into the ledger, and above the cap of the day it
/// is not asked (A6).
#[derive(Clone)]
pub(super) struct MeteredModel {
    pub(super) engine: Engine,
    pub(super) scope: Scope,
    pub(super) model: Arc<dyn ChatModel>,
}

impl MeteredModel {
    /// Asks the model to sum texts up in at most so many characters; none if what it says is of no use.
    ///
    /// This is the one place where a conversation asks its model for anything but an answer.
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
                let told = ExchangeSummary { tokens, ..ExchangeSummary::default() };
                ((!lines.is_empty()).then_some(lines), told)
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
        let begun = Instant::now();
        let answered = complete(&**model, request).await.map_err(|error| error.to_string())?;
        if let Err(error) =
            engine.record_spending(scope, LEDGER_JOB, answered.tokens, begun.elapsed()).await
        {
            tracing::warn!("{error}: what a summary took is not in the ledger");
        }
        Ok(answered)
    }
}

/// The exchanges and what was summed up before them, short: by the model, else by sentences.
pub(super) async fn summarize_exchanges(
    account: Option<&MeteredModel>,
    before: &str,
    exchanges: &[Exchange],
    max_chars: usize,
) -> ExchangeSummary {
    let mut summary = ExchangeSummary::default();
    if let Some(account) = account {
        let (lines, told) = account.summarize(&transcript(before, exchanges), max_chars).await;
        if let Some(text) = lines {
            return ExchangeSummary { text, by_model: true, ..told };
        }
        summary = told;
    }
    let parts = exchanges.chunks(EXCHANGES_PER_SUMMARY).map(extract_sentences);
    let lines: Vec<String> =
        std::iter::once(before.to_owned()).chain(parts).filter(|part| !part.is_empty()).collect();
    ExchangeSummary { text: latest_lines(&lines.join("\n"), max_chars), ..summary }
}

/// One exchange in at most so many tokens, in its own sentences.
pub(super) fn condense(exchange: &Exchange, max_tokens: usize) -> String {
    let answer = exchange.answer();
    let said = speaker_texts(exchange, &answer);
    let whole = format!("{}\n{answer}", exchange.question());
    // As many characters as the tokens are of all, which the margin of the estimate keeps below the limit.
    let mut room = whole.chars().count() * max_tokens / estimate_tokens(&whole).max(1);
    loop {
        let text = match summarize(&said, room) {
            lines if lines.is_empty() => whole.chars().take(room).collect(),
            lines => lines,
        };
        if estimate_tokens(&text) <= max_tokens || room == 0 {
            return text;
        }
        room /= 2;
    }
}

/// Exchanges as a model reads them.
pub(super) fn transcript(before: &str, exchanges: &[Exchange]) -> String {
    let lines = exchanges.iter().map(|exchange| {
        let by = SpeakerLabels::for_language(detect_language(exchange.question()));
        format!("{}: {}\n\n{}: {}", by.user, exchange.question(), by.assistant, exchange.answer())
    });
    let text = lines.collect::<Vec<_>>().join("\n\n");
    let text = if before.is_empty() { text } else { format!("{before}\n\n{text}") };
    // What is summed up may reach a file.
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

/// The last lines that fit: what was said long ago goes first.
fn latest_lines(text: &str, max_chars: usize) -> String {
    let backwards: Vec<&str> = text.lines().rev().collect();
    let kept = truncate_lines(&backwards.join("\n"), max_chars);
    kept.lines().rev().collect::<Vec<_>>().join("\n")
}

/// What a model wrote as lines of a list, none of which can pass for a heading or a fence.
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
