//! Any query can be searched for the times it names.

#![no_main]

use everlore::text::dates::find_times;
use jiff::civil::date;
use jiff::tz::TimeZone;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let now = date(2026, 3, 2).to_zoned(TimeZone::UTC).expect("a day that exists");
    let _ = find_times(text, &now);
});
