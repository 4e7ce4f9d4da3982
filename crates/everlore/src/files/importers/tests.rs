//! Tests of each format on files as people have them, in both languages, and on damaged ones.

use serde_json::json;

use super::*;

fn tree(files: &[(&str, &str)]) -> SourceTree {
    let files = files.iter().map(|(path, text)| SourceFile::new(*path, *text)).collect();
    SourceTree { root: "/there".into(), files, skipped: Vec::new() }
}

fn parse(format: ExternalFormat, files: &[(&str, &str)]) -> ParsedImport {
    format.parse(tree(files))
}

/// Returns kind, name and content of each draft.
fn draft_rows(import: &ParsedImport) -> Vec<(Option<Kind>, &str, &str)> {
    let row = |draft| {
        let draft: &ExternalDraft = draft;
        (draft.kind, draft.name.as_deref().unwrap_or_default(), draft.content.as_str())
    };
    import.drafts.iter().map(row).collect()
}

fn skipped(import: &ParsedImport) -> Vec<String> {
    import.skipped.iter().map(|one| format!("{}: {}", one.location, one.reason)).collect()
}

const SOUL: &str = "# SOUL.md - Who You Are\n\n_You are becoming someone._\n\n## Boundaries\n\n- Private things stay private.\n\n```md\n## not a heading\n```\n";

#[test]
fn a_workspace_of_openclaw_is_taken_by_sections_and_days() {
    let import = parse(
        ExternalFormat::OpenClaw,
        &[
            ("SOUL.md", SOUL),
            (
                "USER.md",
                "# USER.md\n\n- **Name:** 小林\n- **Timezone:** Asia/Shanghai\n\n## Context\n\n喜欢简短的回答。\n",
            ),
            ("IDENTITY.md", "# IDENTITY.md\n\n- **Name:**\n- **Creature:**\n  _(AI? robot?)_\n"),
            (
                "MEMORY.md",
                "## Projects\n\nShip Atlas in May.\n\n## 偏好\n\n喝龙井茶。\n\n## Misc\n\nThe port is 8443.\n",
            ),
            ("memory/2026-03-02.md", "# Monday\n\nFixed the pump.\n"),
            ("memory/2026-03-03-standup.md", "今天开了站会，讨论了发布计划。\n"),
            ("memory/people.md", "## Ann\n\nRuns the lab.\n"),
        ],
    );
    assert_eq!(
        draft_rows(&import),
        [
            (Some(Kind::Feedback), "SOUL.md - Who You Are", "_You are becoming someone._"),
            (
                Some(Kind::Feedback),
                "Boundaries",
                "- Private things stay private.\n\n```md\n## not a heading\n```"
            ),
            (Some(Kind::User), "USER.md", "- **Name:** 小林\n- **Timezone:** Asia/Shanghai"),
            (Some(Kind::User), "Context", "喜欢简短的回答。"),
            (Some(Kind::Project), "Projects", "Ship Atlas in May."),
            (Some(Kind::User), "偏好", "喝龙井茶。"),
            (None, "Misc", "The port is 8443."),
            (Some(Kind::Session), "Daily log of 2026-03-02", "# Monday\n\nFixed the pump."),
            (Some(Kind::Session), "2026-03-03 的日志 (standup)", "今天开了站会，讨论了发布计划。"),
            (None, "Ann", "Runs the lab."),
        ]
    );
    assert_eq!(skipped(&import), ["IDENTITY.md: IDENTITY.md: it is an empty template"]);
    assert_eq!(
        import.drafts[3].layer,
        Some((Layer::User, "## Context\n\n喜欢简短的回答。".into()))
    );
    assert_eq!(import.drafts[7].at, Some("2026-03-02T12:00:00Z".parse().unwrap()));
}

#[test]
fn entries_of_hermes_are_set_apart_by_section_signs_alone_on_a_line() {
    let import = parse(
        ExternalFormat::Hermes,
        &[
            ("USER.md", "\u{feff}Name: Ann\r\n§\r\nSee § 5 of the contract\r\nand § 6\r\n§\r\n"),
            ("memories/MEMORY.md", "部署用 make ship\n§\n\n§\nThe lab is in Graz\n"),
        ],
    );
    assert_eq!(
        draft_rows(&import),
        [
            (Some(Kind::User), "", "Name: Ann"),
            (Some(Kind::User), "", "See § 5 of the contract\nand § 6"),
            (None, "", "部署用 make ship"),
            (None, "", "The lab is in Graz"),
        ]
    );
    let locations: Vec<_> = import.drafts.iter().map(|draft| draft.location.as_str()).collect();
    assert_eq!(
        locations,
        ["USER.md:1", "USER.md:3", "memories/MEMORY.md:1", "memories/MEMORY.md:5"]
    );
    assert!(import.drafts.iter().all(|draft| draft.key.is_none()));
    assert_eq!(
        skipped(&parse(ExternalFormat::Hermes, &[("USER.md", "\n")])),
        ["USER.md: it is empty"]
    );
}

#[test]
fn a_memory_folder_of_claude_code_is_taken_by_files() {
    let page = "---\nname: Testing\ndescription: real databases\ntype: feedback\nmodified: 2026-03-01T10:00:00Z\n---\n\nNo mocks.\n\n**Why:** they lied.\n";
    let import = parse(
        ExternalFormat::Claude,
        &[
            (
                "MEMORY.md",
                "# Memory\n\n- [Testing](feedback_testing.md): real databases\n\n## 项目\n\n发布在五月。\n",
            ),
            ("feedback_testing.md", page),
            ("user_role.md", "Data scientist at the lab\n"),
            ("project_odd.md", "---\nname: 奇怪\ntype: colour\n---\n还在。\n"),
            ("broken.md", "---\nname: x\nno end\n"),
        ],
    );
    assert_eq!(
        draft_rows(&import),
        [
            (Some(Kind::Project), "项目", "发布在五月。"),
            (Some(Kind::Feedback), "Testing", "No mocks.\n\n**Why:** they lied."),
            (Some(Kind::User), "user role", "Data scientist at the lab"),
            (Some(Kind::Project), "奇怪", "还在。"),
        ]
    );
    assert_eq!(import.drafts[1].at, Some("2026-03-01T10:00:00Z".parse().unwrap()));
    assert_eq!(skipped(&import), ["broken.md: the front matter is not closed"]);
}

#[test]
fn a_type_below_metadata_and_a_team_folder_are_those_of_claude_code() {
    let page = |of_type: &str, text: &str| {
        format!("---\nname: x\ndescription: d\nmetadata:\n  type: {of_type}\n---\n\n{text}\n")
    };
    let (mine, ours) = (page("user", "喜欢龙井茶"), page("project", "Atlas ships in May"));
    let files = [
        ("MEMORY.md", "- [x](x.md) — d\n"),
        ("likes-tea.md", mine.as_str()),
        ("team/atlas.md", ours.as_str()),
    ];
    assert_eq!(
        draft_rows(&parse(ExternalFormat::Claude, &files)),
        [(Some(Kind::User), "x", "喜欢龙井茶"), (Some(Kind::Project), "x", "Atlas ships in May")]
    );
    let claude = |path: &str| ExternalFormat::Claude.classify_file(path) == ImportDecision::Import;
    assert!(claude("team/atlas.md") && claude("projects/-home-ann/memory/team/atlas.md"));
    assert!(!claude(".claude/notes.md") && !claude("team/deep/atlas.md"));
    // A project's own folder of that name holds other notes.
    let project = [("CLAUDE.md", "Be brief.\n"), ("team/people.md", "# People\n\nAnn\n")];
    assert_eq!(parse(ExternalFormat::Claude, &project).drafts.len(), 1);
}

#[test]
fn instructions_are_taken_by_sections_and_other_notes_of_a_project_are_not() {
    let import = parse(
        ExternalFormat::Claude,
        &[
            (
                "CLAUDE.md",
                "# Shop\n\nSee @docs/git.md first.\n@docs/style.md\n\n## Commands\n\n- make test\n\n## 架构\n\n前端用 React。\n",
            ),
            (".claude/rules/api.md", "---\npaths: src/**\n---\n\nValidate input.\n"),
            ("SECURITY.md", "Write to us.\n"),
        ],
    );
    assert_eq!(
        draft_rows(&import),
        [
            (Some(Kind::Feedback), "Shop", "See @docs/git.md first.\n@docs/style.md"),
            (Some(Kind::Feedback), "Commands", "- make test"),
            (Some(Kind::Project), "架构", "前端用 React。"),
            (Some(Kind::Feedback), "", "Validate input."),
        ]
    );
    assert_eq!(
        skipped(&import),
        ["CLAUDE.md:4: `docs/style.md` is not followed; import that file by itself"]
    );
}

#[test]
fn only_files_of_the_system_are_wanted() {
    let claude = |path: &str| ExternalFormat::Claude.classify_file(path) == ImportDecision::Import;
    assert!(claude("projects/-home-ann-shop/memory/user_role.md") && claude(".claude/CLAUDE.md"));
    assert!(claude(".claude/agent-memory/reviewer/MEMORY.md") && claude("rules/deep/api.md"));
    assert!(!claude("projects/-home-ann-shop/notes.md") && !claude("src/CLAUDE.md"));
    assert!(!claude("README.md") && !claude("user_role.txt") && !claude(".hidden.md"));
    let enters = |path: &str| ExternalFormat::Claude.descends_into(path);
    assert!(enters(".claude/agent-memory/reviewer") && enters("projects/x/memory"));
    assert!(!enters("node_modules") && !enters(".git") && !enters("projects/x/memory/deep"));
    assert!(matches!(
        ExternalFormat::OpenClaw.classify_file("BOOTSTRAP.md"),
        ImportDecision::Reject(_)
    ));
    assert_eq!(ExternalFormat::Hermes.classify_file("skills/MEMORY.md"), ImportDecision::Ignore);
}

const GRAPH: &str = r#"{"type":"entity","name":"小林","entityType":"person","observations":["喜欢龙井茶","住在杭州"]}
{"type":"entity","name":"default_user","entityType":"person","observations":["Speaks German"]}
{"type":"entity","name":"小林","entityType":"person","observations":["住在杭州","会弹琴"]}
{"type":"relation","from":"小林","to":"Atlas","relationType":"works_on"}
{"type":"relation","from":"Nobody","to":"Nothing","relationType":"is"}
{"type":"entity","name":"Empty","entityType":"x","observations":[]}
{"type":"entity","name":7,"observations":[]}
{"type":"entity","name":"Odd","entityType":"thing","observations":["fine",3]}
["list"]
{"type":"entity","name":"Cut","#;

#[test]
fn an_entity_of_the_graph_is_one_memory_with_its_relations_in_words() {
    let import = parse(ExternalFormat::McpGraph, &[("memory.jsonl", GRAPH)]);
    assert_eq!(
        draft_rows(&import),
        [
            (
                Some(Kind::Knowledge),
                "小林",
                "- 喜欢龙井茶\n- 住在杭州\n- 会弹琴\n- 小林 works on Atlas"
            ),
            (Some(Kind::User), "default_user", "- Speaks German"),
            (Some(Kind::Knowledge), "Odd", "- fine"),
        ]
    );
    let reasons = skipped(&import);
    assert_eq!(
        reasons[..5],
        [
            "memory.jsonl:7: the entity has no `name`",
            "memory.jsonl:8: an observation is not a text",
            "memory.jsonl:9: its `type` is neither entity nor relation",
            "memory.jsonl:10: the line cannot be read: EOF while parsing a value at line 1 column 30",
            "memory.jsonl:5: the relation names two entities that are not there",
        ]
    );
    assert_eq!(reasons[5], "memory.jsonl:6: nothing is known about `Empty`");
    let graph =
        r#"{"entities":[{"name":"A","entityType":"t","observations":["o"]}],"relations":[]}"#;
    let import = parse(ExternalFormat::McpGraph, &[("memory.json", graph)]);
    assert_eq!(draft_rows(&import), [(Some(Kind::Knowledge), "A", "- o")]);
}

#[test]
fn items_of_mem0_are_found_however_they_are_wrapped() {
    let item = json!({"id": "m1", "memory": "Likes 龙井茶", "user_id": "ann", "categories": ["food"],
        "created_at": "2025-06-01T10:00:00.123456-07:00", "metadata": {"mood": "good"}});
    let lines = format!("\u{feff}{item}\r\n\r\n{item}\r\n");
    for text in [
        json!([item]).to_string(),
        json!({"results": [item]}).to_string(),
        serde_json::to_string_pretty(&json!({"count": 1, "memories": [item]})).unwrap(),
        item.to_string(),
        lines,
    ] {
        let import = parse(ExternalFormat::Mem0, &[("export.json", &text)]);
        let draft = import.drafts.last().unwrap();
        assert_eq!(
            (draft.key.as_deref(), draft.user.as_deref()),
            (Some("m1"), Some("ann")),
            "{text}"
        );
        assert_eq!(
            (draft.content.as_str(), &draft.tags[..]),
            ("Likes 龙井茶", &["food".into()][..])
        );
        assert_eq!(draft.metadata["metadata"]["mood"], "good");
        assert_eq!(draft.at.unwrap().to_string(), "2025-06-01T17:00:00.123456Z");
        assert_eq!(import.skipped, []);
    }
}

#[test]
fn what_is_damaged_in_an_export_of_mem0_is_told_and_the_rest_taken() {
    let text =
        "[{\"memory\":\"one\"},\n{\"memory\":5},7,{\"memory\":\" \"},\n{\"memory\":\"two\"},{\"mem";
    let import = parse(ExternalFormat::Mem0, &[("a.json", text)]);
    assert_eq!(draft_rows(&import), [(None, "", "one"), (None, "", "two")]);
    let reasons = skipped(&import);
    assert!(
        reasons[0].starts_with("a.json:3: the file cannot be read from here on: EOF"),
        "{reasons:?}"
    );
    assert_eq!(
        reasons[1..],
        [
            "a.json: item 2: it has no text in `memory`",
            "a.json: item 3: it is not an object",
            "a.json: item 4: its `memory` is empty",
        ]
    );
    let mut lines = b"{\"memory\":\"one\"}\n{\"memory\":\"\xff\"}\n{\"memory\":\"cut".to_vec();
    lines.extend(b"\n{\"text\":\"three\"}");
    let files = vec![SourceFile::new("a.jsonl", lines)];
    let import = ExternalFormat::Mem0.parse(SourceTree { files, ..SourceTree::default() });
    assert_eq!(draft_rows(&import), [(None, "", "one"), (None, "", "three")]);
    let locations: Vec<_> = import.skipped.iter().map(|one| one.location.as_str()).collect();
    assert_eq!(locations, ["a.jsonl:2", "a.jsonl:3"]);
}

const NOTE: &str = "---\ntitle: Coffee Brewing\ntype: guide\npermalink: main/coffee/coffee-brewing\ntags:\n- coffee\n- 冲煮\n---\n\n# Coffee Brewing\n\nHow I brew at home.\n\n## Observations\n\n- [method] Pour over brings out #floral notes #brewing (light roast)\n- [水温] 水温九十二度最好 #温度\n- [ ] buy filters\n- [00:01:02] hello\n- see issue #12\n\n## Relations\n\n- relates_to [[Grinder Settings]]\n- \"learned from\" [[小林]] (2025)\n- I like [[Tea]] too\n\n## Why\n\nBitterness comes from heat.\n\n```md\n- [code] not a fact\n```\n";

#[test]
fn a_note_of_basic_memory_is_one_memory_with_its_statements_and_one_for_each_text() {
    let import = parse(ExternalFormat::BasicMemory, &[("coffee/Coffee Brewing.md", NOTE)]);
    assert_eq!(
        draft_rows(&import),
        [
            (
                None,
                "Coffee Brewing",
                "How I brew at home.\n\n- [method] Pour over brings out floral notes (light roast)\n- [水温] 水温九十二度最好\n- Coffee Brewing relates to Grinder Settings\n- Coffee Brewing learned from 小林 (2025)"
            ),
            (
                None,
                "Coffee Brewing: Observations",
                "- [ ] buy filters\n- [00:01:02] hello\n- see issue #12"
            ),
            (None, "Coffee Brewing: Relations", "- I like [[Tea]] too"),
            (
                None,
                "Coffee Brewing: Why",
                "Bitterness comes from heat.\n\n```md\n- [code] not a fact\n```"
            ),
        ]
    );
    let whole = &import.drafts[0];
    assert_eq!(whole.tags, ["guide", "coffee", "冲煮", "floral", "brewing", "温度"]);
    assert_eq!(whole.key.as_deref(), Some("main/coffee/coffee-brewing"));
    assert_eq!(whole.metadata["relations"][1], json!(["Coffee Brewing", "learned from", "小林"]));
    assert_eq!(import.skipped, []);
}

#[test]
fn notes_without_front_matter_are_read_and_empty_or_open_ones_are_told() {
    let import = parse(
        ExternalFormat::BasicMemory,
        &[
            ("plain.md", "I live in Graz.\n"),
            ("prefs.md", "---\ntitle: 偏好\n---\n- [drink] 龙井\n  每天早上\n"),
            ("empty.md", "---\ntitle: Empty\n---\n"),
            ("open.md", "---\ntitle: Open\n"),
        ],
    );
    assert_eq!(
        draft_rows(&import),
        [(None, "plain", "I live in Graz."), (Some(Kind::User), "偏好", "- [drink] 龙井 每天早上")]
    );
    assert_eq!(
        skipped(&import),
        ["empty.md: it is empty", "open.md: the front matter is not closed"]
    );
    let wanted =
        |path: &str| ExternalFormat::BasicMemory.classify_file(path) == ImportDecision::Import;
    assert!(wanted("deep/down/note.md") && !wanted(".obsidian/x.md") && !wanted("a.canvas"));
    assert!(!ExternalFormat::BasicMemory.descends_into("a/.git"));
}

#[test]
fn a_text_that_is_not_utf_8_is_told_by_its_line() {
    let in_markdown = |format: &ExternalFormat| {
        !matches!(format, ExternalFormat::McpGraph | ExternalFormat::Mem0)
    };
    for format in ExternalFormat::ALL.into_iter().filter(in_markdown) {
        let files = vec![SourceFile::new("MEMORY.md", b"one\ntwo \xff\n".to_vec())];
        let import = format.parse(SourceTree { files, ..SourceTree::default() });
        assert_eq!((import.drafts.len(), import.skipped[0].location.as_str()), (0, "MEMORY.md:2"));
    }
}

#[test]
fn any_bytes_are_read_by_every_format_without_a_panic() {
    use proptest::{prelude::*, test_runner::TestRunner};
    let text = r#"([\[\]{}"§#\-:,@() \n\r]|---\n|\n- |\[\[|\]\]|"memory"|"type":"entity"|name: |é|茶|null|[a-z0-9]){0,60}"#;
    let mut runner = TestRunner::deterministic();
    let bytes = proptest::collection::vec(any::<u8>(), 0..40);
    let names = ["MEMORY.md", "CLAUDE.md", "a.md", "memory/2026-01-01.md", "m.json", "rules/x.md"];
    let input = (text, bytes, proptest::sample::select(names.to_vec()));
    runner
        .run(&input, |(text, bytes, name)| {
            for format in ExternalFormat::ALL {
                for content in [text.as_bytes().to_vec(), [text.as_bytes(), &bytes].concat()] {
                    let files = vec![SourceFile::new(name, content)];
                    let import = format.parse(SourceTree { files, ..SourceTree::default() });
                    prop_assert!(
                        import.drafts.iter().all(|draft| !draft.content.trim().is_empty())
                    );
                }
            }
            Ok(())
        })
        .unwrap();
}
