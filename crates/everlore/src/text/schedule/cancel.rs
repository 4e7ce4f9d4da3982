//! Requests to end or move a reminder: "don't remind me on Monday", 取消明天9点的提醒. They make no schedule.
//!
//! A task may hold a negation of its own ("remind me not to eat late", 提醒我不要忘记吃药): only one that stands before the
//! request, or speaks of the reminder itself, cancels.

use std::sync::LazyLock;

use regex::Regex;

/// Returns the words that end or move a reminder, if `text` asks for that.
pub(super) fn cancelling_words(chars: &[char]) -> Option<String> {
    let text: String = chars.iter().collect();
    let found = NEGATED.captures(&text).filter(|found| is_free(&text, found));
    let ends = |found: &regex::Captures<'_>| is_free(&text, found) && ends_reminder(&text, found);
    let found = found.or_else(|| ENDED.captures_iter(&text).find(ends));
    let found = found.or_else(|| PUT_OFF.captures(&text))?;
    let words = found.iter().skip(1).flatten().next()?;
    Some(words.as_str().trim().to_owned())
}

/// Returns `true` if no request to remind stands before the match, and the match denies the reminder itself.
fn is_free(text: &str, found: &regex::Captures<'_>) -> bool {
    let Some(whole) = found.get(0) else { return false };
    let before = &text[..whole.start()];
    // 特别提醒我, 分别提醒我.
    let is_compound = whole.as_str().starts_with('别')
        && before.ends_with(['特', '分', '告', '性', '个', '级', '区', '识']);
    let is_kept = KEPT.is_match(whole.as_str()) || before.trim_end().ends_with("why");
    !is_compound && !is_kept && !REQUEST.is_match(before)
}

/// Returns `true` if the reminder itself is what ends or changes: not a smoke alarm, the batteries of an alarm, or push
/// notifications that are turned on.
fn ends_reminder(text: &str, found: &regex::Captures<'_>) -> bool {
    let Some(whole) = found.get(0) else { return false };
    let after = &text[whole.end()..];
    let is_kind = OTHER_KIND.is_match(whole.as_str());
    let is_part = PART_OF_OTHER.is_match(after);
    let is_turned = found.get(1).is_some_and(|verb| matches!(verb.as_str(), "turn" | "switch"));
    !is_kind && !is_part && (!is_turned || TURNED_OFF.is_match(text))
}

/// Alarms, schedules and notifications that are things of their own.
static OTHER_KIND: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(?:smoke|fire|car|burglar|intruder|security|home|house|monoxide|gas|flood|boat|bike|push|email|slack|phone|browser|app",
        r"|price|google|news|stock|weather|traffic|flight|project|class|school|shift|train|bus|production|release|staff|work|team|course",
        r"|exam|payment|delivery|on-?call|duty|vacation|holiday|feeding|cleaning|watering|oven|kitchen|sprinkler|irrigation|heating",
        r"|thermostat|pool|light|garden|chess|backup|medication|workout|study|travel|tour|game|match)s?",
        r" (?:alarms?|schedules?|notifications?|alerts?|timers?)$",
    ))
});

/// Nouns behind an alarm or a reminder that make it a part of something else.
static PART_OF_OTHER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^ (?:batter(?:y|ies)|dashboards?|panels?|systems?|codes?|pages?|lists?|logs?|rules?|channels?|settings?|screens?|configs?",
        r"|configuration|apps?|emails?|letters?|cards?|notes?|templates?|services?|contracts?|company|boards?|boxes|box|tables?|files?",
        r"|documents?|docs?|spreadsheets?|sheets?|sensors?|sounds?|tones?|thresholds?|queues?|webhooks?|tests?|scripts?|code)\b",
        r"|^(?:表|应用|软件|服务|功能|系统|页面|列表|规则|电池|铃声|面板|代码|脚本|app)",
    ))
});

static TURNED_OFF: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:off|down)\b"));

/// Words by which a reminder is asked for.
static REQUEST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:remind|reminder|ping|nudge|alert|notify|wake|tell|alarm)\b|提醒|叫我|喊我|通知我|叫醒|闹钟|告诉我",
    )
});

/// Negations that ask for a reminder all the same.
static KEPT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"forget|let me|miss|fail|hesitate|忘|漏|错过|迟到|耽误"));

/// A negation before the request, within its clause.
static NEGATED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(don'?t|do not|never|stop|quit|no longer|no need|not|without|no more|no|enough with)\b",
        r"[^,.;!?]{0,40}?\b(?:remind(?:ing|ed|ers?)?|ping(?:ing|ed|s)?|nudg(?:e|es|ing)|alert(?:s|ing)?|notif(?:y|ied|ying|ications?)",
        r"|wak(?:e|ing) me|alarms?|bother(?:ing)?|disturb(?:ing)?|bug(?:ging)? me|call(?:ing)? me|text(?:ing)? me)\b",
        r"|(不要|别|不用|不必|不需要|无需|不想|不再|甭|没必要|用不着)[^，。；,;!！？?]{0,14}?(?:提醒|叫我|喊我|通知我|闹钟|闹铃|叫醒|打扰|吵我|推送)",
    ))
});

/// A verb that ends a reminder, with the reminder; or a reminder with the verb behind it.
static ENDED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(cancel|skip|stop|delete|remove|drop|disable|turn off|switch off|forget|kill|clear|undo|pause|mute|unset|scrap|call off|never mind|nevermind",
        r"|move|reschedule|postpone|push|shift|change|delay|snooze|silence|get rid of|turn|switch|ignore|bring forward|put off|put back|update|edit|adjust|reset)\b",
        r"[^,.;!?]{0,40}?\b(?:reminders?|alarms?|schedules?|notifications?|alerts?|wake-?up calls?|timers?|nudges?|pings?)\b",
        r"|(取消|删除|删掉|删了|关掉|关闭|关了|去掉|跳过|撤销|撤掉|停掉|停止|暂停|停了|屏蔽|推迟|延后|移除|清除)[^，。；,;!！？?]{0,16}?(?:提醒|闹钟|闹铃|定时|日程)",
        r"|(?:提醒|闹钟|闹铃|定时|日程)(?:先|都|就|给我|给|帮我|请)?[^，。；,;!！？?我]{0,8}?(取消|删除|删掉|删了|删|关掉|关闭|关了|关|去掉|停掉|停了|停|免了|撤销|不要|不用|不需要|改到|改成|改为|推迟|移到|提前到)(?:掉|了|吧|[0-9一二三四五六七八九十上下早晚明后周]|$|[，。；,;!！])",
    ))
});

/// A phrase that only puts off or drops what was asked before.
static PUT_OFF: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s*(never ?mind\b|cancel (?:that|it|this)\b|forget (?:that|it)\b|leave me alone\b|skip (?:it|that|this one|tomorrow|today|next|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b|算了|当我没说)",
    )
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is valid")
}

#[cfg(test)]
mod tests {
    use super::cancelling_words;
    use crate::text::schedule::lexer::normalized;

    #[test]
    fn a_request_to_end_a_reminder_is_found() {
        for text in [
            "don't remind me on Monday at 9",
            "stop reminding me every day at 9",
            "cancel my 9am reminder tomorrow",
            "skip tomorrow's 9am reminder",
            "no more reminders on Fridays",
            "I don't need a reminder on Monday",
            "turn the 7am alarm off on Saturday",
            "never mind the 8am alarm tomorrow",
            "move my 9am reminder to 10am",
            "每天不要提醒我",
            "不用每天9点叫我了",
            "取消明天9点的提醒",
            "明天上午10点的提醒不要了",
            "把明天9点的提醒改到10点",
            "别再每天8点提醒我了",
            "reset my 7am alarm to 8am tomorrow",
            "update my reminder for Friday to 5pm",
            "turn off the alarm tomorrow",
            "clear all alerts on Monday",
            "change the schedule for tomorrow",
            "把明天7点的闹钟关掉",
        ] {
            assert!(cancelling_words(&normalized(text)).is_some(), "{text}");
        }
    }

    #[test]
    fn a_task_may_hold_a_negation() {
        for text in [
            "remind me at 9 not to forget the keys",
            "don't forget to remind me at 9",
            "don't let me forget to call at 5",
            "why don't you remind me at 9",
            "cancel my gym membership tomorrow at 9",
            "stop the dishwasher at 9",
            "every day at 9 remind me to stop calling Bob",
            "remind me to cancel the alarm contract at 9",
            "每天9点提醒我不要忘记吃药",
            "别忘了明天9点叫我",
            "特别提醒我明天9点交作业",
            "每天9点提醒我关掉空调",
            "今晚别熬夜，明早7点叫我",
            "每天9点叫我，周日不用",
            "change the smoke alarm batteries on Nov 5 at 8am",
            "reset the fire alarm tomorrow at 9am",
            "turn on push notifications tomorrow at 9",
            "update the project schedule every Friday at 4pm",
            "clear the alerts dashboard every Monday at 9",
            "turn the car alarm on at 10pm",
            "edit the reminder email template at 3pm",
            "delete the old alarm codes on Friday",
            "change the sprinkler timer on Sunday at 9",
            "明天9点更新项目日程",
            "下午三点清除日程表缓存",
        ] {
            assert_eq!(cancelling_words(&normalized(text)), None, "{text}");
        }
    }
}
