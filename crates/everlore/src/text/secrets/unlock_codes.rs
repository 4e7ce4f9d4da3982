//! Codes that unlock something: recovery and backup codes of an account, the code of a safe, a locker or an alarm.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::{SecretKind, SecretMatch, bounded};

/// Bytes behind the label of a list of codes that are read: ten codes or so.
const MAX_LIST_BYTES: usize = 320;

/// Bytes around a code of a lock in which the lock is named.
const MAX_LOCK_BYTES: usize = 70;

/// Labels of codes that restore the access to an account.
static RECOVERY: LazyLock<Regex> = LazyLock::new(|| {
    let sort = r"(?-u:\b)(?:recovery|back-?up|2fa|two-factor|mfa|emergency|scratch|rescue)";
    let english = format!(
        r"{sort}(?: (?:2fa|mfa|login|account|access|backup|recovery))? (?:codes?|keys?)(?-u:\b)"
    );
    Regex::new(&format!("(?i){english}|恢复码|恢复代码|恢复密钥|备用码|备份码|备用验证码|救援码"))
        .expect("valid")
});

/// Words between such a label and its first code.
static TO_FIRST_CODE: LazyLock<Regex> = LazyLock::new(|| {
    let owner = r"(?: (?:for|of|to|from) [^:：=\n]{1,40}?)?";
    let english = r"(?: is| are|:|：| =)[ \t\n]{1,4}(?:now )?";
    Regex::new(&format!(
        r"^(?:{owner}{english}|[^\n:：是为，。]{{0,12}}?(?:是|为|：|:|有)[ \t\n]{{0,4}}| {{1,2}})"
    ))
    .expect("valid")
});

/// One code at the beginning of a text: groups of letters and digits, or one group of digits.
static CODE: LazyLock<Regex> = LazyLock::new(|| {
    let group = "[A-Za-z0-9]{3,8}";
    Regex::new(&format!(
        r"^(?:{group}(?:-{group}){{1,7}}|[0-9]{{4}} [0-9]{{4}}|[0-9]{{6,10}}|[A-Za-z0-9]{{8,16}})(?-u:\b)"
    ))
    .expect("valid")
});

/// Marks and words between two codes of a list.
static BETWEEN_CODES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:[ \t\n,;、，；/*•]|and |和|or |[0-9]{1,2}[.)] ){1,6}").expect("valid")
});

/// Date, which has the shape of a code.
static DATE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?|[0-9]{2}-[0-9]{2}-[0-9]{4})$").expect("valid")
});

/// Code of a lock in a sentence.
static LOCK_CODE: LazyLock<Regex> = LazyLock::new(|| {
    let label = r"(?-u:\b)(?:code|combination|combo)(?-u:\b)";
    let lock = r"(?P<lock>(?: (?:to|for|of|on|at) [a-z'’ ]{2,40}?)?)";
    let is = r"(?: is| was|'s|’s|:| =)(?: now| still)?[ \t:]{1,3}";
    Regex::new(&format!(
        r"(?i){label}{lock}{is}(?P<v>[0-9]{{1,3}}(?:-[0-9]{{1,3}}){{2,3}}|[0-9]{{3,10}}[#*]?)"
    ))
    .expect("valid")
});

/// Things that a code unlocks.
static LOCKS: LazyLock<Regex> = LazyLock::new(|| {
    let locks = "safe|garage|gate|door|alarm|locker|lock|padlock|vault|keypad|building|lobby|elevator|entrance|lockbox|key ?box|shed|suitcase|cabin";
    Regex::new(&format!(r"(?i)(?-u:\b)(?:{locks})(?-u:\b)")).expect("valid")
});

/// Words before `code` that make it no key: other codes name errors, places and goods.
#[rustfmt::skip]
const OTHER_CODES: [&str; 18] = [
    "error", "status", "exit", "return", "zip", "area", "country", "postal", "promo", "discount", "part", "product", "model", "order", "source", "color", "bar",
    "fault",
];

pub(super) fn find(text: &str, found: &mut Vec<SecretMatch>) {
    let mut push = |span| found.push(SecretMatch { kind: SecretKind::Password, span });
    for label in RECOVERY.find_iter(text) {
        codes_after(text, label.end()).into_iter().for_each(&mut push);
    }
    for captured in LOCK_CODE.captures_iter(text) {
        let (Some(whole), Some(value)) = (captured.get(0), captured.name("v")) else { continue };
        let before = end_of_sentence(&text[..whole.start()]);
        let last = before.trim_end().rsplit(' ').next().unwrap_or_default().to_ascii_lowercase();
        let is_lock = LOCKS.is_match(&captured["lock"]) || LOCKS.is_match(before);
        if is_lock && !OTHER_CODES.contains(&&*last) && !counts(&text[value.end()..]) {
            push(value.range());
        }
    }
}

/// Returns the codes of a list behind its label.
fn codes_after(text: &str, label_end: usize) -> Vec<Range<usize>> {
    let list = bounded(&text[label_end..], MAX_LIST_BYTES);
    let Some(first) = TO_FIRST_CODE.find(list) else { return Vec::new() };
    let (mut found, mut at) = (Vec::new(), first.end());
    while let Some(code) = CODE.find(&list[at..]).filter(|code| is_code(code.as_str())) {
        if counts(&list[at + code.end()..]) {
            break;
        }
        found.push(label_end + at..label_end + at + code.end());
        at += code.end();
        let Some(between) = BETWEEN_CODES.find(&list[at..]) else { break };
        at += between.end();
    }
    found
}

fn is_code(code: &str) -> bool {
    let digits = code.bytes().filter(u8::is_ascii_digit).count();
    let is_grouped = code.contains(['-', ' ']);
    digits >= 2 && !DATE.is_match(code) && (is_grouped || digits >= 3)
}

/// Returns `true` if a number counts what follows it: `4471 lines`.
fn counts(after: &str) -> bool {
    let word = after.trim_start_matches([' ', '-', '%']);
    let units = [
        "line", "char", "digit", "byte", "mm", "cm", "kg", "day", "week", "page", "time", "minute",
    ];
    let chinese = ["位", "个", "年", "月", "日", "次", "条", "行"];
    units.iter().chain(&chinese).any(|unit| word.starts_with(unit))
        || after.starts_with(|c: char| c.is_ascii_alphanumeric())
        || after.starts_with('.') && after[1..].starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the last sentence of a text, bounded.
fn end_of_sentence(before: &str) -> &str {
    let mut from = before.len().saturating_sub(MAX_LOCK_BYTES);
    while !before.is_char_boundary(from) {
        from += 1;
    }
    before[from..].rsplit(['.', '!', '?', '\n']).next().unwrap_or_default()
}
