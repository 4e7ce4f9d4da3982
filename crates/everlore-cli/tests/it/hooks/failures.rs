//! Hooks when something fails: the agent never notices.

use std::{
    fs,
    io::Read,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use serde_json::json;

use super::{
    MAX_HOOK_TIME, capture::changed_event, drain_spool, hook, pending_turns, recorded_event,
    replay::home_with_memories, turns,
};
use crate::{
    home::TestHome,
    kill::{spin, word},
    random::TestRandom,
};

#[test]
fn broken_input_exits_with_zero_and_prints_nothing() {
    let home = home_with_memories();
    let long = format!("{{\"session_id\":\"s\",\"prompt\":\"{}\"}}", "x".repeat(2_000_000));
    let deep = "[".repeat(100_000);
    for input in
        ["", "{", "null", "[]", "\u{0}", "{\"prompt\":3}", "{\"session_id\":{}}", &deep, &long]
    {
        assert_eq!(hook(&home, "claude-code", "UserPromptSubmit", input), None);
    }
    let ran = home.run_with_input(&["hook", "claude-code", "Stop"], &[0xff, 0xfe, 0x00]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
}

#[test]
fn wrong_arguments_and_settings_exit_with_zero_and_are_reported_on_standard_error() {
    let home = TestHome::new();
    for args in [
        &["hook"][..],
        &["hook", "emacs", "Stop"],
        &["hook", "codex", "Nothing"],
        &["hook", "codex", "Stop", "--wrong"],
    ] {
        let ran = home.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{args:?}");
        assert!(ran.err.contains("error"), "{args:?}: {}", ran.err);
    }
    fs::create_dir_all(home.path()).unwrap();
    fs::write(home.path().join("config.toml"), "[memory]\ninject = 3\n").unwrap();
    let ran = home.run_with_input(
        &["hook", "codex", "Stop"],
        recorded_event(&home, "codex", "Stop").as_bytes(),
    );
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    assert!(ran.err.contains("config.toml"), "{}", ran.err);
}

#[test]
fn a_switch_turns_hooks_off() {
    let home = home_with_memories();
    let mut command = home.command(&["hook", "codex", "UserPromptSubmit"]);
    let input = home.sibling("event.json");
    fs::write(&input, recorded_event(&home, "codex", "UserPromptSubmit")).unwrap();
    command.env("EVERLORE_HOOKS", "off").stdin(fs::File::open(&input).unwrap());
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    assert_eq!(pending_turns(&home), 0);
}

#[test]
fn an_input_that_never_ends_ends_with_the_limit() {
    let home = home_with_memories();
    for event in ["UserPromptSubmit", "SessionEnd"] {
        let mut command = home.command(&["hook", "claude-code", event]);
        let began = Instant::now();
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // The pipe stays open as long as `child` holds it.
        let stdin = child.stdin.take();
        let mut out = String::new();
        child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        assert!(child.wait().unwrap().success());
        assert!(began.elapsed() >= Duration::from_millis(900) && began.elapsed() < MAX_HOOK_TIME);
        assert_eq!(out, "");
        drop(stdin);
    }
}

#[test]
fn a_database_that_another_process_locks_loses_nothing() {
    let home = home_with_memories();
    let other = rusqlite::Connection::open(home.path().join("everlore.db")).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    hook(&home, "codex", "UserPromptSubmit", &recorded_event(&home, "codex", "UserPromptSubmit"));
    hook(&home, "codex", "Stop", &recorded_event(&home, "codex", "Stop"));
    assert_eq!(pending_turns(&home), 2);
    other.execute_batch("ROLLBACK").unwrap();
    drain_spool(&home);
    assert_eq!(turns(&home).len(), 2);
}

#[cfg(unix)]
#[test]
fn a_home_that_cannot_be_written_still_injects_or_stays_silent() {
    use std::os::unix::fs::PermissionsExt;
    let home = TestHome::new();
    // A file where the home should be: not even root can write below it.
    fs::write(home.path(), "not a folder").unwrap();
    for event in ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"] {
        let ran = home.run_with_input(
            &["hook", "claude-code", event],
            recorded_event(&home, "claude-code", event).as_bytes(),
        );
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{event}: {ran:?}");
    }
    let home = home_with_memories();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o500)).unwrap();
    let input = recorded_event(&home, "claude-code", "UserPromptSubmit");
    let ran = home.run_with_input(&["hook", "claude-code", "UserPromptSubmit"], input.as_bytes());
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn many_hooks_at_once_store_each_turn_once() {
    let home = TestHome::in_ram();
    home.remember("the first tea");
    let prompts: Vec<String> =
        (0..12).map(|number| format!("note the word {}", word(number))).collect();
    std::thread::scope(|scope| {
        for (number, prompt) in prompts.iter().enumerate() {
            for _ in 0..2 {
                let id = format!("p-{number}");
                let fields = json!({ "prompt": prompt, "prompt_id": id });
                let event = changed_event(&home, "claude-code", "UserPromptSubmit", &fields);
                let home = &home;
                scope.spawn(move || hook(home, "claude-code", "UserPromptSubmit", &event));
            }
        }
    });
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| home.run(&["hook", "codex", "store"]));
        }
    });
    let mut stored: Vec<String> =
        turns(&home).iter().map(|turn| turn[2].as_str().unwrap().to_owned()).collect();
    stored.sort();
    let mut expected = prompts;
    expected.sort();
    assert_eq!(stored, expected);
}

#[test]
fn whatever_a_hook_acknowledged_survives_kills_of_it_and_of_the_draining() {
    let home = TestHome::in_ram();
    home.remember("the first tea");
    let mut random = TestRandom::new();
    let mut acknowledged = Vec::new();
    for round in 0..60 {
        let prompt = format!("note the word {}", word(round));
        let fields = json!({ "prompt": prompt, "turn_id": format!("t-{round}") });
        let event = changed_event(&home, "codex", "UserPromptSubmit", &fields);
        let before = pending_turns(&home);
        let mut hook = home.start(&["hook", "codex", "UserPromptSubmit"]);
        std::io::Write::write_all(&mut hook.stdin.take().unwrap(), event.as_bytes()).unwrap();
        match round % 3 {
            // A third is killed anywhere, a third once its turn is in the spool, and a third ends by itself.
            0 => kill_after(&mut hook, &mut random, || true),
            1 => kill_after(&mut hook, &mut random, || pending_turns(&home) > before),
            _ => {}
        }
        if hook.wait().unwrap().success() {
            acknowledged.push(prompt);
        }
        let (before, stored) = (pending_turns(&home), random.below(3));
        let mut drain = home.start(&["hook", "codex", "store"]);
        kill_after(&mut drain, &mut random, || pending_turns(&home) + stored <= before);
        drain.wait().unwrap();
    }
    drain_spool(&home);
    home.assert_healthy();
    let stored: Vec<String> =
        turns(&home).iter().map(|turn| turn[2].as_str().unwrap().to_owned()).collect();
    println!("{} acknowledged, {} stored", acknowledged.len(), stored.len());
    assert!(acknowledged.len() >= 20, "every third hook ends by itself");
    for prompt in &acknowledged {
        assert_eq!(stored.iter().filter(|text| *text == prompt).count(), 1, "{prompt}");
    }
    let mut once = stored.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), stored.len(), "something was stored twice");
}

/// Waits until a condition holds or the process has ended, then a random while, and kills the process.
fn kill_after(child: &mut Child, random: &mut TestRandom, condition: impl Fn() -> bool) {
    while child.try_wait().unwrap().is_none() && !condition() {
        std::thread::yield_now();
    }
    spin(random, 500_000);
    let _ = child.kill();
}

#[test]
fn the_doctor_reports_what_hooks_left_and_what_to_do() {
    let home = home_with_memories();
    let folder = home.path().join("hooks/waiting");
    fs::create_dir_all(&folder).unwrap();
    let check = |home: &TestHome| {
        let ran = home.run(&["--json", "doctor"]);
        let checks = ran.json()["checks"].as_array().unwrap().clone();
        let of_hooks = checks.into_iter().filter(|check| check["check"] == "hooks");
        (ran.code, of_hooks.collect::<Vec<_>>())
    };
    let turn = json!({
        "scope": { "agent": "default", "user": "default" },
        "host": "codex",
        "turn": { "text": "我们把端口改成 7443。", "session": "left", "role": "user", "time": "2026-11-01T10:00:00Z" },
    });
    let put = |name: &str| {
        fs::write(folder.join(name), turn.to_string()).unwrap();
        fs::File::options().write(true).open(folder.join(name)).unwrap()
    };
    put("just-now.json");
    assert_eq!(check(&home), (0, vec![]), "a process is storing it");
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(600);
    put("just-now.json").set_modified(long_ago).unwrap();
    let (code, checks) = check(&home);
    assert_eq!((code, checks.len(), &checks[0]["status"]), (0, 1, &json!("note")), "{checks:?}");
    let hint = checks[0]["hint"].as_str().unwrap();
    assert!(checks[0]["message"].as_str().unwrap().starts_with("1 turn of hooks"), "{checks:?}");
    assert!(hint.contains("hook claude-code drain"), "{hint}");
    assert_eq!(home.run(&["hook", "claude-code", "drain"]).code, 0);
    assert_eq!(check(&home), (0, vec![]));
    assert!(turns(&home).iter().any(|turn| turn.to_string().contains("7443")));
    put("bad.refused");
    let (code, checks) = check(&home);
    assert_eq!((code, &checks[0]["status"]), (2, &json!("problem")), "{checks:?}");
    assert!(checks[0]["hint"].as_str().unwrap().contains("everlore observe"), "{checks:?}");
}
