//! Endings that name what is over in another way than the statement that said it: "Siemens fired me", "I retired",
//! "my doctor took me off ibuprofen", "I'm back from holiday".

use std::sync::LazyLock;

use regex::Regex;

use super::{
    changes::{clauses, is_unreal, people},
    chinese_endings,
    single_value::{SingleValue, USER},
    statement::StatementClash,
    words::normalized_words,
};
use crate::text::language::is_cjk;

static FIRED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?P<x>\S+(?: \S+)?) (?:have )?(?:just )?(?:fired me|let me go|laid me off|made me redundant)(?: (?:last|this|in|on|yesterday|today|after|because) ?.*)?$",
    )
});
static RETIRED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?P<who>i|my \w+) (?:have |am )?(?:just |finally |recently |now )?retired(?: now)?(?: (?:last|this|in|on|at the|yesterday|two|three|a) ?.*)?$",
    )
});
static TAKEN_OFF: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:(?:my|the) \w+(?: \w+)?|they|doctors) (?:have )?(?:took|taken) me off (?:the |my )?(?P<x>\S+)|^i (?:am|came|have come|got) off (?:the |my )?(?P<o>\S+)(?: now| last \w+)?$",
    )
});
static BACK: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:i|we) (?:am|are|got|came) (?:now |finally )?back from (?:my |our |the |a )?(?P<what>\w+)",
    )
});
static BORN: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"^i (?:have )?(?:just )?(?:gave birth|given birth|had (?:the|my|our) baby)\b")
});
static SWITCHED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:i|we) (?:have )?(?:just |recently |finally )?(?:switched|changed) (?P<noun>dentist|gym|bank|doctor|landlord|therapist|hairdresser|insurer|phone)s$",
    )
});

/// Absences that a return ends.
const ABSENCES: &[&str] = &["holiday", "vacation", "leave", "sabbatical", "trip"];

/// Things that one is off without having stopped them: "I'm off work now".
const NO_DOSES: &[&str] = &["work", "call", "duty", "school", "leave", "sick", "today", "the"];

/// Words behind what is taken.
const DETAILS: &[&str] = &["to", "for", "with", "at", "in", "from", "because"];

/// Compares a new statement with one whose end it may tell; `None` if it tells none.
pub(super) fn clash_of_ending(new: &str, old: &str) -> Option<StatementClash> {
    if new.trim_end().ends_with(['?', '？']) || new.contains(is_cjk) != old.contains(is_cjk) {
        return None;
    }
    if new.contains(is_cjk) {
        return chinese_endings::clash_of_ending(new, old);
    }
    let old_words = normalized_words(old);
    if old_words.iter().any(|word| ["was", "were", "if", "not", "used", "ago"].contains(&&**word)) {
        return None;
    }
    let is_real = |clause: &Vec<String>| !is_unreal(clause);
    clauses(new).filter(is_real).find_map(|clause| ends(&clause, &old_words, old))
}

fn ends(clause: &[String], old_words: &[String], old: &str) -> Option<StatementClash> {
    let (clause_text, old_text) = (clause.join(" "), old_words.join(" "));
    if let Some(clash) = ends_job(&clause_text, old) {
        return Some(clash);
    }
    let is_same_people = people(clause).is_empty() && people(old_words).is_empty();
    let is_over = is_same_people
        && (ends_dose(&clause_text, old_words)
            || ends_absence(&clause_text, old_words)
            || BORN.is_match(&clause_text) && old_text.starts_with("i am pregnant")
            || names_switched(&clause_text, &old_text));
    is_over.then_some(StatementClash::Certain)
}

/// Reads "Siemens fired me" and "my dad retired": an employer is over; whoever retires may still be a teacher.
fn ends_job(clause: &str, old: &str) -> Option<StatementClash> {
    if let Some(found) = FIRED.captures(clause) {
        let value = SingleValue::only_in(old)?;
        let is_named =
            value.value.split(' ').any(|word| found["x"].split(' ').any(|it| it == word));
        let is_over = value.attribute == "employer" && value.subject == USER && is_named;
        return is_over.then_some(StatementClash::Certain);
    }
    ends_work(&RETIRED.captures(clause)?["who"], old)
}

/// Returns what the retirement of somebody ends.
pub(super) fn ends_work(who: &str, old: &str) -> Option<StatementClash> {
    let who = SingleValue::new(who, "employer", "none")?.subject;
    let value = SingleValue::only_in(old)?;
    match value.attribute.as_str() {
        "employer" if value.subject == who => Some(StatementClash::Certain),
        "occupation" if value.subject == who => Some(StatementClash::Possible),
        _ => None,
    }
}

/// Reads "my doctor took me off ibuprofen".
fn ends_dose(clause: &str, old: &[String]) -> bool {
    let Some(found) = TAKEN_OFF.captures(clause) else { return false };
    let Some(name) = found.name("x").or_else(|| found.name("o")) else { return false };
    let text = old.join(" ");
    let is_taken = text.starts_with("i take ") || text.starts_with("i am on ");
    let is_dose = !NO_DOSES.contains(&name.as_str());
    let mut object = old.iter().take_while(|word| !DETAILS.contains(&word.as_str()));
    is_taken && is_dose && object.any(|word| word == name.as_str())
}

/// Reads "I'm back from holiday".
fn ends_absence(clause: &str, old: &[String]) -> bool {
    let Some(found) = BACK.captures(clause) else { return false };
    let what = found["what"].trim_end_matches('s').to_owned();
    let text = old.join(" ");
    let is_away = ["i am on ", "we are on ", "i am away on ", "i am off on "]
        .iter()
        .any(|it| text.starts_with(it));
    is_away && ABSENCES.contains(&what.as_str()) && old.contains(&what)
}

/// Reads "I switched dentists": who the dentist was is over.
fn names_switched(clause: &str, old: &str) -> bool {
    SWITCHED
        .captures(clause)
        .is_some_and(|found| old.starts_with(&format!("my {} am ", &found["noun"])))
}

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("valid")
}
