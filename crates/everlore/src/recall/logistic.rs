//! Fitting the judgement: a logistic regression held near the weights it starts from.

use super::abstain::{ConfidenceCoefficients, FEATURE_COUNT};

/// Newton's method settles in a handful of steps; more mean that it never will.
const MAX_NEWTON_STEPS: usize = 30;

/// A gain smaller than this changes no confidence that anybody sees.
const MIN_GAIN: f64 = 1e-9;

/// A step that is still too far after being halved so often leads nowhere.
const MAX_HALVINGS: usize = 12;

/// A question with what spoke for its answer, and whether the answer was right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainingSample {
    /// The numbers, as [`super::Evidence::features`] gives them.
    pub features: [f64; FEATURE_COUNT],
    /// Whether the best hit answers.
    pub answered: bool,
    /// What it counts beside other samples.
    pub weight: f64,
}

/// The weights under which the samples are most probable, each pulled back to `prior` by `pull`: the more samples, the
/// less the pull matters.
pub fn fit_coefficients(
    samples: &[TrainingSample],
    prior: &ConfidenceCoefficients,
    pull: f64,
) -> ConfidenceCoefficients {
    let mut weights = *prior;
    let mut cost = regularized_loss(samples, &weights, prior, pull);
    for _ in 0..MAX_NEWTON_STEPS {
        let Some(step) = newton_step(samples, &weights, prior, pull) else { break };
        let tried = halved_steps(&weights, &step)
            .map(|to| (regularized_loss(samples, &to, prior, pull), to));
        let Some((less, better)) = tried.into_iter().find(|(less, _)| *less < cost) else { break };
        let gain = cost - less;
        (weights, cost) = (better, less);
        if gain < MIN_GAIN {
            break;
        }
    }
    weights
}

/// Where a step leads, then half of it, and so on: a full one can go too far where a judgement is very sure.
fn halved_steps(
    from: &ConfidenceCoefficients,
    step: &[f64; FEATURE_COUNT],
) -> [ConfidenceCoefficients; MAX_HALVINGS] {
    let at =
        |share: f64| ConfidenceCoefficients(std::array::from_fn(|i| from.0[i] + share * step[i]));
    std::array::from_fn(|halved| at(0.5f64.powi(halved as i32)))
}

/// How improbable the samples are, and how far the weights are from where they started.
fn regularized_loss(
    samples: &[TrainingSample],
    weights: &ConfidenceCoefficients,
    prior: &ConfidenceCoefficients,
    pull: f64,
) -> f64 {
    let surprise = |sample: &TrainingSample| {
        let p = weights.probability(&sample.features);
        let right = if sample.answered { p } else { 1.0 - p };
        -sample.weight * right.max(f64::MIN_POSITIVE).ln()
    };
    let distance: f64 = weights.0.iter().zip(prior.0).map(|(a, b)| (a - b).powi(2)).sum();
    samples.iter().map(surprise).sum::<f64>() + pull * distance / 2.0
}

/// One step of Newton's method; none where the samples decide nothing.
fn newton_step(
    samples: &[TrainingSample],
    weights: &ConfidenceCoefficients,
    prior: &ConfidenceCoefficients,
    pull: f64,
) -> Option<[f64; FEATURE_COUNT]> {
    let mut slope: [f64; FEATURE_COUNT] =
        std::array::from_fn(|i| pull * (prior.0[i] - weights.0[i]));
    let mut bend = [[0.0; FEATURE_COUNT]; FEATURE_COUNT];
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
fn solve(
    mut a: [[f64; FEATURE_COUNT]; FEATURE_COUNT],
    mut b: [f64; FEATURE_COUNT],
) -> Option<[f64; FEATURE_COUNT]> {
    for column in 0..FEATURE_COUNT {
        let pivot = (column..FEATURE_COUNT)
            .max_by(|i, j| a[*i][column].abs().total_cmp(&a[*j][column].abs()))?;
        if a[pivot][column].abs() < f64::EPSILON {
            return None;
        }
        a.swap(column, pivot);
        b.swap(column, pivot);
        for row in (0..FEATURE_COUNT).filter(|row| *row != column) {
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
    fn sample(x: f64, answered: bool) -> TrainingSample {
        let mut features = [0.0; FEATURE_COUNT];
        (features[0], features[1]) = (1.0, x);
        TrainingSample { features, answered, weight: 1.0 }
    }

    #[test]
    fn the_probability_of_what_was_seen_is_learned() {
        let often: Vec<_> = (0..100).map(|i| sample(1.0, i < 80)).collect();
        let seldom: Vec<_> = (0..100).map(|i| sample(0.0, i < 20)).collect();
        let weights = fit_coefficients(
            &[often, seldom].concat(),
            &ConfidenceCoefficients([0.0; FEATURE_COUNT]),
            1e-6,
        );
        assert!((weights.probability(&sample(1.0, true).features) - 0.8).abs() < 1e-3);
        assert!((weights.probability(&sample(0.0, true).features) - 0.2).abs() < 1e-3);
    }

    #[test]
    fn few_samples_leave_the_weights_where_they_were() {
        let prior = ConfidenceCoefficients::default();
        assert_eq!(fit_coefficients(&[], &prior, 1.0), prior);
        let moved = fit_coefficients(&[sample(1.0, true)], &prior, 100.0);
        let distance = moved.0.iter().zip(prior.0).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(distance < 0.02, "{moved:?}");
    }

    #[test]
    fn samples_that_are_told_apart_perfectly_do_not_run_away() {
        let samples: Vec<_> = (0..50).map(|i| sample(f64::from(i % 2), i % 2 == 1)).collect();
        let weights =
            fit_coefficients(&samples, &ConfidenceCoefficients([0.0; FEATURE_COUNT]), 1.0);
        assert!(weights.0.iter().all(|weight| weight.abs() < 20.0), "{weights:?}");
    }
}
