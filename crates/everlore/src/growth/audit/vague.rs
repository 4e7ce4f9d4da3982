//! Vague memories: they name nothing in particular, or speak of something that they do not name.

use super::fault::{AuditFix, Fault, FaultKind, quote};
use crate::{
    text::substance::{has_dangling_subject, is_vague},
    types::{Kind, Memory},
};

/// Returns the fault of a vague memory. A title or tags of its own may name what the text does not.
pub(super) fn find_vague(memory: &Memory) -> Option<Fault> {
    let is_statement = !matches!(memory.kind, Kind::Turn | Kind::Session | Kind::Experience);
    let name = memory.name.trim_end_matches('…');
    let has_title = !memory.content.contains(name) && !is_vague(name);
    if !is_statement || has_title {
        return None;
    }
    let reason = if is_vague(&memory.content) {
        "names nothing in particular"
    } else if has_dangling_subject(&memory.content) {
        "does not say what it is about"
    } else {
        return None;
    };
    let why = format!("{} {reason}", quote(memory));
    Some(Fault::of(memory, FaultKind::Vague, AuditFix::Ask, why))
}
