//! Proxied requests: forwards another program's request to a provider unchanged except for URL and key.

use hyper::{
    HeaderMap, Method, StatusCode,
    body::{Bytes, Incoming},
    header::{HeaderName, HeaderValue},
};

use super::EmbeddingEndpoint;
use crate::{
    config::{ChatProtocol, EmbeddingProvider, ModelSettings, SecretString, chat_provider},
    error::{Error, Result},
    llm::{
        http_client::{HeaderPair, HttpClient, Proxies, bearer_header, sensitive_value},
        remote_error::RemoteError,
    },
};

/// Protocol that a client of the proxy speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientProtocol {
    /// OpenAI: chat completions, responses, embeddings and models.
    Openai,
    /// Anthropic: messages.
    Anthropic,
}

/// Provider that proxied requests are forwarded to.
#[derive(Debug)]
pub struct Upstream {
    http: HttpClient,
    protocol: ClientProtocol,
    key: SecretString,
    model: String,
}

/// Response whose body has not been read yet. Dropping it cancels the request.
#[derive(Debug)]
pub struct UpstreamResponse {
    /// HTTP status.
    pub status: StatusCode,
    /// Response headers.
    pub headers: HeaderMap,
    /// Body, as a stream.
    pub body: Incoming,
}

impl Upstream {
    /// Creates the upstream of the settings, or `None` if its provider does not speak `protocol`. Sends nothing.
    pub fn for_model(
        settings: &ModelSettings,
        protocol: ClientProtocol,
        proxies: &Proxies,
    ) -> Result<Option<Self>> {
        let Some(provider) = chat_provider(&settings.provider) else { return Ok(None) };
        let given = match settings.base_url.as_str() {
            "" => provider.base_url,
            given => given,
        };
        let Some(base) = upstream_url(given, provider.protocol, protocol) else { return Ok(None) };
        Ok(Some(Self {
            http: HttpClient::new(&base, proxies)?,
            protocol,
            key: SecretString::new(settings.api_key.reveal().trim()),
            model: settings.model.clone(),
        }))
    }

    /// Returns the model that the settings name.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns the provider's host.
    pub fn host(&self) -> &str {
        self.http.host()
    }

    /// Forwards a request to a path such as `/chat/completions` and returns when the response begins. The settings' key
    /// is added unless the client sent one of its own (`own_key`).
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        mut headers: HeaderMap,
        own_key: bool,
        body: Bytes,
    ) -> Result<UpstreamResponse> {
        if self.protocol == ClientProtocol::Anthropic {
            let version = HeaderName::from_static("anthropic-version");
            headers.entry(version).or_insert(HeaderValue::from_static(ANTHROPIC_VERSION));
        }
        if !own_key && !self.key.reveal().is_empty() {
            let (name, value) = self.key_header(&headers)?;
            headers.insert(name, value);
        }
        let response = self.http.forward(method, path, headers, body).await?;
        Ok(UpstreamResponse {
            status: response.status,
            headers: response.headers,
            body: response.body,
        })
    }

    /// Returns the key header of the protocol. Clients of later Anthropic versions send a bearer token like all others.
    fn key_header(&self, headers: &HeaderMap) -> Result<HeaderPair, Error> {
        let is_first =
            headers.get("anthropic-version").is_some_and(|version| version == ANTHROPIC_VERSION);
        let header = if is_first && self.protocol == ClientProtocol::Anthropic {
            let name = HeaderName::from_static("x-api-key");
            sensitive_value(self.key.reveal()).map(|value| (name, value))
        } else {
            bearer_header(&self.key)
        };
        header.map_err(|error: RemoteError| error.into())
    }
}

/// Anthropic protocol version for clients that name none.
const ANTHROPIC_VERSION: &str = "2023-06-01";

impl EmbeddingEndpoint {
    /// Returns the embedding provider as an upstream for proxied requests.
    #[doc(hidden)]
    pub fn upstream(&self, proxies: &Proxies) -> Result<Upstream> {
        let given = self.http.base_url();
        let base = match self.adapter.provider {
            EmbeddingProvider::Ollama => format!("{}/v1", strip_api_path(given)),
            EmbeddingProvider::Openai | EmbeddingProvider::Builtin => given.to_owned(),
        };
        Ok(Upstream {
            http: HttpClient::new(&base, proxies)?,
            protocol: ClientProtocol::Openai,
            key: self.request_info.key.clone(),
            model: self.adapter.model.clone(),
        })
    }
}

/// Returns the base URL at which a provider speaks the client's protocol, or `None`.
fn upstream_url(given: &str, provider: ChatProtocol, client: ClientProtocol) -> Option<String> {
    let given = given.trim().trim_end_matches('/');
    Some(match (client, provider) {
        (ClientProtocol::Openai, ChatProtocol::Openai) => {
            given.strip_suffix("/chat/completions").unwrap_or(given).to_owned()
        }
        (ClientProtocol::Openai, ChatProtocol::Ollama | ChatProtocol::Anthropic) => {
            format!("{}/v1", strip_api_path(given))
        }
        (ClientProtocol::Openai, ChatProtocol::Gemini) => {
            let bare = given.splitn(4, '/').count() < 4;
            format!("{given}{}/openai", if bare { "/v1beta" } else { "" })
        }
        (ClientProtocol::Anthropic, ChatProtocol::Anthropic | ChatProtocol::Ollama) => {
            strip_api_path(given).to_owned()
        }
        (ClientProtocol::Anthropic, ChatProtocol::Openai | ChatProtocol::Gemini) => return None,
    })
}

/// Strips the API path that some users write and others do not.
fn strip_api_path(given: &str) -> &str {
    given.strip_suffix("/v1").or_else(|| given.strip_suffix("/api")).unwrap_or(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_provider_is_asked_where_it_understands_the_tongue() {
        let openai =
            |given, protocol| upstream_url(given, protocol, ClientProtocol::Openai).unwrap();
        assert_eq!(openai("http://h/v1/", ChatProtocol::Openai), "http://h/v1");
        assert_eq!(openai("http://h/v1/chat/completions", ChatProtocol::Openai), "http://h/v1");
        assert_eq!(openai("http://h", ChatProtocol::Ollama), "http://h/v1");
        assert_eq!(openai("http://h/api", ChatProtocol::Ollama), "http://h/v1");
        assert_eq!(openai("https://g", ChatProtocol::Gemini), "https://g/v1beta/openai");
        assert_eq!(openai("https://g/v1beta", ChatProtocol::Gemini), "https://g/v1beta/openai");
        let anthropic = |given, protocol| upstream_url(given, protocol, ClientProtocol::Anthropic);
        assert_eq!(
            anthropic("https://a/v1", ChatProtocol::Anthropic).as_deref(),
            Some("https://a")
        );
        assert_eq!(anthropic("http://o", ChatProtocol::Ollama).as_deref(), Some("http://o"));
        assert_eq!(anthropic("https://api.openai.com/v1", ChatProtocol::Openai), None);
    }
}
