//! Numbers and passwords that differ in every call and every process.

use std::hash::{BuildHasher, RandomState};

/// Returns a number from the seed that the system gives to hash tables.
pub(crate) fn random_number() -> u64 {
    RandomState::new().hash_one(())
}

/// Returns a password of letters and digits, which is safe in a URL and in a statement.
pub(crate) fn random_password() -> String {
    format!("{:016x}{:016x}", random_number(), random_number())
}
