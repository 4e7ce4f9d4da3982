//! Address of a server database: options of ours, which the client does not know, and an address without the password.

use std::time::Duration;

use crate::{
    config::redact_url::redact_url,
    error::{Error, Result},
    store::index::block_cache::DEFAULT_MAX_BYTES,
};

/// Address of a server database.
#[derive(Clone)]
pub(super) struct ServerAddress {
    /// Address of each host for the client, without our options.
    pub(super) urls: Vec<String>,
    /// Address that may be shown.
    pub(super) shown: String,
    pub(super) options: ServerOptions,
}

/// Options of the connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerOptions {
    /// Most time to open a connection.
    pub(super) connect_timeout: Duration,
    /// Most time to wait for a connection of the pool.
    pub(super) acquire_timeout: Duration,
    /// Most time for a statement; the database ends it then.
    pub(super) statement_timeout: Duration,
    /// Most connections of the pool.
    pub(super) max_connections: usize,
    /// Set when connections must be encrypted.
    pub(super) is_tls: bool,
    /// Most bytes of index blocks that the process keeps in RAM.
    pub(super) cache_bytes: usize,
    /// File with the certificates to trust; the system's if there is none.
    pub(super) root_certificates: Option<String>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            // A database in the same network answers in milliseconds; a failover takes seconds.
            connect_timeout: Duration::from_secs(5),
            acquire_timeout: Duration::from_secs(30),
            // The largest merge takes a few seconds.
            statement_timeout: Duration::from_secs(30),
            // A database accepts about 100 by default, and several servers share them.
            max_connections: 16,
            is_tls: false,
            cache_bytes: DEFAULT_MAX_BYTES,
            root_certificates: None,
        }
    }
}

/// Largest cache that can be asked for: a terabyte.
const MAX_CACHE_MB: usize = 1 << 20;

/// Time that the network may add to a statement before the connection counts as lost.
const NETWORK_GRACE: Duration = Duration::from_secs(5);

impl ServerOptions {
    /// Returns the time after which a round trip counts as lost.
    pub(super) fn answer_limit(&self) -> Duration {
        self.statement_timeout + NETWORK_GRACE
    }

    /// Returns the most time of a call with all its attempts.
    pub(super) fn call_limit(&self) -> Duration {
        self.acquire_timeout + self.answer_limit()
    }
}

impl ServerAddress {
    /// Splits our options off an address. Errors show no password.
    pub(super) fn parse(url: &str) -> Result<Self> {
        let shown = redact_url(url);
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        if !has_host(base) && !query.contains("host=") {
            let hint = "use postgres://USER:PASSWORD@HOST/DATABASE or mysql://…";
            return Err(Error::invalid(format!("the address {shown} names no host"), hint));
        }
        let mut options = ServerOptions::default();
        let mut others = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            match options.set(key, value) {
                Some(true) => {}
                Some(false) => others.push(pair),
                None => {
                    return Err(Error::invalid(
                        format!("`{key}={value}` in {shown} is not valid"),
                        "give time-outs in seconds, cache_mb in megabytes and sslmode=disable or sslmode=require",
                    ));
                }
            }
        }
        let separator = if others.is_empty() { "" } else { "?" };
        let query = format!("{separator}{}", others.join("&"));
        let urls = split_hosts(base).iter().map(|base| format!("{base}{query}")).collect();
        Ok(Self { urls, shown, options })
    }

    /// Returns the scheme.
    pub(super) fn scheme(&self) -> &str {
        self.shown.split_once(':').map_or("", |(scheme, _)| scheme)
    }
}

/// Returns an address for each host of one that names several: `postgres://USER@HOST1:PORT1,HOST2/DATABASE`.
fn split_hosts(base: &str) -> Vec<String> {
    let (scheme, rest) = base.split_once("://").unwrap_or(("", base));
    let (login, place) = rest.rsplit_once('@').map_or(("", rest), |(login, place)| (login, place));
    let at = if login.is_empty() { "" } else { "@" };
    let (hosts, database) = place.split_once('/').unwrap_or((place, ""));
    hosts.split(',').map(|host| format!("{scheme}://{login}{at}{host}/{database}")).collect()
}

/// Returns `true` if an address without its options names a host.
fn has_host(base: &str) -> bool {
    let place = base.rsplit(['@']).next().unwrap_or(base);
    let place = place.split_once("://").map_or(place, |(_, place)| place);
    !place.is_empty() && !place.starts_with(['/', ':'])
}

impl ServerOptions {
    /// Sets an option; `Some(false)` if it is none of ours, `None` if the value is not valid.
    fn set(&mut self, key: &str, value: &str) -> Option<bool> {
        let seconds = || value.parse().ok().filter(|s| *s > 0).map(Duration::from_secs);
        match key {
            "connect_timeout" => self.connect_timeout = seconds()?,
            "acquire_timeout" => self.acquire_timeout = seconds()?,
            "statement_timeout" => self.statement_timeout = seconds()?,
            "max_connections" => self.max_connections = value.parse().ok().filter(|n| *n > 0)?,
            "cache_mb" => {
                let megabytes: usize =
                    value.parse().ok().filter(|n| (1..=MAX_CACHE_MB).contains(n))?;
                self.cache_bytes = megabytes << 20;
            }
            "sslmode" | "ssl-mode" => {
                self.is_tls = match value.to_ascii_lowercase().replace('_', "-").as_str() {
                    "disable" | "disabled" => false,
                    "require" | "required" | "verify-ca" | "verify-full" | "verify-identity" => {
                        true
                    }
                    _ => return None,
                }
            }
            "sslrootcert" | "ssl-ca" => self.root_certificates = Some(value.to_owned()),
            _ => return Some(false),
        }
        Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_host() {
        for url in ["postgres://", "postgres://ann:secret@/db", "mysql:///db"] {
            let error = ServerAddress::parse(url).map(drop).unwrap_err().to_string();
            assert!(error.contains("names no host") && !error.contains("secret"), "{error}");
        }
        assert!(ServerAddress::parse("postgres:///db?host=h").is_ok());
    }

    #[test]
    fn every_host_of_an_address_has_one_of_its_own() {
        let address = ServerAddress::parse("mysql://ann:a,b@h1:1,[::1]:2,h3/db?x=1").unwrap();
        let hosts = ["h1:1", "[::1]:2", "h3"].map(|host| format!("mysql://ann:a,b@{host}/db?x=1"));
        assert_eq!((address.urls, address.shown.contains("a,b")), (hosts.into(), false));
        assert_eq!(ServerAddress::parse("postgres://h").unwrap().urls, ["postgres://h/"]);
    }

    #[test]
    fn options_of_ours_are_not_passed_on() {
        let url =
            "postgres://h/db?statement_timeout=7&application_name=x&sslmode=require&cache_mb=512";
        let address = ServerAddress::parse(url).unwrap();
        assert_eq!(address.urls, ["postgres://h/db?application_name=x"]);
        assert_eq!(address.options.statement_timeout, Duration::from_secs(7));
        assert!(address.options.is_tls && address.options.cache_bytes == 512 << 20);
        for bad in ["sslmode=perhaps", "connect_timeout=soon", "max_connections=0", "cache_mb=-1"] {
            let error = ServerAddress::parse(&format!("postgres://a:secret@h/db?{bad}"));
            let error = error.map(drop).unwrap_err().to_string();
            assert!(error.contains(bad) && !error.contains("secret"), "{error}");
        }
    }
}
