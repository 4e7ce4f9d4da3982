//! Logins that are written as a pair: `admin / …`, `auth=("bob", "…")`, the text of a Wi-Fi QR code, `ssid … key …`, and
//! a field's name beside its value.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::{
    SecretKind, SecretMatch, bounded, has_char, is_placeholder,
    labelled::is_typed,
    mask_named_value,
    shapes::{is_address, is_product_like},
};

/// Bytes behind the label of a login that are searched for its pair.
const MAX_PAIR_BYTES: usize = 120;

/// Beginning of the text of a QR code for a wireless network.
const WIFI_CODE: &str = "WIFI:";

/// Bytes of such a text that are read.
const MAX_WIFI_BYTES: usize = 240;

/// Key of a wireless network behind the network's name; a key has eight characters at least.
static NETWORK_KEY: LazyLock<Regex> = LazyLock::new(|| {
    let network = r"(?:(?-u:\b)(?:ssid|wi-?fi|wlan|hotspot|network)(?-u:\b)|热点|无线)";
    let key = r"(?:(?-u:\b)(?:key|psk)(?-u:\b)|密钥|秘钥)";
    let is = r"(?: is| are|是|为)?[ \t:：=]{1,4}";
    Regex::new(&format!(r#"(?i){network}[^\n;。]{{0,50}}?{key}{is}["'“`]?(?P<v>[!-~]{{8,63}})"#))
        .expect("valid")
});

/// Name and password of a client in code.
static AUTH_PAIR: LazyLock<Regex> = LazyLock::new(|| {
    let open = r"(?:(?-u:\b)auth\s{0,2}=\s{0,2}[(\[]|BasicAuth\()";
    let text = |name: &str| format!(r#"["'](?P<{name}>[^"'\n]{{1,128}})["']"#);
    let (user, value) = (text("u"), text("v"));
    Regex::new(&format!(r"{open}\s{{0,4}}{user}\s{{0,4}},\s{{0,4}}{value}")).expect("valid")
});

/// Field's name beside its value, in JSON or YAML: `{"name": "API_KEY", "value": "…"}`.
static NAMED_VALUE: LazyLock<Regex> = LazyLock::new(|| {
    let quote = r#"\\{0,2}["']?"#;
    let name =
        format!(r"(?:name|key|k|字段){quote}\s{{0,4}}[:=]\s{{0,4}}{quote}(?P<n>[\w.-]{{2,64}})");
    let value = format!(
        r#"(?:value|val|v|值){quote}\s{{0,4}}[:=]\s{{0,4}}{quote}(?P<v>[^\s"'\\,}}]{{3,256}})"#
    );
    Regex::new(&format!(r"(?i)(?-u:\b){name}{quote}[\s,;-]{{1,24}}{quote}{value}")).expect("valid")
});

/// Labels of a login: name and password follow as a pair.
static LOGIN: LazyLock<Regex> = LazyLock::new(|| {
    let english = r"(?-u:\b)(?:log-?in|sign-?in|credentials?|creds|wi-?fi)(?-u:\b)";
    let chinese = "后台|账号|帐号|账户|登录|登陆|管理员|路由器|光猫|无线";
    Regex::new(&format!("(?i){english}|{chinese}")).expect("valid")
});

/// Pair of a name and a password.
static PAIR: LazyLock<Regex> = LazyLock::new(|| {
    let user = r"(?P<u>[A-Za-z0-9][A-Za-z0-9._@+-]{1,63})";
    let mark = r"(?: ?[/／|] ?| ?[:：] ?| and | 和 |，|, )";
    Regex::new(&format!(r#"{user}["'”]?(?P<m>{mark})["'“]?(?P<v>[!-~]{{6,64}})"#)).expect("valid")
});

/// Names that every device knows: what stands beside them is a password.
const KNOWN_USERS: [&str; 7] =
    ["admin", "root", "user", "useradmin", "administrator", "guest", "telecomadmin"];

pub(super) fn find(text: &str, found: &mut Vec<SecretMatch>) {
    let mut push = |kind, span| found.push(SecretMatch { kind, span });
    for (at, _) in text.match_indices(WIFI_CODE) {
        if let Some(span) = wifi_password(text, at + WIFI_CODE.len()) {
            push(SecretKind::Password, span);
        }
    }
    for value in NETWORK_KEY.captures_iter(text).filter_map(|it| it.name("v")) {
        let key = value.as_str().trim_end_matches(['.', ',', ';', ')', '"', '\'', '”', '`', '!']);
        if is_typed(key) && !is_address(key) && !is_product_like(key) {
            push(SecretKind::Password, value.start()..value.start() + key.len());
        }
    }
    for value in AUTH_PAIR.captures_iter(text).filter_map(|it| it.name("v")) {
        if value.len() >= 4 && !is_placeholder(value.as_str()) {
            push(SecretKind::Password, value.range());
        }
    }
    for captured in NAMED_VALUE.captures_iter(text) {
        let (Some(name), Some(value)) = (captured.name("n"), captured.name("v")) else { continue };
        if let Some((_, kind)) = mask_named_value(name.as_str(), value.as_str()) {
            push(kind, value.range());
        }
    }
    for label in LOGIN.find_iter(text).filter(|it| !text[it.end()..].starts_with(['.', '_', '('])) {
        if let Some(span) = password_of_pair(text, label.end()) {
            push(SecretKind::Password, span);
        }
    }
}

/// Returns the password among the fields of a QR code, `P:…;`; a backslash escapes the next character.
fn wifi_password(text: &str, start: usize) -> Option<Range<usize>> {
    let code = bounded(&text[start..], MAX_WIFI_BYTES);
    let (mut from, mut is_escaped) = (0, false);
    for (at, c) in code.char_indices() {
        match c {
            '\n' => return None,
            '\\' if !is_escaped => is_escaped = true,
            ';' if !is_escaped => {
                let value = code[from..at].strip_prefix("P:");
                if let Some(value) = value.filter(|it| it.len() >= 4 && !is_placeholder(it)) {
                    return Some(start + at - value.len()..start + at);
                }
                from = at + 1;
            }
            _ => is_escaped = false,
        }
    }
    None
}

/// Returns the password of the first pair behind the label of a login.
fn password_of_pair(text: &str, label_end: usize) -> Option<Range<usize>> {
    let rest = bounded(&text[label_end..], MAX_PAIR_BYTES);
    let line = rest.split(['\n', '。', '；']).next().unwrap_or_default();
    let is_pair = |user: &str, mark: &str, value: &str| {
        let is_known = KNOWN_USERS.contains(&&*user.to_ascii_lowercase()) || user.contains('@');
        let is_slash = matches!(mark, " / " | " ／ " | " | ");
        let is_made = !is_product_like(value) || has_char(value, |c| "!@#$%^&*_".contains(*c));
        is_typed(value)
            && !is_address(value)
            && has_char(value, |c| c.is_ascii_alphabetic())
            && !has_char(value, |c| "{}()[]<>\"".contains(*c))
            && (is_known && mark.trim() != "," || is_slash && is_made)
    };
    // Most lines hold nothing that could be a password.
    if !has_char(line, |c| c.is_ascii_digit() || "!@#$%^&*_+=~".contains(*c)) {
        return None;
    }
    let mut at = 0;
    while let Some(captured) = PAIR.captures_at(line, at) {
        let (user, value) = (captured.name("u")?, captured.name("v")?);
        let bare = value.as_str().trim_end_matches(['.', ',', ';', ')', '"', '\'', '”']);
        if is_pair(user.as_str(), &captured["m"], bare) {
            let start = label_end + value.start();
            return Some(start..start + bare.len());
        }
        // The value may be the name of the next pair.
        at = user.end();
    }
    None
}
