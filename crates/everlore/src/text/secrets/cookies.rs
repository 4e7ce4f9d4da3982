//! Cookies in headers: `Cookie: sid=…; theme=dark`. Values that hold a session are secrets, settings of a page are none.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::{SecretKind, SecretMatch, bounded, is_placeholder, labelled::is_random};

/// Bytes of a header that are read: browsers send no more than 4 KiB a cookie, and a bound keeps hostile texts cheap.
const MAX_HEADER_BYTES: usize = 4_096;

/// Header with its first pair.
static HEADER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i-u)cookie["']?[ \t]{0,4}[:=][ \t]{0,4}["']?[a-z0-9_.-]{1,64}="#)
        .expect("valid")
});

/// Parts of the name of a cookie that holds a session.
const SESSION_NAMES: [&str; 10] =
    ["sess", "sid", "auth", "token", "csrf", "xsrf", "jwt", "login", "remember", "secret"];

/// Attributes of `Set-Cookie`, which hold no secrets.
const ATTRIBUTES: [&str; 6] = ["path", "domain", "expires", "max-age", "samesite", "version"];

pub(super) fn find(text: &str, found: &mut Vec<SecretMatch>) {
    let mut from = 0;
    for header in HEADER.find_iter(text) {
        if header.start() < from {
            continue;
        }
        let begin = header.start() + header.as_str().find([':', '=']).map_or(0, |at| at + 1);
        let line = bounded(&text[begin..], MAX_HEADER_BYTES);
        let line = line.split('\n').next().unwrap_or_default();
        from = begin + line.len();
        let spans = line.split(';').filter_map(|pair| secret_of(text, pair));
        found.extend(spans.map(|span| SecretMatch { kind: SecretKind::Token, span }));
    }
}

/// Returns the value of a pair that holds a session.
fn secret_of(text: &str, pair: &str) -> Option<Range<usize>> {
    let (name, value) = pair.split_once('=')?;
    let name = name.trim_matches([' ', '"', '\'']).to_ascii_lowercase();
    let end = value.find(|c: char| !c.is_ascii_graphic() || "\"',".contains(c));
    let value = &value[..end.unwrap_or(value.len())];
    let is_session = SESSION_NAMES.iter().any(|part| name.contains(part));
    let is_secret = is_session && value.len() >= 8 || is_random(value, false);
    let is_attribute = ATTRIBUTES.contains(&name.as_str());
    let start = value.as_ptr() as usize - text.as_ptr() as usize;
    (is_secret && !is_attribute && !is_placeholder(value)).then_some(start..start + value.len())
}
