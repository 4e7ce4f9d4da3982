//! Fitting the judgement: a logistic regression held near the weights it starts from.

use super::abstain::{FEATURES, Weights};

/// Newton's method settles in a handful of steps; more mean that it never will.
const MAX_STEPS: usize = 30;

/// A gain smaller than this changes no confidence that anybody sees.
const SETTLED: f64 = 1e-9;

/// A step that is still too far after being halved so often leads nowhere.
const HALVINGS: usize = 12;

/// A question with what spoke for its answer, and whether the answer was right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The numbers, as [`super::Evidence::features`] gives them.
    pub features: [f64; FEATURES],
    /// Whether the best hit answers.
    pub answered: bool,
    /// What it counts beside other samples.
    pub weight: f64,
}

/// The weights under which the samples are most probable, each pulled back to `prior` by `pull`: the more samples, the
/// less the pull matters.
pub fn fit(samples: &[Sample], prior: &Weights, pull: f64) -> Weights {
    let mut weights = *prior;
    let mut cost = cost_of(samples, &weights, prior, pull);
    for _ in 0..MAX_STEPS {
        let Some(step) = step(samples, &weights, prior, pull) else { break };
        let tried = shortened(&weights, &step).map(|to| (cost_of(samples, &to, prior, pull), to));
        let Some((less, better)) = tried.into_iter().find(|(less, _)| *less < cost) else { break };
        let gain = cost - less;
        (weights, cost) = (better, less);
        if gain < SETTLED {
            break;
        }
    }
    weights
}

/// Where a step leads, then half of it, and so on: a full one can go too far where a judgement is very sure.
fn shortened(from: &Weights, step: &[f64; FEATURES]) -> [Weights; HALVINGS] {
    let at = |share: f64| Weights(std::array::from_fn(|i| from.0[i] + share * step[i]));
    std::array::from_fn(|halved| at(0.5f64.powi(halved as i32)))
}

/// How improbable the samples are, and how far the weights are from where they started.
fn cost_of(samples: &[Sample], weights: &Weights, prior: &Weights, pull: f64) -> f64 {
    let surprise = |sample: &Sample| {
        let p = weights.probability(&sample.features);
        let right = if sample.answered { p } else { 1.0 - p };
        -sample.weight * right.max(f64::MIN_POSITIVE).ln()
    };
    let distance: f64 = weights.0.iter().zip(prior.0).map(|(a, b)| (a - b).powi(2)).sum();
    samples.iter().map(surprise).sum::<f64>() + pull * distance / 2.0
}

/// One step of Newton's method; none where the samples decide nothing.
fn step(
    samples: &[Sample],
    weights: &Weights,
    prior: &Weights,
    pull: f64,
) -> Option<[f64; FEATURES]> {
    let mut slope: [f64; FEATURES] = std::array::from_fn(|i| pull * (prior.0[i] - weights.0[i]));
    let mut bend = [[0.0; FEATURES]; FEATURES];
    for (i, row) in bend.iter_mut().enumerate() {
        row[i] = pull;
    }
    for sample in samples {
        let p = weights.probability(&sample.features);
        let (error, spread) = (f64::from(u8::from(sample.answered)) - p, p * (1.0 - p));
        for (i, x) in sample.features.iter().enumerate() {
            slope[i] += sample.weight * error * x;
            for (j, y) in sample.features.iter().enumerate() {
                bend[i][j] += sample.weight * spread * x * y;
            }
        }
    }
    solve(bend, slope)
}

/// Solves a system of linear equations by elimination, the largest pivot first.
fn solve(mut a: [[f64; FEATURES]; FEATURES], mut b: [f64; FEATURES]) -> Option<[f64; FEATURES]> {
    for column in 0..FEATURES {
        let pivot = (column..FEATURES)
            .max_by(|i, j| a[*i][column].abs().total_cmp(&a[*j][column].abs()))?;
        if a[pivot][column].abs() < f64::EPSILON {
            return None;
        }
        a.swap(column, pivot);
        b.swap(column, pivot);
        for row in (0..FEATURES).filter(|row| *row != column) {
            let factor = a[row][column] / a[column][column];
            let above = a[column];
            for (value, above) in a[row].iter_mut().zip(above) {
                *value -= factor * above;
            }
            b[row] -= factor * b[column];
        }
    }
    Some(std::array::from_fn(|i| b[i] / a[i][i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A feature that decides, beside the constant one.
    fn sample(x: f64, answered: bool) -> Sample {
        let mut features = [0.0; FEATURES];
        (features[0], features[1]) = (1.0, x);
        Sample { features, answered, weight: 1.0 }
    }

    #[test]
    fn the_probability_of_what_was_seen_is_learned() {
        let often: Vec<_> = (0..100).map(|i| sample(1.0, i < 80)).collect();
        let seldom: Vec<_> = (0..100).map(|i| sample(0.0, i < 20)).collect();
        let weights = fit(&[often, seldom].concat(), &Weights([0.0; FEATURES]), 1e-6);
        assert!((weights.probability(&sample(1.0, true).features) - 0.8).abs() < 1e-3);
        assert!((weights.probability(&sample(0.0, true).features) - 0.2).abs() < 1e-3);
    }

    #[test]
    fn few_samples_leave_the_weights_where_they_were() {
        let prior = Weights::default();
        assert_eq!(fit(&[], &prior, 1.0), prior);
        let moved = fit(&[sample(1.0, true)], &prior, 100.0);
        let distance = moved.0.iter().zip(prior.0).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(distance < 0.02, "{moved:?}");
    }

    #[test]
    fn samples_that_are_told_apart_perfectly_do_not_run_away() {
        let samples: Vec<_> = (0..50).map(|i| sample(f64::from(i % 2), i % 2 == 1)).collect();
        let weights = fit(&samples, &Weights([0.0; FEATURES]), 1.0);
        assert!(weights.0.iter().all(|weight| weight.abs() < 20.0), "{weights:?}");
    }
}
