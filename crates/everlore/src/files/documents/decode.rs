//! Decoding of bytes: byte order marks, UTF-8 and UTF-16, and detection of binary files.

use crate::error::{Error, Result};

/// Bytes at the start of a file that are sniffed.
const SNIFF_BYTES: usize = 8 * 1024;

/// Bytes for each control character that a text may have.
const BYTES_PER_CONTROL: usize = 100;

/// Letters beyond ASCII for each damaged one; with more damage it is another encoding.
const LETTERS_PER_DAMAGE: usize = 10;

/// Bytes for each damaged one in text that is nearly all ASCII.
const BYTES_PER_DAMAGE: usize = 1_000;

/// Decoded text, with a note on damage.
#[derive(Debug)]
pub(super) struct DecodedText {
    pub(super) text: String,
    pub(super) note: Option<String>,
}

/// Decodes bytes as text, or returns why they are none.
pub(super) fn decode(bytes: &[u8]) -> Result<DecodedText> {
    if let Some(wide) = bytes.strip_prefix(b"\xff\xfe") {
        return Ok(decode_utf16(wide, u16::from_le_bytes));
    }
    if let Some(wide) = bytes.strip_prefix(b"\xfe\xff") {
        return Ok(decode_utf16(wide, u16::from_be_bytes));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if is_binary(bytes) {
        return Err(Error::invalid(
            "it is a binary file",
            "only text can be ingested; convert it to text or markdown first",
        ));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(DecodedText { text: text.to_owned(), note: None }),
        Err(_) => decode_lossy(bytes),
    }
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> DecodedText {
    let units: Vec<u16> = bytes.as_chunks().0.iter().copied().map(unit).collect();
    let text = String::from_utf16_lossy(&units);
    let damaged = bytes.len() % 2 == 1 || text.contains('\u{fffd}');
    DecodedText { text, note: damaged.then(|| "damaged UTF-16 was replaced by �".to_owned()) }
}

/// Returns `true` if the bytes are no text: without a byte order mark of UTF-16, they hold a NUL or more control
/// characters than any text has.
pub fn is_binary(bytes: &[u8]) -> bool {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return false;
    }
    let start = &bytes[..bytes.len().min(SNIFF_BYTES)];
    let controls = start.iter().filter(|byte| is_control(**byte)).count();
    bytes.contains(&0) || controls * BYTES_PER_CONTROL > start.len()
}

/// Returns `true` for a control character that no text has: tabs, line ends, page breaks, terminal escapes and the old
/// end-of-file mark do occur in text.
fn is_control(byte: u8) -> bool {
    byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | 0x1a | 0x1b)
}

/// Decodes bytes that are almost UTF-8.
fn decode_lossy(bytes: &[u8]) -> Result<DecodedText> {
    let (mut letters, mut damaged) = (0, 0);
    for part in bytes.utf8_chunks() {
        letters += part.valid().chars().filter(|c| !c.is_ascii()).count();
        damaged += usize::from(!part.invalid().is_empty());
    }
    if damaged * LETTERS_PER_DAMAGE > letters && damaged * BYTES_PER_DAMAGE > bytes.len() {
        return Err(Error::invalid(
            "it is not UTF-8",
            "convert it first, for example with: iconv -f WINDOWS-1252 -t UTF-8 (or -f GBK for Chinese)",
        ));
    }
    let places = if damaged == 1 { "place" } else { "places" };
    let note = format!("it is not valid UTF-8 in {damaged} {places}, replaced by �");
    Ok(DecodedText { text: String::from_utf8_lossy(bytes).into_owned(), note: Some(note) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        decode(bytes).unwrap().text
    }

    fn refused(bytes: &[u8]) -> String {
        decode(bytes).unwrap_err().to_string()
    }

    #[test]
    fn marks_of_byte_order_are_no_text() {
        assert_eq!(text(b"\xef\xbb\xbf\xe8\x8c\xb6"), "茶");
        assert_eq!(text(b"\xff\xfeT\0e\0a\0"), "Tea");
        assert_eq!(text(b"\xfe\xff\x83\x36"), "茶");
        assert!(decode(b"\xff\xfeT\0e").unwrap().note.is_some());
    }

    #[test]
    fn binary_files_are_recognised() {
        for bytes in [&b"\x7fELF\x02\x01\x01\0\0"[..], b"\x89PNG\r\n\x1a\n\0\0\0", b"\x01\x02\x03"]
        {
            assert_eq!(refused(bytes), "it is a binary file");
        }
        assert_eq!(text(b"\x1b[1mbold\x1b[0m\x0c\n"), "\u{1b}[1mbold\u{1b}[0m\u{c}\n");
    }

    #[test]
    fn other_encodings_are_told_and_single_damages_put_up_with() {
        assert_eq!(refused(b"Un caf\xe9 cr\xe8me"), "it is not UTF-8");
        // 你好 in GBK.
        assert_eq!(refused(b"\xc4\xe3\xba\xc3"), "it is not UTF-8");
        let damaged = ["茶".repeat(50).as_bytes(), b"\xff", "茶".as_bytes()].concat();
        let decoded = decode(&damaged).unwrap();
        assert!(decoded.text.ends_with("茶\u{fffd}茶"));
        assert_eq!(decoded.note.unwrap(), "it is not valid UTF-8 in 1 place, replaced by �");
    }
}
