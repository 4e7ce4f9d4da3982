//! `sources`: measures of the workspace's own source.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::{
    sources::{
        self,
        measures::{CrateMeasures, SourceMeasures},
    },
    table,
};

/// Measure the source tree: size, function lengths, type names, doc comments, store traits
///
/// Rules, the same for every crate in crates/ and for fuzz/:
///
/// code: lines outside tests that are neither blank nor comment, without constants (const, static) of 9 lines and more,
/// which are counted as tables. Lines of literals are code.
///
/// tests: items under #[cfg(test)] or #[cfg(all(test, …))], modules that such an item declares, files named *tests.rs or
/// *conformance.rs, and the folders tests/, examples/ and benches/ of a crate.
///
/// functions: lines from `fn` to the closing brace, outside tests; closures belong to their function. Median and p90 by
/// nearest rank.
///
/// types: definitions of struct, enum, trait, union and type alias outside tests; associated types are left out. A
/// definition shares its name if the same crate has another definition of that name; in the row "all", if any crate
/// has.
///
/// doc comments: blocks of /// or //! lines, tests included, counted once each. "banned" is the number of those that
/// begin with What, Whether, Who, How or Those, "questions" of those that begin with these or with Where, When, Which or
/// Why. "ids" are comment lines with a requirement id, a letter and a number.
///
/// store traits: methods declared by each trait in crates/everlore/src/store.
#[derive(Args)]

pub(crate) struct SourcesArgs {
    /// Root of the workspace to measure
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    root: PathBuf,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &SourcesArgs) -> Result<()> {
    let measures = sources::measures::measure(&sources::read_workspace(&args.root)?);
    if args.json {
        println!("{}", serde_json::to_string_pretty(&measures)?);
    } else {
        print_tables(&measures);
    }
    Ok(())
}

fn print_tables(measures: &SourceMeasures) {
    let head = [
        "crate",
        "files",
        "lines",
        "code",
        "tables",
        "functions",
        "median / p90 / max",
        "types",
        "sharing a name",
        "doc comments",
        "banned",
        "questions",
        "ids",
    ];
    let rows: Vec<_> = measures.crates.iter().chain([&measures.total]).map(crate_row).collect();
    println!("{}", table::render(&head, &rows));
    let traits = measures.store_traits.iter();
    let rows: Vec<_> =
        traits.map(|(name, methods)| vec![name.clone(), methods.to_string()]).collect();
    println!("{}", table::render(&["store trait", "methods"], &rows));
}

fn crate_row(measures: &CrateMeasures) -> Vec<String> {
    let lengths = [measures.function_median, measures.function_p90, measures.function_max];
    let lengths = lengths.map(|length| format!("{length:.0}")).join(" / ");
    let share = |count: usize, total: usize| {
        format!("{count} ({:.1}%)", 100.0 * count as f64 / total.max(1) as f64)
    };
    vec![
        measures.name.clone(),
        measures.files.to_string(),
        measures.lines.to_string(),
        measures.code_lines.to_string(),
        measures.table_lines.to_string(),
        measures.functions.to_string(),
        lengths,
        measures.types.to_string(),
        share(measures.types_sharing_a_name, measures.types),
        measures.doc_comments.to_string(),
        share(measures.banned_openings, measures.doc_comments),
        share(measures.question_openings, measures.doc_comments),
        measures.requirement_ids.to_string(),
    ]
}
