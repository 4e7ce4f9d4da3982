//! Names of fields whose values are secrets, whatever they look like: `password`, `X-Api-Key`, `appSecret`, 密码.

use super::SecretKind;

/// Words that make a field a secret, with its kind (gitleaks: `generic-api-key`).
const SECRET_WORDS: [(&str, SecretKind); 24] = [
    ("password", SecretKind::Password),
    ("passwd", SecretKind::Password),
    ("passphrase", SecretKind::Password),
    ("passcode", SecretKind::Password),
    ("passwort", SecretKind::Password),
    ("pwd", SecretKind::Password),
    ("pass", SecretKind::Password),
    ("pin", SecretKind::Password),
    ("otp", SecretKind::Password),
    ("cvv", SecretKind::Password),
    ("cvc", SecretKind::Password),
    ("ssn", SecretKind::IdNumber),
    ("secret", SecretKind::ApiKey),
    ("credential", SecretKind::ApiKey),
    ("credentials", SecretKind::ApiKey),
    ("apikey", SecretKind::ApiKey),
    ("token", SecretKind::Token),
    ("jwt", SecretKind::Token),
    ("authorization", SecretKind::Token),
    ("bearer", SecretKind::Token),
    ("cookie", SecretKind::Token),
    ("mnemonic", SecretKind::SeedPhrase),
    ("seedphrase", SecretKind::SeedPhrase),
    ("auth", SecretKind::Token),
];

/// Words before `key` that make it a secret: other keys sort, cache and index.
const KEY_OWNERS: [&str; 14] = [
    "api",
    "access",
    "secret",
    "private",
    "account",
    "signing",
    "encryption",
    "auth",
    "service",
    "app",
    "master",
    "shared",
    "subscription",
    "license",
];

/// Words at the end of a name that speak about a secret instead of holding it.
const ABOUT_WORDS: [&str; 30] = [
    "count", "type", "limit", "hash", "length", "len", "expires", "expiry", "at", "name", "url",
    "uri", "hint", "usage", "budget", "policy", "file", "path", "id", "set", "required", "enabled",
    "field", "ttl", "scope", "provider", "manager", "method", "header", "rotation",
];

/// Parts of a Chinese name that make it a secret.
const CHINESE_WORDS: [(&str, SecretKind); 10] = [
    ("密码", SecretKind::Password),
    ("密碼", SecretKind::Password),
    ("口令", SecretKind::Password),
    ("验证码", SecretKind::Password),
    ("密钥", SecretKind::ApiKey),
    ("秘钥", SecretKind::ApiKey),
    ("令牌", SecretKind::Token),
    ("私钥", SecretKind::PrivateKey),
    ("助记词", SecretKind::SeedPhrase),
    ("身份证号", SecretKind::IdNumber),
];

/// Returns the kind of secret that a field of this name holds.
pub(crate) fn secret_field(name: &str) -> Option<SecretKind> {
    let chinese = CHINESE_WORDS.iter().find(|(word, _)| name.ends_with(word));
    if let Some((_, kind)) = chinese {
        return Some(*kind);
    }
    let words = words_of(name);
    let last = words.last()?.as_str();
    if ABOUT_WORDS.contains(&last) {
        return None;
    }
    let key_at = words.iter().rposition(|word| word == "key");
    let is_key = key_at.is_some_and(|at| at > 0 && KEY_OWNERS.contains(&words[at - 1].as_str()));
    let is_private = is_key && words.iter().any(|word| word == "private");
    let named =
        words.iter().find_map(|word| SECRET_WORDS.iter().find(|(secret, _)| secret == word));
    match named {
        _ if is_private => Some(SecretKind::PrivateKey),
        Some((_, kind)) => Some(*kind),
        None => is_key.then_some(SecretKind::ApiKey),
    }
}

/// Splits a name at marks and at capital letters, in lower case: `accessKeySecret`, `X-Api-Key`, `db_password`.
fn words_of(name: &str) -> Vec<String> {
    let (mut words, mut was_lower) = (vec![String::new()], false);
    for c in name.chars().take(128) {
        let begins = !c.is_alphanumeric() || c.is_uppercase() && was_lower;
        if begins && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("never empty").extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase() || c.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}
