//! Whether the chosen model answers, asked for real.

use std::time::{Duration, Instant};

use everlore::{
    Config,
    llm::{ChatRequest, Message, ask},
};
use serde::Serialize;

use super::{Chosen, settings};
use crate::{
    chat_model,
    commands::chat::Phrases,
    context::Context,
    failure::{Failure, Result, Told},
};

/// Nobody waits longer at a wizard.
const LONGEST: Duration = Duration::from_secs(20);

/// The tokens of an answer to the question whether anybody is there; models that think need some before they speak.
const MAX_TOKENS: u32 = 512;

/// What came of asking.
#[derive(Debug, Serialize)]
pub(super) struct Live {
    /// Whether the model answered.
    pub(super) ok: bool,
    /// Which one was asked.
    pub(super) model: String,
    /// How long it took.
    pub(super) millis: u128,
    /// Why it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Told>,
}

/// The settings as they will be; as they are, if they cannot be read.
pub(super) fn config_with(cx: &Context, chosen: &Chosen) -> Config {
    let written = settings::read(&cx.settings.path).and_then(|text| settings::laid(&text, chosen));
    let read = written.ok().and_then(|written| Config::parse(&written.text).ok());
    read.map_or_else(|| cx.settings.config.clone(), |(config, _)| config)
}

/// Asks the model of the settings for a word.
pub(super) async fn live(cx: &Context, config: &Config) -> Live {
    let started = Instant::now();
    let name =
        config.chat_model().map(|settings| format!("{}/{}", settings.provider, settings.model));
    let outcome = match tokio::time::timeout(LONGEST, word(cx, config)).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Failure::told(
            "remote",
            format!("the model said nothing for {} seconds", LONGEST.as_secs()),
            "try it later with `everlore chat`",
        )),
    };
    let error = match outcome {
        Ok(()) => None,
        Err(Failure::Told(told)) => Some(*told),
        Err(Failure::BrokenPipe) => None,
    };
    Live {
        ok: error.is_none(),
        model: name.unwrap_or_default(),
        millis: started.elapsed().as_millis(),
        error,
    }
}

/// The models that the provider lists.
pub(super) async fn models(cx: &Context, config: &Config) -> Result<Vec<String>> {
    let Some(settings) = config.chat_model() else { return Ok(Vec::new()) };
    match tokio::time::timeout(LONGEST, chat_model::list(cx, settings)).await {
        Ok(listed) => listed,
        Err(_) => Ok(Vec::new()),
    }
}

async fn word(cx: &Context, config: &Config) -> Result<()> {
    let Some(settings) = config.chat_model() else {
        return Err(Failure::invalid("no model is named", "give --provider and --model"));
    };
    let model = chat_model::made(&chat_model::with_key(cx, settings)?)?;
    let request = ChatRequest {
        messages: vec![Message::User { text: "Answer with the word: ready".to_owned() }],
        max_tokens: Some(MAX_TOKENS),
        ..ChatRequest::default()
    };
    ask(&*model, &request).await?;
    Ok(())
}

impl Live {
    /// In words.
    pub(super) fn told(&self, phrases: Phrases) -> String {
        let Self { model, millis, .. } = self;
        match (&self.error, phrases.is_chinese()) {
            (None, true) => format!("✓ {model} 已回答，用时 {millis} 毫秒"),
            (None, false) => format!("✓ {model} answered in {millis} ms"),
            (Some(error), true) => format!("✗ {model}：{}\n  提示：{}", error.message, error.hint),
            (Some(error), false) => format!("✗ {model}: {}\n  hint: {}", error.message, error.hint),
        }
    }
}
