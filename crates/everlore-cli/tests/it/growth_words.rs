//! The growth commands speak both languages and name memories by short ids.

use serde_json::json;

use crate::home::TestHome;

/// Records a cure that worked three times, which reflection proposes as a skill.
fn learn(home: &TestHome) {
    let new = json!({ "pain": "the import fails", "solution": "pip install pyyaml", "outcome": "worked",
        "error": "ModuleNotFoundError: No module named 'yaml'" });
    let added = home.run_with_input(&["experience", "add", "--json"], new.to_string().as_bytes());
    let id = added.json()["id"].as_str().unwrap().to_owned();
    home.json(&["experience", "worked", &id]);
    home.json(&["experience", "worked", &id]);
}

/// Returns `true` if a text has an id in full.
fn has_full_id(text: &str) -> bool {
    let is_id = |word: &str| word.len() == 36 && word.matches('-').count() == 4;
    text.split(|c: char| !c.is_ascii_hexdigit() && c != '-').any(is_id)
}

#[test]
fn health_speaks_the_language_of_its_reader() {
    let home = TestHome::new();
    home.remember("I drink green tea");
    let english = home.run(&["health"]).out;
    assert!(english.contains("memories: 1 active") && english.contains("all is well"), "{english}");
    let chinese = home.run(&["--lang", "zh", "health"]).out;
    for text in ["数据库：", "记忆：1 条有效", "索引：", "采集：", "提醒：", "心跳：", "一切正常"]
    {
        assert!(chinese.contains(text), "{text}: {chinese}");
    }
    for word in ["memories", "reminders:", "never", "all is well", "capture:"] {
        assert!(!chinese.contains(word), "{word}: {chinese}");
    }
    learn(&home);
    home.json(&["reflect"]);
    let warned = home.run(&["--lang", "zh", "health"]).out;
    assert!(warned.contains("建议: 1 条建议等待你的决定"), "{warned}");
    assert_eq!(
        home.json(&["--lang", "zh", "health"])["warnings"][0]["about"],
        "proposals",
        "programs get English"
    );
}

#[test]
fn proposals_are_listed_and_decided_by_short_ids_in_both_languages() {
    let home = TestHome::new();
    learn(&home);
    let reflected = home.run(&["reflect"]).out;
    assert!(
        reflected.contains("Python module missing (ModuleNotFoundError): `yaml`"),
        "{reflected}"
    );
    let listed = home.run(&["proposals", "list"]).out;
    assert!(!has_full_id(&listed) && !has_full_id(&reflected), "{listed}");
    let chinese = home.run(&["--lang", "zh", "proposals", "list"]).out;
    assert!(chinese.contains("待决定 反复的问题"), "{chinese}");
    assert!(chinese.contains("解法已知，有效 "), "{chinese}");
    let id = listed.split_whitespace().next().unwrap();
    let shown = home.run(&["proposals", "show", id]).out;
    assert!(shown.contains("evidence: ") && !has_full_id(&shown), "{shown}");
    let approved = home.run(&["--lang", "zh", "proposals", "approve", id]).out;
    assert!(approved.starts_with("已同意并应用"), "{approved}");
    let skills = home.run(&["--lang", "zh", "skill", "show", "fix-python-module-missing-yaml"]).out;
    assert!(skills.contains("版本 1") && skills.contains("效果"), "{skills}");
}

#[test]
fn an_audit_is_told_in_both_languages_with_short_ids() {
    let home = TestHome::new();
    home.remember("The user likes green tea.");
    home.remember("Deploy on Fridays");
    let file = home.sibling("mem0.json");
    std::fs::write(&file, r#"{"results":[{"id":"1","memory":"Lives in Austin, Texas","user_id":"p","created_at":"2025-01-01T10:00:00Z"},{"id":"2","memory":"Lives in Seattle","user_id":"p","created_at":"2025-06-01T10:00:00Z"},{"id":"3","memory":"It was good","user_id":"p","created_at":"2025-06-01T10:00:00Z"}]}"#).unwrap();
    let path = file.to_str().unwrap();
    let found = home.json(&["audit", path]);
    let kinds: Vec<&str> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["contradictory", "vague"], "{found}");
    let chinese = home.run(&["--lang", "zh", "audit", path]).out;
    assert!(chinese.starts_with("得分 ") && chinese.contains("矛盾"), "{chinese}");
    assert!(chinese.contains("不能同时成立") && chinese.contains("没有说出具体内容"), "{chinese}");
    let english = home.run(&["audit"]).out;
    assert!(!has_full_id(&english), "{english}");
}

#[test]
fn schedules_and_profiles_answer_in_chinese() {
    let home = TestHome::new();
    let explained = home.run(&["--lang", "zh", "schedule", "explain", "每天早上9点"]).out;
    assert!(explained.starts_with("类型   重复") && explained.contains("下次"), "{explained}");
    let added = home.run(&["--lang", "zh", "schedule", "add", "每天早上8点吃药"]).out;
    assert!(added.starts_with("已添加：吃药") && !has_full_id(&added), "{added}");
    home.run_with_input(
        &["observe", "--session", "s"],
        "我是一名儿科医生，平时用 Python 做数据分析。".as_bytes(),
    );
    let profile = home.run(&["--lang", "zh", "profile"]).out;
    assert!(profile.starts_with("字段"), "{profile}");
    for value in ["儿科医生", "Python", "医疗"] {
        assert!(profile.contains(value), "{value}: {profile}");
    }
}

#[test]
fn a_value_of_the_profile_is_rejected_restored_and_corrected_in_both_languages() {
    let home = TestHome::new();
    home.run(&["profile", "set", "tools", "Vim"]);
    let said = home.run(&["profile", "reject", "tools", "vim"]);
    assert_eq!((said.code, said.err.trim()), (0, "tools: vim is hidden from now on"));
    let shown = home.run(&["--json", "profile"]).json();
    assert_eq!((&shown["fields"], &shown["rejected"][0]["value"]), (&json!([]), &json!("vim")));
    let again = home.run(&["--lang", "zh", "profile", "reject", "tools", "Vim"]);
    assert_eq!((again.code, again.err.trim()), (1, "tools：Vim 之前已被拒绝"));
    let back = home.run(&["--lang", "zh", "profile", "restore", "tools", "vim"]);
    assert_eq!((back.code, back.err.trim()), (0, "tools：vim 重新生效"));
    home.run(&["profile", "set", "tools", "Emacs"]);
    home.run(&["profile", "set", "tools", "Helix", "--instead-of", "Emacs"]);
    let fields = home.json(&["profile"])["fields"].clone();
    let value = |at: usize| (&fields[at]["value"], fields[at]["until"].is_null());
    let expected = [(&json!("Helix"), true), (&json!("Vim"), true), (&json!("Emacs"), false)];
    assert_eq!([value(0), value(1), value(2)], expected);
}
