//! Values on their way to PostgreSQL and back.

use std::borrow::Cow;

use tokio_postgres::types::{
    FromSql, IsNull, Kind as PgKind, ToSql, Type, private::BytesMut, to_sql_checked,
};

use super::sql::SqlValue;

/// Character that escapes NUL, which PostgreSQL does not store in texts: private use, at the end of Unicode.
const ESCAPE: char = '\u{10fffd}';

/// Replaces NUL by an escape that [`unescape_nul`] reverses.
fn escape_nul(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let escaped = text.replace(ESCAPE, &format!("{ESCAPE}1"));
    Cow::Owned(escaped.replace('\0', &format!("{ESCAPE}0")))
}

fn unescape_nul(text: &str) -> String {
    if !text.contains(ESCAPE) {
        return text.to_owned();
    }
    let nul_back = text.replace(&format!("{ESCAPE}0"), "\0");
    nul_back.replace(&format!("{ESCAPE}1"), &ESCAPE.to_string())
}

impl ToSql for SqlValue {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(value) if *kind == Type::INT2 => i16::try_from(*value)?.to_sql(kind, out),
            Self::Int(value) if *kind == Type::INT4 => i32::try_from(*value)?.to_sql(kind, out),
            Self::Int(value) => value.to_sql(kind, out),
            Self::Real(value) => value.to_sql(kind, out),
            Self::Text(value) => escape_nul(value).as_ref().to_sql(kind, out),
            // A uuid is sent as its sixteen bytes.
            Self::Bytes(value) => value.as_slice().to_sql(&Type::BYTEA, out),
            Self::List(values) => values.as_slice().to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        let element = match kind.kind() {
            PgKind::Array(element) => element,
            _ => kind,
        };
        [Type::INT2, Type::INT4, Type::INT8, Type::FLOAT8, Type::TEXT, Type::VARCHAR]
            .iter()
            .chain(&[Type::BYTEA, Type::UUID])
            .any(|known| known == element)
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for SqlValue {
    fn from_sql(
        kind: &Type,
        raw: &'a [u8],
    ) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(match *kind {
            Type::BOOL => Self::Int(bool::from_sql(kind, raw)?.into()),
            Type::INT2 => Self::Int(i16::from_sql(kind, raw)?.into()),
            Type::INT4 => Self::Int(i32::from_sql(kind, raw)?.into()),
            Type::INT8 => Self::Int(i64::from_sql(kind, raw)?),
            Type::FLOAT8 => Self::Real(f64::from_sql(kind, raw)?),
            Type::BYTEA | Type::UUID => Self::Bytes(raw.to_vec()),
            _ => Self::Text(unescape_nul(<&str>::from_sql(kind, raw)?)),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::BOOL || <Self as ToSql>::accepts(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_nul_comes_back_as_it_was() {
        for text in ["茶", "a\0b", "\0\0", "\u{10fffd}0", "\u{10fffd}\0\u{10fffd}1", "\0\u{10fffd}"]
        {
            let escaped = escape_nul(text);
            assert!(!escaped.contains('\0'));
            assert_eq!(unescape_nul(&escaped), text);
        }
    }
}
