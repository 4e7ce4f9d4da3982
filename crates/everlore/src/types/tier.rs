//! Tier: how much of a memory's text is given.

use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

use crate::error::{Error, Result};

/// Amount of a text: one line, an overview or all of it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Tier {
    /// One line.
    L0,
    /// Overview of a few sentences.
    L1,
    /// Full text.
    #[default]
    L2,
}

crate::types::variant_names! { pub Tier: L0 = "l0", L1 = "l1", L2 = "l2" }

impl Tier {
    /// Serializes as `L0`, `L1` or `L2`, the names in the entries of a block.
    pub(crate) fn serialize_upper<S: Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{self:?}"))
    }
}

impl FromStr for Tier {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.trim().to_lowercase().as_str() {
            "l0" | "0" | "abstract" => Ok(Self::L0),
            "l1" | "1" | "overview" => Ok(Self::L1),
            "l2" | "2" | "full" => Ok(Self::L2),
            _ => Err(Error::invalid(
                format!("there is no level `{text}`, only l0, l1 and l2"),
                "use l0 (one line), l1 (overview) or l2 (all of it)",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Entry {
        plain: Tier,
        #[serde(serialize_with = "Tier::serialize_upper")]
        upper: Tier,
    }

    #[test]
    fn tiers_have_the_names_that_clients_know() {
        let json = serde_json::to_string(&Entry { plain: Tier::L1, upper: Tier::L1 }).unwrap();
        assert_eq!(json, r#"{"plain":"l1","upper":"L1"}"#);
        for tier in [Tier::L0, Tier::L1, Tier::L2] {
            assert_eq!(tier.to_string().parse::<Tier>().unwrap(), tier);
            assert_eq!(serde_json::to_value(tier).unwrap(), tier.as_str());
        }
        assert_eq!("Overview".parse::<Tier>().unwrap(), Tier::L1);
        assert!("l3".parse::<Tier>().unwrap_err().hint().contains("l0 (one line)"));
    }
}
