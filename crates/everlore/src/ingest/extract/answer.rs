//! The answer of a model, read leniently and checked strictly: all of it becomes drafts, or none.

use serde::Deserialize;

use super::{Draft, MAX_KEYWORDS, Said, model::Conversation};
use crate::{
    error::{Error, Result},
    ingest::naming,
    text::{
        keywords::Rarity,
        language::{Language, language_of},
    },
    types::{Attribute, Kind, Role, Slot, Trust, USER},
};

/// The names by which models call the user.
const USER_NAMES: [&str; 6] = ["user", "the user", "用户", "使用者", "me", "i"];

/// What a profile is made of (G2), and the attribute under which it is kept.
pub(super) const ASPECTS: [(&str, Attribute); 9] = [
    ("industry", Attribute::Note),
    ("role", Attribute::Occupation),
    ("expertise", Attribute::Note),
    ("style", Attribute::Prefers),
    ("language", Attribute::Language),
    ("topics", Attribute::Note),
    ("pain_points", Attribute::Note),
    ("tools", Attribute::Uses),
    ("active_hours", Attribute::Habit),
];

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    memories: Vec<Statement>,
    #[serde(default)]
    experiences: Vec<Experience>,
    #[serde(default)]
    profile: Vec<Signal>,
}

#[derive(Deserialize)]
struct Statement {
    statement: String,
    #[serde(default)]
    title: String,
    kind: String,
    #[serde(default)]
    about: Option<About>,
    confidence: f64,
    #[serde(default)]
    keywords: Vec<String>,
    turns: Vec<usize>,
    #[serde(default)]
    replaces: Option<String>,
}

#[derive(Deserialize)]
struct About {
    #[serde(default)]
    subject: String,
    #[serde(default)]
    attribute: String,
    #[serde(default)]
    value: String,
    #[serde(default)]
    ended: bool,
}

#[derive(Deserialize)]
struct Experience {
    problem: String,
    #[serde(default)]
    solution: String,
    #[serde(default)]
    outcome: String,
    confidence: f64,
    turns: Vec<usize>,
}

#[derive(Deserialize)]
struct Signal {
    aspect: String,
    statement: String,
    value: String,
    confidence: f64,
    turns: Vec<usize>,
}

/// The drafts that an answer proposes for a conversation.
pub fn read_answer(answer: &str, conversation: &Conversation<'_>) -> Result<Vec<Draft>> {
    let object = object_in(answer).ok_or_else(|| unusable("there is no JSON object in it"))?;
    let answer: Answer = serde_json::from_str(&object).map_err(|error| unusable(&place(&error)))?;
    let mut drafts = Vec::new();
    for (index, item) in answer.memories.into_iter().enumerate() {
        let checked = statement(item, conversation);
        drafts.push(checked.map_err(|why| unusable(&format!("memories[{index}]: {why}")))?);
    }
    for (index, item) in answer.experiences.iter().enumerate() {
        let checked = experience(item, conversation);
        drafts.push(checked.map_err(|why| unusable(&format!("experiences[{index}]: {why}")))?);
    }
    for (index, item) in answer.profile.into_iter().enumerate() {
        let checked = signal(item, conversation);
        drafts.push(checked.map_err(|why| unusable(&format!("profile[{index}]: {why}")))?);
    }
    Ok(drafts)
}

/// Where the answer does not fit. What it says is left out: reasons are kept, and may be longer than what was said.
fn place(error: &serde_json::Error) -> String {
    let what =
        if error.is_data() { "a field is missing or of the wrong type" } else { "it is no JSON" };
    format!("{what}, at line {}, column {}", error.line(), error.column())
}

fn unusable(why: &str) -> Error {
    Error::Remote {
        message: format!("the model's answer cannot be used: {why}"),
        hint: "it is asked again later; if this goes on, use another model or look at the prompt"
            .to_owned(),
    }
}

fn statement(item: Statement, conversation: &Conversation<'_>) -> Result<Draft, String> {
    let kind: Kind =
        item.kind.parse().map_err(|error: Error| format!("unknown kind; {}", error.hint()))?;
    if matches!(kind, Kind::Turn | Kind::Session) {
        return Err(format!("a memory cannot be of the kind `{kind}`"));
    }
    let draft = draft(kind, &item.statement, item.confidence, &item.turns, conversation)?;
    let title = Some(item.title.trim().to_owned()).filter(|title| !title.is_empty());
    let keywords = if item.keywords.is_empty() { draft.keywords.clone() } else { item.keywords };
    Ok(Draft {
        name: title.unwrap_or_else(|| draft.name.clone()),
        slot: item.about.and_then(slot),
        keywords: keywords.into_iter().take(MAX_KEYWORDS).collect(),
        replaces: item.replaces.filter(|replaced| !replaced.trim().is_empty()),
        ..draft
    })
}

/// The slot that a model named; none if it is none of ours, which costs nothing but a comparison by words.
fn slot(about: About) -> Option<Slot> {
    let attribute = about.attribute.parse().ok()?;
    if about.value.trim().is_empty() {
        return None;
    }
    let subject = about.subject.trim();
    let is_user = subject.is_empty() || USER_NAMES.contains(&subject.to_lowercase().as_str());
    let subject = if is_user { USER } else { subject };
    Some(Slot { subject: subject.to_owned(), attribute, value: about.value, ended: about.ended })
}

fn experience(item: &Experience, conversation: &Conversation<'_>) -> Result<Draft, String> {
    let chinese = language_of(&item.problem) == Language::Chinese;
    let labels =
        if chinese { ["问题", "解决", "结果"] } else { ["Problem", "Solution", "Outcome"] };
    let colon = if chinese { "：" } else { ": " };
    let parts = [&item.problem, &item.solution, &item.outcome];
    let lines = labels.iter().zip(parts).filter(|(_, part)| !part.trim().is_empty());
    let content: Vec<_> =
        lines.map(|(label, part)| format!("{label}{colon}{}", part.trim())).collect();
    let draft =
        draft(Kind::Experience, &content.join("\n"), item.confidence, &item.turns, conversation)?;
    Ok(Draft { name: naming::title_of(&item.problem), ..draft })
}

fn signal(item: Signal, conversation: &Conversation<'_>) -> Result<Draft, String> {
    let aspect = item.aspect.trim().to_lowercase();
    let known = ASPECTS.iter().find(|(name, _)| *name == aspect);
    let (_, attribute) = known.ok_or_else(|| {
        let names: Vec<_> = ASPECTS.iter().map(|(name, _)| *name).collect();
        format!("unknown aspect; use one of {}", names.join(", "))
    })?;
    let draft = draft(Kind::User, &item.statement, item.confidence, &item.turns, conversation)?;
    // What has no attribute of its own is a note about that side of the user, so that industries do not rival expertise.
    let subject =
        if *attribute == Attribute::Note { format!("{USER}'s {aspect}") } else { USER.to_owned() };
    let slot = Slot { subject, attribute: *attribute, value: item.value, ended: false };
    Ok(Draft { slot: Some(slot), keywords: vec!["profile".to_owned(), aspect], ..draft })
}

fn draft(
    kind: Kind,
    statement: &str,
    confidence: f64,
    turns: &[usize],
    conversation: &Conversation<'_>,
) -> Result<Draft, String> {
    let content = statement.trim().to_owned();
    if content.is_empty() {
        return Err("it says nothing".to_owned());
    }
    if !(0.0..=1.0).contains(&confidence) {
        return Err(format!("its confidence is {confidence}, but must be from 0 to 1"));
    }
    let evidence = evidence(turns, conversation)?;
    let Some(at) = evidence.iter().map(|turn| turn.at).max() else {
        return Err("it names no turn".to_owned());
    };
    let trust = Trust::of_sources(evidence.iter().map(|turn| trust_in(turn.role)));
    Ok(Draft {
        kind,
        name: naming::title_of(&content),
        description: String::new(),
        confidence,
        keywords: Rarity::of([content.as_str()]).keywords(&content, MAX_KEYWORDS),
        slot: None,
        evidence: evidence.iter().map(|turn| turn.id).collect(),
        trust,
        replaces: None,
        language: language_of(&content),
        at,
        content,
    })
}

/// The turns of these numbers, which count from 1.
fn evidence<'a>(turns: &[usize], conversation: &Conversation<'a>) -> Result<Vec<&'a Said>, String> {
    let all = conversation.all();
    let turn = |number: &usize| {
        let turn = number.checked_sub(1).and_then(|index| all.get(index));
        turn.copied().ok_or_else(|| format!("there is no turn {number}"))
    };
    turns.iter().map(turn).collect()
}

/// A model concludes, so nothing is more than inferred.
fn trust_in(role: Role) -> Trust {
    match role {
        Role::User | Role::Assistant | Role::System => Trust::Inferred,
        Role::Tool => Trust::Tool,
    }
}

/// The first JSON object of a text, without commas before closing brackets.
pub(in crate::ingest) fn object_in(text: &str) -> Option<String> {
    let start = text.find('{')?;
    let (mut object, mut depth, mut in_string, mut escaped) = (String::new(), 0_u32, false, false);
    for c in text[start..].chars() {
        if in_string {
            (in_string, escaped) = (escaped || c != '"', !escaped && c == '\\');
        } else {
            match c {
                '"' => in_string = true,
                '{' | '[' => depth += 1,
                '}' | ']' => {
                    depth = depth.checked_sub(1)?;
                    let kept = object.trim_end().trim_end_matches(',').len();
                    object.truncate(kept);
                }
                _ => {}
            }
        }
        object.push(c);
        if depth == 0 {
            return Some(object);
        }
    }
    None
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
