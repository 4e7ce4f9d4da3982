//! Duplicates: memories that say the same, and memories that say nearly the same.
//!
//! Each memory leaves a few hashes while it is read: one of its set of content words, and four of the smallest hashes of
//! its terms (MinHash). Only memories that share a hash are compared, and each with a bounded number of others, so the
//! time is linear in the number of memories.

use std::collections::{BTreeSet, HashMap};

use super::fault::{AuditFix, Fault, FaultKind, quote};
use crate::{
    text::{
        assertions::{figures::digits_in, subjects::is_about_others},
        statement_terms::StatementTerms,
        terms::terms,
        text_sketch::TextSketch,
    },
    types::{Kind, Memory, MemoryId},
};

/// Hashes per band: two texts of which five sixths of the terms are equal share a band with two in three.
const BAND_ROWS: usize = 2;

/// Bands: with four, all but one in a hundred of such pairs share one.
const BANDS: usize = 4;

/// Memories of one hash that are compared with each other; what a template made has thousands.
const MAX_BUCKET: usize = 64;

/// Fewest terms of statements that may be nearly the same: of shorter ones a word more says something else.
const MIN_TERMS: usize = 6;

/// Most terms that the longer one of two nearly equal statements adds, as a share of its terms.
const MAX_NEW_SHARE: f64 = 0.2;

/// Least share of the shorter one's runs of three terms that the longer one has.
const MIN_SHINGLES: f64 = 0.5;

/// Hashes of all statements, for finding those that may be alike.
#[derive(Debug, Default)]
pub(super) struct AlikeIndex {
    same: HashMap<(Kind, u64), Vec<MemoryId>>,
    near: HashMap<(Kind, u64), Vec<MemoryId>>,
}

impl AlikeIndex {
    /// Adds a statement.
    pub(super) fn add(&mut self, memory: &Memory) {
        let statement = StatementTerms::of(&memory.content);
        if statement.is_empty() {
            return;
        }
        self.same.entry((memory.kind, statement.key())).or_default().push(memory.id);
        for band in bands(&memory.content) {
            let bucket = self.near.entry((memory.kind, band)).or_default();
            if bucket.len() < MAX_BUCKET {
                bucket.push(memory.id);
            }
        }
    }

    /// Returns groups of memories that may say the same.
    pub(super) fn same_groups(&self) -> Vec<Vec<MemoryId>> {
        sorted_groups(&self.same)
    }

    /// Returns groups of memories that may say nearly the same.
    pub(super) fn near_groups(&self) -> Vec<Vec<MemoryId>> {
        let mut groups = sorted_groups(&self.near);
        groups.dedup();
        groups
    }
}

fn sorted_groups(buckets: &HashMap<(Kind, u64), Vec<MemoryId>>) -> Vec<Vec<MemoryId>> {
    let mut groups: Vec<_> = buckets.values().filter(|ids| ids.len() > 1).cloned().collect();
    groups.sort();
    groups
}

/// Returns the hashes of the bands of a text; none for a short one.
fn bands(text: &str) -> Vec<u64> {
    let hashes: BTreeSet<u64> =
        terms(text).iter().map(|term| xxhash_rust::xxh3::xxh3_64(term.as_bytes())).collect();
    if hashes.len() < MIN_TERMS {
        return Vec::new();
    }
    let smallest = |seed: u64| hashes.iter().map(|hash| mix(hash ^ seed)).min().unwrap_or_default();
    let row = |band: usize, row: usize| smallest((band * BAND_ROWS + row + 1) as u64);
    (0..BANDS)
        .map(|band| (0..BAND_ROWS).fold(band as u64, |all, at| mix(all ^ row(band, at))))
        .collect()
}

/// Mixes the bits of a number (the finalizer of SplitMix64), so that each seed orders the terms anew.
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Returns a fault for each set of memories of one key that also have the same words in the same order.
pub(super) fn find_same(memories: &[&Memory]) -> Vec<Fault> {
    let mut groups: Vec<(StatementTerms, Vec<&Memory>)> = Vec::new();
    for memory in memories {
        let statement = StatementTerms::of(&memory.content);
        match groups.iter_mut().find(|(first, _)| first.has_same_order(&statement)) {
            Some((_, group)) => group.push(memory),
            None => groups.push((statement, vec![memory])),
        }
    }
    groups.iter().filter(|(_, group)| group.len() > 1).map(|(_, group)| same_fault(group)).collect()
}

fn same_fault(group: &[&Memory]) -> Fault {
    let mut group = group.to_vec();
    group.sort_by_key(|memory| std::cmp::Reverse((memory.trust(), memory.at, memory.id)));
    let others = group.len() - 1;
    let verb = if others == 1 { "another memory says" } else { "other memories say" };
    let count = if others == 1 { String::new() } else { format!("{others} ") };
    Fault {
        kind: FaultKind::Duplicate,
        ids: group.iter().map(|memory| memory.id).collect(),
        why: format!("{count}{verb} the same as {}", quote(group[0])),
        fix: AuditFix::Merge,
    }
}

/// Returns a fault for each memory of which another one says all, and little more.
pub(super) fn find_near(memories: &[&Memory]) -> Vec<Fault> {
    let sketches: Vec<TextSketch> = memories.iter().map(|it| TextSketch::of(&it.content)).collect();
    let mut faults = Vec::new();
    for (index, (short, sketch)) in memories.iter().zip(&sketches).enumerate() {
        let says_all = |(at, other): &(usize, &TextSketch)| {
            *at != index && is_nearly(sketch, other) && is_same_subject(short, memories[*at])
        };
        if let Some((at, _)) = sketches.iter().enumerate().find(says_all) {
            faults.push(near_fault(memories[at], short));
        }
    }
    faults
}

fn near_fault(longer: &Memory, shorter: &Memory) -> Fault {
    Fault {
        kind: FaultKind::Duplicate,
        ids: vec![longer.id, shorter.id],
        why: format!("{} says all that {} says", quote(longer), quote(shorter)),
        fix: AuditFix::Ask,
    }
}

/// Returns `true` if a longer text has all terms of a shorter one in the same runs, and hardly any other.
fn is_nearly(shorter: &TextSketch, longer: &TextSketch) -> bool {
    let (few, many) = (shorter.len(), longer.len());
    let new = many.saturating_sub(few);
    few >= MIN_TERMS
        && (1..many).contains(&few)
        && new as f64 <= MAX_NEW_SHARE * many as f64
        && shorter.is_covered_by(longer)
        && shorter.overlap(longer) >= 1.0
        && shorter.shingle_containment(longer) >= MIN_SHINGLES
}

/// Returns `true` if two statements speak of the same people, names and figures.
fn is_same_subject(one: &Memory, other: &Memory) -> bool {
    let (one, other) = (&one.content, &other.content);
    names(one) == names(other)
        && digits_in(one) == digits_in(other)
        && is_about_others(one) == is_about_others(other)
}

/// Returns the words of a text that begin with a capital letter, but for the first one.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.skip(1).filter(|word| word.starts_with(char::is_uppercase)).collect()
}
