//! Reconciliation: decides whether an accepted draft is added, updates or supersedes a memory, or is skipped.
//!
//! Deterministic, by slots first and by terms where there are none. Nothing is removed: a superseded memory stays, with
//! the end of its validity and its successor.

use serde::Serialize;
use serde_json::json;

use super::{TextSketch, extract::Draft, naming, rivals};
use crate::{
    error::Result,
    text::{attribution::is_same_name, tiers::refresh_overview},
    types::{
        Change, Memory, MemoryId, MemorySource, Origin, SLOT_KEY, Scope, Slot, Status, TRUST_KEY,
        Timestamp, Trust, USER_SUBJECT, VALID_UNTIL_KEY,
    },
};

/// Fewest terms of a memory that a draft can extend: shorter statements are too similar to tell an extension apart.
const MIN_TERMS_TO_EXTEND: usize = 3;

/// Metadata key: subject matter of a statement, such as `family`.
pub(crate) const CATEGORY_KEY: &str = "category";

/// Metadata key: start of a memory's validity.
pub(super) const VALID_FROM_KEY: &str = "valid_from";

/// Decision about a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Resolution {
    /// Add it as a new memory.
    Add,
    /// Extend this memory, about which the draft says more.
    Update(MemoryId),
    /// Replace these memories.
    Supersede(Vec<MemoryId>),
    /// End these memories, with nothing in their place.
    Withdraw(Vec<MemoryId>),
    /// Drop it, because it adds nothing to this memory.
    Skip(MemoryId, DraftSkipReason),
}

/// Reason why a draft adds nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DraftSkipReason {
    /// An equal statement is stored.
    Same,
    /// A stored statement says more.
    Less,
    /// A newer statement is stored.
    Older,
}

impl DraftSkipReason {
    /// Returns the reason in words.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Same => "it is already known",
            Self::Less => "a memory says more about it",
            Self::Older => "a newer statement is stored",
        }
    }
}

/// Relation of a draft to one stored memory, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MemoryRelation {
    Skip(DraftSkipReason),
    Supersede,
    Update,
}

/// Decides about a draft, given its neighbours in any order.
pub(super) fn reconcile(draft: &Draft, neighbours: &[Memory]) -> Resolution {
    if draft.is_withdrawal() {
        let is_meant = |memory: &&Memory| memory.status == Status::Active && names(draft, memory);
        return Resolution::Withdraw(neighbours.iter().filter(is_meant).map(|it| it.id).collect());
    }
    let mut related: Vec<(MemoryRelation, MemoryId)> = neighbours
        .iter()
        .filter(|memory| memory.status == Status::Active && memory.kind.is_statement())
        .filter_map(|memory| Some((relation_to(draft, memory)?, memory.id)))
        .collect();
    related.sort();
    match related.first() {
        None => Resolution::Add,
        Some((MemoryRelation::Skip(reason), id)) => Resolution::Skip(*id, *reason),
        Some((MemoryRelation::Update, id)) => Resolution::Update(*id),
        Some((MemoryRelation::Supersede, _)) => {
            let is_superseded =
                |(relation, _): &&(MemoryRelation, _)| *relation == MemoryRelation::Supersede;
            Resolution::Supersede(related.iter().filter(is_superseded).map(|it| it.1).collect())
        }
    }
}

fn relation_to(draft: &Draft, memory: &Memory) -> Option<MemoryRelation> {
    if !is_same_speaker(draft, memory) && !is_about_same_person(draft, memory) {
        return None;
    }
    if normalize(&draft.content) == normalize(&memory.content) {
        return Some(MemoryRelation::Skip(DraftSkipReason::Same));
    }
    let stored_slot = Slot::from_metadata(&memory.metadata);
    let relation = match (&draft.slot, &stored_slot) {
        _ if names(draft, memory) => Some(MemoryRelation::Supersede),
        (Some(slot), Some(stored)) => relation_by_slots(draft, slot, stored, memory),
        _ => relation_by_terms(draft, memory),
    }?;
    // A less trusted statement must not change a more trusted one; it is added beside it.
    let is_weaker = draft.trust < Trust::Inferred && draft.trust < trust_of(memory);
    match relation {
        MemoryRelation::Skip(_) => Some(relation),
        _ if is_weaker => None,
        _ if draft.at < memory.at => Some(MemoryRelation::Skip(DraftSkipReason::Older)),
        _ => Some(relation),
    }
}

/// Returns `true` if a draft names the whole text of a memory as what it replaces.
fn names(draft: &Draft, memory: &Memory) -> bool {
    let replaced = draft.replaces.as_ref();
    replaced.is_some_and(|replaced| normalize(replaced) == normalize(&memory.content))
}

/// Returns `true` if the same person said both; without a name it is the user.
pub(super) fn is_same_speaker(draft: &Draft, memory: &Memory) -> bool {
    let stored = memory.source.speaker.as_deref().unwrap_or_default();
    is_same_name(draft.speaker.as_deref().unwrap_or_default(), stored)
}

/// Returns `true` if both name the same person or thing as their subject, and it is not the user: "I" of two speakers
/// are two people.
fn is_about_same_person(draft: &Draft, memory: &Memory) -> bool {
    let stored = Slot::from_metadata(&memory.metadata);
    draft.slot.as_ref().zip(stored.as_ref()).is_some_and(|(slot, stored)| {
        slot.subject != USER_SUBJECT && is_same_name(&slot.subject, &stored.subject)
    })
}

fn relation_by_slots(
    draft: &Draft,
    slot: &Slot,
    stored: &Slot,
    memory: &Memory,
) -> Option<MemoryRelation> {
    let is_opposite =
        slot.attribute.opposite() == Some(stored.attribute) && slot.subject == stored.subject;
    if is_opposite {
        return (slot.same_value(stored) && !slot.ended && !stored.ended)
            .then_some(MemoryRelation::Supersede);
    }
    if !slot.same_attribute(stored) {
        return None;
    }
    let (new, old) = (normalize(&slot.value), normalize(&stored.value));
    let names_it = draft.replaces.as_ref().is_some_and(|replaced| normalize(replaced) == old);
    let is_about_it = new == old || contains(&new, &old) || contains(&old, &new);
    if names_it || slot.ended != stored.ended && is_about_it {
        return Some(MemoryRelation::Supersede);
    }
    if slot.ended != stored.ended {
        return None;
    }
    if new == old {
        return Some(relation_of_same_value(draft, memory));
    }
    if contains(&new, &old) {
        Some(MemoryRelation::Update)
    } else if contains(&old, &new) {
        Some(MemoryRelation::Skip(DraftSkipReason::Less))
    } else {
        let replaces = slot.attribute.is_single_valued()
            && !rivals::hold_together(slot, stored, &draft.content);
        replaces.then_some(MemoryRelation::Supersede)
    }
}

/// Returns `true` if one value is another with something added: 里斯本 and 葡萄牙里斯本.
fn contains(longer: &str, shorter: &str) -> bool {
    !shorter.is_empty() && longer.len() > shorter.len() && longer.contains(shorter)
}

/// Compares two statements of one value: the one that says more stays.
fn relation_of_same_value(draft: &Draft, memory: &Memory) -> MemoryRelation {
    let (new, old) = (TextSketch::of(&draft.content), TextSketch::of(&memory.content));
    if old.is_covered_by(&new) && !new.is_covered_by(&old) {
        MemoryRelation::Update
    } else {
        MemoryRelation::Skip(DraftSkipReason::Same)
    }
}

fn relation_by_terms(draft: &Draft, memory: &Memory) -> Option<MemoryRelation> {
    let (new, old) = (TextSketch::of(&draft.content), TextSketch::of(&memory.content));
    let names_it = draft.replaces.as_ref().is_some_and(|replaced| {
        let replaced = TextSketch::of(replaced);
        replaced.is_covered_by(&old) || old.is_covered_by(&replaced)
    });
    if names_it {
        Some(MemoryRelation::Supersede)
    } else if new.is_covered_by(&old) {
        Some(MemoryRelation::Skip(DraftSkipReason::Same))
    } else {
        let extends = old.is_covered_by(&new) && old.len() >= MIN_TERMS_TO_EXTEND;
        (extends && draft.kind == memory.kind).then_some(MemoryRelation::Update)
    }
}

fn trust_of(memory: &Memory) -> Trust {
    memory.trust()
}

fn normalize(text: &str) -> String {
    text.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Returns the changes that carry out a resolution, to be applied together: superseded memories point to their
/// successor.
pub(super) fn resolution_changes(
    draft: &Draft,
    resolution: &Resolution,
    neighbours: &[Memory],
    scope: &Scope,
    now: Timestamp,
) -> Result<Vec<Change>> {
    let find = |id: &MemoryId| neighbours.iter().find(|memory| memory.id == *id);
    Ok(match resolution {
        Resolution::Skip(..) => Vec::new(),
        Resolution::Add => vec![Change::Add(Box::new(draft_to_memory(draft, scope, now)))],
        Resolution::Update(id) => {
            find(id).map(|memory| update_change(draft, memory, now)).into_iter().collect()
        }
        Resolution::Withdraw(ids) => {
            let ended = ids.iter().filter_map(find);
            ended.map(|memory| supersede_change(memory, None, draft.at, now)).collect()
        }
        Resolution::Supersede(ids) => {
            let memory = draft_to_memory(draft, scope, now);
            let older = ids.iter().filter_map(find);
            let older: Vec<_> =
                older.map(|it| supersede_change(it, Some(memory.id), draft.at, now)).collect();
            std::iter::once(Change::Add(Box::new(memory))).chain(older).collect()
        }
    })
}

/// Converts a draft into a memory.
pub(super) fn draft_to_memory(draft: &Draft, scope: &Scope, now: Timestamp) -> Memory {
    let source = MemorySource {
        via: Origin::Extract,
        session: None,
        speaker: draft.speaker.clone(),
        role: draft.role,
        turns: draft.evidence.clone(),
    };
    let mut memory =
        Memory::with_content(scope, draft.kind, draft.content.clone(), source, draft.at, now);
    copy_draft_fields(draft, &mut memory);
    let category = category_of(&memory);
    memory.uri = naming::memory_uri(
        scope,
        draft.kind,
        category.as_deref(),
        &draft.name,
        memory.fingerprint(),
        0,
    );
    memory.metadata.insert(VALID_FROM_KEY.to_owned(), json!(draft.at));
    refresh_overview(&mut memory);
    memory
}

/// Returns the subject matter of a memory: its category, or else the attribute of its slot.
pub(super) fn category_of(memory: &Memory) -> Option<String> {
    let category = memory.metadata.get(CATEGORY_KEY).and_then(|it| it.as_str());
    let attribute = || Slot::from_metadata(&memory.metadata).map(|slot| slot.attribute.to_string());
    category.map(str::to_owned).or_else(attribute)
}

fn copy_draft_fields(draft: &Draft, memory: &mut Memory) {
    memory.name.clone_from(&draft.name);
    memory.description.clone_from(&draft.description);
    memory.tags.clone_from(&draft.keywords);
    if let Some(category) = draft.category {
        memory.tags.retain(|tag| tag != category);
        memory.tags.insert(0, category.to_owned());
        memory.metadata.insert(CATEGORY_KEY.to_owned(), json!(category));
    }
    memory.confidence = draft.confidence;
    memory.metadata.insert(TRUST_KEY.to_owned(), json!(draft.trust));
    if let Some(slot) = &draft.slot {
        memory.metadata.insert(SLOT_KEY.to_owned(), json!(slot));
    }
    if let Some(experience) = &draft.experience {
        experience.store_in(&mut memory.metadata);
    }
}

fn update_change(draft: &Draft, memory: &Memory, now: Timestamp) -> Change {
    let mut memory = memory.clone();
    let trust = Trust::lowest_of([draft.trust, trust_of(&memory)]);
    copy_draft_fields(draft, &mut memory);
    memory.metadata.insert(TRUST_KEY.to_owned(), json!(trust));
    memory.content.clone_from(&draft.content);
    let new: Vec<_> =
        draft.evidence.iter().filter(|turn| !memory.source.turns.contains(turn)).copied().collect();
    memory.source.turns.extend(new);
    refresh_overview(&mut memory);
    memory.updated_at = now;
    memory.version += 1;
    Change::Update(Box::new(memory))
}

pub(super) fn supersede_change(
    memory: &Memory,
    by: Option<MemoryId>,
    until: Timestamp,
    now: Timestamp,
) -> Change {
    let memory = Memory { version: memory.version + 1, ..memory.clone() };
    Change::Update(Box::new(superseded(memory, by, until, now)))
}

/// Returns a memory as superseded.
pub(super) fn superseded(
    mut memory: Memory,
    by: Option<MemoryId>,
    until: Timestamp,
    now: Timestamp,
) -> Memory {
    memory.status = Status::Superseded;
    memory.superseded_by = by;
    memory.metadata.insert(VALID_UNTIL_KEY.to_owned(), json!(until));
    memory.updated_at = now;
    memory
}

#[cfg(test)]
mod tests {
    use jiff::{ToSpan, tz::TimeZone};

    use super::*;
    use crate::{
        ingest::extract::{SessionTurns, TurnText, extract_statements},
        types::Role,
    };

    fn day(number: i64) -> Timestamp {
        "2026-01-01T10:00:00Z".parse::<Timestamp>().unwrap() + (24 * number).hours()
    }

    fn draft(text: &str, at: i64) -> Draft {
        let turn = TurnText {
            id: MemoryId::new(day(at)),
            role: Role::User,
            speaker: None,
            text: text.to_owned(),
            at: day(at),
        };
        let session = SessionTurns { context: &[], turns: &[turn] };
        let mut drafts = extract_statements(session, &TimeZone::UTC, None).unwrap();
        assert_eq!(drafts.len(), 1, "{text}");
        drafts.remove(0)
    }

    fn known_memory(text: &str, at: i64) -> Memory {
        draft_to_memory(&draft(text, at), &Scope::default(), day(at))
    }

    #[test]
    fn each_pair_of_statements_resolves_as_people_would() {
        let cases = [
            ("I live in Boston.", "I moved from Boston to Denver.", "supersede"),
            ("I work at Nokia.", "I changed jobs: I'm now at Spotify.", "supersede"),
            ("I work at Nokia.", "I no longer work at Nokia.", "supersede"),
            ("I like coffee.", "I don't like coffee anymore.", "supersede"),
            ("I like coffee.", "I hate coffee.", "supersede"),
            ("My name is Novak.", "Actually, my name is Nowak, not Novak.", "supersede"),
            ("My birthday is on May 14.", "My birthday is on May 15.", "supersede"),
            ("The release is due March 20.", "The release is due March 27.", "supersede"),
            ("I like coffee.", "I like tea.", "add"),
            ("I live in Boston.", "My sister lives in Denver.", "add"),
            ("I live in Boston.", "I live in Boston, Massachusetts.", "update"),
            ("I live in Boston, Massachusetts.", "I live in Boston.", "skip"),
            ("I live in Boston.", "i live in boston!", "skip"),
            ("我住在上海。", "我从上海搬到了深圳。", "supersede"),
            ("我在腾讯上班。", "我换工作了，现在在美团。", "supersede"),
            ("我喜欢喝咖啡。", "我不再喜欢喝咖啡了。", "supersede"),
            ("我喜欢喝咖啡。", "我讨厌喝咖啡。", "supersede"),
            ("我叫章伟。", "我叫张伟。", "supersede"),
            ("我喜欢喝咖啡。", "我喜欢喝茶。", "add"),
            ("我住在上海。", "我姐姐住在深圳。", "add"),
            ("我住在里斯本。", "我住在葡萄牙里斯本。", "update"),
            ("我住在里斯本。", "我住在里斯本！", "skip"),
        ];
        for (before, after, expected) in cases {
            let memory = known_memory(before, 0);
            let resolution = match reconcile(&draft(after, 9), std::slice::from_ref(&memory)) {
                Resolution::Add => "add",
                Resolution::Update(_) => "update",
                Resolution::Supersede(_) => "supersede",
                Resolution::Withdraw(_) => "withdraw",
                Resolution::Skip(..) => "skip",
            };
            assert_eq!(resolution, expected, "{before} then {after}");
        }
    }

    #[test]
    fn what_is_superseded_says_until_when_it_held_and_what_took_its_place() {
        let (old, new) = (known_memory("我住在上海。", 0), draft("我从上海搬到了深圳。", 9));
        let neighbours = [old.clone()];
        let resolution = reconcile(&new, &neighbours);
        let changes =
            resolution_changes(&new, &resolution, &neighbours, &Scope::default(), day(10)).unwrap();
        let [Change::Add(added), Change::Update(replaced)] = &changes[..] else {
            panic!("{changes:?}")
        };
        assert_eq!((replaced.id, replaced.status), (old.id, Status::Superseded));
        assert_eq!((replaced.superseded_by, replaced.version), (Some(added.id), 2));
        assert_eq!(replaced.metadata[VALID_UNTIL_KEY], json!(day(9)));
        assert_eq!(added.metadata[VALID_FROM_KEY], json!(day(9)));
        assert_eq!(Slot::from_metadata(&added.metadata), new.slot);
        assert_eq!(added.source.turns, new.evidence);
    }

    #[test]
    fn an_older_statement_does_not_replace_a_newer_one() {
        let newer = known_memory("I live in Denver.", 9);
        let resolution = reconcile(&draft("I live in Boston.", 0), std::slice::from_ref(&newer));
        assert_eq!(resolution, Resolution::Skip(newer.id, DraftSkipReason::Older));
    }

    #[test]
    fn what_is_less_trusted_stands_beside_what_the_user_said() {
        let memory = known_memory("I live in Boston.", 0);
        let outside = Draft { trust: Trust::Outside, ..draft("I live in Denver.", 9) };
        assert_eq!(reconcile(&outside, std::slice::from_ref(&memory)), Resolution::Add);
    }

    #[test]
    fn two_people_do_not_rival_each_other_and_one_person_does() {
        let said_by = |name: &str, text: &str, at| {
            let mut draft = draft(text, at);
            draft.speaker = Some(name.to_owned());
            draft.slot.as_mut().unwrap().subject = name.to_owned();
            draft
        };
        for (one, other) in
            [("I live in Lisbon.", "I live in Oslo."), ("我住在上海。", "我住在北京。")]
        {
            let ana = draft_to_memory(&said_by("Ana", one, 0), &Scope::default(), day(0));
            assert_eq!(ana.source.speaker.as_deref(), Some("Ana"));
            let resolve = |draft: &Draft| reconcile(draft, std::slice::from_ref(&ana));
            assert_eq!(resolve(&said_by("Ben", other, 9)), Resolution::Add);
            assert_eq!(resolve(&said_by("Ben", one, 9)), Resolution::Add, "the same words");
            assert_eq!(resolve(&draft(other, 9)), Resolution::Add, "the user");
            assert_eq!(resolve(&said_by("ana", other, 9)), Resolution::Supersede(vec![ana.id]));
            let mut told = draft(other, 9);
            told.slot.as_mut().unwrap().subject = "Ana".to_owned();
            assert_eq!(resolve(&told), Resolution::Supersede(vec![ana.id]), "the user about Ana");
        }
    }

    #[test]
    fn a_part_and_its_whole_hold_together_unless_someone_moved() {
        let resolve = |old: &str, new: &str| {
            let known = known_memory(old, 0);
            (reconcile(&draft(new, 9), std::slice::from_ref(&known)), known.id)
        };
        for (old, new) in [
            ("I live in Paris.", "I live in France."),
            ("我住在北京。", "我住在朝阳区。"),
            ("I live in Paris.", "我住在巴黎。"),
        ] {
            assert_eq!(resolve(old, new).0, Resolution::Add, "{old} {new}");
        }
        for (old, new) in
            [("I live in Paris.", "I live in Rome."), ("I live in Paris.", "我住在罗马。")]
        {
            let (resolution, id) = resolve(old, new);
            assert_eq!(resolution, Resolution::Supersede(vec![id]), "{old} {new}");
        }
        // Models keep the verb; the statements of rules say where someone lives.
        for (old, new, statement) in [
            ("I live in Paris.", "I live in France.", "The user moved to France."),
            ("我住在北京。", "我住在朝阳区。", "用户搬到了朝阳区。"),
        ] {
            let known = known_memory(old, 0);
            let moved = Draft { content: statement.to_owned(), ..draft(new, 9) };
            let resolution = reconcile(&moved, std::slice::from_ref(&known));
            assert_eq!(resolution, Resolution::Supersede(vec![known.id]), "{statement}");
        }
    }

    #[test]
    fn the_order_of_neighbours_does_not_matter() {
        let mut neighbours = vec![
            known_memory("I live in Boston.", 0),
            known_memory("I live in Austin.", 1),
            known_memory("I like tea.", 2),
        ];
        let new = draft("I live in Denver.", 9);
        let one = reconcile(&new, &neighbours);
        neighbours.reverse();
        assert_eq!(reconcile(&new, &neighbours), one);
        assert!(matches!(one, Resolution::Supersede(ids) if ids.len() == 2));
    }
}
