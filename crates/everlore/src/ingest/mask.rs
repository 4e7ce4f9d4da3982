//! Secret masking of all incoming data, before anything is written.

use super::{
    edit::MemoryEdit,
    jsonl::ExportLine,
    naming,
    request::{RememberRequest, Turn},
};
use crate::{
    text::secrets::{SecretKind, mask_all, mask_metadata, mask_value},
    types::{Kind, Memory},
};

impl RememberRequest {
    /// Masks secrets and returns their kinds.
    pub fn mask_secrets(&mut self) -> Vec<SecretKind> {
        let texts = [&mut self.content, &mut self.description];
        let texts = texts.into_iter().chain(&mut self.name).chain(&mut self.tags);
        let mut masked = mask_all(texts.chain(&mut self.session).chain(&mut self.speaker));
        masked.extend(mask_metadata(&mut self.metadata));
        masked
    }
}

impl Turn {
    /// Masks secrets and returns their kinds.
    pub fn mask_secrets(&mut self) -> Vec<SecretKind> {
        let names = [&mut self.session, &mut self.speaker].into_iter().flatten();
        let mut masked = mask_all(std::iter::once(&mut self.text).chain(names));
        if let Some(call) = &mut self.call {
            let texts = std::iter::once(&mut call.name).chain(&mut call.result).chain(&mut call.id);
            masked.extend(mask_all(texts));
            masked.extend(mask_value("arguments", &mut call.arguments));
        }
        masked
    }
}

impl MemoryEdit {
    /// Masks secrets and returns their kinds.
    pub fn mask_secrets(&mut self) -> Vec<SecretKind> {
        let texts = [&mut self.content, &mut self.name, &mut self.description];
        let texts = texts.into_iter().flatten().chain(self.tags.iter_mut().flatten());
        let mut masked = mask_all(texts);
        masked.extend(self.metadata.as_mut().map(mask_metadata).unwrap_or_default());
        masked
    }
}

impl ExportLine {
    /// Masks secrets and returns their kinds.
    pub fn mask_secrets(&mut self) -> Vec<SecretKind> {
        match self {
            Self::Header(_) | Self::Tombstone(_) => Vec::new(),
            Self::Memory(memory) => mask_memory(memory),
            Self::Remember(request) => request.mask_secrets(),
            Self::Turn(turn) => turn.mask_secrets(),
            Self::JournalEntry(entry) => {
                let images = [&mut entry.before, &mut entry.after];
                images.into_iter().flatten().flat_map(|memory| mask_memory(memory)).collect()
            }
        }
    }
}

pub(super) fn mask_memory(memory: &mut Memory) -> Vec<SecretKind> {
    let texts = [&mut memory.content, &mut memory.name, &mut memory.description];
    let names = [&mut memory.source.session, &mut memory.source.speaker].into_iter().flatten();
    let mut masked = mask_all(texts.into_iter().chain(&mut memory.tags).chain(names));
    masked.extend(mask_metadata(&mut memory.metadata));
    if !masked.is_empty() && memory.kind != Kind::Turn {
        // The uri was derived from the name, which may have held the secret.
        let category = memory.tags.first().map(String::as_str);
        let print = memory.fingerprint();
        memory.uri =
            naming::memory_uri(&memory.scope, memory.kind, category, &memory.name, print, 0);
    }
    masked
}
