//! Values behind a label: `password: …`, "my PIN is …", 密码是….

use std::sync::LazyLock;

use regex::{Captures, Regex, RegexSet};

use super::{SecretKind, SecretMatch, entropy, has_char, is_placeholder};

/// Labels of a password.
const PASSWORD_LABELS: &str =
    "(?:password|passwd|passphrase|passcode|pwd|passw|密码|密碼|口令|登录密|暗号)";

/// Labels of a key or a token: longer than passwords, made by machines (gitleaks: `generic-api-key`).
const KEY_LABELS: &str = r"(?:(?P<private>private[ _-]?key|私钥|私鑰)|(?:secret[ _-]?)?access[ _-]?(?:key|token)|api[ _-]?(?:key|secret|token)|apikey|auth(?:entication)?[ _-]?token|client[ _-]?secret|secret[ _-]?key|signing[ _-]?key|encryption[ _-]?key|webhook[ _-]?secret|bot[ _-]?token|refresh[ _-]?token|bearer|authorization:\s*basic|token|secret|密钥|秘钥|令牌|访问令牌)";

/// Labels of a short number that unlocks something.
const PIN_LABELS: &str = r"(?:(?-u:\b)(?:pin(?: code| number)?|cvv2?|cvc|otp)|verification code|security code|one-time code|验证码|驗證碼|取款码|动态码|支付密码|银行卡密码|校验码)";

/// Labels of a wallet's seed phrase.
const SEED_PHRASE_LABELS: &str =
    "(?:seed phrase|recovery phrase|seed words|mnemonic(?: phrase)?|wallet phrase|助记词|助記詞)";

/// All labels: most texts have none, and one search shows it.
static LABELS: LazyLock<RegexSet> = LazyLock::new(|| {
    let labels = [PASSWORD_LABELS, KEY_LABELS, PIN_LABELS, SEED_PHRASE_LABELS];
    RegexSet::new(labels.map(|label| format!("(?i){label}"))).expect("valid")
});

/// Password with its label; between them either a mark (`m`) or a word (`w`).
static PASSWORD: LazyLock<Regex> = LazyLock::new(|| {
    let between = r#"(?:_\w+)?["'`]?\s*(?:\([^)]{0,20}\)\s*)?(?:(?P<m>\s*(?:=>|->|[=:：＝])\s*["'`]?)|(?P<w>(?:\s+(?:is now|is set to|is|was|to)\s+|\s*(?:设置为|设为|改为|改成了|改成|应该是|还是|就是|是|为)\s*|\s+)["'`“]?))"#;
    compile(&format!("{PASSWORD_LABELS}{between}(?P<v>[!-~]+)"))
});

static KEY: LazyLock<Regex> = LazyLock::new(|| {
    let between = r#"(?:_id)?["'`]?\s*(?:=>|->|[=:：＝]|is|是|为|\s)\s*["'`“]?"#;
    compile(&format!("{KEY_LABELS}{between}(?P<v>[A-Za-z0-9_./+=~-]{{12,}})"))
});

static PIN: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(r"{PIN_LABELS}\s*(?:=|:|：|is|是|为|was)?\s*(?P<v>[0-9]{{3,8}})"))
});

static SEED_PHRASE: LazyLock<Regex> = LazyLock::new(|| {
    let between = r"[^a-z\n]{0,12}(?:is |are |是)?[^a-z\n]{0,4}";
    compile(&format!(
        "{SEED_PHRASE_LABELS}{between}(?P<v>(?:[a-z]{{3,8}}[ ,]+){{11,23}}[a-z]{{3,8}})"
    ))
});

/// Next parameter of a URL.
static NEXT_QUERY_PARAM: LazyLock<Regex> = LazyLock::new(|| compile(r"&\w+="));

/// Values of `password:` in forms and manuals, which are no secrets.
#[rustfmt::skip]
const FORM_VALUES: &[&str] = &[
    "required", "optional", "string", "none", "null", "nil", "true", "false", "forgotten", "forgot", "reset", "change", "changed",
    "incorrect", "invalid", "wrong", "missing", "unknown", "hidden", "hashed", "encrypted", "same", "secret", "password", "text",
    "field", "input", "must", "should", "cannot", "the", "this", "see", "please", "enter", "expired", "protected", "manager",
    "policy", "strength", "empty", "blank", "default", "todo", "tbd", "n/a", "varchar", "bytes", "process", "getenv", "config",
    "stored", "rotated", "updated", "set", "a", "an", "in", "on", "ask", "use", "not", "str", "bool", "int", "user", "username",
];

fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){pattern}")).expect("valid")
}

pub(super) fn find(text: &str, found: &mut Vec<SecretMatch>) {
    let labels = LABELS.matches(text);
    if labels.matched(0) {
        found.extend(PASSWORD.captures_iter(text).filter_map(|it| match_password(&it)));
    }
    if labels.matched(1) {
        found.extend(KEY.captures_iter(text).filter_map(|it| match_key(&it)));
    }
    if labels.matched(2) {
        found.extend(PIN.captures_iter(text).filter_map(|it| match_pin(text, &it)));
    }
    if labels.matched(3) {
        let phrase = |it: Captures<'_>| to_match(&it, SecretKind::SeedPhrase, None);
        found.extend(SEED_PHRASE.captures_iter(text).filter_map(phrase));
    }
}

/// Returns the captured value as a secret, cut to its first `len` bytes.
fn to_match(captured: &Captures<'_>, kind: SecretKind, len: Option<usize>) -> Option<SecretMatch> {
    let value = captured.name("v")?;
    let end = len.map_or(value.end(), |len| value.start() + len);
    Some(SecretMatch { kind, span: value.start()..end })
}

fn match_password(captured: &Captures<'_>) -> Option<SecretMatch> {
    let captured_value = captured.name("v")?.as_str();
    let is_marked = captured.name("m").is_some();
    let value = captured_value.split(['"', '\'', '`']).next()?;
    let value = &value[..NEXT_QUERY_PARAM.find(value).map_or(value.len(), |next| next.start())];
    let value = value.trim_end_matches(['.', ':', ',', ';', ')', ']', '}']);
    let is_secret =
        if is_marked { is_plausible_password(value) } else { mixes_character_classes(value) };
    let is_code = value.starts_with("[secret")
        || value.contains("://")
        || value.contains("::")
        || value.contains("()")
        || value.starts_with('.');
    (is_secret && !is_placeholder(value) && !is_code)
        .then(|| to_match(captured, SecretKind::Password, Some(value.len())))
        .flatten()
}

/// Returns `true` if a value after `password:` is one: anything of some length that no form would say.
fn is_plausible_password(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_member = lower.contains('.') && !has_char(value, char::is_ascii_digit);
    value.len() >= 4 && !FORM_VALUES.contains(&lower.as_str()) && !is_member
}

/// Returns `true` if a value in prose is a password rather than a word: digits among letters, or marks within.
fn mixes_character_classes(value: &str) -> bool {
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

fn match_key(captured: &Captures<'_>) -> Option<SecretMatch> {
    let value = captured.name("v")?.as_str().trim_end_matches(['.', '/', '-']);
    let kind = match captured.name("private") {
        Some(_) => SecretKind::PrivateKey,
        None => SecretKind::ApiKey,
    };
    let (letters, digits) =
        (has_char(value, char::is_ascii_alphabetic), has_char(value, char::is_ascii_digit));
    // Identifiers and paths have words in them; 3.2 bits a character is above English words joined by marks.
    let is_path =
        value.contains('/') && !has_char(value, char::is_ascii_uppercase) || value.contains("..");
    let is_random = letters && digits && value.len() >= 16 && entropy(value) >= 3.2;
    (is_random && !is_placeholder(value) && !is_path)
        .then(|| to_match(captured, kind, Some(value.len())))
        .flatten()
}

fn match_pin(text: &str, captured: &Captures<'_>) -> Option<SecretMatch> {
    let value = captured.name("v")?;
    let after = text[value.end()..].chars().next();
    let goes_on = after.is_some_and(|c| c.is_ascii_alphanumeric() || c == '-' || c == '位');
    (!goes_on).then(|| to_match(captured, SecretKind::Password, None)).flatten()
}
