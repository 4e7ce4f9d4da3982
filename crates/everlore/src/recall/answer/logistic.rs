//! Fitting the confidence model: logistic regression by Newton's method, regularized towards the coefficients it starts
//! from.

use super::confidence::{ConfidenceCoefficients, FEATURE_COUNT};

/// Maximum number of Newton steps: the method converges in a handful of them or not at all.
const MAX_NEWTON_STEPS: usize = 30;

/// Gain of a step below which the fit has converged: it changes no displayed confidence.
const MIN_GAIN: f64 = 1e-9;

/// Maximum number of halvings of a step; a step that is still too long then leads nowhere.
const MAX_HALVINGS: usize = 12;

/// Features of a question, labelled with whether its best hit answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainingSample {
    /// Inputs, as [`super::ConfidenceFeatures::features`] returns them.
    pub features: [f64; FEATURE_COUNT],
    /// `true` if the best hit answers the question.
    pub answered: bool,
    /// Weight of the sample beside the others.
    pub weight: f64,
}

/// Fits coefficients by maximum likelihood with an L2 penalty `pull` on the distance to `prior`: the more samples, the
/// less the penalty matters.
pub fn fit_coefficients(
    samples: &[TrainingSample],
    prior: &ConfidenceCoefficients,
    pull: f64,
) -> ConfidenceCoefficients {
    let mut coefficients = *prior;
    let mut loss = regularized_loss(samples, &coefficients, prior, pull);
    for _ in 0..MAX_NEWTON_STEPS {
        let Some(step) = newton_step(samples, &coefficients, prior, pull) else { break };
        let tried = halved_steps(&coefficients, &step)
            .map(|to| (regularized_loss(samples, &to, prior, pull), to));
        let Some((less, better)) = tried.into_iter().find(|(less, _)| *less < loss) else { break };
        let gain = loss - less;
        (coefficients, loss) = (better, less);
        if gain < MIN_GAIN {
            break;
        }
    }
    coefficients
}

/// Returns the ends of the full step, half of it, and so on: a full step can overshoot at extreme confidences.
fn halved_steps(
    from: &ConfidenceCoefficients,
    step: &[f64; FEATURE_COUNT],
) -> [ConfidenceCoefficients; MAX_HALVINGS] {
    let at =
        |share: f64| ConfidenceCoefficients(std::array::from_fn(|i| from.0[i] + share * step[i]));
    std::array::from_fn(|halved| at(0.5f64.powi(halved as i32)))
}

/// Returns the negative log likelihood of the samples plus the L2 penalty.
fn regularized_loss(
    samples: &[TrainingSample],
    coefficients: &ConfidenceCoefficients,
    prior: &ConfidenceCoefficients,
    pull: f64,
) -> f64 {
    let sample_loss = |sample: &TrainingSample| {
        let p = coefficients.probability(&sample.features);
        let likelihood = if sample.answered { p } else { 1.0 - p };
        -sample.weight * likelihood.max(f64::MIN_POSITIVE).ln()
    };
    let distance: f64 = coefficients.0.iter().zip(prior.0).map(|(a, b)| (a - b).powi(2)).sum();
    samples.iter().map(sample_loss).sum::<f64>() + pull * distance / 2.0
}

/// Returns one Newton step; `None` if the Hessian is singular.
fn newton_step(
    samples: &[TrainingSample],
    coefficients: &ConfidenceCoefficients,
    prior: &ConfidenceCoefficients,
    pull: f64,
) -> Option<[f64; FEATURE_COUNT]> {
    let mut gradient: [f64; FEATURE_COUNT] =
        std::array::from_fn(|i| pull * (prior.0[i] - coefficients.0[i]));
    let mut hessian = [[0.0; FEATURE_COUNT]; FEATURE_COUNT];
    for (i, row) in hessian.iter_mut().enumerate() {
        row[i] = pull;
    }
    for sample in samples {
        let p = coefficients.probability(&sample.features);
        let (error, variance) = (f64::from(u8::from(sample.answered)) - p, p * (1.0 - p));
        for (i, x) in sample.features.iter().enumerate() {
            gradient[i] += sample.weight * error * x;
            for (j, y) in sample.features.iter().enumerate() {
                hessian[i][j] += sample.weight * variance * x * y;
            }
        }
    }
    solve(hessian, gradient)
}

/// Solves a system of linear equations by Gauss-Jordan elimination with partial pivoting.
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

    /// Creates a sample with one feature beside the constant one.
    fn sample(x: f64, answered: bool) -> TrainingSample {
        let mut features = [0.0; FEATURE_COUNT];
        (features[0], features[1]) = (1.0, x);
        TrainingSample { features, answered, weight: 1.0 }
    }

    #[test]
    fn the_probability_of_what_was_seen_is_learned() {
        let often: Vec<_> = (0..100).map(|i| sample(1.0, i < 80)).collect();
        let seldom: Vec<_> = (0..100).map(|i| sample(0.0, i < 20)).collect();
        let fitted = fit_coefficients(
            &[often, seldom].concat(),
            &ConfidenceCoefficients([0.0; FEATURE_COUNT]),
            1e-6,
        );
        assert!((fitted.probability(&sample(1.0, true).features) - 0.8).abs() < 1e-3);
        assert!((fitted.probability(&sample(0.0, true).features) - 0.2).abs() < 1e-3);
    }

    #[test]
    fn few_samples_leave_the_weights_where_they_were() {
        let prior = ConfidenceCoefficients::default();
        assert_eq!(fit_coefficients(&[], &prior, 1.0), prior);
        let fitted = fit_coefficients(&[sample(1.0, true)], &prior, 100.0);
        let distance = fitted.0.iter().zip(prior.0).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(distance < 0.02, "{fitted:?}");
    }

    #[test]
    fn samples_that_are_told_apart_perfectly_do_not_run_away() {
        let samples: Vec<_> = (0..50).map(|i| sample(f64::from(i % 2), i % 2 == 1)).collect();
        let fitted = fit_coefficients(&samples, &ConfidenceCoefficients([0.0; FEATURE_COUNT]), 1.0);
        assert!(fitted.0.iter().all(|coefficient| coefficient.abs() < 20.0), "{fitted:?}");
    }
}
