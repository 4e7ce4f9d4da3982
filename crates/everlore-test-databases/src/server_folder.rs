//! Temporary folder of a server, which belongs to the account that it runs as.

use std::{
    fs::{self, DirBuilder, File, Permissions},
    os::unix::fs::{DirBuilderExt, PermissionsExt, chown},
    path::{Path, PathBuf},
};

use rustix::process::geteuid;
use tempfile::TempDir;

/// Beginning of the folder's name. `tools/databases/run` deletes folders of this name whose lock nobody holds.
const PREFIX: &str = "everlore-databases-";

/// Account that servers run as where tests run as root, whom both servers refuse.
const UNPRIVILEGED: &str = "nobody";

/// User and group of a server process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerAccount {
    pub(crate) user: u32,
    pub(crate) group: u32,
}

impl ServerAccount {
    /// Returns the account to change to, or `None` if the tests do not run as root.
    pub(crate) fn if_root() -> Option<Self> {
        if !geteuid().is_root() {
            return None;
        }
        let accounts = fs::read_to_string("/etc/passwd").expect("a list of accounts");
        let mut found = accounts.lines().filter_map(|line| line.strip_prefix(UNPRIVILEGED));
        Some(found.find_map(parse_account).expect("an account without rights"))
    }
}

/// Parses the rest of a line of `/etc/passwd`: `:x:65534:65534:…`.
fn parse_account(rest: &str) -> Option<ServerAccount> {
    let mut fields = rest.strip_prefix(':')?.split(':').skip(1);
    let user = fields.next()?.parse().ok()?;
    Some(ServerAccount { user, group: fields.next()?.parse().ok()? })
}

/// Folder that is deleted when it is dropped.
#[derive(Debug)]
pub(crate) struct ServerFolder {
    /// Folder of this user with the lock. The server's own is inside.
    outer: TempDir,
    /// Lock that ends with this process: what a killed one leaves can be told from what is in use.
    _lock: File,
}

impl ServerFolder {
    pub(crate) fn create() -> Self {
        let outer = tempfile::Builder::new().prefix(PREFIX).tempdir().expect("a temporary folder");
        let new_lock = outer.path().join("lock.new");
        let lock = File::create(&new_lock).expect("a lock file");
        lock.lock().expect("nobody else has the folder");
        fs::rename(new_lock, outer.path().join("lock")).expect("both are in the folder");
        // The server must reach its own folder, and needs no right to list this one.
        fs::set_permissions(outer.path(), Permissions::from_mode(0o711)).expect("it is ours");
        let folder = Self { outer, _lock: lock };
        create_private(&folder.path());
        create_private(&folder.data());
        folder
    }

    /// Returns the folder that the server may write.
    pub(crate) fn path(&self) -> PathBuf {
        self.outer.path().join("server")
    }

    /// Returns the folder of the database's files.
    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// Returns the file that the server logs to.
    pub(crate) fn log(&self) -> PathBuf {
        self.outer.path().join("log")
    }

    /// Writes a file that the server can read, and returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).expect("a folder of this test");
        own(&path);
        path
    }
}

/// Creates a folder that nobody but the server can read: it holds the password, or the data.
fn create_private(path: &Path) {
    DirBuilder::new().mode(0o700).create(path).expect("the name is free");
    own(path);
}

fn own(path: &Path) {
    if let Some(ServerAccount { user, group }) = ServerAccount::if_root() {
        chown(path, Some(user), Some(group)).expect("root may give files away");
    }
}
