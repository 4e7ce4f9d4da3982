//! Rules for documents: every path and every name of code that ARCHITECTURE.md, CONTRIBUTING.md and module docs give
//! exists, and every flow that ARCHITECTURE.md lists has its steps in the docs of its module.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::{SourceFile, items, lexer::is_name_char, read_workspace};

/// Documents of the workspace that name files and types.
const DOCUMENTS: [&str; 2] = ["ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Folders that paths in documents and module docs start from.
const BASES: [&str; 3] = ["", "crates/everlore/src", "crates/everlore"];

/// Ends of file names without a folder.
const EXTENSIONS: [&str; 5] = [".rs", ".md", ".toml", ".sql", ".sh"];

/// Beginnings of paths that are not in this repository: routes, and files in a user's home folder.
const FOREIGN_PATHS: [&str; 2] = ["/", "HOME/"];

/// Names of the standard library that documents use.
const STANDARD_NAMES: [&str; 1] = ["Debug"];

/// Heading of the table of flows in ARCHITECTURE.md.
const FLOWS_HEADING: &str = "## Other flows";

/// Beginning of the first step of a flow in a module doc.
const FIRST_STEP: &str = "//! 1. ";

/// Result of a rule that finds nothing.
const NONE: [&str; 0] = [];

/// Names that the workspace defines.
struct DefinedNames {
    types: BTreeSet<String>,
    functions_and_modules: BTreeSet<String>,
}

impl DefinedNames {
    fn of(files: &[SourceFile]) -> Self {
        let types = files.iter().flat_map(|file| items::type_definitions(&file.masked));
        let functions = files.iter().flat_map(|file| function_names(&file.masked));
        let modules = files.iter().flat_map(|file| file.path.trim_end_matches(".rs").split('/'));
        Self {
            types: types.map(|definition| definition.name).collect(),
            functions_and_modules: functions.chain(modules.map(str::to_owned)).collect(),
        }
    }

    /// Returns `true` if a code span such as `Engine::recall` or `WriteBatch` names no missing type and no missing
    /// function. Other spans are no names of code.
    fn define(&self, span: &str) -> bool {
        let segments: Vec<&str> = span.split("::").collect();
        let is_name = |name: &&str| !name.is_empty() && name.chars().all(is_name_char);
        if !segments.iter().all(is_name) || STANDARD_NAMES.contains(&span) {
            return true;
        }
        let (last, path) = segments.split_last().unwrap();
        let types_exist =
            segments.iter().filter(|name| is_type(name)).all(|name| self.types.contains(*name));
        let is_in_module = !path.is_empty() && last.starts_with(char::is_lowercase);
        types_exist && (!is_in_module || self.functions_and_modules.contains(*last))
    }
}

/// Returns `true` for a name such as `Engine`; names of constants have no lower-case letters.
fn is_type(name: &str) -> bool {
    name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
}

fn function_names(masked: &str) -> Vec<String> {
    let starts =
        masked.match_indices("fn ").filter(|(at, _)| !masked[..*at].ends_with(is_name_char));
    let name = |(at, _): (usize, &str)| {
        masked[at + 3..].chars().take_while(|c| is_name_char(*c)).collect()
    };
    starts.map(name).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// Returns the code spans and link targets of Markdown outside of fences.
fn spans(text: &str) -> Vec<&str> {
    let prose: Vec<&str> = text.split("```").step_by(2).collect();
    let code = prose.iter().flat_map(|part| part.split('`').skip(1).step_by(2));
    let links = prose.iter().flat_map(|part| part.split("](").skip(1));
    code.chain(links.filter_map(|rest| rest.split(')').next())).collect()
}

/// Returns `true` if a span names a file or a folder of the repository.
fn is_path(span: &str) -> bool {
    let is_plain = span.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
    let is_foreign = FOREIGN_PATHS.iter().any(|start| span.starts_with(start));
    is_plain
        && !is_foreign
        && (span.contains('/') || EXTENSIONS.iter().any(|end| span.ends_with(end)))
}

/// Lists the paths in a text that exist below none of these folders.
fn missing_paths(text: &str, bases: &[PathBuf]) -> Vec<String> {
    let is_missing =
        |span: &&str| is_path(span) && !bases.iter().any(|base| base.join(span).exists());
    spans(text).into_iter().filter(is_missing).map(str::to_owned).collect()
}

fn document_bases() -> Vec<PathBuf> {
    BASES.iter().map(|base| root().join(base)).collect()
}

/// Returns the folders that paths in the module doc of a file start from.
fn module_bases(file: &SourceFile) -> Vec<PathBuf> {
    let crates = if file.crate_name == "fuzz" { root() } else { root().join("crates") };
    let folder = crates.join(&file.crate_name);
    let path = folder.join(&file.path);
    let own =
        [path.with_extension(""), path.parent().unwrap().to_owned(), folder.join("src"), folder];
    own.into_iter().chain(document_bases()).collect()
}

/// Returns the module doc of a file as Markdown.
fn module_doc(file: &SourceFile) -> String {
    let lines = file.text.lines().filter_map(|line| line.strip_prefix("//!"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Lists the missing Rust files and methods that a module doc names.
fn stale_module_doc(file: &SourceFile, defined: &DefinedNames) -> Vec<String> {
    let doc = module_doc(file);
    let files =
        missing_paths(&doc, &module_bases(file)).into_iter().filter(|path| path.ends_with(".rs"));
    let methods =
        spans(&doc).into_iter().filter(|span| span.contains("::") && !defined.define(span));
    let stale = files.chain(methods.map(str::to_owned));
    stale.map(|name| format!("{}/{}: there is no `{name}`", file.crate_name, file.path)).collect()
}

fn assert_none(violations: &[String]) {
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

#[test]
fn every_path_in_a_document_exists() {
    let missing = |name: &str| {
        let paths = missing_paths(&document(name), &document_bases()).into_iter();
        paths.map(|path| format!("{name}: there is no `{path}`")).collect::<Vec<_>>()
    };
    assert_none(&DOCUMENTS.into_iter().flat_map(missing).collect::<Vec<_>>());
}

#[test]
fn every_type_and_function_in_a_document_exists() {
    let defined = DefinedNames::of(&read_workspace(&root()).unwrap());
    let missing = |name: &str| {
        let text = document(name);
        let names = spans(&text).into_iter().filter(|span| !defined.define(span));
        names.map(|span| format!("{name}: there is no `{span}`")).collect::<Vec<_>>()
    };
    assert_none(&DOCUMENTS.into_iter().flat_map(missing).collect::<Vec<_>>());
}

#[test]
fn every_file_and_method_in_a_module_doc_exists() {
    let files = read_workspace(&root()).unwrap();
    let defined = DefinedNames::of(&files);
    let stale = files.iter().flat_map(|file| stale_module_doc(file, &defined));
    assert_none(&stale.collect::<Vec<_>>());
}

#[test]
fn every_flow_has_its_steps_in_the_docs_of_its_module() {
    let text = document(DOCUMENTS[0]);
    let flows = text.split_once(FLOWS_HEADING).unwrap().1.split("\n## ").next().unwrap();
    let modules: Vec<&str> =
        spans(flows).into_iter().filter(|span| span.ends_with(".rs")).collect();
    assert!(modules.len() > 10, "{modules:?}");
    let has_steps = |module: &str| {
        let files = document_bases().into_iter().map(|base| base.join(module));
        files.filter_map(|path| fs::read_to_string(path).ok()).any(|text| text.contains(FIRST_STEP))
    };
    let missing = modules.into_iter().filter(|module| !has_steps(module));
    assert_none(
        &missing
            .map(|module| format!("{module}: no step begins with `{FIRST_STEP}`"))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn paths_are_distinguished_from_other_spans() {
    for path in ["engine/mod.rs", "README.md", "docs/fs.md", "crates/", ".ci/run"] {
        assert!(is_path(path), "{path}");
    }
    for other in
        ["/v1/turns", "HOME/hooks/", "make docs", "recall", "//!", "Engine::open", ".tools"]
    {
        assert!(!is_path(other), "{other}");
    }
    let text =
        "see `engine/none.rs` and [it](docs/none.md)\n```\n`none/none.rs`\n```\nand `README.md`";
    assert_eq!(missing_paths(text, &document_bases()), ["engine/none.rs", "docs/none.md"]);
}

#[test]
fn names_that_nothing_defines_are_caught() {
    let file = |text: &str| SourceFile::new("everlore", "src/store/mod.rs", text);
    let defined =
        DefinedNames::of(&[file("struct Engine;\nimpl Engine { fn recall() {} }\nmod store {}")]);
    for span in ["Engine", "Engine::recall", "store", "a b", "MAX_LINES", "Debug", "recall: x"] {
        assert!(defined.define(span), "{span}");
    }
    for span in ["Desk", "Engine::tell", "Desk::recall", "store::tell"] {
        assert!(!defined.define(span), "{span}");
    }
    let doc = "//! `Engine::recall` (`plan/mod.rs`, `tell.rs`)\n//! and `Engine::tell`.";
    let stale = "everlore/src/store/mod.rs: there is no ";
    let expected = [format!("{stale}`tell.rs`"), format!("{stale}`Engine::tell`")];
    assert_eq!(stale_module_doc(&file(doc), &defined), expected);
    assert_eq!(stale_module_doc(&file("//! `super::Thing` is no method."), &defined).len(), 1);
    assert_eq!(stale_module_doc(&file("//! Purpose."), &defined), NONE);
}
