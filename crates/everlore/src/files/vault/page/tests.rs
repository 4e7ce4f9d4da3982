//! Tests of vault pages: from memory to file and back.

use super::*;
use crate::types::{MemorySource, Origin, Scope, Status};

fn memory(name: &str, content: &str) -> Memory {
    let noon: Timestamp = "2026-03-02T12:00:00Z".parse().unwrap();
    Memory {
        id: "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04".parse().unwrap(),
        uri: "agent://a/user/general/x".into(),
        scope: Scope::default(),
        kind: Kind::User,
        name: name.into(),
        description: "likes tea: 龙井".into(),
        content: content.into(),
        tags: vec!["tea".into(), "喝 茶".into()],
        importance: 0.8,
        confidence: 1.0,
        weight: 1.0,
        status: Status::Active,
        metadata: serde_json::Map::new(),
        source: MemorySource {
            via: Origin::Remember,
            session: None,
            speaker: None,
            role: None,
            turns: vec![],
        },
        at: noon,
        created_at: noon,
        updated_at: noon,
        last_used_at: None,
        superseded_by: None,
        version: 1,
    }
}

const CLAUDE: &str = "---\nname: Role\ndescription: Who the user is\ntype: user\nmodified: 2026-02-01T10:00:00.123Z\n---\n\nThe user is a nurse.\n\n**Why:** said so.\n";

#[test]
fn a_new_file_says_all_that_the_memory_says() {
    let memory = memory("Tea", "I drink tea.\n\n每天喝茶。");
    let text = VaultPage::render(&memory);
    assert_eq!(
        text,
        "---\nname: Tea\ndescription: \"likes tea: 龙井\"\ntype: user\nid: 0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04\ntags: [tea, 喝 茶]\nimportance: 0.8\ncreated: 2026-03-02T12:00:00Z\nmodified: 2026-03-02T12:00:00Z\n---\n\nI drink tea.\n\n每天喝茶。\n"
    );
    let page = VaultPage::parse(&text).unwrap();
    assert!(page.matches_memory(&memory));
    assert_eq!((page.id, page.created), (Some(memory.id), Some(memory.at)));
    assert_eq!(
        VaultPage::revise(&text, &memory).unwrap(),
        text,
        "nothing differs, nothing changes"
    );
}

#[test]
fn a_type_below_metadata_is_the_kind_and_stays_where_it_is() {
    let text = "---\nname: no-mocks\ndescription: real databases\nmetadata:\n  type: feedback\n---\n\nNo mocks.\n";
    let page = VaultPage::parse(text).unwrap();
    assert_eq!((page.kind, page.content.as_str()), (Kind::Feedback, "No mocks."));
    let mut memory = memory("no-mocks", "No mocks.");
    page.apply_to(&mut memory);
    memory.content = "No mocks, ever.".into();
    (memory.tags, memory.importance) = (vec![], 0.5);
    assert_eq!(
        VaultPage::revise(text, &memory).unwrap(),
        text.replace("No mocks.", "No mocks, ever.")
    );
    let other = text.replace("type: feedback", "kind: feedback");
    assert!(VaultPage::parse(&other).unwrap_err().to_string().contains("no `type`"));
}

#[test]
fn the_file_of_a_coding_assistant_works_as_it_is() {
    let page = VaultPage::parse(CLAUDE).unwrap();
    let mut stored = memory("x", "y");
    (stored.tags, stored.importance) = (Vec::new(), 0.5);
    page.apply_to(&mut stored);
    assert!(page.matches_memory(&stored));
    assert_eq!(stored.content, "The user is a nurse.\n\n**Why:** said so.");
    assert_eq!(
        VaultPage::revise(CLAUDE, &stored).unwrap(),
        CLAUDE,
        "no id and no other key is forced on it"
    );
    stored.content = "The user is a doctor.".into();
    assert_eq!(
        VaultPage::revise(CLAUDE, &stored).unwrap(),
        "---\nname: Role\ndescription: Who the user is\ntype: user\nmodified: 2026-03-02T12:00:00Z\n---\n\nThe user is a doctor.\n"
    );
}

#[test]
fn foreign_keys_comments_and_blank_lines_survive_an_edit() {
    let text = "---\n# mine\nname: Tea # old\nx: [1,\n  2]\ntype: user\n---\n\n\nOld.\n\n\n";
    let mut stored = memory("Green tea", "New.");
    (stored.tags, stored.importance, stored.description) = (Vec::new(), 0.5, String::new());
    assert_eq!(
        VaultPage::revise(text, &stored).unwrap(),
        "---\n# mine\nname: Green tea # old\nx: [1,\n  2]\ntype: user\n---\n\n\nNew.\n\n\n"
    );
}

#[test]
fn what_is_no_memory_is_told_with_the_reason() {
    let reason = |text: &str| VaultPage::parse(text).unwrap_err().to_string();
    assert_eq!(reason("hello"), "it has no front matter");
    assert_eq!(reason("---\nname: x\n---\n"), "it has no `type`");
    assert_eq!(reason("---\ntype: colour\n---\n"), "`colour` is not a type of memory");
    assert_eq!(reason("---\ntype: [user]\n---\n"), "`type` is not a text");
    assert_eq!(reason("---\ntype: user\nname: {a: b}\n---\n"), "`name` is not a text");
    assert_eq!(reason("---\ntype: user\nimportance: very\n---\n"), "`importance` is `very`");
    assert_eq!(reason("---\ntype: turn\n---\n"), "turns of a conversation have no files");
    assert!(
        VaultPage::parse("---\ntype: Preference\nname: 42\n---\nx")
            .is_ok_and(|page| page.kind == Kind::User)
    );
}

#[test]
fn files_of_other_programs_are_known_by_their_first_bytes() {
    assert!(encoding_problem("---\r\nname: x\r\n").is_some());
    assert!(encoding_problem("\u{feff}---\n").is_some());
    assert!(
        encoding_problem("---\nname: x\n---\na\r\nb").is_none(),
        "the text itself may have any line ends"
    );
}
