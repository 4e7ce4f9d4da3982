//! Statements as texts for MySQL and MariaDB, in which every parameter is a number or a hexadecimal literal, so that no
//! value can be read as SQL.

use std::fmt::Write as _;

use super::{
    sql::{OnConflict, SqlValue, Statement},
    tables::Table,
};

/// Size of a text that is sent at once, in bytes: half of what servers accept by default.
pub(super) const MAX_TEXT_BYTES: usize = 8 * 1024 * 1024;

impl Statement {
    /// Renders the statement with its parameters: one text, or several that insert a part of the rows each.
    pub(super) fn render_mysql(self) -> Vec<String> {
        match self {
            Self::Plain { text, params } => vec![fill_params(&text, &params)],
            Self::Insert { table, rows, on_conflict } => insert_texts(table, &rows, on_conflict),
        }
    }
}

fn fill_params(text: &str, params: &[SqlValue]) -> String {
    let mut filled = String::with_capacity(text.len() + params.len() * 36);
    let mut params = params.iter();
    for (index, part) in text.split('?').enumerate() {
        if index > 0 {
            push_literal(params.next().unwrap_or(&SqlValue::Null), &mut filled);
        }
        filled.push_str(part);
    }
    filled.replace(" AS BIGINT)", " AS SIGNED)").replace("BYTES_OF(", "(")
}

fn insert_texts(table: &Table, rows: &[Vec<SqlValue>], on_conflict: OnConflict) -> Vec<String> {
    let ignore = if on_conflict == OnConflict::Keep { "IGNORE " } else { "" };
    let names = table.column_names().join(", ");
    let head = format!("INSERT {ignore}INTO {} ({names}) VALUES ", table.name);
    let set = |name: &&str| match on_conflict {
        OnConflict::Add => format!("{name} = {name} + VALUES({name})"),
        _ => format!("{name} = VALUES({name})"),
    };
    let tail = match on_conflict {
        OnConflict::Fail | OnConflict::Keep => String::new(),
        OnConflict::Replace | OnConflict::Add => {
            let sets: Vec<String> = table.value_columns().iter().map(set).collect();
            format!(" ON DUPLICATE KEY UPDATE {}", sets.join(", "))
        }
    };
    let mut texts = Vec::new();
    let mut text = head.clone();
    for row in rows {
        if text.len() > MAX_TEXT_BYTES / 2 {
            texts.push(std::mem::replace(&mut text, head.clone()) + &tail);
        }
        text.push_str(if text.len() == head.len() { "" } else { ", " });
        push_list(row, &mut text);
    }
    texts.push(text + &tail);
    texts
}

/// Appends a value: a number, or hexadecimal digits.
fn push_literal(value: &SqlValue, to: &mut String) {
    match value {
        SqlValue::Null => to.push_str("NULL"),
        SqlValue::Int(value) => drop(write!(to, "{value}")),
        SqlValue::Real(value) => drop(write!(to, "{value:e}")),
        SqlValue::Text(text) => push_hex("_utf8mb4 x'", text.as_bytes(), to),
        SqlValue::Bytes(bytes) => push_hex("x'", bytes, to),
        SqlValue::List(values) if values.is_empty() => to.push_str("(NULL)"),
        SqlValue::List(values) => push_list(values, to),
    }
}

fn push_list(values: &[SqlValue], to: &mut String) {
    to.push('(');
    for (index, value) in values.iter().enumerate() {
        to.push_str(if index == 0 { "" } else { ", " });
        push_literal(value, to);
    }
    to.push(')');
}

fn push_hex(start: &str, bytes: &[u8], to: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    to.reserve(start.len() + bytes.len() * 2 + 1);
    to.push_str(start);
    for byte in bytes {
        to.push(char::from(DIGITS[usize::from(byte >> 4)]));
        to.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    to.push('\'');
}

#[cfg(test)]
mod tests {
    use super::super::sql::{list, sql};

    #[test]
    fn no_value_can_be_read_as_sql() {
        let statement = sql!(
            "SELECT a FROM t WHERE b = ? AND c IN ? AND d = ?",
            "x'; DROP TABLE t; -- ?",
            list(["'", "\\"]),
            0.5
        );
        let [text] = &statement.render_mysql()[..] else { panic!("one text") };
        assert_eq!(
            text,
            "SELECT a FROM t WHERE b = _utf8mb4 x'78273b2044524f50205441424c4520743b202d2d203f' \
             AND c IN (_utf8mb4 x'27', _utf8mb4 x'5c') AND d = 5e-1"
        );
    }
}
