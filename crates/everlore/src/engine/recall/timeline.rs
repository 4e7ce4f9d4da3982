//! Timeline: the memories around a moment, found through the index; only returned memories are read.

use crate::{
    engine::Engine,
    error::Result,
    store::{DocAddress, MemoryFilter, Segment},
    types::{Memory, Scope, Timestamp},
};

/// Most memories of one and the same moment: so many are an import; of more, those stored first count.
const MAX_SIMULTANEOUS: usize = 1_000;

/// Request for the memories around a moment.
#[derive(Debug, Clone)]
pub struct TimelineRequest {
    /// The moment.
    pub at: Timestamp,
    /// Filter of the memories; it ignores tags and sessions.
    pub filter: MemoryFilter,
    /// Most memories before the moment.
    pub before: usize,
    /// Most memories after the moment.
    pub after: usize,
}

impl Engine {
    /// Returns the memories nearest to a moment, before, at and after it, in order of time. Fails if the store fails.
    pub async fn timeline(&self, scope: &Scope, request: &TimelineRequest) -> Result<Vec<Memory>> {
        let segments = self.store.index().postings(scope, &[], None).await?;
        let found =
            self.store.memories().by_address(scope, &nearest_in_time(&segments, request)).await?;
        let mut memories: Vec<Memory> = found.into_iter().map(|(_, memory)| memory).collect();
        memories.sort_by_key(|memory| (memory.at, memory.id));
        Ok(memories)
    }

    /// Returns every memory that matches a filter and has all its tags, in the order of storage.
    #[cfg(feature = "compat-tools")]
    pub(crate) async fn list_by_tags(
        &self,
        scope: &Scope,
        filter: &MemoryFilter,
    ) -> Result<Vec<Memory>> {
        let segments = self.store.index().postings(scope, &filter.required_terms(), None).await?;
        let addresses: Vec<DocAddress> = segments.iter().flat_map(docs_with_all_terms).collect();
        let found = self.store.memories().by_address(scope, &addresses).await?;
        let mut memories: Vec<Memory> = found.into_iter().map(|(_, memory)| memory).collect();
        memories.retain(|memory| filter.matches(memory));
        memories.sort_by_key(|memory| memory.id);
        Ok(memories)
    }
}

/// Returns the addresses of the nearest documents, in no order.
fn nearest_in_time(segments: &[Segment], request: &TimelineRequest) -> Vec<DocAddress> {
    let (mut before, mut same, mut after) = (Vec::new(), Vec::new(), Vec::new());
    for Segment { docs, .. } in segments {
        for doc in (0..docs.len()).filter(|doc| !docs.is_deleted(*doc)) {
            let at = docs.at(doc);
            if request.filter.matches_doc(docs.kind(doc), docs.status(doc), || at) {
                let side = match at.cmp(&request.at) {
                    std::cmp::Ordering::Less => &mut before,
                    std::cmp::Ordering::Equal => &mut same,
                    std::cmp::Ordering::Greater => &mut after,
                };
                side.push((at, docs.address(doc)));
            }
        }
    }
    before.sort_unstable_by(|a, b| b.cmp(a));
    same.sort_unstable();
    after.sort_unstable();
    let sides = [(before, request.before), (same, MAX_SIMULTANEOUS), (after, request.after)];
    sides
        .into_iter()
        .flat_map(|(side, most)| side.into_iter().take(most))
        .map(|(_, address)| address)
        .collect()
}

/// Returns the documents of a segment that have every requested term.
#[cfg(feature = "compat-tools")]
fn docs_with_all_terms(segment: &Segment) -> impl Iterator<Item = DocAddress> + '_ {
    let mut lists = segment.postings.iter();
    let first = lists.next().into_iter().flatten().map(|posting| posting.doc);
    let rest: Vec<_> = lists.collect();
    let has = |list: &[crate::store::Posting], doc: u32| {
        list.binary_search_by_key(&doc, |posting| posting.doc).is_ok()
    };
    first
        .filter(move |doc| rest.iter().all(|list| has(list, *doc)))
        .map(|doc| doc as usize)
        .filter(|doc| !segment.docs.is_deleted(*doc))
        .map(|doc| segment.docs.address(doc))
}
