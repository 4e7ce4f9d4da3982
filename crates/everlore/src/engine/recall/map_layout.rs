//! Layout of a map of vectors: the two directions in which they differ most, evened out, with alike ones drawn together.
//!
//! The same vectors give the same map. The cost grows with their number, and with nothing else.

use crate::types::dot;

/// Groups towards whose middles points are drawn.
const GROUPS: usize = 24;

/// Rounds of the grouping; more move few points.
const GROUPING_ROUNDS: usize = 8;

/// Rounds that find a direction; the error shrinks with each.
const DIRECTION_ROUNDS: usize = 40;

/// Share of the way to the middle of its group by which a point is moved.
const PULL: f32 = 0.45;

/// Returns a place for each vector, with both coordinates from -1 to 1.
pub(super) fn place(vectors: &[Vec<f32>]) -> Vec<(f32, f32)> {
    let centred = centre(vectors);
    let covariance = covariance(&centred);
    let first = direction(&covariance, None);
    let second = direction(&covariance, Some(&first));
    let project =
        |axis: &[f32]| even_out(&centred.iter().map(|one| dot(one, axis)).collect::<Vec<_>>());
    let places: Vec<_> = project(&first).into_iter().zip(project(&second)).collect();
    draw_together(&places, &group(&centred))
}

fn add_to(sum: &mut [f32], one: &[f32]) {
    sum.iter_mut().zip(one).for_each(|(sum, value)| *sum += value);
}

fn centre(vectors: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let mut mean = vec![0.0; vectors.first().map_or(0, Vec::len)];
    vectors.iter().for_each(|one| add_to(&mut mean, one));
    mean.iter_mut().for_each(|value| *value /= vectors.len().max(1) as f32);
    vectors.iter().map(|one| one.iter().zip(&mean).map(|(a, b)| a - b).collect()).collect()
}

fn covariance(centred: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let size = centred.first().map_or(0, Vec::len);
    let mut sums = vec![vec![0.0; size]; size];
    for one in centred {
        for (row, value) in sums.iter_mut().zip(one) {
            row.iter_mut().zip(one).for_each(|(sum, other)| *sum += value * other);
        }
    }
    sums
}

/// Returns the direction of the largest spread, across an earlier one if given.
fn direction(covariance: &[Vec<f32>], across: Option<&[f32]>) -> Vec<f32> {
    // Unequal parts: no direction of the data is likely to stand across all of them.
    let mut axis: Vec<f32> = (0..covariance.len()).map(|at| 1.0 / (at + 1) as f32).collect();
    for _ in 0..DIRECTION_ROUNDS {
        axis = covariance.iter().map(|row| dot(row, &axis)).collect();
        if let Some(across) = across {
            let shared = dot(&axis, across);
            axis.iter_mut().zip(across).for_each(|(value, other)| *value -= shared * other);
        }
        let length = dot(&axis, &axis).sqrt();
        if length > 0.0 {
            axis.iter_mut().for_each(|value| *value /= length);
        }
    }
    axis
}

/// Returns values from -1 to 1: half by size and half by rank, so that a dense middle opens and outliers stay outside.
fn even_out(values: &[f32]) -> Vec<f32> {
    let largest = values.iter().fold(f32::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut evened = vec![0.0; values.len()];
    for (rank, at) in order.into_iter().enumerate() {
        let by_rank = (rank as f32 + 0.5) / values.len() as f32 * 2.0 - 1.0;
        evened[at] = (by_rank + values[at] / largest) / 2.0;
    }
    evened
}

/// Returns the group of each vector: k-means by angle, begun with vectors spread over the list.
fn group(centred: &[Vec<f32>]) -> Vec<usize> {
    let count = GROUPS.min(centred.len());
    let mut middles: Vec<Vec<f32>> =
        (0..count).map(|at| centred[at * centred.len() / count].clone()).collect();
    let mut groups = vec![0; centred.len()];
    for _ in 0..GROUPING_ROUNDS {
        let mut sums = vec![vec![0.0; centred.first().map_or(0, Vec::len)]; count];
        for (group, one) in groups.iter_mut().zip(centred) {
            *group = nearest(&middles, one);
            add_to(&mut sums[*group], one);
        }
        middles = sums.into_iter().map(normalize).collect();
    }
    groups
}

fn normalize(mut vector: Vec<f32>) -> Vec<f32> {
    let length = dot(&vector, &vector).sqrt().max(f32::MIN_POSITIVE);
    vector.iter_mut().for_each(|value| *value /= length);
    vector
}

fn nearest(middles: &[Vec<f32>], one: &[f32]) -> usize {
    let likeness = |middle: &Vec<f32>| dot(middle, one);
    let best =
        (0..middles.len()).max_by(|a, b| likeness(&middles[*a]).total_cmp(&likeness(&middles[*b])));
    best.unwrap_or(0)
}

fn draw_together(places: &[(f32, f32)], groups: &[usize]) -> Vec<(f32, f32)> {
    let mut sums = [(0.0f32, 0.0f32, 0.0f32); GROUPS];
    for ((x, y), group) in places.iter().zip(groups) {
        let (sum_x, sum_y, count) = &mut sums[*group];
        (*sum_x, *sum_y, *count) = (*sum_x + x, *sum_y + y, *count + 1.0);
    }
    let towards = |(x, y): (f32, f32), group: usize| {
        let (sum_x, sum_y, count) = sums[group];
        (x + (sum_x / count - x) * PULL, y + (sum_y / count - y) * PULL)
    };
    places.iter().zip(groups).map(|(place, group)| towards(*place, *group)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clouds() -> Vec<Vec<f32>> {
        let wobble = |at: usize| (at as f32 * 0.7).sin() * 0.1;
        (0..90)
            .map(|at| {
                let mut vector = vec![wobble(at), wobble(at + 1), wobble(at + 2), wobble(at + 3)];
                vector[at % 3] += 1.0;
                vector
            })
            .collect()
    }

    #[test]
    fn alike_vectors_lie_closer_than_others_the_same_way_each_time() {
        let places = place(&clouds());
        assert_eq!(places, place(&clouds()));
        let distance = |a: usize, b: usize| {
            let ((ax, ay), (bx, by)) = (places[a], places[b]);
            (ax - bx).hypot(ay - by)
        };
        let mean = |offset: usize| (0..60).map(|at| distance(at, at + offset)).sum::<f32>() / 60.0;
        assert!(mean(3) * 2.0 < mean(1), "{} {}", mean(3), mean(1));
        assert!(places.iter().all(|(x, y)| x.abs() <= 1.0 && y.abs() <= 1.0));
    }

    #[test]
    fn nothing_one_and_equal_vectors_have_places() {
        assert_eq!(place(&[]), []);
        for vectors in [vec![vec![1.0, 2.0]], vec![vec![0.5, 0.5]; 7], vec![vec![0.0; 3]; 2]] {
            let places = place(&vectors);
            assert_eq!(places.len(), vectors.len());
            assert!(places.iter().all(|(x, y)| x.is_finite() && y.is_finite()), "{places:?}");
        }
    }
}
