//! Requests of other programs, passed on to a provider as they came: only the address and the key are ours.

use hyper::{
    HeaderMap, Method, StatusCode,
    body::{Bytes, Incoming},
    header::{HeaderName, HeaderValue},
};

use super::Endpoint;
use crate::{
    config::{ModelSettings, Protocol, Provider, Secret, chat_provider},
    error::{Error, Result},
    llm::{
        http::{Header, Http, Proxies, bearer, hidden},
        trouble::Trouble,
    },
};

/// The protocols in which programs ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tongue {
    /// Chat completions, responses, embeddings and models, as OpenAI has them.
    Openai,
    /// Messages, as Anthropic has them.
    Anthropic,
}

/// A provider that is handed what programs ask.
#[derive(Debug)]
pub struct Relay {
    http: Http,
    tongue: Tongue,
    key: Secret,
    model: String,
}

/// An answer whose body is still to come. Dropping it ends the request.
#[derive(Debug)]
pub struct Relayed {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// The body, as it comes.
    pub body: Incoming,
}

impl Relay {
    /// The provider of the settings, if it can be asked in this tongue. Nothing is sent yet.
    pub fn to_model(
        settings: &ModelSettings,
        tongue: Tongue,
        proxies: &Proxies,
    ) -> Result<Option<Self>> {
        let Some(provider) = chat_provider(&settings.provider) else { return Ok(None) };
        let given = match settings.base_url.as_str() {
            "" => provider.base_url,
            given => given,
        };
        let Some(base) = address(given, provider.protocol, tongue) else { return Ok(None) };
        Ok(Some(Self {
            http: Http::new(&base, proxies)?,
            tongue,
            key: Secret::new(settings.api_key.reveal().trim()),
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
    ) -> Result<Relayed> {
        if self.tongue == Tongue::Anthropic {
            let version = HeaderName::from_static("anthropic-version");
            headers.entry(version).or_insert(HeaderValue::from_static(FIRST_VERSION));
        }
        if !own_key && !self.key.reveal().is_empty() {
            let (name, value) = self.key_header(&headers)?;
            headers.insert(name, value);
        }
        let reply = self.http.pass(method, path, headers, body).await?;
        Ok(Relayed { status: reply.status, headers: reply.headers, body: reply.body })
    }

    /// The key as the tongue wants it. Clients of Anthropic's later versions send it like those of everybody else.
    fn key_header(&self, headers: &HeaderMap) -> Result<Header, Error> {
        let is_first =
            headers.get("anthropic-version").is_some_and(|version| version == FIRST_VERSION);
        let header = match is_first && self.tongue == Tongue::Anthropic {
            true => {
                let name = HeaderName::from_static("x-api-key");
                hidden(self.key.reveal()).map(|value| (name, value))
            }
            false => bearer(&self.key),
        };
        header.map_err(|trouble: Trouble| trouble.into())
    }
}

/// The version of Anthropic's protocol for programs that name none.
const FIRST_VERSION: &str = "2023-06-01";

impl Endpoint {
    /// The provider of vectors, handed what programs ask.
    pub fn relay(&self, proxies: &Proxies) -> Result<Relay> {
        let given = self.http.base();
        let base = match self.wire.provider {
            Provider::Ollama => format!("{}/v1", bare(given)),
            Provider::Openai | Provider::Builtin => given.to_owned(),
        };
        Ok(Relay {
            http: Http::new(&base, proxies)?,
            tongue: Tongue::Openai,
            key: self.asked.key.clone(),
            model: self.wire.model.clone(),
        })
    }
}

/// Where a provider understands a tongue; none if it does not.
fn address(given: &str, protocol: Protocol, tongue: Tongue) -> Option<String> {
    let given = given.trim().trim_end_matches('/');
    Some(match (tongue, protocol) {
        (Tongue::Openai, Protocol::Openai) => {
            given.strip_suffix("/chat/completions").unwrap_or(given).to_owned()
        }
        (Tongue::Openai, Protocol::Ollama | Protocol::Anthropic) => format!("{}/v1", bare(given)),
        (Tongue::Openai, Protocol::Gemini) => {
            let bare = given.splitn(4, '/').count() < 4;
            format!("{given}{}/openai", if bare { "/v1beta" } else { "" })
        }
        (Tongue::Anthropic, Protocol::Anthropic | Protocol::Ollama) => bare(given).to_owned(),
        (Tongue::Anthropic, Protocol::Openai | Protocol::Gemini) => return None,
    })
}

/// An address without the part that some people write and others do not.
fn bare(given: &str) -> &str {
    given.strip_suffix("/v1").or_else(|| given.strip_suffix("/api")).unwrap_or(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_provider_is_asked_where_it_understands_the_tongue() {
        let openai = |given, protocol| address(given, protocol, Tongue::Openai).unwrap();
        assert_eq!(openai("http://h/v1/", Protocol::Openai), "http://h/v1");
        assert_eq!(openai("http://h/v1/chat/completions", Protocol::Openai), "http://h/v1");
        assert_eq!(openai("http://h", Protocol::Ollama), "http://h/v1");
        assert_eq!(openai("http://h/api", Protocol::Ollama), "http://h/v1");
        assert_eq!(openai("https://g", Protocol::Gemini), "https://g/v1beta/openai");
        assert_eq!(openai("https://g/v1beta", Protocol::Gemini), "https://g/v1beta/openai");
        let anthropic = |given, protocol| address(given, protocol, Tongue::Anthropic);
        assert_eq!(anthropic("https://a/v1", Protocol::Anthropic).as_deref(), Some("https://a"));
        assert_eq!(anthropic("http://o", Protocol::Ollama).as_deref(), Some("http://o"));
        assert_eq!(anthropic("https://api.openai.com/v1", Protocol::Openai), None);
    }
}
