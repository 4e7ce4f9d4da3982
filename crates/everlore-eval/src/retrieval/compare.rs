//! Paired bootstrap of two runs over the same queries: the difference of each measure with its confidence interval.

use std::{collections::HashMap, fs, path::Path};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::metrics::{EXCLUDED_CATEGORY, METRIC_NAMES};
use crate::random::SplitMix64;

/// Bootstrap samples.
const RESAMPLES: usize = 10_000;
/// Seed of the samples: two comparisons of the same runs give the same figures.
const SEED: u64 = 20_260_304;

/// Scores of a query, in the order of [`METRIC_NAMES`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct QueryScores {
    pub(crate) id: String,
    pub(crate) category: String,
    pub(crate) scores: [f64; 6],
}

/// Difference of a measure between two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RunDifference {
    pub(crate) measure: &'static str,
    /// Mean of this run minus mean of the other.
    pub(crate) mean: f64,
    /// Bounds of the 95% confidence interval.
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Share of samples in which this run is not better.
    pub(crate) not_better: f64,
    pub(crate) n: usize,
}

/// Saves a run.
pub(crate) fn save(path: &Path, run: &[QueryScores]) -> Result<()> {
    let text = serde_json::to_string(run)?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Reads a saved run.
pub(crate) fn read(path: &Path) -> Result<Vec<QueryScores>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no saved run", path.display()))
}

/// Compares two runs by the queries that both have, without those of the excluded category.
pub(crate) fn compare(run: &[QueryScores], other: &[QueryScores]) -> Result<Vec<RunDifference>> {
    let before: HashMap<&str, &QueryScores> =
        other.iter().map(|judged| (judged.id.as_str(), judged)).collect();
    let counted = run.iter().filter(|judged| judged.category != EXCLUDED_CATEGORY);
    let pairs: Vec<[f64; 6]> = counted
        .filter_map(|now| {
            let then = before.get(now.id.as_str())?;
            Some(std::array::from_fn(|measure| now.scores[measure] - then.scores[measure]))
        })
        .collect();
    if pairs.is_empty() {
        bail!("the two runs have no query in common");
    }
    let samples = samples(&pairs);
    Ok((0..METRIC_NAMES.len()).map(|measure| difference(measure, &pairs, &samples)).collect())
}

/// Draws samples with replacement, all measures of a query together, and returns their means.
fn samples(pairs: &[[f64; 6]]) -> Vec<[f64; 6]> {
    let mut random = SplitMix64::from_keys(&[SEED]);
    let draw = |random: &mut SplitMix64| {
        let mut sum = [0.0; 6];
        for _ in pairs {
            let pair = &pairs[random.below(pairs.len() as u64) as usize];
            sum.iter_mut().zip(pair).for_each(|(sum, value)| *sum += value);
        }
        sum.map(|sum| sum / pairs.len() as f64)
    };
    (0..RESAMPLES).map(|_| draw(&mut random)).collect()
}

fn difference(measure: usize, pairs: &[[f64; 6]], samples: &[[f64; 6]]) -> RunDifference {
    let mut drawn: Vec<f64> = samples.iter().map(|sample| sample[measure]).collect();
    drawn.sort_by(f64::total_cmp);
    let at = |share: f64| drawn[(share * (drawn.len() - 1) as f64).round() as usize];
    let not_better = drawn.iter().filter(|mean| **mean <= 0.0).count() as f64;
    RunDifference {
        measure: METRIC_NAMES[measure],
        mean: pairs.iter().map(|pair| pair[measure]).sum::<f64>() / pairs.len() as f64,
        low: at(0.025),
        high: at(0.975),
        not_better: not_better / drawn.len() as f64,
        n: pairs.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(scores: &[f64]) -> Vec<QueryScores> {
        let judged = |(id, score): (usize, &f64)| QueryScores {
            id: id.to_string(),
            category: "c".into(),
            scores: [*score; 6],
        };
        scores.iter().enumerate().map(judged).collect()
    }

    #[test]
    fn a_run_that_is_better_everywhere_is_surely_better() {
        let found = compare(&run(&[1.0; 20]), &run(&[0.5; 20])).unwrap();
        assert_eq!((found[0].mean, found[0].low, found[0].high), (0.5, 0.5, 0.5));
        assert_eq!((found[0].not_better, found[0].n), (0.0, 20));
    }

    #[test]
    fn a_run_that_is_better_as_often_as_worse_is_not_surely_better() {
        let mixed: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
        let found = &compare(&run(&mixed), &run(&[0.5; 40])).unwrap()[1];
        assert!(found.low < 0.0 && found.high > 0.0, "{found:?}");
        assert!((0.3..0.7).contains(&found.not_better), "{found:?}");
        assert_eq!(found, &compare(&run(&mixed), &run(&[0.5; 40])).unwrap()[1]);
    }

    #[test]
    fn runs_over_other_queries_and_queries_apart_are_not_compared() {
        let mut apart = run(&[1.0]);
        apart[0].category = EXCLUDED_CATEGORY.into();
        assert!(compare(&apart, &run(&[0.0])).is_err());
        assert!(compare(&run(&[1.0]), &[]).is_err());
    }

    #[test]
    fn a_saved_run_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        save(&path, &run(&[0.25])).unwrap();
        assert_eq!(read(&path).unwrap(), run(&[0.25]));
    }
}
