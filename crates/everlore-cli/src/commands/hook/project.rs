//! Project name for a session: that of the repository, the same in every worktree and clone.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Longest project name; longer ones are cut.
const MAX_NAME_CHARS: usize = 60;

/// Returns the project of a folder: the end of its repository's remote URL, or the folder's name.
pub(super) fn project_name(folder: &Path) -> String {
    let Some((root, git)) = find_repository(folder) else { return folder_name(folder) };
    let config = fs::read_to_string(git.join("config")).unwrap_or_default();
    // A repository without a remote is named after its main worktree, the folder of its `.git`.
    let main = if git.file_name().is_some_and(|name| name == ".git") { git.parent() } else { None };
    remote_url(&config)
        .map_or_else(|| folder_name(main.unwrap_or(&root)), |url| name_from_url(&url))
}

/// Finds the nearest repository above a folder, and its git folder: a worktree shares that of the main worktree.
fn find_repository(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let root = folder.ancestors().find(|folder| folder.join(".git").exists())?;
    let git = root.join(".git");
    if git.is_dir() {
        return Some((root.to_owned(), git));
    }
    let text = fs::read_to_string(&git).ok()?;
    let worktree = root.join(text.trim().strip_prefix("gitdir:")?.trim());
    let common = fs::read_to_string(worktree.join("commondir")).ok();
    let shared = common.map_or_else(|| worktree.clone(), |common| worktree.join(common.trim()));
    Some((root.to_owned(), fs::canonicalize(&shared).unwrap_or(shared)))
}

/// Returns the URL of `origin`, or of the first remote.
fn remote_url(config: &str) -> Option<String> {
    let mut section = "";
    let mut first = None;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        } else if let Some((_, url)) = line.split_once('=').filter(|(key, _)| key.trim() == "url")
            && section.starts_with("[remote ")
        {
            let url = url.trim().to_owned();
            if section.contains("\"origin\"") {
                return Some(url);
            }
            first = first.or(Some(url));
        }
    }
    first
}

/// Returns `owner/name` of a URL, without scheme, host and credentials.
fn name_from_url(url: &str) -> String {
    let path = url.trim_end_matches('/').trim_end_matches(".git");
    let mut parts = path.rsplit(['/', ':', '\\']).filter(|part| !part.is_empty());
    let (name, owner) = (parts.next().unwrap_or_default(), parts.next());
    // In a plain path, the folder above is no owner.
    let is_remote = url.contains("://") || url.contains('@');
    match owner.filter(|owner| is_remote && !owner.contains(['@', '.'])) {
        Some(owner) => sanitize_name(&format!("{owner}/{name}")),
        None => sanitize_name(name),
    }
}

fn folder_name(folder: &Path) -> String {
    sanitize_name(&folder.file_name().map(|name| name.to_string_lossy()).unwrap_or_default())
}

/// Replaces characters that do not belong in a session name.
fn sanitize_name(name: &str) -> String {
    let allowed = |c: char| if c.is_alphanumeric() || "-_./".contains(c) { c } else { '-' };
    name.chars().take(MAX_NAME_CHARS).map(allowed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_repository_have_one_name() {
        for url in [
            "git@example.org:tea/pot.git",
            "https://user:secret@example.org/tea/pot.git",
            "ssh://git@example.org:22/tea/pot/",
        ] {
            assert_eq!(name_from_url(url), "tea/pot", "{url}");
        }
        assert_eq!(name_from_url("/srv/git/茶壶.git"), "茶壶");
    }

    #[test]
    fn a_worktree_has_the_name_of_its_repository() {
        let folder = tempfile::tempdir().unwrap();
        let (main, other) = (folder.path().join("tea pot"), folder.path().join("other"));
        fs::create_dir_all(main.join(".git/worktrees/other")).unwrap();
        fs::create_dir_all(other.join("src/深")).unwrap();
        let git_folder = main.join(".git/worktrees/other");
        fs::write(git_folder.join("commondir"), "../..\n").unwrap();
        fs::write(other.join(".git"), format!("gitdir: {}\n", git_folder.display())).unwrap();
        assert_eq!(project_name(&other.join("src/深")), "tea-pot");
        let config = "[remote \"up\"]\n\turl = https://h/a/b\n[remote \"origin\"]\n\turl = git@h:tea/pot.git\n";
        fs::write(main.join(".git/config"), config).unwrap();
        assert_eq!(project_name(&other), "tea/pot");
        assert_eq!(project_name(&main), "tea/pot");
    }

    #[test]
    fn a_folder_without_a_repository_has_its_own_name() {
        assert_eq!(project_name(Path::new("/nowhere/我的 project")), "我的-project");
        assert_eq!(project_name(Path::new("/")), "");
    }
}
