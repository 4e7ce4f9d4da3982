//! Parsing of a document without its secrets.

use crate::{
    error::Result,
    files::documents::{Chunk, DocFormat, ParsedDocument, parse},
    text::secrets::{mask_all, mask_keeping_lines},
};

/// Parses a document without its secrets: first in all of its text, since a key may be longer than a chunk, then in the
/// chunks of formats that hide their text.
pub(super) fn parse_masked(bytes: &[u8], format: DocFormat) -> Result<ParsedDocument> {
    let text = std::str::from_utf8(bytes).ok();
    let masked = text.map(mask_keeping_lines).filter(|(_, count)| *count > 0);
    let (bytes, count) = match &masked {
        Some((text, count)) => (text.as_bytes(), *count),
        None => (bytes, 0),
    };
    let mut parsed = parse(bytes, format)?;
    mask_chunks(&mut parsed, count);
    Ok(parsed)
}

/// Masks the secrets of every chunk and adds their number to the note, with those that were masked before.
fn mask_chunks(parsed: &mut ParsedDocument, before: usize) {
    let texts =
        |chunk: &mut Chunk| mask_all(chunk.heading_path.iter_mut().chain([&mut chunk.text])).len();
    let masked: usize = before + parsed.chunks.iter_mut().map(texts).sum::<usize>();
    if masked > 0 {
        let added = format!("masked {masked} {}", if masked == 1 { "secret" } else { "secrets" });
        parsed.note =
            Some(parsed.note.take().map_or(added.clone(), |note| format!("{note}; {added}")));
    }
}
