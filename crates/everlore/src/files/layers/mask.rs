//! Masking of secrets in edits of layers; text that a person typed into a file by hand is left.

use super::{LayerChange, LayerEdit};
use crate::text::secrets::{SecretKind, describe_kinds, mask_all, mask_new};

impl LayerEdit {
    /// Returns the reason of the change for the history.
    pub(super) fn cause(&self) -> String {
        match self {
            Self::Add { section, .. } => format!("add to `{section}`"),
            Self::Replace { section, .. } => format!("replace in `{section}`"),
            Self::Remove { section } => format!("remove `{section}`"),
            Self::Write { .. } => "edit".to_owned(),
        }
    }

    /// Masks the secrets that the edit adds and returns their kinds.
    pub(crate) fn mask_secrets(&mut self) -> Vec<SecretKind> {
        let (text, before) = match self {
            Self::Add { section, content } => return mask_all([section, content]),
            Self::Remove { .. } => return Vec::new(),
            Self::Replace { old, new, .. } => (new, old),
            Self::Write { before, text } => (text, before),
        };
        let (masked, kinds) = mask_new(text, before);
        *text = masked.into_owned();
        kinds
    }
}

impl LayerChange {
    /// Adds a note of what was masked, if anything was.
    pub(super) fn with_masked_note(self, masked: &[SecretKind]) -> Self {
        if masked.is_empty() {
            return self;
        }
        let secrets = format!("masked {}: the value was not written", describe_kinds(masked));
        let note = self.note.map_or_else(|| secrets.clone(), |note| format!("{note}; {secrets}"));
        Self { note: Some(note), ..self }
    }
}
