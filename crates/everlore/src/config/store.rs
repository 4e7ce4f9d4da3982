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
        /// Databases of single agents, as `NAME=ADDRESS`; an address is one of those above, or `directory:PATH` for a folder
        /// of markdown files. An agent begins there that has no memories yet; `everlore agent move` moves one that has.
        pub agents: Vec<AgentStoreUrl> = Vec::new();
    }
}

/// Database of an agent in the settings: `NAME=ADDRESS`. Shown without its password.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct AgentStoreUrl {
    /// Agent.
    pub agent: String,
    /// Address of its database.
    pub url: StoreUrl,
}

impl AgentStoreUrl {
    /// Returns the setting with its password.
    pub(super) fn reveal(&self) -> String {
        format!("{}={}", self.agent, self.url.reveal())
    }

    fn validate(&self) -> Result<(), &'static str> {
        if self.agent.is_empty() || self.url.is_empty() {
            return Err("has an entry that is not NAME=ADDRESS, such as anna=sqlite:anna.db");
        }
        self.url.validate_for_agent()
    }
}

impl From<String> for AgentStoreUrl {
    fn from(text: String) -> Self {
        let (agent, url) = text.split_once('=').unwrap_or(("", &text));
        Self { agent: agent.trim().to_owned(), url: StoreUrl::new(url.trim()) }
    }
}

impl Serialize for AgentStoreUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}={}", self.agent, self.url))
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
        let url = self.url.validate().err();
        let agents = self.agents.iter().find_map(|named| named.validate().err());
        let url = url.map(|message| InvalidSetting::new("store.url", message));
        let agents = agents.map(|message| InvalidSetting::new("store.agents", message));
        self.out_of_range().into_iter().chain(url).chain(agents).collect()
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
    fn an_agent_has_an_address_of_its_own() {
        let named = AgentStoreUrl::from("助手 = postgres://ann:se=cret@host/db?x=1".to_owned());
        assert_eq!(named.agent, "助手");
        assert_eq!(named.url.reveal(), "postgres://ann:se=cret@host/db?x=1");
        assert_eq!(serde_json::to_value(&named).unwrap(), "助手=postgres://ann:***@host/db?x=1");
        assert_eq!(AgentStoreUrl::from(named.reveal()), named);
        for bad in ["postgres://host/db", "=sqlite:x.db", "anna=", "anna=x.db", "anna=directory:"] {
            assert!(AgentStoreUrl::from(bad.to_owned()).validate().is_err(), "{bad}");
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
