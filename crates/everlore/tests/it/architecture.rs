//! Checks the arrows between the engine's modules.
//!
//! `types ◀ config ◀ text ◀ { llm, files ◀ store } ◀ embed ◀ { ingest, recall, upkeep, growth } ◀ prompt ◀ engine ◀ tools ◀
//! chat`, after `error` and `sync`: a module uses modules to its left, never modules to its right or beside it. Only
//! `store` names its database. Test code is exempt. The other rules are in `crates/everlore-eval/src/sources/rules.rs`.

#[path = "../../../everlore-eval/src/sources/lexer.rs"]
mod lexer;

use std::{collections::BTreeSet, fs, path::Path};

use lexer::{is_name_char, mask, test_items, without_tests};

/// Modules that each module may use, besides itself. `lib` is the root of the crate: it names everything.
const MAY_USE: [(&str, &[&str]); 19] = [
    ("error", &[]),
    ("sync", &["error"]),
    ("types", &["error", "sync"]),
    ("config", &["error", "sync", "types"]),
    ("text", &["error", "sync", "config", "types"]),
    ("store", &["error", "sync", "config", "types", "text", "files"]),
    ("llm", &["error", "sync", "config", "types", "text"]),
    ("files", &["error", "sync", "config", "types", "text"]),
    ("embed", &["error", "sync", "config", "types", "text", "store", "llm"]),
    ("ingest", STEP),
    ("recall", STEP),
    ("upkeep", STEP),
    ("growth", STEP),
    ("prompt", &["types", "text", "files", "recall"]),
    ("engine", ANY),
    ("tools", ANY),
    ("chat", CONVERSATION),
    ("internal", ANY),
    ("lib", ANY),
];

/// Modules that the write path, the read path and the work between turns may use.
const STEP: &[&str] =
    &["error", "sync", "config", "types", "text", "store", "llm", "files", "embed"];

const ANY: &[&str] = &[
    "error", "sync", "config", "types", "text", "store", "llm", "files", "embed", "ingest",
    "recall", "upkeep", "growth", "prompt", "engine",
];

/// A conversation stands on everything, the tools included.
const CONVERSATION: &[&str] = &[
    "error", "sync", "config", "types", "text", "llm", "files", "ingest", "recall", "prompt",
    "engine", "tools", "store",
];

/// Tools that imitate other systems. Only their registry, `tools/mod.rs`, names them, so that they can be left out.
const COMPAT: [&str; 2] = ["tools", "compat"];

/// Names of the database, which only the engine's `store` uses: everything above opens a store by its address.
const DATABASE_NAMES: [&str; 3] = ["SqliteStore", "rusqlite", "sqlite::"];

/// Crates whose sources must not name the database.
const ABOVE_THE_STORE: [&str; 3] = ["everlore", "everlore-server", "everlore-cli"];

/// Most methods of a facet of the store; each is written once for every backend.
const MAX_FACET_METHODS: usize = 8;

/// Keys of rows: a facet takes many of them at once, because each call may be a round trip to another machine.
const ROW_KEYS: [&str; 5] = ["MemoryId", "MemoryKey", "DocAddress", "Fingerprint", "TermHash"];

/// Names of files that hold nothing but tests end like this.
const TEST_FILES: [&str; 2] = ["tests.rs", "conformance.rs"];

/// Result of a check that finds nothing.
const NONE: [&str; 0] = [];

#[test]
fn modules_use_only_what_the_arrows_allow() {
    assert_none(forbidden_uses);
}

#[test]
fn only_the_registry_names_the_tools_of_other_systems() {
    assert_none(compat_uses);
}

#[test]
fn only_the_store_names_its_database() {
    for name in ABOVE_THE_STORE {
        let all = sources_of(name);
        let violations: Vec<String> = all.iter().flat_map(database_uses).collect();
        assert!(violations.is_empty(), "{name}:\n{}\n", violations.join("\n"));
    }
}

#[test]
fn facets_of_the_store_are_small_and_take_batches() {
    let is_facet = |file: &&RustSource| file.module().len() == 2 && file.module()[0] == "store";
    let all = sources_of("everlore");
    let traits: Vec<_> =
        all.iter().filter(is_facet).flat_map(|file| traits_in(&file.code)).collect();
    assert!(traits.len() >= 10, "the facets were not found: {}", traits.len());
    let violations: Vec<String> = traits.into_iter().flat_map(facet_faults).collect();
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

/// Source file of a crate.
struct RustSource {
    /// Path below `src`, with forward slashes.
    path: String,
    /// Text without comments and with masked literals.
    masked: String,
    /// `masked` without test items.
    code: String,
}

impl RustSource {
    fn new(path: &str, text: &str) -> Self {
        let is_test = TEST_FILES.iter().any(|end| path.ends_with(end));
        let masked = mask(text);
        let code = if is_test { String::new() } else { without_tests(&masked) };
        Self { path: path.to_owned(), masked, code }
    }

    /// Returns the modules that lead to this file: `recall`, `score` for `recall/score.rs`.
    fn module(&self) -> Vec<&str> {
        let path = self.path.trim_end_matches(".rs");
        path.trim_end_matches("/mod").split('/').collect()
    }
}

fn assert_none(check: impl Fn(&RustSource) -> Vec<String>) {
    let violations: Vec<String> = sources_of("everlore").iter().flat_map(check).collect();
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

fn forbidden_uses(file: &RustSource) -> Vec<String> {
    let module = file.module();
    let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == module[0]) else {
        return vec![format!(
            "{}: module `{}` has no place in the arrows; add it to MAY_USE",
            file.path, module[0]
        )];
    };
    let known = |name: &String| MAY_USE.iter().any(|(known, _)| known == name);
    used_modules(&file.code, &module)
        .into_iter()
        .filter(|used| known(used) && used != module[0] && !allowed.contains(&used.as_str()))
        .map(|used| format!("{}: `{}` may not use `{used}`", file.path, module[0]))
        .collect()
}

fn compat_uses(file: &RustSource) -> Vec<String> {
    let [tools, compat] = COMPAT;
    let module = file.module();
    let is_exempt = module == [tools] || module.starts_with(&COMPAT);
    let mut used = first_names(&file.code, &format!("crate::{tools}::"));
    if module[0] == tools {
        used.extend(first_names(&file.code, &"super::".repeat(module.len() - 1)));
    }
    let message = || format!("{}: only `{tools}/mod.rs` names `{compat}`", file.path);
    (!is_exempt && used.contains(compat)).then(message).into_iter().collect()
}

fn database_uses(file: &RustSource) -> Vec<String> {
    let is_named = |name: &&&str| {
        let mut found = file.code.match_indices(**name);
        found.any(|(at, _)| !file.code[..at].ends_with(is_name_char))
    };
    let is_exempt = file.module()[0] == "store";
    let named = DATABASE_NAMES.iter().filter(|name| !is_exempt && is_named(name));
    named.map(|name| format!("{}: only `store` names `{name}`", file.path)).collect()
}

/// Returns the name and the body of each public trait.
fn traits_in(code: &str) -> Vec<(String, &str)> {
    let starts = code.match_indices("pub trait ").map(|(at, found)| &code[at + found.len()..]);
    let body = |rest: &'_ str| rest.find("\n}").unwrap_or(rest.len());
    starts.map(|rest| (name(rest), &rest[..body(rest)])).collect()
}

/// Returns the faults of a facet: too many methods, a default, or a parameter that is a single key.
fn facet_faults((facet, body): (String, &str)) -> Vec<String> {
    let methods: Vec<&str> = body.split("fn ").skip(1).collect();
    let mut faults = Vec::new();
    if methods.len() > MAX_FACET_METHODS && facet != "Store" {
        faults.push(format!("{facet}: {} methods", methods.len()));
    }
    for method in methods {
        let signature = method.split(';').next().unwrap_or_default();
        if signature.contains('{') {
            faults.push(format!("{facet}::{}: a default", name(signature)));
        }
        let parameters = signature.split("->").next().unwrap_or_default();
        let is_single = |key: &&&str| {
            parameters.contains(&format!(": {key}")) || parameters.contains(&format!(": &{key}"))
        };
        let single = ROW_KEYS.iter().filter(is_single);
        faults.extend(single.map(|key| format!("{facet}::{}: one {key}", name(signature))));
    }
    faults
}

/// Returns the modules at the root of the crate that `code` names, by `crate::` or by enough `super::`.
fn used_modules(code: &str, module: &[&str]) -> BTreeSet<String> {
    let to_root = "super::".repeat(module.len());
    first_names(code, "crate::").into_iter().chain(first_names(code, &to_root)).collect()
}

/// Returns the names that directly follow `prefix`, one by one or in braces.
fn first_names(code: &str, prefix: &str) -> BTreeSet<String> {
    let starts = code.match_indices(prefix).filter(|(at, _)| !code[..*at].ends_with(is_name_char));
    starts.flat_map(|(at, _)| names_at(&code[at + prefix.len()..])).collect()
}

fn names_at(rest: &str) -> Vec<String> {
    match rest.trim_start().strip_prefix('{') {
        Some(group) => top_level_parts(group).iter().map(|part| name(part)).collect(),
        None => vec![name(rest)],
    }
}

fn name(text: &str) -> String {
    text.trim_start().chars().take_while(|c| is_name_char(*c)).collect()
}

/// Splits the text after an opening brace at the commas that no inner brace holds, up to the closing one.
fn top_level_parts(group: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            ',' if depth == 0 => parts.push(String::new()),
            _ => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                parts.last_mut().unwrap().push(c);
            }
        }
    }
    parts
}

/// Returns every source file of a crate but those that hold only tests.
fn sources_of(name: &str) -> Vec<RustSource> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
    let mut all = Vec::new();
    collect(&root, "", &mut all);
    let tests: BTreeSet<String> = all.iter().flat_map(test_files).collect();
    all.retain(|file| !tests.contains(&file.path));
    assert!(all.len() > 5, "the sources were not found below {}", root.display());
    all
}

fn collect(folder: &Path, above: &str, all: &mut Vec<RustSource>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = format!("{above}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{path}/"), all);
        } else if path.ends_with(".rs") {
            all.push(RustSource::new(&path, &fs::read_to_string(entry.path()).unwrap()));
        }
    }
}

/// Returns the files that `#[cfg(test)] mod name;` in this file points to.
fn test_files(file: &RustSource) -> Vec<String> {
    let module = file.module().join("/");
    let items = test_items(&file.masked).into_iter();
    let modules = items.filter_map(|item| {
        let (_, name) = file.masked[item].strip_suffix(';')?.rsplit_once("mod ")?;
        Some(format!("{module}/{}.rs", name.trim()))
    });
    modules.collect()
}

fn uses(path: &str, text: &str) -> Vec<String> {
    forbidden_uses(&RustSource::new(path, text))
}

#[test]
fn a_sibling_is_caught_however_it_is_written() {
    let expected = ["recall/score.rs: `recall` may not use `ingest`"];
    let samples = [
        "use crate::ingest::gate;",
        "use crate::{error::Error, ingest::{gate, buffer}};",
        "use crate::{\n    types::{Memory, Kind},\n    ingest,\n};",
        "pub(crate) use crate::ingest as other;",
        "fn f() { crate::ingest::run() }",
        "use super::super::ingest::gate;",
        "fn f<'a>(c: char) -> bool { c == '\"' && crate::ingest::is(\"x\") }",
    ];
    for sample in samples {
        assert_eq!(uses("recall/score.rs", sample), expected, "{sample}");
    }
}

#[test]
fn an_arrow_against_the_order_is_caught_at_every_step() {
    let cases = [
        ("types/memory.rs", "text"),
        ("config/mod.rs", "text"),
        ("error.rs", "types"),
        ("text/mod.rs", "store"),
        ("store/sqlite/rows.rs", "recall"),
        ("store/mod.rs", "llm"),
        ("store/mod.rs", "embed"),
        ("llm/mod.rs", "embed"),
        ("files/vault.rs", "store"),
        ("embed/backfill.rs", "recall"),
        ("upkeep/weight.rs", "ingest"),
        ("upkeep.rs", "engine"),
        ("engine/mod.rs", "tools"),
    ];
    for (path, used) in cases {
        assert_eq!(uses(path, &format!("use crate::{used}::x;")).len(), 1, "{path} uses {used}");
    }
}

#[test]
fn uses_along_the_arrows_pass() {
    let fine = "use crate::{config::RecallConfig, error::Result};\nuse crate::store::Store;\nuse super::fuse;";
    assert_eq!(uses("recall/score.rs", fine), NONE);
    assert_eq!(uses("recall/gather.rs", "use crate::embed::CachedEmbedder;"), NONE);
    assert_eq!(uses("engine.rs", "use crate::{recall, ingest, embed, upkeep};"), NONE);
    assert_eq!(uses("tools/save.rs", "use crate::{engine::Engine, ingest::Edit};"), NONE);
    assert_eq!(uses("tools/compat/graph.rs", "use crate::engine::Engine;"), NONE);
}

#[test]
fn a_tool_of_another_system_is_named_by_the_registry_alone() {
    let check = |path: &str, text: &str| compat_uses(&RustSource::new(path, text)).len();
    assert_eq!(check("tools/recall.rs", "use super::compat::graph;"), 1);
    assert_eq!(check("tools/fs/list.rs", "use super::super::{compat, fs};"), 1);
    assert_eq!(check("chat/mod.rs", "use crate::tools::{compat::search, ToolRegistry};"), 1);
    assert_eq!(check("tools/mod.rs", "mod compat;\nuse self::compat::graph;"), 0);
    assert_eq!(
        check("tools/compat/search.rs", "use super::graph;\nuse crate::tools::compat::graph;"),
        0
    );
    assert_eq!(check("tools/recall.rs", "use super::ToolContext;"), 0);
}

#[test]
fn the_database_is_named_below_the_store_alone() {
    let check = |path: &str, text: &str| database_uses(&RustSource::new(path, text)).len();
    assert_eq!(check("engine/builder.rs", "use crate::store::{SqliteStore, Store};"), 1);
    assert_eq!(check("engine/mod.rs", "use crate::store::sqlite::SCHEMA_VERSION;"), 1);
    assert_eq!(check("doctor.rs", "fn f() -> rusqlite::Result<()> {}"), 1);
    assert_eq!(check("store/sqlite/open.rs", "use rusqlite::Connection;"), 0);
    assert_eq!(check("store/mod.rs", "pub use sqlite::SqliteStore;"), 0);
    assert_eq!(
        check("engine/builder.rs", "/// See `SqliteStore`.\nconst A: &str = \"rusqlite\";"),
        0
    );
}

#[test]
fn a_facet_that_takes_one_key_or_has_a_default_is_caught() {
    let faults = |body: &str| {
        let code = format!("pub trait Facet: Send {{\n{body}\n}}\n");
        traits_in(&code).into_iter().flat_map(facet_faults).collect::<Vec<_>>()
    };
    assert_eq!(faults("    async fn get(&self, id: MemoryId) -> A;"), ["Facet::get: one MemoryId"]);
    assert_eq!(faults("    async fn get(&self, k: &MemoryKey);"), ["Facet::get: one MemoryKey"]);
    assert_eq!(faults("    fn get(&self) -> A { A }"), ["Facet::get: a default"]);
    assert_eq!(faults(&"    fn get(&self);\n".repeat(9)), ["Facet: 9 methods"]);
    let fine =
        "    async fn get(&self, ids: &[MemoryId], after: Option<MemoryId>) -> Vec<MemoryId>;";
    assert_eq!(faults(fine), NONE);
}

#[test]
fn comments_texts_and_test_code_are_exempt() {
    let exempt = r##"
        //! See [`crate::recall`].
        /* crate::recall */
        const TEXT: &str = "crate::recall \" crate::recall";
        const RAW: &str = r#"crate::recall "quoted" crate::recall"#;
        #[cfg(test)]
        use crate::recall::x;
        #[cfg(test)]
        mod tests { use crate::recall::{a, b}; fn f() { if true {} } }
    "##;
    assert_eq!(uses("store/mod.rs", exempt), NONE);
    assert_eq!(
        uses("store/mod.rs", &format!("{exempt}use crate::recall;")).len(),
        1,
        "code after tests is not"
    );
}

#[test]
fn a_module_without_a_place_is_caught() {
    assert_eq!(uses("util.rs", "").len(), 1);
}

#[test]
fn a_file_of_tests_is_found_by_its_mark() {
    let text = "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod inner {}\nmod read;\n";
    assert_eq!(test_files(&RustSource::new("config/mod.rs", text)), ["config/tests.rs"]);
}
