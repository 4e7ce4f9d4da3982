//! Stale memories: their validity is over, the day they look ahead to has passed, their check fails, or something on
//! this machine that they name is gone.

use std::sync::LazyLock;

use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use regex::Regex;

use super::fault::{AuditFix, Fault, FaultKind, quote};
use crate::{
    text::dates::find_times,
    types::{CheckResult, CheckStatus, Kind, Memory, Origin},
};

/// Time after a day has passed until a statement about it counts as outdated: what was planned for it is still being
/// talked about.
const GRACE: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Least time between a statement and the day it looks ahead to: of what is said on the day itself, nobody can tell.
const AHEAD: SignedDuration = SignedDuration::from_hours(24);

/// Words by which a statement looks ahead.
static LOOKS_AHEAD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:will|going to|plans?|planned|planning|due|deadline|upcoming|scheduled|expires?|until|next|by|ship|launch|starts?|moving|is on|are on|trip|visit(?:ing)?|appointment|meeting|exam|interview|flight|conference|release|ends?|ending|valid (?:until|through))\b|要|将|会|打算|计划|准备|截止|到期|安排|预计|之前|即将|下周|下个?月|明年|行程|预约|会议|考试|面试|航班|发布|上线",
    )
    .expect("valid")
});

/// Words of what comes back every year, or has no end.
static RECURS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:birthday|born|anniversary|every|each|annual(?:ly)?|yearly|weekly|monthly|since|holiday)\b|生日|出生|生于|纪念日|每年|每月|每周|每天|周年|以来|自从",
    )
    .expect("valid")
});

/// Returns the fault of a memory that no longer holds by the calendar.
pub(super) fn find_expired(memory: &Memory, now: Timestamp, zone: &TimeZone) -> Option<Fault> {
    if let Some(end) = memory.valid_until().filter(|end| *end <= now) {
        let why = format!("{} held until {}", quote(memory), day(end, zone));
        return Some(Fault::of(memory, FaultKind::Stale, AuditFix::Archive, why));
    }
    let passed = passed_day(memory, now, zone)?;
    let why = format!("{} looks ahead to {}, which has passed", quote(memory), day(passed, zone));
    Some(Fault::of(memory, FaultKind::Stale, AuditFix::Ask, why))
}

/// Returns the last day that a statement looks ahead to, if it has passed since it was made. Only days with their year
/// count: what was extracted has them beside relative ones.
fn passed_day(memory: &Memory, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let text = &memory.content;
    // Knowledge rarely ends: only what announces a day does.
    let may_expire = matches!(memory.kind, Kind::User | Kind::Project | Kind::Reference)
        || memory.kind == Kind::Knowledge && (ANNOUNCES.is_match(text) || ENDS.is_match(text))
        || memory.source.via == Origin::Import;
    if !may_expire || !text.contains("20") || !LOOKS_AHEAD.is_match(text) || RECURS.is_match(text) {
        return None;
    }
    let said = memory.at.to_zoned(zone.clone());
    let times = find_times(text, &said);
    let last =
        times.iter().filter(|time| names_year(&text[time.span.clone()])).max_by_key(|it| it.end)?;
    let is_closed = last.start > Timestamp::MIN && last.end < Timestamp::MAX;
    // A file or an export may be younger than what it says: words that announce are enough then.
    let is_ahead = last.start.duration_since(memory.at) >= AHEAD
        || is_unsaid(memory) && ANNOUNCES.is_match(text);
    let has_passed = now.duration_since(last.end) >= GRACE;
    (is_closed && is_ahead && has_passed).then_some(last.start)
}

/// Returns `true` if nothing tells when a statement was made: an import without a date of its own.
fn is_unsaid(memory: &Memory) -> bool {
    memory.source.via == Origin::Import && memory.source.turns.is_empty()
}

/// Words that only announce: what happened is told in other words.
static ANNOUNCES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:(?:is|are) (?:planned|scheduled|due|expected)|planned for|scheduled for|upcoming|will|plans? to|going to|due (?:on|by))\b|计划|预计|打算|将于|将在|截止",
    )
    .expect("valid")
});

/// Words of appointments and of what runs out.
static ENDS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:appointment|expires?|valid (?:until|through)|(?:contract|lease|freeze|licen[cs]e|warranty|subscription|trial|certificate|deadline|sale|offer|visa|passport|permit)s? (?:ends?|runs out|is over)|deadline)\b|到期|预约|截止|有效期",
    )
    .expect("valid")
});

fn names_year(text: &str) -> bool {
    let digits = text.split(|c: char| !c.is_ascii_digit());
    digits.into_iter().any(|digits| digits.len() == 4 && digits.starts_with("20"))
}

/// Returns the fault of a memory whose check fails.
pub(crate) fn check_fault(memory: &Memory, result: &CheckResult) -> Option<Fault> {
    let why = || format!("the check of {} fails: {}", quote(memory), result.why());
    (result.verdict == CheckStatus::Stale)
        .then(|| Fault::of(memory, FaultKind::Stale, AuditFix::Ask, why()))
}

/// Returns the fault of a memory that names something which is gone.
pub(crate) fn missing_fault(memory: &Memory, missing: &str) -> Fault {
    let why = format!("{} names {missing}, which is not on this machine", quote(memory));
    Fault::of(memory, FaultKind::Stale, AuditFix::Ask, why)
}

fn day(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%Y-%m-%d").to_string()
}
