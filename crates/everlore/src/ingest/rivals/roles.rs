//! People and things of whom one has one at a time, named: "my boss is Karen", "Dr. Okafor is my dentist now".
//!
//! Only names count: "my boss is on holiday" says nothing about who it is.

use std::sync::LazyLock;

use regex::Regex;

use super::single_value::{SingleValue, USER};

const NOUNS: &str = r"boss|\w+(?:ologist|therapist|iatrist)|manager|supervisor|team lead|landlord|landlady|dentist|therapist|gp|hairdresser|physio|mentor|advisor|adviser|coach|accountant|girlfriend|boyfriend|fiancée?|car|phone|laptop|gym|bank|internet provider|car insurance|health insurance|insurer";

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

/// Parses a clause; `None` if it names no such person or thing.
pub(super) fn parse(clause: &str) -> Option<SingleValue> {
    let found = IS_NAMED.captures(clause).or_else(|| NAMES.captures(clause))?;
    let owner = found["owner"].to_lowercase().replace('’', "'");
    let owner = match owner.trim_end_matches("'s") {
        "my" | "the user" => USER.to_owned(),
        other => other.to_owned(),
    };
    SingleValue::new(&owner, &found["noun"].to_lowercase(), &found["value"].to_lowercase())
}

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("valid")
}
