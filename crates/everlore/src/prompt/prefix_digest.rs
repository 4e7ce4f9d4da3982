//! How much of the beginning of a prompt is still what it was, which is what a provider's cache of it can use (A8).

use sha2::{Digest, Sha256};

/// Changes are told to so many bytes: finer than the steps in which providers keep prompts.
const CHUNK_BYTES: usize = 1_024;

/// What is kept of a text to tell later how much of it changed. The text cannot be read from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrefixDigest {
    bytes: usize,
    chunk_digests: Vec<[u8; 8]>,
    fingerprint: String,
}

impl PrefixDigest {
    /// The mark of a text.
    pub fn of(text: &[u8]) -> Self {
        let whole = digest(text);
        Self {
            bytes: text.len(),
            chunk_digests: text.chunks(CHUNK_BYTES).map(short_digest).collect(),
            fingerprint: whole[..16].iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }

    /// How many bytes the text has.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The same for the same text.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// From where on `now` no longer begins with the text, as bytes of the text to its end: none if it still does.
    pub fn changed_bytes(&self, now: &[u8]) -> usize {
        let now = &now[..now.len().min(self.bytes)];
        let mut pieces = now.chunks(CHUNK_BYTES).map(short_digest);
        let same =
            self.chunk_digests.iter().take_while(|piece| pieces.next().as_ref() == Some(piece));
        self.bytes.saturating_sub(same.count() * CHUNK_BYTES)
    }
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

fn short_digest(piece: &[u8]) -> [u8; 8] {
    let mut short = [0; 8];
    short.copy_from_slice(&digest(piece)[..8]);
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_only_added_to_has_not_changed() {
        for text in ["", "你是一个助手。", &"You are helpful. 你好。".repeat(300)] {
            let mark = PrefixDigest::of(text.as_bytes());
            assert_eq!(mark.bytes(), text.len());
            assert_eq!(mark.changed_bytes(text.as_bytes()), 0);
            assert_eq!(mark.changed_bytes(format!("{text} 还有 more").as_bytes()), 0);
        }
    }

    #[test]
    fn a_change_counts_from_where_it_is_to_the_end() {
        let text = "茶".repeat(1_000);
        let mark = PrefixDigest::of(text.as_bytes());
        assert_eq!(mark.changed_bytes(text.replacen('茶', "酒", 1).as_bytes()), 3_000);
        let late = format!("{}酒", &text[..text.len() - 3]);
        assert_eq!(mark.changed_bytes(late.as_bytes()), 3_000 - 2 * CHUNK_BYTES);
        assert_eq!(mark.changed_bytes(&text.as_bytes()[..1_500]), 3_000 - CHUNK_BYTES);
        assert_eq!(mark.changed_bytes(b""), 3_000);
        assert_ne!(mark.fingerprint(), PrefixDigest::of(late.as_bytes()).fingerprint());
        assert_eq!(mark.fingerprint().len(), 32);
    }
}
