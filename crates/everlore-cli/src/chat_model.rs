//! Language models of the settings with their API keys: from the settings, a command, the environment, or `keys.toml`.

use std::{
    process::{Command, Stdio},
    sync::Arc,
};

use everlore::{
    Engine,
    config::{ModelSettings, SecretString, chat_provider},
    llm::ChatModel,
};

use crate::{CliContext, CliError, Result, keys};

/// Returns the chat model, or another model of its provider; `None` if the settings name none.
pub(crate) fn for_chat(cx: &CliContext, model: Option<&str>) -> Result<Option<Arc<dyn ChatModel>>> {
    let settings = cx.settings.config.chat_model();
    let with_name = |settings: ModelSettings| match model {
        Some(model) => ModelSettings { model: model.to_owned(), ..settings },
        None => settings,
    };
    build_optional(cx, settings.map(with_name))
}

/// Returns the model that extracts memories; `None` if the settings name none.
pub(crate) fn for_memory(cx: &CliContext) -> Result<Option<Arc<dyn ChatModel>>> {
    build_optional(cx, cx.settings.config.memory_model())
}

/// Returns an engine with the model that writes summaries, if the settings name one of its own.
pub(crate) fn with_summary_model(cx: &CliContext, engine: Engine) -> Result<Engine> {
    Ok(match build_optional(cx, cx.settings.config.summary_model())? {
        Some(model) => engine.with_summary_model(model),
        None => engine,
    })
}

/// Returns the settings with the API key and where it was found.
pub(crate) fn with_key(cx: &CliContext, settings: ModelSettings) -> Result<ModelSettings> {
    if !settings.api_key.reveal().trim().is_empty() {
        let key_location = format!("api_key of [{}]", settings.section);
        return Ok(ModelSettings { key_location, ..settings });
    }
    let found = match settings.key_command.trim() {
        "" => key_from_env(&settings.provider).or(key_from_home(cx, &settings.provider)?),
        command => {
            let location = format!("key_command of [{}]", settings.section);
            Some((key_from_command(command, &location)?, location))
        }
    };
    Ok(match found {
        Some((api_key, key_location)) => ModelSettings { api_key, key_location, ..settings },
        None => settings,
    })
}

fn build_optional(
    cx: &CliContext,
    settings: Option<ModelSettings>,
) -> Result<Option<Arc<dyn ChatModel>>> {
    settings.map(|settings| build_model(&with_key(cx, settings)?)).transpose()
}

/// Returns the key from the provider's environment variables, with the variable's name.
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

/// Returns the first line that a command prints. The command gets the terminal, since it may ask for a password.
fn key_from_command(command: &str, location: &str) -> Result<SecretString> {
    let failed = |problem: String| {
        CliError::invalid(
            format!("{location} {problem}"),
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

/// Builds the client of a remote model.
#[cfg(feature = "remote")]
pub(crate) fn build_model(settings: &ModelSettings) -> Result<Arc<dyn ChatModel>> {
    Ok(everlore::llm::chat_model(settings, &crate::embedder::proxies_from_env())?)
}

/// Returns the providers to which the server forwards proxied requests. One that cannot be used is logged and left out:
/// memory itself needs none.
#[cfg(all(feature = "remote", feature = "server"))]
pub(crate) fn providers(cx: &CliContext) -> everlore_server::Providers {
    use everlore::internal::llm::{ClientProtocol, Upstream};

    let config = &cx.settings.config;
    let proxies = crate::embedder::proxies_from_env();
    let mut providers = everlore_server::Providers::default();
    for settings in config.chat_model().into_iter().chain(config.memory_model()) {
        let settings = match with_key(cx, settings) {
            Ok(settings) => settings,
            Err(error) => {
                tracing::warn!(?error, "a provider cannot be used; the proxy leaves it out");
                continue;
            }
        };
        for (protocol, upstream) in [
            (ClientProtocol::Openai, &mut providers.openai),
            (ClientProtocol::Anthropic, &mut providers.anthropic),
        ] {
            match Upstream::for_model(&settings, protocol, &proxies) {
                Ok(found) if upstream.is_none() => *upstream = found.map(Arc::new),
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%error, "a provider cannot be used; the proxy leaves it out")
                }
            }
        }
    }
    providers.embedding = crate::embedder::embedding_upstream(&config.embedding).map(Arc::new);
    providers
}

/// Lists the names of a provider's models; the settings need not name one.
#[cfg(feature = "remote")]
pub(crate) async fn list_models(cx: &CliContext, settings: ModelSettings) -> Result<Vec<String>> {
    let settings = with_key(cx, settings)?;
    Ok(everlore::llm::list_models(&settings, &crate::embedder::proxies_from_env()).await?)
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
            "this program was built without remote models, and [{}] names \"{}\"",
            settings.section, settings.provider
        ),
        "build it with the feature `remote`, or remove the model from the settings",
    )
}
