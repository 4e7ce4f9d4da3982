//! Any text can be folded and cut into terms, and no term is empty.

#![no_main]

use everlore::text::fold::fold;
use everlore::text::terms::terms;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = fold(text);
    assert!(terms(text).iter().all(|term| !term.is_empty()));
});
