//! One server a home: a lock that the system lets go of when the process ends, and a note of where the server is.

use std::{
    fs::{self, File, TryLockError},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
};

use everlore::{
    Error, Result,
    files::atomic_file::{private_open_options, remove_if_exists},
};
use serde::{Deserialize, Serialize};

use crate::token::write_private;

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerInfo {
    /// Its process.
    pub pid: u32,
    /// Its address.
    pub address: SocketAddr,
    /// Its version.
    #[serde(default)]
    pub version: String,
    /// A digest of the settings it was started with.
    #[serde(default)]
    pub settings: String,
    /// Whether that address speaks TLS.
    #[serde(default)]
    pub tls: bool,
    /// What it is called, where that is not its address.
    #[serde(default)]
    pub name: Option<String>,
    /// Where programs of this machine reach it by plain HTTP, where the address has TLS.
    #[serde(default)]
    pub local: Option<SocketAddr>,
}

impl ServerInfo {
    /// Where clients find it.
    pub fn url(&self) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        match &self.name {
            Some(name) => format!("{scheme}://{name}:{}", self.address.port()),
            None => format!("{scheme}://{}", reachable(self.address)),
        }
    }

    /// Where programs of this machine reach it by plain HTTP.
    pub fn local_address(&self) -> SocketAddr {
        self.local.unwrap_or_else(|| reachable(self.address))
    }
}

/// The address by which this machine reaches one: that of all networks is none to ask at.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// The right to serve a home.
pub(crate) struct InstanceLock {
    /// Holds the lock as long as it is open.
    _file: File,
    info_path: PathBuf,
}

impl InstanceLock {
    /// Takes the home, or says who has it.
    pub(crate) fn acquire(home: &Path) -> Result<Self> {
        let file = open_lock_file(home)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file, info_path: info_path(home) }),
            Err(TryLockError::WouldBlock) => Err(already_running(home)),
            Err(TryLockError::Error(error)) => Err(Error::io("locking the home", error)),
        }
    }

    /// Writes down where the server is.
    pub(crate) fn write_info(&self, running: &ServerInfo) -> Result<()> {
        let failed = |error| Error::io(self.info_path.display().to_string(), error);
        let bytes = serde_json::to_vec(running).map_err(|error| failed(error.into()))?;
        write_private(&self.info_path, &bytes).map_err(failed)
    }

    /// Gives the home back.
    pub(crate) fn release(self) {
        // A note that stays behind is no lock: the next server writes its own.
        let _ = remove_if_exists(&self.info_path);
    }
}

/// The server that runs on a home, if one does.
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
    serde_json::from_slice(&fs::read(info_path(home)).ok()?).ok()
}

fn already_running(home: &Path) -> Error {
    let place = read_info(home).map_or_else(
        || "a server is just starting on this home".to_owned(),
        |running| {
            let (url, pid) = (running.url(), running.pid);
            format!("a server runs on this home already: {url} (process {pid})")
        },
    );
    Error::invalid(place, "use that one, stop it first, or name another home with --home")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str) -> ServerInfo {
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
    fn a_server_is_told_by_an_address_that_can_be_asked() {
        assert_eq!(at("192.0.2.7:80").url(), "http://192.0.2.7:80");
        assert_eq!(at("0.0.0.0:6636").url(), "http://127.0.0.1:6636");
        assert_eq!(at("[::]:6636").url(), "http://[::1]:6636");
        let named = ServerInfo { tls: true, name: Some("memory.lan".into()), ..at("0.0.0.0:443") };
        assert_eq!(named.url(), "https://memory.lan:443");
    }

    #[test]
    fn a_second_server_is_told_where_the_first_one_is() {
        let home = tempfile::tempdir().unwrap();
        let first = InstanceLock::acquire(home.path()).unwrap();
        first.write_info(&at("127.0.0.1:6636")).unwrap();
        let error = InstanceLock::acquire(home.path()).map(drop).unwrap_err();
        assert!(error.to_string().contains("http://127.0.0.1:6636 (process "), "{error}");
        assert_eq!(find_running(home.path()).unwrap().pid, std::process::id());
        first.release();
        assert_eq!(find_running(home.path()), None);
        InstanceLock::acquire(home.path()).map(drop).unwrap();
    }
}
