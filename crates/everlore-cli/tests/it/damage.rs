//! Damaged databases: no command panics, the damage is told, and it is repaired by rebuilding the index or refused with a
//! clear error.

use std::fs;

use crate::{
    home::{TestHome, turn_lines},
    random::TestRandom,
};

/// Damaged databases; each at another page and in another way.
const DATABASES: usize = 64;

/// Size of a page of the database.
const PAGE: usize = 4_096;

/// Returns the bytes of a database with sealed blocks, vectors, a tail, a journal and deleted memories.
fn database() -> Vec<u8> {
    let home = TestHome::new();
    let texts: Vec<String> =
        (0..400).map(|number| format!("turn {number} about tea 第{number}句说茶")).collect();
    home.run_with_input(&["observe"], turn_lines(texts.iter().map(String::as_str)).as_bytes());
    let first = home.remember("Lunch is at noon");
    home.remember("我喜欢喝龙井茶");
    home.run(&["memory", "delete", &first]);
    fs::read(home.path().join("everlore.db")).unwrap()
}

/// Damages one page: flipped bits, zeros, noise, or the content of another page.
fn damage(bytes: &mut [u8], number: usize, random: &mut TestRandom) {
    let pages = bytes.len() / PAGE;
    let at = (number * pages / DATABASES) * PAGE;
    // The header says what the file is; a file that is no database has a test of its own.
    let from = at.max(100);
    match number % 6 {
        0 | 2 | 4 => (0..8).for_each(|_| {
            let bit = random.below((at + PAGE - from) * 8);
            bytes[from + bit / 8] ^= 1 << (bit % 8);
        }),
        1 => bytes[from..at + PAGE].fill(0),
        3 => (from..at + PAGE).for_each(|byte| bytes[byte] = random.below(256) as u8),
        _ => {
            let other = random.below(pages) * PAGE;
            bytes.copy_within(other.max(100)..other.max(100) + PAGE - 100, from);
        }
    }
}

/// Runs a command on a damaged home: it may succeed or fail, and says why.
fn run_unharmed(home: &TestHome, number: usize, args: &[&str]) -> (i32, String) {
    let ran = home.run(args);
    let printed = format!("{}{}", ran.out, ran.err);
    assert!(!printed.contains("panicked"), "database {number}, {args:?}: {printed}");
    assert!((0..=2).contains(&ran.code), "database {number}, {args:?}: {ran:?}");
    assert!(ran.code != 2 || printed.len() > 20, "database {number}, {args:?}: {ran:?}");
    (ran.code, printed)
}

/// Returns a home with this database: a save that failed would leave a rescue log in one that is used again.
fn home_with(bytes: &[u8]) -> TestHome {
    let home = TestHome::new();
    everlore::internal::files::atomic_file::create_private_folder(&home.path()).unwrap();
    fs::write(home.path().join("everlore.db"), bytes).unwrap();
    home
}

#[test]
fn damaged_databases_are_told_and_repaired_or_refused_and_never_a_panic() {
    let (whole, mut random) = (database(), TestRandom::with_seed(7));
    let (mut told, mut repaired) = (0, 0);
    for number in 0..DATABASES {
        let mut bytes = whole.clone();
        damage(&mut bytes, number, &mut random);
        let home = home_with(&bytes);
        run_unharmed(&home, number, &["recall", "what did I say about tea 龙井茶"]);
        let (before, finding) = run_unharmed(&home, number, &["doctor"]);
        let (after, printed) = run_unharmed(&home, number, &["doctor", "--repair"]);
        run_unharmed(&home, number, &["remember", "written after the damage 之后写的"]);
        told += usize::from(before != 0);
        if before != 0 && after == 0 {
            repaired += 1;
            assert!(printed.contains("the index was rebuilt from"), "{number}: {finding}{printed}");
            let (code, printed) = run_unharmed(&home, number, &["recall", "turn 7 第7句"]);
            assert!(code < 2, "database {number} after its repair: {printed}");
        }
    }
    // Some pages hold nothing. Flipped bits in the index are repaired; what breaks SQLite's own structure is refused.
    assert!(told > DATABASES / 2, "only {told} of {DATABASES} were told");
    assert!(repaired > DATABASES / 16, "only {repaired} of {told} were repaired");
}
