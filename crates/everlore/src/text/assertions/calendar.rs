//! Days of a text: a statement may resolve "last month" to a date, but not turn Friday into Monday.

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;

#[rustfmt::skip]
static WEEKDAYS: LazyLock<[Regex; 7]> = LazyLock::new(|| {
    [
        ("monday", "Mon", "一"), ("tuesday", "Tues?", "二"), ("wednesday", "Wed", "三"), ("thursday", "Thu(?:rs)?", "四"),
        ("friday", "Fri", "五"), ("saturday", "Sat", "六"), ("sunday", "Sun", "日天"),
    ]
    .map(|(english, short, chinese)| {
        let pattern = format!(r"\b(?:(?i:{english}s?)|{short})\b|(?:周|星期|礼拜|週)[{chinese}]");
        Regex::new(&pattern).expect("valid")
    })
});

#[rustfmt::skip]
static MONTHS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let english = [
        "jan(?:uary)?", "feb(?:ruary)?", "mar(?:ch)?", "apr(?:il)?", "May", "june?", "july?", "aug(?:ust)?", "sept?(?:ember)?",
        "oct(?:ober)?", "nov(?:ember)?", "dec(?:ember)?",
    ];
    let chinese = ["一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二"];
    let pattern = |(at, english): (usize, &&str)| {
        let flag = if at == 4 { "" } else { "(?i)" };
        let number = at + 1;
        let before = if number <= 2 { "(?:^|[^十0-9])" } else { "(?:^|[^0-9])" };
        Regex::new(&format!(
            r"{flag}\b{english}\b|{before}(?:{}|0?{number})月|\d{{4}}[-/]0?{number}\b", chinese[at],
        ))
        .expect("valid")
    };
    english.iter().enumerate().map(pattern).collect()
});

/// Times that a statement resolves to a date.
static RELATIVE_TIME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)\b(?:today|tonight|tomorrow|yesterday|now|just|recently|soon|ago|last|next|this|since|coming|past|previous|weekend
        |weeks?|months?|years?|\w+days?|easter|christmas|birthday|new\s+year|spring|summer|autumn|fall|winter)\b
        |今|明|昨|后天|前天|上[个周月]|下[个周月]|这[个周月]|本[周月年]|去年|前年|后年|刚|最近|现在|周|星期|礼拜|天前|年前|月前|天后|年后|月后
        |月底|月初|年底|年初|[0-9一二三四五六七八九十两半]年|春节|国庆|中秋|圣诞|元旦|生日",
    )
    .expect("valid")
});

/// Figures of a date.
static DATE: LazyLock<Regex> = LazyLock::new(|| {
    let month = "(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*";
    Regex::new(&format!(
        r"(?i)\d{{4}}-\d{{1,2}}(?:-\d{{1,2}})?|\b\d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?\b|\d{{2,4}}年|\d{{1,2}}月|\d{{1,2}}[日号]|\b{month}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}}\b)?|\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{month}\b(?:,?\s+\d{{4}}\b)?|\b(?:19|20)\d{{2}}\b"
    ))
    .expect("valid")
});

/// Returns the dates of a text joined, and the text without them.
pub(crate) fn split_dates(text: &str) -> (String, String) {
    let dates: Vec<&str> = DATE.find_iter(text).map(|date| date.as_str()).collect();
    (dates.join(" "), DATE.replace_all(text, " ").into_owned())
}

/// Returns the weekdays that a text names, from 0 for Monday.
pub(crate) fn weekdays_in(text: &str) -> BTreeSet<usize> {
    positions(&*WEEKDAYS, text)
}

/// Returns the months that a text names, from 1.
pub(crate) fn months_in(text: &str) -> BTreeSet<usize> {
    positions(&MONTHS, text).into_iter().map(|at| at + 1).collect()
}

/// Returns `true` if a text names a time that depends on when it was said.
pub(crate) fn has_relative_time(text: &str) -> bool {
    RELATIVE_TIME.is_match(text)
}

fn positions(patterns: &[Regex], text: &str) -> BTreeSet<usize> {
    patterns.iter().enumerate().filter(|(_, it)| it.is_match(text)).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_months_are_named_in_both_languages() {
        for (text, day) in
            [("on Friday", 4), ("会议在周五", 4), ("星期一", 0), ("Sundays", 6), ("礼拜天", 6)]
        {
            assert_eq!(weekdays_in(text), BTreeSet::from([day]), "{text}");
        }
        for (text, month) in [
            ("in February", 2),
            ("三月五日", 3),
            ("2026年11月", 11),
            ("十二月", 12),
            ("2026-03-05", 3),
        ] {
            assert_eq!(months_in(text), BTreeSet::from([month]), "{text}");
        }
        assert!(months_in("it may rain").is_empty());
        assert!(has_relative_time("I moved last month") && has_relative_time("上个月搬家"));
        assert!(!has_relative_time("I live in Oslo") && !has_relative_time("我住在上海"));
    }
}
