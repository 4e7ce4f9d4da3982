//! Private keys in text form: PEM, OpenSSH, PGP and PuTTY, also quoted, indented or as string literals (gitleaks:
//! `private-key`; trufflehog: `PrivateKey`, `GCP`).

use std::sync::LazyLock;

use regex::Regex;

use super::{SecretKind, SecretMatch};

/// Most bytes of a key with its headers: RSA keys of 16,384 bits take 13 KB, and quoting adds to that.
const MAX_KEY_BYTES: usize = 32 << 10;

static BEGIN: LazyLock<Regex> = LazyLock::new(|| {
    let pem = "-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----";
    Regex::new(&format!("(?-u){pem}|PuTTY-User-Key-File-[0-9]:")).expect("valid")
});

/// Finds keys from their first line to their last, or as far as key material goes if the end is missing.
pub(super) fn find(text: &str, found: &mut Vec<SecretMatch>) {
    let mut ends = [EndMarker::new("-----END "), EndMarker::new("Private-MAC:")];
    let mut from = 0;
    while let Some(begin) = BEGIN.find_at(text, from) {
        let is_putty = begin.as_str().starts_with('P');
        let marker = ends[usize::from(is_putty)].next_after(text, begin.end());
        let end = marker
            .filter(|at| at - begin.end() <= MAX_KEY_BYTES)
            .map(|at| end_of_last_line(text, at, is_putty));
        let end = end.unwrap_or_else(|| begin.end() + key_material(&text[begin.end()..]));
        found.push(SecretMatch { kind: SecretKind::PrivateKey, span: begin.start()..end });
        from = end;
    }
}

/// Positions of an end marker, each searched once.
struct EndMarker {
    marker: &'static str,
    next: Option<usize>,
    searched_to: usize,
}

impl EndMarker {
    fn new(marker: &'static str) -> Self {
        Self { marker, next: Some(0), searched_to: 0 }
    }

    /// Returns the first marker at or after `from`; `from` never decreases.
    fn next_after(&mut self, text: &str, from: usize) -> Option<usize> {
        if self.next.is_some_and(|at| at < from) || self.searched_to == 0 {
            self.next = text[from..].find(self.marker).map(|at| from + at);
            self.searched_to = self.next.unwrap_or(text.len()).max(1);
        }
        self.next
    }
}

/// Returns the end of the last line: behind the dashes of PEM, or behind the digits of PuTTY's checksum.
fn end_of_last_line(text: &str, marker: usize, is_putty: bool) -> usize {
    let line = text[marker..].split(['\n', '\r']).next().unwrap_or_default();
    let (label, value) = line.split_once(':').filter(|_| is_putty).unwrap_or((line, ""));
    if is_putty {
        let digits = value.trim_start_matches(' ');
        let blanks = value.len() - digits.len();
        let digits = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        return marker + label.len() + 1 + blanks + digits;
    }
    let dashes = line.get(9..).and_then(|rest| rest.find("-----"));
    marker + dashes.map_or(line.trim_end().len(), |at| 9 + at + 5)
}

/// Returns the length of key material at the beginning of a text: lines of base64, headers, and the marks of quotes and
/// string literals.
fn key_material(rest: &str) -> usize {
    let is_material = |c: char| {
        c.is_ascii_alphanumeric() || c.is_ascii_whitespace() || "+/=:,-_\\\"'>.()".contains(c)
    };
    // Dashes end the key, or begin the next one.
    let rest = rest.split("-----").next().unwrap_or_default();
    let bounded = rest.char_indices().take_while(|(at, c)| *at < MAX_KEY_BYTES && is_material(*c));
    let material = &rest[..bounded.last().map_or(0, |(at, c)| at + c.len_utf8())];
    let mut end = 0;
    for line in material.split_inclusive(['\n', '\r']) {
        // Prose has short words; a line of a key has one long run, and a header has a colon.
        let longest = line
            .split(|c: char| !c.is_ascii_alphanumeric() && !"+/=".contains(c))
            .map(str::len)
            .max();
        if !line.trim().is_empty() && longest < Some(24) && !line.contains(':') {
            break;
        }
        end += line.len();
    }
    material[..end].trim_end().len()
}
