//! Documents: bytes are decoded to text, text is split into blocks by its structure, blocks become chunks of a size
//! worth recalling.
//!
//! `decode` reads the bytes, one file for each format finds the blocks, `chunk` merges small ones and splits large
//! ones.

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

pub(crate) use chunk::Chunk;
pub use chunk::MAX_KEEP_TOGETHER_TOKENS;
pub use decode::is_binary;
pub use format::DocFormat;
pub(crate) use format::programming_language;

use crate::error::Result;
use chunk::MergeScope;

/// Version of the chunker. Raised whenever it splits a document differently, so that unchanged documents are chunked
/// anew.
pub(crate) const CHUNKER_VERSION: u32 = 2;

/// Parsed document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedDocument {
    /// Title in the document.
    pub title: Option<String>,
    /// Chunks in their order.
    pub chunks: Vec<Chunk>,
    /// Note on damage that was tolerated.
    pub note: Option<String>,
}

/// Parses a document into chunks, or returns why it cannot be read.
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
