//! The model of the settings, by which memories are found by meaning.

use std::sync::Arc;

use everlore::{
    Engine,
    config::{EmbeddingConfig, EmbeddingProvider},
    llm::BuiltinEmbedder,
    store::SqliteStore,
};

use crate::error::Result;

/// Gives the engine the model of the settings. A model on another server whose vectors were never seen is asked for
/// their size only where `may_ask` allows it; otherwise the engine goes without until `everlore embed switch`.
pub(crate) async fn attach_embedder(
    engine: Engine,
    store: &Arc<SqliteStore>,
    config: &EmbeddingConfig,
    may_ask: bool,
) -> Result<Engine> {
    match config.provider {
        EmbeddingProvider::Builtin => {
            Ok(engine.rebuild().embedder(Arc::new(BuiltinEmbedder::new())).build())
        }
        EmbeddingProvider::Openai | EmbeddingProvider::Ollama => {
            attach_remote_embedder(engine, store, config, may_ask).await
        }
    }
}

#[cfg(feature = "remote")]
async fn attach_remote_embedder(
    engine: Engine,
    store: &Arc<SqliteStore>,
    config: &EmbeddingConfig,
    may_ask: bool,
) -> Result<Engine> {
    use everlore::{llm::remote::EmbeddingEndpoint, store::Store};

    let endpoint = EmbeddingEndpoint::new(config, embedding_api_key(config), &proxies_from_env())?;
    // A command that only saved something does not stay for a server that is busy or away.
    let endpoint = if may_ask { endpoint } else { endpoint.without_retries() };
    let dimensions = match endpoint.known_dimensions(store.vectors().model().await?.as_ref()) {
        Some(dimensions) => dimensions,
        None if may_ask => endpoint.probe_dimensions().await?,
        None => return Ok(engine),
    };
    let memories = Arc::new(endpoint.document_embedder(dimensions));
    let questions = Arc::new(endpoint.query_embedder(dimensions));
    Ok(engine.rebuild().remote_embedder(memories, questions, config.cache_entries).build())
}

/// Who makes vectors for programs that ask through the server; none if the program does it itself.
#[cfg(all(feature = "remote", feature = "server"))]
pub(crate) fn embedding_relay(config: &EmbeddingConfig) -> Option<everlore::llm::remote::Upstream> {
    if config.provider == EmbeddingProvider::Builtin {
        return None;
    }
    let endpoint = everlore::llm::remote::EmbeddingEndpoint::new(
        config,
        embedding_api_key(config),
        &proxies_from_env(),
    );
    let relay = endpoint.and_then(|endpoint| endpoint.upstream(&proxies_from_env()));
    relay.map_err(|error| tracing::warn!(%error, "the provider of vectors is not used")).ok()
}

#[cfg(not(feature = "remote"))]
async fn attach_remote_embedder(
    _: Engine,
    _: &Arc<SqliteStore>,
    config: &EmbeddingConfig,
    _: bool,
) -> Result<Engine> {
    Err(crate::error::CliError::invalid(
        format!(
            "this program was built without models on other servers, and the settings name \"{}\"",
            config.provider.as_str()
        ),
        "set provider = \"builtin\" in the section [embedding], or build with the feature `remote`",
    ))
}

/// The key that the variable of the settings holds.
#[cfg(feature = "remote")]
fn embedding_api_key(config: &EmbeddingConfig) -> Option<everlore::config::SecretString> {
    let name = config.api_key_env.trim();
    let value = if name.is_empty() { None } else { std::env::var(name).ok() };
    value
        .map(|key| key.trim().to_owned())
        .filter(|key| !key.is_empty())
        .map(everlore::config::SecretString::new)
}

/// The proxies that the environment names, in either spelling.
#[cfg(feature = "remote")]
pub(crate) fn proxies_from_env() -> everlore::llm::Proxies {
    let named = |name: &str| {
        let spellings = [name.to_owned(), name.to_ascii_lowercase()];
        spellings
            .iter()
            .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
            .unwrap_or_default()
    };
    everlore::llm::Proxies {
        https: named("HTTPS_PROXY"),
        all: named("ALL_PROXY"),
        no_proxy: named("NO_PROXY"),
    }
}
