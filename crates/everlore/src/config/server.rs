//! Settings of `[server]`: memory over HTTP.

use std::net::{IpAddr, Ipv4Addr};

use serde::{Deserialize, Serialize};

use super::check::{Problem, within};

/// `everlore serve`. Its options go before these settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerConfig {
    /// The address to listen on. Others than this machine are let in by `everlore serve --allow-remote` only.
    pub host: String,
    /// The port. From 0 to 65535; 0 for any that is free.
    pub port: u16,
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

    pub(super) fn check(&self) -> Vec<Problem> {
        let host = self.host.trim().parse::<IpAddr>().is_err().then(|| {
            Problem::new("server.host", "must be an IP address, such as \"127.0.0.1\" or \"::1\"")
        });
        let checks = [
            host,
            within("server.max_body_bytes", self.max_body_bytes, 1_024..=1_073_741_824),
            within("server.requests_per_second", self.requests_per_second, 1..=1_000_000),
        ];
        checks.into_iter().flatten().collect()
    }
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".into(),
            port: 6636,
            // A memory of 4 MiB fits, however its JSON is written.
            max_body_bytes: 32 * 1024 * 1024,
            // Far above any agent, below what floods a disk.
            requests_per_second: 1_000,
        }
    }
}
