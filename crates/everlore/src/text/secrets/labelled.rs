//! Values behind a label: `password: …`, "my PIN is …", 密码是…. The value itself is read by `labelled_value.rs`.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    SecretKind, SecretMatch, entropy, has_char, is_example_key, is_placeholder,
    labelled_value::{
        LabelledValue, Separator, read_next_line, read_remark, read_value, read_value_after_gap,
    },
    shapes::{is_algorithm, is_product_like, is_scrambled, is_short_key, mixes_character_classes},
    spoken,
};

/// Labels of a password.
const PASSWORDS: &str = "password|passwd|passphrase|passcode|passwort|passw|pwd|contraseña|mot de passe|wachtwoord|пароль|密码|密碼|口令|登录密|暗号|通行码|パスワード|비밀번호";

/// Short labels of a password, which are also ordinary words.
const WEAK_PASSWORDS: &str = "pass|pw";

/// Labels of a key or a token: longer than passwords, made by machines (gitleaks: `generic-api-key`,
/// `alibaba-secret-key`, `curl-auth-header`; trufflehog: `AWS`, `AzureStorage`, `AzureSasToken`, `Twilio`).
const KEYS: &str = r"(?:secret[ _-]?)?access[ _-]?(?:key|token)(?:[ _-]?secret)?|account[ _-]?key|shared[ _-]?access[ _-]?key|api[ _-]?(?:key|secret|token)|apikey|auth(?:entication)?[ _-]?token|client[ _-]?secret|app[ _-]?secret|secret[ _-]?key(?:[ _-]?base)?|signing[ _-]?key|encryption[ _-]?key|webhook[ _-]?secret|bot[ _-]?token|refresh[ _-]?token|private[ _-]?token|bearer|authorization:\s{0,4}basic|token|secret|密钥|秘钥|令牌|访问令牌";

/// Labels of a short number that unlocks something.
const PINS: &str = r"(?-u:\b)pin ?码|(?-u:\b)(?:pin(?: code| number)?|cvv2?|cvc2?|otp)(?-u:\b)|verification code|security code|one-time code|access code|(?:door|gate|alarm|keypad|garage|unlock) code|门禁码|开门码|开锁码|解锁码|暗証番号|验证码|驗證碼|取款码|动态码|支付密码|银行卡密码|取款密码|校验码";

/// Labels of a wallet's seed phrase.
const SEED_PHRASES: &str = "seed phrase|recovery phrase|backup phrase|seed words|mnemonic(?: phrase)?|wallet phrase|助记词|助記詞";

/// All labels; the name of the group is the sort.
static LABELS: LazyLock<Regex> = LazyLock::new(|| {
    let private = "private[ _-]?key|私钥|私鑰";
    let groups = [
        ("seed", SEED_PHRASES),
        ("pin", PINS),
        ("password", PASSWORDS),
        ("private", private),
        ("key", KEYS),
        ("weak", WEAK_PASSWORDS),
        ("sig", r"[?&;]sig="),
    ];
    let groups = groups.map(|(name, labels)| format!("(?P<{name}>{labels})"));
    Regex::new(&format!("(?i){}", groups.join("|"))).expect("valid")
});

/// Phrase of a wallet behind its label.
static SEED_WORDS: LazyLock<Regex> = LazyLock::new(|| {
    let between = r"[^a-z\n]{0,12}(?:is |are |是)?[^a-z\n]{0,4}";
    Regex::new(&format!("(?i)^{between}(?P<v>(?:[a-z]{{3,8}}[ ,]{{1,3}}){{11,23}}[a-z]{{3,8}})"))
        .expect("valid")
});

/// Login of a registry in a configuration of Docker: name and password in base64.
static DOCKER_AUTH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?-u)"auth"\s{0,8}:\s{0,8}"(?P<v>[A-Za-z0-9+/]{12,512}={0,2})""#).expect("valid")
});

/// Name of a user right before the label of the password.
static USER_BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i-u)\b(?:user|username|user name|login|account|usr)\b[ :=]{1,3}[!-+.-~]{1,64}[ ,;]{1,3}(?:and )?$")
        .expect("valid")
});

/// Bytes before a short label in which a user is named.
const MAX_USER_BYTES: usize = 90;

/// Bytes that a seed phrase of 24 words takes, with its label.
const MAX_PHRASE_BYTES: usize = 320;

/// Values of `password:` in forms and manuals, which are no secrets.
#[rustfmt::skip]
const FORM_VALUES: &[&str] = &[
    "required", "optional", "string", "none", "null", "nil", "true", "false", "forgotten", "forgot", "reset", "change", "changed",
    "incorrect", "invalid", "wrong", "missing", "unknown", "hidden", "hashed", "encrypted", "same", "secret", "password", "text",
    "field", "input", "must", "should", "cannot", "the", "this", "see", "please", "enter", "expired", "protected", "manager",
    "policy", "strength", "empty", "blank", "default", "todo", "tbd", "n/a", "varchar", "bytes", "process", "getenv", "config",
    "stored", "rotated", "updated", "set", "a", "an", "in", "on", "ask", "use", "not", "str", "bool", "int", "user", "username",
    "plaintext", "random", "bcrypt", "argon2id", "correct", "numeric", "number", "biometric",
];

/// Runs of neighbouring keys, which people type as passwords and never as words.
const KEYBOARD_RUNS: [&str; 4] = ["qwert", "asdfg", "zxcvb", "1qaz"];

pub(super) fn find(text: &str, found: &mut Vec<SecretMatch>) {
    for captured in LABELS.captures_iter(text) {
        let Some(label) = captured.get(0) else { continue };
        let is = |group: &str| captured.name(group).is_some();
        let (start, end) = (label.start(), label.end());
        let secret = if is("seed") {
            match_phrase(text, end)
        } else if is("pin") {
            match_pin(text, start, end)
        } else if is("password") {
            match_password(text, start, end)
        } else if is("weak") {
            match_weak_password(text, start, end)
        } else if is("sig") {
            match_signature(text, end)
        } else {
            let kind = if is("private") { SecretKind::PrivateKey } else { SecretKind::ApiKey };
            match_key(text, start, end, kind)
        };
        found.extend(secret);
        let is_short = is("weak") && end - start == 2 && !is_within_word(text, start);
        if is("password") || is_short || is("pin") && text[start..end].contains('密') {
            let spans = spoken::find_around(text, start, end);
            let spans = spans.into_iter().chain(spoken_phrase(text, start, end));
            found.extend(spans.map(|span| SecretMatch { kind: SecretKind::Password, span }));
        }
    }
    let logins = DOCKER_AUTH.captures_iter(text).filter_map(|captured| captured.name("v"));
    let logins = logins.filter(|login| is_random(login.as_str(), false));
    found.extend(
        logins.map(|login| SecretMatch { kind: SecretKind::Password, span: login.range() }),
    );
}

fn match_phrase(text: &str, end: usize) -> Option<SecretMatch> {
    let rest = super::bounded(&text[end..], MAX_PHRASE_BYTES);
    let words = SEED_WORDS.captures(rest)?.name("v")?;
    let span = end + words.start()..end + words.end();
    Some(SecretMatch { kind: SecretKind::SeedPhrase, span })
}

fn spoken_phrase(text: &str, start: usize, end: usize) -> Option<std::ops::Range<usize>> {
    let is_phrase = text[start..end].eq_ignore_ascii_case("passphrase");
    if is_phrase { spoken::find_phrase(text, end) } else { None }
}

fn match_password(text: &str, start: usize, end: usize) -> Option<SecretMatch> {
    let direct = read_value(text, start, end).filter(|value| is_password(text, start, value));
    let value = direct
        .or_else(|| read_value_after_gap(text, end).filter(|value| is_code_in_prose(value.text)))
        .or_else(|| read_remark(text, end).filter(|value| is_remarked_password(text, end, value)))
        .or_else(|| read_next_line(text, end).filter(|value| is_typed(value.text)))?;
    Some(SecretMatch { kind: SecretKind::Password, span: value.span })
}

/// Returns `true` for a password in brackets behind its label. Behind an English one stands a format as often.
fn is_remarked_password(text: &str, label_end: usize, value: &LabelledValue<'_>) -> bool {
    let is_chinese = text[..label_end].ends_with(|c: char| !c.is_ascii());
    is_typed(value.text) && (is_chinese || is_scrambled(value.text))
}

/// Returns `true` for a value that someone typed: classes of characters in one word, no format's name and no code.
pub(super) fn is_typed(value: &str) -> bool {
    mixes_character_classes(value)
        && !is_algorithm(value)
        && !is_placeholder(value)
        && !is_code(value)
}

fn is_password(text: &str, label: usize, value: &LabelledValue<'_>) -> bool {
    let named = |name: &str| {
        text[label..].get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name))
    };
    let is_phrase = named("passphrase");
    let is_chinese = text[label..].starts_with(|c: char| !c.is_ascii());
    let is_secret = match value.separator {
        Separator::Mark if value.text.contains(' ') => {
            is_phrase && value.text.split(' ').count() <= 8
        }
        Separator::Mark => is_plausible_password(value.text),
        Separator::Word => {
            mixes_character_classes(value.text)
                || is_scrambled(value.text)
                || is_chinese && is_word_at_clause_end(text, value)
        }
        Separator::Blank => {
            mixes_character_classes(value.text)
                || is_scrambled(value.text)
                || is_keyboard_run(value.text)
                || (is_chinese || named("passcode")) && is_door_code(text, value)
        }
        Separator::Adjacent => {
            mixes_character_classes(value.text) && value.text.len() >= 6 || is_scrambled(value.text)
        }
    };
    // `echo $PASSWORD | sudo`: the mark is a pipe.
    let is_variable = text[..label].ends_with(['$', '{']);
    let is_piped = is_variable && text[label..value.span.start].contains('|');
    let is_excepted =
        is_placeholder(value.text) || is_code(value.text) || is_algorithm(value.text) || is_piped;
    is_secret && !is_excepted
}

/// Returns `true` for letters that end their clause, as in 密码是Qwertyui: 密码是Base64编码的 goes on.
fn is_word_at_clause_end(text: &str, value: &LabelledValue<'_>) -> bool {
    let is_word = value.text.chars().all(|c| c.is_ascii_alphabetic());
    let next = text[value.span.end..].trim_start_matches([' ', '\t']).chars().next();
    let ends = next.is_none_or(|c| "。，！；、,.!;\n\r)）”\"」".contains(c));
    is_word && value.text.len() >= 6 && ends && is_plausible_password(value.text)
}

fn is_keyboard_run(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    KEYBOARD_RUNS.iter().any(|run| lower.contains(run))
}

/// Returns `true` for the code of a door or a phone: four to ten digits that count nothing, perhaps with `#` or `*`.
fn is_door_code(text: &str, value: &LabelledValue<'_>) -> bool {
    let digits = value.text.trim_matches(['#', '*']);
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    let next = text[value.span.end..].trim_start_matches([' ', '\t']).chars().next();
    let counts = next.is_some_and(|c| "位个年月日次字-".contains(c) || c.is_ascii_alphanumeric());
    is_number && (4..=10).contains(&digits.len()) && !(counts && digits == value.text)
}

fn is_within_word(text: &str, start: usize) -> bool {
    text[..start].ends_with(|c: char| c.is_alphanumeric())
}

/// Accepts values of short labels where the label is the key of a setting or the value is no word.
fn match_weak_password(text: &str, start: usize, end: usize) -> Option<SecretMatch> {
    if is_within_word(text, start) {
        return None;
    }
    let before = text[..start].chars().next_back();
    let value = read_value(text, start, end)?;
    let is_json =
        matches!(before, Some('"' | '\'')) && value.quoted && is_plausible_password(value.text);
    // "user mara pass …", and "pw …", which is no other word.
    let is_login = || {
        let before = last_bytes(&text[..start], MAX_USER_BYTES);
        let is_mine = before.to_ascii_lowercase().ends_with("my ") && !is_product_like(value.text);
        is_mine && value.separator == Separator::Word || USER_BEFORE.is_match(before)
    };
    let is_spoken = value.separator != Separator::Mark
        && is_typed(value.text)
        && (is_login() || text[start..end].len() == 2 && !is_product_like(value.text));
    let is_marked =
        value.separator == Separator::Mark && (is_json || mixes_character_classes(value.text));
    let is_secret = is_marked || is_spoken;
    (is_secret && !is_placeholder(value.text) && !is_code(value.text))
        .then_some(SecretMatch { kind: SecretKind::Password, span: value.span })
}

/// Returns `true` for what a program says in place of a password.
fn is_code(value: &str) -> bool {
    let is_call = value.contains('(') && !has_char(value, char::is_ascii_digit);
    value.starts_with("[secret")
        || value.contains("://")
        || value.contains("::")
        || value.contains("()")
        || value.starts_with('.')
        || is_call
}

/// Returns `true` if a value after `password:` is one: anything of some length that no form would say.
fn is_plausible_password(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_member = lower.contains('.') && !has_char(value, char::is_ascii_digit);
    value.len() >= 4 && value.is_ascii() && !FORM_VALUES.contains(&lower.as_str()) && !is_member
}

/// Returns `true` for what forms and manuals say in place of a password.
pub(super) fn is_form_value(value: &str) -> bool {
    FORM_VALUES.contains(&value.to_ascii_lowercase().as_str())
}

/// Returns `true` for a code that a sentence names some words after its label: digits, perhaps with letters and marks.
fn is_code_in_prose(value: &str) -> bool {
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let is_number = value.chars().all(|c| c.is_ascii_digit() || matches!(c, '#' | '*' | '-'));
    is_number && (4..=10).contains(&digits)
        || digits > 0 && mixes_character_classes(value) && !is_algorithm(value)
}

fn match_key(text: &str, start: usize, end: usize, kind: SecretKind) -> Option<SecretMatch> {
    let value = read_value(text, start, end)?;
    let is_key_char = |c: char| c.is_ascii_alphanumeric() || "_./+=~-".contains(c);
    let len = value.text.find(|c: char| !is_key_char(c)).unwrap_or(value.text.len());
    let key = value.text[..len].trim_end_matches(['.', '/', '-']);
    let label = text[start..end].to_ascii_lowercase();
    let is_header = label == "bearer" || label.ends_with("basic");
    // "Token" and "secret" alone are ordinary words.
    let is_sure = !matches!(&*label, "token" | "secret" | "bearer" | "令牌");
    let is_short = value.separator == Separator::Mark && is_short_key(key, is_sure);
    let is_key = is_short || is_random(key, is_header);
    (value.separator != Separator::Adjacent && is_key && !is_example_key(key))
        .then(|| SecretMatch { kind, span: value.span.start..value.span.start + key.len() })
}

/// Returns `true` for a value made by a machine. Identifiers and paths have words in them; 3.2 bits a character is above
/// English words joined by marks. A header may hold letters only.
pub(super) fn is_random(value: &str, is_header: bool) -> bool {
    let (letters, digits) =
        (has_char(value, char::is_ascii_alphabetic), has_char(value, char::is_ascii_digit));
    let upper = has_char(value, char::is_ascii_uppercase);
    let is_path = value.contains('/') && !upper || value.contains("..");
    let mixes =
        upper && has_char(value, char::is_ascii_lowercase) && (is_header || value.ends_with('='));
    let min_len = if value.ends_with('=') { 12 } else { 16 };
    letters && (digits || mixes) && value.len() >= min_len && entropy(value) >= 3.2 && !is_path
}

fn match_pin(text: &str, start: usize, end: usize) -> Option<SecretMatch> {
    let direct = read_value(text, start, end).and_then(|value| pin_of(text, &value));
    // The code of a card has three digits, which elsewhere may count something.
    let is_card = text[start..end].to_ascii_lowercase().starts_with("cv");
    let is_code = |value: &LabelledValue<'_>| {
        is_code_in_prose(value.text) || is_card && pin_of(text, value).is_some()
    };
    let after_gap = || read_value_after_gap(text, end).filter(is_code);
    let span = direct.or_else(|| after_gap().map(|value| value.span))?;
    Some(SecretMatch { kind: SecretKind::Password, span })
}

/// Returns the digits at the beginning of a value if they are a PIN: three to eight, and nothing that they count.
fn pin_of(text: &str, value: &LabelledValue<'_>) -> Option<std::ops::Range<usize>> {
    let digits = value.text.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.text.len());
    let end = value.span.start + digits;
    let mut after = text[end..].chars();
    let goes_on = match after.next() {
        Some('.') => after.next().is_some_and(|c| c.is_ascii_digit()),
        Some(c) => c.is_ascii_alphanumeric() || c == '-' || c == '位',
        None => false,
    };
    ((3..=8).contains(&digits) && !goes_on).then_some(value.span.start..end)
}

/// Finds the signature of a signed URL (trufflehog: `AzureSasToken`).
fn match_signature(text: &str, end: usize) -> Option<SecretMatch> {
    let is_value = |c: &char| c.is_ascii_alphanumeric() || "%/+=_-".contains(*c);
    let len: usize = super::bounded(&text[end..], 256).chars().take_while(is_value).count();
    let value = &text[end..end + len];
    (len >= 20 && entropy(value) >= 3.2)
        .then_some(SecretMatch { kind: SecretKind::Token, span: end..end + len })
}

/// Returns the end of a text, at most `max_bytes` long.
fn last_bytes(text: &str, max_bytes: usize) -> &str {
    let mut from = text.len().saturating_sub(max_bytes);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}
