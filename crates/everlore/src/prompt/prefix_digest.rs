//! Prefix digest: measures how much of a prompt's beginning is unchanged and so usable by a provider's cache.

use sha2::{Digest, Sha256};

/// Resolution of the comparison: finer than the units in which providers cache prompts.
const CHUNK_BYTES: usize = 1_024;

/// Digest of a text by which later changes are located. The text cannot be read from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrefixDigest {
    bytes: usize,
    chunk_digests: Vec<[u8; 8]>,
    fingerprint: String,
}

impl PrefixDigest {
    /// Computes the digest of a text.
    pub fn of(text: &[u8]) -> Self {
        let whole = digest(text);
        Self {
            bytes: text.len(),
            chunk_digests: text.chunks(CHUNK_BYTES).map(short_digest).collect(),
            fingerprint: whole[..16].iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }

    /// Returns the length of the text in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns a fingerprint, equal for equal texts.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the bytes of the text from the first changed chunk to its end; 0 if `now` still begins with the text.
    pub fn changed_bytes(&self, now: &[u8]) -> usize {
        let now = &now[..now.len().min(self.bytes)];
        let mut chunks = now.chunks(CHUNK_BYTES).map(short_digest);
        let same =
            self.chunk_digests.iter().take_while(|chunk| chunks.next().as_ref() == Some(chunk));
        self.bytes.saturating_sub(same.count() * CHUNK_BYTES)
    }
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

fn short_digest(chunk: &[u8]) -> [u8; 8] {
    let mut short = [0; 8];
    short.copy_from_slice(&digest(chunk)[..8]);
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_only_added_to_has_not_changed() {
        for text in ["", "你是一个助手。", &"You are helpful. 你好。".repeat(300)] {
            let prefix = PrefixDigest::of(text.as_bytes());
            assert_eq!(prefix.bytes(), text.len());
            assert_eq!(prefix.changed_bytes(text.as_bytes()), 0);
            assert_eq!(prefix.changed_bytes(format!("{text} 还有 more").as_bytes()), 0);
        }
    }

    #[test]
    fn a_change_counts_from_where_it_is_to_the_end() {
        let text = "茶".repeat(1_000);
        let prefix = PrefixDigest::of(text.as_bytes());
        assert_eq!(prefix.changed_bytes(text.replacen('茶', "酒", 1).as_bytes()), 3_000);
        let late = format!("{}酒", &text[..text.len() - 3]);
        assert_eq!(prefix.changed_bytes(late.as_bytes()), 3_000 - 2 * CHUNK_BYTES);
        assert_eq!(prefix.changed_bytes(&text.as_bytes()[..1_500]), 3_000 - CHUNK_BYTES);
        assert_eq!(prefix.changed_bytes(b""), 3_000);
        assert_ne!(prefix.fingerprint(), PrefixDigest::of(late.as_bytes()).fingerprint());
        assert_eq!(prefix.fingerprint().len(), 32);
    }
}
