//! Secrets: memories that hold a key, a password, a card number or the like.

use super::fault::{AuditFix, Fault, FaultKind};
use crate::{
    text::secrets::{describe_kinds, find_secrets, mask_all},
    types::Memory,
};

/// Returns the fault of a memory that holds secrets. The reason names their kinds, never their values.
pub(super) fn find_secret(memory: &Memory) -> Option<Fault> {
    let texts =
        [&memory.content, &memory.name, &memory.description].into_iter().chain(&memory.tags);
    let kinds: Vec<_> =
        texts.flat_map(|text| find_secrets(text)).map(|secret| secret.kind).collect();
    let why = format!("it holds {}", describe_kinds(&kinds));
    (!kinds.is_empty()).then(|| Fault::of(memory, FaultKind::Secret, AuditFix::Mask, why))
}

/// Returns a memory with masks in place of its secrets.
pub(crate) fn masked(mut memory: Memory) -> Memory {
    let texts = [&mut memory.content, &mut memory.name, &mut memory.description];
    mask_all(texts.into_iter().chain(&mut memory.tags));
    memory
}
