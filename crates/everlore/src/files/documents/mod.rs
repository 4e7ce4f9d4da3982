//! Documents: bytes become text, text becomes blocks by its structure, blocks become chunks of a size worth recalling.
//!
//! `decode` reads the bytes, one file for each format finds the blocks, `chunk` joins small ones and splits large ones.

mod format;
mod decode;
mod block;
mod plain;
mod markdown;
mod code;
mod html;
mod entities;
mod pdf;
mod chunk;

pub use chunk::{Chunk, MAX_CHUNK_TOKENS, MAX_WHOLE_TOKENS};
pub use decode::is_binary;
pub use format::{Format, language_of};

use crate::error::Result;
use chunk::Joins;

/// Raised whenever a document would be cut otherwise, so that documents which did not change are still cut anew.
pub const CHUNKS_VERSION: u32 = 1;

/// A document taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// What it calls itself.
    pub title: Option<String>,
    /// Its pieces, in order.
    pub chunks: Vec<Chunk>,
    /// What was not as it should be, and was put up with.
    pub note: Option<String>,
}

/// Takes a document apart, or says why it cannot be read.
pub fn parse(bytes: &[u8], format: Format) -> Result<Parsed> {
    let decoded = match format {
        Format::Pdf => decode::Decoded { text: pdf::text(bytes)?, note: None },
        _ => decode::decode(bytes)?,
    };
    let (title, blocks) = match format {
        Format::Markdown => markdown::blocks(&decoded.text),
        Format::Html => html::blocks(&decoded.text),
        Format::Code => (None, code::blocks(&decoded.text)),
        Format::Plain | Format::Pdf => (None, plain::blocks(&decoded.text)),
    };
    let joins = if format == Format::Code { Joins::Sections } else { Joins::Blocks };
    Ok(Parsed { title, chunks: chunk::chunks(blocks, joins), note: decoded.note })
}

#[cfg(test)]
mod tests;
