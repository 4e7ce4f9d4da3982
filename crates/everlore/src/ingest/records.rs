//! Records: memories that a feature keeps for itself.

use super::naming;
use crate::{
    text::{elision::elide_middle, tool_event::main_argument},
    types::{
        CALL_RESULT_KEY, CALL_SESSION_KEY, Kind, Memory, MemorySource, Origin, RecordedCall, Role,
        Scope, Timestamp,
    },
};

/// Most characters of a call in the text of its record: it tells which one it is.
const MAX_CALL_CHARS: usize = 200;

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

/// Creates the record of a tool call. The session is a tag and no address: a record takes no position among turns, whose
/// distances count in recall.
pub(super) fn call_record(
    scope: &Scope,
    session: &str,
    call: &RecordedCall,
    result: String,
    at: Timestamp,
    now: Timestamp,
) -> Memory {
    let argument = main_argument(&call.arguments);
    let argument = elide_middle(argument.lines().next().unwrap_or_default(), MAX_CALL_CHARS);
    let content = format!("{} {argument}", call.name).trim().to_owned();
    let mut memory = record_memory(scope, Kind::Trajectory, &call.name, content, now);
    memory.source = MemorySource { role: Some(Role::Tool), ..MemorySource::new(Origin::Observe) };
    memory.at = crate::types::to_millisecond(at);
    memory.tags.push(session.to_owned());
    memory.metadata.insert(CALL_SESSION_KEY.to_owned(), session.into());
    if !result.is_empty() {
        memory.metadata.insert(CALL_RESULT_KEY.to_owned(), result.into());
    }
    call.store_in(&mut memory.metadata);
    memory
}
