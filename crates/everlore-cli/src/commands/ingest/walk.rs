//! Which files are meant: those that were named, and those in the folders that were.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use super::{glob::Glob, ignore::Ignore};
use crate::error::CliError;

/// Folders that hold what programs made or fetched.
const NEVER_WALKED: [&str; 4] = ["node_modules", "target", "__pycache__", "venv"];

/// What to leave out.
pub(super) struct Choice {
    include: Vec<Glob>,
    exclude: Vec<Glob>,
    /// The folder of our own files.
    home: Option<PathBuf>,
}

impl Choice {
    /// Files that fit one of `include`, if there are any, and none of `exclude`.
    pub(super) fn new(include: Vec<Glob>, exclude: Vec<Glob>, home: &Path) -> Self {
        Self { include, exclude, home: home.canonicalize().ok() }
    }

    fn lets_through(&self, path: &str) -> bool {
        let fits = |globs: &[Glob]| globs.iter().any(|glob| glob.fits(path));
        (self.include.is_empty() || fits(&self.include)) && !fits(&self.exclude)
    }
}

/// A file to ingest.
#[derive(Debug)]
pub(super) struct File {
    /// Where it is.
    pub(super) path: PathBuf,
    /// What it is known by: the whole path, with forward slashes, so that it is the same from wherever it is named.
    pub(super) id: String,
    /// What it is called in answers: as it was named.
    pub(super) shown: String,
    /// Whether it was named itself, and not only its folder.
    pub(super) named: bool,
}

/// What was found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) files: Vec<File>,
    /// What cannot be read, by name.
    pub(super) failures: Vec<(String, CliError)>,
    /// What was named: its id, and how it was written.
    roots: Vec<(String, String)>,
    seen: BTreeSet<String>,
}

/// A folder being walked.
struct Folder {
    path: PathBuf,
    shown: String,
    /// The path below what was named, ending with a slash unless it is empty.
    inner: String,
    /// The rules of the folders above, each with the length of the inner path it counts from.
    ignores: Vec<(usize, Ignore)>,
}

impl Found {
    /// Looks for files at and below these paths. With `may_be_gone`, one that is not there is no failure.
    pub(super) fn below(paths: &[PathBuf], choice: &Choice, may_be_gone: bool) -> Self {
        let mut found = Self::default();
        for path in paths {
            let shown = slashed(path);
            match path.canonicalize() {
                Ok(whole) => found.named(whole, &shown, choice),
                Err(error) if error.kind() == io::ErrorKind::NotFound && may_be_gone => {
                    found.roots.push((slashed(&gone_path(path)), shown));
                }
                Err(error) => found.fail(shown, error),
            }
        }
        found
    }

    /// How a document below what was named is called, if its file is gone.
    pub(super) fn gone(&self, id: &str) -> Option<String> {
        let below = |(root, shown): &(String, String)| {
            let rest = id.strip_prefix(root.trim_end_matches('/'))?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{shown}{rest}"))
        };
        let shown = self.roots.iter().find_map(below)?;
        let gone =
            fs::symlink_metadata(id).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        gone.then_some(shown)
    }

    fn fail(&mut self, shown: String, error: io::Error) {
        self.failures.push((shown, CliError::io("reading it", error)));
    }

    fn named(&mut self, path: PathBuf, shown: &str, choice: &Choice) {
        let shown = shown.trim_end_matches('/').to_owned();
        self.roots.push((slashed(&path), shown.clone()));
        if !path.is_dir() {
            let name = path.file_name().map(|name| slashed(Path::new(name))).unwrap_or_default();
            if choice.lets_through(&name) {
                self.push(path, shown, true);
            }
            return;
        }
        let mut folders = vec![Folder { path, shown, inner: String::new(), ignores: Vec::new() }];
        while let Some(folder) = folders.pop() {
            folders.extend(self.walk(folder, choice));
        }
    }

    fn push(&mut self, path: PathBuf, shown: String, named: bool) {
        let id = slashed(&path);
        if self.seen.insert(id.clone()) {
            self.files.push(File { path, id, shown, named });
        }
    }

    /// Takes the files of a folder and returns the folders in it, the last first.
    fn walk(&mut self, mut folder: Folder, choice: &Choice) -> Vec<Folder> {
        let entries = match sorted_entries(&folder.path) {
            Ok(entries) => entries,
            Err(error) => {
                self.fail(folder.shown, error);
                return Vec::new();
            }
        };
        if let Ok(text) = fs::read_to_string(folder.path.join(".gitignore")) {
            folder.ignores.push((folder.inner.len(), Ignore::parse(&text)));
        }
        let mut inside = Vec::new();
        for (name, kind) in entries {
            let inner = format!("{}{name}", folder.inner);
            let path = folder.path.join(&name);
            let shown = format!("{}/{name}", folder.shown);
            if name.starts_with('.') || folder.leaves_out(&inner, kind.is_dir()) {
                continue;
            }
            if kind.is_dir() && folder.may_walk(&path, &name, &inner, choice) {
                let inner = format!("{inner}/");
                inside.push(Folder { path, shown, inner, ignores: folder.ignores.clone() });
            } else if kind.is_file() && choice.lets_through(&inner) {
                self.push(path, shown, false);
            }
        }
        inside.reverse();
        inside
    }
}

impl Folder {
    /// Whether the innermost `.gitignore` that is about the path leaves it out.
    fn leaves_out(&self, inner: &str, is_folder: bool) -> bool {
        let judge =
            |(from, ignore): &(usize, Ignore)| ignore.leaves_out(&inner[*from..], is_folder);
        self.ignores.iter().rev().find_map(judge).unwrap_or(false)
    }

    fn may_walk(&self, path: &Path, name: &str, inner: &str, choice: &Choice) -> bool {
        !NEVER_WALKED.contains(&name)
            && !choice.exclude.iter().any(|glob| glob.fits(inner))
            && choice.home.as_deref() != Some(path)
    }
}

/// The names in a folder with what they are; links are not followed.
fn sorted_entries(folder: &Path) -> io::Result<Vec<(String, fs::FileType)>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // A name that is no text can be named by nobody later.
        if let Ok(name) = entry.file_name().into_string() {
            entries.push((name, entry.file_type()?));
        }
    }
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(entries)
}

/// Where a path that is gone was: below the nearest folder that is still there.
fn gone_path(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let above = whole.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    match above {
        Some((above, real)) => real.join(whole.strip_prefix(above).unwrap_or(Path::new(""))),
        None => whole,
    }
}

/// The path with forward slashes, so that a database means the same on every system.
fn slashed(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}
