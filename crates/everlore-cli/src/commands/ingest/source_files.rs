//! Files to ingest: those named on the command line, and those in the folders named there that git would track.

use std::{
    cmp::Ordering,
    collections::BTreeSet,
    ffi::OsStr,
    fs, io,
    iter::Peekable,
    path::{Components, Path, PathBuf},
    sync::Arc,
};

use ignore::{DirEntry, WalkBuilder};

use super::path_glob::PathGlob;
use crate::CliError;

/// Folders that hold what programs built or downloaded.
const SKIPPED_FOLDERS: [&str; 4] = ["node_modules", "target", "__pycache__", "venv"];

/// Options that choose among the files of a folder.
pub(super) struct FileFilter {
    /// Patterns of which a file must match one; every file passes if there are none.
    pub(super) include: Vec<PathGlob>,
    /// Patterns of which no file or folder may match any.
    pub(super) exclude: Vec<PathGlob>,
    /// Home folder, whose files are our own; `None` if it does not exist.
    pub(super) home: Option<PathBuf>,
}

impl FileFilter {
    /// Returns `true` if a file passes, by its path below the walked folder.
    fn allows_file(&self, path: &Path) -> bool {
        let matches = |globs: &[PathGlob]| globs.iter().any(|glob| glob.matches(path, false));
        (self.include.is_empty() || matches(&self.include)) && !matches(&self.exclude)
    }

    /// Returns `true` if a folder is to be walked.
    fn allows_folder(&self, path: &Path, relative: &Path) -> bool {
        let skipped = SKIPPED_FOLDERS.iter().any(|name| path.ends_with(name));
        let excluded = self.exclude.iter().any(|glob| glob.matches(relative, true));
        !skipped && !excluded && self.home.as_deref() != Some(path)
    }
}

/// File to ingest.
#[derive(Debug)]
pub(super) struct SourceFile {
    /// Absolute path.
    pub(super) path: PathBuf,
    /// Document id: the absolute path with forward slashes, the same however the file was named.
    pub(super) id: String,
    /// Path for reports, relative to what the user typed.
    pub(super) shown: String,
    /// `true` if the user named the file itself and not only a folder above it.
    pub(super) named: bool,
}

/// Files found at and below the paths of the command line.
#[derive(Default)]
pub(super) struct SourceFiles {
    pub(super) files: Vec<SourceFile>,
    /// Paths that cannot be read, with the reason.
    pub(super) failures: Vec<(String, CliError)>,
    /// Document id and shown path of each named path.
    roots: Vec<(String, String)>,
    ids: BTreeSet<String>,
}

impl SourceFiles {
    /// Finds the files at and below these paths. With `allow_missing`, a path that does not exist is no failure.
    pub(super) fn find(paths: &[PathBuf], filter: &Arc<FileFilter>, allow_missing: bool) -> Self {
        let mut found = Self::default();
        for path in paths {
            let shown = with_slashes(path);
            match path.canonicalize() {
                Ok(absolute) => found.add_root(absolute, shown.trim_end_matches('/'), filter),
                Err(error) if error.kind() == io::ErrorKind::NotFound && allow_missing => {
                    found.roots.push((with_slashes(&missing_path(path)), shown));
                }
                Err(error) => found.fail(shown, error),
            }
        }
        found
    }

    /// Returns the shown path of a document below a named path whose file no longer exists.
    pub(super) fn shown_if_missing(&self, id: &str) -> Option<String> {
        let below = |(root, shown): &(String, String)| {
            let rest = id.strip_prefix(root.trim_end_matches('/'))?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{shown}{rest}"))
        };
        let shown = self.roots.iter().find_map(below)?;
        let missing =
            fs::symlink_metadata(id).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        missing.then_some(shown)
    }

    fn fail(&mut self, shown: String, error: io::Error) {
        self.failures.push((shown, CliError::io("reading it", error)));
    }

    fn add_root(&mut self, root: PathBuf, shown: &str, filter: &Arc<FileFilter>) {
        self.roots.push((with_slashes(&root), shown.to_owned()));
        if root.is_dir() && root.to_str().is_some() {
            self.walk(&root, shown, filter);
        } else if root.to_str().is_none() {
            let reason = "its path is not UTF-8, and would not tell it from other files";
            let error = CliError::invalid(reason, "rename it, or the folder above it");
            self.failures.push((shown.to_owned(), error));
        } else if filter.allows_file(Path::new(root.file_name().unwrap_or_default())) {
            self.push(root, shown.to_owned(), true);
        }
    }

    fn push(&mut self, path: PathBuf, shown: String, named: bool) {
        let id = with_slashes(&path);
        if self.ids.insert(id.clone()) {
            self.files.push(SourceFile { path, id, shown, named });
        }
    }

    /// Adds the files of a folder: in each folder the files by name, then its folders by name.
    fn walk(&mut self, root: &Path, shown: &str, filter: &Arc<FileFilter>) {
        let shown_path = |path: &Path| format!("{shown}/{}", with_slashes(relative(path, root)));
        let mut paths = Vec::new();
        for entry in git_walk(root, Arc::clone(filter)) {
            match entry {
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                    paths.push(entry.into_path());
                }
                Ok(_) => {}
                Err(error) => {
                    let path = failed_path(&error).map_or_else(|| shown.to_owned(), shown_path);
                    // A pattern of a .gitignore that cannot be read is no I/O error and is passed over, as git does.
                    if let Some(error) = error.io_error() {
                        self.fail(path, error.kind().into());
                    }
                }
            }
        }
        paths.sort_by(|one, other| files_first(one, other));
        for path in paths {
            let shown = shown_path(&path);
            self.push(path, shown, false);
        }
    }
}

/// Walks a folder as git would: `.gitignore` files at every depth and up to the top of the repository, and
/// `.git/info/exclude`. The user's global excludes do not count, so that two machines ingest the same files. Symbolic
/// links are not followed; hidden names and names that are not UTF-8 are left out.
fn git_walk(root: &Path, filter: Arc<FileFilter>) -> ignore::Walk {
    let in_repository = root.ancestors().any(|folder| folder.join(".git").exists());
    let top = root.to_owned();
    let allows = move |entry: &DirEntry| {
        // A document's id must be text.
        let is_listed = entry.file_name().to_str().is_some_and(|name| !name.starts_with('.'));
        let path = relative(entry.path(), &top);
        is_listed
            && match entry.file_type() {
                Some(kind) if kind.is_dir() => filter.allows_folder(entry.path(), path),
                _ => filter.allows_file(path),
            }
    };
    WalkBuilder::new(root)
        .standard_filters(false)
        .git_ignore(true)
        .git_exclude(true)
        // Outside a repository there is no top, so only the folders being walked count.
        .require_git(in_repository)
        .parents(in_repository)
        .sort_by_file_name(OsStr::cmp)
        .filter_entry(allows)
        .build()
}

/// Orders two paths of one walk: in each folder the files before the folders, both by name.
fn files_first(one: &Path, other: &Path) -> Ordering {
    let (mut one, mut other) = (one.components().peekable(), other.components().peekable());
    loop {
        let (name, other_name) = (one.next(), other.next());
        if name != other_name {
            let is_folder = |rest: &mut Peekable<Components>| rest.peek().is_some();
            return (is_folder(&mut one), name).cmp(&(is_folder(&mut other), other_name));
        } else if name.is_none() {
            return Ordering::Equal;
        }
    }
}

/// Returns the path that a walk failed at.
fn failed_path(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } => failed_path(err),
        _ => None,
    }
}

/// Returns a path below the folder being walked.
fn relative<'a>(path: &'a Path, root: &Path) -> &'a Path {
    path.strip_prefix(root).unwrap_or(path)
}

/// Returns the absolute path of a file that is gone, below the nearest folder that still exists.
fn missing_path(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let existing =
        absolute.ancestors().find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    match existing {
        Some((folder, real)) => real.join(relative(&absolute, folder)),
        None => absolute,
    }
}

/// Returns the path with forward slashes, so that a database means the same on every system.
pub(super) fn with_slashes(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}
