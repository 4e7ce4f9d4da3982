//! Moves of an agent between databases.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use everlore_test_databases::{MariaDbOptions, MariaDbServer};
use serde_json::{Value, json};

use super::{
    TestPostgres,
    copying::{ERASING_USER, filled_home},
    wait_for,
};
use crate::{home::TestHome, serve::TestServer};

/// Queries whose answers must not change with the database.
const QUERIES: [&str; 3] = ["喝什么茶？", "Where does the user live?", "deploy billing"];

/// Returns all that people see of the agent `default`: exports in the order of their lines, and recalls with scores.
fn view(home: &TestHome) -> Vec<String> {
    let mut texts = Vec::new();
    for user in ["default", ERASING_USER] {
        for journal in [&[] as &[&str], &["--journal"]] {
            let ran = home.run(&[&["--user", user, "memory", "export"], journal].concat());
            assert_eq!(ran.code, 0, "{ran:?}");
            let mut lines: Vec<String> = ran.lines().into_iter().skip(1).filter_map(line).collect();
            lines.sort();
            texts.extend(lines);
        }
        for query in QUERIES.iter().filter(|_| user != ERASING_USER) {
            let ran = home.run(&["--json", "--user", user, "recall", "--", query]);
            let hits = ran.json()["hits"].as_array().unwrap().clone();
            // The age of a memory counts, and some seconds pass between two recalls.
            let hit = |hit: &Value| {
                format!("{query} {} {:.5}", hit["id"], hit["score"].as_f64().unwrap())
            };
            texts.extend(hits.iter().map(hit));
        }
    }
    texts
}

/// Returns a line of an export as every database has it: changes without their numbers, and those of erased memories, which
/// have no text and are not copied, not at all.
fn line(mut line: Value) -> Option<String> {
    if let Some(change) = line.get_mut("change").and_then(Value::as_object_mut) {
        change.remove("seq");
        if change["before"].is_null() && change["after"].is_null() {
            return None;
        }
    }
    Some(line.to_string())
}

/// Fails with the first difference.
#[track_caller]
fn assert_same(home: &TestHome, before: &[String], what: &str) {
    let now = view(home);
    let difference = before.iter().zip(&now).find(|(before, now)| before != now);
    assert_eq!(difference, None, "{what}");
    assert_eq!(before.len(), now.len(), "{what}");
}

fn sqlite(home: &TestHome, name: &str) -> String {
    format!("sqlite:{}", home.sibling(name).display())
}

fn move_to(home: &TestHome, to: &str) -> Value {
    let moved = home.json(&["agent", "move", "default", "--to", to]);
    assert_eq!(moved["moved"], true, "{moved}");
    moved
}

fn confirm(home: &TestHome) {
    home.json(&["agent", "move", "default", "--confirm"]);
}

fn show(home: &TestHome) -> Value {
    home.json(&["agent", "show", "default"])
}

#[test]
fn an_agent_is_the_same_in_every_database_on_its_way_around() {
    let (home, postgres) = (filled_home(), TestPostgres::start());
    let maria = postgres.runtime.block_on(MariaDbServer::start(MariaDbOptions::default()));
    let before = view(&home);
    let directory = format!("directory:{}", home.sibling("folder").display());
    for to in [&postgres.url(), &maria.url(), &sqlite(&home, "own.db"), &directory, "home"] {
        let moved = home.run(&["agent", "move", "default", "--to", to]);
        assert_eq!(moved.code, 0, "{moved:?}");
        postgres.assert_hidden(&moved);
        assert_same(&home, &before, to);
        let shown = home.run(&["agent", "show", "default"]);
        assert!(shown.out.contains("kept until --confirm"), "{shown:?}");
        postgres.assert_hidden(&shown);
        confirm(&home);
        home.assert_healthy();
    }
    assert_same(&home, &before, "home again");
    assert_eq!(show(&home)["kept"], Value::Null);
    // Nothing of the agent is left on the way, and others never moved.
    let left = home.run(&["--json", "--store", &sqlite(&home, "own.db"), "scopes"]);
    assert_eq!(left.json()["scopes"], json!([]));
    let bob = home.run(&["--agent", "anna", "--user", "bob", "recall", "What does Bob drink?"]);
    assert!(bob.out.contains("oolong"), "{bob:?}");
    let extracted = home.json(&["extract"]);
    assert_eq!(extracted["extractions"].as_array().unwrap().len(), 1, "{extracted}");
}

#[test]
fn what_came_since_goes_back_and_a_confirmed_move_leaves_no_text() {
    let home = filled_home();
    let to = sqlite(&home, "own.db");
    move_to(&home, &to);
    home.remember("The user has a red kite.");
    let secret = home.remember("The kite is called Sturmvogel.");
    home.json(&["memory", "forget", &secret, "--yes"]);
    home.json(&["--user", "new", "remember", "新用户喜欢红茶"]);
    let before = view(&home);
    let back = home.json(&["agent", "move", "default", "--back"]);
    assert_eq!((back["moved"].clone(), back["to"].clone()), (true.into(), stored_in(&home)));
    assert_same(&home, &before, "the same");
    assert_eq!(home.recall("kite")[0], "The user has a red kite.");
    assert!(home.json(&["--user", "new", "recall", "喝什么茶？"]).to_string().contains("红茶"));
    confirm(&home);
    let left = fs::read(home.sibling("own.db")).unwrap();
    assert!(!contains(&left, "kite") && !contains(&left, "龙井") && !contains(&left, "红茶"));

    move_to(&home, &to);
    let forgotten = home.remember("The word is abracadabra.");
    home.json(&["memory", "forget", &forgotten, "--yes"]);
    let before = view(&home);
    confirm(&home);
    for (path, bytes) in home.files() {
        if path.to_string_lossy().contains("everlore.db") {
            assert!(!contains(&bytes, "red kite") && !contains(&bytes, "龙井"), "{path:?}");
        }
    }
    assert_same(&home, &before, "the same");
}

fn stored_in(home: &TestHome) -> Value {
    format!("sqlite:{}", home.path().join("everlore.db").display()).into()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn what_is_forgotten_after_a_move_is_forgotten_in_the_database_it_left() {
    let home = TestHome::new();
    let id = home.remember("The word of the day is xyzzy.");
    home.remember("The user likes tea.");
    move_to(&home, &sqlite(&home, "own.db"));
    home.json(&["memory", "forget", &id, "--yes"]);
    for (path, bytes) in home.files() {
        assert!(!contains(&bytes, "xyzzy"), "{path:?}");
    }
    assert_eq!(home.json(&["agent", "move", "default", "--back"])["moved"], true);
    assert_eq!(home.recall("tea"), ["The user likes tea."]);
}

#[test]
fn a_move_that_is_killed_anywhere_goes_on_when_it_is_repeated() {
    let home = filled_home();
    for (n, note) in ["", "writers wait", "comparing", "switched"].into_iter().enumerate() {
        let before = view(&home);
        let (file, to) = (home.sibling(&format!("{n}.db")), sqlite(&home, &format!("{n}.db")));
        let mut child = home.start(&["agent", "move", "default", "--to", &to]);
        let mut notes = BufReader::new(child.stderr.take().unwrap()).lines();
        if note.is_empty() {
            wait_for("a target", || file.exists());
        } else {
            assert!(notes.any(|line| line.unwrap().contains(note)), "{note}");
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_same(&home, &before, &format!("reads go on after {note:?}"));
        move_to(&home, &to);
        assert_eq!(show(&home)["store"], to);
        assert_same(&home, &before, &format!("{note:?}"));
        home.remember("The user likes tea.");
        let last = home.json(&["memory", "list", "--limit", "1"]);
        let id = last["memories"][0]["id"].as_str().unwrap().to_owned();
        home.json(&["memory", "forget", &id, "--yes"]);
        confirm(&home);
    }
}

#[test]
fn a_move_that_is_killed_while_writers_wait_stops_them_for_some_seconds_only() {
    let home = filled_home();
    let to = sqlite(&home, "own.db");
    let mut child = home.start(&["agent", "move", "default", "--to", &to]);
    let mut notes = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(notes.any(|line| line.unwrap().contains("comparing")));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(show(&home)["moving"]["phase"], "sealed");
    let began = Instant::now();
    home.remember("The user likes red tea.");
    assert!(began.elapsed() < Duration::from_secs(19), "{:?}", began.elapsed());
    assert_eq!(show(&home)["moving"]["phase"], "copying");
    assert_eq!(show(&home)["store"], stored_in(&home));
    let before = view(&home);
    move_to(&home, &to);
    assert_same(&home, &before, "what was written meanwhile moved too");
    assert!(home.recall("red tea")[0].contains("red tea"));
}

#[test]
fn a_move_is_ended_or_refused_with_what_to_do() {
    let home = filled_home();
    let before = view(&home);
    let (one, other) = (sqlite(&home, "one.db"), sqlite(&home, "other.db"));
    let refused = |args: &[&str], expected: &str| {
        let ran = home.run(&[&["agent", "move", "default"], args].concat());
        assert!(ran.code == 2 && ran.err.contains(expected), "{ran:?}");
    };
    refused(&["--back"], "no move of `default` waits");
    refused(&["--confirm"], "no move of `default` waits");
    refused(&["--cancel"], "no move of `default` is under way");
    refused(&["--to", "home"], "already");
    refused(&["--to", "host=h password=hunter2"], "not the address");
    refused(
        &["--to", "postgres://u:hunter2@127.0.0.1:1/x"],
        "the database postgres://u:***@127.0.0.1:1/x runs",
    );
    let mut child = home.start(&["agent", "move", "default", "--to", &one]);
    let mut notes = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(notes.any(|line| line.unwrap().contains("comparing")));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(show(&home)["moving"]["phase"], "sealed");
    refused(&["--to", &other], "moving to");
    home.json(&["agent", "move", "default", "--cancel"]);
    assert_same(&home, &before, "the same");
    home.remember("The user likes milk.");
    // A database that has memories of the agent is no target.
    home.json(&["--store", &other, "remember", "somebody else"]);
    refused(&["--to", &other], "has memories of `default` already");
    move_to(&home, &one);
    refused(&["--to", &other], "--confirm");
    let set = home.run(&["agent", "set", "default", "store.url=sqlite:x.db"]);
    assert!(set.code == 2 && set.err.contains("agent move"), "{set:?}");
}

#[test]
fn the_owner_moves_an_agent_over_http_and_a_key_does_not() {
    let (home, postgres) = (filled_home(), TestPostgres::start());
    let before = view(&home);
    let key =
        home.json(&["serve", "key", "add", "editor", "--agent", "default", "--role", "admin"]);
    let server = TestServer::start(&home, &[]);
    let (path, target) = ("/v1/agents/default", "/v1/agents/default/move");
    let start = json!({ "action": "move", "to": postgres.url() });
    let secret = key["key"].as_str().unwrap();
    assert_eq!(server.request_as(secret, "GET", path, None).problem_code(403), "role");
    let refused = server.request_as(secret, "POST", target, Some(start.clone()));
    assert_eq!(refused.problem_code(403), "role");
    let relative = json!({ "action": "move", "to": "sqlite:x.db" });
    assert_eq!(server.request("POST", target, Some(relative)).status, 422);
    let answer = server.request("POST", target, Some(start));
    assert!(answer.status == 202 && !answer.text.contains(&postgres.password()), "{answer:?}");
    let shown = || server.request("GET", path, None).json(200);
    wait_for("the move", || shown()["progress"]["running"] == false);
    let moved = shown();
    assert_eq!((&moved["store"], &moved["moving"]), (&postgres.shown().into(), &Value::Null));
    assert_eq!(moved["progress"]["problem"], Value::Null);
    assert_same(&home, &before, "the same");
    server.request("POST", target, Some(json!({ "action": "back" }))).json(202);
    wait_for("the way back", || shown()["store"] == stored_in(&home));
    server.request("POST", target, Some(json!({ "action": "confirm" }))).json(200);
    assert_eq!(shown()["kept"], Value::Null);
    assert_same(&home, &before, "the same");
}

#[test]
fn a_copy_that_differs_is_not_switched_to_and_made_anew() {
    let home = filled_home();
    let before = view(&home);
    let to = sqlite(&home, "own.db");
    let mut child = home.start(&["agent", "move", "default", "--to", &to]);
    let mut notes = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(notes.any(|line| line.unwrap().contains("writers wait")));
    child.kill().unwrap();
    child.wait().unwrap();
    home.json(&["--store", &to, "remember", "A stranger wrote this."]);
    let ran = home.run(&["agent", "move", "default", "--to", &to]);
    assert!(ran.code == 2 && ran.out.contains("differs: default/default"), "{ran:?}");
    assert_eq!(show(&home)["moving"]["phase"], "failed");
    assert_same(&home, &before, "nothing was switched");
    let id = home.remember("The user likes tea.");
    home.json(&["memory", "forget", &id, "--yes"]);
    let before = view(&home);
    move_to(&home, &to);
    assert_same(&home, &before, "copied anew");
}

/// Writes of each user after a move.
const WRITES_AFTER: usize = 5;

/// Remembers over HTTP until some writes came after the move, and returns the ids that were acknowledged.
fn write_on(server: &TestServer, user: &str, is_moved: &AtomicBool) -> BTreeSet<String> {
    let (mut stored, mut after) = (BTreeSet::new(), 0);
    let round = server.request("GET", &format!("/v1/memories?user={user}&limit=1"), None).text;
    for number in 0.. {
        let said = json!({ "content": format!("{user} 说了第 {number} 句话 {}", round.len()) });
        let answer = server.request("POST", &format!("/v1/memories?user={user}"), Some(said));
        if answer.status == 503 {
            assert_eq!(answer.headers["retry-after"], "1", "{answer:?}");
            continue;
        }
        assert!([200, 201].contains(&answer.status), "{answer:?}");
        stored.insert(answer.json(answer.status)["id"].as_str().unwrap().to_owned());
        after += usize::from(is_moved.load(Ordering::Relaxed));
        if after >= WRITES_AFTER {
            break;
        }
    }
    stored
}

/// Moves while two users write, one of whom nobody knew when the move began, and returns what each stored.
fn move_under_writes(
    home: &TestHome,
    server: &TestServer,
    newcomer: &str,
    to: &[&str],
) -> [BTreeSet<String>; 2] {
    let is_moved = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let ann = threads.spawn(|| write_on(server, "ann", &is_moved));
        let new = threads.spawn(|| {
            let is_moving = || !show(home)["moving"].is_null() || is_moved.load(Ordering::Relaxed);
            wait_for("a move", is_moving);
            write_on(server, newcomer, &is_moved)
        });
        let moved = home.json(&[&["agent", "move", "default"], to].concat());
        is_moved.store(true, Ordering::Relaxed);
        assert_eq!(moved["moved"], true, "{moved}");
        [ann.join().unwrap(), new.join().unwrap()]
    })
}

/// Returns the ids of a user's memories.
fn ids(home: &TestHome, user: &str) -> Vec<String> {
    let export = home.run(&["--user", user, "memory", "export"]);
    let id = |line: Value| line["memory"]["id"].as_str().map(str::to_owned);
    export.lines().into_iter().filter_map(id).collect()
}

#[test]
fn writers_of_a_running_server_lose_nothing_and_store_nothing_twice() {
    let (home, postgres) = (TestHome::new(), TestPostgres::start());
    for number in 0..20 {
        home.remember(&format!("The user owns book number {number}."));
    }
    let server = TestServer::start(&home, &[]);
    let [mut ann, bob] = move_under_writes(&home, &server, "bob", &["--to", &postgres.url()]);
    assert_eq!(show(&home)["store"], postgres.shown());
    let [more, cid] = move_under_writes(&home, &server, "cid", &["--back"]);
    assert_eq!(show(&home)["store"], stored_in(&home));
    ann.extend(more);
    for (user, stored) in [("ann", ann), ("bob", bob), ("cid", cid)] {
        let found = ids(&home, user);
        let once: BTreeSet<String> = found.iter().cloned().collect();
        assert_eq!(found.len(), once.len(), "{user}: stored twice");
        assert!(once.is_superset(&stored), "{user}: {} of {}", once.len(), stored.len());
    }
    let seen = server.request("GET", "/v1/memories?user=bob&limit=1", None).json(200);
    assert_eq!(seen["memories"].as_array().unwrap().len(), 1);
}
