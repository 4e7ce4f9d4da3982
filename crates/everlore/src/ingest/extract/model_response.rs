//! The answer of a model, read leniently and checked strictly: all of it becomes drafts, or none.

use serde::Deserialize;

use super::{Draft, MAX_KEYWORDS, TurnText, model_request::ExtractionInput};
use crate::{
    error::{Error, Result},
    ingest::naming,
    text::{
        keywords::KeywordExtractor,
        language::{Language, detect_language},
    },
    types::{Attribute, Kind, Role, Slot, Trust, USER_SUBJECT},
};

/// The names by which models call the user.
const USER_NAMES: [&str; 6] = ["user", "the user", "用户", "使用者", "me", "i"];

/// What a profile is made of (G2), and the attribute under which it is kept.
pub(super) const PROFILE_ASPECTS: [(&str, Attribute); 9] = [
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
struct ExtractionResponse {
    #[serde(default)]
    memories: Vec<ExtractedStatement>,
    #[serde(default)]
    experiences: Vec<ExtractedExperience>,
    #[serde(default)]
    profile: Vec<ExtractedProfileSignal>,
}

#[derive(Deserialize)]
struct ExtractedStatement {
    statement: String,
    #[serde(default)]
    title: String,
    kind: String,
    #[serde(default)]
    about: Option<ExtractedSlot>,
    confidence: f64,
    #[serde(default)]
    keywords: Vec<String>,
    turns: Vec<usize>,
    #[serde(default)]
    replaces: Option<String>,
}

#[derive(Deserialize)]
struct ExtractedSlot {
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
struct ExtractedExperience {
    problem: String,
    #[serde(default)]
    solution: String,
    #[serde(default)]
    outcome: String,
    confidence: f64,
    turns: Vec<usize>,
}

#[derive(Deserialize)]
struct ExtractedProfileSignal {
    aspect: String,
    statement: String,
    value: String,
    confidence: f64,
    turns: Vec<usize>,
}

/// The drafts that an answer proposes for a conversation.
pub fn parse_extraction(answer: &str, conversation: &ExtractionInput<'_>) -> Result<Vec<Draft>> {
    let object = first_json_object(answer)
        .ok_or_else(|| unusable_response("there is no JSON object in it"))?;
    let answer: ExtractionResponse = serde_json::from_str(&object)
        .map_err(|error| unusable_response(&describe_json_error(&error)))?;
    let mut drafts = Vec::new();
    for (index, item) in answer.memories.into_iter().enumerate() {
        let checked = statement_draft(item, conversation);
        drafts
            .push(checked.map_err(|why| unusable_response(&format!("memories[{index}]: {why}")))?);
    }
    for (index, item) in answer.experiences.iter().enumerate() {
        let checked = experience_draft(item, conversation);
        drafts.push(
            checked.map_err(|why| unusable_response(&format!("experiences[{index}]: {why}")))?,
        );
    }
    for (index, item) in answer.profile.into_iter().enumerate() {
        let checked = profile_draft(item, conversation);
        drafts.push(checked.map_err(|why| unusable_response(&format!("profile[{index}]: {why}")))?);
    }
    Ok(drafts)
}

/// Where the answer does not fit. What it says is left out: reasons are kept, and may be longer than what was said.
fn describe_json_error(error: &serde_json::Error) -> String {
    let what =
        if error.is_data() { "a field is missing or of the wrong type" } else { "it is no JSON" };
    format!("{what}, at line {}, column {}", error.line(), error.column())
}

fn unusable_response(why: &str) -> Error {
    Error::Remote {
        message: format!("the model's answer cannot be used: {why}"),
        hint: "it is asked again later; if this goes on, use another model or look at the prompt"
            .to_owned(),
    }
}

fn statement_draft(
    item: ExtractedStatement,
    conversation: &ExtractionInput<'_>,
) -> Result<Draft, String> {
    let kind: Kind =
        item.kind.parse().map_err(|error: Error| format!("unknown kind; {}", error.hint()))?;
    if matches!(kind, Kind::Turn | Kind::Session) {
        return Err(format!("a memory cannot be of the kind `{kind}`"));
    }
    let draft = base_draft(kind, &item.statement, item.confidence, &item.turns, conversation)?;
    let title = Some(item.title.trim().to_owned()).filter(|title| !title.is_empty());
    let keywords = if item.keywords.is_empty() { draft.keywords.clone() } else { item.keywords };
    Ok(Draft {
        name: title.unwrap_or_else(|| draft.name.clone()),
        slot: item.about.and_then(parse_slot),
        keywords: keywords.into_iter().take(MAX_KEYWORDS).collect(),
        replaces: item.replaces.filter(|replaced| !replaced.trim().is_empty()),
        ..draft
    })
}

/// The slot that a model named; none if it is none of ours, which costs nothing but a comparison by words.
fn parse_slot(about: ExtractedSlot) -> Option<Slot> {
    let attribute = about.attribute.parse().ok()?;
    if about.value.trim().is_empty() {
        return None;
    }
    let subject = about.subject.trim();
    let is_user = subject.is_empty() || USER_NAMES.contains(&subject.to_lowercase().as_str());
    let subject = if is_user { USER_SUBJECT } else { subject };
    Some(Slot { subject: subject.to_owned(), attribute, value: about.value, ended: about.ended })
}

fn experience_draft(
    item: &ExtractedExperience,
    conversation: &ExtractionInput<'_>,
) -> Result<Draft, String> {
    let chinese = detect_language(&item.problem) == Language::Chinese;
    let labels =
        if chinese { ["问题", "解决", "结果"] } else { ["Problem", "Solution", "Outcome"] };
    let colon = if chinese { "：" } else { ": " };
    let parts = [&item.problem, &item.solution, &item.outcome];
    let lines = labels.iter().zip(parts).filter(|(_, part)| !part.trim().is_empty());
    let content: Vec<_> =
        lines.map(|(label, part)| format!("{label}{colon}{}", part.trim())).collect();
    let draft = base_draft(
        Kind::Experience,
        &content.join("\n"),
        item.confidence,
        &item.turns,
        conversation,
    )?;
    Ok(Draft { name: naming::title_of(&item.problem), ..draft })
}

fn profile_draft(
    item: ExtractedProfileSignal,
    conversation: &ExtractionInput<'_>,
) -> Result<Draft, String> {
    let aspect = item.aspect.trim().to_lowercase();
    let known = PROFILE_ASPECTS.iter().find(|(name, _)| *name == aspect);
    let (_, attribute) = known.ok_or_else(|| {
        let names: Vec<_> = PROFILE_ASPECTS.iter().map(|(name, _)| *name).collect();
        format!("unknown aspect; use one of {}", names.join(", "))
    })?;
    let draft =
        base_draft(Kind::User, &item.statement, item.confidence, &item.turns, conversation)?;
    // What has no attribute of its own is a note about that side of the user, so that industries do not rival expertise.
    let subject = if *attribute == Attribute::Note {
        format!("{USER_SUBJECT}'s {aspect}")
    } else {
        USER_SUBJECT.to_owned()
    };
    let slot = Slot { subject, attribute: *attribute, value: item.value, ended: false };
    Ok(Draft { slot: Some(slot), keywords: vec!["profile".to_owned(), aspect], ..draft })
}

fn base_draft(
    kind: Kind,
    statement: &str,
    confidence: f64,
    turns: &[usize],
    conversation: &ExtractionInput<'_>,
) -> Result<Draft, String> {
    let content = statement.trim().to_owned();
    if content.is_empty() {
        return Err("it says nothing".to_owned());
    }
    if !(0.0..=1.0).contains(&confidence) {
        return Err(format!("its confidence is {confidence}, but must be from 0 to 1"));
    }
    let evidence = find_evidence(turns, conversation)?;
    let Some(at) = evidence.iter().map(|turn| turn.at).max() else {
        return Err("it names no turn".to_owned());
    };
    let trust = Trust::lowest_of(evidence.iter().map(|turn| trust_in_role(turn.role)));
    Ok(Draft {
        kind,
        name: naming::title_of(&content),
        description: String::new(),
        confidence,
        keywords: KeywordExtractor::from_parts([content.as_str()]).keywords(&content, MAX_KEYWORDS),
        slot: None,
        evidence: evidence.iter().map(|turn| turn.id).collect(),
        trust,
        replaces: None,
        language: detect_language(&content),
        at,
        content,
    })
}

/// The turns of these numbers, which count from 1.
fn find_evidence<'a>(
    turns: &[usize],
    conversation: &ExtractionInput<'a>,
) -> Result<Vec<&'a TurnText>, String> {
    let all = conversation.all_turns();
    let turn = |number: &usize| {
        let turn = number.checked_sub(1).and_then(|index| all.get(index));
        turn.copied().ok_or_else(|| format!("there is no turn {number}"))
    };
    turns.iter().map(turn).collect()
}

/// A model concludes, so nothing is more than inferred.
fn trust_in_role(role: Role) -> Trust {
    match role {
        Role::User | Role::Assistant | Role::System => Trust::Inferred,
        Role::Tool => Trust::Tool,
    }
}

/// The first JSON object of a text, without commas before closing brackets.
pub(in crate::ingest) fn first_json_object(text: &str) -> Option<String> {
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
#[path = "model_response_tests.rs"]
mod tests;
