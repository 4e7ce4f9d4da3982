//! Requests of other programs, passed on to a provider as they came: only the address and the key are ours.

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

/// The protocols in which programs ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientProtocol {
    /// Chat completions, responses, embeddings and models, as OpenAI has them.
    Openai,
    /// Messages, as Anthropic has them.
    Anthropic,
}

/// A provider that is handed what programs ask.
#[derive(Debug)]
pub struct Upstream {
    http: HttpClient,
    protocol: ClientProtocol,
    key: SecretString,
    model: String,
}

/// An answer whose body is still to come. Dropping it ends the request.
#[derive(Debug)]
pub struct UpstreamResponse {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// The body, as it comes.
    pub body: Incoming,
}

impl Upstream {
    /// The provider of the settings, if it can be asked in this tongue. Nothing is sent yet.
    pub fn for_model(
        settings: &ModelSettings,
        tongue: ClientProtocol,
        proxies: &Proxies,
    ) -> Result<Option<Self>> {
        let Some(provider) = chat_provider(&settings.provider) else { return Ok(None) };
        let given = match settings.base_url.as_str() {
            "" => provider.base_url,
            given => given,
        };
        let Some(base) = upstream_url(given, provider.protocol, tongue) else { return Ok(None) };
        Ok(Some(Self {
            http: HttpClient::new(&base, proxies)?,
            protocol: tongue,
            key: SecretString::new(settings.api_key.reveal().trim()),
            model: settings.model.clone(),
        }))
    }

    /// The model that the settings name.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The provider's address without its path.
    pub fn host(&self) -> &str {
        self.http.host()
    }

    /// Hands on a request to a path such as `/chat/completions` and returns when the answer begins. A program that has no
    /// key of its own (`own_key`) is given that of the settings.
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
        let reply = self.http.forward(method, path, headers, body).await?;
        Ok(UpstreamResponse { status: reply.status, headers: reply.headers, body: reply.body })
    }

    /// The key as the tongue wants it. Clients of Anthropic's later versions send it like those of everybody else.
    fn key_header(&self, headers: &HeaderMap) -> Result<HeaderPair, Error> {
        let is_first =
            headers.get("anthropic-version").is_some_and(|version| version == ANTHROPIC_VERSION);
        let header = match is_first && self.protocol == ClientProtocol::Anthropic {
            true => {
                let name = HeaderName::from_static("x-api-key");
                sensitive_value(self.key.reveal()).map(|value| (name, value))
            }
            false => bearer_header(&self.key),
        };
        header.map_err(|trouble: RemoteError| trouble.into())
    }
}

/// The version of Anthropic's protocol for programs that name none.
const ANTHROPIC_VERSION: &str = "2023-06-01";

impl EmbeddingEndpoint {
    /// The provider of vectors, handed what programs ask.
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

/// Where a provider understands a tongue; none if it does not.
fn upstream_url(given: &str, protocol: ChatProtocol, tongue: ClientProtocol) -> Option<String> {
    let given = given.trim().trim_end_matches('/');
    Some(match (tongue, protocol) {
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

/// An address without the part that some people write and others do not.
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
