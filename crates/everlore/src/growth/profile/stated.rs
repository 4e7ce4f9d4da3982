//! Signals of what the user said: by the slot of a memory, by its category, and by words of both languages.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    ProfileSignal, SetField, SignalBasis, SignalEffect,
    clauses::{Stance, own_sentences, stance_of},
    industry::industry_signal_value,
    pains::is_pain,
    spoken,
};
use crate::{
    growth::reflection::Topic,
    text::{programs::is_program, secrets::find_mask, suspect::is_suspect},
    types::{Attribute, Experience, Kind, Memory, Slot, Status, Timestamp, Trust, USER_SUBJECT},
};

/// Confidence in an industry that only a word of the user's work tells.
const INDUSTRY_SHARE: f64 = 0.6;

/// Metadata keys that extraction writes.
const CATEGORY_KEY: &str = "category";
const VALID_FROM_KEY: &str = "valid_from";

/// Words by which a statement tells how much somebody knows.
const EXPERTISE_WORDS: [&str; 27] = [
    "years of experience",
    "years experience",
    "years in",
    "years of",
    "new to",
    "beginner",
    "novice",
    "expert in",
    "expert at",
    "experienced",
    "proficient",
    "fluent in",
    "senior",
    "junior",
    "just started learning",
    "never used",
    "still learning",
    "learning to",
    "年经验",
    "新手",
    "精通",
    "熟悉",
    "入门",
    "刚开始学",
    "刚学",
    "老手",
    "没用过",
];

/// Returns the signals of a memory about the user or of an experience.
pub(super) fn signals_of(memory: &Memory) -> Vec<ProfileSignal> {
    if !is_usable(memory) {
        return Vec::new();
    }
    if let Some(set) = SetField::of_memory(memory) {
        return vec![set_signal(memory, set)];
    }
    if memory.kind == Kind::Experience {
        let pain = Experience::of_memory(memory).map(|experience| experience.pain);
        return vec![signal(memory, "pains", pain.as_deref().unwrap_or(&memory.name))];
    }
    let mut signals: Vec<_> = field_of(memory).into_iter().flat_map(divided).collect();
    signals.retain(|signal| holds(memory, signal));
    signals.extend(worded_signals(memory));
    let endings = spoken::endings_of(&memory.content).into_iter();
    signals.extend(endings.map(|(name, value, effect)| {
        let until = None;
        ProfileSignal { effect, until, since: memory.at, ..signal(memory, name, &value) }
    }));
    signals
}

/// A memory that denies, hopes or tells of the past says nothing that holds.
fn holds(memory: &Memory, signal: &ProfileSignal) -> bool {
    let by_words = ["role", "tools", "employer", "learning"].contains(&signal.name);
    !by_words || stance_of(&memory.content, &signal.value) == Stance::Holds
}

/// An instruction, or what somebody else said, is no trait of the user.
fn is_usable(memory: &Memory) -> bool {
    matches!(memory.status, Status::Active | Status::Superseded)
        && matches!(memory.kind, Kind::User | Kind::Feedback | Kind::Experience)
        && memory.source.speaker.is_none()
        && memory.trust() >= Trust::Imported
        && !is_suspect(&memory.content)
}

/// Divides "nurse at St Mary's hospital" into the role and the employer, and "Neovim and tmux" into two tools.
fn divided(signal: ProfileSignal) -> Vec<ProfileSignal> {
    if signal.name == "tools" {
        let tools = spoken::listed(&signal.value);
        if tools.len() < 2 {
            return vec![signal];
        }
        return tools.into_iter().map(|value| ProfileSignal { value, ..signal.clone() }).collect();
    }
    let joints = [" at ", " for "];
    let parts = joints.iter().find_map(|joint| signal.value.split_once(joint));
    let Some((role, employer)) = parts.filter(|_| signal.name == "role") else {
        return vec![signal];
    };
    let employer = ProfileSignal {
        name: "employer",
        value: employer.trim_start_matches("a ").to_owned(),
        ..signal.clone()
    };
    vec![ProfileSignal { value: role.to_owned(), ..signal.clone() }, employer]
}

fn set_signal(memory: &Memory, set: SetField) -> ProfileSignal {
    let signal = signal(memory, "", &set.value);
    let effect = set.instead_of.map_or(SignalEffect::Holds, SignalEffect::Corrects);
    let set_name = Some(set.field);
    ProfileSignal { set_name, confidence: 1.0, basis: SignalBasis::Set, effect, ..signal }
}

/// Returns the signal of the memory's slot, or of its category with the statement as its value.
fn field_of(memory: &Memory) -> Option<ProfileSignal> {
    match Slot::from_metadata(&memory.metadata) {
        // "I use a wheelchair" tells something of a person, but no program.
        Some(slot) if slot.attribute == Attribute::Uses && is_plain_thing(&slot.value) => {
            Some(signal(memory, "about", &memory.content))
        }
        Some(slot) if slot.subject == USER_SUBJECT => {
            field_of_attribute(slot.attribute).map(|name| signal(memory, name, &slot.value))
        }
        Some(_) => Some(signal(memory, "people", &memory.content)),
        None => match LIVES_IN.captures(&memory.content) {
            Some(found) => {
                Some(signal(memory, "home", found.iter().skip(1).flatten().next()?.as_str().trim()))
            }
            None => Some(signal(memory, field_of_statement(memory)?, &memory.content)),
        },
    }
}

/// Returns `true` for a thing with an article and without a name: a wheelchair, an inhaler.
fn is_plain_thing(value: &str) -> bool {
    let is_plain = |rest: &str| !rest.contains(|c: char| c.is_uppercase() || c.is_ascii_digit());
    let thing = value.strip_prefix("a ").or_else(|| value.strip_prefix("an "));
    thing.is_some_and(|thing| is_plain(thing) && !is_program(thing))
}

/// Home in a note about the user, as other systems write it.
static LIVES_IN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:The |the )?[Uu]ser (?:now |currently )?(?:lives|is living|resides|is based) in ([^,.;，。]{2,40})[.。]?$|^用户(?:现在|目前)?住在([^，。；]{2,20})[。.]?$").expect("valid")
});

/// Returns the field of a statement without a slot: by its category if extraction gave it one, otherwise by its kind.
fn field_of_statement(memory: &Memory) -> Option<&'static str> {
    if is_trouble(memory) {
        return (memory.kind != Kind::User).then_some("pains");
    }
    match memory.metadata.get(CATEGORY_KEY).and_then(|value| value.as_str()) {
        Some(category) => field_of_category(category),
        None if memory.kind == Kind::Feedback => Some("communication_style"),
        None => is_about_user(&memory.content).then_some("about"),
    }
}

/// Returns `true` for a statement that tells something of a person: no markup, no masked secret, nothing vague.
fn is_about_user(content: &str) -> bool {
    let is_markup = content.trim_start().starts_with(['<', '[', '{', '#', '|']);
    let told = own_sentences(content).into_iter().flatten();
    let is_told = told.into_iter().any(|clause| !Topic::of(&clause.text).is_empty());
    !is_markup && is_told && find_mask(content).is_none() && !VAGUE.is_match(content)
}

/// Statements that refer to something else.
static VAGUE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:it|this|that|something|things?|everything) (?:was|is|were|are|went|happened|worked)\b|^(?:那|这)(?:个|样|件事)?(?:很|挺|不错|还行)").expect("valid")
});

fn field_of_attribute(attribute: Attribute) -> Option<&'static str> {
    Some(match attribute {
        Attribute::Occupation => "role",
        Attribute::Rule => "communication_style",
        Attribute::Uses => "tools",
        Attribute::Learning => "learning",
        Attribute::Prefers => "preferences",
        Attribute::Decision
        | Attribute::Deadline
        | Attribute::Fact
        | Attribute::Link
        | Attribute::Note => return None,
        other => other.as_str(),
    })
}

fn field_of_category(category: &str) -> Option<&'static str> {
    Some(match category {
        "identity" => "about",
        "family" => "family",
        "work" => "work",
        "health" => "health",
        "preference" => "preferences",
        "feedback" => "communication_style",
        _ => return None,
    })
}

/// Returns `true` if a statement complains about something else than the agent's answers.
fn is_trouble(memory: &Memory) -> bool {
    is_pain(&memory.content) && !ABOUT_ANSWERS.is_match(&memory.content)
}

static ABOUT_ANSWERS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:you|your|answers?|repl(?:y|ies)|responses?|explanations?|emojis?|please|don['’]?t|stop)\b|你|您|回答|回复|答案|解释|请|别|不要|以后",
    )
    .expect("valid")
});

/// Returns what the words of a statement tell beside its own field.
fn worded_signals(memory: &Memory) -> impl Iterator<Item = ProfileSignal> {
    let lower = memory.content.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let industry = is_about_work(memory).then(|| industry_signal_value(&memory.content));
    let industry = industry.flatten().map(|name| {
        let signal = signal(memory, "industry", &name);
        ProfileSignal { confidence: signal.confidence * INDUSTRY_SHARE, ..signal }
    });
    let is_own = memory.kind == Kind::User;
    let statement = |name| signal(memory, name, &memory.content);
    let expertise = (is_own && has(&EXPERTISE_WORDS)).then(|| statement("expertise"));
    let pain = (is_own && is_pain(&memory.content)).then(|| statement("pains"));
    [industry, expertise, pain].into_iter().flatten()
}

fn is_about_work(memory: &Memory) -> bool {
    match Slot::from_metadata(&memory.metadata) {
        Some(slot) => {
            slot.subject == USER_SUBJECT
                && matches!(slot.attribute, Attribute::Occupation | Attribute::Employer)
        }
        None => memory.metadata.get(CATEGORY_KEY).is_some_and(|category| category == "work"),
    }
}

fn signal(memory: &Memory, name: &'static str, value: &str) -> ProfileSignal {
    let noted = memory.metadata.get(VALID_FROM_KEY).and_then(|value| value.as_str());
    let since: Option<Timestamp> = noted.and_then(|from| from.parse().ok());
    let turns = &memory.source.turns;
    ProfileSignal {
        name,
        set_name: None,
        value: without_now(value.trim()).to_owned(),
        confidence: memory.confidence * trust_share(memory.trust()),
        since: since.unwrap_or(memory.at),
        until: memory.valid_until().or(superseded_at(memory)),
        evidence: if turns.is_empty() { vec![memory.id] } else { turns.clone() },
        basis: SignalBasis::Stated,
        effect: SignalEffect::Holds,
    }
}

/// Drops the word that says that a value is new: the date says it.
fn without_now(value: &str) -> &str {
    value.strip_suffix(" now").unwrap_or(value)
}

/// A superseded memory without a noted end held until it was superseded.
fn superseded_at(memory: &Memory) -> Option<Timestamp> {
    (memory.status == Status::Superseded).then_some(memory.updated_at)
}

/// Share of a memory's confidence that its source leaves.
fn trust_share(trust: Trust) -> f64 {
    match trust {
        Trust::Approved => 1.0,
        Trust::Said => 0.95,
        Trust::Inferred => 0.7,
        _ => 0.5,
    }
}
