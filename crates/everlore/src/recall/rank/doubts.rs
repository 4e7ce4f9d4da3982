//! Doubts: a memory that may have been replaced is marked, and in a prompt comes after what may have replaced it.

use super::source_turns::{SCORE_STEP, set_product};
use crate::recall::Hit;

/// Marks hits with a newer one that may have replaced them.
pub(crate) fn mark_doubted(hits: &mut [Hit]) {
    for (older, newer) in doubted_pairs(hits) {
        hits[older].newer = Some(hits[newer].memory.id);
    }
}

/// Lifts what may have replaced a hit just above it. The hit keeps its score: the doubt may be wrong.
pub(super) fn lift_doubting(hits: &mut [Hit]) {
    let is_doubted = |hit: &&Hit| hit.newer.is_some() && hit.held_until.is_none();
    let doubted = hits.iter().filter(is_doubted);
    let doubted: Vec<_> = doubted.map(|hit| (hit.newer, hit.factors.product())).collect();
    for (newer, product) in doubted {
        if let Some(newer) = hits.iter_mut().find(|hit| Some(hit.memory.id) == newer) {
            let least = product * (1.0 + SCORE_STEP);
            set_product(newer, newer.factors.product().max(least));
        }
    }
}

/// Pairs each hit with one that may have replaced it, unless it is known to be outdated.
fn doubted_pairs(hits: &[Hit]) -> Vec<(usize, usize)> {
    let pair = |(newer, hit): (usize, &Hit)| {
        let older = hit.memory.may_replace()?;
        let is_older = |other: &Hit| other.memory.id == older && other.newer.is_none();
        Some((hits.iter().position(is_older)?, newer))
    };
    hits.iter().enumerate().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        recall::{HitSignals, ScoreFactors, rank::score::combined_score},
        store::DocAddress,
        types::{Kind, MAY_REPLACE_KEY, Memory, MemorySource, Origin, Scope, Timestamp},
    };

    fn hit(text: &str, relevance: f64) -> Hit {
        let (now, source) = (Timestamp::UNIX_EPOCH, MemorySource::new(Origin::Remember));
        let scope = Scope::default();
        let factors = ScoreFactors {
            relevance,
            recency: 1.0,
            weight: 1.0,
            importance: 1.0,
            kind: 1.0,
            update: 1.0,
        };
        Hit {
            memory: Memory::with_content(&scope, Kind::User, text.to_owned(), source, now, now),
            score: combined_score(&factors),
            signals: HitSignals::default(),
            factors,
            probability: None,
            newer: None,
            held_until: None,
            check: None,
            address: DocAddress::new(0, 0),
        }
    }

    #[test]
    fn what_may_have_replaced_a_hit_comes_before_it_and_the_older_one_is_marked() {
        for [older, newer, other] in [
            ["my laptop runs arch", "wiped the laptop, it's on fedora now", "my cat is called Ida"],
            ["每天两杯美式", "咖啡戒了，改喝茶", "我的猫叫小花"],
        ] {
            let mut hits = [hit(older, 0.9), hit(other, 0.5), hit(newer, 0.4)];
            let older_id = hits[0].memory.id;
            let note = older_id.to_string().into();
            hits[2].memory.metadata.insert(MAY_REPLACE_KEY.to_owned(), note);
            let newer_id = hits[2].memory.id;
            mark_doubted(&mut hits);
            lift_doubting(&mut hits);
            hits.sort_by(|a, b| b.score.total_cmp(&a.score));
            let order = hits.each_ref().map(|hit| hit.memory.content.as_str());
            assert_eq!(order, [newer, older, other]);
            assert_eq!((hits[1].newer, hits[1].held_until), (Some(newer_id), None));
            assert!(hits[0].newer.is_none() && hits[2].newer.is_none());
        }
    }
}
