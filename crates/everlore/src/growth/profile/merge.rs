//! Merging of signals: equal values become one field, values that exclude each other are kept with their dates.

use std::collections::{BTreeMap, HashMap};

use super::{ProfileField, ProfileSignal};
use crate::growth::reflection::Topic;

/// Fields that have one value at a time: a newer value ends the older one.
const SINGLE_VALUED: [&str; 9] =
    ["name", "age", "birthday", "role", "employer", "home", "origin", "language", "active_hours"];

/// Most evidence of a field: enough to see that it is no accident.
const MAX_EVIDENCE: usize = 10;

/// Confidence that no number of signals exceeds, unless a person set the value.
const MAX_CONFIDENCE: f64 = 0.99;

/// Merges signals into fields: in the order of their names, what holds before what held, the surest first.
pub(super) fn merge_signals(mut signals: Vec<ProfileSignal>) -> Vec<ProfileField> {
    signals.sort_by_key(|signal| (signal.since, signal.value.clone()));
    let mut fields: BTreeMap<String, Vec<ProfileField>> = BTreeMap::new();
    let mut places: HashMap<(String, String), usize> = HashMap::new();
    for signal in signals {
        let known = fields.entry(signal.name().to_owned()).or_default();
        let value = (signal.name().to_owned(), plain_value(&signal.value));
        let alike = || same_pain(known, &signal).unwrap_or(known.len());
        let place = *places.entry(value).or_insert_with(alike);
        match known.get_mut(place) {
            Some(field) => add_signal(field, signal),
            None => known.push(new_field(signal)),
        }
    }
    for (name, fields) in &mut fields {
        if SINGLE_VALUED.contains(&name.as_str()) || fields.iter().any(is_set) {
            end_older_values(fields);
        }
        if name == "communication_style" {
            end_opposite_styles(fields);
        }
        fields.sort_by(|one, other| {
            let held = one.until.is_some().cmp(&other.until.is_some());
            held.then(other.confidence.total_cmp(&one.confidence)).then(other.since.cmp(&one.since))
        });
    }
    fields.into_values().flatten().collect()
}

/// Returns the place of a pain that is about the same, whatever its words.
fn same_pain(known: &[ProfileField], signal: &ProfileSignal) -> Option<usize> {
    if signal.name() != "pains" {
        return None;
    }
    let topic = Topic::of(&signal.value);
    known.iter().position(|field| !topic.is_empty() && Topic::of(&field.value).is_same(&topic))
}

/// Ends a wish about answers when a later one asks for the opposite.
fn end_opposite_styles(fields: &mut [ProfileField]) {
    let wishes: Vec<_> = fields.iter().map(|it| (it.since, poles_of(&it.value))).collect();
    for field in fields.iter_mut().filter(|field| field.until.is_none() && !is_set(field)) {
        let own = poles_of(&field.value);
        let is_opposite = |poles: &[i8; 3]| own.iter().zip(poles).any(|(a, b)| a * b < 0);
        let later =
            wishes.iter().filter(|(since, poles)| *since > field.since && is_opposite(poles));
        field.until = later.map(|(since, _)| *since).min();
    }
}

/// Returns what a wish asks for in three respects: length, formality and depth; 0 for nothing.
fn poles_of(wish: &str) -> [i8; 3] {
    let lower = wish.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    STYLE_POLES.map(|(one, other)| i8::from(has(other)) - i8::from(has(one)))
}

/// Opposite wishes: short and long, formal and casual, simple and technical.
const STYLE_POLES: [(&[&str], &[&str]); 3] = [
    (
        &[
            "short",
            "brief",
            "concise",
            "terse",
            "to the point",
            "简短",
            "简洁",
            "精简",
            "简单点",
            "少说",
            "长篇大论",
        ],
        &[
            "longer",
            "detail",
            "thorough",
            "in depth",
            "elaborate",
            "详细",
            "展开",
            "具体一些",
            "具体一点",
            "长一点",
        ],
    ),
    (
        &["casual", "informal", "relaxed", "随意", "口语", "轻松"],
        &["more formal", "be formal", "formally", "formal tone", "正式一点", "正式一些", "书面"],
    ),
    (
        &["simple words", "plain language", "no jargon", "like i'm five", "通俗", "大白话"],
        &["technical terms", "more technical", "专业术语", "专业一点"],
    ),
];

fn is_set(field: &ProfileField) -> bool {
    field.basis == super::SignalBasis::Set
}

/// Returns what decides if two values are the same: their letters and digits, whatever the case.
fn plain_value(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn new_field(signal: ProfileSignal) -> ProfileField {
    ProfileField {
        name: signal.name().to_owned(),
        value: signal.value,
        confidence: signal.confidence,
        since: signal.since,
        until: signal.until,
        evidence: newest(signal.evidence),
        basis: signal.basis,
    }
}

/// Adds a further signal for the same value: each is taken for a witness of its own.
fn add_signal(field: &mut ProfileField, signal: ProfileSignal) {
    let both = 1.0 - (1.0 - field.confidence) * (1.0 - signal.confidence);
    let most = MAX_CONFIDENCE.max(field.confidence).max(signal.confidence);
    field.confidence = both.min(most);
    field.until = field.until.zip(signal.until).map(|(one, other)| one.max(other));
    field.basis = field.basis.max(signal.basis);
    field.evidence.extend(signal.evidence);
    field.evidence = newest(std::mem::take(&mut field.evidence));
}

/// Ids grow with time: the highest are the newest.
fn newest(mut ids: Vec<crate::types::MemoryId>) -> Vec<crate::types::MemoryId> {
    ids.sort_unstable();
    ids.dedup();
    ids.reverse();
    ids.truncate(MAX_EVIDENCE);
    ids
}

/// Ends each value that holds when the next one begins. What a person set stands until they set it anew.
fn end_older_values(fields: &mut [ProfileField]) {
    let Some(current) = fields
        .iter()
        .filter(|field| field.until.is_none())
        .max_by(|one, other| is_set(one).cmp(&is_set(other)).then(one.since.cmp(&other.since)))
    else {
        return;
    };
    let (value, since) = (current.value.clone(), current.since);
    for field in fields.iter_mut().filter(|field| field.until.is_none() && field.value != value) {
        field.until = Some(since.max(field.since));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{growth::profile::SignalBasis, types::Timestamp};

    fn signal(name: &'static str, value: &str, day: i64, confidence: f64) -> ProfileSignal {
        ProfileSignal {
            name,
            set_name: None,
            value: value.to_owned(),
            confidence,
            since: at(day),
            until: None,
            evidence: Vec::new(),
            basis: SignalBasis::Stated,
        }
    }

    fn at(day: i64) -> Timestamp {
        Timestamp::from_second(day * 86_400).unwrap()
    }

    #[test]
    fn equal_values_strengthen_each_other_and_keep_the_first_date() {
        let merged = merge_signals(vec![
            signal("tools", "Neovim", 9, 0.5),
            signal("tools", "neovim!", 3, 0.5),
            signal("tools", "tmux", 5, 0.5),
        ]);
        let neovim = &merged[0];
        assert_eq!((merged.len(), neovim.since, neovim.confidence), (2, at(3), 0.75));
        assert!(merged.iter().all(|field| field.until.is_none()), "one uses several tools");
    }

    #[test]
    fn values_that_exclude_each_other_are_both_kept_with_dates() {
        let merged =
            merge_signals(vec![signal("role", "nurse", 3, 0.9), signal("role", "医生", 8, 0.6)]);
        let told: Vec<_> = merged.iter().map(|it| (&*it.value, it.since, it.until)).collect();
        assert_eq!(told, [("医生", at(8), None), ("nurse", at(3), Some(at(8)))]);
    }

    #[test]
    fn opposite_wishes_about_answers_are_both_kept_with_dates() {
        for (short, long) in [
            ("keep answers short", "please give me longer, more detailed answers"),
            ("回答简短一点，不要长篇大论", "以后回答可以详细一些"),
        ] {
            let style = |value, day| signal("communication_style", value, day, 0.8);
            let merged =
                merge_signals(vec![style(long, 8), style(short, 3), style("use emojis", 4)]);
            let told: Vec<_> = merged.iter().map(|it| (&*it.value, it.until)).collect();
            assert!(
                told.contains(&(short, Some(at(8)))) && told.contains(&(long, None)),
                "{told:?}"
            );
            assert!(told.contains(&("use emojis", None)));
        }
    }

    #[test]
    fn the_same_pain_in_other_words_is_one() {
        let pain = |value, day| signal("pains", value, day, 0.5);
        let merged = merge_signals(vec![
            pain("The staging deploy keeps failing on Fridays", 1),
            pain("Again: the staging deploy keeps failing on Fridays", 5),
            pain("The printer keeps breaking", 5),
        ]);
        assert_eq!((merged.len(), merged[0].confidence), (2, 0.75));
    }

    #[test]
    fn what_a_person_set_stands_against_later_conclusions() {
        let set = ProfileSignal { basis: SignalBasis::Set, ..signal("industry", "law", 2, 1.0) };
        let merged = merge_signals(vec![set, signal("industry", "health", 9, 0.4)]);
        assert_eq!((&*merged[0].value, merged[0].until), ("law", None));
        assert_eq!(
            merged[1].until,
            Some(at(9)),
            "what was concluded later is told, but not as valid"
        );
    }
}
