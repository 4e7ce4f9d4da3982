//! Merging of signals: equal values become one field, values that exclude each other are kept with their dates.

use std::collections::{BTreeMap, HashMap};

use super::{ProfileField, ProfileSignal, SignalBasis, SignalEffect, pains::pain_topic};
use crate::types::Timestamp;

/// Fields that have one value at a time: a newer value ends the older one.
const SINGLE_VALUED: [&str; 9] =
    ["name", "age", "birthday", "role", "employer", "home", "origin", "language", "active_hours"];

/// Most evidence of a field: enough to see that it is no accident.
const MAX_EVIDENCE: usize = 10;

/// Confidence that no number of signals exceeds, unless a person set the value.
const MAX_CONFIDENCE: f64 = 0.99;

/// Fields that have many values at a time, whatever a person sets: one uses several tools.
const MANY_VALUED: [&str; 10] = [
    "tools",
    "expertise",
    "pains",
    "topics",
    "people",
    "preferences",
    "about",
    "learning",
    "communication_style",
    "family",
];

/// Returns `true` for a field that has many values at a time.
pub(crate) fn has_many_values(name: &str) -> bool {
    MANY_VALUED.contains(&name)
}

/// Merges signals into fields: in the order of their names, what holds before what held, the surest first.
pub(super) fn merge_signals(mut signals: Vec<ProfileSignal>) -> Vec<ProfileField> {
    signals.sort_by_key(|signal| signal.since);
    let mut timelines: BTreeMap<String, FieldTimeline> = BTreeMap::new();
    for signal in signals {
        timelines.entry(signal.name().to_owned()).or_default().add(signal);
    }
    let mut merged = Vec::new();
    for (name, timeline) in timelines {
        let mut periods = timeline.periods;
        if name == "communication_style" {
            end_opposite_styles(&mut periods);
        }
        let mut fields: Vec<ProfileField> = periods.into_iter().map(|it| it.field).collect();
        fields.sort_by(|one, other| {
            let held = one.until.is_some().cmp(&other.until.is_some());
            held.then(other.confidence.total_cmp(&one.confidence)).then(other.since.cmp(&one.since))
        });
        merged.extend(fields);
    }
    merged
}

/// Values of one field over time. A value that comes back has another period.
#[derive(Debug, Default)]
struct FieldTimeline {
    periods: Vec<ValuePeriod>,
    /// Latest period of each value.
    latest: HashMap<String, usize>,
}

/// Period in which a value held.
#[derive(Debug)]
struct ValuePeriod {
    field: ProfileField,
    /// Time when it was last said.
    said_at: Timestamp,
}

impl FieldTimeline {
    fn add(&mut self, signal: ProfileSignal) {
        match &signal.effect {
            SignalEffect::Holds => self.hold(signal),
            SignalEffect::Past => self.held_once(signal),
            SignalEffect::Ends { any } => self.end(&signal, *any),
            SignalEffect::Corrects(old) => {
                if let Some(place) = self.open_period(old).or_else(|| self.open_pain(old, &signal))
                {
                    self.close(place, &signal);
                }
                self.hold(signal);
            }
            SignalEffect::Replaces(old) => {
                if self.open_period(old).is_some() {
                    let ended = ProfileSignal { value: old.clone(), ..signal.clone() };
                    self.held_once(ended);
                    self.hold(signal);
                }
            }
        }
    }

    /// Adds a value that holds. One that excludes others ends them; what a person set stands until they set it anew.
    fn hold(&mut self, signal: ProfileSignal) {
        let (name, since) = (signal.name().to_owned(), signal.since);
        let (is_new_set, is_lasting) = (signal.basis == SignalBasis::Set, signal.until.is_none());
        let place = self.place_for(signal);
        let excludes = |period: &ValuePeriod| {
            SINGLE_VALUED.contains(&name.as_str())
                || is_set(&period.field) && !MANY_VALUED.contains(&name.as_str())
        };
        let is_open = |period: &ValuePeriod| period.field.until.is_none();
        let others =
            || self.periods.iter().enumerate().filter(|(at, it)| *at != place && is_open(it));
        if !is_lasting || !excludes(&self.periods[place]) && !others().any(|(_, it)| excludes(it)) {
            return;
        }
        let stands = others().any(|(_, it)| is_set(&it.field)) && !is_new_set;
        let ended: Vec<usize> =
            if stands { vec![place] } else { others().map(|(at, _)| at).collect() };
        for at in ended {
            let field = &mut self.periods[at].field;
            field.until = Some(since.max(field.since));
        }
    }

    /// Returns the period that a signal belongs to, a new one if its value does not hold at that time.
    fn place_for(&mut self, signal: ProfileSignal) -> usize {
        let key = plain_value(&signal.value);
        let known = self.latest.get(&key).copied().or_else(|| self.same_pain(&signal));
        let is_within =
            |at: &usize| self.periods[*at].field.until.is_none_or(|it| it >= signal.since);
        let place = match known.filter(is_within) {
            Some(place) => {
                self.periods[place].said_at = signal.since;
                add_signal(&mut self.periods[place].field, signal);
                place
            }
            None => {
                let said_at = signal.since;
                self.periods.push(ValuePeriod { field: new_field(signal), said_at });
                self.periods.len() - 1
            }
        };
        self.latest.insert(key, place);
        place
    }

    /// Returns the place of a pain that is about the same, whatever its words.
    fn same_pain(&self, signal: &ProfileSignal) -> Option<usize> {
        if signal.name() != "pains" {
            return None;
        }
        let topic = pain_topic(&signal.value);
        let is_same = |it: &ValuePeriod| pain_topic(&it.field.value).is_same(&topic);
        self.periods.iter().position(|it| !topic.is_empty() && is_same(it))
    }

    /// Returns the open period of a pain that is about the same as `old`.
    fn open_pain(&self, old: &str, signal: &ProfileSignal) -> Option<usize> {
        let place = self.same_pain(&ProfileSignal { value: old.to_owned(), ..signal.clone() })?;
        self.periods[place].field.until.is_none().then_some(place)
    }

    fn open_period(&self, value: &str) -> Option<usize> {
        let place = self.latest.get(&plain_value(value)).copied()?;
        self.periods[place].field.until.is_none().then_some(place)
    }

    /// Ends a value that the user says they had once, or tells it with that date.
    fn held_once(&mut self, signal: ProfileSignal) {
        if let Some(place) = self.open_period(&signal.value) {
            return self.close(place, &signal);
        }
        let key = plain_value(&signal.value);
        if !self.latest.contains_key(&key) {
            let (until, said_at) = (Some(signal.since), signal.since);
            let field = new_field(ProfileSignal { until, ..signal });
            self.latest.insert(key, self.periods.len());
            self.periods.push(ValuePeriod { field, said_at });
        }
    }

    fn end(&mut self, signal: &ProfileSignal, any: bool) {
        let can_end = |it: &ValuePeriod| it.field.until.is_none() && !is_set(&it.field);
        let open = self.periods.iter().enumerate().filter(|(_, it)| can_end(it));
        let open: Vec<(usize, bool)> =
            open.map(|(at, it)| (at, names(&signal.value, &it.field.value))).collect();
        let none_is_named = !open.iter().any(|(_, is_named)| *is_named);
        for (place, is_named) in open {
            if is_named || any && none_is_named {
                self.close(place, signal);
            }
        }
    }

    fn close(&mut self, place: usize, signal: &ProfileSignal) {
        let field = &mut self.periods[place].field;
        field.until = Some(signal.since.max(field.since));
        field.evidence.extend(&signal.evidence);
        field.evidence = newest(std::mem::take(&mut field.evidence));
    }
}

/// Returns `true` if a text names a value, as words of its own where it is in Latin letters.
fn names(text: &str, value: &str) -> bool {
    let (text, value) = (text.to_lowercase(), value.to_lowercase());
    let is_edge = |c: Option<char>| !c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.match_indices(&value).any(|(at, _)| {
        is_edge(text[..at].chars().next_back()) && is_edge(text[at + value.len()..].chars().next())
    })
}

/// Ends a wish about answers when a later one asks for the opposite.
fn end_opposite_styles(periods: &mut [ValuePeriod]) {
    let wishes: Vec<_> = periods.iter().map(|it| (it.said_at, poles_of(&it.field.value))).collect();
    for period in periods.iter_mut().filter(|it| it.field.until.is_none() && !is_set(&it.field)) {
        let own = poles_of(&period.field.value);
        let is_opposite = |poles: &[i8; 3]| own.iter().zip(poles).any(|(a, b)| a * b < 0);
        let later = { wishes.iter() }
            .filter(|(said_at, poles)| *said_at > period.said_at && is_opposite(poles));
        period.field.until = later.map(|(said_at, _)| *said_at).min();
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
    field.basis == SignalBasis::Set
}

/// Returns what decides if two values are the same: their letters and digits, whatever the case.
pub(super) fn plain_value(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

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
            effect: SignalEffect::Holds,
        }
    }

    fn told(fields: &[ProfileField]) -> Vec<(&str, Timestamp, Option<Timestamp>)> {
        fields.iter().map(|it| (&*it.value, it.since, it.until)).collect()
    }

    #[test]
    fn a_value_that_comes_back_holds_again_and_has_two_periods() {
        let role = |value, day| signal("role", value, day, 0.8);
        let merged = merge_signals(vec![role("nurse", 20), role("teacher", 8), role("nurse", 1)]);
        let expected = [
            ("nurse", at(20), None),
            ("teacher", at(8), Some(at(20))),
            ("nurse", at(1), Some(at(8))),
        ];
        assert_eq!(told(&merged), expected);
    }

    #[test]
    fn an_ending_ends_what_it_names_and_what_was_set_stands() {
        let tool = |value, day| signal("tools", value, day, 0.8);
        let ends = |value, day| ProfileSignal {
            effect: SignalEffect::Ends { any: false },
            ..signal("tools", value, day, 0.8)
        };
        let merged = merge_signals(vec![
            tool("Jira", 1),
            tool("Go", 1),
            ends("I no longer use Jira, Google it", 5),
        ]);
        assert_eq!(told(&merged), [("Go", at(1), None), ("Jira", at(1), Some(at(5)))]);
        let set = ProfileSignal { basis: SignalBasis::Set, ..tool("Neovim", 1) };
        let merged = merge_signals(vec![set, tool("Tableau", 2), tool("DBeaver", 2)]);
        assert!(merged.iter().all(|it| it.until.is_none()), "one uses several tools");
    }

    #[test]
    fn something_takes_the_place_of_what_is_known_only() {
        let moved = ProfileSignal {
            effect: SignalEffect::Replaces("Notion".to_owned()),
            ..signal("tools", "Obsidian", 5, 0.8)
        };
        assert_eq!(merge_signals(vec![moved.clone()]), []);
        let merged = merge_signals(vec![signal("tools", "Notion", 1, 0.8), moved]);
        assert_eq!(told(&merged), [("Obsidian", at(5), None), ("Notion", at(1), Some(at(5)))]);
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
