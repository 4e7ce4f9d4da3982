//! Way out of a prompt block: hostile text in every field.

#![no_main]

#[allow(dead_code, reason = "each target runs one of the checks")]
#[path = "../checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|input: &str| checks::check_sanitize(input));
