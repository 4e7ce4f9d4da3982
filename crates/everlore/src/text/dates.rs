//! Stub.
use crate::types::Timestamp;
/// x
pub struct TimeMention {
    /// x
    pub start: Timestamp,
    /// x
    pub end: Timestamp,
    /// x
    pub span: std::ops::Range<usize>,
}
/// x
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub enum SessionOrdinal {
    /// x
    First(u32),
    /// x
    Last(u32),
}
/// x
pub fn find_times(_t: &str, _now: &jiff::Zoned) -> Vec<TimeMention> {
    vec![]
}
/// x
pub fn find_session_ordinal(_t: &str) -> Option<SessionOrdinal> {
    None
}
/// x
pub fn asks_when(_t: &str) -> bool {
    false
}
/// x
pub fn mentions_time(text: &str) -> bool {
    text.contains("yesterday")
}
