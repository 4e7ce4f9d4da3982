//! Activity by day, counted through the index; no memory is read.

use std::collections::BTreeMap;

use jiff::civil::Date;
use serde::Serialize;

use crate::{
    engine::Engine,
    error::Result,
    store::Segment,
    types::{Kind, Scope, Timestamp},
};

/// Memories and turns of one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ActiveDay {
    /// Day (UTC), such as `2026-03-02`.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub day: Date,
    /// Memories of that day, turns and records aside.
    pub memories: usize,
    /// Turns of that day.
    pub turns: usize,
}

impl Engine {
    /// Counts the memories and turns said since a moment, by day, oldest first; days without any are left out. Fails if
    /// the store fails.
    pub async fn activity(&self, scope: &Scope, since: Timestamp) -> Result<Vec<ActiveDay>> {
        let segments = self.store.index().postings(scope, &[], None).await?;
        Ok(count_days(&segments, since))
    }
}

fn count_days(segments: &[Segment], since: Timestamp) -> Vec<ActiveDay> {
    let mut days = BTreeMap::<Date, (usize, usize)>::new();
    let shown = Kind::without_records();
    for Segment { docs, .. } in segments {
        for doc in (0..docs.len()).filter(|doc| !docs.is_deleted(*doc)) {
            let (at, kind) = (docs.at(doc), docs.kind(doc));
            if at >= since && shown.contains(&kind) {
                let day = at.to_zoned(jiff::tz::TimeZone::UTC).date();
                let (memories, turns) = days.entry(day).or_default();
                *(if kind == Kind::Turn { turns } else { memories }) += 1;
            }
        }
    }
    days.into_iter().map(|(day, (memories, turns))| ActiveDay { day, memories, turns }).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        ingest::{RememberRequest, Turn},
        store::RamStore,
    };

    #[tokio::test]
    async fn days_count_what_was_said_on_them_in_their_own_scope() {
        let engine = Engine::new(Arc::new(RamStore::default()));
        let (scope, other) = (Scope::default(), Scope::new("default", "li").unwrap());
        for (text, time) in [
            ("tea 茶", "2026-03-01T10:00:00Z"),
            ("fish", "2026-03-01T23:59:00Z"),
            ("old", "2020-01-01T00:00:00Z"),
        ] {
            let request =
                RememberRequest { at: Some(time.parse().unwrap()), ..RememberRequest::new(text) };
            engine.remember(&scope, request).await.unwrap();
        }
        let turn = Turn {
            text: "hello".into(),
            time: Some("2026-03-02T00:00:00Z".parse().unwrap()),
            ..Turn::default()
        };
        engine.observe(&scope, vec![turn]).await.unwrap();
        let since = "2026-01-01T00:00:00Z".parse().unwrap();
        let days = engine.activity(&scope, since).await.unwrap();
        let counted: Vec<_> =
            days.iter().map(|day| (day.day.to_string(), day.memories, day.turns)).collect();
        assert_eq!(counted, [("2026-03-01".to_owned(), 2, 0), ("2026-03-02".to_owned(), 0, 1)]);
        assert_eq!(engine.activity(&other, since).await.unwrap(), []);
    }
}
