//! Tests of file checks: present, missing, changed and inaccessible files.

use std::{process::Command, time::Instant};

use super::*;
use crate::types::{Actor, Timestamp};

fn unsigned(check: Check) -> StoredCheck {
    StoredCheck::unsigned(check, Actor::Person, Timestamp::UNIX_EPOCH)
}

fn path(path: &Path) -> StoredCheck {
    unsigned(Check::Path { path: path.to_str().unwrap().into() })
}

fn file(path: &Path) -> StoredCheck {
    with_digest(unsigned(Check::File { file: path.to_str().unwrap().into(), sha256: None }))
        .unwrap()
}

fn probe(stored: &StoredCheck) -> (CheckStatus, CheckReason) {
    let CheckResult { verdict, reason, .. } = FileDigestCache::default().probe(stored);
    (verdict, reason)
}

const GONE: (CheckStatus, CheckReason) = (CheckStatus::Stale, CheckReason::Missing);
const CHANGED: (CheckStatus, CheckReason) = (CheckStatus::Stale, CheckReason::Changed);
const SAME: (CheckStatus, CheckReason) = (CheckStatus::Fresh, CheckReason::Unchanged);

/// Sets a file's modification time back by a minute.
fn age(path: &Path) {
    let then = SystemTime::now() - Duration::from_secs(60);
    File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
}

#[test]
fn a_path_is_there_until_it_is_deleted_or_moved() {
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("笔记.md");
    fs::write(&notes, "茶").unwrap();
    let (check, inner) = (path(&notes), path(&notes.join("inner")));
    assert_eq!(probe(&check), (CheckStatus::Fresh, CheckReason::Exists));
    assert_eq!(probe(&inner), GONE, "a file has nothing in it");
    fs::rename(&notes, folder.path().join("moved.md")).unwrap();
    assert_eq!(probe(&check), GONE);
    assert_eq!(
        probe(&path(folder.path())),
        (CheckStatus::Fresh, CheckReason::Exists),
        "a folder will do"
    );
}

#[test]
fn a_file_is_the_same_until_one_byte_differs() {
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("a.rs");
    fs::write(&notes, "fn main() {}").unwrap();
    let check = file(&notes);
    assert_eq!(probe(&check), SAME);
    fs::write(&notes, "fn main() {;").unwrap();
    assert_eq!(probe(&check), CHANGED, "as long as before");
    fs::write(&notes, "fn main() {}").unwrap();
    assert_eq!(probe(&check), SAME, "written anew, with the same bytes");
    fs::remove_file(&notes).unwrap();
    assert_eq!(probe(&check), GONE);
    fs::create_dir(&notes).unwrap();
    assert_eq!(probe(&check), (CheckStatus::Stale, CheckReason::NotAFile));
}

#[test]
fn a_file_that_looks_as_before_is_not_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("a.md");
    fs::write(&notes, "tea").unwrap();
    age(&notes);
    let mut check = file(&notes);
    // A digest that fits nothing shows that only the stamp was compared.
    let Check::File { sha256, .. } = &mut check.check else { panic!("{check:?}") };
    *sha256 = Some("0".repeat(64));
    assert_eq!(probe(&check), SAME);
    fs::write(&notes, "cha").unwrap();
    assert_eq!(probe(&check), CHANGED);
}

#[test]
fn a_digest_is_kept_for_as_long_as_the_file_looks_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("a.md");
    fs::write(&notes, "tea").unwrap();
    age(&notes);
    let cache = FileDigestCache::default();
    let name = notes.to_str().unwrap();
    let first = cache.digest(name).unwrap().unwrap();
    assert_eq!(cache.0.lock().unwrap().len(), 1);
    fs::write(&notes, "cha").unwrap();
    assert_ne!(cache.digest(name).unwrap().unwrap(), first);
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_one_that_leads_nowhere_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two, link] = ["one", "two", "link"].map(|name| folder.path().join(name));
    fs::write(&one, "茶").unwrap();
    fs::write(&two, "酒").unwrap();
    std::os::unix::fs::symlink(&one, &link).unwrap();
    let (there, same) = (path(&link), file(&link));
    assert_eq!((probe(&there).0, probe(&same)), (CheckStatus::Fresh, SAME));
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&two, &link).unwrap();
    assert_eq!((probe(&there).0, probe(&same)), (CheckStatus::Fresh, CHANGED));
    fs::remove_file(&two).unwrap();
    assert_eq!((probe(&there), probe(&same)), (GONE, GONE));
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&link, &link).unwrap();
    assert_eq!(probe(&there).0, CheckStatus::Unverifiable, "a circle");
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_file_is_told_and_never_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    fs::write(&pipe, "tea").unwrap();
    let check = file(&pipe);
    fs::remove_file(&pipe).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let begun = Instant::now();
    assert_eq!(probe(&check), (CheckStatus::Stale, CheckReason::NotAFile));
    assert!(hash_file(pipe.to_str().unwrap()).is_err(), "nor where it takes the place meanwhile");
    let new = unsigned(Check::File { file: pipe.to_str().unwrap().into(), sha256: None });
    assert!(with_digest(new).unwrap_err().to_string().contains("not a regular file"));
    assert_eq!(probe(&path(&pipe)), (CheckStatus::Fresh, CheckReason::Exists));
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_huge_file_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let huge = folder.path().join("huge");
    File::create(&huge).unwrap().set_len(MAX_BYTES + 1).unwrap();
    let name: String = huge.to_str().unwrap().into();
    let new = unsigned(Check::File { file: name.clone(), sha256: None });
    assert!(with_digest(new).unwrap_err().hint().contains("use path"));
    let given = unsigned(Check::File { file: name, sha256: Some("0".repeat(64)) });
    assert_eq!(probe(&given), (CheckStatus::Unverifiable, CheckReason::TooLarge));
    fs::write(&huge, "tea").unwrap();
    let small = file(&huge);
    File::options().write(true).open(&huge).unwrap().set_len(MAX_BYTES + 1).unwrap();
    assert_eq!(probe(&small), CHANGED, "its length tells without reading");
}

#[test]
fn what_cannot_be_there_is_refused_when_the_check_is_set() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("没有");
    assert!(with_digest(path(&missing)).unwrap_err().to_string().contains("does not exist"));
    let whole =
        unsigned(Check::File { file: folder.path().to_str().unwrap().into(), sha256: None });
    assert!(with_digest(whole).unwrap_err().hint().contains("use path"));
}

#[test]
fn a_digest_looks_like_no_secret() {
    // An import masks secrets, and a masked digest would fit nothing.
    for number in 0..2_000_u32 {
        let digest: String =
            Sha256::digest(number.to_le_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(crate::text::secrets::find_secrets(&digest).is_empty(), "{digest}");
    }
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_unverifiable() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("closed");
    fs::create_dir(&inner).unwrap();
    let notes = inner.join("a.md");
    fs::write(&notes, "tea").unwrap();
    let checks = [path(&notes), file(&notes)];
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o000)).unwrap();
    // Root may read everything, so nothing is refused to it.
    let may = fs::metadata(&notes).is_ok();
    let statuses = checks.map(|check| probe(&check).0);
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o700)).unwrap();
    let expected = if may { CheckStatus::Fresh } else { CheckStatus::Unverifiable };
    assert_eq!(statuses, [expected, expected]);
}
