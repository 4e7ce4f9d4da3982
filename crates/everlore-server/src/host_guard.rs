//! Host and origin checks against DNS rebinding and cross-site requests.
//!
//! A web page can make a browser send requests to this machine, by its address or by a name that suddenly resolves to
//! it. Such requests carry another host or another origin; both are refused before anything else happens.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, StatusCode, Uri, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::{App, Problem, tls::TlsContext};

/// Names of this machine for itself.
const LOCAL_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Host names that the server answers to.
pub(crate) struct HostGuard {
    hosts: Vec<String>,
    port: u16,
    /// TLS certificate, whose names are accepted as well.
    tls: Option<Arc<TlsContext>>,
}

impl HostGuard {
    /// Accepts the names of this machine, the listening address, and the given names.
    pub(crate) fn new(
        address: SocketAddr,
        extra_hosts: &[String],
        tls: Option<Arc<TlsContext>>,
    ) -> Self {
        let mut hosts: Vec<String> = LOCAL_HOSTS.iter().map(|host| (*host).to_owned()).collect();
        if !address.ip().is_unspecified() {
            hosts.push(
                address
                    .to_string()
                    .rsplit_once(':')
                    .map_or_else(String::new, |(ip, _)| ip.to_owned()),
            );
        }
        hosts.extend(extra_hosts.iter().map(|host| host.to_lowercase()));
        Self { hosts, port: address.port(), tls }
    }

    /// Checks that a request is meant for this server and does not come from another site's page.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        self.check_host(uri, headers)?;
        self.check_origin(headers)
    }

    fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()).unwrap_or_default();
        let is_repeated = hosts.next().is_some();
        let requested = uri.authority().map_or(host, |authority| authority.as_str());
        let allows = |authority| host_of(authority).is_some_and(|host| self.allows_host(host));
        if !is_repeated && allows(host) && allows(requested) {
            return Ok(());
        }
        Err(Problem::new(
            StatusCode::FORBIDDEN,
            "foreign_host",
            "the server does not answer to this host name",
            "use localhost or 127.0.0.1; allow other names with `everlore serve --allow-host NAME`",
        ))
    }

    /// Refuses foreign origins. Programs send no origin; a page sends its own, which must be this server.
    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let site = headers.get("sec-fetch-site").map(|site| site.as_bytes());
        let is_same_site = site.is_none_or(|site| site == b"same-origin" || site == b"none");
        let origins_own = headers
            .get_all(header::ORIGIN)
            .iter()
            .all(|origin| origin.to_str().is_ok_and(|origin| self.is_own_origin(origin)));
        if is_same_site && origins_own {
            return Ok(());
        }
        Err(Problem::new(
            StatusCode::FORBIDDEN,
            "foreign_origin",
            "pages of other sites may not use this server",
            "send the request from a program, or from a page of this server",
        ))
    }

    fn is_own_origin(&self, origin: &str) -> bool {
        let (scheme, default_port) =
            if self.tls.is_some() { ("https://", 443) } else { ("http://", 80) };
        let Some(authority) = origin.strip_prefix(scheme) else { return false };
        let Some(host) = host_of(authority) else { return false };
        let port = authority.strip_prefix(host).and_then(|port| port.strip_prefix(':'));
        let port = port.map_or(Some(default_port), |port| port.parse().ok());
        self.allows_host(host) && port == Some(self.port)
    }

    fn allows_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host))
            || self.tls.as_ref().is_some_and(|tls| tls.covers_host(host))
    }
}

/// Returns the host of an authority without its port; `None` if anything but a port follows it.
fn host_of(authority: &str) -> Option<&str> {
    let end = authority.rfind(']').map_or(0, |end| end + 1);
    let colon = authority[end..].find(':').map_or(authority.len(), |colon| end + colon);
    let (host, port) = authority.split_at(colon);
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    (port.is_empty() || port.strip_prefix(':').is_some_and(is_port)).then_some(host)
}

/// Middleware that refuses foreign hosts and origins.
pub(crate) async fn check_host_and_origin(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    match app.guard.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pairs: &[(&'static str, &'static str)]) -> Result<(), &'static str> {
        let guard =
            HostGuard::new("127.0.0.1:6636".parse().unwrap(), &["Memory.lan".to_owned()], None);
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        guard.check(&Uri::from_static("/v1/stats"), &headers).map_err(|problem| problem.code)
    }

    #[test]
    fn own_names_are_answered_with_any_port() {
        for host in [
            "localhost",
            "localhost:6636",
            "127.0.0.1:9",
            "[::1]:6636",
            "LOCALHOST:1",
            "memory.lan",
        ] {
            assert_eq!(check(&[("host", host)]), Ok(()), "{host}");
        }
    }

    #[test]
    fn other_names_are_refused_whatever_they_look_like() {
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:6636",
            "",
            "[::1",
            "localhost@evil.example",
            "localhost:6636@evil.example",
            "localhost:",
            "localhost:6636:1",
            "[::1]:6636@evil.example",
            "0.0.0.0",
        ] {
            assert_eq!(check(&[("host", host)]), Err("foreign_host"), "{host}");
        }
        assert_eq!(check(&[]), Err("foreign_host"));
        assert_eq!(check(&[("host", "localhost"), ("host", "evil.example")]), Err("foreign_host"));
    }

    #[test]
    fn only_own_pages_may_ask() {
        let with = |origin| check(&[("host", "localhost:6636"), ("origin", origin)]);
        assert_eq!(with("http://localhost:6636"), Ok(()));
        assert_eq!(with("http://127.0.0.1:6636"), Ok(()));
        for origin in [
            "null",
            "http://localhost:5173",
            "https://localhost:6636",
            "http://evil.example",
            "http://localhost",
            "http://localhost:6636.evil.example",
            "http://localhost:6636@evil.example",
            "",
        ] {
            assert_eq!(with(origin), Err("foreign_origin"), "{origin}");
        }
        assert_eq!(
            check(&[("host", "localhost"), ("sec-fetch-site", "cross-site")]),
            Err("foreign_origin")
        );
        assert_eq!(
            check(&[("host", "localhost"), ("sec-fetch-site", "same-site")]),
            Err("foreign_origin")
        );
    }
}
