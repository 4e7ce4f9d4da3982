//! Skills and workflows: procedures that a person approved, as files that people and assistants read, with versions,
//! evidence and measured effect.

mod format;
mod record;
mod draft;
mod index;

pub(crate) use draft::{CureText, SkillDraft, cure_skill, sequence_skill};
pub(crate) use format::SkillHead;
pub use format::{SkillProblem, SkillRule, skill_problems};
pub(crate) use index::{IndexedSkill, skill_index};
pub(crate) use record::{CureCounts, SkillEffectRecord, SkillPattern, SkillRecord};
pub use record::{ExpectedUse, SkillEffect, SkillForm};
