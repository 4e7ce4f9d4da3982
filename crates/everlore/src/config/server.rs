//! Settings of `[server]`: memory over HTTP.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde::{Deserialize, Serialize};

use super::validate::{InvalidSetting, check_range};

/// `everlore serve`. Its options go before these settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerConfig {
    /// The address to listen on. Others than this machine are let in with TLS, or by `everlore serve --allow-remote`.
    pub host: String,
    /// The port. From 0 to 65535; 0 for any that is free.
    pub port: u16,
    /// A PEM file with the certificate for TLS, those that vouch for it after it. Empty for plain HTTP. A path is taken from
    /// the folder of the settings file.
    pub tls_cert: String,
    /// A PEM file with the private key of the certificate, closed to others. A path is taken from the folder of the settings file.
    pub tls_key: String,
    /// Names by which it may be called beside localhost, its address and those of the certificate. With TLS the first is told to
    /// agents.
    pub names: Vec<String>,
    /// The most bytes of a request. From 1024 to 1073741824.
    pub max_body_bytes: usize,
    /// Requests that a key may make in a second. From 1 to 1000000.
    pub requests_per_second: u32,
}

impl ServerConfig {
    /// The address to listen on; this machine's own where it cannot be read, which a check tells.
    pub fn address(&self) -> IpAddr {
        self.host.trim().parse().unwrap_or(Ipv4Addr::LOCALHOST.into())
    }

    /// Where clients will find it.
    pub fn url(&self) -> String {
        let address = SocketAddr::new(self.address(), self.port);
        match (self.tls_cert.is_empty(), self.names.first()) {
            (true, _) => format!("http://{address}"),
            (false, None) => format!("https://{address}"),
            (false, Some(name)) => format!("https://{name}:{}", self.port),
        }
    }

    pub(super) fn validate(&self) -> Vec<InvalidSetting> {
        let host = self.host.trim().parse::<IpAddr>().is_err().then(|| {
            InvalidSetting::new(
                "server.host",
                "must be an IP address, such as \"127.0.0.1\" or \"::1\"",
            )
        });
        let half = (self.tls_cert.is_empty() != self.tls_key.is_empty()).then(|| {
            InvalidSetting::new(
                "server.tls_cert",
                "and server.tls_key go together: give both or neither",
            )
        });
        let checks = [
            host,
            half,
            check_range("server.max_body_bytes", self.max_body_bytes, 1_024..=1_073_741_824),
            check_range("server.requests_per_second", self.requests_per_second, 1..=1_000_000),
        ];
        checks.into_iter().flatten().collect()
    }
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".into(),
            port: 6636,
            tls_cert: String::new(),
            tls_key: String::new(),
            names: Vec::new(),
            // A memory of 4 MiB fits, however its JSON is written.
            max_body_bytes: 32 * 1024 * 1024,
            // Far above any agent, below what floods a disk.
            requests_per_second: 1_000,
        }
    }
}
