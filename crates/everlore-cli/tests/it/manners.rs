//! Manners at a terminal and in scripts: tables that fit, words that do not break, help and messages in two languages,
//! settings that are changed by a command.

use std::fs;

use everlore::internal::files::atomic_file::create_private_folder;
use everlore_mock_llm::{MockChat, ModelResponse};
use unicode_width::UnicodeWidthStr;

use crate::{
    chat::chat_home,
    home::{CommandOutput, TestHome},
    terminal::{CTRL_C, TestTerminal},
};

fn run_in(home: &TestHome, args: &[&str], locale: &str) -> CommandOutput {
    home.command(args).env("LC_ALL", locale).output().unwrap().into()
}

#[test]
fn lists_and_hits_fit_the_terminal_without_breaking_a_word() {
    let home = TestHome::new();
    let english = "The quarterly planning meeting with the infrastructure department happens every second Tuesday";
    let chinese =
        "我每周二下午都要和基础设施部门一起开季度规划会议，然后在楼下的咖啡馆喝一杯龙井茶再回家";
    home.remember(english);
    home.remember(chinese);
    for columns in [60, 80] {
        let rows = TestTerminal::start_wide(&home, &["list"], &[], columns).final_rows();
        let shown: Vec<&String> = rows.iter().filter(|row| !row.is_empty()).collect();
        assert_eq!(shown.len(), 3, "one line per memory: {shown:#?}");
        assert!(
            shown[1..].iter().all(|row| row.contains('…') && row.ends_with("active")),
            "{shown:#?}"
        );
        for (query, text) in [("planning meeting", english), ("季度规划会议", chinese)] {
            let args = ["search", query, "--limit", "1"];
            let rows = TestTerminal::start_wide(&home, &args, &[], columns).final_rows();
            let body: Vec<&str> =
                rows.iter().skip(2).map(|row| row.trim()).filter(|row| !row.is_empty()).collect();
            let blank = if text == english { " " } else { "" };
            assert_eq!(body.join(blank), text, "{rows:#?}");
            assert!(body.len() > 1 && body.iter().all(|row| row.width() <= usize::from(columns)));
        }
    }
}

#[test]
fn answers_wrap_between_words_tables_line_up_and_waiting_is_shown() {
    let answer = "This answer is long enough that it must be wrapped at least once in here.\n\n\
        | Tea | Taste |\n|---|---|\n| 龙井茶 | mild |\n| Assam | strong |\n\nend";
    let (server, home) = chat_home(
        MockChat::new()
            .then(ModelResponse::text(answer).held_after(0))
            .otherwise(|_| ModelResponse::text("- tea")),
    );
    let terminal = TestTerminal::start_wide(&home, &["chat", "--session", "s"], &[], 40);
    terminal.type_line("Which tea?");
    server.await_held();
    terminal.wait_for_text("waiting for the model");
    server.release();
    terminal.wait_for_text(
        "This answer is long enough that it must\nbe wrapped at least once in here.",
    );
    terminal.wait_for_text("龙井茶  mild\nAssam   strong");
    terminal.wait_for_prompt();
    assert!(!terminal.screen().contains("waiting for"), "{}", terminal.screen());
    terminal.type_line("/quit");
    assert_eq!(terminal.wait_for_exit(), 0);
}

#[test]
fn the_cost_of_an_interrupted_answer_is_counted() {
    let (server, home) = chat_home(
        MockChat::new()
            .then(ModelResponse::text("The first half and the second half.").held_after(5))
            .otherwise(|_| ModelResponse::text("- halves")),
    );
    let terminal = TestTerminal::start(&home, &["chat", "--session", "s"], &[]);
    terminal.type_line("Tell me all");
    server.await_held();
    terminal.wait_for_text("The first half");
    terminal.type_keys(CTRL_C);
    terminal.wait_for_text("interrupted");
    terminal.type_line("/cost");
    terminal.wait_for_text("1 answer: ");
    let screen = terminal.screen();
    assert!(
        !screen.contains("1 answer: 0 tokens read") && !screen.contains(" 0 written"),
        "{screen}"
    );
    terminal.type_line("/quit");
    assert_eq!(terminal.wait_for_exit(), 0);
}

#[test]
fn help_comes_in_groups_and_in_both_languages() {
    let home = TestHome::new();
    let english = home.run(&["--help"]).out;
    assert!(english.contains("Every day:\n  remember "), "{english}");
    let chinese = run_in(&home, &["--help"], "zh_CN.UTF-8").out;
    for text in ["日常：", "记住一句话", "全局选项：", "用法："] {
        assert!(chinese.contains(text), "{text}: {chinese}");
    }
    assert!(!chinese.contains("Usage") && !chinese.contains("Print help"), "{chinese}");
    assert_eq!(home.run(&["--lang", "zh", "--help"]).out, chinese);
    assert_eq!(run_in(&home, &["--lang", "en", "--help"], "zh_CN.UTF-8").out, english);
    let forget = run_in(&home, &["forget", "--help"], "zh_TW.UTF-8").out;
    assert!(forget.contains("永久抹去") && forget.contains("不要求确认"), "{forget}");
}

#[test]
fn people_are_answered_in_their_language_and_programs_in_english() {
    let home = TestHome::new();
    let saved = run_in(&home, &["remember", "我喜欢喝龙井茶"], "zh_CN.UTF-8");
    assert!(
        saved.out.starts_with("已记住：") && saved.out.contains("[user] 我喜欢喝龙井茶"),
        "{saved:?}"
    );
    let listed = run_in(&home, &["list"], "zh_CN.UTF-8").out;
    assert!(
        listed.starts_with("id") && listed.contains("刚刚") && listed.contains("状态"),
        "{listed}"
    );
    let missing = run_in(&home, &["show", "ffffffff"], "zh_CN.UTF-8").err;
    assert_eq!(
        missing,
        "错误：找不到记忆 `ffffffff`\n提示：用 `everlore list` 列出记忆；只能找到当前智能体和用户的 id\n"
    );
    assert_eq!(run_in(&home, &["undo"], "zh_CN.UTF-8").out, "已撤销：第 1 号改动\n");
    let json = run_in(&home, &["--json", "show", "ffffffff"], "zh_CN.UTF-8").json();
    assert_eq!(json["error"]["message"], "memory `ffffffff` not found");
    create_private_folder(&home.path()).unwrap();
    fs::write(home.path().join("config.toml"), "[general]\nlanguage = \"zh\"\n").unwrap();
    assert!(home.run(&["show", "ffffffff"]).err.starts_with("错误："));
    assert!(home.run(&["--lang", "en", "show", "ffffffff"]).err.starts_with("error: memory"));
}

#[test]
fn stored_text_is_never_translated() {
    let home = TestHome::new();
    let id = home.remember("nothing found");
    for args in [&["show", &id][..], &["search", "nothing found"]] {
        let ran = run_in(&home, args, "zh_CN.UTF-8");
        assert!(ran.out.contains("nothing found"), "{ran:?}");
    }
}

#[test]
fn settings_are_changed_by_a_command_and_comments_stay() {
    let home = TestHome::new();
    create_private_folder(&home.path()).unwrap();
    let path = home.path().join("config.toml");
    fs::write(&path, "# mine\n[recall]\nlimit = 7 # enough\n").unwrap();
    let ran = home.run(&["config", "set", "recall.limit", "9"]);
    assert!(ran.code == 0 && ran.out.contains("recall.limit = 9 (was 7)"), "{ran:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "# mine\n[recall]\nlimit = 9 # enough\n");
    assert_eq!(home.run(&["config", "get", "recall.limit"]).out, "9\n");
    let changed = home.json(&["config", "set", "memory.inject.limit", "2"]);
    assert_eq!((&changed["key"], &changed["value"]), (&"memory.inject.limit".into(), &2.into()));
    for (args, problem) in [
        (&["config", "set", "recall.limit", "many"][..], "nothing was changed"),
        (&["config", "set", "recall.limt", "3"], "everlore config set recall.limit"),
        (&["config", "set", "recall", "3"], "is a section"),
        (&["config", "set", "chat.api_key", "sk-1"], "everlore config key"),
        (&["config", "set", "general.agent", "a/b"], "nothing was changed"),
    ] {
        let ran = home.run(args);
        assert!(ran.code == 2 && ran.err.contains(problem), "{args:?}: {ran:?}");
    }
    let unset = home.run(&["config", "unset", "recall.limit"]);
    assert!(unset.code == 0 && unset.out.contains("(was 9)"), "{unset:?}");
    assert_eq!(home.run(&["config", "unset", "recall.limit"]).code, 1);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("# mine\n[recall]\n") && text.contains("[memory.inject]"), "{text}");
}

#[test]
fn an_edited_file_is_saved_only_if_it_is_valid_and_what_was_typed_is_kept() {
    let home = TestHome::new();
    let edit = |script: &str| -> CommandOutput {
        let editor = home.sibling("editor.sh");
        fs::write(&editor, format!("printf '{script}' > \"$1\"\n")).unwrap();
        let editor = format!("sh {}", editor.display());
        home.command(&["config", "edit"])
            .env("EDITOR", editor)
            .env("PATH", "/usr/bin:/bin")
            .output()
            .unwrap()
            .into()
    };
    let ran = edit("# new\\n[recall]\\nlimit = 4\\n");
    assert!(ran.code == 0 && ran.out.contains("saved:"), "{ran:?}");
    let ran = edit("[recall]\\nlimit = \"x\"\\n");
    assert!(ran.code == 2 && ran.err.contains("config.toml.rejected"), "{ran:?}");
    let path = home.path().join("config.toml");
    assert_eq!(fs::read_to_string(&path).unwrap(), "# new\n[recall]\nlimit = 4\n");
    let kept = fs::read_to_string(home.path().join("config.toml.rejected")).unwrap();
    assert_eq!(kept, "[recall]\nlimit = \"x\"\n");
}

#[test]
fn a_home_that_is_no_folder_gets_the_right_hint() {
    let home = TestHome::new();
    let file = home.sibling("file");
    fs::write(&file, "x").unwrap();
    let file = file.to_str().unwrap();
    for (named, locale, problem) in [
        (file, "C", "is not a folder"),
        (file, "zh_CN.UTF-8", "不是文件夹"),
        ("/proc/nowhere", "C", "cannot be made"),
        ("/proc/nowhere", "zh_CN.UTF-8", "无法创建文件夹"),
    ] {
        let ran = run_in(&home, &["--home", named, "remember", "tea"], locale);
        assert!(ran.code == 2 && ran.err.contains(problem), "{ran:?}");
        assert!(ran.err.contains("--home") && !ran.err.contains("--config"), "{ran:?}");
    }
}
