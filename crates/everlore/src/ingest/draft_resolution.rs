//! Resolution of a draft against its neighbours: by rules, and by models where these are unsure.

use std::sync::Arc;

use super::{
    arbiter::{Arbiter, ambiguous_neighbours},
    extract::{Draft, SentenceJudge},
    reconcile::{Resolution, reconcile},
    rivals::{Rivals, rivals_of_draft},
};
use crate::{
    error::Result,
    types::{Memory, MemoryId},
};

/// Models that are consulted where the rules are unsure.
#[derive(Clone, Copy, Default)]
pub(crate) struct CaptureModels<'a> {
    /// Chat model that decides between a draft and its neighbours.
    pub arbiter: Option<&'a dyn Arbiter>,
    /// Classifier that tells whether a statement replaces another.
    pub judge: Option<&'a Arc<dyn SentenceJudge>>,
}

/// Resolution of a draft, and the memory that may no longer hold beside it.
pub(super) struct DraftResolution {
    pub(super) resolution: Resolution,
    pub(super) doubted: Option<Memory>,
}

impl From<Resolution> for DraftResolution {
    fn from(resolution: Resolution) -> Self {
        Self { resolution, doubted: None }
    }
}

/// Resolves a draft by rules, or by the models where the rules are unsure.
pub(super) async fn resolve_draft(
    draft: &Draft,
    neighbours: &[Memory],
    models: CaptureModels<'_>,
) -> Result<DraftResolution> {
    let resolution = reconcile(draft, neighbours);
    if resolution != Resolution::Add {
        return Ok(resolution.into());
    }
    let ambiguous = ambiguous_neighbours(draft, neighbours);
    let decided = match models.arbiter {
        Some(arbiter) if !ambiguous.is_empty() => arbiter.decide(draft, &ambiguous).await,
        _ => None,
    };
    if let Some(decided) = decided {
        return Ok(decided.into());
    }
    let Rivals { superseded, doubted, .. } =
        rivals_of_draft(draft, neighbours, models.judge).await?;
    let older: Vec<MemoryId> = superseded.iter().map(|rival| rival.id).collect();
    let resolution = if older.is_empty() { Resolution::Add } else { Resolution::Supersede(older) };
    Ok(DraftResolution { resolution, doubted })
}
