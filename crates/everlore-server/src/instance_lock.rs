//! One server per home: a file lock that the system releases when the process ends, and the address of the server.

use std::{
    fs::{File, TryLockError},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
};

use everlore::{
    Error, Result,
    internal::files::atomic_file::{private_open_options, remove_if_exists},
};
use serde::{Deserialize, Serialize};

use crate::token::write_private;
use everlore::internal::files::regular_file::{self, MAX_SETTINGS_BYTES};

/// Address and identity of a running server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerInfo {
    /// Process id.
    pub pid: u32,
    /// Listening address.
    pub address: SocketAddr,
    /// Version of the program.
    #[serde(default)]
    pub version: String,
    /// Digest of the settings it was started with.
    #[serde(default)]
    pub settings: String,
    /// Set if that address speaks TLS.
    #[serde(default)]
    pub tls: bool,
    /// Host name that clients use instead of the address.
    #[serde(default)]
    pub name: Option<String>,
    /// Plain HTTP address for local programs, where the main address has TLS.
    #[serde(default)]
    pub local: Option<SocketAddr>,
}

impl ServerInfo {
    /// Returns the base URL for clients.
    pub fn url(&self) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        match &self.name {
            Some(name) => format!("{scheme}://{name}:{}", self.address.port()),
            None => format!("{scheme}://{}", reachable(self.address)),
        }
    }

    /// Returns the plain HTTP address for local programs.
    pub fn local_address(&self) -> SocketAddr {
        self.local.unwrap_or_else(|| reachable(self.address))
    }
}

/// Replaces an unspecified address, which no client can connect to, by the loopback address.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Exclusive right to serve a home.
pub(crate) struct InstanceLock {
    /// Open file that holds the lock.
    _file: File,
    info_path: PathBuf,
}

impl InstanceLock {
    /// Locks the home, or fails with the address of the server that has it.
    pub(crate) fn acquire(home: &Path) -> Result<Self> {
        let file = open_lock_file(home)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file, info_path: info_path(home) }),
            Err(TryLockError::WouldBlock) => Err(already_running(home)),
            Err(TryLockError::Error(error)) => Err(Error::io("locking the home", error)),
        }
    }

    /// Writes the address of the server for other processes.
    pub(crate) fn write_info(&self, info: &ServerInfo) -> Result<()> {
        let failed = |error| Error::io(self.info_path.display().to_string(), error);
        let bytes = serde_json::to_vec(info).map_err(|error| failed(error.into()))?;
        write_private(&self.info_path, &bytes).map_err(failed)
    }

    /// Unlocks the home.
    pub(crate) fn release(self) {
        // A file left behind locks nothing: the next server overwrites it.
        let _ = remove_if_exists(&self.info_path);
    }
}

/// Returns the server that runs on a home, if there is one.
pub(crate) fn find_running(home: &Path) -> Option<ServerInfo> {
    let file = File::open(home.join("server.lock")).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => read_info(home),
        _ => None,
    }
}

fn open_lock_file(home: &Path) -> Result<File> {
    let path = home.join("server.lock");
    let file = private_open_options().append(true).create(true).open(&path);
    file.map_err(|error| Error::io(path.display().to_string(), error))
}

fn info_path(home: &Path) -> PathBuf {
    home.join("server.json")
}

fn read_info(home: &Path) -> Option<ServerInfo> {
    serde_json::from_slice(&regular_file::read(&info_path(home), MAX_SETTINGS_BYTES).ok()?).ok()
}

fn already_running(home: &Path) -> Error {
    let title = read_info(home).map_or_else(
        || "a server is just starting on this home".to_owned(),
        |info| {
            let (url, pid) = (info.url(), info.pid);
            format!("a server already runs on this home: {url} (process {pid})")
        },
    );
    Error::invalid(title, "use that server, stop it first, or choose another home with --home")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(address: &str) -> ServerInfo {
        let address = address.parse().unwrap();
        ServerInfo {
            pid: std::process::id(),
            address,
            version: String::new(),
            settings: String::new(),
            tls: false,
            name: None,
            local: None,
        }
    }

    #[test]
    fn the_url_has_an_address_that_clients_can_reach() {
        assert_eq!(info("192.0.2.7:80").url(), "http://192.0.2.7:80");
        assert_eq!(info("0.0.0.0:6636").url(), "http://127.0.0.1:6636");
        assert_eq!(info("[::]:6636").url(), "http://[::1]:6636");
        let named =
            ServerInfo { tls: true, name: Some("memory.lan".into()), ..info("0.0.0.0:443") };
        assert_eq!(named.url(), "https://memory.lan:443");
    }

    #[test]
    fn a_second_server_learns_the_address_of_the_first() {
        let home = tempfile::tempdir().unwrap();
        let first = InstanceLock::acquire(home.path()).unwrap();
        first.write_info(&info("127.0.0.1:6636")).unwrap();
        let error = InstanceLock::acquire(home.path()).map(drop).unwrap_err();
        assert!(error.to_string().contains("http://127.0.0.1:6636 (process "), "{error}");
        assert_eq!(find_running(home.path()).unwrap().pid, std::process::id());
        first.release();
        assert_eq!(find_running(home.path()), None);
        InstanceLock::acquire(home.path()).map(drop).unwrap();
    }
}
