//! Kills of every command that writes, from its start to its acknowledgement: what it acknowledged is there.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{home::TestHome, kill::word, random::TestRandom};

/// Kills of each command: half at a random moment, half right after the acknowledgement.
const KILLS: usize = 6;

/// Command that writes a word: name, and arguments and standard input made from the word.
type WritingCommand = (&'static str, fn(&TestHome, &str) -> (Vec<String>, String));

const COMMANDS: [WritingCommand; 10] = [
    ("remember", |_, word| (args(&["remember", &text(word)]), String::new())),
    ("observe", |_, word| (args(&["observe", "--session", "s"]), text(word) + "\n")),
    ("ingest", |home, word| {
        (args(&["ingest", &file(home, "md", word, &text(word))]), String::new())
    }),
    ("memory import", |home, word| {
        let line = json!({ "content": text(word) }).to_string() + "\n";
        (args(&["memory", "import", &file(home, "jsonl", word, &line)]), String::new())
    }),
    ("import", |home, word| {
        let export = json!({ "results": [{ "id": word, "memory": text(word) }] }).to_string();
        (args(&["import", "mem0", &file(home, "json", word, &export)]), String::new())
    }),
    ("layer add", |_, word| {
        (args(&["layer", "add", "memory", "Notes", &text(word)]), String::new())
    }),
    ("vault sync", |home, word| {
        let page =
            format!("---\nname: {word}\ndescription: d\ntype: user\n---\n\n{}\n", text(word));
        fs::write(home.path().join(format!("vault/user_{word}.md")), page).unwrap();
        (args(&["vault", "sync"]), String::new())
    }),
    ("fs add", |home, word| {
        let uri = format!("resources/{word}.md");
        (args(&["fs", "add", &uri, "--file", &file(home, "md", word, &text(word))]), String::new())
    }),
    ("tool call", |_, word| {
        let input = json!({ "content": text(word) }).to_string();
        (args(&["tool", "call", "memory_save", &input]), String::new())
    }),
    ("hook", |home, word| {
        let event = json!({
            "session_id": word, "cwd": home.sibling(""), "hook_event_name": "UserPromptSubmit",
            "turn_id": word, "prompt": text(word),
        });
        (args(&["hook", "codex", "UserPromptSubmit"]), event.to_string())
    }),
];

fn args(given: &[&str]) -> Vec<String> {
    given.iter().map(|arg| (*arg).to_owned()).collect()
}

fn text(word: &str) -> String {
    format!("the word is {word} 暗号")
}

/// Writes a file for a command and returns its path.
fn file(home: &TestHome, end: &str, word: &str, text: &str) -> String {
    crate::home::write_file(&home.sibling(&format!("{word}.{end}")), text)
}

/// Runs a command and kills it at the moment, or after its first line if there is none; returns `true` if it acknowledged:
/// by a whole line, or by its own successful end.
fn acknowledges(
    home: &TestHome,
    command: &[String],
    input: &str,
    moment: Option<Duration>,
) -> bool {
    let json = command[0] != "hook";
    let command = if json { [&["--json".to_owned()], command].concat() } else { command.to_vec() };
    let mut child = home.start(&command);
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    let mut printed = String::new();
    match moment {
        Some(moment) => std::thread::sleep(moment),
        None => drop(answers.read_line(&mut printed).unwrap()),
    }
    let ended = child.try_wait().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    answers.read_to_string(&mut printed).unwrap();
    assert!(!printed.contains("\"error\""), "{command:?}: {printed}");
    json && printed.ends_with('\n') || ended.is_some_and(|status| status.success())
}

#[test]
fn whatever_a_command_acknowledged_survives_its_kill() {
    let home = TestHome::in_ram();
    home.json(&["vault", "init"]);
    fs::write(home.path().join("config.toml"), "[layers]\nmemory_chars = 100000\n").unwrap();
    let (mut random, mut number, mut acknowledged) = (TestRandom::new(), 0, Vec::new());
    for (name, command) in COMMANDS {
        let mut count = 0;
        let mut usual = Duration::from_millis(200);
        for round in 0..KILLS {
            number += 1;
            let word = word(number);
            let (command, input) = command(&home, &word);
            let share = random.below(120) as u32;
            let moment = (round % 2 == 1 || name == "hook").then(|| usual * share / 100);
            let began = Instant::now();
            // A hook prints nothing, so its first run is left to its end.
            let moment = if round == 0 && name == "hook" { Some(usual * 20) } else { moment };
            if acknowledges(&home, &command, &input, moment) {
                count += 1;
                acknowledged.push((name, word));
            }
            usual = if round == 0 && name != "hook" { began.elapsed() } else { usual };
        }
        println!("{name}: {count} of {KILLS} acknowledged");
        assert!(count > 0, "{name} acknowledged nothing");
    }
    home.run(&["hook", "codex", "drain"]);
    home.assert_healthy();
    let layer = fs::read_to_string(home.path().join("memories/MEMORY.md")).unwrap();
    let all = home.run(&["memory", "export"]).out + &layer;
    for (name, word) in &acknowledged {
        assert!(all.contains(word), "{name} lost {word}");
    }
}
