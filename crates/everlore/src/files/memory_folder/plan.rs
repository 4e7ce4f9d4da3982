//! Working out what a command answers and changes, before anything is changed.

use super::{
    Command, FileChange, Limits, Step, Stop,
    path::{MAX_DEPTH, MemoryPath, ROOT},
    survey::{Found, everything, listing, visible},
    text::{Miss, inserted, line_count, numbered, replaced, size, snippet},
    tree::{Folder, Node},
};
use crate::types::MAX_CONTENT_BYTES;

/// The most lines that fit the six columns of their numbers.
const MAX_LINES: usize = 999_999;

/// What a command will do.
pub(super) struct Plan {
    /// What is answered once it is done.
    pub(super) text: String,
    /// What is done.
    pub(super) step: Step,
    /// What that means for each file.
    pub(super) changes: Vec<FileChange>,
}

/// A folder to plan for.
pub(super) struct Desk<'a> {
    pub(super) root: &'a Folder,
    pub(super) limits: &'a Limits,
}

/// Where a path leads.
enum Spot {
    /// To the memory directory itself.
    Root,
    /// To a name in a folder that is there.
    In(Folder, Node),
    /// Through a folder that is not there.
    Nowhere,
    /// Through a file.
    BelowFile,
}

type Planned<T> = Result<T, Stop>;

impl Desk<'_> {
    /// What `command` will do.
    pub(super) fn plan(&self, command: &Command) -> Planned<Plan> {
        match command {
            Command::View { path, view_range } => self.view(&parsed(path)?, *view_range),
            Command::Create { path, file_text } => self.create(parsed(path)?, file_text),
            Command::StrReplace { path, old_str, new_str } => {
                self.replace(parsed(path)?, old_str, new_str)
            }
            Command::Insert { path, insert_line, insert_text } => {
                self.insert(parsed(path)?, *insert_line, insert_text)
            }
            Command::Delete { path } => self.delete(parsed(path)?),
            Command::Rename { old_path, new_path } => {
                self.rename(parsed(old_path)?, parsed(new_path)?)
            }
        }
    }

    fn view(&self, path: &MemoryPath, range: Option<[i64; 2]>) -> Planned<Plan> {
        let given = path.given();
        let folder = match self.find(path)? {
            Spot::Root => self.root.sub(".")?,
            Spot::In(parent, Node::Folder) => parent.sub(name(path))?,
            Spot::In(parent, Node::File(_)) => return self.view_file(path, &parent, range),
            _ => {
                return refused(format!(
                    "The path {given} does not exist. Please provide a valid path."
                ));
            }
        };
        if range.is_some() {
            return refused(format!(
                "Error: Invalid `view_range` parameter: {given} is a directory, which has no lines"
            ));
        }
        Ok(Plan::telling(listing(&folder, &path.plain())?))
    }

    fn view_file(
        &self,
        path: &MemoryPath,
        parent: &Folder,
        range: Option<[i64; 2]>,
    ) -> Planned<Plan> {
        let (given, text) = (path.given(), self.text(path, parent)?);
        let lines = line_count(&text);
        if lines > MAX_LINES {
            return refused(format!("File {given} exceeds maximum line limit of 999,999 lines."));
        }
        let (first, last) = match range {
            None => (1, lines),
            Some(range) => checked_range(range, lines)?,
        };
        let shown = numbered(&text, first..=last);
        let most = self.limits.max_file_bytes;
        if shown.len() > most.saturating_mul(2) {
            return refused(format!(
                "File {given} has {lines} lines and {}, too much for one answer. View a part of it with view_range, \
                 for example [1, 500].",
                size(text.len() as u64)
            ));
        }
        Ok(Plan::telling(format!("Here's the content of {given} with line numbers:\n{shown}")))
    }

    fn create(&self, path: MemoryPath, text: &str) -> Planned<Plan> {
        let given = path.given().to_owned();
        match self.find(&path)? {
            Spot::Root | Spot::In(_, Node::File(_) | Node::Folder | Node::Other) => {
                return refused(format!("Error: File {given} already exists"));
            }
            Spot::BelowFile => return refused(below_file(&given)),
            Spot::In(..) | Spot::Nowhere => {}
        }
        self.check_size(&given, text, 0)?;
        self.check_room(text.len() as u64)?;
        let answer = format!("File created successfully at: {given}");
        Ok(Plan::writing(answer, path, None, text.to_owned()))
    }

    fn replace(&self, path: MemoryPath, old: &str, new: &str) -> Planned<Plan> {
        let given = path.given().to_owned();
        let missing =
            format!("Error: The path {given} does not exist. Please provide a valid path.");
        let text = self.existing(&path, missing)?;
        if old.is_empty() {
            return refused("No replacement was performed, old_str is empty. Give the text to replace, or use the command insert to add text.".into());
        }
        let (edited, line) = match replaced(&text, old, new) {
            Ok(edited) => edited,
            Err(Miss::Absent) => {
                return refused(format!(
                    "No replacement was performed, old_str `{old}` did not appear verbatim in {given}."
                ));
            }
            Err(Miss::Many(lines)) => {
                let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
                return refused(format!(
                    "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {}. Please ensure it is unique",
                    lines.join(", ")
                ));
            }
        };
        self.check_size(&given, &edited, text.len())?;
        let shown = snippet(&edited, line, line_count(new));
        let answer = format!("The memory file has been edited.\n{shown}");
        Ok(Plan::writing(answer, path, Some(text), edited))
    }

    fn insert(&self, path: MemoryPath, line: i64, added: &str) -> Planned<Plan> {
        let given = path.given().to_owned();
        let text = self.existing(&path, format!("Error: The path {given} does not exist"))?;
        let edited = usize::try_from(line).ok().and_then(|line| inserted(&text, line, added));
        let Some(edited) = edited else {
            return refused(format!(
                "Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, {}]",
                line_count(&text)
            ));
        };
        self.check_size(&given, &edited, text.len())?;
        Ok(Plan::writing(format!("The file {given} has been edited."), path, Some(text), edited))
    }

    fn delete(&self, path: MemoryPath) -> Planned<Plan> {
        let given = path.given().to_owned();
        let changes = match self.find(&path)? {
            Spot::Root => return refused(format!("Cannot delete the {ROOT} directory itself")),
            Spot::In(parent, Node::File(_)) => {
                vec![FileChange::gone(path.plain(), self.text(&path, &parent)?)]
            }
            Spot::In(parent, Node::Folder) => self.texts_below(&path, &parent.sub(name(&path))?)?,
            Spot::In(_, Node::Other) => return refused(unkeepable(&given)),
            _ => return refused(format!("Error: The path {given} does not exist")),
        };
        let text = format!("Successfully deleted {given}");
        Ok(Plan { text, step: Step::Remove(path), changes })
    }

    fn rename(&self, from: MemoryPath, to: MemoryPath) -> Planned<Plan> {
        let (old, new) = (from.given().to_owned(), to.given().to_owned());
        let (parent, node) = match self.find(&from)? {
            Spot::Root => return refused(format!("Cannot rename the {ROOT} directory itself")),
            Spot::In(parent, node @ (Node::File(_) | Node::Folder)) => (parent, node),
            Spot::In(_, Node::Other) => return refused(unkeepable(&old)),
            _ => return refused(format!("Error: The path {old} does not exist")),
        };
        match self.find(&to)? {
            Spot::In(_, Node::Absent) | Spot::Nowhere if to.is_within(&from) => {
                return refused(format!(
                    "Error: {old} cannot be renamed to {new}, which lies inside it"
                ));
            }
            Spot::In(_, Node::Absent) | Spot::Nowhere => {}
            Spot::BelowFile => return refused(below_file(&new)),
            _ => return refused(format!("Error: The destination {new} already exists")),
        }
        let texts = match node {
            Node::File(_) => self.text(&from, &parent).map(|text| vec![(String::new(), text)]),
            _ => self.movable(&to, &parent.sub(name(&from))?),
        };
        let (old_path, new_path) = (from.plain(), to.plain());
        let moved = |(below, text): (String, String)| {
            let away = FileChange::gone(format!("{old_path}{below}"), text.clone());
            let moved_from = Some(away.path.clone());
            let path = format!("{new_path}{below}");
            [away, FileChange { path, before: None, after: Some(text), moved_from }]
        };
        // What is no text cannot be kept, and need not be: nothing of it is lost.
        let changes = match texts {
            Err(Stop::Refused(_)) if matches!(node, Node::File(_)) => Vec::new(),
            texts => texts?.into_iter().flat_map(moved).collect(),
        };
        let text = format!("Successfully renamed {old} to {new}");
        Ok(Plan { text, step: Step::Rename(from, to), changes })
    }

    /// Where a path leads; a link on the way is refused, wherever it points.
    fn find(&self, path: &MemoryPath) -> Planned<Spot> {
        let Some((last, above)) = path.names().split_last() else { return Ok(Spot::Root) };
        let mut folder = self.root.sub(".")?;
        for name in above {
            match folder.node(name)? {
                Node::Folder => folder = folder.sub(name)?,
                Node::Absent => return Ok(Spot::Nowhere),
                Node::Link => return refused(through_link()),
                Node::File(_) | Node::Other => return Ok(Spot::BelowFile),
            }
        }
        match folder.node(last)? {
            Node::Link => refused(through_link()),
            node => Ok(Spot::In(folder, node)),
        }
    }

    /// The text of a file that must be there.
    fn existing(&self, path: &MemoryPath, missing: String) -> Planned<String> {
        match self.find(path)? {
            Spot::In(parent, Node::File(_)) => self.text(path, &parent),
            _ => refused(missing),
        }
    }

    fn text(&self, path: &MemoryPath, parent: &Folder) -> Planned<String> {
        read_text(parent, name(path), path.given())
    }

    /// What deleting a folder takes away: every text in it. What is no text could not be brought back.
    fn texts_below(&self, path: &MemoryPath, folder: &Folder) -> Planned<Vec<FileChange>> {
        let mut changes = Vec::new();
        for found in everything(folder)? {
            let full = format!("{}/{}", path.plain(), found.path);
            match found.node {
                Node::Folder if found.depth < MAX_DEPTH => {}
                Node::File(_) => {
                    changes.push(FileChange::gone(full.clone(), text_of(folder, &found, &full)?))
                }
                _ => return refused(unkeepable(&full)),
            }
        }
        Ok(changes)
    }

    /// The texts of a folder by their paths in it, if all of them can still be named under `to`.
    fn movable(&self, to: &MemoryPath, folder: &Folder) -> Planned<Vec<(String, String)>> {
        let mut texts = Vec::new();
        for found in everything(folder)? {
            let path = format!("{}/{}", to.plain(), found.path);
            let hidden = found.path.split('/').any(|name| name.starts_with('.'));
            if !hidden && let Err(problem) = MemoryPath::parse(&path) {
                return refused(problem);
            }
            if let Node::File(_) = found.node
                && let Ok(text) = text_of(folder, &found, &path)
            {
                texts.push((format!("/{}", found.path), text));
            }
        }
        Ok(texts)
    }

    fn check_size(&self, given: &str, text: &str, before: usize) -> Planned<()> {
        let most = self.limits.max_file_bytes;
        if text.len() <= most.max(before) {
            return Ok(());
        }
        refused(format!(
            "Error: {given} would have {} bytes, {most} at most. Keep what matters, or split it into several files.",
            text.len()
        ))
    }

    fn check_room(&self, more: u64) -> Planned<()> {
        let Limits { max_files, max_total_bytes, .. } = *self.limits;
        let found = visible(self.root)?;
        let files = found.iter().filter(|found| matches!(found.node, Node::File(_))).count();
        if files >= max_files {
            return refused(format!(
                "Error: The memory directory holds {files} files, {max_files} at most. Delete or merge files that are no longer needed."
            ));
        }
        let bytes: u64 = found.iter().map(Found::bytes).sum();
        if bytes + more > max_total_bytes {
            return refused(format!(
                "Error: The memory directory holds {}, {} at most. Delete or shorten files that are no longer needed.",
                size(bytes),
                size(max_total_bytes)
            ));
        }
        Ok(())
    }
}

impl Plan {
    fn telling(text: String) -> Self {
        Self { text, step: Step::Nothing, changes: Vec::new() }
    }

    fn writing(text: String, path: MemoryPath, before: Option<String>, after: String) -> Self {
        let change = FileChange {
            path: path.plain(),
            before: before.clone(),
            after: Some(after.clone()),
            moved_from: None,
        };
        Self { text, step: Step::Write { path, before, after }, changes: vec![change] }
    }
}

/// The text of a file below a folder, which is found by stepping down again.
fn text_of(folder: &Folder, found: &Found, full: &str) -> Planned<String> {
    let mut folder = folder.sub(".")?;
    let mut names = found.path.split('/').peekable();
    while let Some(name) = names.next() {
        if names.peek().is_none() {
            return read_text(&folder, name, full);
        }
        folder = folder.sub(name)?;
    }
    refused(unkeepable(full))
}

fn read_text(parent: &Folder, name: &str, given: &str) -> Planned<String> {
    let bytes = parent.read(name, MAX_CONTENT_BYTES as u64)?;
    if bytes.len() > MAX_CONTENT_BYTES {
        return refused(format!(
            "Error: {given} is larger than {}, too large to be read or changed here. A person can split it.",
            size(MAX_CONTENT_BYTES as u64)
        ));
    }
    String::from_utf8(bytes).or_else(|_| refused(unkeepable(given)))
}

/// First and last line of a range, -1 for the end; a range may reach beyond the end, but not begin there.
fn checked_range([first, last]: [i64; 2], lines: usize) -> Planned<(usize, usize)> {
    let end = if last == -1 { lines as i64 } else { last.min(lines as i64) };
    if first < 1 || first > lines as i64 || end < first {
        return refused(format!(
            "Error: Invalid `view_range` parameter: [{first}, {last}]. It should be within the range of lines of the file: [1, {lines}]"
        ));
    }
    Ok((first as usize, end as usize))
}

fn parsed(path: &str) -> Planned<MemoryPath> {
    MemoryPath::parse(path).map_err(Stop::Refused)
}

fn name(path: &MemoryPath) -> &str {
    path.names().last().map_or(".", String::as_str)
}

fn refused<T>(text: String) -> Planned<T> {
    Err(Stop::Refused(text))
}

fn through_link() -> String {
    format!("Path would escape {ROOT} directory via symlink")
}

fn below_file(given: &str) -> String {
    format!("Error: {given} lies below a file. Use a path whose directories are no files.")
}

fn unkeepable(given: &str) -> String {
    format!(
        "Error: {given} is not a text file (UTF-8), so it cannot be shown, changed or deleted here. A person can."
    )
}
