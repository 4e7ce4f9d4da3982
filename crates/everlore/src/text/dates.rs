//! Stub.
/// x
pub fn mentions_time(text: &str) -> bool {
    text.contains("yesterday")
}
