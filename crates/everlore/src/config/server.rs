//! Settings of `[server]`: memory over HTTP.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::validate::{InvalidSetting, settings};

settings! {
    /// `everlore serve`. Its options take precedence over these settings.
    pub struct ServerConfig in "server" {
        /// Address to listen on. An address beyond this machine needs TLS or `everlore serve --allow-remote`.
        pub host: String = "127.0.0.1".into();
        /// Port. From 0 to 65535; 0 takes any free one.
        pub port: u16 = 6636;
        /// PEM file with the TLS certificate, followed by its chain. Empty for plain HTTP. A relative path starts at the
        /// folder of the settings file.
        pub tls_cert: String = String::new();
        /// PEM file with the private key of the certificate, not readable by others. A relative path starts at the folder
        /// of the settings file.
        pub tls_key: String = String::new();
        /// Host names that requests may use beside localhost, the address and the names of the certificate. With TLS,
        /// agents are given the first one.
        pub names: Vec<String> = Vec::new();
        /// Most bytes of a request. From 1024 to 1073741824.
        // A memory of 4 MiB fits, whatever escapes its JSON has.
        pub max_body_bytes: usize = 32 * 1024 * 1024, in 1_024..=1_073_741_824;
        /// Rate limit: requests a second for each key. From 1 to 1000000.
        // Far above any agent, below what floods a disk.
        pub requests_per_second: u32 = 1_000, in 1..=1_000_000;
    }
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
        host.into_iter().chain(half).chain(self.out_of_range()).collect()
    }
}
