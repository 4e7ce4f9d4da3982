//! Ranking metrics: recall, hit rate, reciprocal rank and discounted gain, with their standard errors. Pure.

use std::collections::BTreeMap;

use serde::Serialize;

/// Category that is reported separately and never counted in the overall figure.
pub(crate) const EXCLUDED_CATEGORY: &str = "adversarial";

/// Metrics in display order.
pub(crate) const METRIC_NAMES: [&str; 6] =
    ["recall@5", "recall@10", "recall@20", "hit@5", "mrr@10", "ndcg@10"];

/// Metrics of one query, or their means over many; fractions from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct RankingScores {
    #[serde(rename = "recall@5")]
    pub(crate) recall_5: f64,
    #[serde(rename = "recall@10")]
    pub(crate) recall_10: f64,
    #[serde(rename = "recall@20")]
    pub(crate) recall_20: f64,
    #[serde(rename = "hit@5")]
    pub(crate) hit_5: f64,
    #[serde(rename = "mrr@10")]
    pub(crate) mrr_10: f64,
    #[serde(rename = "ndcg@10")]
    pub(crate) ndcg_10: f64,
}

/// Means over a set of queries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct ScoreSummary {
    #[serde(flatten)]
    pub(crate) mean: RankingScores,
    pub(crate) n: usize,
}

/// Means over all queries outside the excluded category, their standard errors, and the means by category.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct RunScores {
    pub(crate) overall: ScoreSummary,
    pub(crate) standard_error: RankingScores,
    pub(crate) by_category: BTreeMap<String, ScoreSummary>,
}

/// Scores a ranked list of ids by the relevant ones.
pub(crate) fn score_answer(answer: &[String], relevant: &[String]) -> RankingScores {
    let right: Vec<bool> = answer.iter().map(|id| relevant.contains(id)).collect();
    let hits = |depth: usize| right.iter().take(depth).filter(|right| **right).count() as f64;
    let first = right.iter().take(10).position(|right| *right);
    let gain: f64 =
        right.iter().take(10).enumerate().filter(|(_, r)| **r).map(|(i, _)| discount(i)).sum();
    let ideal: f64 = (0..relevant.len().min(10)).map(discount).sum();
    let share = |amount: f64, of: f64| if of > 0.0 { amount / of } else { 0.0 };
    let count = relevant.len() as f64;
    RankingScores {
        recall_5: share(hits(5), count),
        recall_10: share(hits(10), count),
        recall_20: share(hits(20), count),
        hit_5: f64::from(hits(5) > 0.0),
        mrr_10: first.map_or(0.0, |position| 1.0 / (position + 1) as f64),
        ndcg_10: share(gain, ideal),
    }
}

/// Summarizes the scores of many queries, each with its category.
pub(crate) fn summarize_run(scores: &[(String, RankingScores)]) -> RunScores {
    let mut by_category: BTreeMap<String, Vec<RankingScores>> = BTreeMap::new();
    for (category, score) in scores {
        by_category.entry(category.clone()).or_default().push(*score);
    }
    let counted: Vec<RankingScores> = scores
        .iter()
        .filter(|(category, _)| category != EXCLUDED_CATEGORY)
        .map(|(_, score)| *score)
        .collect();
    RunScores {
        overall: summary(&counted),
        standard_error: standard_error(&counted),
        by_category: by_category.into_iter().map(|(name, all)| (name, summary(&all))).collect(),
    }
}

impl RankingScores {
    /// Returns the metrics in display order.
    pub(crate) fn values(&self) -> [f64; 6] {
        [self.recall_5, self.recall_10, self.recall_20, self.hit_5, self.mrr_10, self.ndcg_10]
    }

    fn from_values([recall_5, recall_10, recall_20, hit_5, mrr_10, ndcg_10]: [f64; 6]) -> Self {
        Self { recall_5, recall_10, recall_20, hit_5, mrr_10, ndcg_10 }
    }
}

fn summary(scores: &[RankingScores]) -> ScoreSummary {
    ScoreSummary { mean: map_metrics(scores, mean), n: scores.len() }
}

/// Returns the standard error of the mean: the sample's standard deviation by the root of its size.
fn standard_error(scores: &[RankingScores]) -> RankingScores {
    map_metrics(scores, |values| {
        let (n, mean) = (values.len() as f64, mean(values));
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        if n > 1.0 { (squares / (n - 1.0) / n).sqrt() } else { 0.0 }
    })
}

fn map_metrics(scores: &[RankingScores], fold: impl Fn(&[f64]) -> f64) -> RankingScores {
    RankingScores::from_values(std::array::from_fn(|measure| {
        let values: Vec<f64> = scores.iter().map(|score| score.values()[measure]).collect();
        fold(&values)
    }))
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Returns the gain of a relevant id at a position, counted from 0.
fn discount(position: usize) -> f64 {
    1.0 / ((position + 2) as f64).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn an_answer_with_one_of_two_right_ones_at_the_second_place() {
        let scores = score_answer(&ids("x a y z w v"), &ids("a b"));
        close(scores.recall_5, 0.5);
        close(scores.hit_5, 1.0);
        close(scores.mrr_10, 0.5);
        // Gain 1/log2(3); the best would be 1/log2(2) + 1/log2(3).
        close(scores.ndcg_10, 0.630_929_753_6 / 1.630_929_753_6);
    }

    #[test]
    fn depth_counts() {
        let answer = ids("1 2 3 4 5 a 7 8 9 10 b 12 13 14 15 16 17 18 19 20 c");
        let scores = score_answer(&answer, &ids("a b c d"));
        assert_eq!((scores.recall_5, scores.recall_10, scores.recall_20), (0.0, 0.25, 0.5));
        assert_eq!(scores.hit_5, 0.0);
        close(scores.mrr_10, 1.0 / 6.0);
    }

    #[test]
    fn all_right_ones_on_top_are_perfect_even_if_there_are_more_than_ten() {
        let many: Vec<_> = (0..15).map(|i| i.to_string()).collect();
        close(score_answer(&many, &many).ndcg_10, 1.0);
        close(score_answer(&many, &many).recall_10, 10.0 / 15.0);
    }

    #[test]
    fn nothing_found_is_zero() {
        assert_eq!(score_answer(&[], &ids("a")), RankingScores::default());
    }

    #[test]
    fn adversarial_questions_stay_out_of_the_overall_figure() {
        let of = |value| RankingScores { recall_10: value, ..RankingScores::default() };
        let judged = summarize_run(&[
            ("single".into(), of(1.0)),
            ("single".into(), of(0.0)),
            ("multi".into(), of(0.5)),
            (EXCLUDED_CATEGORY.into(), of(1.0)),
        ]);
        close(judged.overall.mean.recall_10, 0.5);
        assert_eq!(judged.overall.n, 3);
        close(judged.by_category["single"].mean.recall_10, 0.5);
        close(judged.by_category[EXCLUDED_CATEGORY].mean.recall_10, 1.0);
        // Deviations 0.5, -0.5, 0: variance 0.25, by 3 queries.
        close(judged.standard_error.recall_10, (0.25_f64 / 3.0).sqrt());
    }

    #[test]
    fn the_json_has_the_names_that_others_use() {
        let json =
            serde_json::to_value(ScoreSummary { mean: RankingScores::default(), n: 2 }).unwrap();
        for name in ["recall@5", "recall@10", "recall@20", "hit@5", "mrr@10", "ndcg@10", "n"] {
            assert!(json.get(name).is_some(), "{name} is missing");
        }
    }
}
