//! Passwords on command lines that no label announces: `curl -u ann:…`, `mysql -p…`, `sshpass -p …`, `smbclient -U ann%…`.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::{SecretKind, SecretMatch, bounded, has_char, is_placeholder};

/// Bytes behind the name of a command that are read: a call with its options, and a bound for texts of nothing but names.
const MAX_COMMAND_BYTES: usize = 200;

/// Commands whose options hold passwords (gitleaks: `curl-auth-user`).
static NAMES: LazyLock<Regex> = LazyLock::new(|| {
    let names = "curl|wget|https?|mysql|mysqldump|mysqladmin|mariadb|sshpass|redis-cli|docker";
    Regex::new(&format!(r"(?-u)\b(?:{names})\b")).expect("valid")
});

/// Statements with a password behind fixed words: SQL, Oracle's form of a JDBC URL (trufflehog: `JDBC`), Windows shares,
/// what is piped into `sudo -S`, and Samba's `name%password`.
static STATEMENTS: LazyLock<Regex> = LazyLock::new(|| {
    let patterns = [
        r#"identified by ["'](?P<a>[!#-&(-~]{4,128})"#,
        r"jdbc:oracle:[a-z]{1,10}:[a-z0-9_]{1,64}/(?P<b>[!-?A-~]{3,128})@",
        r"\bnet use [ -{}~]{1,120}?/u(?:ser)?:[!-~]{1,64} {1,4}(?P<c>[!-.0-~][!-~]{3,127})",
        r"\bnet use (?:[a-z*]:? {1,4})?\\\\[!-~]{1,120} {1,4}(?P<d>[!-.0-~][!-~]{3,127}) {1,4}/u",
        r#"\b(?:echo|printf)(?: -n)? {1,4}["']?(?P<e>[!#-&(-{}~]{4,128})["']? {0,4}\| {0,4}sudo (?:-[a-z]{1,8} )?-(?-i:[a-z]{0,4}S)"#,
        r#"\bsudo (?-i:-S) [ -;=-~]{0,80}<<< {0,4}["']?(?P<f>[!#-&(-~]{4,128})"#,
        r#"\b(?:smbclient|rpcclient|smbget|smbmap|winexe)\b[ -{}~]{1,120}?(?:-U|--user)[ =]{0,4}["']?[!#-$&(-~]{1,64}%(?P<g>[!#-&(-~]{3,128})"#,
    ];
    Regex::new(&format!("(?i-u)(?:{})", patterns.join("|"))).expect("valid")
});

pub(super) fn find(text: &str, found: &mut Vec<SecretMatch>) {
    let in_commands =
        NAMES.find_iter(text).filter_map(|name| password_of(text, name.as_str(), name.end()));
    let in_statements = STATEMENTS
        .captures_iter(text)
        .filter_map(|captured| captured.iter().skip(1).flatten().next().map(|value| value.range()));
    let spans = in_commands.chain(in_statements).filter(|span| is_value(&text[span.clone()]));
    found.extend(spans.map(|span| SecretMatch { kind: SecretKind::Password, span }));
}

/// Returns the password among the options of a command.
fn password_of(text: &str, command: &str, from: usize) -> Option<Range<usize>> {
    let line = bounded(&text[from..], MAX_COMMAND_BYTES)
        .split(['\n', '|', ';'])
        .next()
        .unwrap_or_default();
    // `docker-platform` is one word, and names no option.
    if line.starts_with(|c: char| !c.is_whitespace()) {
        return None;
    }
    let mut is_next = false;
    let start_of = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    for word in line.split_ascii_whitespace() {
        let (option, attached) = split_option(command, word);
        let value = if is_next { word } else { attached };
        if (is_next || option) && !value.is_empty() {
            let bare = value.trim_matches(['"', '\'', '`']);
            let bare = if takes_login(command) { bare.split_once(':')?.1 } else { bare };
            return Some(start_of(bare)..start_of(bare) + bare.len());
        }
        is_next = option && takes_next_word(command);
    }
    None
}

/// Returns `true` if a word is the option that holds a password, and the part of the word behind the option.
fn split_option<'w>(command: &str, word: &'w str) -> (bool, &'w str) {
    let options: &[&str] = match command {
        "curl" | "wget" => &["--user=", "--user", "-u"],
        "http" | "https" => &["--auth=", "--auth", "-a"],
        "redis-cli" => &["-a"],
        _ => &["-p"],
    };
    let attached = options.iter().find_map(|option| word.strip_prefix(option));
    (attached.is_some(), attached.unwrap_or_default())
}

/// Returns `true` for commands that take name and password in one word.
fn takes_login(command: &str) -> bool {
    matches!(command, "curl" | "wget" | "http" | "https")
}

/// Returns `true` for commands whose option may stand apart from its value; `mysql -p` asks for one instead.
fn takes_next_word(command: &str) -> bool {
    !command.starts_with("my") && command != "mariadb"
}

/// Returns `true` for a value that is typed, not one that comes from elsewhere, a port or an option of the same letter.
fn is_value(value: &str) -> bool {
    let is_word = value.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let is_ports = value.chars().all(|c| c.is_ascii_digit() || c == ':' || c == '.');
    let is_mixed = has_char(value, char::is_ascii_digit) || value.len() >= 8;
    value.len() >= 4
        && !is_placeholder(value)
        && !value.starts_with('-')
        && !is_ports
        && (!is_word || is_mixed)
}
