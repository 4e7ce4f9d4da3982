//! Tense of a statement, as far as it decides whether "March 5" lies ahead.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::language::Language;

/// Time that a statement speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tense {
    /// Time that is over.
    Past,
    /// Time to come.
    Future,
    /// No sign of either.
    Unclear,
}

static FUTURE: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:will|won't|shall|going to|gonna|i'll|we'll|he'll|she'll|they'll|it'll|due|deadline|upcoming|until|next|tomorrow|have to|has to|need to|needs to|must|supposed to|about to|hope to|plan(?:s|ning)? to|want to|expecting|(?:is|are|'re|'m|am) (?:\w+ing)|(?:decided|agreed|planned|meant|hoped|promised|wanted|chose|scheduled|booked|planned|pencilled in|set|pushed|postponed|bumped|delayed|rescheduled|brought forward|invited) (?:to|for|on|back to|until|till|in)|starts|begins|ends|closes|opens|expires|leaves|arrives|launch(?:es)?|ships?|goes live|flying|takes place)\b",
    )
});

/// Signs of time to come only before a day or a month: "moved to Friday" and "by March", but not "moved to Porto in
/// September" and "hired by Acme in March".
static FUTURE_BEFORE_DAY: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:by|moved (?:back |up |forward )?(?:to|until|till)) (?:the )?(?:(?:end|start|beginning|middle) of |early |mid |late |this )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|day|week|month|year|spring|summer|autumn|winter|noon|tonight|\d{1,4}(?:st|nd|rd|th)?)\b",
    )
});

/// Arrangements, whose day lies ahead although they were made before: "I've booked a table for 5 January".
static ARRANGED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:booked|reserved|scheduled|arranged|signed up|registered)\b.{0,60}\b(?:for|on)\b|(?:\b(?:have|has|got)|['’]ve got|['’]s got)\b.{0,40}\b(?:tickets?|flights?|appointments?|reservations?|bookings?|exams?|tests?|interviews?|surgery|operations?|check-?ups?|scans?|meetings?|viewings?|weddings?|parties|party|trips?|deadlines?)\b.{0,60}\b(?:for|on|at|in)\b",
    )
});

static PAST: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:was|were|had|did|didn't|wasn't|weren't|went|came|got|took|made|said|told|saw|met|left|gave|bought|began|became|flew|drove|ran|broke|fell|lost|found|paid|sold|sent|spent|held|kept|felt|quit|won|wrote|read|ago|last|yesterday|since|been|[a-z]{2,}ed)\b",
    )
});

static CHINESE_FUTURE: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"要|(?:就|才|都|我|他|她|们|应该)会|将|准备|打算|计划|得去|得交|得走|定在|改到|挪到|推到|推迟|延期|提前到|安排|预约|约了|约好|订了|定了|定下|报名|报到|截止|到期|上线$|之前|以前交|交稿|去|飞|出发|开始|开学|开庭|考试|入职|复诊|手术|搬|交|发布|婚礼|举行",
    )
});

/// Intentions and arrangements, whose day lies ahead, also with the mark of a new state: 三月就要结婚了, 已经订好了1月22号的机票.
static CHINESE_INTENT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"打算|准备|计划|即将|快要|就要|将要|马上要|想在|要[^，。；,;]{0,12}了|(?:改|挪|推|延|定)(?:迟|期|后|前)?[到成在]|提前到|(?:订|约|抢|报|排)(?:好|到|了|下|上|名)+",
    )
});

/// Intentions of another time.
static CHINESE_THEN: LazyLock<Regex> =
    LazyLock::new(|| compile(r"当时|那时|原来|原本|本来|曾|去年|前年|后来"));

/// Deeds, with words between the verb and its mark: 九月回老家了, 三月换的工作.
static CHINESE_DONE: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"[月号日年](?:初|底|中旬?|末)?[^，。；,;]{0,10}了(?:$|[。！!~～，,；;\s])|(?:换|买|卖|搬|生|考|结|办|做|去|来|回|辞|离|入职|毕业|开始|装修|领|认识|出生|手术)[^，。；,;]{0,2}的[^，。；,;]{0,3}$",
    )
});

static CHINESE_PAST: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?:上线|搬|去|来|做|买|卖|生|考|结婚|离婚|毕业|入职|离职|辞职|出院|住院|开始|查出|换|装|签|交|发布|手术|出生|到|回)(?:到|完|好|成|掉|过)?了|过了|刚|已经|当时|那时|之前就|曾经|早就|昨天|前天|上周|上个?月|去年|前年",
    )
});

/// Returns the tense of a statement.
pub(super) fn tense_of(text: &str, language: Language) -> Tense {
    match language {
        Language::Chinese => chinese_tense(text),
        _ => english_tense(text),
    }
}

/// "Decided to launch" has signs of both: it is the launch whose day is told.
fn english_tense(text: &str) -> Tense {
    let signs = [&FUTURE, &FUTURE_BEFORE_DAY, &ARRANGED];
    if signs.iter().any(|sign| sign.is_match(text)) {
        Tense::Future
    } else if PAST.is_match(text) {
        Tense::Past
    } else {
        Tense::Unclear
    }
}

/// The sign of what is done is clearer than a verb that often lies ahead, but not than an intention.
fn chinese_tense(text: &str) -> Tense {
    if CHINESE_INTENT.is_match(text) && !CHINESE_THEN.is_match(text) {
        Tense::Future
    } else if CHINESE_PAST.is_match(text) || CHINESE_DONE.is_match(text) {
        Tense::Past
    } else if CHINESE_FUTURE.is_match(text) {
        Tense::Future
    } else {
        Tense::Unclear
    }
}

fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){pattern}")).expect("valid")
}
