//! Records: memories that a feature keeps for itself.

use super::naming;
use crate::types::{Kind, Memory, MemorySource, Origin, Scope, Timestamp};

/// Creates a record with a title for people and a text that a search by its kind finds. Its tag is the kind.
pub(crate) fn record_memory(
    scope: &Scope,
    kind: Kind,
    title: &str,
    content: String,
    now: Timestamp,
) -> Memory {
    let source = MemorySource::new(Origin::Remember);
    let mut memory = Memory::with_content(scope, kind, content, source, now, now);
    memory.name = naming::title_of(title);
    memory.tags = vec![kind.as_str().to_owned()];
    memory.uri = naming::record_uri(scope, kind, &memory.name, memory.id);
    memory
}
