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
mod html_entities;
mod pdf;
mod chunk;

pub use chunk::{Chunk, MAX_CHUNK_TOKENS, MAX_KEEP_TOGETHER_TOKENS};
pub use decode::is_binary;
pub use format::{DocFormat, programming_language};

use crate::error::Result;
use chunk::MergeScope;

/// Raised whenever a document would be cut otherwise, so that documents which did not change are still cut anew.
pub const CHUNKER_VERSION: u32 = 2;

/// A document taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedDocument {
    /// What it calls itself.
    pub title: Option<String>,
    /// Its pieces, in order.
    pub chunks: Vec<Chunk>,
    /// What was not as it should be, and was put up with.
    pub note: Option<String>,
}

/// Takes a document apart, or says why it cannot be read.
pub fn parse(bytes: &[u8], format: DocFormat) -> Result<ParsedDocument> {
    let decoded = match format {
        DocFormat::Pdf => decode::DecodedText { text: pdf::text(bytes)?, note: None },
        _ => decode::decode(bytes)?,
    };
    let (title, blocks) = match format {
        DocFormat::Markdown => markdown::blocks(&decoded.text),
        DocFormat::Html => html::blocks(&decoded.text),
        DocFormat::Code => (None, code::blocks(&decoded.text)),
        DocFormat::Plain | DocFormat::Pdf => (None, plain::blocks(&decoded.text)),
    };
    let joins = if format == DocFormat::Code {
        MergeScope::AcrossSections
    } else {
        MergeScope::WithinSection
    };
    Ok(ParsedDocument { title, chunks: chunk::chunk_blocks(blocks, joins), note: decoded.note })
}

#[cfg(test)]
mod tests;
