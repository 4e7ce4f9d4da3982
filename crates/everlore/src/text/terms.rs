//! Stub.
/// x
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub struct Term(pub u64);
/// x
pub const TERMS_VERSION: u32 = 1;
impl Term {
    /// x
    pub fn of(s: &str) -> Self {
        Self(xxhash_rust::xxh3::xxh3_64(s.as_bytes()))
    }
}
/// x
pub fn for_each_term(text: &str, each: &mut dyn FnMut(&str)) {
    for w in text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
        each(&w.to_lowercase())
    }
}
/// x
pub fn terms(text: &str) -> Vec<String> {
    let mut v = vec![];
    for_each_term(text, &mut |t| v.push(t.to_owned()));
    v
}
