//! Failures derived from codes: compiler codes, SQL states and HTTP status name a failure without any wording.

use std::sync::LazyLock;

use regex::Regex;

use super::{Failure, Identity, Rank};
use crate::text::error_signature::{CodeKind, ErrorCode, names};

/// A failure derived from a code.
pub(super) struct Derived {
    /// Failure that the code names.
    pub(super) failure: Failure,
    strong: bool,
}

impl Derived {
    /// Returns whether the code outweighs an entry of `rank`: a compiler's or database's own code yields only to a
    /// special case, an HTTP status to anything but a general wording.
    pub(super) fn beats(&self, rank: Rank) -> bool {
        if self.strong { rank < Rank::Particular } else { rank == Rank::General }
    }
}

impl Failure {
    /// Makes a failure without relatives.
    fn lone(name: String, identity: Identity) -> Self {
        Self { group: name.clone(), name, identity }
    }
}

/// Returns the failure that the first telling code names.
pub(super) fn derive(codes: &[ErrorCode], kernel: &str) -> Option<Derived> {
    [
        CodeKind::Rustc,
        CodeKind::TypeScript,
        CodeKind::SqlState,
        CodeKind::MySql,
        CodeKind::Http,
        CodeKind::Named,
    ]
    .into_iter()
    .find_map(|kind| from_kind(kind, codes, kernel))
}

fn from_kind(kind: CodeKind, codes: &[ErrorCode], kernel: &str) -> Option<Derived> {
    let code = codes.iter().find(|code| code.kind == kind)?;
    let value = code.value.to_lowercase();
    match kind {
        CodeKind::Rustc => Some(Derived {
            failure: compiler(format!("rustc-{value}"), &RUSTC_NAMED, &RUSTC_WORDED, kernel),
            strong: true,
        }),
        CodeKind::TypeScript => {
            Some(Derived { failure: type_script(&value, kernel), strong: true })
        }
        CodeKind::SqlState => sql(&SQL_STATES, &value),
        CodeKind::MySql => sql(&MYSQL_NUMBERS, &value),
        CodeKind::Http => Some(Derived { failure: http(&value), strong: false }),
        _ => Some(Derived { failure: Failure::lone(value, Identity::Worded), strong: false }),
    }
}

fn compiler(name: String, named: &[&str], worded: &[&str], kernel: &str) -> Failure {
    let identity = if let Some(found) = missing_trait(&name, kernel) {
        Identity::Named(Some(found))
    } else if named.contains(&name.as_str()) {
        Identity::Named(names::quoted(kernel).into_iter().next())
    } else if worded.contains(&name.as_str()) {
        Identity::Worded
    } else {
        Identity::Itself
    };
    Failure::lone(name, identity)
}

/// Returns the trait that a type lacks, without its path and parameters: whatever the type, the cure is the same.
fn missing_trait(name: &str, kernel: &str) -> Option<String> {
    let found = (name == "rustc-e0277").then(|| MISSING_TRAIT.captures(kernel)).flatten()?;
    let named = found.iter().skip(1).flatten().next()?;
    Some(named.as_str().to_lowercase())
}

static MISSING_TRAIT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x): \ (?:\w+::)*(\w+)(?:<[^>]*>)?[`'] \ is \ not \ satisfied
        | trait \ [`'](?:\w+::)*(\w+)(?:<[^>]*>)?[`'] \ is \ not \ implemented
        | doesn't \ implement \ [`'](?:\w+::)*(\w+)",
    )
    .expect("the pattern is valid")
});

/// TypeScript's codes are classes of mistakes, except those about one missing thing.
fn type_script(code: &str, kernel: &str) -> Failure {
    let name = format!("tsc-{code}");
    if ["ts2307", "ts7016", "ts2305", "ts2304", "ts2339", "ts2688", "ts2551", "ts2552", "ts2582"]
        .contains(&code)
    {
        let captured = names::quoted(kernel).into_iter().next();
        if captured.as_deref().is_some_and(is_path_alias) {
            return Failure {
                name: format!("{name}-alias"),
                identity: Identity::Itself,
                group: name,
            };
        }
        return Failure::lone(name, Identity::Named(captured));
    }
    let plain = [
        "ts2532", "ts18048", "ts18047", "ts2531", "ts7006", "ts5097", "ts1259", "ts2454", "ts6133",
        "ts1208", "ts7053", "ts18046",
    ];
    let identity = if plain.contains(&code) { Identity::Itself } else { Identity::Worded };
    Failure::lone(name, identity)
}

/// Returns whether a module is named by an alias of the project's own folders, which one setting resolves for all.
fn is_path_alias(module: &str) -> bool {
    ["@/", "~/", "#/"].iter().any(|prefix| module.starts_with(prefix))
}

fn sql(table: &[(&str, &str)], code: &str) -> Option<Derived> {
    let (_, name) = table.iter().find(|(known, _)| *known == code)?;
    let identity = if name.starts_with("sql-undefined") { return None } else { Identity::Engine };
    Some(Derived { failure: Failure::lone((*name).to_owned(), identity), strong: true })
}

fn http(status: &str) -> Failure {
    let plain =
        ["401", "405", "407", "408", "411", "413", "414", "415", "429", "431", "451", "502", "504"]
            .contains(&status);
    let identity = if plain { Identity::Itself } else { Identity::Worded };
    Failure::lone(format!("http-{status}"), identity)
}

/// Codes about one missing thing: another name is another failure.
const RUSTC_NAMED: [&str; 7] = [
    "rustc-e0432",
    "rustc-e0433",
    "rustc-e0425",
    "rustc-e0412",
    "rustc-e0463",
    "rustc-e0583",
    "rustc-e0560",
];

/// Codes that are classes of mistakes.
const RUSTC_WORDED: [&str; 8] = [
    "rustc-e0277",
    "rustc-e0308",
    "rustc-e0599",
    "rustc-e0061",
    "rustc-e0282",
    "rustc-e0283",
    "rustc-e0658",
    "rustc-e0080",
];

const SQL_STATES: [(&str, &str); 26] = [
    ("23505", "sql-unique"),
    ("23503", "sql-foreign-key-missing"),
    ("23502", "sql-not-null"),
    ("23514", "sql-check"),
    ("42p01", "sql-undefined-table"),
    ("42703", "sql-undefined-column"),
    ("42883", "sql-undefined-function"),
    ("40p01", "sql-deadlock"),
    ("40001", "sql-serialization"),
    ("53300", "sql-too-many-connections"),
    ("28p01", "sql-password"),
    ("3d000", "sql-undefined-database"),
    ("42501", "sql-permission"),
    ("22001", "sql-too-long"),
    ("22p02", "sql-invalid-text"),
    ("25p02", "sql-aborted-transaction"),
    ("57014", "sql-statement-timeout"),
    ("55p03", "sql-lock-timeout"),
    ("53100", "disk-full"),
    ("22003", "sql-out-of-range"),
    ("42p07", "sql-exists"),
    ("42710", "sql-exists"),
    ("25006", "sql-read-only"),
    ("22012", "sql-division"),
    ("57p03", "sql-starting-up"),
    ("42804", "sql-datatype"),
];

const MYSQL_NUMBERS: [(&str, &str); 24] = [
    ("1062", "sql-unique"),
    ("1452", "sql-foreign-key-missing"),
    ("1451", "sql-foreign-key-referenced"),
    ("1048", "sql-not-null"),
    ("3819", "sql-check"),
    ("1146", "sql-undefined-table"),
    ("1054", "sql-undefined-column"),
    ("1213", "sql-deadlock"),
    ("1205", "sql-lock-timeout"),
    ("1040", "sql-too-many-connections"),
    ("1045", "sql-password"),
    ("1049", "sql-undefined-database"),
    ("1142", "sql-permission"),
    ("1406", "sql-too-long"),
    ("1366", "sql-incorrect-string"),
    ("2006", "sql-gone-away"),
    ("2013", "sql-lost-connection"),
    ("1153", "sql-packet"),
    ("1364", "sql-no-default"),
    ("1055", "sql-group-by"),
    ("1267", "sql-collation"),
    ("1071", "sql-key-too-long"),
    ("1290", "sql-read-only"),
    ("1050", "sql-exists"),
];
