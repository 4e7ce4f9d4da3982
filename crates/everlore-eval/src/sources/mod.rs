//! The workspace's own source as data: rules that a test enforces for every crate, and the measures of a release.

pub(crate) mod lexer;
mod items;
mod prose;
pub(crate) mod measures;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod document_names;

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context, Result, ensure};

/// Folders of a crate whose files are no product code.
const TEST_FOLDERS: [&str; 3] = ["tests", "examples", "benches"];

/// Ends of the names of files that hold nothing but tests.
const TEST_FILES: [&str; 2] = ["tests.rs", "conformance.rs"];

/// Rust file of the workspace.
pub(crate) struct SourceFile {
    /// Name of the crate's folder.
    pub(crate) crate_name: String,
    /// Path below the crate's folder, with forward slashes.
    pub(crate) path: String,
    pub(crate) text: String,
    /// Text without comments and with masked literals; lines stay.
    pub(crate) masked: String,
    /// `masked` without test items; empty for a test file.
    pub(crate) code: String,
}

impl SourceFile {
    pub(crate) fn new(crate_name: &str, path: &str, text: &str) -> Self {
        let masked = lexer::mask(text);
        let code = if is_test_path(path) { String::new() } else { lexer::without_tests(&masked) };
        Self { crate_name: crate_name.into(), path: path.into(), text: text.into(), masked, code }
    }

    /// Returns the paths that `#[cfg(test)] mod name;` in this file points to: the module's file and its folder.
    fn test_modules(&self) -> Vec<String> {
        let stem = self.path.trim_end_matches(".rs");
        let folder = ["/mod", "/lib", "/main"].iter().find_map(|root| stem.strip_suffix(root));
        let items = lexer::test_items(&self.masked).into_iter();
        let modules = items.filter_map(|range| {
            let item = self.masked[range].strip_suffix(';')?;
            item.rsplit_once("mod ").map(|(_, name)| name.trim().to_owned())
        });
        modules.map(|name| format!("{}/{name}", folder.unwrap_or(stem))).collect()
    }
}

/// Reads every Rust file below `root`: the crates in `crates/` and the fuzz targets.
pub(crate) fn read_workspace(root: &Path) -> Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    let crates = root.join("crates");
    let entries = fs::read_dir(&crates).with_context(|| {
        format!("cannot read {}: run this in the workspace or give --root", crates.display())
    })?;
    for entry in entries {
        let entry = entry?;
        read_folder(&entry.path(), &entry.file_name().to_string_lossy(), "", &mut files)?;
    }
    read_folder(&root.join("fuzz"), "fuzz", "", &mut files)?;
    ensure!(!files.is_empty(), "there are no Rust files below {}", root.display());
    let tests: BTreeSet<(String, String)> = files
        .iter()
        .flat_map(|file| {
            file.test_modules().into_iter().map(|path| (file.crate_name.clone(), path))
        })
        .collect();
    for file in &mut files {
        if tests
            .iter()
            .any(|(crate_name, path)| *crate_name == file.crate_name && is_below(&file.path, path))
        {
            file.code = String::new();
        }
    }
    files.sort_by(|a, b| (&a.crate_name, &a.path).cmp(&(&b.crate_name, &b.path)));
    Ok(files)
}

fn read_folder(
    folder: &Path,
    crate_name: &str,
    above: &str,
    files: &mut Vec<SourceFile>,
) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{above}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() && path != "target" {
            read_folder(&entry.path(), crate_name, &format!("{path}/"), files)?;
        } else if path.ends_with(".rs") {
            files.push(SourceFile::new(crate_name, &path, &fs::read_to_string(entry.path())?));
        }
    }
    Ok(())
}

fn is_test_path(path: &str) -> bool {
    let folder = path.split('/').next().unwrap_or_default();
    TEST_FOLDERS.contains(&folder) || TEST_FILES.iter().any(|end| path.ends_with(end))
}

/// Returns `true` for the file of a module and every file in its folder.
fn is_below(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_modules_are_found_by_their_attribute() {
        let text = "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod inner {}\nmod read;\n#[cfg(test)]\npub(crate) mod fakes;\n";
        let modules = |path| SourceFile::new("everlore", path, text).test_modules();
        assert_eq!(modules("src/config/mod.rs"), ["src/config/tests", "src/config/fakes"]);
        assert_eq!(modules("src/lib.rs"), ["src/tests", "src/fakes"]);
        assert_eq!(modules("src/pack.rs"), ["src/pack/tests", "src/pack/fakes"]);
        assert!(
            is_below("src/fakes/clock.rs", "src/fakes") && is_below("src/fakes.rs", "src/fakes")
        );
        assert!(!is_below("src/fakes_list.rs", "src/fakes"));
    }

    #[test]
    fn test_code_is_no_code() {
        let text = "fn a() {}\n#[cfg(all(test, unix))]\nmod tests {\n fn b() { if true {} }\n}\nfn c() {}\n";
        assert_eq!(SourceFile::new("everlore", "src/a.rs", text).code, "fn a() {}\n\nfn c() {}\n");
        assert_eq!(SourceFile::new("everlore", "tests/it/a.rs", text).code, "");
        assert_eq!(SourceFile::new("everlore", "src/a/tests.rs", text).code, "");
    }
}
