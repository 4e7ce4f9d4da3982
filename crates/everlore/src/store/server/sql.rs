//! Statements, written once for all server databases: `?` stands for a parameter, `IN ?` for a list of them.
//!
//! A [`Dialect`] renders the few differences. Rows are inserted many at a time by [`insert`]; the text of a statement
//! never depends on the number of its rows in PostgreSQL, so that it is prepared once.

use std::borrow::Cow;
#[cfg(feature = "postgres")]
use std::fmt::Write as _;

#[cfg(feature = "postgres")]
use super::tables::SqlType;
use super::tables::Table;
use crate::{
    error::{Error, Result},
    store::DocAddress,
    types::{Fingerprint, MemoryId, Timestamp},
};

/// Value that goes to a database or comes from one.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum SqlValue {
    #[default]
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
    /// Values of an `IN ?`.
    List(Vec<Self>),
}

/// Statement with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Statement {
    /// Text with `?` for each parameter.
    Plain { text: Cow<'static, str>, params: Vec<SqlValue> },
    /// Insertion of rows.
    Insert { table: &'static Table, rows: Vec<Vec<SqlValue>>, on_conflict: OnConflict },
}

/// Treatment of a row whose key is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnConflict {
    /// The statement fails.
    Fail,
    /// The stored row stays.
    Keep,
    /// The new row replaces it.
    Replace,
    /// The numbers of the new row are added to it.
    Add,
}

/// Differences between the databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    #[cfg(feature = "postgres")]
    Postgres,
    #[cfg(feature = "mysql")]
    MySql,
}

/// Creates a statement from its text and its parameters.
macro_rules! sql {
    ($text:expr $(, $param:expr)* $(,)?) => {
        $crate::store::server::sql::Statement::Plain {
            text: $text.into(),
            params: vec![$($crate::store::server::sql::SqlValue::from($param)),*],
        }
    };
}
pub(super) use sql;

/// Creates the statement that inserts rows into a table.
pub(super) fn insert(
    table: &'static Table,
    rows: Vec<Vec<SqlValue>>,
    on_conflict: OnConflict,
) -> Statement {
    Statement::Insert { table, rows, on_conflict }
}

/// Creates a row of parameters.
macro_rules! sql_row {
    ($($value:expr),* $(,)?) => { vec![$($crate::store::server::sql::SqlValue::from($value)),*] };
}
pub(super) use sql_row;

impl Statement {
    /// Returns `true` if there is nothing to insert, so that the statement need not be sent.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Insert { rows, .. } if rows.is_empty())
    }
}

#[cfg(feature = "postgres")]
impl Statement {
    /// Renders the statement for PostgreSQL: its text with `$1`, `$2`…, and a value for each.
    pub(super) fn render_postgres(self) -> (Cow<'static, str>, Vec<SqlValue>) {
        match self {
            Self::Plain { text, params } if params.is_empty() => (text, params),
            Self::Plain { text, params } => (number_params(&text).into(), params),
            Self::Insert { table, rows, on_conflict } => {
                (unnest_insert(table, on_conflict).into(), into_columns(table, rows))
            }
        }
    }
}

/// Numbers the parameters of a statement; `IN ?` compares with an array, and `BYTES_OF(id)` are the bytes of a UUID.
#[cfg(feature = "postgres")]
fn number_params(text: &str) -> String {
    let mut numbered = String::with_capacity(text.len() + 16);
    for (index, part) in text.split('?').enumerate() {
        if index > 0 {
            if let Some(left) = numbered.strip_suffix("IN ").map(str::len) {
                numbered.truncate(left);
                let _ = write!(numbered, "= ANY(${index})");
            } else {
                let _ = write!(numbered, "${index}");
            }
        }
        numbered.push_str(part);
    }
    numbered.replace("BYTES_OF(", "uuid_send(")
}

/// Builds an insertion whose parameters are whole columns.
#[cfg(feature = "postgres")]
fn unnest_insert(table: &Table, on_conflict: OnConflict) -> String {
    let array = |(index, (_, kind)): (usize, &(&str, SqlType))| {
        let kind = match kind {
            SqlType::Id => "uuid",
            SqlType::Int => "bigint",
            SqlType::Real => "double precision",
            SqlType::Text => "text",
            SqlType::Bytes => "bytea",
        };
        format!("${}::{kind}[]", index + 1)
    };
    let arrays: Vec<String> = table.columns.iter().enumerate().map(array).collect();
    let mut text = format!(
        "INSERT INTO {} ({}) SELECT * FROM unnest({})",
        table.name,
        table.column_names().join(", "),
        arrays.join(", ")
    );
    let key = table.key.join(", ");
    let set = |name: &&str| match on_conflict {
        OnConflict::Add => format!("{name} = {}.{name} + excluded.{name}", table.name),
        _ => format!("{name} = excluded.{name}"),
    };
    match on_conflict {
        OnConflict::Fail => {}
        OnConflict::Keep => text.push_str(" ON CONFLICT DO NOTHING"),
        OnConflict::Replace | OnConflict::Add => {
            let sets: Vec<String> = table.value_columns().iter().map(set).collect();
            let _ = write!(text, " ON CONFLICT ({key}) DO UPDATE SET {}", sets.join(", "));
        }
    }
    text
}

#[cfg(feature = "postgres")]
fn into_columns(table: &Table, rows: Vec<Vec<SqlValue>>) -> Vec<SqlValue> {
    let mut columns = vec![Vec::with_capacity(rows.len()); table.columns.len()];
    for row in rows {
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value);
        }
    }
    columns.into_iter().map(SqlValue::List).collect()
}

/// Row of a result. Values are taken out of it, each once.
#[derive(Debug, Default)]
pub(super) struct SqlRow(pub(super) Vec<SqlValue>);

impl SqlRow {
    /// Returns an integer; an error if the column has another type or the value does not fit.
    pub(super) fn int<T: TryFrom<i64>>(&mut self, column: usize) -> Result<T> {
        self.opt_int(column)?.ok_or_else(|| unexpected(column))
    }

    /// Returns an integer; `None` for NULL.
    pub(super) fn opt_int<T: TryFrom<i64>>(&mut self, column: usize) -> Result<Option<T>> {
        match self.take(column) {
            SqlValue::Null => Ok(None),
            SqlValue::Int(value) => T::try_from(value).map(Some).map_err(|_| unexpected(column)),
            _ => Err(unexpected(column)),
        }
    }

    /// Returns a number.
    pub(super) fn real(&mut self, column: usize) -> Result<f64> {
        match self.take(column) {
            SqlValue::Real(value) => Ok(value),
            SqlValue::Int(value) => Ok(value as f64),
            _ => Err(unexpected(column)),
        }
    }

    /// Returns a text.
    pub(super) fn text(&mut self, column: usize) -> Result<String> {
        self.opt_text(column)?.ok_or_else(|| unexpected(column))
    }

    /// Returns a text; `None` for NULL.
    pub(super) fn opt_text(&mut self, column: usize) -> Result<Option<String>> {
        match self.take(column) {
            SqlValue::Null => Ok(None),
            SqlValue::Text(text) => Ok(Some(text)),
            // Texts that are keys are bytes in MySQL.
            SqlValue::Bytes(bytes) => {
                String::from_utf8(bytes).map(Some).map_err(|_| unexpected(column))
            }
            _ => Err(unexpected(column)),
        }
    }

    /// Returns bytes.
    pub(super) fn bytes(&mut self, column: usize) -> Result<Vec<u8>> {
        self.opt_bytes(column)?.ok_or_else(|| unexpected(column))
    }

    /// Returns bytes; `None` for NULL.
    pub(super) fn opt_bytes(&mut self, column: usize) -> Result<Option<Vec<u8>>> {
        match self.take(column) {
            SqlValue::Null => Ok(None),
            SqlValue::Bytes(bytes) => Ok(Some(bytes)),
            _ => Err(unexpected(column)),
        }
    }

    /// Returns the sixteen bytes of an id or a digest.
    pub(super) fn id(&mut self, column: usize) -> Result<[u8; 16]> {
        self.bytes(column)?.try_into().map_err(|_| unexpected(column))
    }

    /// Returns the id of a memory.
    pub(super) fn memory_id(&mut self, column: usize) -> Result<MemoryId> {
        self.id(column).map(MemoryId::from_bytes)
    }

    /// Returns an address.
    pub(super) fn address(&mut self, column: usize) -> Result<DocAddress> {
        self.int::<i64>(column).map(|bits| DocAddress::from_bits(bits as u64))
    }

    fn take(&mut self, column: usize) -> SqlValue {
        self.0.get_mut(column).map(std::mem::take).unwrap_or_default()
    }
}

fn unexpected(column: usize) -> Error {
    Error::damaged(format!("column {column} of a result has an unexpected type or value"))
}

macro_rules! from_integers {
    ($($integer:ty),*) => {
        $(impl From<$integer> for SqlValue {
            fn from(value: $integer) -> Self {
                Self::Int(value as i64)
            }
        })*
    };
}
from_integers!(i64, u64, i32, u32, u8, usize, bool);

impl From<f64> for SqlValue {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<&str> for SqlValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for SqlValue {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<String> for SqlValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<u8>> for SqlValue {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<[u8; 16]> for SqlValue {
    fn from(bytes: [u8; 16]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}

impl From<MemoryId> for SqlValue {
    fn from(id: MemoryId) -> Self {
        Self::from(*id.as_bytes())
    }
}

impl From<Fingerprint> for SqlValue {
    fn from(digest: Fingerprint) -> Self {
        Self::from(*digest.as_bytes())
    }
}

impl From<DocAddress> for SqlValue {
    fn from(address: DocAddress) -> Self {
        Self::Int(address.to_bits() as i64)
    }
}

impl From<Timestamp> for SqlValue {
    fn from(at: Timestamp) -> Self {
        Self::Int(at.as_millisecond())
    }
}

impl<T: Into<Self>> From<Option<T>> for SqlValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Collects the values of an `IN ?`.
pub(super) fn list<T: Into<SqlValue>>(values: impl IntoIterator<Item = T>) -> SqlValue {
    SqlValue::List(values.into_iter().map(Into::into).collect())
}
