//! `everlore vault` on real folders: git, a watcher, kills, undo and erasure.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{home::TestHome, random::TestRandom};

/// Time after which a test gives up waiting for a condition.
const DEADLINE: Duration = Duration::from_secs(30);

fn page(name: &str, text: &str) -> String {
    format!("---\nname: {name}\ndescription: about {name}\ntype: user\n---\n\n{text}\n")
}

fn sync_steps(report: &Value) -> Vec<(String, String)> {
    let text = |done: &Value, key: &str| done[key].as_str().unwrap().to_owned();
    report["done"]
        .as_array()
        .unwrap()
        .iter()
        .map(|done| (text(done, "what"), text(done, "file")))
        .collect()
}

fn contents(home: &TestHome) -> Vec<String> {
    let ran = home.run(&["--json", "memory", "list", "--limit", "10000"]);
    let memories = ran.json()["memories"].as_array().unwrap().clone();
    memories.iter().map(|memory| memory["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_vault_is_made_synced_listed_and_undone() {
    let home = TestHome::new();
    home.remember("I like 龙井茶");
    let created = home.json(&["vault", "init"]);
    let folder = PathBuf::from(created["folder"].as_str().unwrap());
    assert!(folder.ends_with("vault"), "{created}");
    assert_eq!(sync_steps(&created), [("written".to_owned(), "user_i_like_龙井茶.md".to_owned())]);
    fs::write(folder.join("user_role.md"), page("Role", "I am a nurse")).unwrap();
    let status = home.run(&["vault", "status"]);
    assert_eq!((status.code, status.out.lines().count()), (0, 2), "{status:?}");
    let synced = home.json(&["vault", "sync"]);
    assert_eq!(sync_steps(&synced), [("stored".to_owned(), "user_role.md".to_owned())]);
    assert!(home.recall("what is my job, nurse?").contains(&"I am a nurse".to_owned()));
    assert_eq!(home.run(&["vault", "status"]).code, 1, "nothing is left to do");
    let listed = home.json(&["vault", "list"]);
    assert_eq!(listed["entries"].as_array().unwrap().len(), 2, "{listed}");
    home.json(&["memory", "undo", "--run", synced["run"].as_str().unwrap()]);
    home.json(&["vault", "sync"]);
    assert!(!folder.join("user_role.md").exists(), "what is undone leaves the folder");
    assert_eq!(contents(&home), ["I like 龙井茶"]);
}

#[test]
fn mistakes_are_answered_with_what_to_do() {
    let home = TestHome::new();
    let missing = home.run(&["vault", "sync", "nowhere"]);
    assert_eq!(missing.code, 2);
    assert!(
        missing.err.contains("there is no vault at nowhere") && missing.err.contains("vault init"),
        "{missing:?}"
    );
    home.json(&["vault", "init", "notes"]);
    let other = home.run(&["vault", "sync", "notes", "--user", "ben"]);
    assert!(
        other.code == 2 && other.err.contains("belongs to agent `default` and user `default`"),
        "{other:?}"
    );
    let turns = home.run(&["vault", "sync", "notes", "--kind", "turn"]);
    assert!(turns.code == 2 && turns.err.contains("turns"), "{turns:?}");
}

#[test]
fn what_is_forgotten_leaves_every_vault_at_once() {
    let home = TestHome::new();
    let id = home.remember("my code is 4711");
    home.json(&["vault", "init", "one"]);
    home.json(&["vault", "init", "two"]);
    assert!(home.sibling("two/user_my_code_is_4711.md").exists());
    let forgotten = home.json(&["memory", "forget", "--yes", &id]);
    assert_eq!(forgotten["vaults"].as_array().unwrap().len(), 2, "{forgotten}");
    for vault in ["one", "two"] {
        for found in walk(&home.sibling(vault)) {
            let text = String::from_utf8_lossy(&fs::read(&found).unwrap()).into_owned();
            assert!(
                !text.contains("4711") && !text.contains("my_code"),
                "{}: {text}",
                found.display()
            );
        }
    }
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args([
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.org",
        "-c",
        "core.quotepath=off",
    ]);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let output =
        command.args(args).current_dir(folder).output().expect("git is needed for this test");
    assert!(output.status.success(), "git {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_change_of_one_memory_touches_two_files_in_git_and_a_checkout_brings_back_the_past() {
    let home = TestHome::new();
    let ids: Vec<_> =
        (0..20).map(|number| home.remember(&format!("my note number {number} 笔记"))).collect();
    home.json(&["vault", "init", "notes"]);
    let folder = home.sibling("notes");
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-qm", "first"]);
    assert!(
        !git(&folder, &["ls-files"]).contains(".everlore"),
        "what only the program needs is left out"
    );
    home.json(&["memory", "edit", &ids[7], "--content", "my note number seven 第七"]);
    home.json(&["vault", "sync", "notes"]);
    let changed = git(&folder, &["status", "--porcelain"]);
    assert_eq!(changed.lines().count(), 2, "{changed}");
    let lines = git(&folder, &["diff", "--numstat"]);
    // One line of the index; description and text of the page, and its time if a second has passed.
    let few = |line: &&str| ["1\t1\t", "2\t2\t", "3\t3\t"].iter().any(|few| line.starts_with(few));
    assert_eq!(lines.lines().filter(few).count(), 2, "{lines}");
    git(&folder, &["commit", "-qam", "second"]);
    git(&folder, &["checkout", "-q", "HEAD~1"]);
    home.json(&["vault", "sync", "notes"]);
    assert!(contents(&home).contains(&"my note number 7 笔记".to_owned()));
    assert_eq!(
        git(&folder, &["status", "--porcelain"]),
        "",
        "what git brought back is not touched"
    );
}

/// Watcher that ends with the test.
struct VaultWatcher(Child);

impl Drop for VaultWatcher {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn edits_of_either_side_arrive_within_a_second_while_watching() {
    let home = TestHome::new();
    home.json(&["vault", "init", "notes"]);
    let folder = home.sibling("notes");
    let mut watching = VaultWatcher(home.start(&["--json", "vault", "watch", "notes"]));
    let err = BufReader::new(watching.0.stderr.take().unwrap());
    assert!(err.lines().next().unwrap().unwrap().starts_with("watching"));
    let mut reports = BufReader::new(watching.0.stdout.take().unwrap()).lines();
    let mut fastest = Duration::MAX;
    for round in 0..5 {
        let start = Instant::now();
        fs::write(
            folder.join("user_tea.md"),
            page("Tea", &format!("I drink tea number {round} 杯茶")),
        )
        .unwrap();
        let report: Value = serde_json::from_str(&reports.next().unwrap().unwrap()).unwrap();
        fastest = fastest.min(start.elapsed());
        assert_eq!(sync_steps(&report)[0].1, "user_tea.md");
        assert!(home.recall("tea").contains(&format!("I drink tea number {round} 杯茶")));
    }
    assert!(fastest < Duration::from_secs(1), "the fastest of five took {fastest:?}");
    home.remember("I also like coffee");
    let file = folder.join("user_i_also_like_coffee.md");
    let start = Instant::now();
    while !file.exists() {
        assert!(start.elapsed() < DEADLINE, "the file was never written");
        std::thread::yield_now();
    }
}

#[test]
fn a_sync_that_is_killed_at_any_moment_is_finished_by_the_next() {
    const FILES: usize = 150;
    let home = TestHome::new();
    let folder = home.sibling("notes");
    fs::create_dir(&folder).unwrap();
    for number in 0..FILES {
        fs::write(
            folder.join(format!("user_file_{number}.md")),
            page("x", &format!("file number {number}")),
        )
        .unwrap();
    }
    for number in 0..20 {
        home.remember(&format!("my memory number {number}"));
    }
    let mut random = TestRandom::new();
    for _ in 0..40 {
        let mut child = home.start(&["vault", "sync", "notes"]);
        let start = Instant::now();
        // Another moment each time, within the time that a sync takes.
        let delay = Duration::from_micros(random.below(150_000) as u64);
        while start.elapsed() < delay {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    home.json(&["vault", "sync", "notes"]);
    let report = home.json(&["vault", "sync", "notes"]);
    assert_eq!(sync_steps(&report), []);
    let stored = contents(&home);
    let distinct: BTreeSet<_> = stored.iter().collect();
    assert_eq!(
        (stored.len(), distinct.len()),
        (FILES + 20, FILES + 20),
        "nothing twice, nothing lost"
    );
    let files =
        walk(&folder).into_iter().filter(|path| path.extension().is_some_and(|end| end == "md"));
    assert_eq!(files.count(), FILES + 20 + 1);
    let index = fs::read_to_string(folder.join("MEMORY.md")).unwrap();
    assert_eq!(index.lines().count(), FILES + 20);
    home.assert_healthy();
}
