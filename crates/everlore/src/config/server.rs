//! Settings of `[server]`: memory over HTTP.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde::{Deserialize, Serialize};

use super::validate::{InvalidSetting, check_range};

/// `everlore serve`. Its options take precedence over these settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerConfig {
    /// Address to listen on. An address beyond this machine needs TLS or `everlore serve --allow-remote`.
    pub host: String,
    /// Port. From 0 to 65535; 0 takes any free one.
    pub port: u16,
    /// PEM file with the TLS certificate, followed by its chain. Empty for plain HTTP. A relative path starts at the
    /// folder of the settings file.
    pub tls_cert: String,
    /// PEM file with the private key of the certificate, not readable by others. A relative path starts at the folder
    /// of the settings file.
    pub tls_key: String,
    /// Host names that requests may use beside localhost, the address and the names of the certificate. With TLS,
    /// agents are given the first one.
    pub names: Vec<String>,
    /// Most bytes of a request. From 1024 to 1073741824.
    pub max_body_bytes: usize,
    /// Rate limit: requests a second for each key. From 1 to 1000000.
    pub requests_per_second: u32,
}

impl ServerConfig {
    /// Returns the address to listen on; this machine's own if it cannot be parsed, which `validate` reports.
    pub fn address(&self) -> IpAddr {
        self.host.trim().parse().unwrap_or(Ipv4Addr::LOCALHOST.into())
    }

    /// Returns the URL for clients.
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
            // A memory of 4 MiB fits, whatever escapes its JSON has.
            max_body_bytes: 32 * 1024 * 1024,
            // Far above any agent, below what floods a disk.
            requests_per_second: 1_000,
        }
    }
}
