//! Erasing a text from a layer and from everything it said before (H2).

use std::{collections::HashSet, path::Path};

use jiff::civil::Date;
use serde::Serialize;

use super::{By, Layer, Layers, Past, disk, quotes::unquoted};
use crate::{error::Result, files::sections::Sections, types::Actor};

/// What to erase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forget {
    /// Every section of this title.
    Section(String),
    /// This text, wherever it stands.
    Text(String),
    /// These sentences, wherever one is quoted as a whole.
    Quotes(HashSet<String>),
    /// Everything.
    All,
}

/// The receipt: what was removed from where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ForgottenText {
    /// Whether the file had it.
    pub file: bool,
    /// How many earlier states of the file had it.
    pub images: usize,
    /// Whether the file of a day that was put away had it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
}

impl Layers {
    /// Removes a text from a layer and from its history, for good.
    pub fn forget(&self, layer: Layer, day: Date, what: &Forget, by: &By) -> Result<ForgottenText> {
        let path = self.path(layer, day);
        let history = self.history(layer, day);
        let _lock = self.lock(layer, day)?;
        let found = disk::read(&path)?;
        history.notice(found.as_deref(), by.now.timestamp())?;
        let kept = found.as_deref().map(|text| what.taken_from(text));
        let archived = layer == Layer::Daily && what.erase_from(&self.archived(day))?;
        let mut receipt = ForgottenText { file: kept != found, images: 0, archived };
        let mut redacted: Vec<Past> = Vec::new();
        for image in history.all()? {
            let text = image.text.as_deref().map(|text| what.taken_from(text));
            receipt.images += usize::from(text != image.text);
            redacted.push(Past { text, ..image });
        }
        if !receipt.file && receipt.images == 0 {
            return Ok(receipt);
        }
        let number = redacted.last().map_or(0, |last| last.number) + 1;
        let (at, cause) = (by.now.timestamp(), "forget".to_owned());
        redacted.push(Past { number, at, actor: Actor::Person, cause, text: kept.clone() });
        history.rewrite(&redacted)?;
        if let Some(kept) = kept.filter(|_| receipt.file) {
            disk::write(&path, &kept)?;
        }
        Ok(receipt)
    }
}

impl Forget {
    /// Takes it out of a file without a history; says whether it was there. A file of which nothing is left goes.
    fn erase_from(&self, path: &Path) -> Result<bool> {
        let Some(text) = disk::read(path)? else { return Ok(false) };
        let kept = self.taken_from(&text);
        match kept.trim().is_empty() {
            _ if kept == text => return Ok(false),
            true => disk::remove(path)?,
            false => disk::write(path, &kept)?,
        }
        Ok(true)
    }

    /// The text without what is erased.
    pub(super) fn taken_from(&self, text: &str) -> String {
        match self {
            Self::All => String::new(),
            Self::Text(gone) if gone.is_empty() => text.to_owned(),
            Self::Text(gone) => text.replace(gone, ""),
            Self::Quotes(quotes) => unquoted(text, quotes),
            Self::Section(title) => {
                let mut text = text.to_owned();
                while let Ok(edited) = Sections::of(&text).remove(title) {
                    text = edited.text;
                }
                text
            }
        }
    }
}
