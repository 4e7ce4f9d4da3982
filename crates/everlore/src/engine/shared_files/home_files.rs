//! Names of shared files: which files of a home are shared, and the document of each.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use crate::{
    error::{Error, Result},
    files::{
        atomic_file::{TempFile, WriteOptions, create_private_folder, remove_if_exists},
        regular_file,
    },
};

/// Beginnings of all names.
pub(super) const NAME_PREFIXES: [&str; 3] = ["agents/", "calibration", "keys"];

/// Files of the home itself, with their documents.
const HOME_FILES: [(&str, &str); 2] =
    [("server.keys.json", "keys"), ("calibration.json", "calibration")];

/// Owner of the files that lie in the home itself.
const DEFAULT_AGENT: &str = "agents/default/";

/// Settings of an agent: those of `default` lie beside the others.
const SETTINGS_FILE: &str = "settings.toml";

/// Most bytes of a file: far above any budget, and a history of years.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Returns all shared files of a home that exist.
pub(super) fn shared_files(home: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = HOME_FILES.map(|(file, _)| home.join(file)).into();
    files.extend(agent_files(home));
    for agent in entries(&home.join("agents")) {
        files.push(agent.join(SETTINGS_FILE));
        files.extend(agent_files(&agent));
    }
    files.retain(|file| file.is_file());
    files
}

/// Returns the layers of an agent with their histories, its skills and its workflows, of all its users.
fn agent_files(agent: &Path) -> Vec<PathBuf> {
    let mut files = vec![agent.join("SOUL.md")];
    files.extend(entries(&agent.join(".history")));
    let users = std::iter::once(agent.to_owned()).chain(entries(&agent.join("users")));
    for user in users {
        files.extend(entries(&user.join("skills")).into_iter().map(|skill| skill.join("SKILL.md")));
        files.extend(entries(&user.join("workflows")));
        let memories = user.join("memories");
        files.extend([memories.join("USER.md"), memories.join("MEMORY.md")]);
        for folder in [".history", "daily", "daily/archive"] {
            files.extend(entries(&memories.join(folder)));
        }
    }
    // Locks and files in the making are not shared.
    files.retain(|file| {
        file.extension().is_some_and(|kind| kind == "md" || kind == "jsonl")
            && !file.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
    });
    files
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).collect()
}

/// Returns the document of a file; `None` if its path is not UTF-8, which no folder of ours is.
pub(super) fn document_name(home: &Path, path: &Path) -> Option<String> {
    let relative = path.strip_prefix(home).ok()?.to_str()?.replace('\\', "/");
    if let Some((_, name)) = HOME_FILES.iter().find(|(file, _)| *file == relative) {
        return Some((*name).to_owned());
    }
    if relative.starts_with("agents/") {
        return Some(relative);
    }
    Some(format!("{DEFAULT_AGENT}{relative}"))
}

/// Returns the file of a document; `None` for a name that is not of a shared file. No path leaves the home.
pub(super) fn file_path(home: &Path, name: &str) -> Option<PathBuf> {
    if let Some((file, _)) = HOME_FILES.iter().find(|(_, document)| *document == name) {
        return Some(home.join(file));
    }
    let relative = match name.strip_prefix(DEFAULT_AGENT) {
        Some(SETTINGS_FILE) => name,
        Some(file) => file,
        None if name.starts_with("agents/") => name,
        None => return None,
    };
    let is_plain =
        Path::new(relative).components().all(|part| matches!(part, Component::Normal(_)));
    is_plain.then(|| home.join(relative))
}

/// Reads a file; `None` if it is gone or holds no text.
pub(super) fn read_file(path: &Path) -> Result<Option<String>> {
    match regular_file::read_to_string(path, MAX_FILE_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            tracing::warn!("{} holds no text and is not shared", path.display());
            Ok(None)
        }
        Err(error) => Err(Error::io(path.display().to_string(), error)),
    }
}

/// Replaces a file as a whole, for the user alone; an empty text removes it.
pub(super) fn write_file(path: &Path, text: &str) -> Result<()> {
    let failed = |error| Error::io(path.display().to_string(), error);
    if text.is_empty() {
        return remove_if_exists(path).map_err(failed);
    }
    create_private_folder(path.parent().unwrap_or(Path::new(""))).map_err(failed)?;
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".shared");
    // A copy that a power cut loses is made again.
    let options = WriteOptions { durable: false, private: true, permissions: None };
    TempFile::write(temporary.into(), text.as_bytes(), options)
        .and_then(|written| written.persist(path))
        .map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_documents_map_to_each_other() {
        let home = Path::new("/h");
        for (file, name) in [
            ("SOUL.md", "agents/default/SOUL.md"),
            ("memories/daily/2026-03-02.md", "agents/default/memories/daily/2026-03-02.md"),
            ("users/bob/memories/USER.md", "agents/default/users/bob/memories/USER.md"),
            ("agents/default/settings.toml", "agents/default/settings.toml"),
            ("agents/助手/settings.toml", "agents/助手/settings.toml"),
            ("agents/助手/.history/SOUL.jsonl", "agents/助手/.history/SOUL.jsonl"),
            ("skills/tidy-up/SKILL.md", "agents/default/skills/tidy-up/SKILL.md"),
            ("agents/助手/users/bob/workflows/a.md", "agents/助手/users/bob/workflows/a.md"),
            ("server.keys.json", "keys"),
            ("calibration.json", "calibration"),
        ] {
            assert_eq!(document_name(home, &home.join(file)).as_deref(), Some(name));
            assert_eq!(file_path(home, name), Some(home.join(file)));
        }
        for name in ["agents/../../etc/passwd", "agents/default//etc/passwd", "changes", "lease"] {
            assert_eq!(file_path(home, name), None, "{name}");
        }
    }
}
