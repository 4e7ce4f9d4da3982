//! The language model of the settings, with its key.

use std::sync::Arc;

use everlore::{
    Config,
    config::{ModelSettings, Secret, chat_provider},
    llm::ChatModel,
};

use crate::failure::{Failure, Result};

/// The model that talks, or another one of the same provider; none if the settings name none.
pub(crate) async fn of(config: &Config, name: Option<&str>) -> Result<Option<Arc<dyn ChatModel>>> {
    let Some(mut settings) = config.chat_model() else { return Ok(None) };
    if let Some(name) = name {
        settings.model = name.to_owned();
    }
    made(&with_key(settings).await?).map(Some)
}

/// The same settings with the key that the environment or a command holds, unless they have one.
pub(crate) async fn with_key(settings: ModelSettings) -> Result<ModelSettings> {
    if !settings.api_key.reveal().is_empty() {
        return Ok(settings);
    }
    let variables = chat_provider(&settings.provider).map_or(&[][..], |known| known.key_variables);
    let set = |name: &&str| std::env::var(name).ok().filter(|key| !key.trim().is_empty());
    let api_key = match variables.iter().find_map(set) {
        Some(key) => Secret::new(key.trim()),
        None => Secret::new(printed(settings.key_command.clone()).await?),
    };
    Ok(ModelSettings { api_key, ..settings })
}

/// What the command of the settings prints; it may ask for a passphrase on the terminal.
async fn printed(command: String) -> Result<String> {
    if command.trim().is_empty() {
        return Ok(String::new());
    }
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let failed = |why: String| {
        let hint = "check key_command in the settings, or put the key into the provider's variable";
        Failure::invalid(format!("the command that prints the key failed: {why}"), hint)
    };
    let run = move || {
        let mut run = std::process::Command::new(shell);
        run.args([flag, &command]).stdin(std::process::Stdio::inherit()).output()
    };
    let output = tokio::task::spawn_blocking(run)
        .await
        .map_err(|error| failed(error.to_string()))?
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(output.status.to_string()));
    }
    // Only the key: what else a tool prints stands below it.
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().trim().to_owned())
}

/// A model by its settings; nothing is sent yet.
#[cfg(feature = "remote")]
pub(crate) fn made(settings: &ModelSettings) -> Result<Arc<dyn ChatModel>> {
    Ok(everlore::llm::remote::chat_model(settings, &crate::model::proxies())?)
}

/// The names of the models that a provider has.
#[cfg(feature = "remote")]
pub(crate) async fn listed(settings: &ModelSettings) -> Result<Vec<String>> {
    Ok(everlore::llm::remote::list_models(settings, &crate::model::proxies()).await?)
}

#[cfg(not(feature = "remote"))]
pub(crate) fn made(_: &ModelSettings) -> Result<Arc<dyn ChatModel>> {
    Err(without_remote())
}

#[cfg(not(feature = "remote"))]
pub(crate) async fn listed(_: &ModelSettings) -> Result<Vec<String>> {
    Err(without_remote())
}

#[cfg(not(feature = "remote"))]
fn without_remote() -> Failure {
    Failure::invalid(
        "this program was built without models on other servers",
        "use `everlore chat --offline`, or build with the feature `remote`",
    )
}
