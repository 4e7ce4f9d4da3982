//! Everything of a user or an agent: shown first, then deleted or forgotten; nothing of others is touched.

use std::fs;

use crate::home::TestHome;

const SECRET: &str = "xylocarpquokka";
const CHINESE: &str = "魑魅魍魉饕餮";

/// Stores memories, turns, layers and vault files of three pairs of agent and user.
fn filled() -> TestHome {
    let home = TestHome::new();
    for (agent, user, text) in
        [("helper", "ben", SECRET), ("coder", "ben", CHINESE), ("helper", "li", "plain words")]
    {
        let run = |args: &[&str]| {
            let ran = home.run(&[&["--agent", agent, "--user", user], args].concat());
            assert_eq!(ran.code, 0, "{args:?} {ran:?}");
        };
        run(&["remember", &format!("the word is {text}")]);
        let observe = ["--agent", agent, "--user", user, "observe", "--session", "s"];
        assert_eq!(home.run_with_input(&observe, format!("I said {text}\n").as_bytes()).code, 0);
        run(&["layer", "add", "user", "Words", text]);
        run(&["vault", "init"]);
    }
    let as_ben = |args: &[&str]| {
        home.json(&[&["--agent", "helper", "--user", "ben"], args].concat())["id"].clone()
    };
    let deleted = as_ben(&["remember", &format!("deleted {SECRET}")]);
    as_ben(&["memory", "delete", deleted.as_str().unwrap()]);
    home
}

fn traces(home: &TestHome, text: &str) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    let files = home.files().into_iter().filter(|(_, bytes)| holds(bytes));
    files.map(|(path, _)| path.display().to_string()).collect()
}

fn recalled(home: &TestHome, agent: &str, user: &str, text: &str) -> usize {
    let ran = home.run(&["--agent", agent, "--user", user, "--json", "recall", text]);
    ran.json()["hits"].as_array().unwrap().len()
}

#[test]
fn everything_of_a_user_is_shown_forgotten_and_gone_and_others_stay() {
    let home = filled();
    fs::write(home.path().join("everlore.schema-0.backup"), "").unwrap();
    let preview = home.json(&["memory", "forget", "--all-of-user", "ben", "--dry-run"]);
    assert_eq!(
        (&preview["dry_run"], preview["scopes"].as_array().unwrap().len()),
        (&true.into(), 2)
    );
    let kinds: Vec<&str> = preview["scopes"][0]["memories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kind| kind["kind"].as_str().unwrap())
        .collect();
    assert!(kinds.contains(&"turn") && kinds.len() == 2, "{preview}");
    assert!(!preview["stays"].as_array().unwrap().is_empty());
    assert!(!traces(&home, SECRET).is_empty(), "a preview changes nothing");
    let refused = home.run(&["memory", "forget", "--all-of-user", "ben"]);
    assert!(refused.code == 2 && refused.err.contains("--yes"), "{refused:?}");
    assert!(refused.out.contains("would forget of agent"), "{refused:?}");

    let receipt = home.json(&["memory", "forget", "--all-of-user", "ben", "--yes"]);
    assert_eq!(receipt["dry_run"], false);
    assert!(receipt["scopes"][0]["removed"]["rows"].as_u64().unwrap() >= 2, "{receipt}");
    assert_eq!(receipt["backups"][0], "everlore.schema-0.backup");
    for text in [SECRET, CHINESE] {
        assert_eq!(traces(&home, text), [""; 0]);
    }
    let agents = home.path().join("agents");
    assert!(!agents.join("helper/users/ben").exists() && !agents.join("coder/users").exists());
    let vaults = fs::read_to_string(home.path().join("vaults.json")).unwrap();
    assert!(!vaults.contains("ben") && vaults.contains("li"), "{vaults}");
    assert!(recalled(&home, "helper", "li", "plain words") > 0);
    assert!(!traces(&home, "plain words").is_empty());
    home.assert_healthy();
}

#[test]
fn the_receipt_names_files_of_a_forgotten_user_that_others_wrote() {
    let home = TestHome::new();
    assert_eq!(home.run(&["--user", "王", "remember", "喜欢喝茶"]).code, 0);
    assert_eq!(home.run(&["--user", "王", "layer", "add", "user", "茶", "龙井"]).code, 0);
    let folder = fs::read_dir(home.path().join("users")).unwrap().next().unwrap().unwrap().path();
    fs::write(folder.join("own.txt"), "mine").unwrap();
    let receipt = home.json(&["memory", "forget", "--all-of-user", "王", "--yes"]);
    assert!(receipt["stays"].to_string().contains("did not write"), "{receipt}");
    assert!(folder.join("own.txt").exists());
}

#[test]
fn everything_of_an_agent_is_deleted_and_brought_back() {
    let home = filled();
    let receipt = home.json(&["memory", "delete", "--all-of-agent", "helper", "--yes"]);
    let scopes = receipt["scopes"].as_array().unwrap();
    assert_eq!(scopes.len(), 2, "{receipt}");
    assert_eq!(recalled(&home, "helper", "ben", SECRET), 0);
    assert_eq!(recalled(&home, "helper", "li", "plain words"), 0);
    assert!(recalled(&home, "coder", "ben", CHINESE) > 0);
    for scope in scopes {
        let owner = ["--agent", "helper", "--user", scope["user"].as_str().unwrap()];
        home.json(&[&owner[..], &["memory", "undo"]].concat());
    }
    assert!(recalled(&home, "helper", "ben", SECRET) > 0);
    let none = home.run(&["memory", "delete", "--all-of-user", "nobody", "--yes"]);
    assert_eq!(none.code, 1, "{none:?}");
}
