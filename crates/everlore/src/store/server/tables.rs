//! Tables of the schema that rows are inserted into: names, keys and types of their columns.

/// Table, in the order of its columns.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) name: &'static str,
    /// Columns of the primary key.
    pub(super) key: &'static [&'static str],
    pub(super) columns: &'static [(&'static str, SqlType)],
}

/// Type of a column, as far as parameters need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SqlType {
    /// Sixteen bytes: an id or a digest.
    Id,
    Int,
    Real,
    Text,
    Bytes,
}

impl Table {
    /// Returns the names of all columns.
    pub(super) fn column_names(&self) -> Vec<&'static str> {
        self.columns.iter().map(|(name, _)| *name).collect()
    }

    /// Returns the columns outside the key.
    pub(super) fn value_columns(&self) -> Vec<&'static str> {
        let names = self.column_names().into_iter();
        names.filter(|name| !self.key.contains(name)).collect()
    }
}

use SqlType::{Bytes, Id, Int, Real, Text};

pub(super) static SCOPES: Table = Table {
    name: "scopes",
    key: &["scope"],
    columns: &[
        ("scope", Id),
        ("agent", Text),
        ("user_name", Text),
        ("index_version", Int),
        ("write_id", Id),
    ],
};

pub(super) static SESSIONS: Table = Table {
    name: "sessions",
    key: &["scope", "name"],
    columns: &[("scope", Id), ("name", Text), ("number", Int), ("positions", Int)],
};

pub(super) static MEMORIES: Table = Table {
    name: "memories",
    key: &["scope", "address"],
    columns: &[
        ("scope", Id),
        ("address", Int),
        ("id", Id),
        ("seq", Int),
        ("uri", Text),
        ("kind", Int),
        ("status", Int),
        ("at", Int),
        ("created_at", Int),
        ("updated_at", Int),
        ("last_used_at", Int),
        ("version", Int),
        ("importance", Real),
        ("confidence", Real),
        ("weight", Real),
        ("digest", Id),
        ("detail", Text),
        ("name", Text),
        ("description", Text),
        ("content", Text),
    ],
};

pub(super) static DELETIONS: Table = Table {
    name: "deletions",
    key: &["scope", "id"],
    columns: &[("scope", Id), ("id", Id), ("address", Int), ("seq", Int)],
};

pub(super) static JOURNAL: Table = Table {
    name: "journal",
    key: &["scope", "seq"],
    columns: &[
        ("scope", Id),
        ("seq", Int),
        ("id", Id),
        ("op", Int),
        ("at", Int),
        ("actor", Int),
        ("reason", Text),
        ("run", Text),
        ("cost", Int),
        ("image", Bytes),
        ("write_id", Id),
    ],
};

pub(super) static TOMBSTONES: Table = Table {
    name: "tombstones",
    key: &["scope", "digest"],
    columns: &[("scope", Id), ("digest", Id)],
};

pub(super) static TAIL: Table = Table {
    name: "tail",
    key: &["scope", "address"],
    columns: &[
        ("scope", Id),
        ("address", Int),
        ("entry", Bytes),
        ("checksum", Int),
        ("model", Int),
        ("vector", Bytes),
    ],
};

pub(super) static BLOCKS: Table = Table {
    name: "blocks",
    key: &["scope", "block"],
    columns: &[
        ("scope", Id),
        ("block", Int),
        ("level", Int),
        ("docs", Int),
        ("part_bits", Int),
        ("first_address", Int),
        ("last_address", Int),
        ("model", Int),
        ("missing", Int),
    ],
};

const ROW_KEY: &[&str] = &["scope", "block", "number"];
const ROW_COLUMNS: &[(&str, SqlType)] =
    &[("scope", Id), ("block", Int), ("number", Int), ("bytes", Bytes)];

/// Records of blocks.
pub(super) static BLOCK_DOCS: Table =
    Table { name: "block_docs", key: ROW_KEY, columns: ROW_COLUMNS };

/// Postings of blocks.
pub(super) static BLOCK_PARTS: Table =
    Table { name: "block_parts", key: ROW_KEY, columns: ROW_COLUMNS };

/// Vectors of blocks.
pub(super) static BLOCK_VECTORS: Table =
    Table { name: "block_vectors", key: ROW_KEY, columns: ROW_COLUMNS };

pub(super) static BLOCK_DELETIONS: Table = Table {
    name: "block_deletions",
    key: &["scope", "block", "doc"],
    columns: &[("scope", Id), ("block", Int), ("doc", Int)],
};

pub(super) static TOKEN_VECTORS: Table = Table {
    name: "token_vectors",
    key: &["scope", "address"],
    columns: &[("scope", Id), ("address", Int), ("bytes", Bytes)],
};

pub(super) static CACHED_VECTORS: Table = Table {
    name: "cached_vectors",
    key: &["scope", "model", "is_query", "digest"],
    columns: &[
        ("scope", Id),
        ("model", Int),
        ("is_query", Int),
        ("digest", Id),
        ("used_day", Int),
        ("vector", Bytes),
    ],
};

pub(super) static USAGE: Table = Table {
    name: "usage_log",
    key: &["scope", "seq"],
    columns: &[
        ("scope", Id),
        ("seq", Int),
        ("memory", Id),
        ("session", Text),
        ("turn", Int),
        ("query_digest", Id),
        ("at", Int),
        ("shown", Int),
        ("query_terms", Bytes),
        ("sketch", Bytes),
    ],
};

pub(super) static CAPTURES: Table = Table {
    name: "captures",
    key: &["scope", "session"],
    columns: &[
        ("scope", Id),
        ("session", Int),
        ("turns", Int),
        ("exchanges", Int),
        ("last_at", Int),
    ],
};

pub(super) static DRAFTS: Table = Table {
    name: "drafts",
    key: &["scope", "id"],
    columns: &[
        ("scope", Id),
        ("id", Id),
        ("at", Int),
        ("verdict", Int),
        ("digest", Id),
        ("body", Text),
    ],
};

pub(super) static MODELS: Table = Table {
    name: "models",
    key: &["number"],
    columns: &[("number", Int), ("name", Text), ("dimensions", Int)],
};

pub(super) static LEDGER: Table = Table {
    name: "ledger",
    key: &["scope", "day", "job"],
    columns: &[
        ("scope", Id),
        ("day", Int),
        ("job", Text),
        ("calls", Int),
        ("tokens_read", Int),
        ("tokens_cached", Int),
        ("tokens_written", Int),
        ("millis", Int),
        ("cost", Real),
    ],
};

pub(super) static JOBS: Table = Table {
    name: "jobs",
    key: &["scope", "job"],
    columns: &[("scope", Id), ("job", Text), ("begun_at", Int)],
};

pub(super) static DOCUMENTS: Table = Table {
    name: "documents",
    key: &["name"],
    columns: &[("name", Text), ("version", Int), ("body", Text)],
};
