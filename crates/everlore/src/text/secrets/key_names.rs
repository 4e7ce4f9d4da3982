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
const CHINESE_WORDS: [(&str, SecretKind); 16] = [
    ("密码", SecretKind::Password),
    ("pin码", SecretKind::Password),
    ("动态码", SecretKind::Password),
    ("密碼", SecretKind::Password),
    ("口令", SecretKind::Password),
    ("验证码", SecretKind::Password),
    ("密钥", SecretKind::ApiKey),
    ("秘钥", SecretKind::ApiKey),
    ("令牌", SecretKind::Token),
    ("私钥", SecretKind::PrivateKey),
    ("助记词", SecretKind::SeedPhrase),
    ("身份证", SecretKind::IdNumber),
    ("身份证号", SecretKind::IdNumber),
    ("身份证号码", SecretKind::IdNumber),
    ("パスワード", SecretKind::Password),
    ("비밀번호", SecretKind::Password),
];

/// Words before `code` that make it a secret: other codes name countries, errors and places.
const CODE_OWNERS: [&str; 14] = [
    "mfa",
    "2fa",
    "otp",
    "totp",
    "sms",
    "verification",
    "security",
    "auth",
    "recovery",
    "backup",
    "access",
    "door",
    "gate",
    "pin",
];

/// Words that are joined to `pass` or `token` without a mark: `DBPASS`, `smtppass`; `compass` is none.
const JOINED_OWNERS: [&str; 16] = [
    "db", "smtp", "pg", "mysql", "sql", "redis", "ftp", "mail", "root", "admin", "user", "login",
    "wifi", "auth", "access", "refresh",
];

/// Names whose values are secrets only if they look like it: a `key` sorts too, and a `signature` ends a letter.
const DOUBTFUL_WORDS: [(&str, SecretKind); 4] = [
    ("key", SecretKind::ApiKey),
    ("sig", SecretKind::Token),
    ("signature", SecretKind::Token),
    ("webhook", SecretKind::Token),
];

/// Returns the kind of secret that a field of this name holds.
pub(crate) fn secret_field(name: &str) -> Option<SecretKind> {
    let lower = name.trim().to_lowercase();
    let chinese = CHINESE_WORDS.iter().find(|(word, _)| lower.ends_with(word));
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
        None if is_key => Some(SecretKind::ApiKey),
        None => joined_secret(&words),
    }
}

/// Returns the kind of secret that a field of this name may hold, if its value looks like one.
pub(super) fn doubtful_field(name: &str) -> Option<SecretKind> {
    let words = words_of(name);
    let last = words.last()?.as_str();
    let is_webhook = words.iter().any(|word| word == "webhook");
    let is_whole = words.len() == 1 || matches!(last, "sig" | "signature");
    let sought = if is_webhook { "webhook" } else { last };
    let found = DOUBTFUL_WORDS.iter().find(|(word, _)| *word == sought);
    found.filter(|_| is_webhook || is_whole).map(|(_, kind)| *kind)
}

/// Finds secrets in names of two words: `mfa_code`, `connectionString`, `DBPASS`, `PGPASSWORD`.
fn joined_secret(words: &[String]) -> Option<SecretKind> {
    let last = words.last()?.as_str();
    let before = words.len().checked_sub(2).map_or("", |at| words[at].as_str());
    let is_code = matches!(last, "code" | "codes") && CODE_OWNERS.contains(&before);
    let is_connection = matches!(last, "connectionstring" | "connstr" | "connstring")
        || matches!(last, "string" | "str") && matches!(before, "connection" | "conn");
    let owns =
        |end: &str| last.strip_suffix(end).is_some_and(|owner| JOINED_OWNERS.contains(&owner));
    let is_password = ["password", "passwd", "passphrase"].iter().any(|end| last.ends_with(end));
    if is_code || is_connection || is_password || owns("pass") || owns("pwd") {
        Some(SecretKind::Password)
    } else {
        owns("token").then_some(SecretKind::Token)
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
