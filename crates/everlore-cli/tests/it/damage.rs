//! Damaged databases: no command panics, the damage is told, and it is repaired by rebuilding the index or refused with a
//! clear error.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
};

use crate::{
    home::{TestHome, turn_lines},
    random::TestRandom,
};

/// Damaged databases; each at another page and in another way.
const DATABASES: usize = 64;

/// Shortened databases, and damaged write-ahead logs.
const CUT_DATABASES: usize = 8;
const DAMAGED_LOGS: usize = 12;

/// Turns in a write-ahead log.
const LOGGED_TURNS: usize = 40;

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
    let (whole, mut random) = (database(), TestRandom::new_or(7));
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

#[test]
fn databases_that_end_too_early_are_told_or_refused() {
    let (whole, mut random) = (database(), TestRandom::new_or(7));
    for number in 0..CUT_DATABASES {
        let home = home_with(&whole[..1 + random.below(whole.len() - 1)]);
        let (recalled, _) = run_unharmed(&home, number, &["recall", "tea 茶"]);
        let (before, finding) = run_unharmed(&home, number, &["doctor"]);
        assert!(before != 0 || recalled != 2, "database {number} fails untold: {finding}");
        run_unharmed(&home, number, &["doctor", "--repair"]);
        run_unharmed(&home, number, &["remember", "written after the damage 之后写的"]);
    }
}

/// Returns a database and its write-ahead log as a process leaves them that is killed after its turns were acknowledged.
fn killed_database() -> [Vec<u8>; 2] {
    let home = TestHome::new();
    home.remember("the first 第一句");
    let mut child = home.start(&["observe", "--session", "s"]);
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    for number in 0..LOGGED_TURNS {
        stdin.write_all(format!("turn {number:02} 第{number:02}句说茶\n").as_bytes()).unwrap();
        answers.read_line(&mut String::new()).unwrap();
    }
    let read = |end: &str| fs::read(home.path().join(format!("everlore.db{end}"))).unwrap();
    let files = ["", "-wal"].map(read);
    child.kill().unwrap();
    child.wait().unwrap();
    files
}

/// Damages a log: flipped bits, zeros, or its end cut off.
fn damage_log(log: &mut Vec<u8>, number: usize, random: &mut TestRandom) {
    let at = random.below(log.len());
    let end = log.len().min(at + 1 + random.below(PAGE));
    match number % 3 {
        0 => log[at] ^= 1 << random.below(8),
        1 => log[at..end].fill(0),
        _ => log.truncate(at),
    }
}

/// SQLite reads a log up to the first frame whose checksum does not match, as after a power cut: what came before is
/// whole, and the doctor finds no contradiction.
#[test]
fn a_damaged_write_ahead_log_loses_its_end_and_nothing_before() {
    let ([database, log], mut random) = (killed_database(), TestRandom::new_or(7));
    assert!(log.len() > PAGE, "the turns are in the log");
    let mut most = 0;
    for number in 0..=DAMAGED_LOGS {
        let mut log = log.clone();
        if number > 0 {
            damage_log(&mut log, number, &mut random);
        }
        let home = home_with(&database);
        fs::write(home.path().join("everlore.db-wal"), log).unwrap();
        let (code, exported) = run_unharmed(&home, number, &["memory", "export"]);
        assert_eq!(code, 0, "database {number}: {exported}");
        let stored = |turn: &usize| exported.contains(&format!("turn {turn:02} "));
        let whole = (0..LOGGED_TURNS).take_while(stored).count();
        assert_eq!(
            (0..LOGGED_TURNS).filter(stored).count(),
            whole,
            "no turn is missing before others"
        );
        most = most.max(whole);
        home.assert_healthy();
        run_unharmed(&home, number, &["remember", "written after the damage 之后写的"]);
        home.assert_healthy();
    }
    assert_eq!(most, LOGGED_TURNS, "the log without damage has all turns");
}
