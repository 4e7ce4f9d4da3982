//! A home that release 0.1.0 made (`tests/data/home-0.1.0`) opens, keeps everything, and answers the commands of that
//! release's README.

use std::{fs, path::Path};

use crate::home::{CommandOutput, TestHome};

/// Copies the home of 0.1.0 to a place where it can be written to.
fn home_of_0_1_0() -> TestHome {
    let home = TestHome::new();
    private_folder(&home.path());
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/home-0.1.0"), &home.path());
    let list = home.path().join("vaults.json");
    let vaults = fs::read_to_string(&list).unwrap();
    let folder = home.path().display().to_string();
    fs::write(&list, vaults.replace("/home/ana/.everlore", &folder)).unwrap();
    home
}

/// Makes a folder that only its owner can read, as 0.1.0 did.
fn private_folder(folder: &Path) {
    fs::create_dir(folder).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, target) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

#[track_caller]
fn assert_prints(output: &CommandOutput, parts: &[&str]) {
    assert_eq!(output.code, 0, "{output:?}");
    for part in parts {
        assert!(output.out.contains(part), "{part} in {output:?}");
    }
}

#[test]
fn it_opens_with_a_backup_and_nothing_is_missing() {
    let home = home_of_0_1_0();
    let parts = ["I'm allergic to peanuts", "我喜欢喝龙井茶", "The user lives in Lisbon"];
    assert_prints(&home.run(&["memory", "list", "--kind", "user"]), &parts);
    assert_prints(&home.run(&["memory", "history", "--limit", "1"]), &["#10"]);
    assert_prints(&home.run(&["doctor"]), &["schema 9", "8 memories, 10 changes"]);
    let names = fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let backups = names.filter(|name| name.to_string_lossy().ends_with(".backup"));
    assert_eq!(backups.count(), 1, "the migration left a backup");
}

#[test]
fn what_it_holds_is_recalled_in_both_languages() {
    let home = home_of_0_1_0();
    let port = home.run(&["recall", "which port does staging use?", "--limit", "1"]);
    assert_prints(&port, &["We moved the staging server to port 9443.", "monday"]);
    assert_prints(&home.run(&["recall", "支付", "--limit", "1"]), &["支付模块周三上线"]);
    let block = home.run(&["context", "支付模块什么时候上线？", "--budget", "200"]);
    assert_prints(&block, &["<memory-context>", "收到，支付模块周三上线。"]);
    assert_eq!(home.run(&["context", "thanks, that's all!"]).out, "");
    let rollback = home.run(&["recall", "how does a rollback work?", "--limit", "1"]);
    assert_prints(&rollback, &["Run make rollback on the bastion host."]);
    let offline = home.run(&["chat", "--offline", "Which port did we move staging to?"]);
    assert_prints(&offline, &["> We moved the staging server to port 9443.", "— Ana"]);
}

#[test]
fn its_vectors_are_renewed_without_a_command() {
    let home = home_of_0_1_0();
    // Neither question shares a word with the memory that answers it.
    assert_prints(
        &home.run(&["recall", "我对什么过敏？", "--limit", "1"]),
        &["I'm allergic to peanuts"],
    );
    assert_prints(&home.run(&["recall", "what do I drink?", "--limit", "1"]), &["我喜欢喝龙井茶"]);
    let status = &home.json(&["embed", "status"])["status"];
    assert!(
        status["in_use"]["name"].as_str().unwrap().starts_with("everlore-static-256-v2-"),
        "{status}"
    );
    assert_eq!((&status["in_use"], &status["waiting"]), (&status["model"], &0.into()));
}

#[test]
fn it_is_changed_as_before() {
    let home = home_of_0_1_0();
    assert_prints(&home.run(&["remember", "I also avoid cashews"]), &["remembered:"]);
    assert_prints(&home.run(&["memory", "undo", "--last"]), &["undone: change 11"]);
    assert_prints(&home.run(&["layer", "add", "user", "Likes", "long walks"]), &["USER.md (#2)"]);
    let layer = home.run(&["layer", "show", "user"]);
    assert_prints(&layer, &["green tea in the morning", "long walks"]);
    let document = home.sibling("deploy.md");
    fs::write(&document, "# Rollback\nRun make rollback twice.\n").unwrap();
    assert_prints(&home.run(&["ingest", "deploy.md"]), &["1 added"]);
    let prompt = home.run(&["prompt", "show", "Am I allergic to peanuts?"]);
    assert_prints(&prompt, &["green tea in the morning", "I'm allergic to peanuts"]);
}

#[test]
fn its_vault_is_synced_without_a_conflict() {
    let home = home_of_0_1_0();
    assert_prints(&home.run(&["vault", "sync"]), &["0 changes, 3 unchanged"]);
    let page = home.path().join("vault/user_i_m_allergic_to_peanuts.md");
    let text = fs::read_to_string(&page).unwrap();
    fs::write(&page, text.replace("\nI'm allergic to peanuts", "\nI'm allergic to all nuts"))
        .unwrap();
    assert_prints(&home.run(&["vault", "sync"]), &["file → memory", "1 change"]);
    assert_prints(&home.run(&["recall", "nuts"]), &["I'm allergic to all nuts"]);
}
