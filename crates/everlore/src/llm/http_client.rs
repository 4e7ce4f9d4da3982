//! HTTP client: pooled connections, TLS with the system's certificates, proxies, and bounded response sizes. Dropping a
//! request cancels it.

use std::{net::IpAddr, sync::OnceLock, time::Duration};

use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode, Uri,
    body::{Bytes, Incoming},
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT},
    http::request,
};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::{
        legacy::{Client, connect::HttpConnector, connect::proxy::Tunnel},
        proxy::matcher::{Intercept, Matcher},
    },
    rt::{TokioExecutor, TokioTimer},
};

use super::remote_error::RemoteError;
use crate::{
    config::SecretString,
    error::{Error, Result},
};

/// Largest accepted response. 1,000 embeddings of 4,096 dimensions as JSON are 50 MB.
pub(crate) const MAX_RESPONSE_BYTES: usize = 64 << 20;

/// Connect timeout. Connecting takes a round trip or two; longer means that no server is there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Idle time after which pooled connections are closed, before most servers close them, which would look like a
/// failure.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Proxy settings as the environment names them; the engine does not read the environment itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    /// Proxy for `https` URLs.
    pub https: String,
    /// Proxy for all URLs without a proxy of their own.
    pub all: String,
    /// Comma-separated hosts that bypass the proxy.
    pub no_proxy: String,
}

/// Client for one server.
pub(crate) struct HttpClient {
    base_url: String,
    host: String,
    uri: Uri,
    proxies: Proxies,
    /// Built by the first request: reading certificates takes time, and most commands need no server.
    transport: OnceLock<Transport>,
}

type RequestBody = Full<Bytes>;

/// Connection type: plain HTTP, TLS, or TLS through a proxy tunnel.
enum Transport {
    Plain(Client<HttpConnector, RequestBody>),
    Tls(Client<HttpsConnector<HttpConnector>, RequestBody>),
    Tunnel(Client<HttpsConnector<Tunnel<HttpConnector>>, RequestBody>),
}

/// Header name and value.
pub(crate) type HeaderPair = (HeaderName, HeaderValue);

/// Response whose body has not been read yet.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Incoming,
    host: String,
}

impl HttpClient {
    /// Creates a client for a base URL, below which all paths lie. Sends nothing.
    pub(crate) fn new(base_url: &str, proxies: &Proxies) -> Result<Self> {
        let base = base_url.trim().trim_end_matches('/').to_owned();
        let uri: Uri = base.parse().map_err(|_| invalid_base_url(&base, "is not an address"))?;
        let authority =
            uri.authority().ok_or_else(|| invalid_base_url(&base, "names no server"))?;
        if authority.as_str().contains('@') {
            let hint = "leave the name and password out of base_url; give a key by api_key_env";
            return Err(Error::invalid("base_url holds a password", hint));
        }
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(invalid_base_url(&base, "starts with neither http:// nor https://"));
        }
        let host = authority.to_string();
        Ok(Self { base_url: base, host, uri, proxies: proxies.clone(), transport: OnceLock::new() })
    }

    /// Returns the authority of the base URL, for messages.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Returns the base URL.
    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Posts JSON and returns the response as soon as it begins.
    pub(crate) async fn post(
        &self,
        path: &str,
        key: &SecretString,
        body: Vec<u8>,
    ) -> Result<HttpResponse, RemoteError> {
        let key = (!key.reveal().is_empty()).then(|| bearer_header(key)).transpose()?;
        self.send(Method::POST, path, key.into_iter().collect(), body).await
    }

    /// Sends a request and returns the response as soon as it begins.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: Vec<HeaderPair>,
        body: Vec<u8>,
    ) -> Result<HttpResponse, RemoteError> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base_url))
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, concat!("everlore/", env!("CARGO_PKG_VERSION")));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        self.send_request(request, Bytes::from(body)).await
    }

    /// Forwards another program's request with exactly its own headers.
    pub(crate) async fn forward(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<HttpResponse, RemoteError> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base_url));
        if let Some(own) = request.headers_mut() {
            *own = headers;
        }
        self.send_request(request, body).await
    }

    async fn send_request(
        &self,
        request: request::Builder,
        body: Bytes,
    ) -> Result<HttpResponse, RemoteError> {
        let request = request.body(Full::new(body)).map_err(|error| {
            RemoteError::permanent(error.to_string(), "check base_url in the settings")
        })?;
        let response = match self.transport()? {
            Transport::Plain(client) => client.request(request),
            Transport::Tls(client) => client.request(request),
            Transport::Tunnel(client) => client.request(request),
        };
        let response: Response<Incoming> =
            response.await.map_err(|error| self.connect_error(&error))?;
        let (parts, body) = response.into_parts();
        Ok(HttpResponse {
            status: parts.status,
            headers: parts.headers,
            body,
            host: self.host.clone(),
        })
    }

    fn transport(&self) -> Result<&Transport, RemoteError> {
        if let Some(transport) = self.transport.get() {
            return Ok(transport);
        }
        let plain = self.uri.scheme_str() == Some("http");
        let transport = if plain {
            Transport::Plain(client(connector()))
        } else {
            tls_transport(&self.uri, &self.proxies)?
        };
        Ok(self.transport.get_or_init(|| transport))
    }

    fn connect_error(&self, error: &hyper_util::client::legacy::Error) -> RemoteError {
        let (host, cause) = (&self.host, root_cause(error));
        if cause.contains("invalid peer certificate") {
            let hint = "install the certificate of its authority on this system, or name the file in SSL_CERT_FILE";
            return RemoteError::permanent(format!("{host} cannot be trusted: {cause}"), hint);
        }
        let failure = if error.is_connect() { "cannot be reached" } else { "did not answer" };
        RemoteError::transient(format!("{host} {failure}: {}", explain_cause(&cause)))
    }
}

impl HttpResponse {
    /// Returns the next bytes of the body, or `None` at its end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, RemoteError> {
        while let Some(frame) = self.body.frame().await {
            let frame = frame.map_err(|error| interrupted_body(&self.host, &error))?;
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// Reads the whole body.
    pub(crate) async fn bytes(self) -> Result<Bytes, RemoteError> {
        let host = self.host;
        let read = Limited::new(self.body, MAX_RESPONSE_BYTES).collect().await;
        read.map(|body| body.to_bytes()).map_err(|error| interrupted_body(&host, error.as_ref()))
    }
}

impl std::fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Http").field(&self.base_url).finish()
    }
}

fn connector() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
    connector.set_nodelay(true);
    connector
}

fn client<C>(connector: C) -> Client<C, RequestBody>
where
    C: hyper_util::client::legacy::connect::Connect + Clone,
{
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_TIMEOUT)
        .build(connector)
}

fn tls_transport(uri: &Uri, proxies: &Proxies) -> Result<Transport, RemoteError> {
    let roots = HttpsConnectorBuilder::new()
        .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
        .map_err(|error| {
            let message = format!("the certificates of this system cannot be read: {error}");
            RemoteError::permanent(
                message,
                "install them (often the package ca-certificates), or set SSL_CERT_FILE",
            )
        })?;
    let builder = roots.https_only().enable_http1();
    Ok(match proxies.for_uri(uri) {
        None => Transport::Tls(client(builder.wrap_connector(connector()))),
        Some(proxy) => {
            let tunnel = Tunnel::new(proxy.uri().clone(), connector());
            let tunnel = match proxy.basic_auth() {
                Some(auth) => tunnel.with_auth(auth.clone()),
                None => tunnel,
            };
            Transport::Tunnel(client(builder.wrap_connector(tunnel)))
        }
    })
}

impl Proxies {
    /// Returns the proxy for a URL. Loopback addresses never use one.
    fn for_uri(&self, uri: &Uri) -> Option<Intercept> {
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        if host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback()) {
            return None;
        }
        let Self { https, all, no_proxy } = self;
        Matcher::builder()
            .https(https.clone())
            .all(all.clone())
            .no(no_proxy.clone())
            .build()
            .intercept(uri)
    }
}

/// Returns the `Authorization: Bearer` header for a key.
pub(crate) fn bearer_header(key: &SecretString) -> Result<HeaderPair, RemoteError> {
    Ok((AUTHORIZATION, sensitive_value(&format!("Bearer {}", key.reveal().trim()))?))
}

/// Returns a header value marked as sensitive, which `Debug` does not print.
pub(crate) fn sensitive_value(value: &str) -> Result<HeaderValue, RemoteError> {
    let value = HeaderValue::from_str(value);
    let mut value = value.map_err(|_| {
        RemoteError::permanent(
            "the key contains characters that are not allowed in a header",
            "copy it again, on one line",
        )
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn interrupted_body(host: &str, error: &dyn std::error::Error) -> RemoteError {
    RemoteError::transient(format!("the answer of {host} was cut off: {}", root_cause(error)))
}

/// Explains the common system error texts in plain words.
fn explain_cause(cause: &str) -> String {
    let lower = cause.to_lowercase();
    let has = |phrase: &str| lower.contains(phrase);
    let meaning = if has("connection refused") {
        "no server listens there"
    } else if has("lookup address") || has("name or service") || has("nodename") || has("dns") {
        "no server has this name"
    } else if has("corrupt message") || has("handshake eof") {
        "it does not speak TLS, so its address may start with http://"
    } else {
        return cause.to_owned();
    };
    format!("{meaning} ({cause})")
}

fn invalid_base_url(base: &str, problem: &str) -> Error {
    Error::invalid(
        format!("base_url `{base}` {problem}"),
        "write it like https://api.openai.com/v1 or http://127.0.0.1:11434",
    )
}

/// Returns the innermost error, which is the most specific one.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(inner) = error.source() {
        error = inner;
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(base_url: &str) -> String {
        HttpClient::new(base_url, &Proxies::default()).unwrap_err().to_string()
    }

    #[test]
    fn an_address_that_cannot_be_asked_is_refused_in_words() {
        assert!(refusal("api.openai.com/v1").contains("is not an address"));
        assert!(refusal("/v1").contains("names no server"));
        assert!(refusal("ftp://host").contains("neither http:// nor https://"));
        assert!(refusal("http://h h").contains("is not an address"));
        let with_password = refusal("https://me:hunter2@host/v1");
        assert!(with_password.contains("password") && !with_password.contains("hunter2"));
    }

    #[test]
    fn proxies_serve_other_machines_only() {
        let proxies = Proxies {
            all: "http://proxy:3128".into(),
            no_proxy: "intern.example".into(),
            ..Proxies::default()
        };
        let through = |address: &str| proxies.for_uri(&address.parse().unwrap()).is_some();
        assert!(through("https://api.openai.com/v1"));
        assert!(!through("https://intern.example/v1"));
        for near in ["https://localhost/v1", "https://127.0.0.1:8443/v1", "https://[::1]/v1"] {
            assert!(!through(near), "{near}");
        }
    }

    #[tokio::test]
    async fn another_machine_is_asked_through_the_proxy() {
        let proxy = everlore_mock_llm::MockServer::start(|_: &everlore_mock_llm::HttpRequest| {
            everlore_mock_llm::HttpResponse::error(403, "not through here")
        });
        let address = proxy.url().replace("http://", "http://ann:secret@");
        let http = HttpClient::new(
            "https://api.example/v1",
            &Proxies { https: address, ..Proxies::default() },
        );
        let failed =
            http.unwrap().post("/embeddings", &SecretString::new("sk-1"), Vec::new()).await;
        let Err(RemoteError::Transient { message, .. }) = failed else {
            panic!("a refused tunnel was used")
        };
        assert!(message.contains("api.example cannot be reached"), "{message}");
        let request = &proxy.requests()[0];
        assert_eq!(
            (request.method.as_str(), request.path.as_str()),
            ("CONNECT", "api.example:443")
        );
        assert!(
            request.header("proxy-authorization").is_some_and(|auth| auth.starts_with("Basic "))
        );
        assert_eq!(request.header("authorization"), None, "the proxy does not get the key");
    }

    #[tokio::test]
    async fn a_server_without_tls_is_not_talked_to_in_the_clear() {
        use std::io::{Read, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("https://{}/v1", listener.local_addr().unwrap());
        let received = std::thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            connection.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
            let mut received = Vec::new();
            // The client may close the connection in either way.
            let _ = connection.read_to_end(&mut received);
            received
        });
        let http = HttpClient::new(&address, &Proxies::default()).unwrap();
        let failed =
            http.post("/embeddings", &SecretString::new("sk-very-secret"), Vec::new()).await;
        assert!(matches!(failed, Err(RemoteError::Transient { .. })), "the handshake fails");
        drop(http);
        let received = String::from_utf8_lossy(&received.join().unwrap()).into_owned();
        assert!(
            !received.is_empty() && !received.contains("secret") && !received.contains("POST"),
            "{received}"
        );
    }

    #[test]
    fn the_header_with_the_key_does_not_show_it() {
        let (_, value) = bearer_header(&SecretString::new("sk-very-secret")).unwrap();
        assert!(!format!("{value:?}").contains("very-secret"));
        assert!(bearer_header(&SecretString::new("two\nlines")).is_err());
    }
}
