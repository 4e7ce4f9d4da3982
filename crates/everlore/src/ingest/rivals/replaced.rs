//! Statements that a newer one replaces by the classifier, which understands changes that no rule names: "Grandma
//! picks up the kids", "Grandma hurt her back, so Dad picks up the kids now".
//!
//! It was taught by pairs about one matter, so two statements must resemble each other first: by the static table, which
//! takes microseconds, and then by the encoder.

use std::sync::Arc;

use super::super::extract::SentenceJudge;
use crate::{error::Result, sync::run_blocking, types::Memory};

/// Nearest statements that are compared, and those that the encoder reads: each of the latter takes some milliseconds.
const MAX_COMPARED: usize = 8;
const MAX_READ: usize = 3;

/// Least cosine by the static table: nine in ten pairs of an older statement and one that replaces it reach it, and one in
/// seven pairs that have nothing in common.
const MIN_QUICK_COSINE: f32 = 0.15;

/// Least cosine by the encoder: seven in ten of the former reach it, and one in a hundred of the latter.
const MIN_COSINE: f32 = 0.4;

/// Least log odds of the classifier. Of unread pairs, written to be hard, a third of the changes are above it and 1 of 116
/// that stand; at 8, half of the changes and 2%.
const MIN_LOG_ODDS: f32 = 9.0;

/// Returns the statements, nearest first, that no longer hold after a new one; none without a classifier.
pub(super) async fn replaced_statements(
    judge: Option<&Arc<dyn SentenceJudge>>,
    new: &str,
    near: Vec<Memory>,
) -> Result<Vec<Memory>> {
    let Some(judge) = judge.filter(|_| !near.is_empty()).cloned() else { return Ok(Vec::new()) };
    let new = new.to_owned();
    run_blocking(move || judge_replaced(&*judge, &new, near)).await
}

fn judge_replaced(judge: &dyn SentenceJudge, new: &str, near: Vec<Memory>) -> Result<Vec<Memory>> {
    let quick = judge.quick_vector(new);
    let mut near: Vec<Memory> = near
        .into_iter()
        .take(MAX_COMPARED)
        .filter(|old| dot(&quick, &judge.quick_vector(&old.content)) >= MIN_QUICK_COSINE)
        .take(MAX_READ)
        .collect();
    if near.is_empty() {
        return Ok(near);
    }
    let vector = judge.text_vector(new)?;
    let is_replaced = |old: &Memory| -> Result<bool> {
        Ok(dot(&vector, &judge.text_vector(&old.content)?) >= MIN_COSINE
            && judge.replaces_log_odds(&old.content, new)? >= MIN_LOG_ODDS)
    };
    let replaced: Vec<bool> = near.iter().map(is_replaced).collect::<Result<_>>()?;
    let mut replaced = replaced.into_iter();
    near.retain(|_| replaced.next() == Some(true));
    Ok(near)
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}
