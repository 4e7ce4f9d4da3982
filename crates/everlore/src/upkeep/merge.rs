//! Duplicate merging: finds memories that differ only in case, clause order, articles, inflection or script.
//!
//! Two statements are duplicates if their content words are the same and in nearly the same order. That is narrow on
//! purpose: a different name or number makes another statement, and merging must not lose anything. Each text is
//! analysed once and compared only with those that have the same words.

use std::collections::{BTreeMap, HashMap};

use crate::{
    text::statement_terms::StatementTerms,
    types::{Kind, Memory, Origin, Status, Timestamp},
};

/// Group of duplicates and its survivor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DuplicateMerge {
    /// Memory that stays, with the evidence and the tags of all.
    pub survivor: Memory,
    /// Other memories, superseded by it.
    pub superseded: Vec<Memory>,
}

/// Finds duplicates among memories and merges each group.
pub(crate) fn find_merges(memories: &[Memory], now: Timestamp) -> Vec<DuplicateMerge> {
    let mut groups: HashMap<(Kind, u64), Vec<(&Memory, StatementTerms)>> = HashMap::new();
    for memory in memories {
        if let Some(key) = merge_key(memory) {
            groups.entry(key).or_default().push((memory, StatementTerms::of(&memory.content)));
        }
    }
    let mut merges: Vec<_> = groups
        .into_values()
        .flat_map(|group| same_order_groups(&group))
        .map(|same| merge_group(&same, now))
        .collect();
    merges.sort_by_key(|merge| merge.survivor.id);
    merges
}

/// Returns a key that is equal for possible duplicates; `None` for a memory that is never merged.
pub(crate) fn merge_key(memory: &Memory) -> Option<(Kind, u64)> {
    let statement = may_merge(memory).then(|| StatementTerms::of(&memory.content))?;
    (!statement.is_empty()).then(|| (memory.kind, statement.key()))
}

/// Returns `true` for lasting statements: the same event may happen twice, and files and turns are never merged.
fn may_merge(memory: &Memory) -> bool {
    let is_statement = matches!(
        memory.kind,
        Kind::User | Kind::Feedback | Kind::Project | Kind::Reference | Kind::Knowledge
    );
    let is_file = memory.source.via == Origin::Import
        || ["file", "path", "hash"].iter().any(|key| memory.metadata.contains_key(*key));
    is_statement && memory.status == Status::Active && !is_file && !memory.is_pinned()
}

/// Returns the groups of one bucket whose words are also in the same order.
fn same_order_groups<'a>(bucket: &[(&'a Memory, StatementTerms)]) -> Vec<Vec<&'a Memory>> {
    let mut groups: Vec<(usize, Vec<&Memory>)> = Vec::new();
    for (index, (memory, words)) in bucket.iter().enumerate() {
        let same = groups.iter_mut().find(|(first, _)| bucket[*first].1.has_same_order(words));
        match same {
            Some((_, group)) => group.push(memory),
            None => groups.push((index, vec![memory])),
        }
    }
    groups.into_iter().map(|(_, group)| group).filter(|group| group.len() > 1).collect()
}

/// Merges a group into its most trusted and then newest memory, which gets the evidence and the tags of all.
fn merge_group(duplicates: &[&Memory], now: Timestamp) -> DuplicateMerge {
    let mut order: BTreeMap<_, &Memory> = BTreeMap::new();
    for memory in duplicates {
        order.insert((memory.trust(), memory.at, memory.id), memory);
    }
    let mut order: Vec<&Memory> = order.into_values().rev().collect();
    let mut survivor = order.remove(0).clone();
    survivor.weight = survivor.weight_at(now);
    for memory in &order {
        extend_unique(&mut survivor.source.turns, &memory.source.turns);
        extend_unique(&mut survivor.tags, &memory.tags);
        survivor.weight = survivor.weight.max(memory.weight_at(now));
        survivor.importance = survivor.importance.max(memory.importance);
        survivor.confidence = survivor.confidence.max(memory.confidence);
        survivor.last_used_at = survivor.last_used_at.max(memory.last_used_at);
    }
    (survivor.updated_at, survivor.version) = (now, survivor.version + 1);
    let superseded = |memory: &&Memory| Memory {
        status: Status::Superseded,
        superseded_by: Some(survivor.id),
        updated_at: now,
        version: memory.version + 1,
        ..(*memory).clone()
    };
    DuplicateMerge { superseded: order.iter().map(superseded).collect(), survivor }
}

fn extend_unique<T: Clone + PartialEq>(own: &mut Vec<T>, others: &[T]) {
    let new: Vec<T> = others.iter().filter(|other| !own.contains(other)).cloned().collect();
    own.extend(new);
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan;

    use super::*;
    use crate::types::{MemoryId, MemorySource, Scope, TRUST_KEY};

    fn at(day: i64) -> Timestamp {
        "2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap() + (24 * day).hours()
    }

    fn memory(text: &str, day: i64) -> Memory {
        let source = MemorySource::new(Origin::Extract);
        Memory::with_content(&Scope::default(), Kind::User, text.into(), source, at(day), at(day))
    }

    #[test]
    fn what_says_the_same_is_put_together_and_what_differs_is_not() {
        let cases = [
            ("The user likes green tea.", "User likes green tea", true),
            ("The user is currently working at Nokia.", "The user works at Nokia.", true),
            ("The user lives in Boston.", "The user lives in Denver.", false),
            ("The user likes tea.", "The user does not like tea.", false),
            ("Ann likes Bob.", "Bob likes Ann.", false),
            ("The release is due on March 20.", "The release is due on March 27.", false),
            ("The user likes tea.", "The user likes tea and coffee.", false),
            ("用户喜欢喝龙井茶。", "用户喜欢喝龙井茶", true),
            ("用户喜歡喝龍井茶。", "用户喜欢喝龙井茶！", true),
            ("用户目前住在上海。", "用户住在上海。", true),
            ("用户住在上海。", "用户住在北京。", false),
            ("用户喜欢喝茶。", "用户不喜欢喝茶。", false),
            ("张三喜欢李四", "李四喜欢张三", false),
            ("发布日期是3月20日", "发布日期是3月27日", false),
        ];
        for (one, other, same) in cases {
            let merged = find_merges(&[memory(one, 0), memory(other, 9)], at(10));
            assert_eq!(merged.len(), usize::from(same), "{one} / {other}");
        }
    }

    #[test]
    fn the_newest_stays_with_the_evidence_and_the_tags_of_all() {
        let (mut old, mut new) = (memory("用户喜欢喝龙井茶。", 0), memory("用户喜欢喝龙井茶", 9));
        old.source.turns = vec![MemoryId::new(at(0))];
        new.source.turns = vec![MemoryId::new(at(9))];
        (old.tags, new.tags) = (vec!["茶".into(), "爱好".into()], vec!["茶".into()]);
        old.weight = 1.8;
        let merged = find_merges(&[old.clone(), new.clone()], at(10)).remove(0);
        assert_eq!(merged.survivor.id, new.id);
        assert_eq!(merged.survivor.source.turns, [new.source.turns[0], old.source.turns[0]]);
        assert_eq!(merged.survivor.tags, ["茶", "爱好"]);
        assert!(merged.survivor.weight > 1.7);
        let [superseded] = &merged.superseded[..] else { panic!("{merged:?}") };
        assert_eq!((superseded.id, superseded.status), (old.id, Status::Superseded));
        assert_eq!((superseded.superseded_by, superseded.version), (Some(new.id), 2));
    }

    #[test]
    fn what_is_trusted_more_stays_even_if_it_is_older() {
        let (mut old, mut new) = (memory("I like tea", 0), memory("I like tea!", 9));
        old.metadata.insert(TRUST_KEY.into(), "said".into());
        new.metadata.insert(TRUST_KEY.into(), "outside".into());
        assert_eq!(find_merges(&[new, old.clone()], at(10))[0].survivor.id, old.id);
    }

    #[test]
    fn events_turns_files_and_pinned_memories_stand_for_themselves() {
        let pair = |change: fn(&mut Memory)| {
            let mut both = [memory("went to the dentist", 0), memory("Went to the dentist.", 9)];
            both.iter_mut().for_each(change);
            find_merges(&both, at(10)).len()
        };
        assert_eq!(pair(|_| {}), 1);
        assert_eq!(pair(|memory| memory.kind = Kind::Experience), 0);
        assert_eq!(pair(|memory| memory.kind = Kind::Turn), 0);
        assert_eq!(pair(|memory| memory.source.via = Origin::Import), 0);
        assert_eq!(pair(|memory| memory.status = Status::Archived), 0);
        assert_eq!(pair(|memory| drop(memory.metadata.insert("pinned".into(), true.into()))), 0);
    }
}
