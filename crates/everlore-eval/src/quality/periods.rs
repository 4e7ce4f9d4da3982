//! Questions for a period: precision and recall of the rows of that period.
//!
//! Each wording of a question is a query of its own; its result is compared with the rows of the period as a set.
//! Overall figures are micro-averaged: rows are counted over all wordings, so that precision is the share of returned
//! rows that are right, recall the share of right rows that are returned, and F1 their harmonic mean. `macro_f1` is the
//! mean of the F1 of each wording.

use std::collections::{BTreeMap, HashSet};

use anyhow::Result;
use serde::Serialize;

use crate::retrieval::{
    data::{BenchQuery, DataSet},
    engine::{EngineQuestion, EngineRetriever},
};

/// Category of questions about something said at some time, whose answer is one row and not the period: reported
/// separately, never in the overall figure.
pub(crate) const EXCLUDED_CATEGORY: &str = "content_time";

/// Rows of a question that is not recognized as one for a period.
const LIMIT: usize = 10;

/// Row counts over a set of wordings.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct RowCounts {
    right: usize,
    returned: usize,
    relevant: usize,
    wordings: usize,
    /// Sum of the F1 of all wordings.
    f1_sum: f64,
}

/// Precision, recall and F1 over a set of wordings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct SetScores {
    pub(crate) f1: f64,
    pub(crate) precision: f64,
    pub(crate) recall: f64,
    pub(crate) macro_f1: f64,
    pub(crate) n: usize,
}

/// Result on a data set.
#[derive(Debug, Serialize)]
pub(crate) struct PeriodReport {
    #[serde(flatten)]
    pub(crate) overall: SetScores,
    pub(crate) by_category: BTreeMap<String, SetScores>,
}

/// Asks every question with all its wordings.
pub(crate) fn measure(set: &DataSet) -> Result<PeriodReport> {
    let everlore = EngineRetriever::loaded_with(set)?;
    let (mut overall, mut by_category) =
        (RowCounts::default(), BTreeMap::<String, RowCounts>::new());
    for query in &set.queries {
        for text in std::iter::once(&query.text).chain(&query.paraphrases) {
            let counts = answer(&everlore, query, text)?;
            by_category.entry(query.category.clone()).or_default().add(counts);
            if query.category != EXCLUDED_CATEGORY {
                overall.add(counts);
            }
        }
    }
    let by_category = by_category.into_iter().map(|(name, counts)| (name, counts.scores()));
    Ok(PeriodReport { overall: overall.scores(), by_category: by_category.collect() })
}

fn answer(everlore: &EngineRetriever, query: &BenchQuery, text: &str) -> Result<RowCounts> {
    let answer = everlore.answer(&EngineQuestion {
        scope: &query.scope,
        text,
        time: query.time.as_deref(),
        limit: LIMIT,
        whole_period: true,
    })?;
    Ok(RowCounts::from_answer(&answer.ids, &query.relevant))
}

impl RowCounts {
    /// Counts the rows of one result.
    fn from_answer(returned: &[String], relevant: &[String]) -> Self {
        let relevant: HashSet<&String> = relevant.iter().collect();
        let right = returned.iter().filter(|id| relevant.contains(id)).count();
        let counts = Self {
            right,
            returned: returned.len(),
            relevant: relevant.len(),
            wordings: 1,
            f1_sum: 0.0,
        };
        Self { f1_sum: counts.f1(), ..counts }
    }

    fn add(&mut self, other: Self) {
        self.right += other.right;
        self.returned += other.returned;
        self.relevant += other.relevant;
        self.wordings += other.wordings;
        self.f1_sum += other.f1_sum;
    }

    fn f1(&self) -> f64 {
        ratio(2 * self.right, self.returned + self.relevant)
    }

    fn scores(&self) -> SetScores {
        SetScores {
            f1: self.f1(),
            precision: ratio(self.right, self.returned),
            recall: ratio(self.right, self.relevant),
            macro_f1: self.f1_sum / self.wordings.max(1) as f64,
            n: self.wordings,
        }
    }
}

fn ratio(part: usize, of: usize) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::data::CorpusRow;

    fn row(id: &str, day: &str) -> CorpusRow {
        CorpusRow {
            id: id.into(),
            scope: "s".into(),
            session: Some(format!("s/{day}")),
            time: Some(format!("2024-{day}T10:00:00")),
            speaker: Some("Ann".into()),
            text: "The weather was fine.".into(),
            kind: None,
            seq: None,
        }
    }

    fn query(text: &str, category: &str, relevant: &[&str]) -> BenchQuery {
        BenchQuery {
            scope: "s".into(),
            text: text.into(),
            category: category.into(),
            relevant: relevant.iter().map(|id| (*id).to_owned()).collect(),
            time: Some("2024-06-01T10:00:00".into()),
            ..BenchQuery::default()
        }
    }

    #[test]
    fn rows_are_counted_over_all_wordings_of_questions_for_a_period() {
        let mut first = query("What did we talk about in May?", "month", &["a", "b"]);
        first.paraphrases = vec!["Quark?".into()];
        let second = query("What did Ann say of the weather in May?", EXCLUDED_CATEGORY, &["a"]);
        let rows = vec![row("a", "05-01"), row("b", "05-02"), row("c", "04-01")];
        let mut set = DataSet { rows, queries: vec![first.clone(), second], noise: vec![] };
        set.queries[0].paraphrases.clear();
        let plain = measure(&set).unwrap();
        assert_eq!((plain.overall.f1, plain.overall.n), (1.0, 1));
        assert_eq!(plain.by_category[EXCLUDED_CATEGORY].n, 1);
        set.queries[0] = first;
        let all = measure(&set).unwrap();
        // The second wording names no period and nothing that a row says: it finds none of them.
        assert_eq!((all.overall.precision, all.overall.recall, all.overall.n), (1.0, 0.5, 2));
        assert!((all.overall.macro_f1 - 0.5).abs() < 1e-9, "{}", all.overall.macro_f1);
    }

    #[test]
    fn nothing_returned_has_no_precision() {
        assert_eq!(RowCounts::from_answer(&[], &["a".into()]).scores().f1, 0.0);
    }
}
