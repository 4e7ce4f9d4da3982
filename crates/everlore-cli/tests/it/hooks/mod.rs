//! Hooks as hosts call them: recorded events go through the binary, and the responses are compared to the letter.

mod replay;
mod capture;
mod failures;
pub(crate) mod cures;
#[cfg(feature = "server")]
mod server;

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::home::{CommandOutput, TestHome};

/// Hosts that call hooks.
const HOSTS: [&str; 6] = ["claude-code", "codex", "gemini", "cursor", "qwen-code", "opencode"];

/// Time limit of a hook, with room for a machine that is busy with other tests.
const MAX_HOOK_TIME: Duration = Duration::from_secs(8);

/// Returns a recorded event with its folders filled in.
pub(super) fn recorded_event(home: &TestHome, host: &str, name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks").join(host);
    let text = fs::read_to_string(path.join(format!("{name}.json"))).unwrap();
    text.replace("{PROJECT}", &project(home)).replace("{TRANSCRIPT}", &transcript(home))
}

/// Creates a project with a repository, in a folder whose name has a blank and Chinese characters.
fn project(home: &TestHome) -> String {
    let folder = home.sibling("项目 folder");
    fs::create_dir_all(folder.join(".git")).unwrap();
    let config = "[remote \"origin\"]\n\turl = git@example.org:tea/billing.git\n";
    fs::write(folder.join(".git/config"), config).unwrap();
    folder.to_str().unwrap().to_owned()
}

fn transcript(home: &TestHome) -> String {
    home.sibling("transcript.jsonl").to_str().unwrap().to_owned()
}

/// Calls a hook and checks its contract: exit code 0, within the limit, one line of JSON or nothing.
pub(super) fn hook(home: &TestHome, host: &str, event: &str, input: &str) -> Option<Value> {
    let began = Instant::now();
    let ran = home.run_with_input(&["hook", host, event], input.as_bytes());
    assert!(began.elapsed() < MAX_HOOK_TIME, "{host} {event}: {:?}", began.elapsed());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{host} {event}: {ran:?}");
    (!ran.out.is_empty()).then(|| ran.json())
}

/// Drains the spool in the foreground, instead of the process that hooks start, so that a test can wait for it.
pub(crate) fn drain_spool(home: &TestHome) {
    let ran = home.run(&["hook", "codex", "drain"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(pending_turns(home), 0, "{ran:?}");
}

/// Counts the turns in the spool.
pub(super) fn pending_turns(home: &TestHome) -> usize {
    let Ok(entries) = fs::read_dir(home.path().join("hooks/waiting")) else { return 0 };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".json")).count()
}

/// Returns session, role and text of every turn of the home.
pub(super) fn turns(home: &TestHome) -> Vec<Value> {
    let ran: CommandOutput = home.run(&["memory", "export"]);
    let memories = ran.lines().into_iter().filter_map(|line| line.get("memory").cloned());
    let of = |memory: Value| {
        let source = &memory["source"];
        json!([source["session"], source["role"], memory["content"]])
    };
    memories.filter(|memory| memory["kind"] == "turn").map(of).collect()
}
