//! Ports of loopback that no other test of this user takes.

use std::{
    env,
    fs::{self, File},
    hash::{BuildHasher, RandomState},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    ops::Range,
};

use rustix::process::geteuid;

/// Range below the ports that systems give to outgoing connections, which could take one before its server starts.
const PORTS: Range<u16> = 10_240..32_768;

/// Number of ports tried; all of them are taken only if something is wrong.
const ATTEMPTS: usize = 1_000;

/// Port that stays reserved until it is dropped, whether or not a server listens on it.
#[derive(Debug)]
pub(crate) struct ReservedPort {
    number: u16,
    /// Lock that other test processes respect. It ends with the process.
    _lock: File,
}

impl ReservedPort {
    /// Reserves a free port.
    pub(crate) fn new() -> Self {
        let mut candidates = (0..ATTEMPTS).map(|_| random_port());
        candidates.find_map(Self::reserve).expect("a free port")
    }

    pub(crate) fn number(&self) -> u16 {
        self.number
    }

    pub(crate) fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.number).into()
    }

    fn reserve(number: u16) -> Option<Self> {
        let folder = env::temp_dir().join(format!("everlore-ports-{}", geteuid().as_raw()));
        fs::create_dir_all(&folder).expect("a temporary folder");
        let lock = File::create(folder.join(number.to_string())).expect("a lock file");
        lock.try_lock().ok()?;
        TcpListener::bind((Ipv4Addr::LOCALHOST, number)).ok()?;
        Some(Self { number, _lock: lock })
    }
}

fn random_port() -> u16 {
    let span = u64::from(PORTS.end - PORTS.start);
    PORTS.start + u16::try_from(random_number() % span).expect("the span is below 65,536")
}

/// Returns a number that differs in every call and every process.
pub(crate) fn random_number() -> u64 {
    RandomState::new().hash_one(())
}
