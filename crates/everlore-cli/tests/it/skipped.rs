//! Report of tests that cannot run on this machine.

use std::{collections::BTreeSet, io::Write, sync::Mutex};

/// Reasons that were printed already.
static REPORTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Prints one line for all tests that are skipped for the same reason. It is written past the capture of test output,
/// which hides what a passing test prints.
pub(crate) fn report_skipped(tests: &str, reason: &str) {
    let line = format!("skipped: {tests}; {reason}\n");
    if REPORTED.lock().unwrap().insert(line.clone()) {
        // A closed standard error is ignored.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}
