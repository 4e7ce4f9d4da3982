//! Values with a known format: the prefix of a provider, a shape that only keys have, the password in a URL.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::{
    SecretKind, SecretMatch, entropy, has_char, is_example_key, is_placeholder,
    prefixes::{FORMATS, PrefixedFormat, ValueChars},
};

/// Least entropy of a key in bits a character: random letters and digits have more, words joined by hyphens have less.
const MIN_ENTROPY: f64 = 3.0;

/// Bytes of a value that are judged: enough to tell a key from words, and a bound for texts of nothing but prefixes.
const MAX_JUDGED_BYTES: usize = 128;

static PREFIXES: LazyLock<Regex> = LazyLock::new(|| {
    let mut prefixes: Vec<_> = FORMATS.iter().map(|format| format.prefix).collect();
    // A longer prefix is tried before its beginning.
    prefixes.sort_by_key(|prefix| std::cmp::Reverse(prefix.len()));
    prefixes.dedup();
    let escaped: Vec<_> = prefixes.into_iter().map(regex::escape).collect();
    Regex::new(&format!("(?-u)(?:{})", escaped.join("|"))).expect("valid")
});

/// Shapes without a prefix at their beginning, with the public rule for each.
#[rustfmt::skip]
const SHAPES: &[(&str, &str, SecretKind)] = &[
    ("telegram-bot-api-token", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}", SecretKind::Token),
    ("DiscordBotToken", r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}", SecretKind::Token),
    ("azure-ad-client-secret", r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}", SecretKind::ApiKey),
    ("hashicorp-tf-api-token", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}", SecretKind::Token),
    ("cloudflare-origin-ca-key", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}", SecretKind::ApiKey),
    ("mailchimp-api-key", r"[0-9a-f]{32}-us[0-9]{1,2}", SecretKind::ApiKey),
    // Zhipu: id and secret.
    ("-", r"[0-9a-f]{32}\.[A-Za-z0-9]{16}", SecretKind::ApiKey),
];

static SHAPE: LazyLock<Regex> = LazyLock::new(|| {
    let shapes: Vec<String> = SHAPES.iter().map(|(_, shape, _)| format!("({shape})")).collect();
    Regex::new(&format!("(?-u)(?:{})", shapes.join("|"))).expect("valid")
});

pub(super) fn find(text: &str, found: &mut Vec<SecretMatch>) {
    find_prefixed(text, found);
    find_shapes(text, found);
    find_url_passwords(text, found);
}

/// Finds values with a prefix. A prefix that begins no value does not hide what follows it: the search goes on behind
/// the prefix, while each run of value characters is measured once.
fn find_prefixed(text: &str, found: &mut Vec<SecretMatch>) {
    let (mut runs, mut from) = (RunEnds::default(), 0);
    while let Some(prefix) = PREFIXES.find_at(text, from) {
        from = prefix.end();
        if text[..prefix.start()].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
            continue;
        }
        let matching = FORMATS.iter().filter(|format| prefix.as_str() == format.prefix);
        let best = matching.filter_map(|format| {
            let run = &text[prefix.end()..runs.end(text, prefix.end(), format.chars)];
            Some((format, value_of(format, run)?))
        });
        if let Some((format, value)) = best.max_by_key(|(_, value)| value.len()) {
            from = prefix.end() + value.len();
            found.push(SecretMatch { kind: format.kind, span: prefix.start()..from });
        }
    }
}

/// Returns the part of a run after a prefix that is a value of its format, if it is one.
fn value_of<'t>(format: &PrefixedFormat, run: &'t str) -> Option<&'t str> {
    let value = run.trim_end_matches(['.', '/', '-', '+']);
    let judged = &value[..value.len().min(MAX_JUDGED_BYTES)];
    let is_long = value.len() >= format.min_chars;
    let mixes =
        has_char(judged, char::is_ascii_uppercase) && has_char(judged, char::is_ascii_lowercase);
    // Names such as `hf_hub_download` are in lower case, without digits.
    let is_random =
        (mixes || has_char(judged, char::is_ascii_digit)) && entropy(judged) >= MIN_ENTROPY;
    let is_jwt = format.rule != "jwt" || judged.contains('.') || value.contains('.');
    (is_long && is_random && is_jwt && !is_example_key(judged)).then_some(value)
}

/// Latest run of value characters for each set of characters.
#[derive(Default)]
struct RunEnds([Range<usize>; 5]);

impl RunEnds {
    /// Returns the end of the run that holds `at`. Positions never decrease, so that every byte is read once for each
    /// set.
    fn end(&mut self, text: &str, at: usize, chars: ValueChars) -> usize {
        let run = &mut self.0[chars as usize];
        if at < run.start || at > run.end {
            let rest = text.as_bytes()[at..].iter();
            *run = at..at + rest.take_while(|byte| is_value_byte(**byte, chars)).count();
        }
        run.end
    }
}

fn is_value_byte(byte: u8, chars: ValueChars) -> bool {
    let is_word = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    match chars {
        ValueChars::Word => is_word,
        ValueChars::Dotted => is_word || byte == b'.',
        ValueChars::Base64 => is_word || matches!(byte, b'/' | b'+' | b'=' | b'.'),
        ValueChars::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        ValueChars::Hex => byte.is_ascii_hexdigit(),
    }
}

fn find_shapes(text: &str, found: &mut Vec<SecretMatch>) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for captured in SHAPE.captures_iter(text) {
        let shapes = SHAPES.iter().enumerate();
        let hit = shapes.filter_map(|(index, shape)| Some((captured.get(index + 1)?, shape.2)));
        for (value, kind) in hit {
            let stands_alone = (!text[..value.start()].ends_with(is_word)
                || text[..value.start()].ends_with("/bot"))
                && !text[value.end()..].starts_with(is_word);
            if stands_alone && entropy(value.as_str()) >= MIN_ENTROPY {
                found.push(SecretMatch { kind, span: value.range() });
            }
        }
    }
}

/// Finds the password of `scheme://user:password@host` (trufflehog: `URI`, `Postgres`, `MongoDB`, `Redis`).
fn find_url_passwords(text: &str, found: &mut Vec<SecretMatch>) {
    // Between one URL and the next, so that each part of the text is read once.
    let mut parts = text.split("://");
    let mut start = parts.next().unwrap_or_default().len();
    for part in parts {
        start += "://".len();
        let from = start;
        start += part.len();
        let ends = [' ', '\n', '\t', '"', '\'', '<', '>', '`', '，', '。', '）'];
        let rest = part.split(ends).next().unwrap_or_default();
        let host = rest.find('/').unwrap_or(rest.len());
        let Some(login) = rest[..host].rfind('@').map(|at| &rest[..at]) else { continue };
        let Some(colon) = login.find(':') else { continue };
        let password = &login[colon + 1..];
        let known = ["password", "pass", "pwd", "secret", "passwd"];
        if password.len() >= 3 && !known.contains(&password) && !is_placeholder(password) {
            let span = from + colon + 1..from + login.len();
            found.push(SecretMatch { kind: SecretKind::Password, span });
        }
    }
}
