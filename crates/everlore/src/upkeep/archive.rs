//! Archiving of expired memories, and the limit above which a job needs confirmation.

use crate::types::{Memory, Status, Timestamp};

/// A job that changes more than one in so many memories of a scope needs confirmation: a wrong setting or clock shows
/// itself by that.
const CONFIRM_ABOVE_ONE_IN: usize = 4;

/// Returns `true` if a job would change so many of a scope's memories that a person should confirm it.
pub(crate) fn needs_confirmation(touched: usize, all: usize) -> bool {
    touched * CONFIRM_ABOVE_ONE_IN > all
}

/// Returns the memory as archived.
pub(crate) fn archived(memory: &Memory, now: Timestamp) -> Memory {
    Memory {
        status: Status::Archived,
        updated_at: now,
        version: memory.version + 1,
        ..memory.clone()
    }
}

/// Returns `true` if an active memory's validity is over.
pub(crate) fn is_expired(memory: &Memory, now: Timestamp) -> bool {
    memory.status == Status::Active && memory.has_expired(now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Kind, MemorySource, Origin, Scope};

    #[test]
    fn a_quarter_is_done_and_more_is_asked_for() {
        assert!(!needs_confirmation(0, 0));
        assert!(!needs_confirmation(25, 100));
        assert!(needs_confirmation(26, 100));
        assert!(needs_confirmation(1, 3));
    }

    #[test]
    fn what_held_until_now_is_over_and_what_names_no_time_is_not() {
        let now: Timestamp = "2026-03-02T12:00:00Z".parse().unwrap();
        let memory = |until: &str| {
            let source = MemorySource::new(Origin::Extract);
            let (scope, text) = (Scope::default(), "办公室在三楼".to_owned());
            let mut memory = Memory::with_content(&scope, Kind::Project, text, source, now, now);
            memory.metadata.insert("valid_until".into(), until.into());
            memory
        };
        let ends = ["2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z", "soon", "2026-03-02T12:00:00Z"];
        let memories = ends.map(memory);
        let expired = memories.iter().filter(|memory| is_expired(memory, now));
        let expired: Vec<_> = expired.map(|memory| archived(memory, now)).collect();
        let ids: Vec<_> = expired.iter().map(|memory| memory.id).collect();
        assert_eq!(ids, [memories[0].id, memories[3].id]);
        assert!(
            expired.iter().all(|memory| memory.status == Status::Archived && memory.version == 2)
        );
    }
}
