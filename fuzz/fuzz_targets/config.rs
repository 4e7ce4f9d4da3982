//! Any text is read as settings or refused with a line, and what was read can be shown and read again.

#![no_main]

use everlore::config::Config;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok((config, _)) = Config::parse(text) else { return };
    let _ = config.check();
    let (again, warnings) = Config::parse(&config.to_toml()).expect("shown settings can be read");
    assert!(warnings.is_empty());
    assert_eq!(again.to_toml(), config.to_toml());
});
