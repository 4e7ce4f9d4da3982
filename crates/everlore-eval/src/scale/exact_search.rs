//! The vector part of a recall by itself: the engine's store compares the query with every vector of a scope.

use anyhow::Result;
use everlore::{
    Scope,
    store::{DocAddress, Segment, SegmentVectors, Store},
    types::{EmbeddingModelId, Vector},
};
use everlore_kernel::dot;

/// Bytes of the scale before the values of a stored vector.
const SCALE_BYTES: usize = 4;

/// Returns the addresses of all vectors of a scope with their similarities to a query, read as a recall reads them.
pub(crate) async fn similarities(
    store: &dyn Store,
    scope: &Scope,
    model: &EmbeddingModelId,
    query: &Vector,
) -> Result<Vec<(f32, DocAddress)>> {
    loop {
        let segments = store.index().postings(scope, &[], Some(model)).await?;
        let unloaded: Vec<i64> = segments.iter().filter_map(unloaded_block).collect();
        let mut scored = Vec::new();
        if !unloaded.is_empty() {
            // Blocks that were merged meanwhile are read again.
            let Some(found) = store.index().similarities(scope, &unloaded, query).await? else {
                continue;
            };
            scored = found;
        }
        let mut scored = scored.into_iter();
        let of_segment = |segment: &Segment| match unloaded_block(segment) {
            Some(_) => scored.next().unwrap_or_default(),
            None => loaded_similarities(segment, query),
        };
        let found: Vec<Vec<f32>> = segments.iter().map(of_segment).collect();
        return Ok(with_addresses(&segments, found));
    }
}

/// Keeps the `limit` most similar, in no order.
pub(crate) fn nearest(mut all: Vec<(f32, DocAddress)>, limit: usize) -> Vec<(f32, DocAddress)> {
    if all.len() > limit {
        all.select_nth_unstable_by(limit, |a, b| b.0.total_cmp(&a.0));
        all.truncate(limit);
    }
    all
}

fn unloaded_block(segment: &Segment) -> Option<i64> {
    match segment.vectors {
        Some(SegmentVectors::Unloaded(block)) => Some(block),
        _ => None,
    }
}

fn loaded_similarities(segment: &Segment, query: &Vector) -> Vec<f32> {
    let Some(SegmentVectors::Loaded { bytes, vector_bytes }) = &segment.vectors else {
        return Vec::new();
    };
    let of = |stored: &[u8]| {
        let (scale, values) = stored.split_at(SCALE_BYTES);
        let scale = scale.try_into().map_or(0.0, f32::from_le_bytes);
        dot(&query.values, values) as f32 * scale * query.scale
    };
    bytes.chunks_exact(*vector_bytes).map(of).collect()
}

fn with_addresses(segments: &[Segment], found: Vec<Vec<f32>>) -> Vec<(f32, DocAddress)> {
    let mut all = Vec::with_capacity(found.iter().map(Vec::len).sum());
    for (segment, similarities) in segments.iter().zip(found) {
        let addressed = similarities.into_iter().enumerate();
        all.extend(addressed.map(|(doc, similarity)| (similarity, segment.docs.address(doc))));
    }
    all
}
