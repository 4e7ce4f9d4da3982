//! The language models of the settings, with their keys: from the settings, a command, the environment, or `keys.toml`.

use std::{
    process::{Command, Stdio},
    sync::Arc,
};

use everlore::{
    config::{ModelSettings, SecretString, chat_provider},
    llm::ChatModel,
};

use crate::{
    cli_context::CliContext,
    error::{CliError, Result},
    keys,
};

/// The model that talks, or another one of the same provider; none if the settings name none.
pub(crate) fn for_chat(cx: &CliContext, model: Option<&str>) -> Result<Option<Arc<dyn ChatModel>>> {
    let settings = cx.settings.config.chat_model();
    let named = |settings: ModelSettings| match model {
        Some(model) => ModelSettings { model: model.to_owned(), ..settings },
        None => settings,
    };
    build_optional(cx, settings.map(named))
}

/// The model that reads conversations and writes memories; none if the settings name none.
pub(crate) fn for_memory(cx: &CliContext) -> Result<Option<Arc<dyn ChatModel>>> {
    build_optional(cx, cx.settings.config.memory_model())
}

/// The settings with the key filled in, wherever it is kept.
pub(crate) fn with_key(cx: &CliContext, settings: ModelSettings) -> Result<ModelSettings> {
    if !settings.api_key.reveal().trim().is_empty() {
        let key_place = format!("api_key of [{}]", settings.section);
        return Ok(ModelSettings { key_location: key_place, ..settings });
    }
    let found = match settings.key_command.trim() {
        "" => key_from_env(&settings.provider).or(key_from_home(cx, &settings.provider)?),
        command => {
            let place = format!("key_command of [{}]", settings.section);
            Some((key_from_command(command, &place)?, place))
        }
    };
    Ok(match found {
        Some((api_key, key_place)) => {
            ModelSettings { api_key, key_location: key_place, ..settings }
        }
        None => settings,
    })
}

fn build_optional(
    cx: &CliContext,
    settings: Option<ModelSettings>,
) -> Result<Option<Arc<dyn ChatModel>>> {
    settings.map(|settings| build_model(&with_key(cx, settings)?)).transpose()
}

/// The key that the provider's usual variables hold, with the name of the one that does.
fn key_from_env(provider: &str) -> Option<(SecretString, String)> {
    let variables = chat_provider(provider)?.key_variables;
    variables.iter().find_map(|name| {
        let key = std::env::var(name).ok().map(|key| key.trim().to_owned());
        let key = key.filter(|key| !key.is_empty())?;
        Some((SecretString::new(key), format!("the variable {name}")))
    })
}

fn key_from_home(cx: &CliContext, provider: &str) -> Result<Option<(SecretString, String)>> {
    let key = keys::read_key(&cx.home, provider)?;
    Ok(key.map(|key| (key, format!("{} of the home", keys::KEYS_FILE))))
}

/// The first line that a command prints. It may ask the user for a password, so it gets the terminal.
fn key_from_command(command: &str, place: &str) -> Result<SecretString> {
    let failed = |what: String| {
        CliError::invalid(
            format!("{place} {what}"),
            "run it by hand: it must print the key and nothing else",
        )
    };
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let ran = Command::new(shell).args([flag, command]).stderr(Stdio::inherit()).output();
    let ran = ran.map_err(|error| failed(format!("cannot be run: {error}")))?;
    if !ran.status.success() {
        return Err(failed(format!("failed: {}", ran.status)));
    }
    let printed = String::from_utf8_lossy(&ran.stdout);
    match printed.lines().next().map(str::trim).filter(|line| !line.is_empty()) {
        Some(key) => Ok(SecretString::new(key)),
        None => Err(failed("printed nothing".to_owned())),
    }
}

#[cfg(feature = "remote")]
pub(crate) fn build_model(settings: &ModelSettings) -> Result<Arc<dyn ChatModel>> {
    Ok(everlore::llm::remote::chat_model(settings, &crate::embedder::proxies_from_env())?)
}

/// Who answers what programs ask of models through the server. What cannot be used is told to the log, and left out: memory
/// itself needs nobody.
#[cfg(all(feature = "remote", feature = "server"))]
pub(crate) fn providers(cx: &CliContext) -> everlore_server::Providers {
    use everlore::llm::remote::{ClientProtocol, Upstream};

    let config = &cx.settings.config;
    let (proxies, mut found) =
        (crate::embedder::proxies_from_env(), everlore_server::Providers::default());
    for settings in config.chat_model().into_iter().chain(config.memory_model()) {
        let settings = match with_key(cx, settings) {
            Ok(settings) => settings,
            Err(error) => {
                tracing::warn!(?error, "a provider is not used");
                continue;
            }
        };
        for (tongue, slot) in [
            (ClientProtocol::Openai, &mut found.openai),
            (ClientProtocol::Anthropic, &mut found.anthropic),
        ] {
            match Upstream::for_model(&settings, tongue, &proxies) {
                Ok(relay) if slot.is_none() => *slot = relay.map(Arc::new),
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "a provider is not used"),
            }
        }
    }
    found.embedding = crate::embedder::embedding_relay(&config.embedding).map(Arc::new);
    found
}

/// The names of the models that a provider has; the settings need not name one.
#[cfg(feature = "remote")]
pub(crate) async fn list_models(cx: &CliContext, settings: ModelSettings) -> Result<Vec<String>> {
    let settings = with_key(cx, settings)?;
    Ok(everlore::llm::remote::list_models(&settings, &crate::embedder::proxies_from_env()).await?)
}

#[cfg(not(feature = "remote"))]
pub(crate) fn build_model(settings: &ModelSettings) -> Result<Arc<dyn ChatModel>> {
    Err(remote_disabled(settings))
}

#[cfg(not(feature = "remote"))]
pub(crate) async fn list_models(_: &CliContext, settings: ModelSettings) -> Result<Vec<String>> {
    Err(remote_disabled(&settings))
}

#[cfg(not(feature = "remote"))]
fn remote_disabled(settings: &ModelSettings) -> CliError {
    CliError::invalid(
        format!(
            "this program was built without models on other servers, and [{}] names \"{}\"",
            settings.section, settings.provider
        ),
        "build it with the feature `remote`, or take the model out of the settings",
    )
}
