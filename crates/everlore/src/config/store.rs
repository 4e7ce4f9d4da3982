//! Settings of `[store]`: the database that holds the memories.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use super::{
    redact_url::{HIDDEN_PASSWORD, redact_url},
    validate::{InvalidSetting, settings},
};

/// Schemes of databases that many servers share.
const SERVER_SCHEMES: [&str; 4] = ["postgres", "postgresql", "mysql", "mariadb"];

settings! {
    /// Database that holds the memories (docs/databases.md).
    pub struct StoreConfig in "store" {
        /// Address: `sqlite:PATH`, or `postgres://USER:PASSWORD@HOST/DATABASE` or `mysql://…` for a database that several
        /// servers share.
        /// Empty for the file everlore.db in the home. The password is never shown; `EVERLORE_STORE` keeps it out of this
        /// file.
        pub url: StoreUrl = StoreUrl::default();
    }
}

/// Address of a database. `Debug`, `Display` and serialization hide its password.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct StoreUrl(String);

impl StoreUrl {
    /// Wraps an address so that its password is not shown.
    pub fn new(url: impl Into<String>) -> Self {
        Self(url.into())
    }

    /// Returns the address with its password, for the client of the database.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns `true` if no address is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the path of a SQLite file, if that is what it names.
    pub fn sqlite_path(&self) -> Option<&str> {
        self.0.strip_prefix("sqlite:")
    }

    /// Returns the path of a folder of markdown files, if that is what it names.
    pub fn directory_path(&self) -> Option<&str> {
        self.0.strip_prefix("directory:")
    }

    /// Checks the address of the database of one agent, which may be a folder of markdown files too.
    pub fn validate_for_agent(&self) -> Result<(), &'static str> {
        match self.directory_path() {
            Some("") => Err("names no folder: use directory:PATH"),
            Some(_) => Ok(()),
            None => self.validate(),
        }
    }

    /// Returns `true` for a database that several servers share.
    pub fn is_server(&self) -> bool {
        self.0.split_once("://").is_some_and(|(scheme, _)| SERVER_SCHEMES.contains(&scheme))
    }

    /// Checks the address. The message quotes nothing of it: a mistyped one may have its password anywhere.
    pub fn validate(&self) -> Result<(), &'static str> {
        let is_known = self.is_empty() || self.is_server() || self.sqlite_path().is_some();
        if !is_known {
            return Err(
                "is not the address of a database: use sqlite:PATH, postgres://USER:PASSWORD@HOST/DATABASE or mysql://…",
            );
        }
        if self.sqlite_path() == Some("") {
            return Err("names no file: use sqlite:PATH");
        }
        if self.is_server() && self.0.contains(&format!(":{HIDDEN_PASSWORD}@")) {
            return Err("has the placeholder of a hidden password; set the password itself");
        }
        Ok(())
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact_url(&self.0))
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", redact_url(&self.0))
    }
}

impl Serialize for StoreUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&redact_url(&self.0))
    }
}

impl StoreConfig {
    pub(super) fn validate(&self) -> Vec<InvalidSetting> {
        let problem = self.url.validate().err();
        let ranges = self.out_of_range().into_iter();
        ranges.chain(problem.map(|message| InvalidSetting::new("store.url", message))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for (url, shown) in [
            ("postgres://ann:se%40cret@host:5432/db", "postgres://ann:***@host:5432/db"),
            ("postgres://ann:s/ec@re?t@host/db", "postgres://ann:***@host/db"),
            ("postgres://ann@host/db", "postgres://ann@host/db"),
            ("mysql://host/db?password=secret&x=1", "mysql://host/db?password=***&x=1"),
            ("sqlite:/a:b@c.db", "sqlite:/a:b@c.db"),
        ] {
            let url = StoreUrl::new(url);
            assert_eq!(url.to_string(), shown);
            assert_eq!(format!("{url:?}"), format!("{shown:?}"));
            assert_eq!(serde_json::to_value(&url).unwrap(), shown);
        }
    }

    #[test]
    fn an_address_has_a_known_scheme() {
        for good in ["", "sqlite:x.db", "postgres://h/d", "postgresql://h/d", "mysql://h/d"] {
            assert_eq!(StoreUrl::new(good).validate(), Ok(()), "{good}");
        }
        for bad in ["x.db", "host=h password=secret", "oracle://h", "sqlite:", "postgres:h"] {
            let problem = StoreUrl::new(bad).validate().unwrap_err();
            assert!(!problem.contains("secret"), "{bad}: {problem}");
        }
        assert!(StoreUrl::new("postgres://ann:***@h/d").validate().is_err());
    }
}
