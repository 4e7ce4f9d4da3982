//! Seals: an agent that moves to another database is sealed in the one it leaves, so that no process writes there any
//! more.
//!
//! A seal raises the index version of every scope of the agent, which each write reads under the lock of its scope, beyond
//! what any program knows: programs that know of no seals refuse to write too. A document stands for users that appear
//! later.

use crate::{
    error::{Error, Result},
    text::terms::TERMS_VERSION,
};

/// Added to the index version of a sealed scope: no text analysis has so many versions.
pub(super) const SEAL: u32 = 1 << 30;

/// Returns the name of the document that seals the users of an agent that appear later.
pub(super) fn seal_document(agent: &str) -> String {
    format!("sealed/{agent}")
}

/// Refuses to write to a scope that is sealed, or whose index a newer program built: its terms are not ours.
pub(super) fn check_index_version(version: u32, agent: impl FnOnce() -> String) -> Result<()> {
    if (SEAL..2 * SEAL).contains(&version) {
        return Err(Error::Sealed { agent: agent() });
    }
    if version > TERMS_VERSION {
        return Err(Error::SchemaTooNew { found: version, known: TERMS_VERSION });
    }
    Ok(())
}
