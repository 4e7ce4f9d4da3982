//! Profile of the phrases in `phrases.txt`: what people say of themselves, what they take back, and what only sounds so.

use std::collections::BTreeMap;

use super::{ProfileField, ProfileSources, build_profile};
use crate::types::{Kind, Memory, MemorySource, Origin, Role, Scope, Timestamp};

const PHRASES: &str = include_str!("phrases.txt");

/// Fields that a phrase can tell.
const READ_FIELDS: [&str; 5] = ["role", "employer", "industry", "expertise", "tools"];

struct ProfilePhrase<'a> {
    section: &'a str,
    text: &'a str,
    wanted: &'a str,
}

fn phrases() -> Vec<ProfilePhrase<'static>> {
    let mut section = "";
    let mut phrases = Vec::new();
    for line in PHRASES.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title;
        } else if let Some((text, wanted)) = line.split_once(" => ").filter(|_| !section.is_empty())
        {
            phrases.push(ProfilePhrase { section, text, wanted });
        }
    }
    phrases
}

fn profile(text: &str) -> Vec<ProfileField> {
    let scope = Scope::new("a", "u").unwrap();
    let turn = |(day, text): (usize, &str)| {
        let at = Timestamp::from_second(day as i64 * 86_400).unwrap();
        let mut source = MemorySource::new(Origin::Observe);
        source.role = Some(Role::User);
        Memory::with_content(&scope, Kind::Turn, text.replace("\\n", "\n"), source, at, at)
    };
    let turns: Vec<Memory> = text.split(" // ").enumerate().map(turn).collect();
    let zone = jiff::tz::TimeZone::UTC;
    let sources = ProfileSources {
        memories: &[],
        turns: &turns,
        rejected: &[],
        zone: &zone,
        now: Timestamp::UNIX_EPOCH,
    };
    let mut fields = build_profile(&sources);
    fields.retain(|field| READ_FIELDS.contains(&&*field.name));
    fields
}

fn is_met(wanted: &str, fields: &[ProfileField]) -> bool {
    let is_current = |names: &str, value: &str| {
        let value = value.to_lowercase();
        fields.iter().filter(|it| it.until.is_none()).any(|it| {
            let own = it.value.to_lowercase();
            let is_named = names.split('|').any(|name| name == it.name);
            is_named && own.contains(&value) && own.chars().count() <= value.chars().count() + 20
        })
    };
    wanted.split("; ").all(|part| match part.trim().split_once('=') {
        None => fields.is_empty(),
        Some((names, value)) => match names.strip_prefix('-') {
            Some(names) => !is_current(names, value),
            None => is_current(names, value),
        },
    })
}

/// Share of the phrases of a section that must be right; of what only sounds like a trait, all.
const MIN_RIGHT: f64 = 0.85;

/// Section of the phrases of an outside user, all of which must be right.
const OUTSIDE: &str = "told by an outside user";

#[test]
fn what_people_say_of_themselves_and_take_back_is_read_and_nothing_else() {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut failed = Vec::new();
    for phrase in phrases() {
        let fields = profile(phrase.text);
        let is_right = is_met(phrase.wanted, &fields);
        let count = counts.entry(phrase.section).or_default();
        *count = (count.0 + usize::from(is_right), count.1 + 1);
        if !is_right {
            let told = fields.iter().map(|it| (&*it.name, &*it.value, it.until.is_some()));
            let told: Vec<_> = told.collect();
            failed.push(format!("{}: {told:?}", phrase.text));
            assert_ne!(phrase.wanted, "none", "{}: {told:?}", phrase.text);
        }
    }
    assert_eq!(counts.values().map(|count| count.1).sum::<usize>(), 269);
    for (section, (right, all)) in counts {
        let least = if section == OUTSIDE { 1.0 } else { MIN_RIGHT };
        let is_enough = right as f64 >= least * all as f64;
        assert!(is_enough, "{section}: {right} of {all}; {failed:#?}");
    }
}
