//! Copies of a whole database into another one and back.

use serde_json::Value;

use super::TestPostgres;
use crate::home::TestHome;

/// User of whom something was erased: lines of the journal about it have no text and are not copied.
pub(super) const ERASING_USER: &str = "eve";

/// Returns the exports of memories and journal of every scope, without the headers, which name the time.
fn exports(home: &TestHome, store: &str) -> Vec<String> {
    let scopes = home.json(&["--store", store, "scopes"]);
    let mut texts = Vec::new();
    for scope in scopes["scopes"].as_array().unwrap() {
        let (agent, user) = (scope["agent"].as_str().unwrap(), scope["user"].as_str().unwrap());
        for journal in [&[] as &[&str], &["--journal"]] {
            if user == ERASING_USER && !journal.is_empty() {
                continue;
            }
            let args = ["--store", store, "--agent", agent, "--user", user, "memory", "export"];
            let ran = home.run(&[&args, journal].concat());
            assert_eq!(ran.code, 0, "{ran:?}");
            texts.push(ran.out.split_once('\n').unwrap().1.to_owned());
        }
    }
    texts
}

fn copy(home: &TestHome, from: &str, to: &str) -> Value {
    let copied = home.json(&["store", "copy", "--from", from, "--to", to]);
    assert_eq!(copied["equal"], true, "{copied}");
    copied
}

/// Fills a home with every kind of change.
pub(super) fn filled_home() -> TestHome {
    let home = TestHome::new();
    let tea = home.remember("我喜欢喝龙井茶");
    home.remember("The billing service deploys on Thursdays.");
    let moved = home.remember("The user lives in Porto.");
    home.json(&["memory", "edit", &moved, "--content", "The user lives in Lisbon."]);
    home.json(&["memory", "archive", &tea]);
    let eve = |args: &[&str]| home.json(&[&["--user", ERASING_USER], args].concat());
    eve(&["remember", "Eve plays the flute."]);
    let secret = eve(&["remember", "The word of the day is xyzzy."]);
    eve(&["memory", "forget", secret["id"].as_str().unwrap(), "--yes"]);
    home.json(&["--agent", "anna", "--user", "bob", "remember", "Bob drinks oolong."]);
    let turn = br#"{"role":"user","text":"I bought a red bicycle."}"#;
    assert_eq!(home.run_with_input(&["observe", "--session", "read"], turn).code, 0);
    home.json(&["extract"]);
    assert_eq!(home.run_with_input(&["observe", "--session", "unread"], turn).code, 0);
    home
}

#[test]
fn a_database_is_the_same_after_sqlite_to_postgresql_to_sqlite() {
    let (home, postgres) = (filled_home(), TestPostgres::start());
    let sqlite = |path: std::path::PathBuf| format!("sqlite:{}", path.display());
    let (first, last) = (sqlite(home.path().join("everlore.db")), sqlite(home.sibling("back.db")));
    let before = exports(&home, &first);
    let copied = copy(&home, &first, &postgres.url());
    assert!(!copied.to_string().contains(&postgres.password()), "{copied}");
    copy(&home, &postgres.url(), &last);
    assert_eq!(before, exports(&home, &postgres.url()));
    assert_eq!(before, exports(&home, &last));
    assert!(!before.concat().contains("xyzzy"));
    let one = format!("sqlite:{}", home.sibling("anna.db").display());
    let copied = home.json(&["store", "copy", "--to", &one, "--only", "anna"]);
    assert_eq!(copied["scopes"].as_array().unwrap().len(), 1, "{copied}");
    // Turns that were read are not read again; those that were not, are.
    let extracted = |store: &str| {
        let report = home.json(&["--store", store, "extract"]);
        let sessions = report["extractions"].as_array().unwrap().iter();
        let session = |one: &Value| one["session"].as_str().unwrap().to_owned();
        sessions.map(session).collect::<Vec<_>>()
    };
    assert_eq!(extracted(&postgres.url()), ["unread"]);
    assert_eq!(extracted(&last), ["unread"]);
    let again = format!("sqlite:{}", home.sibling("again.db").display());
    copy(&home, &first, &again);
    home.remember("The user has a dog.");
    copy(&home, &first, &again);
    assert_eq!(exports(&home, &first), exports(&home, &again));
}

#[test]
fn a_copy_onto_itself_or_from_nothing_is_refused() {
    let home = TestHome::new();
    home.remember("tea");
    let own = format!("sqlite:{}", home.path().join("everlore.db").display());
    assert_eq!(home.run(&["store", "copy", "--to", &own]).code, 2);
    let missing = format!("sqlite:{}", home.sibling("missing.db").display());
    assert_eq!(home.run(&["store", "copy", "--from", &missing, "--to", "sqlite:x.db"]).code, 2);
    let ran = home.run(&["store", "copy", "--to", "host=h password=hunter2"]);
    assert!(ran.code == 2 && !(ran.out + &ran.err).contains("hunter2"));
}
