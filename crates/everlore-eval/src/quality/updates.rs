//! Updates: how often the newest of several statements about the same thing ranks first.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;

use crate::retrieval::{
    data::{BenchQuery, DataSet},
    engine::{EngineQuestion, EngineRetriever},
};

/// Depth of the ranked list.
const LIMIT: usize = 10;

/// Result on a set of questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct UpdateScores {
    /// Share of the questions with a stale row in which the newest row is among the first ten and above every stale
    /// one.
    pub(crate) newest_first: f64,
    /// Share of all questions in which a relevant row is among the first ten.
    pub(crate) found: f64,
    /// Questions with a stale row.
    pub(crate) n: usize,
    /// All questions.
    pub(crate) asked: usize,
}

/// Result on a data set.
#[derive(Debug, Serialize)]
pub(crate) struct UpdateReport {
    #[serde(flatten)]
    pub(crate) overall: UpdateScores,
    pub(crate) by_category: BTreeMap<String, UpdateScores>,
}

/// Asks every question.
pub(crate) fn measure(set: &DataSet) -> Result<UpdateReport> {
    let everlore = EngineRetriever::loaded_with(set)?;
    let mut outcomes: Vec<(&BenchQuery, bool, bool)> = Vec::new();
    for query in &set.queries {
        let (scope, text, time) = (&query.scope, &query.text, query.time.as_deref());
        let question = EngineQuestion { scope, text, time, limit: LIMIT, whole_period: false };
        let answer = everlore.answer(&question)?.ids;
        let (found, first) = judge(&answer, &query.relevant, &query.stale);
        outcomes.push((query, found, first));
    }
    let mut categories: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for outcome in &outcomes {
        categories.entry(outcome.0.category.clone()).or_default().push(*outcome);
    }
    let by_category = categories.into_iter().map(|(name, of)| (name, update_scores(&of))).collect();
    Ok(UpdateReport { overall: update_scores(&outcomes), by_category })
}

/// Returns (found, first): a relevant row is returned, and it is above every stale one.
fn judge(answer: &[String], relevant: &[String], stale: &[String]) -> (bool, bool) {
    let position = |ids: &[String]| answer.iter().position(|id| ids.contains(id));
    let (newest, oldest) = (position(relevant), position(stale));
    (newest.is_some(), newest.is_some_and(|newest| oldest.is_none_or(|stale| newest < stale)))
}

fn update_scores(outcomes: &[(&BenchQuery, bool, bool)]) -> UpdateScores {
    let updated: Vec<_> = outcomes.iter().filter(|(query, ..)| !query.stale.is_empty()).collect();
    let share = |count: usize, of: usize| if of == 0 { 0.0 } else { count as f64 / of as f64 };
    let first = updated.iter().filter(|(.., first)| *first).count();
    let found = outcomes.iter().filter(|(_, found, _)| *found).count();
    UpdateScores {
        newest_first: share(first, updated.len()),
        found: share(found, outcomes.len()),
        n: updated.len(),
        asked: outcomes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_newest_must_be_returned_and_above_every_stale_one() {
        let judged = |answer: &str| judge(&ids(answer), &ids("new"), &ids("old older"));
        assert_eq!(judged("x new old"), (true, true));
        assert_eq!(judged("new"), (true, true));
        assert_eq!(judged("older new old"), (true, false));
        assert_eq!(judged("x y"), (false, false));
    }

    #[test]
    fn questions_without_a_stale_row_say_nothing_of_order() {
        let query = |stale: &str| BenchQuery { stale: ids(stale), ..BenchQuery::default() };
        let (with, without) = (query("old"), query(""));
        let shares = update_scores(&[(&with, true, false), (&without, true, true)]);
        assert_eq!((shares.newest_first, shares.found), (0.0, 1.0));
        assert_eq!((shares.n, shares.asked), (1, 2));
    }
}
