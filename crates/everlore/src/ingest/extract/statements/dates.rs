//! Dates beside relative ones: "next Friday" becomes "next Friday (6 March 2026)", so that a statement can be read weeks
//! later. The words that were said stay.

use std::sync::LazyLock;

use jiff::{Timestamp, ToSpan, Zoned};
use regex::Regex;

use super::tense::{Tense, tense_of};
use crate::text::{
    dates::{TimeMention, find_times},
    language::Language,
};

/// Dates that lack only their year.
static YEARLESS: LazyLock<Regex> = LazyLock::new(|| {
    let months = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec";
    Regex::new(&format!(
        r"(?i)^(?:in |on |by |until |before |early |mid |late )*(?:the )?(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?)?(?:{months})|^[\d一二三四五六七八九十]+月"
    ))
    .expect("valid")
});

/// Bare weekdays, which may mean every such day.
static BARE_WEEKDAY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:on |by )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?(?: (?:morning|afternoon|evening|night))?$|^(?:周|星期|礼拜|週|禮拜)[一二三四五六日天](?:早上|上午|中午|下午|晚上)?$")
        .expect("valid")
});

/// Parts of a day without their day, which name an hour of any day: 下午, "in the morning".
static PART_OF_DAY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:in |at )?(?:the )?(?:morning|noon|afternoon|evening|night|midnight)s?$|^(?:一?大早|清早|清晨|早晨|早上|上午|中午|下午|傍晚|晚上|夜里|深夜|半夜|凌晨)$")
        .expect("valid")
});

/// Rules for every such day: 周五不要安排会议, "no meetings on Friday".
static STANDING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:no|never|only|avoid|don['’]?t|do not)\b|不要|不能|不许|不接|不用|别给|别在|从不|从来|只|固定|习惯")
        .expect("valid")
});

/// Reminders, which are no rule for every such day.
static REMINDER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\bforget\b|\bremember\b|忘|记得").expect("valid"));

/// Weekday that is joined to the text before it or after it: "Monday and Wednesday" is a habit as often as not.
static JOINED_AFTER: LazyLock<Regex> =
    LazyLock::new(|| joined(r"^\s*(?:{and})\s*(?:on )?(?:{day})"));
static JOINED_BEFORE: LazyLock<Regex> =
    LazyLock::new(|| joined(r"(?:{day})[早上中下晚午]*\s*(?:\([^)]*\))?\s*(?:{and})\s*$"));

fn joined(pattern: &str) -> Regex {
    let day =
        r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:周|星期|礼拜|週|禮拜)[一二三四五六日天]";
    let and = r"and|or|&|/|、|和|与|跟|及|或";
    let pattern = pattern.replace("{day}", day).replace("{and}", and);
    Regex::new(&format!("(?i){pattern}")).expect("valid")
}

/// Bare days of a month: 七号 may also be a house number.
static BARE_MONTH_DAY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:on |by )?the \d{1,2}(?:st|nd|rd|th)$|^[\d一二三四五六七八九十]+[号號日]$")
        .expect("valid")
});

/// Durations and rates, which name no day: 现在一天走八十碗, "ran it in 2 hours".
static DURATION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^in (?:\w+ )?(?:hours?|minutes?|seconds?)$|^(?:现在|目前|最近)?[一二两三四五六七八九十几半\d]*(?:天|周|个?星期|个?礼拜|年|个月|小时|分钟)$")
        .expect("valid")
});

/// Text after a date that belongs to it, so that the date alone means something else: 三月十六, "the Saturday after".
static CONTINUES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:[一二三四五六七八九十\d初廿]|\s*(?:after|before|following|previous)\b|[之以]?[前后]|那|[-–—~～至到]\s*\d|\s+of\s+(?:every|each|the|a)\b)")
        .expect("valid")
});

/// Text before a bare weekday that counts it within a month: 下个月最后一个周五, "the second Friday".
static COUNTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:最后一?个?|第[一二三四五1-5]个?|\b(?:first|second|third|fourth|fifth|last|every|each)\s+)$")
        .expect("valid")
});

/// Weekday counted within a month without a year: another year has it on another day.
static OF_NAMED_MONTH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)day (?:of|in) (?:[a-z]+)$").expect("valid"));

/// Present tense of an appointment: "the flight is on the 14th".
static APPOINTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:\b(?:is|are|comes|falls|flies|returns)|'s|’s)(?: \w+){0,2}? (?:on |by )?$")
        .expect("valid")
});

/// Statements about what comes every year, week or day: a date in them has no year.
static RECURRING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:birthdays?|born|anniversar(?:y|ies)|every|each|always|usually|yearly|annually|weekly|daily|monthly|paid|payday|salary|rent|bins|(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b|生日|出生|生于|纪念日|忌日|每(?:年|周|天|月|逢|个|隔)|平时|通常|一般都|农历|阴历|腊月|正月|工资|发薪|房租")
        .expect("valid")
});

/// Longest duration in hours of a day, a week, a month and a year, with one for a clock change, and the format of each.
const DATE_FORMATS: [(i64, &str, &str); 4] = [
    (25, "%-d %B %Y", "%Y年%-m月%-d日"),
    (7 * 24 + 1, "the week of %-d %B %Y", "%Y年%-m月%-d日那周"),
    (31 * 24 + 1, "%B %Y", "%Y年%-m月"),
    (366 * 24 + 1, "%Y", "%Y年"),
];

/// Most days back of a date without a year that a statement of unclear tense may mean: of a date just past, only the
/// tense tells whether it is over or comes again.
const MAX_DAYS_BACK: i32 = 45;

/// Writes the dates that a statement means beside those that depend on the day on which it was said.
pub(super) fn with_dates(text: &str, now: &Zoned, language: Language) -> String {
    let is_recurring = RECURRING.is_match(text);
    let mut dated = String::new();
    let mut end = 0;
    for mention in find_times(text, now) {
        let words = text[mention.span.clone()].trim();
        if DURATION.is_match(words) || CONTINUES.is_match(&text[mention.span.end..]) {
            continue;
        }
        let tense = tense_of_mention(text, &mention, language);
        if PART_OF_DAY.is_match(words) || may_be_any(text, words, &mention, tense) {
            continue;
        }
        let resolver = DateResolver { now, language, tense, is_recurring };
        if let Some(date) = resolver.date_beside(words, &mention) {
            dated.push_str(&text[end..mention.span.end]);
            dated.push_str(&resolver.in_brackets(&date));
            end = mention.span.end;
        }
    }
    dated.push_str(&text[end..]);
    dated
}

/// Returns `true` for a weekday or a day of the month that may be every such day.
fn may_be_any(text: &str, words: &str, mention: &TimeMention, tense: Tense) -> bool {
    let (before, after) = (&text[..mention.span.start], &text[mention.span.end..]);
    let is_rule = tense != Tense::Past && STANDING.is_match(text) && !REMINDER.is_match(text);
    match DateCycle::of(words) {
        DateCycle::Week => {
            let is_joined = JOINED_AFTER.is_match(after) || JOINED_BEFORE.is_match(before);
            COUNTED.is_match(before) || is_joined || is_rule
        }
        DateCycle::Month => is_rule,
        DateCycle::None | DateCycle::Year => false,
    }
}

/// Returns the tense of a time: a day of the month that something *is* on lies ahead.
fn tense_of_mention(text: &str, mention: &TimeMention, language: Language) -> Tense {
    let tense = tense_at(text, mention, language);
    let words = text[mention.span.clone()].trim();
    let is_appointed = tense == Tense::Unclear
        && DateCycle::of(words) == DateCycle::Month
        && APPOINTED.is_match(&text[..mention.span.start]);
    if is_appointed { Tense::Future } else { tense }
}

/// Returns the tense of the clause that names a time.
fn tense_at(text: &str, mention: &TimeMention, language: Language) -> Tense {
    let breaks: &[char] = match language {
        Language::Chinese => &[',', ';', '，', '；', '。', '\n', ' '],
        _ => &[',', ';', '\n'],
    };
    let start = text[..mention.span.start].rfind(breaks).unwrap_or(0);
    let end = text[mention.span.end..].find(breaks).map_or(text.len(), |at| mention.span.end + at);
    tense_of(&text[start..end], language)
}

struct DateResolver<'a> {
    now: &'a Zoned,
    language: Language,
    tense: Tense,
    is_recurring: bool,
}

impl DateResolver<'_> {
    fn in_brackets(&self, date: &str) -> String {
        match self.language {
            Language::Chinese => format!("({date})"),
            _ => format!(" ({date})"),
        }
    }

    /// Returns the date that the words mean; `None` if they say it themselves, or nobody can tell.
    fn date_beside(&self, words: &str, mention: &TimeMention) -> Option<String> {
        let has_year = words.chars().filter(char::is_ascii_digit).count() >= 4;
        if has_year || mention.end == Timestamp::MAX {
            return None;
        }
        let step = DateCycle::of(words);
        if (step != DateCycle::None || mention.coming.is_some()) && self.is_recurring {
            return None;
        }
        if mention.start == Timestamp::MIN {
            return self.end_beside(mention, step);
        }
        let is_over = self.zoned(mention.end) <= *self.now;
        if OF_NAMED_MONTH.is_match(words) && is_over && self.tense != Tense::Past {
            return None;
        }
        let (start, end) = match mention.coming {
            Some(coming) => self.holiday(mention, coming)?,
            None => self.occurrence(mention, step)?,
        };
        let hours = end.timestamp().duration_since(start.timestamp()).as_hours();
        let (_, english, chinese) = DATE_FORMATS.iter().find(|(most, ..)| hours <= *most)?;
        let is_whole_year = start.month() == 1 && start.day() == 1;
        let is_year = *english == "%Y";
        (!is_year || is_whole_year).then(|| self.format_date(&start, english, chinese))
    }

    /// Returns the date of an open range: "by Friday".
    fn end_beside(&self, mention: &TimeMention, step: DateCycle) -> Option<String> {
        if self.tense == Tense::Past {
            return None;
        }
        let end = self.zoned(mention.end);
        let end = if end > *self.now { end } else { step.next(&end)? };
        Some(self.format_date(&end, "before %-d %B %Y", "%Y年%-m月%-d日之前"))
    }

    /// Returns the occurrence of a holiday; without a tense it may be every one.
    fn holiday(
        &self,
        latest: &TimeMention,
        coming: (Timestamp, Timestamp),
    ) -> Option<(Zoned, Zoned)> {
        let is_on = self.zoned(latest.end) > *self.now;
        let (start, end) = match self.tense {
            _ if is_on => (latest.start, latest.end),
            Tense::Past => (latest.start, latest.end),
            Tense::Future => coming,
            Tense::Unclear => return None,
        };
        Some((self.zoned(start), self.zoned(end)))
    }

    /// Returns the occurrence of a date that comes again: the last for the past, the next otherwise.
    fn occurrence(&self, mention: &TimeMention, step: DateCycle) -> Option<(Zoned, Zoned)> {
        let (start, end) = (self.zoned(mention.start), self.zoned(mention.end));
        if step == DateCycle::None || end > *self.now {
            return Some((start, end));
        }
        let is_bare = matches!(step, DateCycle::Week | DateCycle::Month);
        match self.tense {
            Tense::Past => Some((start, end)),
            Tense::Future => next_occurrence(step, &start, &end),
            // A weekday without a tense may be every such day.
            Tense::Unclear if is_bare => None,
            Tense::Unclear if end > self.now.checked_sub(MAX_DAYS_BACK.days()).ok()? => None,
            Tense::Unclear => next_occurrence(step, &start, &end),
        }
    }

    fn zoned(&self, at: Timestamp) -> Zoned {
        at.to_zoned(self.now.time_zone().clone())
    }

    fn format_date(&self, at: &Zoned, english: &str, chinese: &str) -> String {
        let format = if self.language == Language::Chinese { chinese } else { english };
        at.strftime(format).to_string()
    }
}

/// Returns the next occurrence of a time, as long as the one given.
fn next_occurrence(step: DateCycle, start: &Zoned, end: &Zoned) -> Option<(Zoned, Zoned)> {
    let next = step.next(start)?;
    let next_end = next.checked_add(end.duration_since(start)).ok()?;
    Some((next, next_end))
}

/// Time after which a date comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DateCycle {
    None,
    Week,
    Month,
    Year,
}

impl DateCycle {
    fn of(words: &str) -> Self {
        if YEARLESS.is_match(words) {
            Self::Year
        } else if BARE_WEEKDAY.is_match(words) {
            Self::Week
        } else if BARE_MONTH_DAY.is_match(words) {
            Self::Month
        } else {
            Self::None
        }
    }

    fn next(self, at: &Zoned) -> Option<Zoned> {
        match self {
            Self::None => None,
            Self::Week => at.checked_add(7.days()).ok(),
            // Of any two months in a row, one has 31 days.
            Self::Month => (1..=2)
                .filter_map(|months| at.checked_add(months.months()).ok())
                .find(|next| next.day() == at.day()),
            Self::Year => at.checked_add(1.year()).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dated(text: &str, now: &str) -> String {
        let now = now.parse::<Timestamp>().unwrap().to_zoned(jiff::tz::TimeZone::UTC);
        let language = crate::text::language::detect_language(text);
        with_dates(text, &now, language)
    }

    const MONDAY: &str = "2026-03-02T10:00:00Z";
    const NOVEMBER: &str = "2026-11-17T10:00:00Z";

    #[test]
    fn the_date_stands_beside_the_words_that_were_said() {
        for (text, expected) in [
            ("the demo is next Friday", "the demo is next Friday (6 March 2026)"),
            ("We moved to Utrecht last month.", "We moved to Utrecht last month (February 2026)."),
            ("she arrives tomorrow at 9", "she arrives tomorrow (3 March 2026) at 9"),
            ("下周五交稿", "下周五(2026年3月13日)交稿"),
            ("我们上个月搬到苏州了。", "我们上个月(2026年2月)搬到苏州了。"),
            ("论文下周五之前要交。", "论文下周五之前(2026年3月13日之前)要交。"),
            ("截止日期是下周五", "截止日期是下周五(2026年3月13日)"),
        ] {
            assert_eq!(dated(text, MONDAY), expected);
        }
    }

    #[test]
    fn a_year_that_lies_ahead_lies_ahead() {
        for (text, expected) in [
            ("We launch on March 5", "We launch on March 5 (5 March 2027)"),
            ("We decided to launch on March 5.", "We decided to launch on March 5 (5 March 2027)."),
            ("we're having a baby in March", "we're having a baby in March (March 2027)"),
            ("going to Japan in April", "going to Japan in April (April 2027)"),
            ("the demo moved to March 5", "the demo moved to March 5 (5 March 2027)"),
            ("3月5号上线", "3月5号(2027年3月5日)上线"),
            ("我们四月去日本", "我们四月(2027年4月)去日本"),
        ] {
            assert_eq!(dated(text, NOVEMBER), expected);
        }
    }

    #[test]
    fn the_past_lies_behind() {
        for (text, expected) in [
            ("We launched on March 5", "We launched on March 5 (5 March 2026)"),
            ("I had the knee done in January", "I had the knee done in January (January 2026)"),
            ("We moved to Porto in September", "We moved to Porto in September (September 2026)"),
            ("We moved to Marseille in March", "We moved to Marseille in March (March 2026)"),
            ("I was hired by Acme in March", "I was hired by Acme in March (March 2026)"),
            ("I ran it yesterday, in 2 hours", "I ran it yesterday (16 November 2026), in 2 hours"),
            ("3月5号上线了", "3月5号(2026年3月5日)上线了"),
            ("昨天查出来血糖高", "昨天(2026年11月16日)查出来血糖高"),
        ] {
            assert_eq!(dated(text, NOVEMBER), expected);
        }
    }

    #[test]
    fn a_weekday_counted_within_a_month_is_one_day() {
        for (text, expected) in [
            (
                "the gala is the last Friday of next month",
                "the gala is the last Friday of next month (25 December 2026)",
            ),
            ("We meet on the first Monday of December", "We meet on the first Monday of December"),
            (
                "the review is the third Tuesday of this month",
                "the review is the third Tuesday of this month (17 November 2026)",
            ),
            (
                "rent club meets the last Friday of every month",
                "rent club meets the last Friday of every month",
            ),
            ("下个月最后一个周五要交报告", "下个月(2026年12月)最后一个周五要交报告"),
            ("last Friday we ate fish", "last Friday (13 November 2026) we ate fish"),
        ] {
            assert_eq!(dated(text, NOVEMBER), expected);
        }
    }

    #[test]
    fn a_day_of_the_month_that_something_is_on_lies_ahead() {
        for (text, expected) in [
            ("Denver flight is on the 14th", "Denver flight is on the 14th (14 December 2026)"),
            (
                "The Denver flight is on the 20th",
                "The Denver flight is on the 20th (20 November 2026)",
            ),
            (
                "The Denver flight was on the 14th",
                "The Denver flight was on the 14th (14 November 2026)",
            ),
            ("The rent review is on the 31st", "The rent review is on the 31st"),
            ("The dance is on the 31st", "The dance is on the 31st (31 December 2026)"),
            ("the 14th floor", "the 14th floor"),
        ] {
            assert_eq!(dated(text, NOVEMBER), expected);
        }
    }

    #[test]
    fn what_comes_again_or_has_its_year_stays_as_it_is() {
        for text in [
            "My birthday is on May 14.",
            "I was born on March 5",
            "I play chess on Mondays",
            "every Friday we eat fish",
            "the contract ends on 5 March 2028",
            "我的生日是5月14日",
            "每周五发版",
            "合同到2028年3月5日",
        ] {
            assert_eq!(dated(text, NOVEMBER), text);
        }
    }

    #[test]
    fn arrangements_and_what_is_done_tell_the_year() {
        for (text, expected) in [
            (
                "I've got a flight to Guangzhou on 22 January, back on 9 February.",
                "I've got a flight to Guangzhou on 22 January (22 January 2027), back on 9 February (9 February 2027).",
            ),
            (
                "I've booked a table for 5 January",
                "I've booked a table for 5 January (5 January 2027)",
            ),
            (
                "We've got tickets for the opera on 14 January",
                "We've got tickets for the opera on 14 January (14 January 2027)",
            ),
            (
                "I've got my exam on 10 February",
                "I've got my exam on 10 February (10 February 2027)",
            ),
            ("I had an exam on 22 January", "I had an exam on 22 January (22 January 2026)"),
            ("我婆婆九月回老家了", "我婆婆九月(2026年9月)回老家了"),
            ("我三月换的工作", "我三月(2026年3月)换的工作"),
            ("我们五月结的婚", "我们五月(2026年5月)结的婚"),
            ("我们三月就要结婚了", "我们三月(2027年3月)就要结婚了"),
            ("已经订好了1月22号的机票", "已经订好了1月22号(2027年1月22日)的机票"),
        ] {
            assert_eq!(dated(text, NOVEMBER), expected);
        }
    }

    #[test]
    fn a_holiday_is_the_coming_one_if_it_is_planned_and_the_last_if_it_is_over() {
        for (text, expected) in [
            ("春节打算带全家去哈尔滨", "春节(2027年2月)打算带全家去哈尔滨"),
            ("圣诞节我们要去爱尔兰", "圣诞节(2026年12月24日那周)我们要去爱尔兰"),
            (
                "We're going to Rome at Easter",
                "We're going to Rome at Easter (the week of 26 March 2027)",
            ),
            ("We went to Rome at Easter", "We went to Rome at Easter (the week of 3 April 2026)"),
            ("At Christmas we go to my parents", "At Christmas we go to my parents"),
            ("每年清明我都回大邑扫墓", "每年清明我都回大邑扫墓"),
        ] {
            assert_eq!(dated(text, NOVEMBER), expected);
        }
    }

    #[test]
    fn habits_and_parts_of_a_day_get_no_date() {
        for text in [
            "我每周日上午去教会。",
            "我学二胡，每周五下午上课。",
            "开会我只排在下午，上午留给自己做设计。",
            "我上午不接电话。",
            "我每天下午喝一杯茶。",
            "周五不要给我安排会议。",
            "我的普拉提课改到周一和周三了。",
            "My yoga class moved to Monday and Wednesday.",
            "No meetings on Friday please",
            "I only take calls in the afternoon",
        ] {
            assert_eq!(dated(text, NOVEMBER), text);
        }
        let reminder = "Don't forget the report is due on Friday";
        assert_eq!(dated(reminder, NOVEMBER), format!("{reminder} (20 November 2026)"));
    }
}
