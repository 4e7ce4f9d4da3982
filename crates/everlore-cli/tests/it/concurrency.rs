//! Eight processes save and read on one home at the same time: everything is stored, and no command fails.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::Child,
    sync::mpsc,
    thread,
};

use crate::home::{CommandOutput, TestHome};

const PROCESSES: usize = 8;
const SAVES: usize = 500;
/// Turns in flight at a time: some wait for their answer, some are sent together.
const WINDOW: usize = 10;

#[test]
fn many_processes_save_and_read_without_loss_or_refusal() {
    let home = TestHome::new();
    thread::scope(|scope| {
        for process in 0..PROCESSES {
            let home = &home;
            scope.spawn(move || save_and_read(home, process));
        }
    });
    let stats = home.json(&["memory", "stats"]);
    assert_eq!(stats["total"], PROCESSES * (SAVES + SAVES / 100), "{stats}");
    for process in 0..PROCESSES {
        for number in [0, SAVES / 2, SAVES - 1] {
            let found = home.recall(&word(process, number));
            assert!(found[0].contains(&word(process, number)), "{found:?}");
        }
    }
    home.assert_healthy();
}

fn save_and_read(home: &TestHome, process: usize) {
    let session = format!("session-{process}");
    let mut child = home.start(&["observe", "--session", &session]);
    let mut stdin = child.stdin.take().unwrap();
    let answers = answers(&mut child);
    let mut answered = 0;
    for number in 0..SAVES {
        writeln!(stdin, "process {process} says {}", word(process, number)).unwrap();
        while number + 1 - answered > WINDOW {
            accept(&answers.recv().unwrap());
            answered += 1;
        }
        if number % 100 == 99 {
            read(home, process, answered);
        }
    }
    drop(stdin);
    answers.iter().for_each(|answer| {
        accept(&answer);
        answered += 1;
    });
    assert_eq!(answered, SAVES);
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(errors, "");
    assert!(child.wait().unwrap().success());
}

/// Runs other commands meanwhile.
fn read(home: &TestHome, process: usize, answered: usize) {
    let last = word(process, answered - 1);
    let ran = home.run(&["--json", "recall", &last]);
    check(&ran);
    assert!(ran.json()["hits"][0]["content"].as_str().unwrap().contains(&last), "{ran:?}");
    check(&home.run(&["remember", &format!("note {process} {answered} of a crowd")]));
    check(&home.run(&["memory", "list"]));
    check(&home.run(&["context", &last]));
}

fn check(ran: &CommandOutput) {
    assert!([0, 1].contains(&ran.code), "{ran:?}");
    assert!(!ran.out.contains("locked") && !ran.err.contains("locked"), "{ran:?}");
}

fn accept(answer: &str) {
    assert!(answer.starts_with("{\"id\":"), "{answer}");
}

/// Reads answers on a thread, so that neither side waits for the other.
fn answers(child: &mut Child) -> mpsc::Receiver<String> {
    let (sender, answers) = mpsc::channel();
    let stdout = child.stdout.take().unwrap();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    answers
}

/// Returns a word that no other turn has and that no stemming changes.
fn word(process: usize, number: usize) -> String {
    crate::kill::word(process * 10_000 + number)
}
