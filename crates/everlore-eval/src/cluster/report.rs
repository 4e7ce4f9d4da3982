//! Report of a run: figures, and everything that was wrong.

use serde::Serialize;

use super::writers::WriteLog;
use crate::{table::number, timing::nearest_rank};

/// Report of one run of a scenario.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct ClusterReport {
    pub(crate) scenario: String,
    pub(crate) acknowledged: usize,
    /// Attempts that failed and were repeated.
    pub(crate) repeated: usize,
    /// Seconds from the database's own recovery to the first acknowledged write.
    pub(crate) first_success_s: Option<f64>,
    /// Seconds from the database's own recovery until every client had written.
    pub(crate) all_clients_s: Option<f64>,
    /// Seconds of the longest request.
    pub(crate) longest_request_s: f64,
    /// Requests a second, recalls included.
    pub(crate) per_second: f64,
    pub(crate) p50_ms: f64,
    /// Most milliseconds between a save and the first recall through another server that finds it.
    pub(crate) seen_ms: Option<f64>,
    /// Failed attempts by what was said.
    pub(crate) failures: Vec<String>,
    /// Everything that was wrong.
    pub(crate) faults: Vec<String>,
}

/// Head of the table.
pub(crate) const HEAD: [&str; 10] = [
    "scenario",
    "writes",
    "repeated",
    "first s",
    "all clients s",
    "longest s",
    "requests/s",
    "p50 ms",
    "seen ms",
    "faults",
];

impl ClusterReport {
    /// Sums up what clients did in some seconds.
    pub(super) fn new(scenario: impl Into<String>, log: &WriteLog, seconds: f64) -> Self {
        let mut times = log.times.clone();
        times.sort_by(f64::total_cmp);
        Self {
            scenario: scenario.into(),
            acknowledged: log.acknowledged.len(),
            repeated: log.failures.values().sum(),
            longest_request_s: log.longest,
            per_second: times.len() as f64 / seconds,
            p50_ms: nearest_rank(&times, 0.5),
            failures: log
                .failures
                .iter()
                .map(|(said, count)| format!("{count} × {said}"))
                .collect(),
            faults: log.faults.clone(),
            ..Self::default()
        }
    }

    /// Renders a row of the table.
    pub(crate) fn row(&self) -> Vec<String> {
        let optional = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), number);
        vec![
            self.scenario.clone(),
            self.acknowledged.to_string(),
            self.repeated.to_string(),
            optional(self.first_success_s),
            optional(self.all_clients_s),
            number(self.longest_request_s),
            number(self.per_second),
            number(self.p50_ms),
            optional(self.seen_ms),
            self.faults.len().to_string(),
        ]
    }
}
