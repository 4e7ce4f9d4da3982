//! Numbers with a checksum: payment cards, identity cards, bank accounts; and social security numbers by their label.

use std::{ops::Range, sync::LazyLock};

use jiff::civil::Date;
use regex::Regex;

use super::{SecretKind, SecretMatch};

static IBAN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?-u)\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
        .expect("valid")
});

/// Social security number of the United States, behind its label: it has no checksum.
static SOCIAL_SECURITY_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    let label = "(?:(?-u:\\b)ssn(?-u:\\b)|social security|社会安全号|社安号)";
    let number = "(?P<v>[0-9]{3}[- .]?[0-9]{2}[- .]?[0-9]{4})(?-u:\\b)";
    Regex::new(&format!("(?i){label}[^0-9\\n]{{0,30}}{number}")).expect("valid")
});

/// Payment card behind its label: the label says enough without a right check digit.
static LABELLED_CARD: LazyLock<Regex> = LazyLock::new(|| {
    let english =
        "(?-u:\\b)(?:(?:credit|debit|bank) card|card)(?: (?:number|no\\.?|nr\\.?|num|#))?";
    let label = format!("(?:{english}|卡号|卡號|银行卡|銀行卡|信用卡|储蓄卡)(?:号码|号)?");
    let number = "(?P<v>[2-6][0-9]{3}[ -]?[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{2,7}(?:[ -][0-9]{1,4})?)";
    Regex::new(&format!("(?i){label}(?: is|是|为)?[ \\t:：#=]{{0,4}}{number}")).expect("valid")
});

pub(super) fn find(text: &str, found: &mut Vec<SecretMatch>) {
    let accounts = IBAN.find_iter(text).filter(|it| is_iban(it.as_str()));
    found
        .extend(accounts.map(|it| SecretMatch { kind: SecretKind::BankAccount, span: it.range() }));
    let numbers =
        SOCIAL_SECURITY_NUMBER.captures_iter(text).filter_map(|it| Some(it.name("v")?.range()));
    found.extend(numbers.map(|span| SecretMatch { kind: SecretKind::IdNumber, span }));
    found.extend(LABELLED_CARD.captures_iter(text).filter_map(|it| labelled_card(text, &it)));
    found.extend(digit_runs(text).filter_map(|span| classify_digits(text, span)));
}

fn labelled_card(text: &str, captured: &regex::Captures<'_>) -> Option<SecretMatch> {
    let span = captured.name("v")?.range();
    let goes_on = text[span.end..].starts_with(|c: char| c.is_ascii_alphanumeric());
    let digits = text[span.clone()].bytes().filter(u8::is_ascii_digit).count();
    ((14..=19).contains(&digits) && !goes_on)
        .then_some(SecretMatch { kind: SecretKind::Card, span })
}

/// Iterates over digits with single blanks, hyphens or dots between them, and an X at the end.
fn digit_runs(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && !bytes[at].is_ascii_digit() {
            at += 1;
        }
        let start = at;
        let mut end = at;
        while at < bytes.len() {
            let is_digit = bytes[at].is_ascii_digit();
            let joins = matches!(bytes[at], b' ' | b'-' | b'.')
                && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
            if !is_digit && !joins {
                break;
            }
            at += 1;
            end = at;
        }
        if end < bytes.len() && matches!(bytes[end], b'X' | b'x') {
            end += 1;
            at = end;
        }
        (end > start).then_some(start..end)
    })
}

fn classify_digits(text: &str, span: Range<usize>) -> Option<SecretMatch> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-' | '+');
    let before = text[..span.start].ends_with(is_word);
    let after =
        text[span.end..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '/');
    let digits: Vec<u8> = text[span.clone()].bytes().filter(u8::is_ascii_alphanumeric).collect();
    if before || after || !(13..=19).contains(&digits.len()) {
        return None;
    }
    let kind = if is_chinese_id(&digits) && digits.len() == span.len() {
        SecretKind::IdNumber
    } else if is_card(&digits) && has_card_grouping(&text[span.clone()]) {
        SecretKind::Card
    } else {
        return None;
    };
    Some(SecretMatch { kind, span })
}

/// Returns `true` for the groupings of card numbers: in one, in fours, or in 4-6-5 and 4-6-4.
fn has_card_grouping(text: &str) -> bool {
    let groups: Vec<usize> = text.split([' ', '-', '.']).map(str::len).collect();
    match groups.as_slice() {
        [_] | [4, 6, 4 | 5] => true,
        [fours @ .., last] => fours.iter().all(|group| *group == 4) && *last <= 4,
        [] => false,
    }
}

/// Returns `true` for a number with the prefix of an issuer and a right check digit.
fn is_card(digits: &[u8]) -> bool {
    if !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let first = |count: usize| {
        digits[..count].iter().fold(0_u32, |number, digit| number * 10 + u32::from(digit - b'0'))
    };
    let is_issued = match digits.len() {
        13 => first(1) == 4,
        14 => matches!(first(2), 36 | 38) || matches!(first(3), 300..=305),
        15 => matches!(first(2), 34 | 37),
        16 => {
            first(1) == 4
                || matches!(first(2), 51..=55 | 62 | 65)
                || matches!(first(4), 2221..=2720 | 3528..=3589 | 6011)
        }
        17..=19 => first(2) == 62,
        _ => false,
    };
    is_issued && passes_luhn(digits)
}

fn passes_luhn(digits: &[u8]) -> bool {
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let sum: u32 = digits
        .iter()
        .rev()
        .map(|digit| u32::from(digit - b'0'))
        .enumerate()
        .map(|(index, digit)| if index % 2 == 1 { doubled(digit) } else { digit })
        .sum();
    sum.is_multiple_of(10) && digits.iter().any(|digit| *digit != digits[0])
}

/// Returns `true` for a Chinese identity card: region, birthday, and a check digit that may be X.
fn is_chinese_id(digits: &[u8]) -> bool {
    const WEIGHTS: [u32; 17] = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    let Some((check, body)) = digits.split_last().filter(|(_, body)| body.len() == 17) else {
        return false;
    };
    if !body.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let part = |range: Range<usize>| {
        body[range].iter().fold(0_i16, |number, digit| number * 10 + i16::from(digit - b'0'))
    };
    let (year, month, day) = (part(6..10), part(10..12), part(12..14));
    let is_born = (1900..2100).contains(&year) && Date::new(year, month as i8, day as i8).is_ok();
    let sum: u32 =
        body.iter().zip(WEIGHTS).map(|(digit, weight)| u32::from(digit - b'0') * weight).sum();
    let expected = b"10X98765432"[(sum % 11) as usize];
    matches!(part(0..2), 11..=65 | 71 | 81..=83)
        && is_born
        && check.to_ascii_uppercase() == expected
}

/// Returns `true` for an IBAN: its letters as numbers, its beginning at the end, one more than a multiple of 97.
fn is_iban(text: &str) -> bool {
    let bare: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').collect();
    if !(15..=34).contains(&bare.len()) {
        return false;
    }
    let turned = bare[4..].iter().chain(&bare[..4]);
    let rest = turned.fold(0_u32, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from(byte - b'A') + 10) % 97,
    });
    rest == 1
}
