//! Documents of every format.

#![no_main]

#[allow(dead_code, reason = "each target runs one of the checks")]
#[path = "../checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|input: &[u8]| checks::check_documents(input));
