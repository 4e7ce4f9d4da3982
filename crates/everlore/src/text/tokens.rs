//! Stub.
/// x
pub fn estimate(text: &str) -> usize {
    text.len() / 3 + 1
}
