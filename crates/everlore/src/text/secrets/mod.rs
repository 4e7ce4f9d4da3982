//! Secrets in a text: keys, tokens, passwords, cards and the like, found by the format of their values and masked.
//!
//! Five signs make a value a secret: a provider's prefix, a checksum, a context that only holds secrets (a URL with a
//! password, a PEM block, an option of a command), a label before it, or the name of its field. No part of a value is
//! kept. Each rule names the public rule of another detector for the same format, where there is one.
//!
//! Invariant: every search takes time linear in the length of the text.

mod prefixes;
mod known_formats;
mod private_keys;
mod commands;
mod labelled;
mod labelled_value;
mod spoken;
mod plain_words;
mod logins;
mod unlock_codes;
mod cookies;
mod shapes;
mod narrow;
mod checksummed;
mod key_names;
mod json_values;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, ops::Range};

pub(crate) use json_values::{mask_metadata, mask_value};
use narrow::NarrowText;
use serde::Serialize;

/// Beginning of a mask; the kind and a bracket follow.
const MASK_PREFIX: &str = "[secret: ";

/// Longest ending of a file's name that counts as its extension: `markdown`.
const MAX_EXTENSION: usize = 8;

/// Kind of secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(into = "&'static str")]
pub enum SecretKind {
    /// Key of an API.
    ApiKey,
    /// Token that proves an identity for a while.
    Token,
    /// Key that signs or decrypts.
    PrivateKey,
    /// Password, passphrase or PIN.
    Password,
    /// Payment card number.
    Card,
    /// Identity card number.
    IdNumber,
    /// Bank account number.
    BankAccount,
    /// Words that restore a wallet.
    SeedPhrase,
}

crate::types::variant_names! { pub SecretKind:
    ApiKey = "API key", Token = "token", PrivateKey = "private key", Password = "password",
    Card = "card number", IdNumber = "ID number", BankAccount = "bank account",
    SeedPhrase = "seed phrase",
}

impl From<SecretKind> for &'static str {
    fn from(kind: SecretKind) -> Self {
        kind.as_str()
    }
}

/// Secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecretMatch {
    /// Kind.
    pub kind: SecretKind,
    /// Bytes of its value.
    pub span: Range<usize>,
}

/// Returns the secrets of a text, in order, none within another. Full-width letters and digits count as plain ones.
pub(crate) fn find_secrets(text: &str) -> Vec<SecretMatch> {
    match NarrowText::of(text) {
        Some(narrow) => {
            let found = find_plain_secrets(narrow.as_str());
            found
                .into_iter()
                .map(|it| SecretMatch { span: narrow.original(it.span), ..it })
                .collect()
        }
        None => find_plain_secrets(text),
    }
}

fn find_plain_secrets(text: &str) -> Vec<SecretMatch> {
    let mut found = Vec::new();
    known_formats::find(text, &mut found);
    private_keys::find(text, &mut found);
    commands::find(text, &mut found);
    labelled::find(text, &mut found);
    logins::find(text, &mut found);
    unlock_codes::find(text, &mut found);
    plain_words::find(text, &mut found);
    cookies::find(text, &mut found);
    checksummed::find(text, &mut found);
    found.sort_by_key(|secret| (secret.span.start, std::cmp::Reverse(secret.span.end)));
    let mut end = 0;
    found.retain(|secret| {
        let is_apart = secret.span.start >= end;
        end = end.max(secret.span.end);
        is_apart
    });
    found
}

/// Returns the text with `[secret: KIND]` in place of each secret, and the kinds in order.
pub fn mask(text: &str) -> (Cow<'_, str>, Vec<SecretKind>) {
    apply_masks(text, &find_secrets(text))
}

/// Masks the secrets of a path or URI: in the whole, and in each part without its extension, so that neither a folder nor
/// an ending counts as part of a value.
pub(crate) fn mask_path(path: &str) -> Cow<'_, str> {
    let whole = mask(path).0;
    let parts: Vec<String> = whole.split('/').map(mask_path_part).collect();
    let masked = parts.join("/");
    if masked == whole { whole } else { Cow::Owned(masked) }
}

fn mask_path_part(part: &str) -> String {
    let is_extension = |ending: &str| {
        (1..=MAX_EXTENSION).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    match part.rsplit_once('.').filter(|(_, ending)| is_extension(ending)) {
        Some((stem, ending)) => format!("{}.{ending}", mask(stem).0),
        None => mask(part).0.into_owned(),
    }
}

/// Masks as [`mask`] does, with as many lines as before, so that line numbers stay true; returns the number of secrets.
pub(crate) fn mask_keeping_lines(text: &str) -> (String, usize) {
    let secrets = find_secrets(text);
    let (mut masked, mut end) = (String::with_capacity(text.len()), 0);
    for secret in &secrets {
        masked.push_str(&text[end..secret.span.start]);
        masked.push_str(&format!("{MASK_PREFIX}{}]", secret.kind));
        let lines = text[secret.span.clone()].matches('\n').count();
        masked.extend(std::iter::repeat_n('\n', lines));
        end = secret.span.end;
    }
    masked.push_str(&text[end..]);
    (masked, secrets.len())
}

/// Returns the kind of a key, token or password in the name of a user or an agent. Numbers are names too, whatever their
/// checksums say.
pub fn secret_name(name: &str) -> Option<SecretKind> {
    use SecretKind::{ApiKey, Password, PrivateKey, SeedPhrase, Token};
    let is_sure =
        |kind: &SecretKind| matches!(kind, ApiKey | Token | PrivateKey | Password | SeedPhrase);
    find_secrets(name).into_iter().map(|secret| secret.kind).find(is_sure)
}

/// Masks only secrets that `before` does not have: those were their owner's choice.
pub(crate) fn mask_new<'a>(text: &'a str, before: &str) -> (Cow<'a, str>, Vec<SecretKind>) {
    let mut secrets = find_secrets(text);
    secrets.retain(|secret| !before.contains(&text[secret.span.clone()]));
    apply_masks(text, &secrets)
}

/// Masks the value of a field whose name says that it is a secret; `None` if the name does not, or if the value is a
/// placeholder, a mask already, or blank.
pub(crate) fn mask_named_value(name: &str, value: &str) -> Option<(String, SecretKind)> {
    let bare = value.trim();
    let kind = key_names::secret_field(name).or_else(|| doubtful_secret(name, bare))?;
    let is_open = bare.len() < 3 || is_placeholder(bare) || labelled::is_form_value(bare);
    let is_masked = find_mask(bare).is_some();
    (!is_open && !is_masked).then(|| (format!("{MASK_PREFIX}{kind}]"), kind))
}

/// Returns the kind of a secret in a field whose name alone says too little.
fn doubtful_secret(name: &str, value: &str) -> Option<SecretKind> {
    let kind = key_names::doubtful_field(name)?;
    let is_identifier = kind == SecretKind::ApiKey && shapes::is_digest(value);
    (shapes::looks_generated(value) && !is_identifier).then_some(kind)
}

/// Returns the kind of the first mask of a text: a text with a mask had a secret.
pub(crate) fn find_mask(text: &str) -> Option<SecretKind> {
    let masks = text.split(MASK_PREFIX).skip(1).filter_map(|rest| rest.split_once(']'));
    masks.into_iter().find_map(|(name, _)| SecretKind::ALL.into_iter().find(|k| k.as_str() == name))
}

/// Masks the secrets of some texts and returns their kinds.
pub fn mask_all<'a>(texts: impl IntoIterator<Item = &'a mut String>) -> Vec<SecretKind> {
    let mut found = Vec::new();
    for text in texts {
        let (masked, kinds) = mask(text);
        if !kinds.is_empty() {
            *text = masked.into_owned();
            found.extend(kinds);
        }
    }
    found
}

/// Describes masked kinds in a few words: `2 secrets (password, token)`.
pub fn describe_kinds(kinds: &[SecretKind]) -> String {
    let mut names: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let secrets = if kinds.len() == 1 { "secret" } else { "secrets" };
    format!("{} {secrets} ({})", kinds.len(), names.join(", "))
}

fn apply_masks<'a>(text: &'a str, secrets: &[SecretMatch]) -> (Cow<'a, str>, Vec<SecretKind>) {
    if secrets.is_empty() {
        return (Cow::Borrowed(text), Vec::new());
    }
    let mut masked = String::with_capacity(text.len());
    let mut end = 0;
    for secret in secrets {
        masked.push_str(&text[end..secret.span.start]);
        masked.push_str(&format!("{MASK_PREFIX}{}]", secret.kind));
        end = secret.span.end;
    }
    masked.push_str(&text[end..]);
    (Cow::Owned(masked), secrets.iter().map(|secret| secret.kind).collect())
}

/// Returns the Shannon entropy of a value in bits a character: random text has more than words.
fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    value.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let total = value.len().max(1) as f64;
    let share = |count: &u32| f64::from(*count) / total;
    counts.iter().filter(|count| **count > 0).map(share).map(|p| -p * p.log2()).sum()
}

/// Returns `true` if a value only shows where a secret goes: `your-key-here`, `xxxx`, `***`.
fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let words =
        ["your", "xxxx", "****", "....", "redacted", "placeholder", "changeme", "insert", "dummy"];
    words.iter().any(|word| lower.contains(word))
        || value.starts_with(['<', '{', '['])
        || value.starts_with('%') && value.ends_with('%')
        || value.contains("{{")
        || is_reference(value)
}

/// Returns `true` for keys in manuals: placeholders, and those that say so themselves, as Amazon's do.
fn is_example_key(value: &str) -> bool {
    value.contains("EXAMPLE") || is_placeholder(value)
}

/// Returns `true` for the name of a variable in a value's place: `$TOKEN`, `${TOKEN}`, `$(cat file)`.
fn is_reference(value: &str) -> bool {
    let Some(name) = value.strip_prefix('$') else { return false };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(['{', '('])
        || !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(is_name)
}

/// Returns the beginning of a text, at most `max_bytes` long.
fn bounded(text: &str, max_bytes: usize) -> &str {
    let mut end = text.len().min(max_bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn has_char(value: &str, is: impl Fn(&char) -> bool) -> bool {
    value.chars().any(|c| is(&c))
}
