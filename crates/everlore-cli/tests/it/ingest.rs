//! `everlore ingest` on real folders: files found, reports, and changes when files change.

use std::{fs, path::Path};

use serde_json::Value;

use crate::home::{TestHome, write_file};

const GUIDE: &str = "# Guide\n\n## Staging\nThe staging server listens on port 9443.\n\n## 备份\n每天凌晨三点备份到杭州机房。\n";

/// Returns a home with a folder of various documents beside it.
fn filled() -> TestHome {
    let home = TestHome::new();
    let folder = home.sibling("docs");
    for folder in ["docs/sub", "docs/.git", "docs/node_modules", "docs/built", "docs/target"] {
        fs::create_dir_all(home.sibling(folder)).unwrap();
    }
    let put = |name: &str, bytes: &[u8]| write_file(&folder.join(name), bytes);
    put("guide.md", GUIDE.as_bytes());
    put("sub/page.html", "<title>Tea</title><h1>龙井</h1><p>水温八十度。</p>".as_bytes());
    put("sub/load.rs", b"/// Reads it.\nfn read_settings() {}\n");
    put("notes.txt", b"\xff\xfeT\0e\0a\0");
    put("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0");
    put(".hidden.md", b"# Hidden\nsecret words");
    put(".git/config.md", b"secret words");
    put("node_modules/x.md", b"secret words");
    put("target/x.md", b"secret words");
    put("built/x.md", b"secret words");
    put("skip.log", b"secret words");
    put(".gitignore", b"*.log\n/built/\n");
    home
}

fn paths(report: &Value) -> Vec<&str> {
    report["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect()
}

fn sums(report: &Value) -> [u64; 3] {
    ["added", "unchanged", "removed"].map(|key| report[key].as_u64().unwrap())
}

#[test]
fn a_folder_is_walked_and_what_it_says_is_recalled() {
    let home = filled();
    let report = home.json(&["ingest", "docs", "--tag", "manual"]);
    assert_eq!(
        paths(&report),
        [
            "docs/guide.md",
            "docs/logo.png",
            "docs/notes.txt",
            "docs/sub/load.rs",
            "docs/sub/page.html"
        ]
    );
    assert_eq!((sums(&report), &report["skipped"]), ([5, 0, 0], &1.into()), "{report}");
    assert_eq!(report["files"][1]["skipped"], "it is a binary file");
    assert_eq!(
        (&report["files"][0]["format"], &report["files"][0]["chunks"]),
        (&"markdown".into(), &2.into())
    );
    for (query, expected) in [
        ("staging port", "9443"),
        ("备份", "杭州"),
        ("龙井", "八十度"),
        ("read_settings", "fn read_settings"),
        ("tea", "Tea"),
    ] {
        assert!(home.recall(query)[0].contains(expected), "{query}");
    }
    assert!(home.recall("secret").iter().all(|text| !text.contains("secret")));
    let tagged = home.json(&["memory", "list", "--tag", "manual", "--kind", "knowledge"]);
    assert_eq!(tagged["memories"].as_array().unwrap().len(), 5);
    home.assert_healthy();
}

#[test]
fn only_what_changed_is_changed_and_a_run_can_be_undone() {
    let home = filled();
    home.json(&["ingest", "docs"]);
    let again = home.json(&["ingest", "./docs/sub/..", "docs/guide.md"]);
    assert_eq!((sums(&again), &again["run"]), ([0, 5, 0], &Value::Null), "{again}");
    write_file(&home.sibling("docs/guide.md"), GUIDE.replace("9443", "8443"));
    let dry = home.json(&["ingest", "docs", "--dry-run"]);
    assert_eq!((sums(&dry), &dry["dry_run"]), ([1, 4, 1], &true.into()), "{dry}");
    let changed = home.json(&["ingest", "docs"]);
    assert_eq!(sums(&changed), [1, 4, 1], "{changed}");
    assert!(home.recall("staging port")[0].contains("8443"));
    home.json(&["memory", "undo", "--run", changed["run"].as_str().unwrap()]);
    assert!(home.recall("staging port")[0].contains("9443"));
    home.assert_healthy();
    let fresh = filled();
    let first = fresh.json(&["ingest", "docs"]);
    fresh.json(&["memory", "undo", "--run", first["run"].as_str().unwrap()]);
    assert_eq!(fresh.json(&["memory", "stats"])["total"], 0);
}

#[test]
fn files_that_are_gone_are_taken_out_only_when_asked() {
    let home = filled();
    home.json(&["ingest", "docs"]);
    fs::remove_file(home.sibling("docs/guide.md")).unwrap();
    fs::remove_dir_all(home.sibling("docs/sub")).unwrap();
    assert_eq!(sums(&home.json(&["ingest", "docs"])), [0, 1, 0]);
    let missing = home.run(&["--json", "ingest", "docs/sub"]);
    assert_eq!((missing.code, missing.json()["failed"].clone()), (2, 1.into()), "{missing:?}");
    let pruned = home.json(&["ingest", "docs/sub", "--prune"]);
    assert_eq!((sums(&pruned), paths(&pruned).len()), ([0, 0, 2], 2), "{pruned}");
    let pruned = home.json(&["ingest", "docs", "--prune"]);
    assert_eq!(sums(&pruned), [0, 1, 2], "{pruned}");
    assert!(home.recall("staging").iter().all(|text| !text.to_lowercase().contains("staging")));
    let nothing = home.run(&["ingest", "docs/sub", "--prune"]);
    assert_eq!(nothing.code, 1, "{nothing:?}");
}

#[test]
fn one_bad_file_does_not_stop_the_others() {
    let home = filled();
    write_file(&home.sibling("docs/alt.txt"), b"Un caf\xe9 cr\xe8me");
    write_file(&home.sibling("docs/gbk.txt"), b"\xc4\xe3\xba\xc3\xca\xc0\xbd\xe7");
    let ran = home.run(&["--json", "ingest", "docs", "docs/logo.png", "nowhere.md"]);
    let report = ran.json();
    assert_eq!((ran.code, sums(&report), &report["failed"]), (2, [5, 0, 0], &3.into()), "{report}");
    let error = |name: &str| {
        let files = report["files"].as_array().unwrap();
        files.iter().find(|file| file["path"] == name).unwrap()["error"].clone()
    };
    assert_eq!(
        (&error("docs/alt.txt")["message"], &error("nowhere.md")["code"]),
        (&"it is not UTF-8".into(), &"io".into())
    );
    assert!(error("docs/gbk.txt")["hint"].as_str().unwrap().contains("iconv"), "{report}");
    let named = home.run(&["ingest", "docs/logo.png"]);
    assert!(
        named.code == 2 && named.out.contains("docs/logo.png: failed, it is a binary file"),
        "{named:?}"
    );
}

#[test]
fn globs_and_sizes_choose_files() {
    let home = filled();
    let chosen = |args: &[&str]| {
        let ran = home.run(&[&["--json", "ingest", "docs", "--dry-run"], args].concat());
        paths(&ran.json()).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        chosen(&["--include", "*.md", "--include", "sub/*.rs"]),
        ["docs/guide.md", "docs/sub/load.rs"]
    );
    assert_eq!(
        chosen(&["--exclude", "sub", "--exclude", "*.png"]),
        ["docs/guide.md", "docs/notes.txt"]
    );
    let small = home.run(&["ingest", "docs", "--max-bytes", "50", "--include", "*.md"]);
    assert!(small.code == 1 && small.out.contains("docs/guide.md: skipped, it has"), "{small:?}");
    assert_eq!(home.run(&["ingest", "docs", "--include", "*.nothing"]).code, 1);
}

#[test]
fn people_are_told_in_words() {
    let home = filled();
    let ran = home.run(&["ingest", "docs"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines[0], "docs/guide.md: markdown, 2 chunks, 2 added", "{ran:?}");
    assert_eq!(lines[1], "docs/logo.png: skipped, it is a binary file");
    assert_eq!(
        lines[5],
        "ingested 4 files: added 5 chunks, unchanged 0, removed 0, files skipped 1"
    );
    assert!(lines[6].starts_with("undo with: everlore memory undo --run ingest-"), "{ran:?}");
    let again = home.run(&["ingest", "docs", "--exclude", "*.png"]);
    assert_eq!(
        (again.code, again.out.as_str()),
        (0, "ingested 4 files: added 0 chunks, unchanged 5, removed 0\n")
    );
}

#[test]
fn what_was_forgotten_stays_forgotten() {
    let home = filled();
    home.json(&["ingest", "docs"]);
    let hits = home.json(&["recall", "staging port"]);
    let id = hits["hits"][0]["id"].as_str().unwrap().to_owned();
    home.json(&["memory", "forget", &id, "--yes"]);
    write_file(&home.sibling("docs/guide.md"), format!("{GUIDE}\n## More\nNew words.\n"));
    write_file(&home.sibling("docs/copy.md"), GUIDE);
    let report = home.json(&["ingest", "docs"]);
    assert_eq!(report["left_out"], 2, "{report}");
    assert!(!home.recall("staging port").iter().any(|text| text.contains("9443")));
    let bytes = |(_, bytes): (_, Vec<u8>)| bytes;
    let stored: Vec<u8> = home.files().into_iter().flat_map(bytes).collect();
    assert!(!stored.windows(4).any(|window| window == b"9443"), "the text is in a file");
}

/// Makes a folder `docs` with these files and returns the paths that `ingest` finds there, without `docs/`.
fn ingested(home: &TestHome, files: &[(&str, &str)], args: &[&str]) -> Vec<String> {
    for (name, text) in files {
        let path = home.sibling("docs").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        write_file(&path, text);
    }
    let ran = home.run(&[&["--json", "ingest", "--dry-run"], args].concat());
    paths(&ran.json()).iter().map(|path| path.trim_start_matches("docs/").to_owned()).collect()
}

#[test]
fn gitignore_files_count_at_every_depth() {
    let home = TestHome::new();
    let files = [
        (".gitignore", "*.log\n/top.md\n"),
        ("a.md", "x"),
        ("top.md", "x"),
        ("inner/.gitignore", "!keep.log\n*.tmp\n/b.md\n"),
        ("inner/keep.log", "x"),
        ("inner/other.log", "x"),
        ("inner/b.md", "x"),
        ("inner/x.tmp", "x"),
        ("inner/deep/b.md", "x"),
        ("inner/deep/top.md", "x"),
        ("inner/deep/y.tmp", "x"),
        ("outer.tmp", "x"),
    ];
    let expected = ["a.md", "outer.tmp", "inner/keep.log", "inner/deep/b.md", "inner/deep/top.md"];
    assert_eq!(ingested(&home, &files, &["docs"]), expected);
}

#[test]
fn a_negated_rule_brings_files_back_but_not_from_an_ignored_folder() {
    let home = TestHome::new();
    let files = [
        (".gitignore", "*.txt\n!notes.txt\nbuild/\n!build/kept.md\n!.hidden.md\n"),
        ("notes.txt", "x"),
        ("other.txt", "x"),
        ("build/kept.md", "x"),
        (".hidden.md", "x"),
    ];
    assert_eq!(ingested(&home, &files, &["docs"]), ["notes.txt"]);
}

#[test]
fn escapes_and_rules_for_folders_only_are_read_as_git_reads_them() {
    let home = TestHome::new();
    let files = [
        (".gitignore", "# a comment\n\\#draft.md\n\\!odd.md\nbuild/\n第*章.md\n"),
        ("#draft.md", "x"),
        ("!odd.md", "x"),
        ("a comment", "x"),
        ("build", "a file, no folder"),
        ("sub/build/x.md", "x"),
        ("第一章.md", "x"),
        ("第一节.md", "x"),
    ];
    assert_eq!(ingested(&home, &files, &["docs"]), ["a comment", "build", "第一节.md"]);
}

#[test]
fn rules_of_the_repository_above_count_and_those_of_other_folders_do_not() {
    let home = TestHome::new();
    let files = [
        ("../.gitignore", "a.md\n"),
        ("a.md", "x"),
        ("repo/.git/info/exclude", "private.md\n"),
        ("repo/.gitignore", "*.log\n"),
        ("repo/guide/a.md", "x"),
        ("repo/guide/private.md", "x"),
        ("repo/guide/x.log", "x"),
    ];
    assert_eq!(ingested(&home, &files, &["docs/repo/guide"]), ["repo/guide/a.md"]);
    let all = ["a.md", "repo/guide/a.md"];
    assert_eq!(ingested(&home, &[], &["docs"]), all, "no repository, so nothing above counts");
}

#[test]
fn a_broken_gitignore_is_passed_over() {
    let home = TestHome::new();
    let files = [(".gitignore", "[z-a]\n*.log\n"), ("a.md", "x"), ("b.log", "x")];
    assert_eq!(ingested(&home, &files, &["docs"]), ["a.md"]);
}

#[test]
fn patterns_of_the_command_line_count_characters() {
    let home = TestHome::new();
    let files = [("第一章.md", "x"), ("第十二章.md", "x"), ("sub/第二章.md", "x")];
    let found = ingested(&home, &files, &["docs", "--include", "第?章.md"]);
    assert_eq!(found, ["第一章.md", "sub/第二章.md"]);
    let ran = home.run(&["ingest", "docs", "--include", ""]);
    assert!(ran.code == 2 && ran.err.contains("the pattern is empty"), "{ran:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_unicode_are_left_out() {
    use std::os::unix::ffi::OsStrExt;
    let home = TestHome::new();
    let files = [("a.md", "x"), (".gitignore", "b*\n")];
    let odd = |name: &[u8]| home.sibling("docs").join(std::ffi::OsStr::from_bytes(name));
    fs::create_dir_all(odd(b"folder-\xff")).unwrap();
    fs::write(odd(b"caf\xe9.md"), "x").unwrap();
    fs::write(odd(b"b\xff.md"), "x").unwrap();
    fs::write(odd(b"folder-\xff/x.md"), "x").unwrap();
    assert_eq!(ingested(&home, &files, &["docs"]), ["a.md"]);
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_read_is_reported_and_the_rest_is_ingested() {
    use std::os::unix::fs::PermissionsExt;
    let home = TestHome::new();
    let closed = home.sibling("docs/closed");
    fs::create_dir_all(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o0)).unwrap();
    if fs::read_dir(&closed).is_ok() {
        return; // The superuser may read every folder.
    }
    write_file(&home.sibling("docs/a.md"), "x");
    let ran = home.run(&["--json", "ingest", "docs"]);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!((ran.code, paths(&ran.json())), (2, vec!["docs/closed", "docs/a.md"]), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let home = filled();
    let link = |to: &str, at: &str| {
        std::os::unix::fs::symlink(home.sibling(to), home.sibling(at)).unwrap()
    };
    write_file(&home.sibling("outside.md"), "secret words");
    link("docs", "docs/sub/loop");
    link("outside.md", "docs/link.md");
    link("nowhere.md", "docs/broken.md");
    let report = home.json(&["ingest", "docs"]);
    assert_eq!((paths(&report).len(), &report["failed"]), (5, &0.into()), "{report}");
    assert!(Path::new(&home.sibling("docs/sub/loop")).exists());
    // A link that was named is what it points at.
    link("docs/sub", "named");
    assert_eq!(paths(&home.json(&["ingest", "named"])), ["named/load.rs", "named/page.html"]);
}
