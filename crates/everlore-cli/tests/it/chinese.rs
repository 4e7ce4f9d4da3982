//! Chinese of the command line: whole lines, never mixed ones; JSON does not change with the language.

use std::fs;

use unicode_width::UnicodeWidthStr;

use crate::home::TestHome;

/// Command lines with what their Chinese output must say.
const SAID: [(&[&str], &str); 16] = [
    (&["remember"], "错误：没有写内容"),
    (&["undo"], "错误：没有可以撤销的改动"),
    (&["skill", "show", "x"], "错误：找不到技能 `x`"),
    (&["undo", "--run", "x"], "错误：找不到运行 `x`"),
    (&["layer", "undo", "user"], "提示：`everlore layer history` 列出改动"),
    (&["model", "check"], "请写一个：everlore model check NAME；`everlore model list` 列出全部"),
    (&["schedule", "explain", "blah"], "不明确：没有说明时间或日期"),
    (&["memory", "import", "/nonexistent"], "没有这个文件或文件夹"),
    (&["serve", "key", "remove", "nope"], "没有密钥 `nope`"),
    (&["doctor"], "正常"),
    (&["memory", "status"], "等待提取"),
    (&["ledger"], "没有花费"),
    (&["quarantine", "list"], "隔离区是空的"),
    (&["agent", "list"], "还没有保存任何内容"),
    (&["memory", "stats"], "变更记录"),
    (&["layer", "show", "daily", "--day", "2026-99-99"], "不是日期"),
];

#[test]
fn answers_and_errors_are_in_chinese() {
    let home = TestHome::new();
    for (words, said) in SAID {
        let args: Vec<&str> = ["--lang", "zh"].iter().chain(words).copied().collect();
        let output = home.run(&args);
        let text = format!("{}{}", output.out, output.err);
        assert!(text.contains(said), "{words:?}: {text}");
    }
}

#[test]
fn json_is_the_same_in_every_language() {
    let home = TestHome::new();
    for words in [&["list", "--json"][..], &["show", "zzzz", "--json"], &["undo", "--json"]] {
        let run = |language: &str| {
            home.run(&["--lang", language].iter().chain(words).copied().collect::<Vec<_>>()).out
        };
        assert_eq!(run("en"), run("zh"), "{words:?}");
    }
}

#[test]
fn chinese_help_has_no_english_line_and_fits_its_width() {
    let home = TestHome::new();
    for words in [&["remember"][..], &["observe"], &["layer", "add"], &["agent", "move"], &["hook"]]
    {
        let args: Vec<&str> = words.iter().copied().chain(["--help", "--lang", "zh"]).collect();
        let help = home.run(&args).out;
        for line in help.lines() {
            assert!(line.width() <= 100, "{words:?}: {line}");
            let text = line.split(['`', '[', '<']).next().unwrap_or_default();
            let is_word =
                |word: &&str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase());
            let words_in_row = text.split_whitespace().filter(is_word).count();
            let is_english = words_in_row > 3 && !line.contains(|c: char| !c.is_ascii());
            assert!(!is_english, "{words:?}: {line}");
        }
        assert!(!help.contains("[env:"), "{help}");
    }
}

#[test]
fn the_language_of_the_settings_counts_for_help_and_mistakes() {
    let home = TestHome::new();
    fs::create_dir_all(home.path()).unwrap();
    fs::write(home.path().join("config.toml"), "[general]\nlanguage = \"zh\"\n").unwrap();
    assert!(home.run(&["--help"]).out.contains("日常"), "help");
    assert!(home.run(&["lsit"]).err.contains("没有命令"), "a mistake");
    assert!(home.run(&["--lang", "en", "--help"]).out.contains("Every day"), "an option");
    for name in ["cn", "zh-CN", "zh_CN", "中文"] {
        assert!(home.run(&["--lang", name, "list"]).err.contains("注意"), "{name}");
    }
}
