//! Embedding model of the settings.

use std::sync::Arc;

use everlore::{
    config::{EmbeddingConfig, EmbeddingProvider},
    engine::EngineBuilder,
    llm::BuiltinEmbedder,
    store::Store,
};

use crate::Result;

/// Returns the engine with the embedding model of the settings. The vector size of a remote model that was never used
/// is asked for only if `may_probe`; otherwise the engine has no embedder until `everlore embed switch`.
pub(crate) async fn attach_embedder(
    engine: EngineBuilder,
    store: &dyn Store,
    config: &EmbeddingConfig,
    may_probe: bool,
) -> Result<EngineBuilder> {
    match config.provider {
        EmbeddingProvider::Builtin => Ok(engine.embedder(Arc::new(BuiltinEmbedder::new()))),
        EmbeddingProvider::Openai | EmbeddingProvider::Ollama => {
            attach_remote_embedder(engine, store, config, may_probe).await
        }
    }
}

#[cfg(feature = "remote")]
async fn attach_remote_embedder(
    engine: EngineBuilder,
    store: &dyn Store,
    config: &EmbeddingConfig,
    may_probe: bool,
) -> Result<EngineBuilder> {
    use everlore::llm::EmbeddingEndpoint;

    let endpoint = EmbeddingEndpoint::new(config, embedding_api_key(config), &proxies_from_env())?;
    // A command that saves something does not wait for a busy or missing server.
    let endpoint = if may_probe { endpoint } else { endpoint.without_retries() };
    let dimensions = match endpoint.known_dimensions(store.vectors().model().await?.as_ref()) {
        Some(dimensions) => dimensions,
        None if may_probe => endpoint.probe_dimensions().await?,
        None => return Ok(engine),
    };
    let documents = Arc::new(endpoint.document_embedder(dimensions));
    let queries = Arc::new(endpoint.query_embedder(dimensions));
    Ok(engine.remote_embedder(documents, queries, config.cache_entries))
}

/// Returns the provider to which the server forwards embedding requests; `None` if the model is built in.
#[cfg(all(feature = "remote", feature = "server"))]
pub(crate) fn embedding_upstream(
    config: &EmbeddingConfig,
) -> Option<everlore::internal::llm::Upstream> {
    if config.provider == EmbeddingProvider::Builtin {
        return None;
    }
    let endpoint = everlore::llm::EmbeddingEndpoint::new(
        config,
        embedding_api_key(config),
        &proxies_from_env(),
    );
    let upstream = endpoint.and_then(|endpoint| endpoint.upstream(&proxies_from_env()));
    upstream.map_err(|error| tracing::warn!(%error, "the embedding provider cannot be used; the proxy leaves it out")).ok()
}

#[cfg(not(feature = "remote"))]
async fn attach_remote_embedder(
    _: EngineBuilder,
    _: &dyn Store,
    config: &EmbeddingConfig,
    _: bool,
) -> Result<EngineBuilder> {
    Err(crate::error::CliError::invalid(
        format!(
            "this program was built without remote models, and the settings name \"{}\"",
            config.provider.as_str()
        ),
        "set provider = \"builtin\" in the section [embedding], or build with the feature `remote`",
    ))
}

/// Returns the API key from the environment variable that the settings name.
#[cfg(feature = "remote")]
fn embedding_api_key(config: &EmbeddingConfig) -> Option<everlore::config::SecretString> {
    let name = config.api_key_env.trim();
    let value = if name.is_empty() { None } else { std::env::var(name).ok() };
    value
        .map(|key| key.trim().to_owned())
        .filter(|key| !key.is_empty())
        .map(everlore::config::SecretString::new)
}

/// Returns the proxies of the environment, in upper or lower case.
#[cfg(feature = "remote")]
pub(crate) fn proxies_from_env() -> everlore::llm::Proxies {
    let value = |name: &str| {
        let spellings = [name.to_owned(), name.to_ascii_lowercase()];
        spellings
            .iter()
            .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
            .unwrap_or_default()
    };
    everlore::llm::Proxies {
        https: value("HTTPS_PROXY"),
        all: value("ALL_PROXY"),
        no_proxy: value("NO_PROXY"),
    }
}
