//! Cures that worked often enough to become a skill, whatever conversations show.

use crate::{
    growth::{
        patterns::{MIN_SESSIONS, PatternOccasions, RepeatedPain},
        reflection::Topic,
    },
    text::{
        error_signature::signature,
        language::{Language, detect_language},
    },
    types::{Experience, Memory},
};

/// Pain whose cure worked in enough cases, with the experience that says so.
pub(super) struct ProvenCure {
    /// Pain.
    pub pain: RepeatedPain,
    /// Experience.
    pub memory: Memory,
}

/// Returns the pain of an experience whose cure worked in enough cases: its failure, or without a known one its own words.
pub(super) fn proven_failure(memory: &Memory) -> Option<ProvenCure> {
    let experience = Experience::of_memory(memory)?;
    let times = experience.worked as usize;
    let error = experience.error.clone().unwrap_or_else(|| experience.pain.clone());
    let signature = Some(signature(&error)).filter(|signature| signature.is_failure());
    let text = if signature.is_some() { error } else { experience.pain.clone() };
    let is_told = signature.is_some() || !Topic::of(&text).is_empty();
    let is_chinese = detect_language(&memory.content) == Language::Chinese;
    let occasions = PatternOccasions::of_reports(memory, times);
    let pain = RepeatedPain { text, signature, occasions, is_chinese };
    let is_proven = times >= MIN_SESSIONS && is_told;
    is_proven.then(|| ProvenCure { pain, memory: memory.clone() })
}
