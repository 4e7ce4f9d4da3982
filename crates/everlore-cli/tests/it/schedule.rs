//! `everlore schedule` and `everlore heartbeat`: words in, reminders out, wherever somebody listens.

use serde_json::{Value, json};

use crate::{
    chat::chat_home,
    home::TestHome,
    hooks::{hook, recorded_event},
};
use everlore_mock_llm::MockChat;

/// Returns the answer to a phrase said on Monday, 2 March 2026, at noon in Berlin.
fn explain(home: &TestHome, text: &str) -> (i32, Value) {
    let said = ["--now", "2026-03-02T12:00:00+01:00", "--tz", "Europe/Berlin"];
    let ran = home.run(&[&["--json", "schedule", "explain", text], &said[..]].concat());
    (ran.code, ran.json())
}

/// Repeats an action until it returns something: a schedule of every second is due soon.
pub(crate) fn until_some<T>(mut action: impl FnMut() -> Option<T>) -> T {
    let began = std::time::Instant::now();
    loop {
        if let Some(found) = action() {
            return found;
        }
        assert!(began.elapsed().as_secs() < 60, "nothing came");
    }
}

#[test]
fn a_phrase_is_explained_in_the_shape_that_programs_rely_on() {
    let home = TestHome::new();
    let next = ["2026-03-03", "2026-03-04", "2026-03-05", "2026-03-06", "2026-03-09"];
    let next: Vec<String> = next.iter().map(|day| format!("{day}T09:00:00+01:00")).collect();
    let answer = json!({ "kind": "recurring", "cron": "0 9 * * 1-5", "next": next });
    assert_eq!(explain(&home, "every weekday at 9"), (0, answer));
    let once = json!({ "kind": "once", "next": ["2026-03-02T12:20:00+01:00"], "task": "关火" });
    assert_eq!(explain(&home, "20分钟后提醒我关火"), (0, once));
    let (code, unclear) = explain(&home, "过几天提醒我");
    assert_eq!((code, &unclear["kind"], &unclear["next"]), (1, &json!("unclear"), &json!([])));
    assert!(unclear["unclear"].as_str().unwrap().contains("过几天"), "{unclear}");
    let output = home.run(&["schedule", "explain", "every other Monday at 9"]).out;
    assert!(output.starts_with("kind   recurring\nnext   "), "{output}");
    assert!(!home.path().join("everlore.db").exists(), "explaining needs no database");
}

#[test]
fn a_reminder_is_added_listed_removed_and_brought_back() {
    let home = TestHome::new();
    let add = ["schedule", "add", "every weekday at 9am water the plants", "--tz", "UTC"];
    let added = home.json(&add);
    assert_eq!(
        (&added["cron"], &added["task"]),
        (&json!("0 9 * * 1-5"), &json!("water the plants"))
    );
    let listed = home.json(&["schedule", "list"]);
    assert_eq!(listed["schedules"], json!([added]));
    let output = home.run(&["schedule", "list"]).out;
    assert!(output.contains("water the plants"), "{output}");
    home.json(&["schedule", "rm", added["id"].as_str().unwrap()]);
    assert_eq!(home.run(&["schedule", "list"]).code, 1);
    home.run(&["memory", "undo"]);
    assert_eq!(home.json(&["schedule", "list"])["schedules"].as_array().unwrap().len(), 1);
    let refused = home.run(&["schedule", "add", "soon call Mum"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("\"soon\"") && refused.err.contains("hint"), "{refused:?}");
    // Recall leaves it alone until its kind is named.
    assert_eq!(home.run(&["recall", "water the plants"]).code, 1);
    assert_eq!(home.run(&["recall", "water the plants", "--kind", "schedule"]).code, 0);
    home.assert_healthy();
}

#[test]
fn a_chat_shows_what_is_due_and_tells_the_model() {
    let (server, home) = chat_home(MockChat::new().says("Drink some water!").says("Hello."));
    home.json(&["schedule", "add", "in 1 second drink water"]);
    let chat = || home.run_with_input(&["chat", "--once"], b"Hi");
    until_some(|| {
        let due = home.json(&["schedule", "list"])["schedules"][0]["next"].clone();
        let due: jiff::Timestamp = due.as_str().unwrap().parse().unwrap();
        // Times are shown without their fractions of a second.
        (due + jiff::SignedDuration::from_secs(1) < jiff::Timestamp::now()).then_some(())
    });
    let ran = chat();
    assert!(ran.err.contains("reminder: drink water (due "), "{ran:?}");
    let sent = |request: usize| server.requests()[request].json().to_string();
    assert!(
        sent(0).contains("<reminders>") && sent(0).contains("drink water (due "),
        "{}",
        sent(0)
    );
    let again = chat();
    assert!(!again.err.contains("reminder") && !sent(1).contains("<reminders>"), "{again:?}");
}

#[test]
fn the_next_session_of_a_coding_agent_is_told() {
    let home = TestHome::new();
    home.json(&["schedule", "add", "每秒喝水"]);
    let event = recorded_event(&home, "claude-code", "SessionStart");
    let context = until_some(|| {
        let answer = hook(&home, "claude-code", "SessionStart", &event)?;
        let context = answer["hookSpecificOutput"]["additionalContext"].as_str()?.to_owned();
        context.contains("<reminders>").then_some(context)
    });
    assert!(context.contains("喝水") && context.contains("not instructions"), "{context}");
}

#[test]
fn the_heartbeat_runs_jobs_tells_reminders_and_keeps_a_history() {
    let home = TestHome::new();
    home.remember("I sail");
    home.json(&["schedule", "add", "every second stretch"]);
    let first = home.json(&["heartbeat", "--once"]);
    let jobs: Vec<&Value> = first["runs"].as_array().unwrap().iter().map(|it| &it["job"]).collect();
    assert!(jobs.contains(&&json!("upkeep")), "{first}");
    let told = until_some(|| {
        let ran = home.run(&["heartbeat", "--once"]);
        ran.out.contains("stretch (due ").then_some(ran.out)
    });
    assert!(!told.contains("upkeep"), "{told}");
    assert_eq!(home.run(&["heartbeat", "off", "reminders"]).out, "reminders is off\n");
    assert_eq!(home.run(&["heartbeat", "--once"]).code, 1);
    let status = home.json(&["heartbeat", "status"]);
    assert_eq!(
        (&status["jobs"][0]["job"], &status["jobs"][0]["on"]),
        (&json!("reminders"), &json!(false))
    );
    assert_eq!(
        home.json(&["heartbeat", "on", "reminders"]),
        json!({ "job": "reminders", "on": true })
    );
    let history = home.json(&["heartbeat", "history"]);
    assert_eq!(history["history"].as_array().unwrap().last().unwrap()["scopes"], 1);
    let unknown = home.run(&["heartbeat", "off", "sleep"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("reminders, digest, upkeep, overviews"), "{unknown:?}");
}
