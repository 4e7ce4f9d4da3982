//! Shapes of values: a password that someone typed, a key that a machine made, and the words that look like either.

use super::{entropy, has_char, labelled::is_random};

/// Names of algorithms, encodings and standards without their digits: `SHA-256`, `argon2id`, `base64`, `OAuth2`.
#[rustfmt::skip]
const ALGORITHMS: &[&str] = &[
    "sha", "md", "aes", "aesgcm", "aescbc", "rsa", "ed", "base", "utf", "argon", "argonid", "argoni", "argond", "bcrypt", "scrypt", "pbkdf", "hmac",
    "hmacsha", "pbkdfsha", "crc", "x", "iso", "rfc", "ieee", "nist", "oauth", "fido", "office", "windows", "win", "ntlmv", "wpa", "wpapsk", "ascii", "des",
];

/// Fewest characters of a key behind a sure label.
const MIN_SHORT_KEY: usize = 10;

/// Returns `true` if a value in prose is a password rather than a word: digits among letters, or marks within.
pub(super) fn mixes_character_classes(value: &str) -> bool {
    let (letters, digits) =
        (has_char(value, char::is_ascii_alphabetic), has_char(value, char::is_ascii_digit));
    let marks = has_char(value, |c| "!@#$%^&*_+=~".contains(*c));
    let is_number = digits && !letters && value.chars().all(|c| c.is_ascii_digit());
    let is_long = value.len() >= 6;
    is_long && (digits && letters && !is_number_and_word(value) || letters && marks)
        || is_number && is_long
}

/// Returns `true` for a number and a word: `8-character`, `12-digit`, `2fa`, `1password`.
fn is_number_and_word(value: &str) -> bool {
    let letters = value.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
    letters.len() < value.len() && letters.chars().all(|c| c.is_ascii_lowercase())
}

/// Returns `true` for the name of an algorithm, an encoding or a standard.
pub(super) fn is_algorithm(value: &str) -> bool {
    let is_named = value.chars().all(|c| c.is_ascii_alphanumeric() || "-_/.".contains(c));
    let letters: String = value.chars().filter(char::is_ascii_alphabetic).collect();
    is_named && ALGORITHMS.contains(&letters.to_ascii_lowercase().as_str())
}

/// Returns `true` for a value that no one writes as a word or a name: capitals or digits in its midst (`QweBLIZdeUo`,
/// `Tr0ub4dor`), where the parts of `PowerShell` begin with one capital each.
pub(super) fn is_scrambled(value: &str) -> bool {
    if value.len() < 8 || !value.is_ascii() {
        return false;
    }
    let bytes = value.as_bytes();
    let digit_inside = |part: &[u8]| {
        part[0].is_ascii_alphabetic() && part[1].is_ascii_digit() && part[2].is_ascii_lowercase()
    };
    if bytes.windows(3).any(digit_inside) && value.bytes().all(|byte| byte.is_ascii_graphic()) {
        return has_char(value, char::is_ascii_uppercase) && !value.contains(['/', '.']);
    }
    let parts = split_at_capitals(value);
    let is_camel = |part: &&str| {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_uppercase());
        part.len() - rest.len() <= 1 && rest.len() >= 2
    };
    value.bytes().all(|byte| byte.is_ascii_alphabetic())
        && parts.len() >= 3
        && !parts.iter().all(is_camel)
}

/// Splits where a capital follows a small letter.
fn split_at_capitals(value: &str) -> Vec<&str> {
    let bytes = value.as_bytes();
    let cuts = (1..bytes.len())
        .filter(|&at| bytes[at - 1].is_ascii_lowercase() && bytes[at].is_ascii_uppercase());
    let ends: Vec<usize> = cuts.chain([bytes.len()]).collect();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(&ends).map(|(start, &end)| &value[start..end]).collect()
}

/// Returns `true` for a key of a dozen characters, behind a mark. Behind a label that is also a word, its digits stand in
/// several places.
pub(super) fn is_short_key(value: &str, is_sure: bool) -> bool {
    let letters = has_char(value, char::is_ascii_alphabetic);
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let runs = value.as_bytes().chunk_by(|a, b| is_digit(a) == is_digit(b));
    let digit_runs = runs.filter(|run| is_digit(&run[0])).count();
    let upper = has_char(value, char::is_ascii_uppercase);
    let is_plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "_-=+".contains(c));
    let mixes = if is_sure { digit_runs >= 1 } else { digit_runs >= 2 && upper };
    is_plain
        && letters
        && mixes
        && value.len() >= MIN_SHORT_KEY
        && entropy(value) >= 2.5
        && !is_number_and_word(value)
}

/// Returns `true` for a value that a machine made or someone typed as a password, and for an address with such a part.
/// It judges fields whose names alone say too little: `key`, `signature`, `webhook_url`.
pub(super) fn looks_generated(value: &str) -> bool {
    let is_separator = |c: char| matches!(c, '/' | '?' | '&' | ':' | '.');
    let is_made = |part: &str| is_random(part, false) || is_scrambled(part);
    !value.contains(char::is_whitespace) && value.split(is_separator).any(is_made)
}

/// Returns `true` for identifiers that only look random: digests and UUIDs.
pub(super) fn is_digest(value: &str) -> bool {
    value.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
}

/// Returns `true` for an address: a mail address, a URL or a path.
pub(super) fn is_address(value: &str) -> bool {
    let is_mail = value.split_once('@').is_some_and(|(_, host)| host.contains('.'));
    is_mail || value.contains('/') || value.contains('\\')
}

/// Returns `true` for what a product, a version or a ticket may be called: a word with at most three digits behind it
/// (`Office365`, `PROJ-447`), or an identifier without digits (`user_pwd`).
pub(super) fn is_product_like(value: &str) -> bool {
    let bare = value.trim_end_matches('!');
    let stem = bare.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_word = stem.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '-' | '_' | '.'));
    is_word && bare.len() - stem.len() <= 3
}
