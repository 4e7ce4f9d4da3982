//! Tests of front matter: reading, editing, and what an edit leaves alone.

use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> FrontMatter<'_> {
    FrontMatter::parse(text).unwrap().unwrap()
}

fn text(value: &str) -> Option<YamlValue> {
    Some(YamlValue::Text(value.into()))
}

#[test]
fn the_front_matter_of_strangers_is_read_right() {
    let matter = parse(
        "---\n# mine\nname: \"Tea: 龙井\" # quoted\ndescription: >-\n  two\n  lines\ntype: 'user'\ntags:\n- a\n- \"b c\"\nflow: [x, 'y, z']\nempty:\nnested:\n  deep: 1\nmodified: 2026-03-02T12:00:00Z\nlit: |\n  # no comment\n  kept\n---\nbody\n",
    );
    assert_eq!(matter.get("name").cloned(), text("Tea: 龙井"));
    assert_eq!(matter.get("description").cloned(), text("two lines"));
    assert_eq!(matter.get("type").cloned(), text("user"));
    assert_eq!(matter.get("tags"), Some(&YamlValue::List(vec!["a".into(), "b c".into()])));
    assert_eq!(matter.get("flow"), Some(&YamlValue::List(vec!["x".into(), "y, z".into()])));
    assert_eq!(matter.get("empty"), Some(&YamlValue::Null));
    assert_eq!(matter.get("nested"), Some(&YamlValue::Other));
    assert_eq!(matter.get("modified").cloned(), text("2026-03-02T12:00:00Z"));
    assert_eq!(matter.get("lit").cloned(), text("# no comment\nkept\n"));
    assert_eq!(matter.get("absent"), None);
    assert_eq!(matter.body(), "body\n");
}

#[test]
fn only_the_lines_of_changed_keys_change() {
    let before = "---\n# about tea\nname: Tea   # the drink\nmine: {a: 1}\n\ntags:\n  - old # why\n  # between\n  - older\nx-note: |\n  # kept\n  as is\n# last\n---\n\nbody";
    let after = parse(before)
        .with_values(&[
            ("name", Some("茶".into())),
            ("tags", Some("[new]".into())),
            ("id", Some("7".into())),
        ])
        .unwrap();
    assert_eq!(
        after,
        "---\n# about tea\nname: 茶 # the drink\nmine: {a: 1}\n\ntags: [new]\n  # between\nx-note: |\n  # kept\n  as is\n# last\nid: 7\n---\n"
    );
    let removed = parse(before).with_values(&[("x-note", None)]).unwrap();
    assert_eq!(removed, before.replace("x-note: |\n  # kept\n  as is\n", "").replace("\nbody", ""));
}

#[test]
fn line_ends_of_windows_and_the_mark_of_some_editors_stay() {
    let before = "\u{feff}---\r\nname: Tea\r\nmine: 1\r\n---\r\nbody\r\n";
    let matter = parse(before);
    assert!(matter.is_crlf());
    assert_eq!(matter.get("name").cloned(), text("Tea"));
    let after =
        matter.with_values(&[("name", Some("Coffee".into())), ("id", Some("7".into()))]).unwrap();
    assert_eq!(after, "\u{feff}---\r\nname: Coffee\r\nmine: 1\r\nid: 7\r\n---\r\n");
}

#[test]
fn a_text_without_front_matter_has_none() {
    for text in ["", "hello", "----\nname: x\n---\n", "\n---\nname: x\n---\n", "--- \nx"] {
        let parsed = FrontMatter::parse(text);
        assert!(matches!(parsed, Ok(None) | Err(_)), "{text:?}: {parsed:?}");
    }
    let open = FrontMatter::parse("---\nname: x\n").unwrap_err();
    assert_eq!(open.to_string(), "the front matter is not closed");
}

#[test]
fn what_yaml_refuses_but_people_write_is_read_by_its_lines() {
    let matter = parse("---\nname: Tea\ndescription: Likes: tea, not coffee\ntype: user\n---\nx");
    assert_eq!(matter.get("description").cloned(), text("Likes: tea, not coffee"));
    let after = matter.with_values(&[("name", Some("茶".into()))]).unwrap();
    assert_eq!(after, "---\nname: 茶\ndescription: Likes: tea, not coffee\ntype: user\n---\n");
}

#[test]
fn what_cannot_be_understood_is_refused_with_a_reason() {
    for bad in [
        "---\n- a\n- b\n---\n",
        "---\njust a text\n---\n",
        "---\nname: a\nname: b\n---\n",
        "---\n? [a]\n: b\n---\n",
    ] {
        let error = FrontMatter::parse(bad).unwrap_err();
        assert!(!error.to_string().is_empty() && !error.hint().is_empty(), "{bad:?}");
    }
}

#[test]
fn keys_that_share_a_line_are_read_but_not_edited() {
    let matter = parse("---\n{name: Tea, type: user}\n---\n");
    assert_eq!(matter.get("name").cloned(), text("Tea"));
    assert!(matter.with_values(&[("name", Some("x".into()))]).is_err());
}

#[test]
fn a_later_line_with_a_rule_in_a_block_does_not_fool_an_edit() {
    let matter = parse("---\nname: |\n  a\n  ---\n  b\ntype: user\n---\nx");
    assert_eq!(matter.get("name").cloned(), text("a\n---\nb\n"));
}

/// Generates lines that people and programs write, each a whole key.
fn any_front_matter() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("x1: plain # with a comment\n".to_owned()),
        Just("x2: \"quoted # no comment\"\n".to_owned()),
        Just("x3:\n  - a\n  - b # c\n".to_owned()),
        Just("x4:\n- a\n-  b\n".to_owned()),
        Just("x5: |\n  a\n\n  # b\n".to_owned()),
        Just("x6: >-\n   folded\n   text\n".to_owned()),
        Just("x7: {a: 1,\n  b: 2}\n".to_owned()),
        Just("x8: 'it''s'\n".to_owned()),
        Just("\n".to_owned()),
        Just("# 注释\n".to_owned()),
        Just("  # indented\n".to_owned()),
        Just("键: 值\n".to_owned()),
        "[a-z]{3,8}: [a-z ]{0,12}\n".prop_map(|line| format!("z{line}")),
    ]
}

proptest! {
    #[test]
    fn any_text_that_is_written_is_read_back(value in any::<String>(), more in proptest::collection::vec(any::<String>(), 0..4)) {
        let head = format!("---\nname: {}\ntags: {}\n---\n", yaml_scalar(&value), yaml_list(&more));
        let matter = FrontMatter::parse(&head).unwrap().unwrap();
        prop_assert_eq!(matter.get("name").cloned(), text(&value));
        prop_assert_eq!(matter.get("tags"), Some(&YamlValue::List(more)));
    }

    #[test]
    fn an_edit_keeps_every_other_byte(
        before in proptest::collection::vec(any_front_matter(), 0..6),
        after in proptest::collection::vec(any_front_matter(), 0..6),
        value in any::<String>(),
        body in any::<String>(),
        crlf in any::<bool>(),
    ) {
        let ends = |text: String| if crlf { text.replace('\n', "\r\n") } else { text };
        let (before, after) = (ends(before.concat()), ends(after.concat()));
        let rule = ends("---\n".into());
        let text = format!("{rule}{before}{}{after}{rule}{body}", ends("name: old\n".into()));
        // Duplicate keys are refused, which another test shows.
        let Ok(Some(matter)) = FrontMatter::parse(&text) else { return Ok(()) };
        let edited = matter.with_values(&[("name", Some(yaml_scalar(&value)))]).unwrap();
        prop_assert_eq!(edited, format!("{rule}{before}name: {}{}{after}{rule}", yaml_scalar(&value), ends("\n".into())));
        prop_assert_eq!(matter.body(), body);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(---\n)?[ -~\n\u{4e00}-\u{4e10}]{0,80}(\n---\n)?.{0,10}") {
        if let Ok(Some(matter)) = FrontMatter::parse(&text) {
            prop_assert_eq!(format!("{}{}", matter.head(), matter.body()), text.clone());
            if let Ok(head) = matter.with_values(&[("name", Some("x".into()))]) {
                prop_assert_eq!(FrontMatter::parse(&head).unwrap().unwrap().get("name").cloned(), Some(YamlValue::Text("x".into())));
            }
        }
    }
}
