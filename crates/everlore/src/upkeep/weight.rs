//! Effect of usage on weights.
//!
//! The uses of a day move a weight a fixed share of the way to the maximum, so that it stays within bounds and the
//! first uses count most. An injection without use costs a little, never so much that the memory is archived for that
//! alone. Between uses, the weight decays (`types/weight.rs`).

use crate::types::{Memory, Timestamp, decay_factor};

/// Highest weight that usage reaches; recall counts no more (`recall/score.rs`).
const MAX_WEIGHT: f64 = 2.0;

/// Share of the way to the maximum per use. From 1, four days with a use lead to 1.6: a core memory.
const GAIN_PER_USE: f64 = 0.2;

/// Loss per injection without use: a hundredth. Most injected memories are not used, for no fault of their own.
const LOSS_PER_MISS: f64 = 0.01;

/// Disuse does not lower a weight below this; a half of it is still well above the archiving threshold.
const MIN_WEIGHT_BY_DISUSE: f64 = 0.25;

/// Uses counted per day: a long session about one topic is one occasion.
const MAX_USES_PER_DAY: u32 = 3;

/// Misses counted per day.
const MAX_MISSES_PER_DAY: u32 = 5;

/// Milliseconds of a day.
const DAY_MILLIS: i64 = 86_400_000;

/// Injections of a memory on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DailyUsage {
    /// Time of the last one.
    at: Timestamp,
    /// Injections with use.
    used: u32,
    /// Injections without use.
    unused: u32,
}

impl DailyUsage {
    /// Sums up injections by day, oldest day first, in whatever order they are given.
    fn by_day(uses: impl IntoIterator<Item = (Timestamp, bool)>) -> Vec<Self> {
        let mut uses: Vec<_> = uses.into_iter().collect();
        uses.sort_unstable();
        let mut days: Vec<Self> = Vec::new();
        for (at, used) in uses {
            let day = |at: Timestamp| at.as_millisecond().div_euclid(DAY_MILLIS);
            if days.last().is_none_or(|last| day(last.at) != day(at)) {
                days.push(Self { at, used: 0, unused: 0 });
            }
            if let Some(last) = days.last_mut() {
                last.at = at;
                last.used += u32::from(used);
                last.unused += u32::from(!used);
            }
        }
        days
    }
}

/// Applies injections, each with its use, to a memory's weight; `None` if nothing changes. Injections counted before do
/// not count again, and a pinned weight stays.
pub(crate) fn apply_usage(memory: &Memory, uses: &[(Timestamp, bool)]) -> Option<Memory> {
    let is_new = |at: Timestamp| memory.last_used_at.is_none_or(|counted| at > counted);
    let (mut weight, mut at) = (memory.weight, memory.decay_starts_at());
    let mut last = None;
    for day in DailyUsage::by_day(uses.iter().copied().filter(|(at, _)| is_new(*at))) {
        weight = weight_after_day(weight * decay_factor(memory.kind, at, day.at), &day);
        (at, last) = (at.max(day.at), Some(day.at));
    }
    let last_used_at = Some(last?);
    let weight = if memory.is_pinned() { memory.weight } else { weight };
    Some(Memory { weight, last_used_at, version: memory.version + 1, ..memory.clone() })
}

fn weight_after_day(weight: f64, day: &DailyUsage) -> f64 {
    // A weight set above the maximum by hand and unpinned again keeps its value.
    let gain = 1.0 - (1.0 - GAIN_PER_USE).powi(day.used.min(MAX_USES_PER_DAY) as i32);
    let risen = weight + (MAX_WEIGHT - weight).max(0.0) * gain;
    let lost = (1.0 - LOSS_PER_MISS).powi(day.unused.min(MAX_MISSES_PER_DAY) as i32);
    (risen * lost).max(MIN_WEIGHT_BY_DISUSE.min(risen))
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan;
    use proptest::prelude::*;

    use super::*;
    use crate::types::{Kind, MemorySource, Origin, PINNED_KEY, Scope};

    fn start() -> Timestamp {
        "2026-01-01T00:00:00Z".parse().unwrap()
    }

    fn memory(kind: Kind, weight: f64) -> Memory {
        let source = MemorySource::new(Origin::Remember);
        let blank =
            Memory::with_content(&Scope::default(), kind, "茶".into(), source, start(), start());
        Memory { weight, ..blank }
    }

    fn hours(hours: i64) -> Timestamp {
        start() + hours.hours()
    }

    fn after(memory: &Memory, uses: &[(i64, bool)]) -> f64 {
        let uses: Vec<_> = uses.iter().map(|(hour, used)| (hours(*hour), *used)).collect();
        apply_usage(memory, &uses).map_or(memory.weight, |memory| memory.weight)
    }

    #[test]
    fn a_use_on_each_of_four_days_makes_a_core_memory() {
        let memory = memory(Kind::User, 1.0);
        assert!((after(&memory, &[(0, true), (1, true)]) - 1.36).abs() < 1e-3);
        let four = after(&memory, &[(1, true), (25, true), (49, true), (73, true)]);
        assert!(four > 1.5 && four < 1.6, "{four}");
    }

    #[test]
    fn what_was_not_told_earns_nothing() {
        assert_eq!(apply_usage(&memory(Kind::User, 1.0), &[]), None);
    }

    #[test]
    fn what_is_told_and_not_used_for_a_year_is_not_put_away_for_that() {
        let misses: Vec<_> = (0..3_650).map(|number| (number * 2, false)).collect();
        let turn = memory(Kind::Turn, 1.0);
        assert!((after(&turn, &misses) - MIN_WEIGHT_BY_DISUSE).abs() < 1e-9);
        assert_eq!(after(&memory(Kind::Turn, 0.15), &misses[..5]), 0.15);
    }

    #[test]
    fn the_same_uses_weigh_once() {
        let memory = memory(Kind::User, 1.0);
        let weighed = apply_usage(&memory, &[(hours(1), true)]).unwrap();
        assert_eq!(weighed.last_used_at, Some(hours(1)));
        assert_eq!(apply_usage(&weighed, &[(hours(1), true)]), None);
        let both = apply_usage(&weighed, &[(hours(1), true), (hours(2), false)]).unwrap();
        assert_eq!(
            Some(both.weight),
            apply_usage(&weighed, &[(hours(2), false)]).map(|one| one.weight)
        );
    }

    #[test]
    fn a_pinned_weight_stays_and_its_last_use_is_known() {
        let mut memory = memory(Kind::User, 7.0);
        memory.metadata.insert(PINNED_KEY.into(), true.into());
        let weighed = apply_usage(&memory, &[(hours(1), true)]).unwrap();
        assert_eq!((weighed.weight, weighed.last_used_at), (7.0, Some(hours(1))));
    }

    fn uses() -> impl Strategy<Value = Vec<(i64, bool)>> {
        proptest::collection::vec((1_i64..24 * 400, any::<bool>()), 0..60)
    }

    fn any_kind() -> impl Strategy<Value = Kind> {
        proptest::sample::select(Kind::ALL.to_vec())
    }

    proptest! {
        #[test]
        fn weights_stay_within_their_bounds(
            kind in any_kind(), weight in 0.0..=2.0_f64, uses in uses()
        ) {
            let after = after(&memory(kind, weight), &uses);
            prop_assert!((0.0..=MAX_WEIGHT).contains(&after), "{}", after);
        }

        #[test]
        fn one_more_use_never_makes_it_less(
            kind in any_kind(), weight in 0.0..=2.0_f64, mut uses in uses(), hour in 1_i64..24 * 400
        ) {
            // The last event marks the moment of comparison, so that both decay equally long.
            uses.push((24 * 401, false));
            let without = after(&memory(kind, weight), &uses);
            uses.push((hour, true));
            prop_assert!(after(&memory(kind, weight), &uses) >= without - 1e-12);
        }

        #[test]
        fn the_order_within_a_day_does_not_matter(
            kind in any_kind(), weight in 0.0..=2.0_f64, uses in uses(), seed in any::<u64>()
        ) {
            let mut shuffled = uses.clone();
            shuffled.sort_by_key(|(hour, used)| (*hour as u64 ^ seed).wrapping_mul(31) ^ u64::from(*used));
            prop_assert_eq!(after(&memory(kind, weight), &uses), after(&memory(kind, weight), &shuffled));
        }

        #[test]
        fn being_told_and_not_used_costs_little(weight in 0.0..=2.0_f64, times in 1_u32..50) {
            let day = DailyUsage { at: hours(1), used: 0, unused: times };
            let after = weight_after_day(weight, &day);
            prop_assert!(after <= weight && after >= weight * 0.95 - 1e-12, "{}", after);
            let used = weight_after_day(weight, &DailyUsage { used: 1, ..day });
            prop_assert!(used > after || weight == MAX_WEIGHT, "{}", used);
        }

        #[test]
        fn time_takes_its_share(kind in any_kind(), weight in 0.01..=2.0_f64, days in 1_i64..2_000) {
            let memory = memory(kind, weight);
            let (now, later) = (memory.weight_at(hours(24)), memory.weight_at(hours(24 + days * 24)));
            match kind.half_life_days() {
                Some(_) => prop_assert!(later < now),
                None => prop_assert_eq!(later, now),
            }
        }
    }
}
