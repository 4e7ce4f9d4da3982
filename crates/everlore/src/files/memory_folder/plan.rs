//! Plan of a command: its answer and its changes, before anything is changed.

use super::{
    FileChange, FolderCommandError, FolderStep, MemoryFolderLimits, MemoryToolCommand,
    file_text::{
        PlanResult, below_file_error, not_text_error, read_text, read_walked_text, refuse,
        resolve_range, symlink_error,
    },
    folder_handle::{FolderHandle, FolderNode},
    path::{MAX_DEPTH, MemoryPath, ROOT},
    text_edit::{
        ReplaceError, human_size, insert_after_line, line_count, number_lines, replace_unique,
        snippet,
    },
    walk::{WalkedNode, render_listing, walk_all, walk_visible},
};

/// Most lines of a file: their numbers have six columns.
const MAX_LINES: usize = 999_999;

/// Plan of a command.
pub(super) struct CommandPlan {
    /// Answer once it is committed.
    pub(super) text: String,
    /// Action on the folder.
    pub(super) step: FolderStep,
    /// Change of each file.
    pub(super) changes: Vec<FileChange>,
}

/// Planner for one folder.
pub(super) struct CommandPlanner<'a> {
    pub(super) root: &'a FolderHandle,
    pub(super) limits: &'a MemoryFolderLimits,
}

/// Target of a path.
enum ResolvedPath {
    /// The memory directory itself.
    Root,
    /// Name in an existing folder.
    InFolder(FolderHandle, FolderNode),
    /// Below a folder that is not there.
    MissingParent,
    /// Below a file.
    BelowFile,
}

impl CommandPlanner<'_> {
    /// Plans `command`.
    pub(super) fn plan(&self, command: &MemoryToolCommand) -> PlanResult<CommandPlan> {
        match command {
            MemoryToolCommand::View { path, view_range } => {
                self.view(&parse_path(path)?, *view_range)
            }
            MemoryToolCommand::Create { path, file_text } => {
                self.create(parse_path(path)?, file_text)
            }
            MemoryToolCommand::StrReplace { path, old_str, new_str } => {
                self.replace(parse_path(path)?, old_str, new_str)
            }
            MemoryToolCommand::Insert { path, insert_line, insert_text } => {
                self.insert(parse_path(path)?, *insert_line, insert_text)
            }
            MemoryToolCommand::Delete { path } => self.delete(parse_path(path)?),
            MemoryToolCommand::Rename { old_path, new_path } => {
                self.rename(parse_path(old_path)?, parse_path(new_path)?)
            }
        }
    }

    fn view(&self, path: &MemoryPath, range: Option<[i64; 2]>) -> PlanResult<CommandPlan> {
        let given = path.given();
        let folder = match self.resolve(path)? {
            ResolvedPath::Root => self.root.open_subfolder(".")?,
            ResolvedPath::InFolder(parent, FolderNode::Folder) => {
                parent.open_subfolder(last_name(path))?
            }
            ResolvedPath::InFolder(parent, FolderNode::File(_)) => {
                return self.view_file(path, &parent, range);
            }
            _ => {
                return refuse(format!(
                    "The path {given} does not exist. Please provide a valid path."
                ));
            }
        };
        if range.is_some() {
            return refuse(format!(
                "Error: Invalid `view_range` parameter: {given} is a directory, which has no lines"
            ));
        }
        Ok(CommandPlan::output_only(render_listing(&folder, &path.canonical())?))
    }

    fn view_file(
        &self,
        path: &MemoryPath,
        parent: &FolderHandle,
        range: Option<[i64; 2]>,
    ) -> PlanResult<CommandPlan> {
        let (given, text) = (path.given(), self.read_file_text(path, parent)?);
        let lines = line_count(&text);
        if lines > MAX_LINES {
            return refuse(format!("File {given} exceeds maximum line limit of 999,999 lines."));
        }
        let (first, last) = match range {
            None => (1, lines),
            Some(range) => resolve_range(range, lines)?,
        };
        let shown = number_lines(&text, first..=last);
        let most = self.limits.max_file_bytes;
        if shown.len() > most.saturating_mul(2) {
            return refuse(format!(
                "File {given} has {lines} lines and {}, too much for one answer. View a part of it with view_range, \
                 for example [1, 500].",
                human_size(text.len() as u64)
            ));
        }
        Ok(CommandPlan::output_only(format!(
            "Here's the content of {given} with line numbers:\n{shown}"
        )))
    }

    fn create(&self, path: MemoryPath, text: &str) -> PlanResult<CommandPlan> {
        let given = path.given().to_owned();
        match self.resolve(&path)? {
            ResolvedPath::Root
            | ResolvedPath::InFolder(
                _,
                FolderNode::File(_) | FolderNode::Folder | FolderNode::Other,
            ) => {
                return refuse(format!("Error: File {given} already exists"));
            }
            ResolvedPath::BelowFile => return refuse(below_file_error(&given)),
            ResolvedPath::InFolder(..) | ResolvedPath::MissingParent => {}
        }
        self.check_file_size(&given, text, 0)?;
        self.check_folder_limits(text.len() as u64)?;
        let answer = format!("File created successfully at: {given}");
        Ok(CommandPlan::write_file(answer, path, None, text.to_owned()))
    }

    fn replace(&self, path: MemoryPath, old: &str, new: &str) -> PlanResult<CommandPlan> {
        let given = path.given().to_owned();
        let missing =
            format!("Error: The path {given} does not exist. Please provide a valid path.");
        let text = self.read_existing(&path, missing)?;
        if old.is_empty() {
            return refuse("No replacement was performed, old_str is empty. Give the text to replace, or use the command insert to add text.".into());
        }
        let (edited, line) = match replace_unique(&text, old, new) {
            Ok(edited) => edited,
            Err(ReplaceError::NotFound) => {
                return refuse(format!(
                    "No replacement was performed, old_str `{old}` did not appear verbatim in {given}."
                ));
            }
            Err(ReplaceError::Ambiguous(lines)) => {
                let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
                return refuse(format!(
                    "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {}. Please ensure it is unique",
                    lines.join(", ")
                ));
            }
        };
        self.check_file_size(&given, &edited, text.len())?;
        let shown = snippet(&edited, line, line_count(new));
        let answer = format!("The memory file has been edited.\n{shown}");
        Ok(CommandPlan::write_file(answer, path, Some(text), edited))
    }

    fn insert(&self, path: MemoryPath, line: i64, added: &str) -> PlanResult<CommandPlan> {
        let given = path.given().to_owned();
        let text = self.read_existing(&path, format!("Error: The path {given} does not exist"))?;
        let edited =
            usize::try_from(line).ok().and_then(|line| insert_after_line(&text, line, added));
        let Some(edited) = edited else {
            return refuse(format!(
                "Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, {}]",
                line_count(&text)
            ));
        };
        self.check_file_size(&given, &edited, text.len())?;
        Ok(CommandPlan::write_file(
            format!("The file {given} has been edited."),
            path,
            Some(text),
            edited,
        ))
    }

    fn delete(&self, path: MemoryPath) -> PlanResult<CommandPlan> {
        let given = path.given().to_owned();
        let changes = match self.resolve(&path)? {
            ResolvedPath::Root => {
                return refuse(format!("Cannot delete the {ROOT} directory itself"));
            }
            ResolvedPath::InFolder(parent, FolderNode::File(_)) => {
                vec![FileChange::deleted(path.canonical(), self.read_file_text(&path, &parent)?)]
            }
            ResolvedPath::InFolder(parent, FolderNode::Folder) => {
                self.deleted_texts(&path, &parent.open_subfolder(last_name(&path))?)?
            }
            ResolvedPath::InFolder(_, FolderNode::Other) => return refuse(not_text_error(&given)),
            _ => return refuse(format!("Error: The path {given} does not exist")),
        };
        let text = format!("Successfully deleted {given}");
        Ok(CommandPlan { text, step: FolderStep::Remove(path), changes })
    }

    fn rename(&self, from: MemoryPath, to: MemoryPath) -> PlanResult<CommandPlan> {
        let (old, new) = (from.given().to_owned(), to.given().to_owned());
        let (parent, node) = match self.resolve(&from)? {
            ResolvedPath::Root => {
                return refuse(format!("Cannot rename the {ROOT} directory itself"));
            }
            ResolvedPath::InFolder(parent, node @ (FolderNode::File(_) | FolderNode::Folder)) => {
                (parent, node)
            }
            ResolvedPath::InFolder(_, FolderNode::Other) => return refuse(not_text_error(&old)),
            _ => return refuse(format!("Error: The path {old} does not exist")),
        };
        match self.resolve(&to)? {
            ResolvedPath::InFolder(_, FolderNode::Absent) | ResolvedPath::MissingParent
                if to.is_within(&from) =>
            {
                return refuse(format!(
                    "Error: {old} cannot be renamed to {new}, which lies inside it"
                ));
            }
            ResolvedPath::InFolder(_, FolderNode::Absent) | ResolvedPath::MissingParent => {}
            ResolvedPath::BelowFile => return refuse(below_file_error(&new)),
            _ => return refuse(format!("Error: The destination {new} already exists")),
        }
        let texts = match node {
            FolderNode::File(_) => {
                self.read_file_text(&from, &parent).map(|text| vec![(String::new(), text)])
            }
            _ => self.texts_to_move(&to, &parent.open_subfolder(last_name(&from))?),
        };
        let (old_path, new_path) = (from.canonical(), to.canonical());
        let moved = |(below, text): (String, String)| {
            let away = FileChange::deleted(format!("{old_path}{below}"), text.clone());
            let moved_from = Some(away.path.clone());
            let path = format!("{new_path}{below}");
            [away, FileChange { path, before: None, after: Some(text), moved_from }]
        };
        // A file that is no text cannot be saved, and need not be: nothing of it is lost.
        let changes = match texts {
            Err(FolderCommandError::Refused(_)) if matches!(node, FolderNode::File(_)) => {
                Vec::new()
            }
            texts => texts?.into_iter().flat_map(moved).collect(),
        };
        let text = format!("Successfully renamed {old} to {new}");
        Ok(CommandPlan { text, step: FolderStep::Rename(from, to), changes })
    }

    /// Resolves a path; a link on the way is refused, wherever it points.
    fn resolve(&self, path: &MemoryPath) -> PlanResult<ResolvedPath> {
        let Some((last, above)) = path.names().split_last() else { return Ok(ResolvedPath::Root) };
        let mut folder = self.root.open_subfolder(".")?;
        for name in above {
            match folder.stat(name)? {
                FolderNode::Folder => folder = folder.open_subfolder(name)?,
                FolderNode::Absent => return Ok(ResolvedPath::MissingParent),
                FolderNode::Link => return refuse(symlink_error()),
                FolderNode::File(_) | FolderNode::Other => return Ok(ResolvedPath::BelowFile),
            }
        }
        match folder.stat(last)? {
            FolderNode::Link => refuse(symlink_error()),
            node => Ok(ResolvedPath::InFolder(folder, node)),
        }
    }

    /// Reads the text of a file that must be there.
    fn read_existing(&self, path: &MemoryPath, missing: String) -> PlanResult<String> {
        match self.resolve(path)? {
            ResolvedPath::InFolder(parent, FolderNode::File(_)) => {
                self.read_file_text(path, &parent)
            }
            _ => refuse(missing),
        }
    }

    fn read_file_text(&self, path: &MemoryPath, parent: &FolderHandle) -> PlanResult<String> {
        read_text(parent, last_name(path), path.given())
    }

    /// Returns every text that deleting a folder removes. Anything but text could not be restored.
    fn deleted_texts(
        &self,
        path: &MemoryPath,
        folder: &FolderHandle,
    ) -> PlanResult<Vec<FileChange>> {
        let mut changes = Vec::new();
        for entry in walk_all(folder)? {
            let full = format!("{}/{}", path.canonical(), entry.path);
            match entry.node {
                FolderNode::Folder if entry.depth < MAX_DEPTH => {}
                FolderNode::File(_) => changes.push(FileChange::deleted(
                    full.clone(),
                    read_walked_text(folder, &entry, &full)?,
                )),
                _ => return refuse(not_text_error(&full)),
            }
        }
        Ok(changes)
    }

    /// Returns the texts of a folder by their paths in it, if all of them can still be named under `to`.
    fn texts_to_move(
        &self,
        to: &MemoryPath,
        folder: &FolderHandle,
    ) -> PlanResult<Vec<(String, String)>> {
        let mut texts = Vec::new();
        for entry in walk_all(folder)? {
            let path = format!("{}/{}", to.canonical(), entry.path);
            let hidden = entry.path.split('/').any(|name| name.starts_with('.'));
            if !hidden && let Err(problem) = MemoryPath::parse(&path) {
                return refuse(problem);
            }
            if let FolderNode::File(_) = entry.node
                && let Ok(text) = read_walked_text(folder, &entry, &path)
            {
                texts.push((format!("/{}", entry.path), text));
            }
        }
        Ok(texts)
    }

    fn check_file_size(&self, given: &str, text: &str, before: usize) -> PlanResult<()> {
        let most = self.limits.max_file_bytes;
        if text.len() <= most.max(before) {
            return Ok(());
        }
        refuse(format!(
            "Error: {given} would have {} bytes, {most} at most. Keep what matters, or split it into several files.",
            text.len()
        ))
    }

    fn check_folder_limits(&self, more: u64) -> PlanResult<()> {
        let MemoryFolderLimits { max_files, max_total_bytes, .. } = *self.limits;
        let entries = walk_visible(self.root)?;
        let files =
            entries.iter().filter(|entry| matches!(entry.node, FolderNode::File(_))).count();
        if files >= max_files {
            return refuse(format!(
                "Error: The memory directory holds {files} files, {max_files} at most. Delete or merge files that are no longer needed."
            ));
        }
        let bytes: u64 = entries.iter().map(WalkedNode::bytes).sum();
        if bytes + more > max_total_bytes {
            return refuse(format!(
                "Error: The memory directory holds {}, {} at most. Delete or shorten files that are no longer needed.",
                human_size(bytes),
                human_size(max_total_bytes)
            ));
        }
        Ok(())
    }
}

impl CommandPlan {
    fn output_only(text: String) -> Self {
        Self { text, step: FolderStep::Nothing, changes: Vec::new() }
    }

    fn write_file(text: String, path: MemoryPath, before: Option<String>, after: String) -> Self {
        let change = FileChange {
            path: path.canonical(),
            before: before.clone(),
            after: Some(after.clone()),
            moved_from: None,
        };
        Self { text, step: FolderStep::Write { path, before, after }, changes: vec![change] }
    }
}

fn parse_path(path: &str) -> PlanResult<MemoryPath> {
    MemoryPath::parse(path).map_err(FolderCommandError::Refused)
}

fn last_name(path: &MemoryPath) -> &str {
    path.names().last().map_or(".", String::as_str)
}
