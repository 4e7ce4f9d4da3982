//! Checksums of stored index rows. SQLite notices damage of its own structure, not of the bytes that it stores, and a
//! damaged posting would only rank memories wrongly.

use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a checksum at the end of a row.
pub(crate) const CHECKSUM_BYTES: usize = 4;

/// Returns the checksum of some bytes: half of a fast hash, which misses one damage in four billion.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    xxh3_64(bytes) as u32
}

/// Returns the bytes with their checksum at the end.
pub(crate) fn with_checksum(bytes: &[u8]) -> Vec<u8> {
    [bytes, &checksum(bytes).to_le_bytes()].concat()
}

/// Returns the bytes without their checksum; `None` if it does not match.
pub(crate) fn verify(bytes: &[u8]) -> Option<&[u8]> {
    let (bytes, stored) = bytes.split_last_chunk::<CHECKSUM_BYTES>()?;
    (checksum(bytes) == u32::from_le_bytes(*stored)).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_noticed() {
        let row = with_checksum("茶 tea".as_bytes());
        assert_eq!(verify(&row), Some("茶 tea".as_bytes()));
        for bit in 0..row.len() * 8 {
            let mut damaged = row.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(verify(&damaged), None, "bit {bit}");
        }
        assert_eq!(verify(&row[..row.len() - 1]), None);
        assert_eq!(verify(&[]), None);
    }
}
