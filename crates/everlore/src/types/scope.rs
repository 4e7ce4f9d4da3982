//! Scope: the agent and the user that memories belong to.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Most characters of a name; it also bounds keys in every backend.
const MAX_SCOPE_NAME_CHARS: usize = 100;

/// Owner of memories: an agent and a user. Nothing is read, written or counted across two scopes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(try_from = "RawScope")]
pub struct Scope {
    agent: String,
    user: String,
}

#[derive(Deserialize)]
struct RawScope {
    agent: String,
    user: String,
}

impl Scope {
    /// Validates both names and creates their scope.
    pub fn new(agent: &str, user: &str) -> Result<Self> {
        Ok(Self { agent: validate_name("agent", agent)?, user: validate_name("user", user)? })
    }

    /// Returns the agent that the memory belongs to.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Returns the user that the memory is about.
    pub fn user(&self) -> &str {
        &self.user
    }
}

impl Default for Scope {
    fn default() -> Self {
        Self { agent: "default".into(), user: "default".into() }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.agent, self.user)
    }
}

impl TryFrom<RawScope> for Scope {
    type Error = Error;

    fn try_from(raw: RawScope) -> Result<Self> {
        Self::new(&raw.agent, &raw.user)
    }
}

/// Validates a name: it must be usable in a uri and as a folder, so separators and hidden names are refused.
fn validate_name(part: &str, name: &str) -> Result<String> {
    let problem = if name.is_empty() {
        "is empty"
    } else if name.chars().count() > MAX_SCOPE_NAME_CHARS {
        "is longer than 100 characters"
    } else if name.contains(['/', '\\']) || name.chars().any(char::is_control) {
        "contains a slash or a control character"
    } else if name.starts_with('.') || name.trim() != name {
        "starts with a dot or has blanks around it"
    } else {
        return Ok(name.to_owned());
    };
    Err(Error::invalid(
        format!("the {part} name {problem}"),
        format!("use a plain name, for example --{part} alice"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_any_language_are_fine() {
        let scope = Scope::new("助手", "王 小明").unwrap();
        assert_eq!((scope.agent(), scope.user()), ("助手", "王 小明"));
    }

    #[test]
    fn names_that_could_leave_a_folder_or_a_uri_are_refused() {
        for bad in ["", "a/b", "..", ".hidden", "a\\b", "a\nb", " a", "a ", &"x".repeat(101)] {
            assert!(Scope::new(bad, "u").is_err(), "{bad:?} was accepted as an agent");
            assert!(Scope::new("a", bad).is_err(), "{bad:?} was accepted as a user");
        }
    }
}
