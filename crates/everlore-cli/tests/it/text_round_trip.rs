//! Text in every language and shape is found again or rejected with a clear error.

use crate::home::{TestHome, turn_lines};

#[test]
fn short_words_of_chinese_japanese_and_korean_are_found() {
    let home = TestHome::new();
    let texts = [
        "这台设备需要重启",
        "用支付宝支付账单",
        "每天八点看早报",
        "C盘空间不足",
        "API配置在控制台里修改",
        "默认语言是中文优先",
        "我爱喝茶",
        "昨日はしりとりで遊んだ",
        "끝말잇기 게임을 좋아해요",
        "用 Kubernetes 部署 payment-service v2.3.1",
    ];
    for text in texts {
        home.remember(text);
    }
    let cases = [
        ("设备", texts[0]),
        ("支付", texts[1]),
        ("早报", texts[2]),
        ("C盘", texts[3]),
        ("c盘", texts[3]),
        ("API配置", texts[4]),
        ("中文", texts[5]),
        ("茶", texts[6]),
        ("しりとり", texts[7]),
        ("끝말잇기", texts[8]),
        ("kubernetes 部署", texts[9]),
        ("payment-service", texts[9]),
        ("Ｃ盘", texts[3]),
    ];
    for (query, expected) in cases {
        let found = home.recall(query);
        assert_eq!(found.first().map(String::as_str), Some(expected), "{query}: {found:?}");
    }
}

#[test]
fn punctuation_that_search_engines_trip_over_is_only_punctuation() {
    let home = TestHome::new();
    home.remember("the deploy-script isn't 100% done: see notes (draft)");
    let marks =
        ["\"", "*", ":", "^", "(", ")", "-", "?", "'", "%", "NEAR(", "a AND", "\\", "''", ""];
    for mark in marks {
        assert!(home.recall(mark).is_empty(), "{mark}");
        let both = home.recall(&format!("{mark} notes {mark}"));
        assert_eq!(both.len(), 1, "{mark}");
    }
    assert_eq!(home.recall("\"deploy-script\" OR 1=1; DROP TABLE memories --").len(), 1);
}

#[test]
fn emoji_and_mixed_scripts_come_back_as_they_were() {
    let home = TestHome::new();
    let text = "🎉 生日 birthday День рождения عيد ميلاد 👨‍👩‍👧‍👦 e\u{301}";
    let id = home.remember(text);
    assert_eq!(home.json(&["memory", "show", &id])["content"], text);
    for query in ["birthday", "生日", "рождения", "ميلاد"] {
        assert_eq!(home.recall(query), [text], "{query}");
    }
}

#[test]
fn zero_bytes_are_text_like_any_other() {
    let home = TestHome::new();
    let saved = home.run_with_input(&["--json", "remember"], b"before\0after tea");
    assert_eq!(saved.code, 0, "{saved:?}");
    let id = saved.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(home.json(&["memory", "show", &id])["content"], "before\0after tea");
    assert_eq!(home.recall("tea").len(), 1);
    let observed =
        home.run_with_input(&["observe"], b"{\"text\":\"zero \\u0000 byte\"}\nraw \0 zero\n");
    assert_eq!((observed.code, observed.out.lines().count()), (0, 2), "{observed:?}");
    home.assert_healthy();
}

#[test]
fn a_megabyte_is_stored_and_found_and_too_much_is_refused() {
    let home = TestHome::new();
    let long = "茶和 tea, 很多 words here. ".repeat(1_048_576 / 32) + "needle";
    let saved = home.run_with_input(&["--json", "remember"], long.as_bytes());
    assert_eq!(saved.code, 0, "{}", saved.out);
    assert_eq!(home.recall("needle").len(), 1);
    let endless = "x".repeat(5 * 1024 * 1024);
    let refused = home.run_with_input(&["--json", "remember"], endless.as_bytes());
    assert_eq!((refused.code, &refused.json()["error"]["code"]), (2, &"invalid".into()));
    let lines = turn_lines([endless.as_str(), "short"]);
    let observed = home.run_with_input(&["observe"], lines.as_bytes());
    let answers = observed.lines();
    assert_eq!((observed.code, answers.len()), (2, 2));
    assert!(answers[0]["error"].is_object() && answers[1]["id"].is_string(), "{answers:?}");
    home.assert_healthy();
}

#[test]
fn bytes_that_are_not_utf8_are_refused_and_the_rest_goes_on() {
    let home = TestHome::new();
    let refused = home.run_with_input(&["--json", "remember"], b"caf\xe9 au lait");
    assert_eq!((refused.code, &refused.json()["error"]["code"]), (2, &"invalid".into()));
    assert!(refused.out.contains("byte 4"), "{refused:?}");
    let observed =
        home.run_with_input(&["observe"], b"good one\ncaf\xe9\n{\"text\": 5}\n{bad\nlast\n");
    assert_eq!(observed.code, 2);
    let answers = observed.lines();
    let lines: Vec<_> = answers.iter().map(|answer| answer["line"].as_u64()).collect();
    assert_eq!(lines, [None, Some(2), Some(3), Some(4), None], "{answers:?}");
    for answer in &answers[1..4] {
        assert!(answer["error"]["hint"].is_string(), "{answer}");
    }
    assert_eq!(home.json(&["memory", "stats"])["total"], 2);
}

#[test]
fn plain_lines_are_taken_as_they_are() {
    let home = TestHome::new();
    let ran = home.run_with_input(
        &["observe", "--plain", "--speaker", "王"],
        b"{not json}\r\n\r\n  spaced  \n",
    );
    assert_eq!((ran.code, ran.out.lines().count()), (0, 2), "{ran:?}");
    let listed = home.json(&["memory", "list"]);
    assert_eq!(listed["memories"][1]["content"], "{not json}");
    assert_eq!(listed["memories"][0]["content"], "  spaced  ");
    assert_eq!(listed["memories"][0]["source"]["speaker"], "王");
    let sessions: Vec<_> =
        (0..2).map(|at| listed["memories"][at]["source"]["session"].clone()).collect();
    assert!(sessions[0].is_string() && sessions[0] == sessions[1], "{sessions:?}");
}
