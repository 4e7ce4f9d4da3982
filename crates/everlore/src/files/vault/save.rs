//! Saving and deleting one memory of a vault without a database: the file and its line in the index.

use std::{fs, io, path::Path};

use super::vault_file::MAX_FILE_BYTES;
use super::{
    INDEX_FILE, VaultIndex, VaultLock, VaultPage, create_file, index_summary, replace_file,
    sanitize_file_name, unique_file_name,
};
use crate::files::regular_file::{self, MAX_SETTINGS_BYTES};
use crate::{
    error::{Error, Result},
    types::{Kind, Memory, MemorySource, Origin, Scope, Timestamp},
};

/// Memory to save as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultNote {
    /// File name; derived from the kind and the name if `None`.
    pub file: Option<String>,
    /// Kind of statement.
    pub kind: Kind,
    /// Title.
    pub name: String,
    /// Line by which a reader decides whether it matters.
    pub description: String,
    /// Text.
    pub content: String,
}

/// Saves a memory and its line in the index, and returns the file's name. Keys and comments of an existing file stay.
pub fn save(folder: &Path, note: &VaultNote, now: Timestamp) -> Result<String> {
    let _lock = VaultLock::acquire(folder)?;
    let file = match &note.file {
        Some(given) => sanitize_file_name(given)?,
        None => unique_file_name(note.kind, &note.name, |name| folder.join(name).exists()),
    };
    let (path, memory) = (folder.join(&file), note_to_memory(note, now));
    let failed = |error| Error::io(path.display().to_string(), error);
    match fs::symlink_metadata(&path) {
        Ok(data) if !data.is_file() => {
            return Err(Error::invalid(
                format!("`{file}` is not a plain file"),
                "choose another name",
            ));
        }
        Ok(_) => {
            let text = regular_file::read_to_string(&path, MAX_FILE_BYTES).map_err(failed)?;
            let text = revise_page(&text, &memory)?;
            replace_file(&path, text.as_bytes(), true).map_err(failed)?;
        }
        Err(_) => {
            create_file(&path, VaultPage::render(&memory).as_bytes(), true).map_err(failed)?;
        }
    }
    update_index(folder, |index| index.set(&file, &memory.name, &index_summary(&memory)))?;
    Ok(file)
}

/// Revises an existing file, which keeps its id, if it has one.
fn revise_page(text: &str, memory: &Memory) -> Result<String> {
    let page = VaultPage::parse(text)?;
    let revised = Memory {
        id: page.id.unwrap_or(memory.id),
        tags: page.tags.unwrap_or_default(),
        importance: page.importance.unwrap_or(memory.importance),
        ..memory.clone()
    };
    VaultPage::revise(text, &revised)
}

fn update_index(folder: &Path, change: impl FnOnce(&mut VaultIndex)) -> Result<()> {
    let path = folder.join(INDEX_FILE);
    let failed = |error| Error::io(path.display().to_string(), error);
    let text = match regular_file::read_to_string(&path, MAX_SETTINGS_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        text => text.map_err(failed)?,
    };
    let mut index = VaultIndex::parse(&text);
    change(&mut index);
    let changed = index.to_string();
    if changed != text {
        replace_file(&path, changed.as_bytes(), true).map_err(failed)?;
    }
    Ok(())
}

fn note_to_memory(note: &VaultNote, now: Timestamp) -> Memory {
    let content = note.content.trim().to_owned();
    let source = MemorySource::new(Origin::Import);
    Memory {
        name: note.name.clone(),
        description: note.description.clone(),
        ..Memory::with_content(&Scope::default(), note.kind, content, source, now, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(file: Option<&str>, name: &str, content: &str) -> VaultNote {
        VaultNote {
            file: file.map(str::to_owned),
            kind: Kind::Feedback,
            name: name.into(),
            description: format!("about {name}"),
            content: content.into(),
        }
    }

    #[test]
    fn saving_writes_a_file_and_a_line_and_never_the_index_itself() {
        let folder = tempfile::tempdir().unwrap();
        let read = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap();
        let now = "2026-03-02T12:00:00Z".parse().unwrap();
        let file = save(folder.path(), &note(None, "真实数据库", "不要 mock。"), now).unwrap();
        assert_eq!(file, "feedback_真实数据库.md");
        save(folder.path(), &note(Some("../x/rule"), "Rule", "No mocks."), now).unwrap();
        assert_eq!(
            read("MEMORY.md"),
            "- [真实数据库](feedback_真实数据库.md) — about 真实数据库\n- [Rule](rule.md) — about Rule\n"
        );
        let mine = read("rule.md").replace("---\n\n", "# mine\n---\n\n");
        fs::write(folder.path().join("rule.md"), &mine).unwrap();
        save(folder.path(), &note(Some("rule.md"), "Rule", "No mocks at all."), now).unwrap();
        assert_eq!(read("rule.md"), mine.replace("No mocks.", "No mocks at all."));
        for bad in ["MEMORY.md", "memory"] {
            let answer = save(folder.path(), &note(Some(bad), "x", "y"), now);
            assert!(answer.unwrap_err().to_string().contains("index"), "{bad}");
        }
        assert!(read("MEMORY.md").contains("真实"), "the index is untouched");
    }
}
