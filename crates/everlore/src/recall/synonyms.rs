//! Stub.
pub(super) fn synonyms_in(_q: &str) -> Vec<(String, Vec<&'static str>)> {
    vec![]
}
