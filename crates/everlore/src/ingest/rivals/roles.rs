//! People and things of whom one has one at a time, named: "my boss is Karen", "Dr. Okafor is my dentist now".
//!
//! Only names count: "my boss is on holiday" says nothing about who it is.

use std::sync::LazyLock;

use regex::Regex;

use super::single_value::{SingleValue, USER};

const NOUNS: &str = r"boss|\w+(?:ologist|therapist|iatrist)|manager|supervisor|team lead|landlord|landlady|dentist|therapist|gp|hairdresser|physio|mentor|advisor|adviser|coach|accountant|girlfriend|boyfriend|fiancée?|doctor|vet|trainer|tutor|nanny|lawyer|car|phone|laptop|gym|bank|internet provider|car insurance|health insurance|insurer";

static IS_NAMED: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r"(?i:^\s*(?:and )?(?P<owner>my|our|the user['’]s|(?:my|our) \w+['’]s)(?: (?:new|current))? (?P<noun>{NOUNS})(?:['’]s name)? (?:is|is now|is currently|is called|became)(?: now)?(?: with| at)?(?: an?)?) (?P<value>(?:[A-Z]|[a-z][A-Z])[\w.'’-]*(?: (?:[A-Z0-9][\w.'’-]*))*)(?i: now| again| since \w+| these days)*\s*[.!]?\s*$"
    ))
});
static NAMES: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r"^\s*(?:and )?(?P<value>[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*)*) (?i:is(?: now)? (?P<owner>my|our|(?:my|our) \w+['’]s)(?: new| current)? (?P<noun>{NOUNS})(?: now| these days)*\s*[.!]?\s*)$"
    ))
});

/// Roles of which a team or company has one.
const TEAM_ROLES: &str = r"team lead|tech lead|technical lead|project manager|product manager|product owner|scrum master|ceo|cto|cfo|coo|head coach|head chef|principal|headmaster|chairman|chairwoman|landlord";
const NAME: &str = r"[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*){0,2}";

/// "The tech lead for Reminders is Anneke" and "Jorge is the new team lead".
static HAS_ROLE: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r"^\s*(?i:the|our)(?i: new| current)? (?P<noun>(?i:{TEAM_ROLES}))(?: (?i:for|of|on|at) (?P<of>[\w ]{{2,24}}?))? (?i:is|is now|is currently)(?i: now)? (?P<value>{NAME})(?i: now)?\s*[.!]?\s*$|^\s*(?P<value2>{NAME}) (?i:is|is now|became)(?i: now)? (?i:the|our)(?i: new| current)? (?P<noun2>(?i:{TEAM_ROLES}))(?: (?i:for|of|on|at) (?P<of2>[\w ]{{2,24}}?))?(?i: now)?\s*[.!]?\s*$"
    ))
});

static IS_NEW: LazyLock<Regex> = LazyLock::new(|| compile(r"(?i)\b(?:new|now)\b"));

/// Words in capitals that are no names.
static NO_NAME: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^(?:\w+ish|\w+ese|french|dutch|greek|swiss|german|american|canadian|italian|indian|russian|brazilian|norwegian|australian|ooo|ok|hr|monday|tuesday|wednesday|thursday|friday|he|she|it|this|that|there|who|here)$",
    )
});

/// Parses a clause; `None` if it names no such person or thing.
pub(super) fn parse(clause: &str) -> Option<SingleValue> {
    if let Some(role) = team_role(clause) {
        return Some(role);
    }
    let found = IS_NAMED.captures(clause).or_else(|| NAMES.captures(clause))?;
    let owner = found["owner"].to_lowercase().replace('’', "'");
    let owner = match owner.trim_end_matches("'s") {
        "my" | "the user" => USER.to_owned(),
        other => other.to_owned(),
    };
    let is_new = IS_NEW.is_match(clause);
    SingleValue::new(&owner, &found["noun"].to_lowercase(), &found["value"].to_lowercase())
        .map(|value| value.moved(is_new))
}

fn team_role(clause: &str) -> Option<SingleValue> {
    let found = HAS_ROLE.captures(clause)?;
    let part = |one: &str, other: &str| {
        found.name(one).or_else(|| found.name(other)).map(|it| it.as_str().to_lowercase())
    };
    let (value, noun) = (part("value", "value2")?, part("noun", "noun2")?);
    let of = part("of", "of2").unwrap_or_else(|| "it".to_owned());
    SingleValue::new(&of, &noun, &value).filter(|it| !NO_NAME.is_match(&it.value))
}

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("valid")
}
