//! Folder of the unpacked server programs.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

/// Folder of the programs if no other is named: that of `make databases`.
const DEFAULT_FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools/databases");

/// Name of the libraries' folder below `lib` and `usr/lib`.
const LIBRARIES: &str = "x86_64-linux-gnu";

/// Programs of PostgreSQL and MariaDB, unpacked and not installed.
#[derive(Clone, Debug)]
pub struct DatabaseInstallation {
    folder: PathBuf,
}

impl DatabaseInstallation {
    /// Finds the folder that `EVERLORE_TEST_DATABASES` names, or that of `make databases`.
    ///
    /// # Panics
    /// If nothing was fetched.
    pub fn find() -> Self {
        let named = env::var_os("EVERLORE_TEST_DATABASES").map(PathBuf::from);
        let folder = named.unwrap_or_else(|| DEFAULT_FOLDER.into());
        let is_complete = folder.join("packages.lock").exists();
        assert!(is_complete, "no database servers in {}: run `make databases`", folder.display());
        Self { folder }
    }

    /// Returns the path of a program of PostgreSQL, such as `pg_dump`.
    pub fn postgres_program(&self, name: &str) -> PathBuf {
        self.folder.join("postgres/bin").join(name)
    }

    /// Returns the path of a program of MariaDB, such as `mariadb-dump`.
    pub fn mariadb_program(&self, name: &str) -> PathBuf {
        let folder = if name == "mariadbd" { "sbin" } else { "bin" };
        self.mariadb_root().join(folder).join(name)
    }

    /// Returns the folder `usr` of MariaDB's packages.
    pub(crate) fn mariadb_root(&self) -> PathBuf {
        self.folder.join("mariadb/usr")
    }

    /// Returns all environment variables of a program: none of the caller's changes what it does.
    pub fn environment(&self, home: &Path) -> Vec<(&'static str, OsString)> {
        let usr = self.mariadb_root();
        let libraries =
            [usr.join("lib").join(LIBRARIES), self.folder.join("mariadb/lib").join(LIBRARIES)];
        let system = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"];
        let programs = [usr.join("bin"), usr.join("sbin")];
        let programs = programs.into_iter().chain(system.map(PathBuf::from));
        vec![
            ("HOME", home.into()),
            ("TMPDIR", home.into()),
            ("LC_ALL", "C".into()),
            ("PATH", env::join_paths(programs).expect("no path has a colon")),
            ("LD_LIBRARY_PATH", env::join_paths(libraries).expect("no path has a colon")),
        ]
    }
}
