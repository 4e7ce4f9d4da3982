//! Random commands on a memory folder and on a model in RAM give the same answers and the same tree; writers do not
//! lose each other's work.

#![cfg(unix)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use everlore::tools::{MemoryFolder, MemoryFolderLimits, MemoryToolCommand};
use proptest::prelude::*;

/// Model of a folder without a disk: files by their path, and directories.
#[derive(Debug, Default, PartialEq)]
struct FolderModel {
    files: BTreeMap<String, String>,
    folders: BTreeSet<String>,
}

type FolderReply = Result<String, String>;

impl FolderModel {
    fn run(&mut self, command: &MemoryToolCommand) -> FolderReply {
        match command {
            MemoryToolCommand::View { path, .. } => self.view(path),
            MemoryToolCommand::Create { path, file_text } => self.create(path, file_text),
            MemoryToolCommand::StrReplace { path, old_str, new_str } => {
                self.replace(path, old_str, new_str)
            }
            MemoryToolCommand::Insert { path, insert_line, insert_text } => {
                self.insert(path, *insert_line, insert_text)
            }
            MemoryToolCommand::Delete { path } => self.delete(path),
            MemoryToolCommand::Rename { old_path, new_path } => self.rename(old_path, new_path),
        }
    }

    fn is_folder(&self, path: &str) -> bool {
        path == "/memories" || self.folders.contains(path)
    }

    fn exists(&self, path: &str) -> bool {
        self.is_folder(path) || self.files.contains_key(path)
    }

    fn is_below_file(&self, path: &str) -> bool {
        above(path).iter().any(|above| self.files.contains_key(above))
    }

    fn make_parents(&mut self, path: &str) {
        let parents = above(path).into_iter().filter(|above| above != "/memories");
        self.folders.extend(parents);
    }

    fn view(&self, path: &str) -> FolderReply {
        if let Some(text) = self.files.get(path) {
            let lines = text.lines().enumerate();
            let lines: Vec<_> = lines.map(|(n, line)| format!("{:>6}\t{line}", n + 1)).collect();
            return Ok(format!(
                "Here's the content of {path} with line numbers:\n{}",
                lines.join("\n")
            ));
        }
        if !self.is_folder(path) {
            return Err(format!("The path {path} does not exist. Please provide a valid path."));
        }
        let size = |folder: &str| -> usize {
            self.files.iter().filter(|(file, _)| is_in(file, folder)).map(|(_, t)| t.len()).sum()
        };
        let mut lines = vec![
            format!(
                "Here're the files and directories up to 2 levels deep in {path}, excluding hidden items and node_modules:"
            ),
            format!("{}B\t{path}", size(path)),
        ];
        let all = self.files.keys().chain(&self.folders).filter(|other| is_in(other, path));
        let entries = all.filter(|other| other[path.len()..].matches('/').count() <= 2);
        // Names are compared one by one, so that the entries of a folder follow it.
        let mut entries: Vec<&String> = entries.collect();
        entries.sort_by_key(|path| path.split('/').collect::<Vec<_>>());
        for other in entries {
            let bytes = self.files.get(other).map_or_else(|| size(other), String::len);
            lines.push(format!("{bytes}B\t{other}"));
        }
        Ok(lines.join("\n"))
    }

    fn create(&mut self, path: &str, text: &str) -> FolderReply {
        if self.exists(path) {
            return Err(format!("Error: File {path} already exists"));
        }
        if self.is_below_file(path) {
            return Err(below_file(path));
        }
        self.make_parents(path);
        self.files.insert(path.into(), text.into());
        Ok(format!("File created successfully at: {path}"))
    }

    fn replace(&mut self, path: &str, old: &str, new: &str) -> FolderReply {
        let Some(text) = self.files.get_mut(path) else {
            return Err(format!(
                "Error: The path {path} does not exist. Please provide a valid path."
            ));
        };
        let count = text.matches(old).count();
        if count == 0 {
            return Err(format!(
                "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            ));
        }
        if count > 1 {
            let numbers: Vec<_> = text
                .match_indices(old)
                .map(|(at, _)| (text[..at].split('\n').count()).to_string())
                .collect();
            return Err(format!(
                "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {}. Please ensure it is unique",
                numbers.join(", ")
            ));
        }
        *text = text.replace(old, new);
        Ok("The memory file has been edited.".into())
    }

    fn insert(&mut self, path: &str, line: i64, added: &str) -> FolderReply {
        let Some(text) = self.files.get_mut(path) else {
            return Err(format!("Error: The path {path} does not exist"));
        };
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if line < 0 || line > lines.len() as i64 {
            return Err(format!(
                "Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, {}]",
                lines.len()
            ));
        }
        let at_end = line == lines.len() as i64;
        let closed = if at_end {
            text.ends_with('\n') || added.ends_with('\n')
        } else {
            text.ends_with('\n')
        };
        lines.insert(line as usize, added.strip_suffix('\n').unwrap_or(added).to_owned());
        *text = lines.join("\n") + if closed { "\n" } else { "" };
        Ok(format!("The file {path} has been edited."))
    }

    fn delete(&mut self, path: &str) -> FolderReply {
        if path == "/memories" {
            return Err("Cannot delete the /memories directory itself".into());
        }
        if !self.exists(path) {
            return Err(format!("Error: The path {path} does not exist"));
        }
        let stays = |other: &String| other != path && !is_in(other, path);
        self.files.retain(|other, _| stays(other));
        self.folders.retain(stays);
        Ok(format!("Successfully deleted {path}"))
    }

    fn rename(&mut self, old: &str, new: &str) -> FolderReply {
        if old == "/memories" {
            return Err("Cannot rename the /memories directory itself".into());
        }
        if !self.exists(old) {
            return Err(format!("Error: The path {old} does not exist"));
        }
        if self.is_below_file(new) {
            return Err(below_file(new));
        }
        if self.exists(new) {
            return Err(format!("Error: The destination {new} already exists"));
        }
        if is_in(new, old) {
            return Err(format!("Error: {old} cannot be renamed to {new}, which lies inside it"));
        }
        let moved = |path: String| match path.strip_prefix(old) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{new}{rest}"),
            _ => path,
        };
        self.files =
            std::mem::take(&mut self.files).into_iter().map(|(p, t)| (moved(p), t)).collect();
        self.folders = std::mem::take(&mut self.folders).into_iter().map(moved).collect();
        self.make_parents(new);
        Ok(format!("Successfully renamed {old} to {new}"))
    }

    /// Reads the same from a disk.
    fn read(root: &Path) -> Self {
        let mut model = Self::default();
        model.collect(root, "/memories");
        model
    }

    fn collect(&mut self, folder: &Path, above: &str) {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let path = format!("{above}/{}", entry.file_name().unwrap().to_str().unwrap());
            if entry.is_dir() {
                self.collect(&entry, &path);
                self.folders.insert(path);
            } else {
                self.files.insert(path, fs::read_to_string(&entry).unwrap());
            }
        }
    }
}

/// Returns the directories above a path.
fn above(path: &str) -> Vec<String> {
    path.match_indices('/').skip(1).map(|(at, _)| path[..at].to_owned()).collect()
}

fn is_in(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

fn below_file(path: &str) -> String {
    format!("Error: {path} lies below a file. Use a path whose directories are no files.")
}

/// Generates paths of few names, so that commands collide.
fn any_path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b.md", "茶", "a b"]);
    prop::collection::vec(name, 0..4).prop_map(|names| {
        names.iter().fold("/memories".into(), |path, name| format!("{path}/{name}"))
    })
}

fn any_text() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec!["x", "y", "龙井", " ", "\n", "\n\n"]);
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

fn any_command() -> impl Strategy<Value = MemoryToolCommand> {
    let old = prop::sample::select(vec!["x", "y", "龙井", "x\n", "z"]);
    prop_oneof![
        2 => any_path().prop_map(|path| MemoryToolCommand::View { path, view_range: None }),
        4 => (any_path(), any_text()).prop_map(|(path, file_text)| MemoryToolCommand::Create { path, file_text }),
        2 => (any_path(), old, any_text())
            .prop_map(|(path, old, new_str)| MemoryToolCommand::StrReplace { path, old_str: old.into(), new_str }),
        2 => (any_path(), -1i64..6, any_text())
            .prop_map(|(path, insert_line, insert_text)| MemoryToolCommand::Insert { path, insert_line, insert_text }),
        1 => any_path().prop_map(|path| MemoryToolCommand::Delete { path }),
        2 => (any_path(), any_path()).prop_map(|(old_path, new_path)| MemoryToolCommand::Rename { old_path, new_path }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_commands_answer_and_leave_what_the_model_does(commands in prop::collection::vec(any_command(), 1..60)) {
        let home = tempfile::tempdir().unwrap();
        let folder = MemoryFolder::new(home.path().join("root"), MemoryFolderLimits::default());
        let mut model = FolderModel::default();
        for command in &commands {
            let answer = folder.run(command).unwrap();
            let expected = model.run(command);
            prop_assert_eq!(answer.is_error, expected.is_err(), "{:?}: {}", command, answer.text);
            let expected = expected.unwrap_or_else(|refusal| refusal);
            match command {
                // The snippet that follows is tested by examples.
                MemoryToolCommand::StrReplace { .. } if !answer.is_error => prop_assert!(answer.text.starts_with(&expected)),
                _ => prop_assert_eq!(&answer.text, &expected, "{:?}", command),
            }
            prop_assert_eq!(&FolderModel::read(&home.path().join("root")), &model);
        }
    }
}

#[test]
fn writers_of_one_file_do_not_lose_each_others_lines() {
    let home = tempfile::tempdir().unwrap();
    let folder = MemoryFolder::new(home.path().join("root"), MemoryFolderLimits::default());
    let path = || "/memories/log.md".to_owned();
    folder.run(&MemoryToolCommand::Create { path: path(), file_text: "log\n".into() }).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let folder = &folder;
            scope.spawn(move || {
                for number in 0..25 {
                    let insert_text = format!("{writer} {number}\n");
                    let insert =
                        MemoryToolCommand::Insert { path: path(), insert_line: 1, insert_text };
                    assert!(!folder.run(&insert).unwrap().is_error);
                }
            });
        }
    });
    let text = fs::read_to_string(home.path().join("root/log.md")).unwrap();
    let lines: BTreeSet<&str> = text.lines().collect();
    assert_eq!((text.lines().count(), lines.len()), (101, 101));
}
