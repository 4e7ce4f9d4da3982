//! Erasure of a text from a layer and from its history.

use std::{collections::HashSet, path::Path};

use jiff::civil::Date;
use serde::Serialize;

use super::{EditContext, Layer, LayerRevision, Layers, layer_file, quotes::remove_quotes};
use crate::{error::Result, files::sections::MarkdownSections, types::Actor};

/// Text to erase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgetTarget {
    /// Every section of this title.
    Section(String),
    /// Every occurrence of this text.
    Text(String),
    /// These sentences, where one is quoted as a whole.
    Quotes(HashSet<String>),
    /// Everything.
    All,
}

/// Receipt: from where the text was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct LayerForgetReceipt {
    /// Set if the file had it.
    pub file: bool,
    /// Number of earlier revisions that had it.
    pub images: usize,
    /// Set if the file of an archived day had it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
}

impl Layers {
    /// Removes a text from a layer and from its history, for good.
    pub fn forget(
        &self,
        layer: Layer,
        day: Date,
        target: &ForgetTarget,
        by: &EditContext,
    ) -> Result<LayerForgetReceipt> {
        let path = self.path(layer, day);
        let history = self.history(layer, day);
        let _lock = self.lock(layer, day)?;
        let found = layer_file::read(&path)?;
        history.record_external_edit(found.as_deref(), by.now.timestamp())?;
        let kept = found.as_deref().map(|text| target.redact(text));
        let archived = layer == Layer::Daily && target.erase_from_file(&self.archive_path(day))?;
        let mut receipt = LayerForgetReceipt { file: kept != found, images: 0, archived };
        let mut redacted: Vec<LayerRevision> = Vec::new();
        for image in history.all()? {
            let text = image.text.as_deref().map(|text| target.redact(text));
            receipt.images += usize::from(text != image.text);
            redacted.push(LayerRevision { text, ..image });
        }
        if !receipt.file && receipt.images == 0 {
            return Ok(receipt);
        }
        let number = redacted.last().map_or(0, |last| last.number) + 1;
        let (at, cause) = (by.now.timestamp(), "forget".to_owned());
        redacted.push(LayerRevision {
            number,
            at,
            actor: Actor::Person,
            cause,
            text: kept.clone(),
        });
        history.rewrite(&redacted)?;
        if let Some(kept) = kept.filter(|_| receipt.file) {
            layer_file::write(&path, &kept)?;
        }
        Ok(receipt)
    }
}

impl ForgetTarget {
    /// Erases the text from a file without a history; returns `true` if it was there. An emptied file is removed.
    fn erase_from_file(&self, path: &Path) -> Result<bool> {
        let Some(text) = layer_file::read(path)? else { return Ok(false) };
        let kept = self.redact(&text);
        if kept == text {
            return Ok(false);
        }
        if kept.trim().is_empty() {
            layer_file::remove(path)?;
        } else {
            layer_file::write(path, &kept)?;
        }
        Ok(true)
    }

    /// Returns the text without what is erased.
    pub(super) fn redact(&self, text: &str) -> String {
        match self {
            Self::All => String::new(),
            Self::Text(erased) if erased.is_empty() => text.to_owned(),
            Self::Text(erased) => text.replace(erased, ""),
            Self::Quotes(quotes) => remove_quotes(text, quotes),
            Self::Section(title) => {
                let mut text = text.to_owned();
                while let Ok(edited) = MarkdownSections::parse(&text).remove(title) {
                    text = edited.text;
                }
                text
            }
        }
    }
}
