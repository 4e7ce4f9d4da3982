//! Test request to the chosen model.

use std::time::{Duration, Instant};

use everlore::{
    Config,
    llm::{ChatMessage, ChatRequest, complete},
};
use serde::Serialize;

use super::{OnboardChoices, config_edit};
use crate::{
    CliContext, CliError, Result, chat_model, commands::chat::UiMessages, config_file,
    error::ErrorReport,
};

/// Timeout of the test request.
const PROBE_TIMEOUT: Duration = Duration::from_secs(20);

/// Most tokens of the test answer; reasoning models need some before they answer.
const MAX_PROBE_TOKENS: u32 = 512;

/// Result of the test request.
#[derive(Debug, Serialize)]
pub(super) struct ModelProbe {
    /// `true` if the model answered.
    pub(super) ok: bool,
    /// Provider and model.
    pub(super) model: String,
    /// Duration.
    pub(super) millis: u128,
    /// Error, if it did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<ErrorReport>,
}

/// Returns the settings with the choices; the current ones if the file cannot be read.
pub(super) fn config_with_choices(cx: &CliContext, choices: &OnboardChoices) -> Config {
    let edit = config_file::read_config(&cx.settings.path)
        .and_then(|text| config_edit::apply_choices_unchecked(&text, choices));
    let parsed = edit.ok().and_then(|edit| Config::parse(&edit.text).ok());
    let mut config = parsed.map_or_else(|| cx.settings.config.clone(), |(config, _)| config);
    if let Some((_, key)) = &choices.key {
        config.memory_agent.api_key = key.clone();
    }
    config
}

/// Asks the model of the settings for one word.
pub(super) async fn probe_model(cx: &CliContext, config: &Config) -> ModelProbe {
    let started = Instant::now();
    let name =
        config.chat_model().map(|settings| format!("{}/{}", settings.provider, settings.model));
    let outcome = match tokio::time::timeout(PROBE_TIMEOUT, request_reply(cx, config)).await {
        Ok(outcome) => outcome,
        Err(_) => Err(CliError::new(
            "remote",
            format!("the model did not answer within {} seconds", PROBE_TIMEOUT.as_secs()),
            "try it later with `everlore chat`",
        )),
    };
    let error = match outcome {
        Ok(()) => None,
        Err(CliError::Reported(report)) => Some(*report),
        Err(CliError::BrokenPipe) => None,
    };
    ModelProbe {
        ok: error.is_none(),
        model: name.unwrap_or_default(),
        millis: started.elapsed().as_millis(),
        error,
    }
}

/// Lists the provider's models.
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
    /// Formats the result for people.
    pub(super) fn render_line(&self, messages: UiMessages) -> String {
        let Self { model, millis, .. } = self;
        match (&self.error, messages.is_chinese()) {
            (None, true) => format!("✓ {model} 已回答，用时 {millis} 毫秒"),
            (None, false) => format!("✓ {model} answered in {millis} ms"),
            (Some(error), true) => format!("✗ {model}：{}\n  提示：{}", error.message, error.hint),
            (Some(error), false) => format!("✗ {model}: {}\n  hint: {}", error.message, error.hint),
        }
    }
}
