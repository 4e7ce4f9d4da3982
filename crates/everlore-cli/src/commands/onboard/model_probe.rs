//! Whether the chosen model answers, asked for real.

use std::time::{Duration, Instant};

use everlore::{
    Config,
    llm::{ChatMessage, ChatRequest, complete},
};
use serde::Serialize;

use super::{OnboardChoices, config_edit};
use crate::{
    chat_model,
    cli_context::CliContext,
    commands::chat::UiMessages,
    error::{CliError, ErrorReport, Result},
};

/// Nobody waits longer at a wizard.
const PROBE_TIMEOUT: Duration = Duration::from_secs(20);

/// The tokens of an answer to the question whether anybody is there; models that think need some before they speak.
const MAX_PROBE_TOKENS: u32 = 512;

/// What came of asking.
#[derive(Debug, Serialize)]
pub(super) struct ModelProbe {
    /// Whether the model answered.
    pub(super) ok: bool,
    /// Which one was asked.
    pub(super) model: String,
    /// How long it took.
    pub(super) millis: u128,
    /// Why it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<ErrorReport>,
}

/// The settings as they will be; as they are, if they cannot be read.
pub(super) fn config_with_choices(cx: &CliContext, chosen: &OnboardChoices) -> Config {
    let written = config_edit::read_config(&cx.settings.path)
        .and_then(|text| config_edit::apply_choices_unchecked(&text, chosen));
    let read = written.ok().and_then(|written| Config::parse(&written.text).ok());
    read.map_or_else(|| cx.settings.config.clone(), |(config, _)| config)
}

/// Asks the model of the settings for a word.
pub(super) async fn probe_model(cx: &CliContext, config: &Config) -> ModelProbe {
    let started = Instant::now();
    let name =
        config.chat_model().map(|settings| format!("{}/{}", settings.provider, settings.model));
    let outcome = match tokio::time::timeout(PROBE_TIMEOUT, request_reply(cx, config)).await {
        Ok(outcome) => outcome,
        Err(_) => Err(CliError::new(
            "remote",
            format!("the model said nothing for {} seconds", PROBE_TIMEOUT.as_secs()),
            "try it later with `everlore chat`",
        )),
    };
    let error = match outcome {
        Ok(()) => None,
        Err(CliError::Reported(told)) => Some(*told),
        Err(CliError::BrokenPipe) => None,
    };
    ModelProbe {
        ok: error.is_none(),
        model: name.unwrap_or_default(),
        millis: started.elapsed().as_millis(),
        error,
    }
}

/// The models that the provider lists.
pub(super) async fn list_models(cx: &CliContext, config: &Config) -> Result<Vec<String>> {
    let Some(settings) = config.chat_model() else { return Ok(Vec::new()) };
    match tokio::time::timeout(PROBE_TIMEOUT, chat_model::list_models(cx, settings)).await {
        Ok(listed) => listed,
        Err(_) => Ok(Vec::new()),
    }
}

async fn request_reply(cx: &CliContext, config: &Config) -> Result<()> {
    let Some(settings) = config.chat_model() else {
        return Err(CliError::invalid("no model is named", "give --provider and --model"));
    };
    let model = chat_model::build_model(&chat_model::with_key(cx, settings)?)?;
    let request = ChatRequest {
        messages: vec![ChatMessage::User { text: "Answer with the word: ready".to_owned() }],
        max_tokens: Some(MAX_PROBE_TOKENS),
        ..ChatRequest::default()
    };
    complete(&*model, &request).await?;
    Ok(())
}

impl ModelProbe {
    /// In words.
    pub(super) fn render_line(&self, phrases: UiMessages) -> String {
        let Self { model, millis, .. } = self;
        match (&self.error, phrases.is_chinese()) {
            (None, true) => format!("✓ {model} 已回答，用时 {millis} 毫秒"),
            (None, false) => format!("✓ {model} answered in {millis} ms"),
            (Some(error), true) => format!("✗ {model}：{}\n  提示：{}", error.message, error.hint),
            (Some(error), false) => format!("✗ {model}: {}\n  hint: {}", error.message, error.hint),
        }
    }
}
