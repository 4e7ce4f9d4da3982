//! Batching, retry delays and vector validation for remote embedding models.

use std::{ops::Range, time::Duration};

/// Splits a list of lengths into ranges of at most `max_texts` texts and `max_chars` characters; a longer text goes
/// alone.
pub(super) fn split_batches(
    lengths: &[usize],
    max_texts: usize,
    max_chars: usize,
) -> Vec<Range<usize>> {
    let (mut ranges, mut start, mut sum) = (Vec::new(), 0, 0);
    for (index, length) in lengths.iter().enumerate() {
        if index > start && (index - start >= max_texts || sum + length > max_chars) {
            ranges.push(start..index);
            (start, sum) = (index, 0);
        }
        sum += length;
    }
    if start < lengths.len() {
        ranges.push(start..lengths.len());
    }
    ranges
}

/// Number of retries and the pauses between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Retries after the first attempt.
    pub retries: u32,
    /// First pause; each further one is twice as long.
    pub first_pause: Duration,
    /// Longest pause. A server that asks for a longer one is given up.
    pub max_pause: Duration,
}

impl RetryPolicy {
    /// Returns the pause before a retry, counted from 0, or `None` to give up. `jitter`, from 0 to 1, spreads clients
    /// that wait for the same server.
    pub(super) fn pause_before(
        &self,
        retry: u32,
        after: Option<Duration>,
        jitter: f64,
    ) -> Option<Duration> {
        if retry >= self.retries {
            return None;
        }
        match after {
            Some(after) if after > self.max_pause => None,
            // Never before the requested time, and a little after it.
            Some(after) => Some(after + self.first_pause.mul_f64(jitter)),
            None => {
                let full = self.first_pause.saturating_mul(1 << retry.min(16)).min(self.max_pause);
                Some(full.mul_f64(0.5 + jitter / 2.0))
            }
        }
    }
}

/// Normalizes vectors to length 1, or returns the problem with them. `dimensions` 0 accepts any size.
pub(super) fn check_vectors(
    vectors: Vec<Vec<f32>>,
    texts: usize,
    dimensions: usize,
) -> Result<Vec<Vec<f32>>, String> {
    if vectors.len() != texts {
        return Err(format!("has {} vectors for {texts} texts", vectors.len()));
    }
    let expected = if dimensions > 0 { dimensions } else { vectors.first().map_or(0, Vec::len) };
    vectors.into_iter().map(|vector| normalized(vector, expected)).collect()
}

fn normalized(mut vector: Vec<f32>, dimensions: usize) -> Result<Vec<f32>, String> {
    if vector.len() != dimensions || dimensions == 0 {
        return Err(format!("has a vector of {} numbers instead of {dimensions}", vector.len()));
    }
    let length = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    if !length.is_finite() {
        return Err("has a vector with values that are not finite".to_owned());
    }
    if length == 0.0 {
        return Err("has a vector of zeros".to_owned());
    }
    vector.iter_mut().for_each(|number| *number = (f64::from(*number) / length) as f32);
    Ok(vector)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn runs_keep_the_order_lose_nothing_and_stay_within_the_limits(
            lengths in vec(0_usize..50, 0..100), most in 1_usize..10, chars in 1_usize..100,
        ) {
            let runs = split_batches(&lengths, most, chars);
            let together: Vec<usize> = runs.iter().cloned().flatten().collect();
            prop_assert_eq!(together, (0..lengths.len()).collect::<Vec<_>>());
            for run in runs {
                prop_assert!(!run.is_empty() && run.len() <= most);
                prop_assert!(run.len() == 1 || lengths[run].iter().sum::<usize>() <= chars);
            }
        }
    }

    const POLICY: RetryPolicy = RetryPolicy {
        retries: 3,
        first_pause: Duration::from_secs(1),
        max_pause: Duration::from_secs(30),
    };

    #[test]
    fn pauses_double_and_end() {
        let pause =
            |retry, jitter| POLICY.pause_before(retry, None, jitter).map(|pause| pause.as_millis());
        assert_eq!(
            (0..4).map(|n| pause(n, 1.0)).collect::<Vec<_>>(),
            [Some(1_000), Some(2_000), Some(4_000), None]
        );
        assert_eq!(pause(1, 0.0), Some(1_000), "jitter halves a pause at most");
        let long = RetryPolicy { retries: 99, ..POLICY };
        assert_eq!(long.pause_before(60, None, 1.0), Some(long.max_pause));
    }

    #[test]
    fn a_server_that_names_a_time_is_not_asked_before() {
        let after = Duration::from_secs(7);
        assert!(POLICY.pause_before(0, Some(after), 0.0).unwrap() >= after);
        assert!(POLICY.pause_before(0, Some(after), 1.0).unwrap() <= after + POLICY.first_pause);
        assert_eq!(
            POLICY.pause_before(0, Some(Duration::from_secs(3_600)), 0.5),
            None,
            "an hour is too long"
        );
    }

    #[test]
    fn vectors_are_brought_to_length_one() {
        assert_eq!(check_vectors(vec![vec![3.0, 4.0]], 1, 0).unwrap(), [[0.6, 0.8]]);
        assert_eq!(
            check_vectors(vec![vec![3e38, 3e38]], 1, 2).unwrap().len(),
            1,
            "the largest numbers too"
        );
    }

    #[test]
    fn what_cannot_be_believed_is_refused() {
        let refused = |vectors: &[&[f32]], texts, dimensions| {
            check_vectors(vectors.iter().map(|vector| vector.to_vec()).collect(), texts, dimensions)
                .unwrap_err()
        };
        assert!(refused(&[&[1.0]], 2, 0).contains("1 vectors for 2 texts"));
        assert!(refused(&[&[1.0, 0.0], &[1.0]], 2, 0).contains("1 numbers instead of 2"));
        assert!(refused(&[&[1.0]], 1, 3).contains("1 numbers instead of 3"));
        assert!(refused(&[&[]], 1, 0).contains("0 numbers"));
        assert!(refused(&[&[f32::NAN]], 1, 0).contains("not finite"));
        assert!(refused(&[&[f32::INFINITY]], 1, 0).contains("not finite"));
        assert!(refused(&[&[0.0, 0.0]], 1, 0).contains("zeros"));
    }
}
