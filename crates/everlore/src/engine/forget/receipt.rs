//! Receipt of an erasure, the same for every interface.

use std::collections::{BTreeSet, HashSet};

use jiff::civil::Date;
use serde::Serialize;

use super::{daily_log::RedactedDay, leftovers::Leftovers};
use crate::{
    files::layers::{Layer, LayerForgetReceipt},
    types::{ErasureReceipt, MemoryId},
};

/// Receipt of an erasure: what was removed from where, and what a person has to look at.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ForgetReceipt {
    /// Erased memories.
    pub forgotten: Vec<ForgetReport>,
    /// Vaults that were synced, with the files that were removed.
    pub vaults: Vec<VaultErasure>,
    /// Layers that quoted the texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<RedactedLayer>,
    /// Turns that stay and may still tell what was forgotten, since other memories come from them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remaining_turns: Vec<MemoryId>,
    /// Turns and lines removed that waited to be stored.
    pub pending: usize,
    /// Lines removed that were typed in `chat`.
    pub typed: usize,
    /// Backups of the database in the home, which may still hold the texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub backups: Vec<String>,
    /// Places that may still hold the texts, and advice.
    pub warnings: Vec<String>,
}

/// Report of one erased memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForgetReport {
    /// Erased memory.
    pub id: MemoryId,
    /// Journal number of the erasure.
    pub seq: u64,
    /// Removed records, by place.
    pub removed: ErasureReceipt,
    /// Memories extracted from it, which remain: a person may have approved them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<MemoryId>,
    /// Memories that it had superseded: nothing stands in for them now, and restoring one makes it active again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<MemoryId>,
    /// Days of the daily log that quoted it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub daily: Vec<RedactedDay>,
    /// Days of the daily log that still mention its session, with section titles. A summary may paraphrase what was
    /// forgotten; a person has to check.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub summaries: Vec<(Date, String)>,
}

/// Layer that lost sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RedactedLayer {
    /// Layer.
    pub layer: Layer,
    /// Files that lost them.
    #[serde(flatten)]
    pub removed: LayerForgetReceipt,
}

/// Erasure in one vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VaultErasure {
    /// Folder of the vault.
    pub folder: String,
    /// Files that were removed.
    pub removed: Vec<String>,
    /// Error, if the vault could not be synced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl ForgetReceipt {
    pub(super) fn add_leftovers(&mut self, leftovers: Leftovers) {
        self.pending += leftovers.pending;
        self.typed += leftovers.typed;
        for layer in leftovers.layers {
            match self.layers.iter_mut().find(|known| known.layer == layer.layer) {
                Some(known) => known.removed.images += layer.removed.images,
                None => self.layers.push(layer),
            }
        }
    }

    /// Puts the reports of the memories that were named before those of what went with them, which no report names as left.
    pub(super) fn put_first(&mut self, named: &[MemoryId]) {
        self.forgotten.sort_by_key(|report| !named.contains(&report.id));
        let erased = self.erased();
        for report in &mut self.forgotten {
            report.derived.retain(|id| !erased.contains(id));
        }
    }

    /// Returns the erased memories.
    pub(super) fn erased(&self) -> HashSet<MemoryId> {
        self.forgotten.iter().map(|report| report.id).collect()
    }

    /// Adds the warnings that follow from what is left.
    pub(super) fn warn(&mut self, is_wal_filled: bool) {
        let mentions: BTreeSet<_> = self
            .forgotten
            .iter()
            .flat_map(|report| &report.summaries)
            .map(summary_warning)
            .collect();
        self.warnings.extend(mentions);
        self.warnings.extend(self.remaining_turns.iter().map(turn_warning));
        if is_wal_filled {
            self.warnings.push(WAL_WARNING.to_owned());
        }
        let warning = |name: &String| {
            format!(
                "the backup {name} is older and may still hold the text; delete it when you no longer need it"
            )
        };
        self.warnings.extend(self.backups.iter().map(warning));
    }
}

/// Returns the warning about a turn that other memories come from.
fn turn_warning(turn: &MemoryId) -> String {
    format!(
        "the turn {turn} may still tell it, since other memories come from that turn; to remove the turn: everlore memory \
         forget {turn}"
    )
}

/// Warning about the write-ahead log.
const WAL_WARNING: &str = "others read the database, so the write-ahead log could not be emptied yet; that happens when \
                           they are done";

/// Returns the warning about a summary, which may say in other words what was erased.
fn summary_warning((day, title): &(Date, String)) -> String {
    let quoted = title.replace('\'', r"'\''");
    format!(
        "the daily log of {day} still sums up that conversation; read it, and remove it with: everlore layer forget \
         daily --day {day} --section '{quoted}'"
    )
}
