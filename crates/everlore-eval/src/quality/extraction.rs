//! Precision and recall of rule-based extraction on hand-labelled statements.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use everlore::{
    internal::{
        Attribute,
        ingest::{Draft, SessionTurns, TurnText, extract_statements},
    },
    types::{Kind, MemoryId, Role, Timestamp},
};
use jiff::tz::TimeZone;
use serde::Serialize;

/// Labelled statements.
pub(crate) const STATEMENTS: &str = include_str!("../../data/statements.txt");

/// Time of every message of the set.
const SAID_AT: &str = "2026-03-02T10:00:00Z";

/// Message with the drafts that extraction should make.
pub(crate) struct LabeledStatement {
    half: String,
    language: String,
    line: String,
    turns: Vec<TurnText>,
    expected: Vec<ExpectedDraft>,
}

/// Draft that extraction should make.
#[derive(Debug, Clone, PartialEq)]
struct ExpectedDraft {
    kind: Kind,
    attribute: Attribute,
    words: Vec<String>,
}

/// Agreement of drafts with labels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Agreement {
    /// Messages.
    pub(crate) messages: usize,
    /// Messages without an expected draft.
    pub(crate) negatives: usize,
    /// Expected drafts.
    pub(crate) expected: usize,
    /// Drafts that the rules made.
    pub(crate) made: usize,
    /// Drafts made that are expected.
    pub(crate) right: usize,
    /// Share of drafts made that are expected.
    pub(crate) precision: f64,
    /// Share of expected drafts that were made.
    pub(crate) recall: f64,
}

/// Message on which rules and labels disagree.
#[derive(Debug, Serialize)]
pub(crate) struct Disagreement {
    pub(crate) group: String,
    pub(crate) message: String,
    /// Drafts that the rules made, as kind, attribute and content.
    pub(crate) made: Vec<String>,
}

/// Figures by half and language.
#[derive(Debug, Serialize)]
pub(crate) struct ExtractionQuality {
    pub(crate) groups: BTreeMap<String, Agreement>,
    pub(crate) disagreements: Vec<Disagreement>,
}

/// Extracts from every statement and compares.
pub(crate) fn measure(statements: &[LabeledStatement]) -> Result<ExtractionQuality> {
    let mut report = ExtractionQuality { groups: BTreeMap::new(), disagreements: Vec::new() };
    for statement in statements {
        let session = SessionTurns { context: &[], turns: &statement.turns };
        let drafts = extract_statements(session, &TimeZone::UTC, None)?;
        let right = count_matches(&drafts, &statement.expected);
        let language = &statement.language;
        for group in [statement.half.clone(), format!("{} {language}", statement.half)] {
            report.groups.entry(group).or_default().add(statement, drafts.len(), right);
        }
        if right < drafts.len().max(statement.expected.len()) {
            report.disagreements.push(Disagreement {
                group: format!("{} {language}", statement.half),
                message: statement.line.clone(),
                made: drafts.iter().map(draft_line).collect(),
            });
        }
    }
    Ok(report)
}

/// Counts the drafts that are expected; each expectation is met once.
fn count_matches(drafts: &[Draft], expected: &[ExpectedDraft]) -> usize {
    let mut open: Vec<_> = expected.iter().collect();
    let meets = |draft: &Draft, expected: &ExpectedDraft| {
        let content = draft.content.to_lowercase();
        draft.kind == expected.kind
            && draft.slot.as_ref().is_some_and(|slot| slot.attribute == expected.attribute)
            && expected.words.iter().all(|word| content.contains(&word.to_lowercase()))
    };
    let mut right = 0;
    for draft in drafts {
        if let Some(index) = open.iter().position(|expected| meets(draft, expected)) {
            open.remove(index);
            right += 1;
        }
    }
    right
}

fn draft_line(draft: &Draft) -> String {
    let attribute = draft.slot.as_ref().map_or("", |slot| slot.attribute.as_str());
    format!("{} {attribute}: {}", draft.kind, draft.content)
}

impl Agreement {
    fn add(&mut self, statement: &LabeledStatement, made: usize, right: usize) {
        self.messages += 1;
        self.negatives += usize::from(statement.expected.is_empty());
        self.expected += statement.expected.len();
        self.made += made;
        self.right += right;
        self.precision = self.right as f64 / self.made.max(1) as f64;
        self.recall = self.right as f64 / self.expected.max(1) as f64;
    }
}

/// Parses labelled statements: lines of `half language message => - | kind attribute: words ; …`.
pub(crate) fn parse_statements(text: &str) -> Result<Vec<LabeledStatement>> {
    let lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| parse_statement(line).with_context(|| format!("in the line `{line}`")))
        .collect()
}

fn parse_statement(line: &str) -> Result<LabeledStatement> {
    let (half, rest) = line.split_once(' ').context("it has no half")?;
    let (language, rest) = rest.split_once(' ').context("it has no language")?;
    let (message, expected) = rest.rsplit_once(" => ").context("it has no `=>`")?;
    ensure!(["tune", "held"].contains(&half), "the half is tune or held");
    let expected = match expected.trim() {
        "-" => Vec::new(),
        drafts => drafts.split(" ; ").map(parse_expectation).collect::<Result<_>>()?,
    };
    Ok(LabeledStatement {
        half: half.to_owned(),
        language: language.to_owned(),
        line: line.to_owned(),
        turns: parse_turns(&message.replace('⏎', "\n"))?,
        expected,
    })
}

fn parse_expectation(text: &str) -> Result<ExpectedDraft> {
    let (head, words) = text.split_once(": ").context("a draft is `kind attribute: words`")?;
    let Some((kind, attribute)) = head.trim().split_once(' ') else {
        bail!("`{head}` is not a kind and an attribute")
    };
    let words = words.split(", ").map(|word| word.trim().to_owned()).collect();
    Ok(ExpectedDraft { kind: kind.parse()?, attribute: attribute.parse()?, words })
}

fn parse_turns(message: &str) -> Result<Vec<TurnText>> {
    let at: Timestamp = SAID_AT.parse()?;
    let turn = |role, text: &str| TurnText {
        id: MemoryId::new(at),
        role,
        speaker: None,
        text: text.trim().to_owned(),
        at,
    };
    let Some(rest) = message.strip_prefix("[assistant]") else {
        return Ok(vec![turn(Role::User, message)]);
    };
    let (assistant, user) = rest.split_once("[user]").context("nobody answers the assistant")?;
    Ok(vec![turn(Role::Assistant, assistant), turn(Role::User, user)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_reach_the_floors_on_statements_they_were_not_written_by() {
        let statements = parse_statements(STATEMENTS).unwrap();
        let report = measure(&statements).unwrap();
        for group in ["held en", "held zh"] {
            let agreement = report.groups[group];
            assert!(agreement.precision >= 0.9, "{group}: {agreement:?}");
            assert!(agreement.recall >= 0.7, "{group}: {agreement:?}");
        }
    }

    #[test]
    fn the_set_is_large_and_has_its_share_of_negatives_in_both_languages() {
        let statements = parse_statements(STATEMENTS).unwrap();
        for language in ["en", "zh"] {
            let own: Vec<_> = statements.iter().filter(|it| it.language == language).collect();
            let negatives = own.iter().filter(|it| it.expected.is_empty()).count();
            assert!(own.len() >= 100 && negatives * 10 >= own.len() * 4, "{language}");
        }
    }
}
