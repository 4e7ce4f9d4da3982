//! Tests of layers on disk: budgets, locks, links, history and days.

use std::{fs, path::Path, thread};

use jiff::{Zoned, civil::date};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

fn layers(home: &Path) -> Layers {
    Layers::new(home, &Scope::default(), &LayersConfig::default())
}

fn now() -> Zoned {
    "2026-03-02T10:00:00+08:00[Asia/Shanghai]".parse().unwrap()
}

fn edit_context(actor: Actor) -> EditContext {
    EditContext { actor, now: now() }
}

fn add(section: &str, content: &str) -> LayerEdit {
    LayerEdit::Add { section: section.into(), content: content.into() }
}

fn today() -> Date {
    now().date()
}

fn error_with_hint(error: &Error) -> String {
    format!("{error} | {}", error.hint())
}

#[test]
fn a_missing_file_reads_as_empty_and_the_first_edit_makes_it() {
    let home = TempDir::new().unwrap();
    let layers = layers(home.path());
    for layer in Layer::ALL {
        assert_eq!(layers.read(layer, today()).unwrap().text, "");
        let change =
            layers.edit(layer, &add("偏好", "喜欢茶"), &edit_context(Actor::Agent)).unwrap();
        assert_eq!(change.layer.text, "## 偏好\n\n喜欢茶\n");
        assert_eq!((change.change, change.layer.usage.chars), (Some(1), 11));
        assert_eq!(fs::read_to_string(&change.layer.path).unwrap(), change.layer.text);
    }
    assert!(home.path().join("memories/daily/2026-03-02.md").is_file());
    assert_eq!(
        fs::read_dir(home.path().join("memories")).unwrap().count(),
        4,
        "nothing is left behind"
    );
}

#[test]
fn the_first_run_writes_a_soul_in_the_language_asked_for_and_never_again() {
    let home = TempDir::new().unwrap();
    let layers = layers(home.path());
    assert!(layers.create_default_soul(Language::Chinese, &now()).unwrap());
    let soul = layers.read(Layer::Soul, today()).unwrap();
    assert!(soul.text.contains("长期记忆") && soul.usage.chars <= soul.usage.budget);
    assert!(!layers.create_default_soul(Language::English, &now()).unwrap());
    fs::remove_file(&soul.path).unwrap();
    assert!(
        !layers.create_default_soul(Language::English, &now()).unwrap(),
        "it was removed on purpose"
    );
    let other = TempDir::new().unwrap();
    fs::write(other.path().join("SOUL.md"), "mine").unwrap();
    assert!(!self::layers(other.path()).create_default_soul(Language::English, &now()).unwrap());
    assert_eq!(fs::read_to_string(other.path().join("SOUL.md")).unwrap(), "mine");
}

#[test]
fn the_default_souls_are_sections_within_their_budget() {
    for soul in DEFAULT_SOUL {
        assert!(count_chars(soul) < LayersConfig::default().soul_chars);
        assert_eq!(MarkdownSections::parse(soul).iter().count(), 2);
    }
}

#[test]
fn agents_and_users_never_share_what_is_about_a_user() {
    let home = TempDir::new().unwrap();
    let of = |agent: &str, user: &str| {
        Layers::new(home.path(), &Scope::new(agent, user).unwrap(), &LayersConfig::default())
    };
    let scopes = [
        ("default", "default"),
        ("default", "bob"),
        ("default", "Bob"),
        ("anna", "bob"),
        ("助手", "bob"),
    ];
    for (agent, user) in scopes {
        for layer in [Layer::User, Layer::Memory, Layer::Daily] {
            assert_eq!(
                of(agent, user).read(layer, today()).unwrap().text,
                "",
                "{agent} {user} {layer}"
            );
            of(agent, user)
                .edit(layer, &add("who", &format!("{agent} {user}")), &edit_context(Actor::Agent))
                .unwrap();
        }
    }
    for (agent, user) in scopes {
        let read = of(agent, user).read(Layer::User, today()).unwrap().text;
        assert_eq!(read, format!("## who\n\n{agent} {user}\n"));
    }
    of("anna", "bob").edit(Layer::Soul, &add("who", "anna"), &edit_context(Actor::Agent)).unwrap();
    assert_eq!(of("anna", "eve").read(Layer::Soul, today()).unwrap().text, "## who\n\nanna\n");
    assert_eq!(of("default", "bob").read(Layer::Soul, today()).unwrap().text, "");
    assert_eq!(Layers::all(home.path(), &LayersConfig::default()).len(), 3 + 2 + 2);
}

#[test]
fn a_protected_soul_is_changed_by_people_only() {
    let home = TempDir::new().unwrap();
    let config = LayersConfig { soul_read_only: true, ..LayersConfig::default() };
    let layers = Layers::new(home.path(), &Scope::default(), &config);
    for actor in [Actor::Agent, Actor::Engine] {
        let error = layers.edit(Layer::Soul, &add("a", "b"), &edit_context(actor)).unwrap_err();
        assert!(error_with_hint(&error).contains("ask the user"), "{error}");
        assert!(layers.edit(Layer::User, &add("a", "b"), &edit_context(actor)).is_ok());
    }
    assert!(layers.edit(Layer::Soul, &add("a", "b"), &edit_context(Actor::Person)).is_ok());
}

#[test]
fn what_cannot_be_read_is_named_and_left_alone() {
    let home = TempDir::new().unwrap();
    let layers = layers(home.path());
    let path = layers.path(Layer::User, today());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    for (bytes, reason) in [
        (b"## a\n\xff\xfe".to_vec(), "USER.md is not valid UTF-8, first in line 2"),
        (vec![b'x'; 1024 * 1024 + 1], "USER.md is larger than 1 MiB"),
    ] {
        fs::write(&path, &bytes).unwrap();
        let error = layers.read(Layer::User, today()).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
        assert!(layers.edit(Layer::User, &add("a", "b"), &edit_context(Actor::Agent)).is_err());
        assert!(layers.snapshot(today()).is_err());
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let error = layers.read(Layer::User, today()).unwrap_err();
    assert!(error.to_string().contains("USER.md is not a file"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_permissions_stay_as_they_are() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (home, dotfiles) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (path, real) = (home.path().join("SOUL.md"), dotfiles.path().join("soul.md"));
    fs::write(&real, "## Who\nme\n").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&real, &path).unwrap();
    let layers = layers(home.path());
    let change =
        layers.edit(Layer::Soul, &add("Who", "more"), &edit_context(Actor::Agent)).unwrap();
    assert_eq!(change.layer.link_to.as_deref(), Some(real.as_path()));
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "## Who\nme\nmore\n");
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(dotfiles.path()).unwrap().count(), 1, "nothing is left behind");
    fs::remove_file(&real).unwrap();
    assert_eq!(
        layers.read(Layer::Soul, today()).unwrap().text,
        "",
        "a link to nothing reads as empty"
    );
    layers.edit(Layer::Soul, &add("Who", "again"), &edit_context(Actor::Agent)).unwrap();
    assert!(real.is_file() && fs::symlink_metadata(&path).unwrap().is_symlink());
    fs::remove_file(&path).unwrap();
    symlink("SOUL.md", &path).unwrap();
    assert!(
        layers.edit(Layer::Soul, &add("Who", "x"), &edit_context(Actor::Agent)).is_err(),
        "a circle"
    );
}

#[cfg(unix)]
#[test]
fn new_files_are_for_the_user_alone_and_protected_ones_are_not_replaced() {
    use std::os::unix::fs::PermissionsExt;
    let home = TempDir::new().unwrap();
    let layers = layers(home.path());
    let path =
        layers.edit(Layer::User, &add("a", "b"), &edit_context(Actor::Agent)).unwrap().layer.path;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(mode(&path.with_file_name(".history").join("USER.jsonl")), 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    let error = layers.edit(Layer::User, &add("a", "c"), &edit_context(Actor::Agent)).unwrap_err();
    assert!(error.to_string().contains("is write-protected"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "## a\n\nb\n");
}

#[test]
fn every_change_is_in_the_history_and_can_be_taken_back() {
    let home = TempDir::new().unwrap();
    let layers = layers(home.path());
    let agent = edit_context(Actor::Agent);
    let path = layers.edit(Layer::User, &add("茶", "龙井"), &agent).unwrap().layer.path;
    fs::write(&path, "## 茶\n\n龙井\nby hand\n").unwrap();
    layers.edit(Layer::User, &LayerEdit::Remove { section: "茶".into() }, &agent).unwrap();
    let revisions = layers.revisions(Layer::User, today(), &agent).unwrap();
    let rows: Vec<_> = revisions
        .iter()
        .map(|revision| (revision.number, revision.actor, revision.cause.as_str()))
        .collect();
    assert_eq!(
        rows,
        [
            (1, Actor::Agent, "add to `茶`"),
            (2, Actor::Person, "changed outside of everlore"),
            (3, Actor::Agent, "remove `茶`"),
        ]
    );
    let person = edit_context(Actor::Person);
    let later = layers.undo(Layer::User, today(), Some(1), &person).unwrap_err();
    assert!(later.hint().contains("everlore layer undo user 3"), "{}", later.hint());
    let undone = layers.undo(Layer::User, today(), None, &person).unwrap();
    assert_eq!((undone.layer.text.as_str(), undone.change), ("## 茶\n\n龙井\nby hand\n", Some(4)));
    let again = layers.undo(Layer::User, today(), Some(4), &person).unwrap();
    assert_eq!(again.layer.text, "", "undoing can be undone");
    assert!(layers.undo(Layer::Memory, today(), None, &person).is_err());
}

#[test]
fn undo_goes_back_step_by_step_and_redo_forward() {
    let home = TempDir::new().unwrap();
    let layers = layers(home.path());
    let person = edit_context(Actor::Person);
    let texts: Vec<String> = ["tea", "咖啡", "milk"]
        .iter()
        .map(|what| layers.edit(Layer::User, &add(what, what), &person).unwrap().layer.text)
        .collect();
    let undo = || layers.undo(Layer::User, today(), None, &person).map(|it| it.layer.text);
    let redo = || layers.redo(Layer::User, today(), &person).map(|it| it.layer.text);
    assert_eq!([undo().unwrap(), undo().unwrap(), undo().unwrap()], [&texts[1], &texts[0], ""]);
    assert_eq!(undo().unwrap_err().to_string(), "there is nothing to undo");
    assert_eq!([redo().unwrap(), redo().unwrap()], texts[..2]);
    assert_eq!(undo().unwrap(), texts[0]);
    assert_eq!([redo().unwrap(), redo().unwrap()], texts[1..]);
    assert_eq!(redo().unwrap_err().to_string(), "there is nothing to redo");
    undo().unwrap();
    layers.edit(Layer::User, &add("水", "水"), &person).unwrap();
    assert!(redo().is_err(), "a new change ends what can be done again");
    assert_eq!([undo().unwrap(), undo().unwrap()], [&texts[1][..], &texts[0]]);
}

#[test]
fn a_write_that_broke_off_is_noticed_and_no_line_of_the_history_is_torn() {
    let home = TempDir::new().unwrap();
    let layers = layers(home.path());
    let agent = edit_context(Actor::Agent);
    let path = layers.edit(Layer::User, &add("a", "one"), &agent).unwrap().layer.path;
    let one = fs::read(&path).unwrap();
    layers.edit(Layer::User, &add("a", "two"), &agent).unwrap();
    // As if the process had died between the line and the file, and another while it wrote a line.
    fs::write(&path, &one).unwrap();
    let history = path.with_file_name(".history").join("USER.jsonl");
    let mut bytes = fs::read(&history).unwrap();
    bytes.extend(b"\0\0\0\n{\"number\":3,\"at\":\"20");
    fs::write(&history, bytes).unwrap();
    layers.edit(Layer::User, &add("a", "three"), &agent).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "## a\n\none\nthree\n");
    let revisions = layers.revisions(Layer::User, today(), &agent).unwrap();
    let causes: Vec<_> = revisions.iter().map(|revision| revision.cause.as_str()).collect();
    assert_eq!(
        causes,
        [
            "add to `a`",
            "add to `a`",
            "the write was interrupted, or reverted by hand",
            "add to `a`"
        ]
    );
}

#[test]
fn the_history_is_bounded() {
    let home = TempDir::new().unwrap();
    let layers = layers(home.path());
    let revision = |number| LayerRevision {
        number,
        at: now().timestamp(),
        actor: Actor::Agent,
        cause: "edit".into(),
        text: Some(format!("{number}")),
    };
    let history = layers.history(Layer::User, today());
    history.rewrite(&(1..=999).map(revision).collect::<Vec<_>>()).unwrap();
    assert_eq!(history.all().unwrap().len(), 999);
    history.append(&revision(1_000)).unwrap();
    let after = history.all().unwrap();
    assert_eq!((after.len(), after[0].number), (500, 501));
    history
        .append(&LayerRevision { text: Some("长".repeat(3_000_000)), ..revision(1_001) })
        .unwrap();
    let after = history.all().unwrap();
    assert_eq!((after.len(), after[0].number), (1, 1_001), "the last one always stays");
}

#[test]
fn what_is_forgotten_is_gone_from_the_file_and_from_all_it_said_before() {
    let home = TempDir::new().unwrap();
    let layers = layers(home.path());
    let agent = edit_context(Actor::Agent);
    layers.edit(Layer::User, &add("Health", "allergic to peanuts"), &agent).unwrap();
    layers.edit(Layer::User, &add("Likes", "喜欢茶"), &agent).unwrap();
    layers.edit(Layer::User, &LayerEdit::Remove { section: "Health".into() }, &agent).unwrap();
    layers.edit(Layer::User, &add("Likes", "locker 柜子 1234"), &agent).unwrap();
    let forget = |target: ForgetTarget| {
        layers.forget(Layer::User, today(), &target, &edit_context(Actor::Person)).unwrap()
    };
    let receipt = forget(ForgetTarget::Section("health".into()));
    assert_eq!((receipt.file, receipt.images), (false, 2));
    let receipt = forget(ForgetTarget::Text("locker 柜子 1234".into()));
    assert_eq!((receipt.file, receipt.images), (true, 2));
    for entry in fs::read_dir(home.path().join("memories/.history")).unwrap() {
        let bytes = fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!bytes.contains("peanuts") && !bytes.contains("1234"), "{bytes}");
    }
    assert_eq!(layers.read(Layer::User, today()).unwrap().text, "## Likes\n\n喜欢茶\n\n");
    let revisions = layers.revisions(Layer::User, today(), &agent).unwrap();
    assert_eq!(
        revisions.last().unwrap().cause,
        "forget",
        "the file still says what the history says"
    );
    assert_eq!(forget(ForgetTarget::Text("peanuts".into())), LayerForgetReceipt::default());
    assert!(forget(ForgetTarget::All).file);
    assert_eq!(layers.read(Layer::User, today()).unwrap().text, "");
}

#[test]
fn a_whole_file_is_replaced_only_if_nobody_changed_it_meanwhile() {
    let home = TempDir::new().unwrap();
    let layers = layers(home.path());
    let edit =
        |before: &str, text: &str| LayerEdit::Write { before: before.into(), text: text.into() };
    layers.edit(Layer::User, &edit("", "mine"), &edit_context(Actor::Person)).unwrap();
    let error =
        layers.edit(Layer::User, &edit("", "late"), &edit_context(Actor::Person)).unwrap_err();
    assert_eq!(error.code(), "conflict");
    let same =
        layers.edit(Layer::User, &edit("mine", "mine"), &edit_context(Actor::Person)).unwrap();
    assert_eq!(same.change, None);
}

#[test]
fn a_snapshot_holds_the_four_layers_within_their_budgets() {
    let home = TempDir::new().unwrap();
    let layers = layers(home.path());
    assert_eq!(layers.snapshot(today()).unwrap(), LayerSnapshot::default());
    for (layer, day) in [
        (Layer::Soul, today()),
        (Layer::User, today()),
        (Layer::Daily, date(2026, 2, 28)),
        (Layer::Daily, date(2026, 3, 1)),
        (Layer::Daily, today()),
    ] {
        let path = layers.path(layer, day);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("\u{feff}## 标题 {day}\n\n{}", "一行字\n".repeat(1_000))).unwrap();
    }
    let snapshot = layers.snapshot(today()).unwrap();
    assert!(snapshot.soul.chars <= 2_000 && snapshot.soul.cut_chars > 0);
    assert!(snapshot.user.chars <= 1_400 && snapshot.user.text.contains("[… cut here"));
    assert_eq!(snapshot.memory, LayerView::default());
    assert!(snapshot.daily.text.starts_with("# 2026-03-01\n\n## 标题 2026-03-01"));
    assert!(
        snapshot.daily.text.contains("\n\n# 2026-03-02\n\n")
            && !snapshot.daily.text.contains("02-28")
    );
    assert!(snapshot.daily.chars <= 2 * (1_000 + 20));
    let parts = [&snapshot.soul, &snapshot.user, &snapshot.memory, &snapshot.daily];
    let total: usize = parts.iter().map(|view| view.text.chars().count()).sum();
    assert_eq!(snapshot.total_chars, total);
}

#[test]
fn many_threads_that_change_different_sections_lose_nothing() {
    let home = TempDir::new().unwrap();
    let config = LayersConfig { memory_chars: 100_000, ..LayersConfig::default() };
    let layers = Layers::new(home.path(), &Scope::default(), &config);
    thread::scope(|scope| {
        for name in ["甲", "乙", "丙", "丁"] {
            let layers = &layers;
            scope.spawn(move || {
                for turn in 0..25 {
                    layers
                        .edit(
                            Layer::Memory,
                            &add(name, &format!("- {turn}")),
                            &edit_context(Actor::Agent),
                        )
                        .unwrap();
                }
            });
        }
    });
    let text = layers.read(Layer::Memory, today()).unwrap().text;
    let expected: String = (0..25).map(|turn| format!("- {turn}\n")).collect();
    for name in ["甲", "乙", "丙", "丁"] {
        let sections = MarkdownSections::parse(&text);
        assert_eq!(
            sections.get(name).unwrap().body.trim_start().trim_end().to_owned() + "\n",
            expected
        );
    }
}

#[test]
fn old_days_are_put_away_and_late_words_join_them() {
    let home = TempDir::new().unwrap();
    let layers = layers(home.path());
    let at = |day: &str| EditContext {
        actor: Actor::Agent,
        now: format!("{day}T12:00:00[UTC]").parse().unwrap(),
    };
    for day in ["2026-02-27", "2026-03-01", "2026-03-02"] {
        layers.append_to_today("聊天", day, &at(day)).unwrap();
    }
    let old = layers.old_days(today()).unwrap();
    assert_eq!(old.iter().map(|day| day.date).collect::<Vec<_>>(), [date(2026, 2, 27)]);
    assert!(layers.archive_day(&old[0]).unwrap());
    assert!(layers.old_days(today()).unwrap().is_empty());
    assert!(home.path().join("memories/daily/archive/2026-02-27.md").is_file());
    layers.append_to_today("late", "word", &at("2026-02-27")).unwrap();
    let again = layers.old_days(today()).unwrap();
    assert_eq!(again[0].text, "## 聊天\n\n2026-02-27\n\n## late\n\nword\n");
    layers.append_to_today("late", "more", &at("2026-02-27")).unwrap();
    assert!(!layers.archive_day(&again[0]).unwrap(), "it changed meanwhile");
    let whole = layers.old_days(today()).unwrap();
    assert!(layers.archive_day(&whole[0]).unwrap());
    assert!(layers.forget_day(date(2026, 2, 27)).unwrap());
    assert!(!layers.forget_day(date(2026, 2, 27)).unwrap());
}

fn any_edit() -> impl Strategy<Value = LayerEdit> {
    let title = prop::sample::select(vec!["A", "B", "偏好"]);
    let text = "[a-z茶 \n]{1,60}";
    prop_oneof![
        4 => (title.clone(), text).prop_map(|(title, text)| add(title, &text)),
        1 => title.clone().prop_map(|title| LayerEdit::Remove { section: title.into() }),
        2 => (title, "[a-z茶]", text).prop_map(|(title, old, new)| {
            LayerEdit::Replace { section: title.into(), old, new }
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn no_write_ever_exceeds_the_budget_nor_lengthens_a_file_beyond_it(
        by_hand in "[a-z茶\n]{0,260}",
        edits in prop::collection::vec(any_edit(), 1..30),
    ) {
        let home = TempDir::new().unwrap();
        let config = LayersConfig { user_chars: 150, ..LayersConfig::default() };
        let layers = Layers::new(home.path(), &Scope::default(), &config);
        let path = layers.path(Layer::User, today());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &by_hand).unwrap();
        for edit in &edits {
            let before = fs::read_to_string(&path).unwrap();
            let result = layers.edit(Layer::User, edit, &edit_context(Actor::Agent));
            let after = fs::read_to_string(&path).unwrap();
            prop_assert!(count_chars(&after) <= 150.max(count_chars(&before)));
            match result {
                Ok(change) => prop_assert_eq!(change.layer.text, after),
                Err(_) => prop_assert_eq!(before, after, "a refused change leaves the file"),
            }
        }
    }
}
