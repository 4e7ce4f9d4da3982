//! Logistic regression, fitted by Newton's method, regularized towards the coefficients it starts
//! from.

/// Maximum number of Newton steps: the method converges in a handful of them or not at all.
const MAX_NEWTON_STEPS: usize = 30;

/// Gain of a step below which the fit has converged: it changes no displayed confidence.
const MIN_GAIN: f64 = 1e-9;

/// Maximum number of halvings of a step; a step that is still too long then leads nowhere.
const MAX_HALVINGS: usize = 12;

/// Inputs of a case, labelled with its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingSample {
    /// Inputs, as many as there are coefficients.
    pub features: Vec<f64>,
    /// Outcome, such as `true` if the best hit answers the question.
    pub answered: bool,
    /// Weight of the sample beside the others.
    pub weight: f64,
}

/// Fits the coefficients of a logistic regression by maximum likelihood with an L2 penalty `pull` on the distance to
/// `prior`: the more samples, the less the penalty matters.
pub fn fit_logistic(samples: &[TrainingSample], prior: &[f64], pull: f64) -> Vec<f64> {
    let mut coefficients = prior.to_vec();
    let mut loss = regularized_loss(samples, &coefficients, prior, pull);
    for _ in 0..MAX_NEWTON_STEPS {
        let Some(step) = newton_step(samples, &coefficients, prior, pull) else { break };
        let better = halved_steps(&coefficients, &step)
            .map(|to| (regularized_loss(samples, &to, prior, pull), to))
            .find(|(less, _)| *less < loss);
        let Some((less, better)) = better else { break };
        let gain = loss - less;
        (coefficients, loss) = (better, less);
        if gain < MIN_GAIN {
            break;
        }
    }
    coefficients
}

/// Returns the probability of the outcome.
pub fn logistic(coefficients: &[f64], features: &[f64]) -> f64 {
    sigmoid(dot(coefficients, features))
}

/// Returns 1 / (1 + e^-x).
pub(super) fn sigmoid(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns the ends of the full step, half of it, and so on: a full step can overshoot at extreme confidences.
fn halved_steps<'a>(from: &'a [f64], step: &'a [f64]) -> impl Iterator<Item = Vec<f64>> + 'a {
    (0..MAX_HALVINGS).map(move |halved| {
        let share = 0.5f64.powi(halved as i32);
        from.iter().zip(step).map(|(from, step)| from + share * step).collect()
    })
}

/// Returns the negative log likelihood of the samples plus the L2 penalty.
fn regularized_loss(
    samples: &[TrainingSample],
    coefficients: &[f64],
    prior: &[f64],
    pull: f64,
) -> f64 {
    let sample_loss = |sample: &TrainingSample| {
        let p = logistic(coefficients, &sample.features);
        let likelihood = if sample.answered { p } else { 1.0 - p };
        -sample.weight * likelihood.max(f64::MIN_POSITIVE).ln()
    };
    let distance: f64 = coefficients.iter().zip(prior).map(|(a, b)| (a - b).powi(2)).sum();
    samples.iter().map(sample_loss).sum::<f64>() + pull * distance / 2.0
}

/// Returns one Newton step; `None` if the Hessian is singular.
fn newton_step(
    samples: &[TrainingSample],
    coefficients: &[f64],
    prior: &[f64],
    pull: f64,
) -> Option<Vec<f64>> {
    let count = prior.len();
    let mut gradient: Vec<f64> =
        prior.iter().zip(coefficients).map(|(prior, now)| pull * (prior - now)).collect();
    let mut hessian = vec![vec![0.0; count]; count];
    for (i, row) in hessian.iter_mut().enumerate() {
        row[i] = pull;
    }
    for sample in samples {
        let p = logistic(coefficients, &sample.features);
        let (error, variance) = (f64::from(u8::from(sample.answered)) - p, p * (1.0 - p));
        for (i, x) in sample.features.iter().enumerate() {
            gradient[i] += sample.weight * error * x;
            let scale = sample.weight * variance * x;
            hessian[i].iter_mut().zip(&sample.features).for_each(|(sum, y)| *sum += scale * y);
        }
    }
    solve(hessian, gradient)
}

/// Solves a system of linear equations by Gauss-Jordan elimination with partial pivoting.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let count = b.len();
    for column in 0..count {
        let pivot =
            (column..count).max_by(|i, j| a[*i][column].abs().total_cmp(&a[*j][column].abs()))?;
        if a[pivot][column].abs() < f64::EPSILON {
            return None;
        }
        a.swap(column, pivot);
        b.swap(column, pivot);
        let above = a[column].clone();
        for row in (0..count).filter(|row| *row != column) {
            let factor = a[row][column] / above[column];
            a[row].iter_mut().zip(&above).for_each(|(value, above)| *value -= factor * above);
            b[row] -= factor * b[column];
        }
    }
    Some((0..count).map(|i| b[i] / a[i][i]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a sample with one feature beside the constant one.
    fn sample(x: f64, answered: bool) -> TrainingSample {
        TrainingSample { features: vec![1.0, x], answered, weight: 1.0 }
    }

    #[test]
    fn the_probability_of_what_was_seen_is_learned() {
        let often: Vec<_> = (0..100).map(|i| sample(1.0, i < 80)).collect();
        let seldom: Vec<_> = (0..100).map(|i| sample(0.0, i < 20)).collect();
        let fitted = fit_logistic(&[often, seldom].concat(), &[0.0, 0.0], 1e-6);
        assert!((logistic(&fitted, &[1.0, 1.0]) - 0.8).abs() < 1e-3);
        assert!((logistic(&fitted, &[1.0, 0.0]) - 0.2).abs() < 1e-3);
    }

    #[test]
    fn few_samples_leave_the_weights_where_they_were() {
        let prior = [-3.0, 2.0];
        assert_eq!(fit_logistic(&[], &prior, 1.0), prior);
        let fitted = fit_logistic(&[sample(1.0, true)], &prior, 100.0);
        let distance = fitted.iter().zip(prior).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(distance < 0.02, "{fitted:?}");
    }

    #[test]
    fn samples_that_are_told_apart_perfectly_do_not_run_away() {
        let samples: Vec<_> = (0..50).map(|i| sample(f64::from(i % 2), i % 2 == 1)).collect();
        let fitted = fit_logistic(&samples, &[0.0, 0.0], 1.0);
        assert!(fitted.iter().all(|coefficient| coefficient.abs() < 20.0), "{fitted:?}");
    }
}
