//! Weight of a memory at a moment: its stored weight less its decay.

use super::{Kind, Memory, Timestamp};

/// Metadata key: the weight was set by hand and stays.
pub const PINNED_KEY: &str = "pinned";

/// Milliseconds of a day.
const DAY_MS: f64 = 86_400_000.0;

impl Kind {
    /// Returns the days without use after which a memory is worth half; `None` for a kind that does not fade.
    ///
    /// Statements about the user and their wishes hold for years; a fact or a solution for about one; a project is over
    /// within months. Turns are the source of everything else and never fade: recall accounts for their age. Records
    /// are data, whose feature says when they end.
    pub(crate) fn half_life_days(self) -> Option<f64> {
        match self {
            Self::User | Self::Feedback => Some(730.0),
            Self::Reference | Self::Knowledge | Self::Experience => Some(365.0),
            Self::Project => Some(180.0),
            Self::Session => Some(90.0),
            Self::Turn | Self::Schedule | Self::Suggestion | Self::Trajectory | Self::Skill => None,
        }
    }
}

impl Memory {
    /// Returns `true` if its weight was set by hand: neither use nor time moves it.
    pub fn is_pinned(&self) -> bool {
        self.metadata.get(PINNED_KEY).and_then(serde_json::Value::as_bool).unwrap_or(false)
    }

    /// Returns the time from which its stored weight fades: its last change or its last use.
    pub(crate) fn decay_starts_at(&self) -> Timestamp {
        self.last_used_at.map_or(self.updated_at, |used| used.max(self.updated_at))
    }

    /// Returns its weight at a moment. Nothing is written for it: time is in the formula.
    pub fn weight_at(&self, now: Timestamp) -> f64 {
        if self.is_pinned() {
            return self.weight;
        }
        self.weight * decay_factor(self.kind, self.decay_starts_at(), now)
    }
}

/// Returns the share of a weight that is left, from 0 to 1; all of it if `to` is not after `from`.
pub(crate) fn decay_factor(kind: Kind, from: Timestamp, to: Timestamp) -> f64 {
    let days = (to.as_millisecond() - from.as_millisecond()) as f64 / DAY_MS;
    kind.half_life_days().map_or(1.0, |half_life| (-days.max(0.0) / half_life).exp2())
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan;

    use super::*;
    use crate::types::{MemorySource, Origin, Scope};

    fn memory(kind: Kind) -> Memory {
        let at = "2026-01-01T00:00:00Z".parse().unwrap();
        Memory::with_content(
            &Scope::default(),
            kind,
            "喜欢茶".into(),
            MemorySource::new(Origin::Remember),
            at,
            at,
        )
    }

    #[test]
    fn a_weight_halves_with_each_half_life_and_turns_keep_theirs() {
        let project = memory(Kind::Project);
        let later = project.updated_at + (24 * 360).hours();
        assert!((project.weight_at(later) - 0.25).abs() < 1e-9);
        assert_eq!(memory(Kind::Turn).weight_at(later), 1.0);
        assert_eq!(project.weight_at(project.updated_at - 24.hours()), 1.0);
    }

    #[test]
    fn use_and_change_start_the_clock_again_and_a_pin_stops_it() {
        let mut project = memory(Kind::Project);
        let later = project.updated_at + (24 * 360).hours();
        project.last_used_at = Some(later);
        assert_eq!(project.weight_at(later), 1.0);
        project.last_used_at = None;
        project.metadata.insert(PINNED_KEY.into(), true.into());
        assert_eq!(project.weight_at(later), 1.0);
    }
}
