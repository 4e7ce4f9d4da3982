//! Metadata of skills and workflows.

/// Metadata key of how often a skill was used and how that went.
pub(crate) const SKILL_EFFECT_KEY: &str = "skill_effect";
