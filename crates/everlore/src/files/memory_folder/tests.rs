//! Tests of every documented sentence, every attack by a path, and what must survive an edit.

#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

use serde_json::{Value, json};

use super::*;

struct MemoryFolderFixture {
    home: tempfile::TempDir,
    folder: MemoryFolder,
}

impl MemoryFolderFixture {
    /// Creates a folder beside a file that no command may reach.
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("secret.md"), "secret").unwrap();
        let folder = MemoryFolder::new(home.path().join("root"), MemoryFolderLimits::default());
        Self { home, folder }
    }

    fn with(files: &[(&str, &str)]) -> Self {
        let fixture = Self::new();
        for (path, text) in files {
            fixture.put(path, text.as_bytes());
        }
        fixture
    }

    fn root(&self) -> std::path::PathBuf {
        self.home.path().join("root")
    }

    /// Creates a file by hand.
    fn put(&self, path: &str, bytes: &[u8]) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    fn run(&self, command: Value) -> MemoryToolOutput {
        let command: MemoryToolCommand = serde_json::from_value(command).unwrap();
        self.folder.run(&command).unwrap()
    }

    fn ok(&self, command: Value) -> String {
        let answer = self.run(command);
        assert!(!answer.is_error, "{}", answer.text);
        answer.text
    }

    fn err(&self, command: Value) -> String {
        let answer = self.run(command);
        assert!(answer.is_error, "{}", answer.text);
        answer.text
    }
}

/// Each row: a command, `true` if it fails, and the whole answer. They run one after another on one folder.
#[test]
fn every_documented_sentence_is_said_to_the_letter() {
    let fixture = MemoryFolderFixture::new();
    let big = "x\n".repeat(768);
    let rows: Vec<(Value, bool, String)> = vec![
        (json!({"command": "view", "path": "/memories"}), false, "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n0B\t/memories".into()),
        (json!({"command": "create", "path": "/memories/notes.txt", "file_text": "Meeting notes:\n- tea\n- plan\n"}), false, "File created successfully at: /memories/notes.txt".into()),
        (json!({"command": "create", "path": "/memories/notes.txt", "file_text": "again"}), true, "Error: File /memories/notes.txt already exists".into()),
        (json!({"command": "create", "path": "/memories/项目/计划.md", "file_text": big}), false, "File created successfully at: /memories/项目/计划.md".into()),
        (json!({"command": "view", "path": "/memories"}), false, "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n1.5K\t/memories\n28B\t/memories/notes.txt\n1.5K\t/memories/项目\n1.5K\t/memories/项目/计划.md".into()),
        (json!({"command": "view", "path": "/memories/notes.txt"}), false, "Here's the content of /memories/notes.txt with line numbers:\n     1\tMeeting notes:\n     2\t- tea\n     3\t- plan".into()),
        (json!({"command": "view", "path": "/memories/notes.txt", "view_range": [2, -1]}), false, "Here's the content of /memories/notes.txt with line numbers:\n     2\t- tea\n     3\t- plan".into()),
        (json!({"command": "view", "path": "/memories/absent"}), true, "The path /memories/absent does not exist. Please provide a valid path.".into()),
        (json!({"command": "str_replace", "path": "/memories/notes.txt", "old_str": "- tea", "new_str": "- 龙井茶"}), false, "The memory file has been edited.\n     1\tMeeting notes:\n     2\t- 龙井茶\n     3\t- plan".into()),
        (json!({"command": "str_replace", "path": "/memories/absent", "old_str": "a", "new_str": "b"}), true, "Error: The path /memories/absent does not exist. Please provide a valid path.".into()),
        (json!({"command": "str_replace", "path": "/memories/项目", "old_str": "a", "new_str": "b"}), true, "Error: The path /memories/项目 does not exist. Please provide a valid path.".into()),
        (json!({"command": "str_replace", "path": "/memories/notes.txt", "old_str": "coffee", "new_str": "b"}), true, "No replacement was performed, old_str `coffee` did not appear verbatim in /memories/notes.txt.".into()),
        (json!({"command": "str_replace", "path": "/memories/notes.txt", "old_str": "- ", "new_str": "* "}), true, "No replacement was performed. Multiple occurrences of old_str `- ` in lines: 2, 3. Please ensure it is unique".into()),
        (json!({"command": "insert", "path": "/memories/notes.txt", "insert_line": 2, "insert_text": "- milk\n"}), false, "The file /memories/notes.txt has been edited.".into()),
        (json!({"command": "insert", "path": "/memories/absent", "insert_line": 0, "insert_text": "a"}), true, "Error: The path /memories/absent does not exist".into()),
        (json!({"command": "insert", "path": "/memories/项目", "insert_line": 0, "insert_text": "a"}), true, "Error: The path /memories/项目 does not exist".into()),
        (json!({"command": "insert", "path": "/memories/notes.txt", "insert_line": 9, "insert_text": "a"}), true, "Error: Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 4]".into()),
        (json!({"command": "insert", "path": "/memories/notes.txt", "insert_line": -1, "insert_text": "a"}), true, "Error: Invalid `insert_line` parameter: -1. It should be within the range of lines of the file: [0, 4]".into()),
        (json!({"command": "rename", "old_path": "/memories/notes.txt", "new_path": "/memories/old/notes.txt"}), false, "Successfully renamed /memories/notes.txt to /memories/old/notes.txt".into()),
        (json!({"command": "rename", "old_path": "/memories/notes.txt", "new_path": "/memories/x"}), true, "Error: The path /memories/notes.txt does not exist".into()),
        (json!({"command": "rename", "old_path": "/memories/old", "new_path": "/memories/项目"}), true, "Error: The destination /memories/项目 already exists".into()),
        (json!({"command": "delete", "path": "/memories/absent"}), true, "Error: The path /memories/absent does not exist".into()),
        (json!({"command": "delete", "path": "/memories"}), true, "Cannot delete the /memories directory itself".into()),
        (json!({"command": "delete", "path": "/memories/old/notes.txt"}), false, "Successfully deleted /memories/old/notes.txt".into()),
        (json!({"command": "delete", "path": "/memories/项目"}), false, "Successfully deleted /memories/项目".into()),
        (json!({"command": "view", "path": "/memories/"}), false, "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n0B\t/memories\n0B\t/memories/old".into()),
    ];
    for (command, is_error, expected) in rows {
        assert_eq!(
            fixture.run(command.clone()),
            MemoryToolOutput { text: expected, is_error },
            "{command}"
        );
    }
}

#[test]
fn a_file_of_a_million_lines_is_refused_with_the_documented_sentence() {
    let fixture = MemoryFolderFixture::with(&[
        ("long.txt", &"\n".repeat(1_000_000)),
        ("fits.txt", &"\n".repeat(999_999)),
    ]);
    let view = |path: &str| json!({"command": "view", "path": path, "view_range": [999_999, -1]});
    let answer = fixture.err(view("/memories/long.txt"));
    assert_eq!(answer, "File /memories/long.txt exceeds maximum line limit of 999,999 lines.");
    assert!(fixture.ok(view("/memories/fits.txt")).ends_with("\n999999\t"));
}

/// Paths that must lead nowhere, and the beginning of the answer.
const ATTACKS: [(&str, &str); 43] = [
    ("/memories/../secret.md", "Path /memories/../secret.md would escape /memories directory"),
    ("/memories/a/../../secret.md", "Path /memories/a/../../secret.md would escape"),
    ("/memories/a/..", "Path /memories/a/.. would escape"),
    ("/memories/..", "Path /memories/.. would escape"),
    ("/memories/.. /secret.md", "Path /memories/.. /secret.md would escape"),
    ("/memories/%2e%2e%2fsecret.md", "Path /memories/%2e%2e%2fsecret.md would escape"),
    ("/memories/%2E%2E/secret.md", "Path /memories/%2E%2E/secret.md would escape"),
    ("/memories/%252e%252e%252fsecret.md", "Path /memories/%252e%252e%252fsecret.md would escape"),
    ("/memories/%25252e%25252e/secret.md", "Path /memories/%25252e%25252e/secret.md would escape"),
    ("/memories/a%2fb", "Path /memories/a%2fb would escape"),
    ("/memories/a%00.md", "Path /memories/a%00.md would escape"),
    ("/memories\\..\\secret.md", "Path must start with /memories, got: /memories\\..\\secret.md"),
    ("/memories/..\\secret.md", "Path /memories/..\\secret.md would escape"),
    ("/memories/a\\b", "Path /memories/a\\b has a name with"),
    ("/memories/%5c..%5csecret.md", "Path /memories/%5c..%5csecret.md would escape"),
    ("/memories/..∕secret.md", "Path /memories/..∕secret.md would escape"),
    ("/memories/..⁄secret.md", "Path /memories/..⁄secret.md would escape"),
    ("/memories/..／secret.md", "Path /memories/..／secret.md would escape"),
    ("/memories/．．/secret.md", "Path /memories/．．/secret.md would escape"),
    ("/memories/․․/secret.md", "Path /memories/․․/secret.md would escape"),
    ("/etc/passwd", "Path must start with /memories, got: /etc/passwd"),
    ("/", "Path must start with /memories, got: /"),
    ("", "Path must start with /memories, got: "),
    ("memories/a", "Path must start with /memories, got: memories/a"),
    ("./memories/a", "Path must start with /memories"),
    ("/memoriesX/a", "Path must start with /memories, got: /memoriesX/a"),
    ("/memories.md", "Path must start with /memories"),
    ("/Memories/a", "Path must start with /memories, got: /Memories/a"),
    ("//memories/a", "Path must start with /memories"),
    ("file:///memories/a", "Path must start with /memories"),
    ("C:\\memories\\a", "Path must start with /memories"),
    ("/memories/a\0.md", "Path /memories/a\u{fffd}.md has a name with"),
    ("/memories/a\nb", "Path /memories/a\u{fffd}b has a name with"),
    ("/memories/a\u{202e}dm.exe", "Path /memories/a\u{fffd}dm.exe has a name with"),
    ("/memories/con", "Path /memories/con uses the device name"),
    ("/memories/NUL.txt", "Path /memories/NUL.txt uses the device name"),
    ("/memories/Com1.md", "Path /memories/Com1.md uses the device name"),
    ("/memories/a/lpt9", "Path /memories/a/lpt9 uses the device name"),
    ("/memories/a.", "Path /memories/a. has a name with a blank around it or a dot at its end"),
    ("/memories/a /b", "Path /memories/a /b has a name with a blank"),
    ("/memories/a:stream", "Path /memories/a:stream has a name with"),
    (
        "/memories/.git/hooks/post-commit",
        "Path /memories/.git/hooks/post-commit names a hidden item",
    ),
    ("/memories/.everlore-tool-1-1", "Path /memories/.everlore-tool-1-1 names a hidden item"),
];

/// Returns every command, with the path in each place that takes one.
fn commands(path: &str) -> [Value; 7] {
    [
        json!({"command": "view", "path": path}),
        json!({"command": "create", "path": path, "file_text": "pwned"}),
        json!({"command": "str_replace", "path": path, "old_str": "secret", "new_str": "pwned"}),
        json!({"command": "insert", "path": path, "insert_line": 0, "insert_text": "pwned"}),
        json!({"command": "delete", "path": path}),
        json!({"command": "rename", "old_path": path, "new_path": "/memories/taken.md"}),
        json!({"command": "rename", "old_path": "/memories/keep.md", "new_path": path}),
    ]
}

/// Returns every file and folder below the home, with its text.
fn tree(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let text = fs::read_to_string(&entry).unwrap_or_default();
        all.push(format!("{} {text}", entry.display()));
        if entry.is_dir() && !entry.is_symlink() {
            all.extend(tree(&entry));
        }
    }
    all.sort();
    all
}

#[test]
fn no_spelling_of_a_path_leaves_the_folder_by_any_command() {
    let fixture = MemoryFolderFixture::with(&[("keep.md", "keep"), ("a/b.md", "b")]);
    let before = tree(fixture.home.path());
    for (path, expected) in ATTACKS {
        for command in commands(path) {
            let answer = fixture.err(command.clone());
            assert!(answer.starts_with(expected), "{command}: {answer}");
        }
    }
    assert_eq!(tree(fixture.home.path()), before);
}

#[test]
fn names_and_paths_that_are_too_long_are_refused_in_words() {
    let fixture = MemoryFolderFixture::with(&[("keep.md", "keep")]);
    let longest = format!("/memories/{}", "n".repeat(255));
    fixture.ok(json!({"command": "create", "path": longest, "file_text": ""}));
    let cases = [
        (format!("/memories/{}", "n".repeat(256)), "256 bytes, 255 at most"),
        (format!("/memories/{}", "名".repeat(86)), "258 bytes, 255 at most"),
        (format!("/memories/{}", "n/".repeat(600)), "1,210 bytes"),
        (format!("/memories{}", "/d".repeat(17)), "more than 16 levels"),
    ];
    for (path, expected) in cases {
        for command in commands(&path) {
            let answer = fixture.err(command).replace("1210", "1,210");
            assert!(answer.contains(expected), "{expected}: {answer}");
        }
    }
}

#[test]
fn links_are_never_followed_wherever_they_point() {
    let fixture = MemoryFolderFixture::with(&[
        ("keep.md", "keep"),
        ("inside.md", "inside"),
        ("real/b.md", "b"),
    ]);
    let (root, secret) = (fixture.root(), fixture.home.path().join("secret.md"));
    let outside = fixture.home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("c.md"), "secret").unwrap();
    symlink(&secret, root.join("file.md")).unwrap();
    symlink(&outside, root.join("folder")).unwrap();
    symlink("../..", root.join("real/up")).unwrap();
    symlink("inside.md", root.join("alias.md")).unwrap();
    symlink("/nowhere", root.join("dangling.md")).unwrap();
    let before = tree(fixture.home.path());
    for path in [
        "file.md",
        "folder",
        "folder/c.md",
        "folder/new.md",
        "real/up",
        "real/up/secret.md",
        "alias.md",
        "dangling.md",
        "dangling.md/x",
    ] {
        for command in commands(&format!("/memories/{path}")) {
            let answer = fixture.err(command.clone());
            assert_eq!(answer, "Path would escape /memories directory via symlink", "{command}");
        }
    }
    assert_eq!(tree(fixture.home.path()), before);
    let listed = fixture.ok(json!({"command": "view", "path": "/memories"}));
    for link in ["/file.md", "/folder", "/up", "/alias.md", "/dangling.md"] {
        assert!(!listed.contains(link), "{listed}");
    }
    // Deleting a folder with a link in it would lose where the link points.
    let answer = fixture.err(json!({"command": "delete", "path": "/memories/real"}));
    assert!(answer.starts_with("Error: /memories/real/up is not a text file"), "{answer}");
    assert_eq!(tree(fixture.home.path()), before);
}

#[test]
fn a_folder_that_is_itself_a_link_is_its_owners_choice() {
    let fixture = MemoryFolderFixture::new();
    let elsewhere = fixture.home.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, fixture.root()).unwrap();
    fixture.ok(json!({"command": "create", "path": "/memories/a.md", "file_text": "a"}));
    assert_eq!(fs::read_to_string(elsewhere.join("a.md")).unwrap(), "a");
}

#[test]
fn harmless_spellings_of_a_path_are_the_same_file() {
    let fixture =
        MemoryFolderFixture::with(&[("a/b.md", "text"), ("100%.md", "all"), ("%41.md", "percent")]);
    for path in ["/memories/a/b.md", "/memories//a/./b.md", "/memories/a/b.md/"] {
        assert!(fixture.ok(json!({"command": "view", "path": path})).ends_with("     1\ttext"));
    }
    assert!(fixture.ok(json!({"command": "view", "path": "/memories/100%.md"})).ends_with("\tall"));
    assert!(
        fixture.ok(json!({"command": "view", "path": "/memories/%41.md"})).ends_with("\tpercent")
    );
}

#[test]
fn listings_leave_out_what_is_hidden_and_go_two_levels_deep_but_count_all() {
    let fixture = MemoryFolderFixture::with(&[
        ("a.md", "12345"),
        ("d/e.md", "1234567890"),
        ("d/f/g.md", "123"),
        ("d/f/h/i.md", "1"),
        (".hidden", "x"),
        (".git/config", "x"),
        ("node_modules/x/y.js", "x"),
        ("d/node_modules/z.js", "x"),
        ("空.md", ""),
    ]);
    fixture.put("blob", &vec![b'x'; 1_258_291]);
    let answer = fixture.ok(json!({"command": "view", "path": "/memories"}));
    let lines: Vec<&str> = answer.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "1.2M\t/memories",
            "5B\t/memories/a.md",
            "1.2M\t/memories/blob",
            "14B\t/memories/d",
            "10B\t/memories/d/e.md",
            "4B\t/memories/d/f",
            "0B\t/memories/空.md"
        ]
    );
    let answer = fixture.ok(json!({"command": "view", "path": "/memories/d/"}));
    let lines: Vec<&str> = answer.lines().collect();
    assert_eq!(
        lines[0],
        "Here're the files and directories up to 2 levels deep in /memories/d, excluding hidden items and node_modules:"
    );
    assert_eq!(
        lines[1..],
        [
            "14B\t/memories/d",
            "10B\t/memories/d/e.md",
            "4B\t/memories/d/f",
            "3B\t/memories/d/f/g.md",
            "1B\t/memories/d/f/h"
        ]
    );
    assert_eq!(
        fixture.err(json!({"command": "view", "path": "/memories/d", "view_range": [1, 2]})),
        "Error: Invalid `view_range` parameter: /memories/d is a directory, which has no lines"
    );
}

#[test]
fn a_long_listing_says_how_much_is_left_out() {
    let fixture = MemoryFolderFixture::new();
    for number in 0..1_003 {
        fixture.put(&format!("{number:04}.md"), b"x");
    }
    let answer = fixture.ok(json!({"command": "view", "path": "/memories"}));
    assert!(answer.ends_with(
        "1B\t/memories/0999.md\n... and 3 more; view a directory below to see what is in it"
    ));
}

#[test]
fn ranges_are_checked_against_the_file() {
    let fixture = MemoryFolderFixture::with(&[
        ("a.md", "one\ntwo\nthree\n"),
        ("empty.md", ""),
        ("open.md", "one\ntwo"),
    ]);
    let view = |path: &str, range: [i64; 2]| json!({"command": "view", "path": format!("/memories/{path}"), "view_range": range});
    let body = |answer: String| answer.split_once('\n').unwrap().1.to_owned();
    assert_eq!(body(fixture.ok(view("a.md", [2, 2]))), "     2\ttwo");
    assert_eq!(body(fixture.ok(view("a.md", [3, -1]))), "     3\tthree");
    assert_eq!(body(fixture.ok(view("a.md", [2, 99]))), "     2\ttwo\n     3\tthree");
    assert_eq!(body(fixture.ok(view("open.md", [1, -1]))), "     1\tone\n     2\ttwo");
    for (path, range, lines) in [
        ("a.md", [0, 2], 3),
        ("a.md", [4, 5], 3),
        ("a.md", [3, 2], 3),
        ("a.md", [-1, -1], 3),
        ("a.md", [1, -2], 3),
        ("a.md", [i64::MIN, i64::MAX], 3),
        ("empty.md", [1, 1], 0),
        ("empty.md", [1, -1], 0),
    ] {
        let [first, last] = range;
        assert_eq!(
            fixture.err(view(path, range)),
            format!(
                "Error: Invalid `view_range` parameter: [{first}, {last}]. It should be within the range of lines of the file: [1, {lines}]"
            )
        );
    }
    assert_eq!(
        fixture.ok(json!({"command": "view", "path": "/memories/empty.md"})),
        "Here's the content of /memories/empty.md with line numbers:\n"
    );
}

#[test]
fn insertions_keep_every_other_byte() {
    let cases: [(&str, i64, &str, &str); 11] = [
        ("a\nb\n", 0, "x", "x\na\nb\n"),
        ("a\nb\n", 1, "x\n", "a\nx\nb\n"),
        ("a\nb\n", 2, "x", "a\nb\nx\n"),
        ("a\nb", 2, "x", "a\nb\nx"),
        ("a\nb", 2, "x\n", "a\nb\nx\n"),
        ("", 0, "x", "x"),
        ("a\r\nb\r\n", 1, "x", "a\r\nx\r\nb\r\n"),
        ("a\r\nb", 2, "x", "a\r\nb\r\nx"),
        ("第一行\n第二行\n", 1, "中间", "第一行\n中间\n第二行\n"),
        ("a\n", 1, "", "a\n\n"),
        ("a\n\n\nb\n", 2, "x\ny\n", "a\n\nx\ny\n\nb\n"),
    ];
    for (text, line, added, expected) in cases {
        let fixture = MemoryFolderFixture::with(&[("f.md", text)]);
        fixture.ok(json!({"command": "insert", "path": "/memories/f.md", "insert_line": line, "insert_text": added}));
        assert_eq!(fixture.text("f.md"), expected, "{text:?} {line} {added:?}");
    }
}

#[test]
fn replacements_keep_every_other_byte_and_windows_line_ends() {
    let fixture = MemoryFolderFixture::with(&[
        ("w.md", "one\r\ntwo\r\nthree\r\n"),
        ("z.md", "喜欢茶\n不喝咖啡\n"),
        ("e.md", ""),
    ]);
    let replace = |path: &str, old: &str, new: &str| json!({"command": "str_replace", "path": format!("/memories/{path}"), "old_str": old, "new_str": new});
    assert_eq!(
        fixture.ok(replace("w.md", "one\ntwo", "1\n2\n2.5")),
        "The memory file has been edited.\n     1\t1\n     2\t2\n     3\t2.5\n     4\tthree"
    );
    assert_eq!(fixture.text("w.md"), "1\r\n2\r\n2.5\r\nthree\r\n");
    fixture.ok(replace("z.md", "不喝咖啡", "也喝咖啡"));
    assert_eq!(fixture.text("z.md"), "喜欢茶\n也喝咖啡\n");
    fixture.ok(json!({"command": "str_replace", "path": "/memories/z.md", "old_str": "喜欢茶\n"}));
    assert_eq!(fixture.text("z.md"), "也喝咖啡\n");
    assert!(fixture.err(replace("e.md", "", "x")).contains("old_str is empty"));
    assert!(fixture.err(replace("e.md", "x", "y")).contains("did not appear verbatim"));
}

#[test]
fn what_is_no_text_is_named_and_never_lost() {
    let fixture = MemoryFolderFixture::with(&[("keep.md", "keep")]);
    fixture.put("image.png", b"\x89PNG\xff\xfe");
    fixture.put("d/blob.bin", b"\xff");
    fixture.put("huge.md", &vec![b'x'; 4 * 1024 * 1024 + 1]);
    for command in &commands("/memories/image.png")[..5] {
        let answer = fixture.err(command.clone());
        let exists = answer == "Error: File /memories/image.png already exists";
        assert!(
            exists || answer.starts_with("Error: /memories/image.png is not a text file"),
            "{answer}"
        );
    }
    assert!(
        fixture
            .err(json!({"command": "delete", "path": "/memories/d"}))
            .contains("/memories/d/blob.bin")
    );
    assert!(
        fixture
            .err(json!({"command": "view", "path": "/memories/huge.md"}))
            .contains("larger than 4.0M")
    );
    assert!(
        fixture
            .err(json!({"command": "delete", "path": "/memories/huge.md"}))
            .contains("larger than 4.0M")
    );
    // Under another name nothing of it is lost.
    fixture.ok(json!({"command": "rename", "old_path": "/memories/image.png", "new_path": "/memories/d/i.png"}));
    fixture.ok(json!({"command": "rename", "old_path": "/memories/d", "new_path": "/memories/e"}));
    assert_eq!(fs::read(fixture.root().join("e/i.png")).unwrap(), b"\x89PNG\xff\xfe");
}

#[test]
fn pipes_are_left_alone() {
    let fixture = MemoryFolderFixture::with(&[("keep.md", "keep")]);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        fixture.root().join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    for command in commands("/memories/pipe") {
        fixture.err(command);
    }
    assert!(!fixture.ok(json!({"command": "view", "path": "/memories"})).contains("pipe"));
}

#[test]
fn limits_are_told_with_what_to_do() {
    let mut fixture = MemoryFolderFixture::new();
    fixture.folder.limits =
        MemoryFolderLimits { max_file_bytes: 10, max_files: 3, max_total_bytes: 25 };
    let create = |path: &str, text: &str| json!({"command": "create", "path": format!("/memories/{path}"), "file_text": text});
    assert_eq!(
        fixture.err(create("a", "12345678901")),
        "Error: /memories/a would have 11 bytes, 10 at most. Keep what matters, or split it into several files."
    );
    fixture.ok(create("a", "1234567890"));
    fixture.ok(create("b", "1234567890"));
    assert!(fixture.err(create("c", "123456")).contains("holds 20B, 25B at most"));
    fixture.ok(create("c", "12"));
    assert!(fixture.err(create("d", "")).contains("holds 3 files, 3 at most"));
    assert!(fixture.err(json!({"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": "x"})).contains("would have 12 bytes"));
    // A file that a person made larger can still be made smaller.
    fixture.put("c", &[b'y'; 40]);
    fixture.put("c", b"123456789012345\n123456789012345\n");
    fixture.ok(json!({"command": "str_replace", "path": "/memories/c", "old_str": "345\n1", "new_str": "\n"}));
    fixture.put("wide.md", "一二三四五六七八\n".repeat(3).as_bytes());
    assert!(
        fixture
            .err(json!({"command": "view", "path": "/memories/wide.md"}))
            .contains("View a part of it with view_range")
    );
}

#[test]
fn renames_into_oneself_onto_the_root_or_below_a_file_are_refused() {
    let fixture = MemoryFolderFixture::with(&[("d/a.md", "a"), ("f.md", "f")]);
    let rename =
        |old: &str, new: &str| json!({"command": "rename", "old_path": old, "new_path": new});
    assert_eq!(
        fixture.err(rename("/memories/d", "/memories/d/e/f")),
        "Error: /memories/d cannot be renamed to /memories/d/e/f, which lies inside it"
    );
    assert_eq!(
        fixture.err(rename("/memories/d", "/memories/d")),
        "Error: The destination /memories/d already exists"
    );
    assert_eq!(
        fixture.err(rename("/memories", "/memories/x")),
        "Cannot rename the /memories directory itself"
    );
    assert_eq!(
        fixture.err(rename("/memories/d", "/memories")),
        "Error: The destination /memories already exists"
    );
    assert!(fixture.err(rename("/memories/d", "/memories/f.md/x")).contains("lies below a file"));
    assert!(
        fixture.err(rename("/memories/f.md", "/memories/f.md/x")).contains("lies below a file")
    );
    assert!(
        fixture
            .err(json!({"command": "create", "path": "/memories/f.md/x", "file_text": ""}))
            .contains("lies below a file")
    );
    let deep = format!("/memories{}", "/x".repeat(16));
    assert!(fixture.err(rename("/memories/d", &deep)).contains("more than 16 levels"));
    fixture.ok(rename("/memories/d", "/memories/项目/旧"));
    assert_eq!(fixture.text("项目/旧/a.md"), "a");
}

#[test]
fn files_and_folders_are_for_the_user_alone() {
    let fixture = MemoryFolderFixture::new();
    fixture.ok(json!({"command": "create", "path": "/memories/d/e/a.md", "file_text": "a"}));
    fixture.put("open.md", b"open");
    fixture.ok(json!({"command": "insert", "path": "/memories/open.md", "insert_line": 0, "insert_text": "x"}));
    let mode =
        |path: &str| fs::metadata(fixture.root().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(["", "d", "d/e"].map(mode), [0o700; 3]);
    assert_eq!(["d/e/a.md", "open.md"].map(mode), [0o600; 2]);
}

#[test]
fn what_an_interrupted_change_left_is_hidden_and_swept_by_the_next() {
    let fixture = MemoryFolderFixture::with(&[
        (".everlore-tool-1-0", "half"),
        (".everlore-tool-1-1/a/b.md", "gone"),
        ("a.md", "a"),
    ]);
    assert!(!fixture.ok(json!({"command": "view", "path": "/memories"})).contains(".everlore"));
    fixture.ok(json!({"command": "delete", "path": "/memories/a.md"}));
    assert_eq!(fs::read_dir(fixture.root()).unwrap().count(), 0);
}

#[test]
fn what_a_person_wrote_meanwhile_is_not_overwritten() {
    let fixture = MemoryFolderFixture::with(&[("a.md", "old")]);
    let edit = json!({"command": "str_replace", "path": "/memories/a.md", "old_str": "old", "new_str": "new"});
    let edit = fixture.folder.prepare(&serde_json::from_value(edit).unwrap()).unwrap();
    fixture.put("a.md", b"by hand");
    let answer = edit.commit().unwrap();
    assert!(answer.is_error && answer.text.contains("changed in the meantime"), "{answer:?}");
    assert_eq!(fixture.text("a.md"), "by hand");
}

#[test]
fn a_prepared_change_says_what_each_file_was_and_will_be() {
    let fixture =
        MemoryFolderFixture::with(&[("d/a.md", "a"), ("d/e/b.md", "b"), ("d/.hidden", "h")]);
    let changes = |command: Value| {
        let prepared = fixture.folder.prepare(&serde_json::from_value(command).unwrap()).unwrap();
        let described = |change: &FileChange| {
            let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
            format!("{} {} {}", change.path, text(&change.before), text(&change.after))
        };
        prepared.changes().iter().map(described).collect::<Vec<_>>()
    };
    assert_eq!(
        changes(json!({"command": "delete", "path": "/memories/d"})),
        ["/memories/d/.hidden h -", "/memories/d/a.md a -", "/memories/d/e/b.md b -"]
    );
    assert_eq!(
        changes(
            json!({"command": "rename", "old_path": "/memories/d/e", "new_path": "/memories/f"})
        ),
        ["/memories/d/e/b.md b -", "/memories/f/b.md - b"]
    );
    assert_eq!(changes(json!({"command": "view", "path": "/memories/d"})), [""; 0]);
    assert_eq!(changes(json!({"command": "delete", "path": "/memories/absent"})), [""; 0]);
}

#[test]
fn swapping_a_folder_for_a_link_at_any_moment_leads_nowhere() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let fixture = MemoryFolderFixture::with(&[("d/a.md", "inside")]);
    let outside = fixture.home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a.md"), "secret").unwrap();
    let (folder, aside) = (fixture.root().join("d"), fixture.home.path().join("aside"));
    let done = AtomicBool::new(false);
    let mut reached = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                // A command may have made the folder anew; then there is nothing to swap this time.
                if fs::rename(&folder, &aside).is_ok() {
                    let _ = symlink(&outside, &folder);
                    let _ = fs::remove_file(&folder);
                    let _ = fs::rename(&aside, &folder);
                }
            }
        });
        let started = std::time::Instant::now();
        for number in 0.. {
            // While the other thread does not run, the folder may be a link all the time.
            if number >= 2_000 && (reached > 0 || started.elapsed().as_secs() > 60) {
                break;
            }
            let command = match number % 4 {
                0 => json!({"command": "view", "path": "/memories/d/a.md"}),
                1 => {
                    json!({"command": "create", "path": format!("/memories/d/{number}"), "file_text": "new"})
                }
                2 => {
                    json!({"command": "insert", "path": "/memories/d/a.md", "insert_line": 0, "insert_text": "new"})
                }
                _ => json!({"command": "delete", "path": format!("/memories/d/{}", number - 2)}),
            };
            // A folder that goes away in the middle may also be a failure of the disk.
            let command: MemoryToolCommand = serde_json::from_value(command).unwrap();
            let answer = fixture.folder.run(&command);
            assert!(!format!("{answer:?}").contains("secret"), "{answer:?}");
            reached += usize::from(answer.is_ok_and(|answer| !answer.is_error));
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(reached > 0, "some commands get through");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(outside.join("a.md")).unwrap(), "secret");
}
