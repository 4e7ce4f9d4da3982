//! Abstention: how well the engine tells questions that its memories answer from those that they do not.
//!
//! Each question is put to its own scope and to another one, once as it is and once without the names of the speakers
//! of any scope: a name that a scope does not know gives a foreign question away.

use std::collections::{HashMap, HashSet};

use anyhow::{Result, bail};
use everlore::{
    Config,
    engine::{Calibration, ConfidenceEstimate},
};
use serde::Serialize;

use crate::{
    random::SplitMix64,
    retrieval::{
        data::{BenchQuery, DataSet},
        engine::{EngineQuestion, EngineRetriever},
        metrics::EXCLUDED_CATEGORY,
    },
};

/// Hits of a recall whose confidence is measured.
const LIMIT: usize = 10;
/// Seed of the choice of the other scope.
const SEED: u64 = 7;

/// Separation of own and foreign questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct AbstentionScores {
    /// Probability that an own question gets more confidence than a foreign one.
    pub(crate) auc: f64,
    /// Share of own questions answered at the default threshold.
    pub(crate) own_answered: f64,
    /// Share of foreign questions silenced at the default threshold.
    pub(crate) foreign_silenced: f64,
    /// Share of foreign questions silenced by the threshold that answers 95 of 100 own ones.
    pub(crate) silenced_at_95: f64,
}

/// Result on a data set.
#[derive(Debug, Serialize)]
pub(crate) struct AbstentionReport {
    pub(crate) auc_names_kept: f64,
    pub(crate) auc_names_removed: f64,
    pub(crate) threshold: f64,
    pub(crate) names_kept: AbstentionScores,
    pub(crate) names_removed: AbstentionScores,
    pub(crate) n: usize,
}

/// Question put to a scope, with the engine's confidence.
#[derive(Debug, Clone)]
pub(crate) struct PlacedQuestion {
    /// Scope that answers the question.
    pub(crate) scope: String,
    /// Set if the question was put to that scope, unset if to another.
    pub(crate) own: bool,
    /// Set if the question still has the names of speakers.
    pub(crate) names_kept: bool,
    pub(crate) judgement: ConfidenceEstimate,
    /// Calibration of the scope that the question was put to, if requested.
    pub(crate) calibration: Option<Calibration>,
}

/// Asks every question four times: own and other scope, with names and without.
pub(crate) fn measure(set: &DataSet) -> Result<AbstentionReport> {
    let questions = place_questions(set, false)?;
    let threshold = Config::default().recall.min_confidence;
    let scores = |names_kept: bool| {
        let of = |own: bool| {
            let fitting =
                questions.iter().filter(|it| it.own == own && it.names_kept == names_kept);
            fitting.map(|question| question.judgement.confidence).collect::<Vec<_>>()
        };
        abstention_scores(&of(true), &of(false), threshold)
    };
    let (names_kept, names_removed) = (scores(true), scores(false));
    Ok(AbstentionReport {
        auc_names_kept: names_kept.auc,
        auc_names_removed: names_removed.auc,
        threshold,
        names_kept,
        names_removed,
        n: questions.len() / 4,
    })
}

/// Puts every question to its own and to another scope, with the names of speakers and without.
pub(crate) fn place_questions(set: &DataSet, calibrate: bool) -> Result<Vec<PlacedQuestion>> {
    let scopes: Vec<&str> = set.by_scope().into_iter().map(|(scope, _)| scope).collect();
    if scopes.len() < 2 {
        bail!("there is no other scope to put the questions to");
    }
    let everlore = EngineRetriever::loaded_with(set)?;
    let names = speaker_names(set);
    let mut calibrations: HashMap<&str, Option<Calibration>> = HashMap::new();
    for scope in scopes.iter().filter(|_| calibrate) {
        calibrations.insert(scope, everlore.calibrate(scope)?);
    }
    let mut placed = Vec::new();
    let queries =
        set.queries.iter().enumerate().filter(|(_, query)| query.category != EXCLUDED_CATEGORY);
    for (number, query) in queries {
        let other = other_scope(&scopes, &query.scope, number);
        for names_kept in [true, false] {
            let text =
                if names_kept { query.text.clone() } else { without_names(&query.text, &names) };
            for (own, to) in [(true, query.scope.as_str()), (false, other)] {
                let judgement = judgement(&everlore, query, to, &text)?;
                let calibration = calibrations.get(to).cloned().flatten();
                let scope = query.scope.clone();
                placed.push(PlacedQuestion { scope, own, names_kept, judgement, calibration });
            }
        }
    }
    Ok(placed)
}

fn judgement(
    everlore: &EngineRetriever,
    query: &BenchQuery,
    scope: &str,
    text: &str,
) -> Result<ConfidenceEstimate> {
    let time = query.time.as_deref();
    let question = EngineQuestion { scope, text, time, limit: LIMIT, whole_period: false };
    Ok(everlore.answer(&question)?.judgement)
}

/// Picks a scope other than the question's own, the same in every run.
fn other_scope<'a>(scopes: &[&'a str], own: &str, number: usize) -> &'a str {
    let others: Vec<&str> = scopes.iter().copied().filter(|scope| *scope != own).collect();
    SplitMix64::from_keys(&[SEED, number as u64]).pick(&others)
}

/// Returns the names of all speakers, word by word, in lower case.
fn speaker_names(set: &DataSet) -> HashSet<String> {
    let speakers = set.rows.iter().filter_map(|row| row.speaker.as_deref());
    speakers.flat_map(str::split_whitespace).map(str::to_lowercase).collect()
}

/// Removes these names from a text, with or without `'s`.
fn without_names(text: &str, names: &HashSet<String>) -> String {
    let is_name = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let bare = bare.replace('’', "'");
        names.contains(&bare) || bare.strip_suffix("'s").is_some_and(|name| names.contains(name))
    };
    let words: Vec<&str> = text.split_whitespace().filter(|word| !is_name(word)).collect();
    words.join(" ")
}

pub(crate) fn abstention_scores(own: &[f64], foreign: &[f64], threshold: f64) -> AbstentionScores {
    let mut sorted = own.to_vec();
    sorted.sort_by(f64::total_cmp);
    // One in twenty own questions is below.
    let at_95 = sorted.get(sorted.len() / 20).copied().unwrap_or_default();
    let share = |of: &[f64], passes: &dyn Fn(f64) -> bool| {
        of.iter().filter(|value| passes(**value)).count() as f64 / of.len().max(1) as f64
    };
    AbstentionScores {
        auc: auc(own, foreign),
        own_answered: share(own, &|value| value >= threshold),
        foreign_silenced: share(foreign, &|value| value < threshold),
        silenced_at_95: share(foreign, &|value| value < at_95),
    }
}

/// Returns the area under the ROC curve: the share of pairs in the right order, equal ones counted half.
fn auc(own: &[f64], foreign: &[f64]) -> f64 {
    let mut sorted = foreign.to_vec();
    sorted.sort_by(f64::total_cmp);
    let below = |value: f64| {
        let less = sorted.partition_point(|other| *other < value);
        let not_more = sorted.partition_point(|other| *other <= value);
        (less + not_more) as f64 / 2.0
    };
    let pairs = (own.len() * foreign.len()).max(1) as f64;
    own.iter().map(|value| below(*value)).sum::<f64>() / pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::data::CorpusRow;

    #[test]
    fn pairs_in_the_right_order_are_counted() {
        assert_eq!(auc(&[0.9, 0.8], &[0.1, 0.2]), 1.0);
        assert_eq!(auc(&[0.1], &[0.9]), 0.0);
        assert_eq!(auc(&[0.5], &[0.5, 0.4]), 0.75);
    }

    #[test]
    fn names_are_taken_out_of_a_question() {
        let names: HashSet<String> = ["ann", "bo"].map(str::to_owned).into();
        assert_eq!(without_names("What is Ann's tea, Bo?", &names), "What is tea,");
        assert_eq!(without_names("What did Anna say?", &names), "What did Anna say?");
    }

    #[test]
    fn a_question_that_only_its_own_scope_answers_is_told_apart() {
        let row = |scope: &str, text: &str| CorpusRow {
            id: format!("{scope}/{text}"),
            scope: scope.into(),
            speaker: Some(if scope == "s" { "Ann" } else { "Bo" }.into()),
            text: text.into(),
            ..CorpusRow::default()
        };
        let query = |scope: &str, text: &str| BenchQuery {
            scope: scope.into(),
            text: text.into(),
            category: "c".into(),
            relevant: vec!["x".into()],
            ..BenchQuery::default()
        };
        let rows = vec![
            row("s", "My invoice from Lisbon was paid"),
            row("s", "The garden needs water"),
            row("t", "The piano was tuned by a neighbour"),
            row("t", "We baked a rye loaf"),
        ];
        let queries =
            vec![query("s", "Ann's invoice from Lisbon"), query("t", "piano tuned by a neighbour")];
        let report = measure(&DataSet { rows, queries, noise: vec![] }).unwrap();
        assert_eq!((report.auc_names_kept, report.auc_names_removed), (1.0, 1.0));
        assert_eq!(report.n, 2);
    }
}
