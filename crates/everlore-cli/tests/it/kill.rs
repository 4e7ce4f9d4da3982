//! Kills of the binary at random moments while it saves: every acknowledged turn is stored and can be found.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
};

use serde_json::Value;

use crate::{
    home::{CommandOutput, TestHome},
    random::TestRandom,
};

const ROUNDS: usize = 200;

/// Turns of one round.
const TURNS: usize = 24;

/// Most spins between the last acknowledgement and the kill, some milliseconds: kills hit all parts of a save.
const MAX_SPINS: usize = 1_000_000;

/// Words of one query: with the two turns before and after each, all fit into one answer of a hundred.
const QUERY_BATCH: usize = 16;

#[test]
fn whatever_was_acknowledged_survives_a_kill_at_any_moment() {
    let home = TestHome::new();
    let mut random = TestRandom::new();
    let mut acknowledged: Vec<(String, String)> = Vec::new();
    let mut next = 0;
    for round in 0..ROUNDS {
        acknowledged.extend(save_until_killed(&home, round, &mut next, &mut random));
    }
    println!("{} of {next} turns acknowledged", acknowledged.len());
    assert!(acknowledged.len() >= ROUNDS, "each round acknowledges a turn before its kill");
    home.assert_healthy();
    assert_all_stored(&home, &acknowledged);
    assert_all_found(&home, &acknowledged);
}

#[test]
fn a_home_whose_making_was_killed_is_made_again() {
    let mut random = TestRandom::new();
    for _ in 0..20 {
        let home = TestHome::new();
        let mut child = home.start(&["remember", "the first tea"]);
        spin(&mut random, MAX_SPINS);
        child.kill().unwrap();
        child.wait().unwrap();
        home.remember("the second tea");
        assert!(home.recall("second").contains(&"the second tea".to_owned()));
        home.assert_healthy();
    }
}

/// Starts a process, kills it after some acknowledgements, one at least, and returns the id and the word of every turn
/// that it acknowledged.
fn save_until_killed(
    home: &TestHome,
    round: usize,
    next: &mut usize,
    random: &mut TestRandom,
) -> Vec<(String, String)> {
    let mut child = home.start(&["observe", "--session", &format!("round-{}", round % 7)]);
    let words: Vec<String> = (*next..*next + TURNS).map(word).collect();
    *next += TURNS;
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    let mut lines = Vec::new();
    let (mut sent, enough) = (0, 1 + random.below(TURNS));
    while lines.len() < enough {
        let group = if sent < TURNS { 1 + random.below(TURNS - sent) } else { 0 };
        let turns = words[sent..sent + group].iter();
        let turns: String = turns.map(|word| format!("他说 the word is {word}\n")).collect();
        // All turns of a round fit into the pipe, so this never waits.
        stdin.write_all(turns.as_bytes()).unwrap();
        sent += group;
        let wanted = (sent - lines.len()).min(enough - lines.len());
        for _ in 0..1 + random.below(wanted) {
            lines.push(next_line(&mut answers).expect("the process ended by itself"));
        }
    }
    spin(random, MAX_SPINS);
    child.kill().unwrap();
    child.wait().unwrap();
    // Acknowledgements from before the kill count, even if they were not read yet.
    lines.extend(std::iter::from_fn(|| next_line(&mut answers)));
    let id = |line: &String| {
        serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned()
    };
    lines.iter().map(id).zip(words).collect()
}

/// Reads the next complete line; a line cut short by the kill is no acknowledgement.
fn next_line(answers: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    answers.read_line(&mut line).unwrap();
    line.ends_with('\n').then_some(line)
}

fn assert_all_stored(home: &TestHome, acknowledged: &[(String, String)]) {
    let lines = home.run(&["memory", "export"]).lines();
    let stored: HashMap<&str, &str> = lines[1..]
        .iter()
        .map(|line| &line["memory"])
        .map(|memory| (memory["id"].as_str().unwrap(), memory["content"].as_str().unwrap()))
        .collect();
    for (id, word) in acknowledged {
        assert!(
            stored.get(id.as_str()).is_some_and(|text| text.ends_with(word)),
            "{id} {word} is lost"
        );
    }
}

fn assert_all_found(home: &TestHome, acknowledged: &[(String, String)]) {
    for turns in acknowledged.chunks(QUERY_BATCH) {
        let words: Vec<&str> = turns.iter().map(|(_, word)| word.as_str()).collect();
        let answer =
            by_words_alone(home, &["--json", "recall", &words.join(" "), "--limit", "100"]);
        let hits = answer["hits"].as_array().unwrap();
        for (id, word) in turns {
            assert!(hits.iter().any(|hit| hit["id"] == id.as_str()), "{word} is not found");
        }
    }
}

/// Runs a command whose recall goes by words alone: by meaning, one turn of nonsense is as near to sixteen words of nonsense
/// as any other.
fn by_words_alone(home: &TestHome, args: &[&str]) -> Value {
    let output = home.command(args).env("EVERLORE_RECALL__SEMANTIC", "0").output().unwrap();
    CommandOutput::from(output).json()
}

/// Spins for a random while, at most `max_spins` turns of a loop.
pub(crate) fn spin(random: &mut TestRandom, max_spins: usize) {
    for _ in 0..random.below(max_spins) {
        std::hint::spin_loop();
    }
}

/// Returns a unique word for a number: hexadecimal in consonants that no stemming touches.
pub(crate) fn word(number: usize) -> String {
    let letter = |digit: char| b"bcfhjkmnpqrtvwxz"[digit.to_digit(16).unwrap() as usize] as char;
    format!("zz{}", format!("{number:06x}").chars().map(letter).collect::<String>())
}
