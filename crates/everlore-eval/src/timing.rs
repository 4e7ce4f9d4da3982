//! Medians, percentiles, processor time and the cost of one sync, for all tables.

use std::{fs, io::Write, path::Path, time::Instant};

use anyhow::Result;
use serde::Serialize;

/// Samples of the cost of a sync.
const SYNCS: usize = 50;

/// Least, median, 95th percentile, maximum and mean of a set of samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct SampleStats {
    /// Least sample: on a machine that others use too, the one that was disturbed least.
    pub(crate) min: f64,
    pub(crate) p50: f64,
    pub(crate) p95: f64,
    pub(crate) max: f64,
    pub(crate) mean: f64,
    pub(crate) n: usize,
}

impl SampleStats {
    /// Summarizes the samples; all zero if there are none.
    pub(crate) fn from_samples(mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        let Some(max) = samples.last().copied() else { return Self::default() };
        Self {
            min: samples[0],
            p50: nearest_rank(&samples, 0.50),
            p95: nearest_rank(&samples, 0.95),
            max,
            mean: samples.iter().sum::<f64>() / samples.len() as f64,
            n: samples.len(),
        }
    }
}

/// Runs `work` and returns its result with the milliseconds it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed().as_secs_f64() * 1e3))
}

/// Returns the processor seconds of all live threads of this process, or `None` where the system does not report them
/// (only Linux does). Unlike wall time it does not grow while other programs run.
pub(crate) fn process_cpu_seconds() -> Option<f64> {
    let threads = fs::read_dir("/proc/self/task").ok()?.flatten();
    let texts =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok());
    let nanoseconds = texts.filter_map(|text| text.split(' ').next()?.parse::<f64>().ok());
    Some(nanoseconds.sum::<f64>() / 1e9)
}

/// Measures the milliseconds of a durable 4 KB append in `folder`: the floor of any durable save there.
pub(crate) fn sync_ms(folder: &Path) -> Result<SampleStats> {
    let mut file = tempfile::tempfile_in(folder)?;
    let page = [7_u8; 4096];
    let mut samples = Vec::new();
    for _ in 0..SYNCS {
        let ((), ms) = timed(|| {
            file.write_all(&page)?;
            Ok(file.sync_data()?)
        })?;
        samples.push(ms);
    }
    Ok(SampleStats::from_samples(samples))
}

/// Returns the percentile at `share` of sorted samples by nearest rank; 0 if there are none.
pub(crate) fn nearest_rank(sorted: &[f64], share: f64) -> f64 {
    if sorted.is_empty() {
        return 0.0;
    }
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples_that_occurred() {
        let stats = SampleStats::from_samples((1..=100).rev().map(f64::from).collect());
        assert_eq!((stats.p50, stats.p95, stats.max, stats.n), (50.0, 95.0, 100.0, 100));
        assert_eq!((stats.min, stats.mean), (1.0, 50.5));
        assert_eq!(SampleStats::from_samples(vec![]), SampleStats::default());
        assert_eq!(SampleStats::from_samples(vec![3.0]).p95, 3.0);
    }
}
