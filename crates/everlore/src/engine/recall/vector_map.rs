//! Map of the memories of a scope by their vectors: what lies close means about the same.

use std::collections::HashMap;

use serde::Serialize;

use super::map_layout;
use crate::{
    engine::Engine,
    error::Result,
    store::{DocAddress, MemoryFilter, Segment, SegmentVectors},
    types::{Kind, Memory, MemoryId, Scope, Status, Timestamp, Vector},
};

/// Random directions onto which vectors are projected before the layout. Distances keep their order well enough for a
/// picture, and a store can project vectors that it does not load.
const DIRECTIONS: usize = 32;

/// Seed of the random directions: the same vectors give the same map everywhere.
const SEED: u64 = 0x6c6f_7265_6d61_7031;

/// Longest title of a point in characters.
const TITLE_CHARS: usize = 80;

/// Request for a map.
#[derive(Debug, Clone)]
pub struct MapRequest {
    /// Filter of the memories; it ignores tags and sessions.
    pub filter: MemoryFilter,
    /// Most points; the newest memories count.
    pub limit: usize,
}

/// Memories as points in a plane.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct VectorMap {
    /// Embedding model of the vectors; `None` if the store has none.
    pub model: Option<String>,
    /// Points, the newest first.
    pub points: Vec<MapPoint>,
    /// Number of memories that match, points or not.
    pub total: usize,
    /// Number of memories among the newest that have no vector yet.
    pub waiting: usize,
}

/// Memory on the map.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MapPoint {
    /// Id of the memory.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub id: MemoryId,
    /// Place from left (-1) to right (1).
    pub x: f32,
    /// Place from bottom (-1) to top (1).
    pub y: f32,
    /// Kind.
    pub kind: Kind,
    /// Status.
    pub status: Status,
    /// Weight now.
    pub weight: f64,
    /// Time at which it was said.
    #[cfg_attr(feature = "schema", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
    /// Beginning of its text.
    pub title: String,
    /// Newer memory that takes its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub superseded_by: Option<MemoryId>,
}

impl Engine {
    /// Returns the memories of a scope as points: close ones mean about the same. Memories without a vector are left out.
    /// Fails if the store fails.
    pub async fn vector_map(&self, scope: &Scope, request: &MapRequest) -> Result<VectorMap> {
        let Some(model) = self.store.vectors().model().await? else {
            return Ok(VectorMap { model: None, points: Vec::new(), total: 0, waiting: 0 });
        };
        let segments = self.store.index().postings(scope, &[], Some(&model)).await?;
        let (chosen, total) = newest_docs(&segments, request);
        let axes = random_directions(model.dimensions);
        let projected = self.project(scope, &segments, &chosen, &axes).await?;
        let (addresses, vectors): (Vec<_>, Vec<_>) = projected.into_iter().unzip();
        let places: HashMap<DocAddress, (f32, f32)> =
            addresses.iter().copied().zip(map_layout::place(&vectors)).collect();
        let found = self.store.memories().by_address(scope, &addresses).await?;
        let now = self.now().timestamp();
        let mut points: Vec<MapPoint> = found
            .into_iter()
            .filter_map(|(address, memory)| Some(map_point(&memory, *places.get(&address)?, now)))
            .collect();
        points.sort_by_key(|point| std::cmp::Reverse((point.at, point.id)));
        let waiting = chosen.len() - addresses.len();
        Ok(VectorMap { model: Some(model.name), points, total, waiting })
    }

    /// Returns the similarities of documents to each axis; documents without a vector are left out.
    async fn project(
        &self,
        scope: &Scope,
        segments: &[Segment],
        chosen: &[MapDoc],
        axes: &[Vector],
    ) -> Result<Vec<(DocAddress, Vec<f32>)>> {
        let mut rows: Vec<Vec<f32>> = vec![Vec::with_capacity(axes.len()); chosen.len()];
        for axis in axes {
            let scored = self.score_unloaded(scope, segments, axis).await?;
            for (row, doc) in rows.iter_mut().zip(chosen) {
                let vectors = scored.get(&doc.segment).or(segments[doc.segment].vectors.as_ref());
                row.extend(vectors.and_then(|vectors| vectors.similarity(doc.doc, axis)));
            }
        }
        let addresses = chosen.iter().map(|doc| segments[doc.segment].docs.address(doc.doc));
        Ok(addresses.zip(rows).filter(|(_, row)| row.len() == axes.len()).collect())
    }

    /// Returns the scores of the segments whose vectors are too large to be loaded, by the number of the segment.
    async fn score_unloaded(
        &self,
        scope: &Scope,
        segments: &[Segment],
        axis: &Vector,
    ) -> Result<HashMap<usize, SegmentVectors>> {
        let unloaded =
            segments.iter().enumerate().filter_map(|(number, segment)| match segment.vectors {
                Some(SegmentVectors::Unloaded(block)) => Some((number, block)),
                _ => None,
            });
        let (numbers, blocks): (Vec<usize>, Vec<i64>) = unloaded.unzip();
        if blocks.is_empty() {
            return Ok(HashMap::new());
        }
        let scores = self.store.index().similarities(scope, &blocks, axis).await?;
        let scored = scores.unwrap_or_default().into_iter().map(SegmentVectors::Scored);
        Ok(numbers.into_iter().zip(scored).collect())
    }
}

/// Document of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MapDoc {
    segment: usize,
    doc: usize,
}

/// Returns the newest documents that match, and how many match in all.
fn newest_docs(segments: &[Segment], request: &MapRequest) -> (Vec<MapDoc>, usize) {
    let mut matching: Vec<(Timestamp, DocAddress, MapDoc)> = Vec::new();
    for (segment, Segment { docs, .. }) in segments.iter().enumerate() {
        for doc in (0..docs.len()).filter(|doc| !docs.is_deleted(*doc)) {
            if request.filter.matches_doc(docs.kind(doc), docs.status(doc), || docs.at(doc)) {
                matching.push((docs.at(doc), docs.address(doc), MapDoc { segment, doc }));
            }
        }
    }
    let total = matching.len();
    matching.sort_unstable_by_key(|(at, address, _)| std::cmp::Reverse((*at, *address)));
    matching.truncate(request.limit);
    (matching.into_iter().map(|(_, _, doc)| doc).collect(), total)
}

/// Returns directions whose parts are -1 or 1, the same ones each time.
fn random_directions(dimensions: usize) -> Vec<Vector> {
    let mut state = SEED;
    let mut next_sign = || {
        // splitmix64: short, and good enough for signs.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        if (mixed >> 31) & 1 == 0 { 1.0 } else { -1.0 }
    };
    (0..DIRECTIONS)
        .map(|_| Vector::quantize(&(0..dimensions).map(|_| next_sign()).collect::<Vec<f32>>()))
        .collect()
}

fn map_point(memory: &Memory, (x, y): (f32, f32), now: Timestamp) -> MapPoint {
    let line = memory.content.trim_start().lines().next().unwrap_or_default();
    MapPoint {
        x,
        y,
        title: line.chars().take(TITLE_CHARS).collect(),
        weight: memory.weight_at(now),
        id: memory.id,
        kind: memory.kind,
        status: memory.status,
        at: memory.at,
        superseded_by: memory.superseded_by,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{ingest::RememberRequest, llm::BuiltinEmbedder, store::RamStore};

    #[test]
    fn directions_are_the_same_each_time_and_differ() {
        let directions = random_directions(64);
        assert_eq!(directions, random_directions(64));
        assert!(directions.windows(2).all(|pair| pair[0] != pair[1]));
    }

    async fn engine_with(scope: &Scope, texts: &[&str]) -> Engine {
        let store = Arc::new(RamStore::default());
        let engine = Engine::builder(store).embedder(Arc::new(BuiltinEmbedder::new())).build();
        for text in texts {
            engine.remember(scope, RememberRequest::new(*text)).await.unwrap();
        }
        engine.flush(std::time::Duration::from_secs(30)).await;
        engine
    }

    #[tokio::test]
    async fn the_map_has_the_newest_memories_of_its_scope_and_no_others() {
        let (scope, other) = (Scope::default(), Scope::new("default", "li").unwrap());
        let texts = [
            "I drink green tea",
            "我喜欢喝龙井茶",
            "the cluster restarts on Fridays",
            "deploys run from main",
        ];
        let engine = engine_with(&scope, &texts).await;
        let request = |limit| MapRequest { filter: MemoryFilter::default(), limit };
        let map = engine.vector_map(&scope, &request(3)).await.unwrap();
        assert_eq!((map.points.len() + map.waiting, map.total), (3, 4));
        assert!(
            map.points.iter().all(|point| texts[1..].contains(&point.title.as_str())),
            "{map:?}"
        );
        let again = engine.vector_map(&scope, &request(3)).await.unwrap();
        let places = |map: &VectorMap| -> Vec<_> {
            map.points.iter().map(|point| (point.id, point.x, point.y)).collect()
        };
        assert_eq!(places(&map), places(&again), "the same memories lie where they lay");
        let foreign = engine.vector_map(&other, &request(9)).await.unwrap();
        assert_eq!((foreign.points, foreign.total), (Vec::new(), 0));
    }

    #[tokio::test]
    async fn a_store_without_vectors_has_no_map_and_says_so() {
        let engine = Engine::new(Arc::new(RamStore::default()));
        engine.remember(&Scope::default(), RememberRequest::new("tea 茶")).await.unwrap();
        let request = MapRequest { filter: MemoryFilter::default(), limit: 9 };
        let map = engine.vector_map(&Scope::default(), &request).await.unwrap();
        assert_eq!((map.model, map.points), (None, Vec::new()));
    }
}
