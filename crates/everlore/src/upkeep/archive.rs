//! What upkeep does to single memories, and how many it may touch without asking.

use crate::types::{Memory, Status, Timestamp};

/// A job that would touch more than one in so many memories of a scope asks first: a mistake in a setting or a clock
/// shows itself by that.
const CONFIRM_ABOVE_ONE_IN: usize = 4;

/// Whether a job would touch so many of a scope's memories that a person should say yes.
pub fn needs_confirmation(touched: usize, all: usize) -> bool {
    touched * CONFIRM_ABOVE_ONE_IN > all
}

/// The memory put away.
pub fn archived(memory: &Memory, now: Timestamp) -> Memory {
    Memory {
        status: Status::Archived,
        updated_at: now,
        version: memory.version + 1,
        ..memory.clone()
    }
}

/// Whether the time for which a memory holds is over, given the key under which its metadata says so.
pub fn is_expired(memory: &Memory, until_key: &str, now: Timestamp) -> bool {
    let until = memory.metadata.get(until_key).and_then(serde_json::Value::as_str);
    let until = until.and_then(|until| until.parse::<Timestamp>().ok());
    memory.status == Status::Active && until.is_some_and(|until| until <= now)
}

/// Of these memories, those whose time is over, put away.
pub fn archive_expired(memories: &[Memory], until_key: &str, now: Timestamp) -> Vec<Memory> {
    let over = memories.iter().filter(|memory| is_expired(memory, until_key, now));
    over.map(|memory| archived(memory, now)).collect()
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
            memory.metadata.insert("until".into(), until.into());
            memory
        };
        let said = ["2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z", "soon", "2026-03-02T12:00:00Z"];
        let memories = said.map(memory);
        let over = archive_expired(&memories, "until", now);
        assert_eq!(over.iter().map(|m| m.id).collect::<Vec<_>>(), [memories[0].id, memories[3].id]);
        assert!(over.iter().all(|memory| memory.status == Status::Archived && memory.version == 2));
    }
}
