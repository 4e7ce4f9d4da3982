//! Tests of `json_entries`: round trips, comments, and files that are not edited.

use serde_json::json;

use super::*;

fn path(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}

fn entries() -> Vec<JsonEntry> {
    vec![
        JsonEntry::Member {
            path: path(&["mcpServers"]),
            key: "everlore".into(),
            value: json!({ "command": "/opt/我的 apps/everlore", "args": ["mcp"] }),
        },
        JsonEntry::Element {
            path: path(&["hooks", "Stop"]),
            calls: "hook codex Stop".into(),
            value: json!({ "hooks": [{ "type": "command", "command": "everlore hook codex Stop" }] }),
        },
    ]
}

/// Inserts the entries, checks that a second insertion changes nothing and that removal restores the text.
fn round_trip(text: &str) -> String {
    let edited = insert_entries(text, &entries()).unwrap_or_else(|| panic!("not edited: {text}"));
    assert!(has_entries(&edited, &entries()), "{edited}");
    assert_eq!(insert_entries(&edited, &entries()).unwrap(), edited, "twice is once");
    assert_eq!(remove_entries(&edited, &entries()).unwrap(), text, "{edited}");
    edited
}

#[test]
fn what_goes_in_comes_out_again_and_every_other_byte_stays() {
    for text in [
        "{\n  \"theme\": \"dark\"\n}\n",
        "{\"a\":1}",
        "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"command\": \"say 好\" }\n\t\t]\n\t},\n\t\"n\": 1.50\n}",
        "{\r\n    \"mcpServers\": {\r\n        \"other\": {\"command\": \"x\\\"{\"}\r\n    }\r\n}\r\n",
        "{}\n",
        "{ \"mcpServers\": { \"other\": {} }, \"hooks\": { \"Stop\": [1, 2] } }",
        "{\n\n  \"theme\": \"dark\"\n\n}\n",
    ] {
        round_trip(text);
    }
}

#[test]
fn comments_and_trailing_commas_stay_where_they_are() {
    for text in [
        "// top\n{\n  // one\n  \"a\": 1, // tail\n  /* two */\n  \"mcpServers\": {\n    // none yet\n  },\n}\n// end\n",
        "{\n  \"theme\": \"暗\" // 我喜欢的   \n  // the end\n}\n",
        "{\r\n  \"a\": 1, // one\r\n}\r\n",
        "{ // c\n}",
        "{\n  \"mcpServers\": { // none yet\n  }\n}\n",
        "{ /* a */ \"a\": 1, /* b */ \"b\": 2 /* c */ }",
        "{ \"a\": [1, /* two */ 2,], /* b */ }",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      // first\n      { \"command\": \"say\" }, // second\n    ],\n  },\n}\n",
    ] {
        let edited = round_trip(text);
        for line in text.lines().filter(|line| line.contains("//")) {
            let comment = &line[line.find("//").unwrap()..];
            assert!(edited.lines().any(|edited| edited.ends_with(comment)), "{comment}\n{edited}");
        }
    }
}

#[test]
fn a_comment_stays_with_its_line() {
    let edited = insert_entries("{\n  \"a\": 1 // mine\n}\n", &entries()[..1]).unwrap();
    assert!(edited.starts_with("{\n  \"a\": 1, // mine\n  \"mcpServers\": {\n"), "{edited}");
    let edited = insert_entries("{\n  \"a\": 1, // mine\n}\n", &entries()[..1]).unwrap();
    assert!(edited.ends_with("    }\n  },\n}\n"), "a trailing comma where there was one: {edited}");
}

#[test]
fn comments_that_were_added_later_survive_removal() {
    let edited = insert_entries("{\n  \"a\": 1\n}\n", &entries()[..1]).unwrap();
    let commented = edited
        .replace("  \"mcpServers\"", "  // servers\n  \"mcpServers\"")
        .replace("    \"everlore\"", "    // memory\n    \"everlore\"");
    let removed = remove_entries(&commented, &entries()[..1]).unwrap();
    assert_eq!(
        removed,
        "{\n  \"a\": 1,\n  // servers\n  \"mcpServers\": {\n    // memory\n  }\n}\n"
    );
}

#[test]
fn an_entry_between_others_comes_out_alone() {
    let text = "{\n  \"mcpServers\": {\n    \"a\": {}, // first\n    \"everlore\": {}, // ours\n    \"b\": {} // last\n  }\n}\n";
    let removed = remove_entries(text, &entries()[..1]).unwrap();
    assert_eq!(
        removed,
        "{\n  \"mcpServers\": {\n    \"a\": {}, // first\n    \"b\": {} // last\n  }\n}\n"
    );
    let text = "{ \"mcpServers\": { \"everlore\": 1, \"b\": 2 } }";
    assert_eq!(remove_entries(text, &entries()[..1]).unwrap(), "{ \"mcpServers\": { \"b\": 2 } }");
}

#[test]
fn an_empty_file_gets_a_readable_one() {
    let edited = insert_entries("", &entries()[..1]).unwrap();
    assert_eq!(
        edited,
        "{\n  \"mcpServers\": {\n    \"everlore\": {\n      \"args\": [\n        \"mcp\"\n      ],\n      \
         \"command\": \"/opt/我的 apps/everlore\"\n    }\n  }\n}\n"
    );
    let edited = insert_entries("// nothing here", &entries()[..1]).unwrap();
    assert!(edited.starts_with("// nothing here\n{\n  \"mcpServers\""), "{edited}");
}

#[test]
fn an_older_entry_of_ours_is_replaced() {
    let old = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"/old/everlore hook codex Stop\"}]}]}}";
    let edited = insert_entries(old, &entries()[1..]).unwrap();
    assert!(
        !edited.contains("/old/") && edited.matches("hook codex Stop").count() == 1,
        "{edited}"
    );
}

#[test]
fn what_is_no_json_is_not_edited() {
    for text in [
        "[1]",
        "{\"hooks\": 3}",
        "{\"a\" 1}",
        "{",
        "{'a': 1}",
        "{a: 1}",
        "{\"a\": 1 \"b\": 2}",
        "{\"a\": 0x1}",
        "{\"a\": +1}",
        "{\"a\": .5}",
        "{\"a\": NaN}",
        "{\"a\": tru}",
        "{} {}",
        "{ /* open",
        "\u{feff}{}",
        &"[".repeat(100_000),
    ] {
        assert_eq!(insert_entries(text, &entries()), None, "{text}");
    }
}

#[test]
fn a_text_without_our_entries_stays_as_it_is() {
    let version = JsonEntry::Required { key: "version", value: json!(1) };
    let entries = [vec![version], entries()].concat();
    for text in ["{\"mcpServers\":{}}", "{ \"hooks\": { \"Stop\": [] } }", "{\"version\": 1}", "{}"]
    {
        assert_eq!(remove_entries(text, &entries).unwrap(), text);
    }
}
