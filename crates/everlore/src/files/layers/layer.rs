//! The four layers.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Layer: one of the four files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase", try_from = "String")]
pub enum Layer {
    /// Identity of the agent.
    Soul,
    /// Profile of the user.
    User,
    /// Notes of the agent.
    Memory,
    /// Log of the day.
    Daily,
}

crate::types::variant_names! { pub Layer: Soul = "soul", User = "user", Memory = "memory", Daily = "daily" }

impl FromStr for Layer {
    type Err = Error;

    /// Parses a layer, also from the name of its file.
    fn from_str(text: &str) -> Result<Self> {
        let name = text.trim().to_lowercase();
        let name = name.strip_suffix(".md").unwrap_or(&name);
        Self::ALL.into_iter().find(|layer| layer.as_str() == name).ok_or_else(|| {
            Error::invalid(
                format!("there is no layer `{text}`, only soul, user, memory and daily"),
                "use one of them, or the name of its file, such as USER.md",
            )
        })
    }
}

impl TryFrom<String> for Layer {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}
