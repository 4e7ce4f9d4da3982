//! Looks up on this machine what memories name. Nothing is run, and nothing leaves the machine.

use std::{
    collections::HashMap,
    ffi::OsStr,
    io::ErrorKind,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream},
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    engine::Engine,
    growth::audit::{NamedThing, named_things},
    types::{Kind, Memory, Status},
};

/// Fewest folders of a missing path that exist: `/home/sam` says that the path is one of this machine, `/var` does not.
const MIN_KNOWN_FOLDERS: usize = 2;

/// Character between the folders of `PATH`.
const PATH_SEPARATOR: char = if cfg!(windows) { ';' } else { ':' };

/// Most answers that are kept; memories name the same few places again and again.
const MAX_KNOWN: usize = 10_000;

/// Longest wait for a port of this machine.
const PROBE_TIME: Duration = Duration::from_millis(200);

/// Probe of paths, programs and ports.
#[derive(Default)]
pub(super) struct MachineProbe {
    user_home: Option<PathBuf>,
    program_folders: Vec<PathBuf>,
    /// Unset if nothing may be looked up.
    is_allowed: bool,
    known: HashMap<String, bool>,
}

impl Engine {
    /// Returns a probe of this machine; without the environment of its user, programs and `~` are not looked up. A caller
    /// that acts for one user learns nothing about the machine.
    pub(super) fn machine_probe(&self) -> MachineProbe {
        if !self.has_owner_rights {
            return MachineProbe::default();
        }
        let path = self.check_verifier.variable("PATH").and_then(OsStr::to_str);
        let folders = path.into_iter().flat_map(|path| path.split(PATH_SEPARATOR));
        let program_folders = folders.filter(|folder| !folder.is_empty()).map(PathBuf::from);
        MachineProbe {
            user_home: self.check_verifier.variable("HOME").map(PathBuf::from),
            program_folders: program_folders.collect(),
            is_allowed: true,
            known: HashMap::new(),
        }
    }
}

impl MachineProbe {
    /// Returns the first thing that an active memory names and that is gone.
    pub(super) fn missing(&mut self, memory: &Memory) -> Option<String> {
        let may_name =
            matches!(memory.kind, Kind::User | Kind::Project | Kind::Reference | Kind::Knowledge)
                && self.is_allowed
                && memory.status == Status::Active
                && !memory.metadata.contains_key("path");
        let things = if may_name { named_things(&memory.content) } else { Vec::new() };
        things.into_iter().find_map(|thing| match thing {
            NamedThing::Path(path) => self.is_gone(&path).then_some(path),
            NamedThing::Program(name) => self.has_no(&name).then(|| format!("the program {name}")),
            NamedThing::Loopback(address, port) => self.is_silent(port).then_some(address),
        })
    }

    fn is_gone(&mut self, path: &str) -> bool {
        let full = match (path.strip_prefix("~/"), &self.user_home) {
            (Some(rest), Some(home)) => home.join(rest),
            (Some(_), None) => return false,
            (None, _) => PathBuf::from(path),
        };
        self.remembered(path, || is_missing_here(&full))
    }

    fn has_no(&mut self, program: &str) -> bool {
        let folders = self.program_folders.clone();
        !folders.is_empty()
            && self
                .remembered(program, || !folders.iter().any(|folder| folder.join(program).exists()))
    }

    /// Returns `true` if nothing listens on a port of this machine. What does not answer in time may.
    fn is_silent(&mut self, port: u16) -> bool {
        let is_refused = |address: IpAddr| {
            let tried = TcpStream::connect_timeout(&SocketAddr::new(address, port), PROBE_TIME);
            tried.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
        };
        let is_silent = || is_refused(Ipv4Addr::LOCALHOST.into());
        self.remembered(&format!("port {port}"), || is_silent() && !is_open_on_ipv6(port))
    }

    fn remembered(&mut self, name: &str, look: impl FnOnce() -> bool) -> bool {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let found = look();
        if self.known.len() < MAX_KNOWN {
            self.known.insert(name.to_owned(), found);
        }
        found
    }
}

fn is_open_on_ipv6(port: u16) -> bool {
    let address = SocketAddr::new(Ipv6Addr::LOCALHOST.into(), port);
    TcpStream::connect_timeout(&address, PROBE_TIME).is_ok()
}

/// Returns `true` if a path does not exist, though enough of the folders above it do that it is one of this machine. A
/// path that cannot be read is not missing.
fn is_missing_here(path: &Path) -> bool {
    let is_missing = path.try_exists().is_ok_and(|exists| !exists);
    let known = path.ancestors().skip(1).find(|folder| folder.is_dir());
    let depth = known.map_or(0, |folder| folder.components().count().saturating_sub(1));
    is_missing && depth >= MIN_KNOWN_FOLDERS
}
