//! Measures of the source tree by crate: size, function lengths, type names, doc comments; and the width of the store
//! traits.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use super::{
    SourceFile, items,
    prose::{BANNED_OPENINGS, QUESTION_WORDS, doc_openings, requirement_ids},
};
use crate::timing::nearest_rank;

/// Folder of the traits that a storage backend implements.
const STORE_FOLDER: (&str, &str) = ("everlore", "src/store/");

/// Measures of the workspace.
#[derive(Debug, Serialize)]
pub(crate) struct SourceMeasures {
    pub(crate) crates: Vec<CrateMeasures>,
    /// All crates together; here a type shares its name also with one of another crate.
    pub(crate) total: CrateMeasures,
    /// Methods of each trait of the engine's `store/`.
    pub(crate) store_traits: BTreeMap<String, usize>,
}

/// Measures of a crate, or of all.
#[derive(Debug, Default, Serialize)]
pub(crate) struct CrateMeasures {
    pub(crate) name: String,
    pub(crate) files: usize,
    /// Lines of all files, tests included.
    pub(crate) lines: usize,
    pub(crate) code_lines: usize,
    pub(crate) table_lines: usize,
    pub(crate) functions: usize,
    pub(crate) function_median: f64,
    pub(crate) function_p90: f64,
    pub(crate) function_max: f64,
    pub(crate) types: usize,
    /// Type definitions whose name another definition has too.
    pub(crate) types_sharing_a_name: usize,
    pub(crate) doc_comments: usize,
    /// Doc comments that begin with What, Whether, Who, How or Those.
    pub(crate) banned_openings: usize,
    /// Doc comments that begin with one of these or with Where, When, Which or Why.
    pub(crate) question_openings: usize,
    /// Comment lines with a requirement id.
    pub(crate) requirement_ids: usize,
}

/// Measures every crate, and all of them together.
pub(crate) fn measure(files: &[SourceFile]) -> SourceMeasures {
    let mut by_crate: BTreeMap<&str, Vec<&SourceFile>> = BTreeMap::new();
    for file in files {
        by_crate.entry(&file.crate_name).or_default().push(file);
    }
    let crates = by_crate.into_iter().map(|(name, files)| measure_crate(name, &files)).collect();
    let total = measure_crate("all", &files.iter().collect::<Vec<_>>());
    SourceMeasures { crates, total, store_traits: store_traits(files) }
}

fn measure_crate(name: &str, files: &[&SourceFile]) -> CrateMeasures {
    let mut measures =
        CrateMeasures { name: name.into(), files: files.len(), ..CrateMeasures::default() };
    let mut lengths: Vec<f64> = Vec::new();
    let mut types: HashMap<String, usize> = HashMap::new();
    for file in files {
        let tables = table_lines(&file.code);
        measures.lines += file.text.lines().count();
        measures.table_lines += tables;
        measures.code_lines += code_lines(&file.code) - tables;
        lengths.extend(items::function_lengths(&file.code).into_iter().map(|length| length as f64));
        for definition in items::type_definitions(&file.code) {
            *types.entry(definition.name).or_default() += 1;
        }
        let docs = doc_openings(&file.text, &file.masked);
        let count = |words: &[&str]| docs.iter().filter(|doc| doc.begins_with(words)).count();
        measures.doc_comments += docs.len();
        measures.banned_openings += count(&BANNED_OPENINGS);
        measures.question_openings += count(&QUESTION_WORDS);
        measures.requirement_ids += requirement_ids(&file.text, &file.masked).len();
    }
    lengths.sort_by(f64::total_cmp);
    measures.functions = lengths.len();
    measures.function_median = nearest_rank(&lengths, 0.5);
    measures.function_p90 = nearest_rank(&lengths, 0.9);
    measures.function_max = nearest_rank(&lengths, 1.0);
    measures.types = types.values().sum();
    measures.types_sharing_a_name = types.values().filter(|count| **count > 1).sum();
    measures
}

fn code_lines(code: &str) -> usize {
    code.lines().filter(|line| !line.trim().is_empty()).count()
}

/// Counts the non-blank lines of constants that are data tables.
fn table_lines(code: &str) -> usize {
    let in_tables: HashSet<usize> =
        items::tables(code).into_iter().flat_map(|(first, last)| first..=last).collect();
    let lines = code.lines().enumerate();
    lines
        .filter(|(index, line)| in_tables.contains(&(index + 1)) && !line.trim().is_empty())
        .count()
}

fn store_traits(files: &[SourceFile]) -> BTreeMap<String, usize> {
    let (crate_name, folder) = STORE_FOLDER;
    let store =
        files.iter().filter(|file| file.crate_name == crate_name && file.path.starts_with(folder));
    store.flat_map(|file| items::traits(&file.code)).map(|it| (it.name, it.methods)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_counted_without_comments_tests_and_tables() {
        let table = format!("const WORDS: [&str; 8] = [\n{}];\n", "    \"~\",\n".repeat(8));
        let text = format!(
            "//! What this is.\n\nfn f() {{\n    // why\n    g(\"two\n    lines\");\n}}\n{table}#[cfg(test)]\nmod tests {{\n    fn t() {{}}\n}}\n"
        );
        let files = [SourceFile::new("everlore", "src/store/a.rs", &text)];
        let total = measure(&files).total;
        assert_eq!((total.code_lines, total.table_lines), (4, 10));
        assert_eq!((total.functions, total.function_max), (1, 5.0));
        assert_eq!((total.doc_comments, total.banned_openings), (1, 1));
    }

    #[test]
    fn a_name_is_shared_within_a_crate_and_across_all() {
        let file = |crate_name, path, text| SourceFile::new(crate_name, path, text);
        let files = [
            file("a", "src/a.rs", "struct One;\nstruct Two;"),
            file("a", "src/b.rs", "enum Two {}\npub trait Three { fn f(); }"),
            file("b", "src/c.rs", "struct One;"),
        ];
        let measures = measure(&files);
        let shared: Vec<_> =
            measures.crates.iter().map(|it| (it.types, it.types_sharing_a_name)).collect();
        assert_eq!(shared, [(4, 2), (1, 0)]);
        assert_eq!((measures.total.types, measures.total.types_sharing_a_name), (5, 4));
    }
}
