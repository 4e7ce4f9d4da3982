//! Extraction response of a model, parsed leniently and validated strictly: all of it becomes drafts, or none.

use serde::Deserialize;

use super::{
    Draft, MAX_KEYWORDS, TurnText, attribute_to_speakers,
    evidence::{StatementClaim, is_supported},
    model_request::ExtractionInput,
};
use crate::{
    error::{Error, Result},
    ingest::naming,
    text::{
        experience_text::{error_keys_of, experience_signatures, experience_text},
        keywords::KeywordExtractor,
        language::detect_language,
    },
    types::{Attribute, Experience, Kind, Role, Slot, Trust, USER_SUBJECT},
};

/// Names by which models call the user.
const USER_NAMES: [&str; 6] = ["user", "the user", "用户", "使用者", "me", "i"];

/// Aspects of a user profile, and the attribute that each is stored under.
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

/// Lists of a response, of which each may be left out.
const RESPONSE_LISTS: [&str; 3] = ["memories", "experiences", "profile"];

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
    evidence: Option<String>,
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
    #[serde(alias = "pain")]
    problem: String,
    #[serde(default)]
    solution: String,
    #[serde(default)]
    outcome: String,
    /// `false` if the solution did not help; models leave it out where it worked.
    #[serde(default = "default_worked")]
    worked: bool,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    tools: Vec<String>,
    confidence: f64,
    turns: Vec<usize>,
    #[serde(default)]
    evidence: Option<String>,
}

#[derive(Deserialize)]
struct ExtractedProfileSignal {
    aspect: String,
    statement: String,
    value: String,
    confidence: f64,
    turns: Vec<usize>,
    #[serde(default)]
    evidence: Option<String>,
}

/// Parses the drafts that an answer proposes for an extraction input.
pub(crate) fn parse_extraction(answer: &str, input: &ExtractionInput<'_>) -> Result<Vec<Draft>> {
    let object = first_json_object(answer)
        .ok_or_else(|| unusable_response("there is no JSON object in it"))?;
    let response: ExtractionResponse = serde_json::from_str(&object)
        .map_err(|error| unusable_response(&describe_json_error(&error)))?;
    if is_something_else(&object) {
        return Err(unusable_response("it has none of the lists memories, experiences, profile"));
    }
    let mut drafts = Vec::new();
    for (index, item) in response.memories.into_iter().enumerate() {
        let checked = statement_draft(item, input);
        drafts
            .push(checked.map_err(|why| unusable_response(&format!("memories[{index}]: {why}")))?);
    }
    for (index, item) in response.experiences.iter().enumerate() {
        let checked = experience_draft(item, input);
        drafts.push(
            checked.map_err(|why| unusable_response(&format!("experiences[{index}]: {why}")))?,
        );
    }
    for (index, item) in response.profile.into_iter().enumerate() {
        let checked = profile_draft(item, input);
        drafts.push(checked.map_err(|why| unusable_response(&format!("profile[{index}]: {why}")))?);
    }
    attribute_to_speakers(&mut drafts, &input.all_turns());
    Ok(drafts)
}

/// Returns `true` if an object has fields and none of the lists: small models copy a turn instead of extracting, which
/// does not mean that there is nothing to remember.
fn is_something_else(object: &str) -> bool {
    let fields: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(object).unwrap_or_default();
    !fields.is_empty() && !RESPONSE_LISTS.iter().any(|list| fields.contains_key(*list))
}

/// Describes where the answer is invalid, without quoting it: reasons are stored, and a quote could be long.
fn describe_json_error(error: &serde_json::Error) -> String {
    let problem =
        if error.is_data() { "a field is missing or of the wrong type" } else { "it is not JSON" };
    format!("{problem}, at line {}, column {}", error.line(), error.column())
}

fn unusable_response(why: &str) -> Error {
    Error::Remote {
        message: format!("the model's answer cannot be used: {why}"),
        hint: "extraction is retried later; if it keeps failing, use another model or check the prompt"
            .to_owned(),
    }
}

fn statement_draft(item: ExtractedStatement, input: &ExtractionInput<'_>) -> Result<Draft, String> {
    let kind: Kind =
        item.kind.parse().map_err(|error: Error| format!("unknown kind; {}", error.hint()))?;
    if kind == Kind::Session || !kind.is_statement() {
        return Err(format!("a memory cannot be of the kind `{kind}`"));
    }
    let value = item.about.as_ref().map_or("", |about| &about.value);
    let quote = item.evidence.as_deref();
    let claim = StatementClaim { kind, statement: &item.statement, value, quote };
    let draft = base_draft(&claim, item.confidence, &item.turns, input)?;
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

/// Parses the slot that a model named. An unknown attribute gives `None`, which only costs a comparison by words.
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
    input: &ExtractionInput<'_>,
) -> Result<Draft, String> {
    let experience = item.experience();
    let statement = &experience_text(&experience);
    let quote = item.evidence.as_deref();
    let claim = StatementClaim { kind: Kind::Experience, statement, value: "", quote };
    let draft = base_draft(&claim, item.confidence, &item.turns, input)?;
    let name = naming::title_of(&item.problem);
    Ok(Draft { name, experience: Some(experience), ..draft })
}

impl ExtractedExperience {
    /// Returns the record of the experience; one without a solution has nothing that worked or failed.
    fn experience(&self) -> Experience {
        let is_tried = !self.solution.trim().is_empty();
        let error = self.error.as_ref().map(|error| error.trim().to_owned());
        let mut experience = Experience {
            pain: self.problem.trim().to_owned(),
            solution: self.solution.trim().to_owned(),
            outcome: self.outcome.trim().to_owned(),
            error: error.filter(|error| !error.is_empty()),
            tools: self.tools.clone(),
            worked: u32::from(is_tried && self.worked),
            failed: u32::from(is_tried && !self.worked),
            failures_in_a_row: u32::from(is_tried && !self.worked),
            ..Experience::default()
        };
        experience.error_keys = error_keys_of(&experience_signatures(&experience));
        experience
    }
}

fn default_worked() -> bool {
    true
}

fn profile_draft(
    item: ExtractedProfileSignal,
    input: &ExtractionInput<'_>,
) -> Result<Draft, String> {
    let aspect = item.aspect.trim().to_lowercase();
    let entry = PROFILE_ASPECTS.iter().find(|(name, _)| *name == aspect);
    let (_, attribute) = entry.ok_or_else(|| {
        let names: Vec<_> = PROFILE_ASPECTS.iter().map(|(name, _)| *name).collect();
        format!("unknown aspect; use one of {}", names.join(", "))
    })?;
    let (statement, value, quote) = (&item.statement, &item.value, item.evidence.as_deref());
    let claim = StatementClaim { kind: Kind::User, statement, value, quote };
    let draft = base_draft(&claim, item.confidence, &item.turns, input)?;
    // An aspect without an attribute of its own is a note about that side of the user, so that industries do not rival
    // expertise.
    let subject = if *attribute == Attribute::Note {
        format!("{USER_SUBJECT}'s {aspect}")
    } else {
        USER_SUBJECT.to_owned()
    };
    let slot = Slot { subject, attribute: *attribute, value: item.value, ended: false };
    Ok(Draft { slot: Some(slot), keywords: vec!["profile".to_owned(), aspect], ..draft })
}

fn base_draft(
    claim: &StatementClaim<'_>,
    confidence: f64,
    turns: &[usize],
    input: &ExtractionInput<'_>,
) -> Result<Draft, String> {
    let content = claim.statement.trim().to_owned();
    if content.is_empty() {
        return Err("its statement is empty".to_owned());
    }
    if !(0.0..=1.0).contains(&confidence) {
        return Err(format!("its confidence is {confidence}, but must be from 0 to 1"));
    }
    let evidence = find_evidence(turns, input)?;
    let Some(at) = evidence.iter().map(|turn| turn.at).max() else {
        return Err("it names no turn".to_owned());
    };
    let trust = Trust::lowest_of(evidence.iter().map(|turn| trust_in_role(turn.role)));
    Ok(Draft {
        kind: claim.kind,
        name: naming::title_of(&content),
        description: String::new(),
        confidence,
        keywords: KeywordExtractor::from_parts([content.as_str()]).keywords(&content, MAX_KEYWORDS),
        slot: None,
        category: None,
        evidence: evidence.iter().map(|turn| turn.id).collect(),
        trust,
        role: common_role(&evidence),
        speaker: None,
        is_supported: is_supported(claim, &evidence, input),
        replaces: None,
        correction: None,
        earlier: Vec::new(),
        experience: None,
        language: detect_language(&content),
        at,
        content,
    })
}

/// Returns the turns of these numbers, which count from 1.
fn find_evidence<'a>(
    turns: &[usize],
    input: &ExtractionInput<'a>,
) -> Result<Vec<&'a TurnText>, String> {
    let all = input.all_turns();
    let turn = |number: &usize| {
        let turn = number.checked_sub(1).and_then(|index| all.get(index));
        turn.copied().ok_or_else(|| format!("there is no turn {number}"))
    };
    turns.iter().map(turn).collect()
}

/// Returns the role of all turns, if it is one and not the user's.
fn common_role(turns: &[&TurnText]) -> Option<Role> {
    let first = turns.first()?.role;
    (first != Role::User && turns.iter().all(|turn| turn.role == first)).then_some(first)
}

/// Returns the trust in a model's conclusion, which is never more than inferred.
fn trust_in_role(role: Role) -> Trust {
    match role {
        Role::User | Role::Assistant | Role::System => Trust::Inferred,
        Role::Tool => Trust::Tool,
    }
}

/// Extracts the first JSON object of a text, without trailing commas.
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
                    let without_comma = object.trim_end().trim_end_matches(',').len();
                    object.truncate(without_comma);
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
