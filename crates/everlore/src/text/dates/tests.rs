//! Tests of time expressions as tables; English and Chinese side by side.

use jiff::{
    Timestamp, Zoned,
    civil::date,
    tz::{TimeZone, offset},
};
use proptest::prelude::*;

use super::*;

/// Returns a Wednesday morning in Shanghai.
fn now() -> Zoned {
    date(2026, 3, 4).at(10, 30, 0, 0).to_zoned(TimeZone::fixed(offset(8))).unwrap()
}

/// Returns the ranges found, as dates, with the hour if it is not midnight.
fn ranges(text: &str, now: &Zoned) -> Vec<String> {
    let show = |at: Timestamp| {
        if at == Timestamp::MIN || at == Timestamp::MAX {
            return "..".to_owned();
        }
        let local = at.to_zoned(now.time_zone().clone());
        local.strftime("%Y-%m-%d %H:%M").to_string().replace(" 00:00", "")
    };
    find_times(text, now)
        .iter()
        .map(|time| format!("{} {}", show(time.start), show(time.end)))
        .collect()
}

#[track_caller]
pub(super) fn check(cases: &[(&str, &str)]) {
    let wrong: Vec<_> = cases
        .iter()
        .map(|(text, expected)| (*text, ranges(text, &now()), *expected))
        .filter(|(_, found, expected)| *found != [*expected])
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn days_around_today() {
    check(&[
        ("What did I do today?", "2026-03-04 2026-03-05"),
        ("今天做了什么", "2026-03-04 2026-03-05"),
        ("yesterday", "2026-03-03 2026-03-04"),
        ("yesterday's lunch", "2026-03-03 2026-03-04"),
        ("昨天吃了什么", "2026-03-03 2026-03-04"),
        ("the day before yesterday", "2026-03-02 2026-03-03"),
        ("前天", "2026-03-02 2026-03-03"),
        ("大前天", "2026-03-01 2026-03-02"),
        ("tomorrow", "2026-03-05 2026-03-06"),
        ("明天", "2026-03-05 2026-03-06"),
        ("the day after tomorrow", "2026-03-06 2026-03-07"),
        ("后天", "2026-03-06 2026-03-07"),
    ]);
}

#[test]
fn parts_of_days() {
    check(&[
        ("this morning", "2026-03-04 2026-03-04 12:00"),
        ("今早", "2026-03-04 2026-03-04 12:00"),
        ("今天早上", "2026-03-04 2026-03-04 12:00"),
        ("上午说的", "2026-03-04 2026-03-04 12:00"),
        ("this afternoon", "2026-03-04 12:00 2026-03-04 18:00"),
        ("下午", "2026-03-04 12:00 2026-03-04 18:00"),
        ("last night", "2026-03-03 18:00 2026-03-04 04:00"),
        ("昨晚", "2026-03-03 18:00 2026-03-04 04:00"),
        ("昨天晚上", "2026-03-03 18:00 2026-03-04 04:00"),
        ("tonight", "2026-03-04 18:00 2026-03-05 04:00"),
        ("今晚", "2026-03-04 18:00 2026-03-05 04:00"),
        ("yesterday evening", "2026-03-03 17:00 2026-03-04"),
        ("昨天傍晚", "2026-03-03 17:00 2026-03-04"),
        ("tomorrow morning", "2026-03-05 2026-03-05 12:00"),
        ("明早", "2026-03-05 2026-03-05 12:00"),
        ("on Monday morning", "2026-03-02 2026-03-02 12:00"),
        ("周一上午", "2026-03-02 2026-03-02 12:00"),
        ("May 8th in the evening", "2025-05-08 2025-05-09"),
    ]);
}

#[test]
fn weeks_months_and_years() {
    check(&[
        ("this week", "2026-03-02 2026-03-09"),
        ("本周", "2026-03-02 2026-03-09"),
        ("这周的计划", "2026-03-02 2026-03-09"),
        ("last week", "2026-02-23 2026-03-02"),
        ("上周", "2026-02-23 2026-03-02"),
        ("上个星期", "2026-02-23 2026-03-02"),
        ("上週", "2026-02-23 2026-03-02"),
        ("the week before last", "2026-02-16 2026-02-23"),
        ("上上周", "2026-02-16 2026-02-23"),
        ("next week", "2026-03-09 2026-03-16"),
        ("下周", "2026-03-09 2026-03-16"),
        ("last weekend", "2026-02-28 2026-03-02"),
        ("上周末", "2026-02-28 2026-03-02"),
        ("over the weekend", "2026-02-28 2026-03-02"),
        ("this weekend", "2026-03-07 2026-03-09"),
        ("这个周末", "2026-03-07 2026-03-09"),
        ("next weekend", "2026-03-14 2026-03-16"),
        ("this month", "2026-03-01 2026-04-01"),
        ("本月", "2026-03-01 2026-04-01"),
        ("last month", "2026-02-01 2026-03-01"),
        ("上个月", "2026-02-01 2026-03-01"),
        ("上月", "2026-02-01 2026-03-01"),
        ("上個月", "2026-02-01 2026-03-01"),
        ("next month", "2026-04-01 2026-05-01"),
        ("下个月", "2026-04-01 2026-05-01"),
        ("this year", "2026-01-01 2027-01-01"),
        ("今年", "2026-01-01 2027-01-01"),
        ("last year", "2025-01-01 2026-01-01"),
        ("去年", "2025-01-01 2026-01-01"),
        ("the year before last", "2024-01-01 2025-01-01"),
        ("前年", "2024-01-01 2025-01-01"),
        ("next year", "2027-01-01 2028-01-01"),
        ("明年", "2027-01-01 2028-01-01"),
        ("last quarter", "2025-10-01 2026-01-01"),
        ("上季度", "2025-10-01 2026-01-01"),
        ("this quarter", "2026-01-01 2026-04-01"),
        ("Q1 2024", "2024-01-01 2024-04-01"),
        ("2024 Q1", "2024-01-01 2024-04-01"),
        ("in Q3", "2025-07-01 2025-10-01"),
        ("the first quarter of 2024", "2024-01-01 2024-04-01"),
        ("去年下半年", "2025-07-01 2026-01-01"),
        ("上半年", "2026-01-01 2026-07-01"),
        ("2024年第一季度", "2024-01-01 2024-04-01"),
    ]);
}

#[test]
fn weekdays() {
    check(&[
        ("last Friday", "2026-02-27 2026-02-28"),
        ("上周五", "2026-02-27 2026-02-28"),
        ("上个星期五", "2026-02-27 2026-02-28"),
        ("on Monday", "2026-03-02 2026-03-03"),
        ("周一", "2026-03-02 2026-03-03"),
        ("on Wednesday", "2026-02-25 2026-02-26"),
        ("上周三", "2026-02-25 2026-02-26"),
        ("上周的周三", "2026-02-25 2026-02-26"),
        ("on Friday", "2026-02-27 2026-02-28"),
        ("on fri", "2026-02-27 2026-02-28"),
        ("礼拜二", "2026-03-03 2026-03-04"),
        ("星期天", "2026-03-01 2026-03-02"),
        ("周日", "2026-03-01 2026-03-02"),
        ("this Friday", "2026-03-06 2026-03-07"),
        ("这周五", "2026-03-06 2026-03-07"),
        ("next Friday", "2026-03-06 2026-03-07"),
        ("下周五", "2026-03-13 2026-03-14"),
        ("Friday of last week", "2026-02-27 2026-02-28"),
        ("last week on Tuesday", "2026-02-24 2026-02-25"),
        ("上上周三晚上", "2026-02-18 18:00 2026-02-19 04:00"),
        ("上周三次会议", "2026-02-23 2026-03-02"),
        ("上周一共开了会", "2026-02-23 2026-03-02"),
        ("Monday, May 8th 2023", "2023-05-08 2023-05-09"),
    ]);
}

#[test]
fn what_is_over_of_a_time_that_is_going_on() {
    check(&[
        ("earlier today", "2026-03-04 2026-03-04 10:30"),
        ("earlier this morning", "2026-03-04 2026-03-04 10:30"),
        ("earlier in the morning", "2026-03-04 2026-03-04 10:30"),
        ("earlier this week", "2026-03-02 2026-03-04 10:30"),
        ("今天早些时候", "2026-03-04 2026-03-04 10:30"),
    ]);
}

#[test]
fn distances_from_now() {
    check(&[
        ("3 days ago", "2026-03-01 2026-03-02"),
        ("十天前", "2026-02-22 2026-02-23"),
        ("三天之前", "2026-03-01 2026-03-02"),
        ("two weeks ago", "2026-02-15 2026-02-22"),
        ("两周前", "2026-02-15 2026-02-22"),
        ("a couple of weeks ago", "2026-02-15 2026-02-22"),
        ("5 months ago", "2025-10-01 2025-11-01"),
        ("a few months ago", "2025-08-01 2026-02-01"),
        ("in two months", "2026-05-01 2026-06-01"),
        ("a month and a half ago", "2026-01-05 2026-02-05"),
        ("5个月前", "2025-10-01 2025-11-01"),
        ("三个月前", "2025-12-01 2026-01-01"),
        ("a year ago", "2024-09-03 2025-09-03"),
        ("一年前", "2024-09-03 2025-09-03"),
        ("half a year ago", "2025-06-05 2025-12-05"),
        ("半年前", "2025-06-05 2025-12-05"),
        ("a year and a half ago", "2024-03-06 2025-03-06"),
        ("一年半前", "2024-03-06 2025-03-06"),
        ("a few days ago", "2026-02-25 2026-03-03"),
        ("几天前", "2026-02-25 2026-03-03"),
        ("前几天", "2026-02-25 2026-03-03"),
        ("two hours ago", "2026-03-04 08:00 2026-03-04 09:00"),
        ("两个小时前", "2026-03-04 08:00 2026-03-04 09:00"),
        ("in the last 3 days", "2026-03-01 2026-03-05"),
        ("最近三天", "2026-03-01 2026-03-05"),
        ("这三天", "2026-03-01 2026-03-05"),
        ("the past week", "2026-02-25 2026-03-05"),
        ("past week", "2026-02-25 2026-03-05"),
        ("over the last week", "2026-02-25 2026-03-05"),
        ("over this last week", "2026-02-25 2026-03-05"),
        ("the last month", "2026-02-04 2026-03-05"),
        ("twenty-five days ago", "2026-02-07 2026-02-08"),
        ("过去一周", "2026-02-25 2026-03-05"),
        ("the past two months", "2026-01-04 2026-03-05"),
        ("近两个月", "2026-01-04 2026-03-05"),
        ("the last few days", "2026-02-25 2026-03-05"),
        ("the last hour", "2026-03-04 09:30 2026-03-04 10:30"),
        ("in 3 days", "2026-03-07 2026-03-08"),
        ("三天后", "2026-03-07 2026-03-08"),
        ("two weeks from now", "2026-03-15 2026-03-22"),
        ("the next 3 days", "2026-03-04 2026-03-08"),
        ("未来三天", "2026-03-04 2026-03-08"),
    ]);
}

#[test]
fn dates() {
    check(&[
        ("May 8th", "2025-05-08 2025-05-09"),
        ("5月8号", "2025-05-08 2025-05-09"),
        ("May 8", "2025-05-08 2025-05-09"),
        ("8 May 2023", "2023-05-08 2023-05-09"),
        ("2023年5月8日", "2023-05-08 2023-05-09"),
        ("2023 年 5 月 8 日", "2023-05-08 2023-05-09"),
        ("二〇二三年五月八日", "2023-05-08 2023-05-09"),
        ("23年5月8日", "2023-05-08 2023-05-09"),
        ("the 8th of May, 2023", "2023-05-08 2023-05-09"),
        ("May 8, 2023", "2023-05-08 2023-05-09"),
        ("2023-05-08", "2023-05-08 2023-05-09"),
        ("2023-05-08T10:00:00Z", "2023-05-08 2023-05-09"),
        ("2023/5/8", "2023-05-08 2023-05-09"),
        ("5/8/2023", "2023-05-08 2023-05-09"),
        ("25/8/2023", "2023-08-25 2023-08-26"),
        ("8.5.2023", "2023-05-08 2023-05-09"),
        ("on the 1st", "2026-03-01 2026-03-02"),
        ("on May eighth", "2025-05-08 2025-05-09"),
        ("what we discussed August second", "2025-08-02 2025-08-03"),
        ("the twenty-eighth of May 2023", "2023-05-28 2023-05-29"),
        ("1号", "2026-03-01 2026-03-02"),
        ("31号", "2026-01-31 2026-02-01"),
        ("上个月8号", "2026-02-08 2026-02-09"),
        ("Feb 29", "2024-02-29 2024-03-01"),
        ("2月29日", "2024-02-29 2024-03-01"),
    ]);
}

#[test]
fn months_and_years() {
    check(&[
        ("May 2023", "2023-05-01 2023-06-01"),
        ("2023年5月", "2023-05-01 2023-06-01"),
        ("May of 2023", "2023-05-01 2023-06-01"),
        ("in May", "2025-05-01 2025-06-01"),
        ("in may", "2025-05-01 2025-06-01"),
        ("What happened last May?", "2025-05-01 2025-06-01"),
        ("五月", "2025-05-01 2025-06-01"),
        ("5月份", "2025-05-01 2025-06-01"),
        ("in March", "2026-03-01 2026-04-01"),
        ("last March", "2025-03-01 2025-04-01"),
        ("next May", "2026-05-01 2026-06-01"),
        ("May last year", "2025-05-01 2025-06-01"),
        ("去年五月", "2025-05-01 2025-06-01"),
        ("去年的五月", "2025-05-01 2025-06-01"),
        ("May two years ago", "2024-05-01 2024-06-01"),
        ("december", "2025-12-01 2026-01-01"),
        ("the party in dec", "2025-12-01 2026-01-01"),
        ("I saw her that May", "2025-05-01 2025-06-01"),
        ("2023", "2023-01-01 2024-01-01"),
        ("in 2023", "2023-01-01 2024-01-01"),
        ("in 2023.", "2023-01-01 2024-01-01"),
        ("2023年", "2023-01-01 2024-01-01"),
        ("2023-05", "2023-05-01 2023-06-01"),
    ]);
}

#[test]
fn ranges_with_two_ends_or_one() {
    check(&[
        ("between May 8th and June 9th", "2025-05-08 2025-06-10"),
        ("5月8日到6月9日", "2025-05-08 2025-06-10"),
        ("over May eighth through June twenty-first", "2025-05-08 2025-06-22"),
        ("from May eighth to tenth", "2025-05-08 2025-05-11"),
        ("从5月8日到6月9日", "2025-05-08 2025-06-10"),
        ("5月8日和6月9日之间", "2025-05-08 2025-06-10"),
        ("from May to July 2023", "2023-05-01 2023-08-01"),
        ("from May 2023 to July", "2023-05-01 2023-08-01"),
        ("2023年5月到7月", "2023-05-01 2023-08-01"),
        ("from November to February 2023", "2022-11-01 2023-03-01"),
        ("from November to February", "2025-11-01 2026-03-01"),
        ("11月到2月", "2025-11-01 2026-03-01"),
        ("May 8-10", "2025-05-08 2025-05-11"),
        ("5月8日到10日", "2025-05-08 2025-05-11"),
        ("May 8-10, 2023", "2023-05-08 2023-05-11"),
        ("2020-2022", "2020-01-01 2023-01-01"),
        ("2020年到2022年", "2020-01-01 2023-01-01"),
        ("between Monday and Tuesday", "2026-03-02 2026-03-04"),
        ("周五到周日", "2026-02-27 2026-03-02"),
        ("since March", "2026-03-01 .."),
        ("三月以来", "2026-03-01 .."),
        ("since 2020", "2020-01-01 .."),
        ("从去年开始", "2025-01-01 .."),
        ("before June 2023", ".. 2023-06-01"),
        ("2022年之前", ".. 2022-01-01"),
        ("after 2022", "2023-01-01 .."),
        ("2022年之后", "2023-01-01 .."),
        ("2022年以后", "2023-01-01 .."),
        ("until May 2023", ".. 2023-06-01"),
    ]);
}

#[test]
fn seasons_and_holidays() {
    check(&[
        ("last summer", "2025-06-01 2025-09-01"),
        ("去年夏天", "2025-06-01 2025-09-01"),
        ("this summer", "2026-06-01 2026-09-01"),
        ("summer of 2023", "2023-06-01 2023-09-01"),
        ("last winter", "2025-12-01 2026-03-01"),
        ("去年冬天", "2025-12-01 2026-03-01"),
        ("in the fall", "2025-09-01 2025-12-01"),
        ("Christmas", "2025-12-24 2025-12-27"),
        ("圣诞节", "2025-12-24 2025-12-27"),
        ("last Christmas", "2025-12-24 2025-12-27"),
        ("Christmas 2022", "2022-12-24 2022-12-27"),
        ("New Year's Eve", "2025-12-31 2026-01-01"),
        ("元旦", "2025-12-31 2026-01-02"),
        ("Thanksgiving", "2025-11-27 2025-12-01"),
        ("Halloween", "2025-10-31 2025-11-01"),
        ("国庆", "2025-10-01 2025-10-08"),
        ("去年国庆", "2025-10-01 2025-10-08"),
        ("2024年国庆节", "2024-10-01 2024-10-08"),
        ("Chinese New Year", "2026-02-16 2026-02-24"),
        ("春节", "2026-02-16 2026-02-24"),
        ("去年春节", "2025-01-28 2025-02-05"),
        ("中秋", "2025-10-05 2025-10-08"),
        ("五一", "2025-05-01 2025-05-06"),
        ("端午节", "2025-05-30 2025-06-02"),
        ("last fall", "2025-09-01 2025-12-01"),
    ]);
}

#[test]
fn words_with_another_meaning_are_no_times() {
    let cases = [
        "You may come",
        "我们喝下午茶",
        "May I ask something?",
        "it may be wrong",
        "They march on",
        "wait a second",
        "don't fall",
        "Spring Boot config",
        "the other 5 may come",
        "second may",
        "you may second that",
        "you may first ask",
        "he sat down",
        "the sun is up",
        "mar the surface",
        "I paid $2000",
        "2000 years",
        "version 1.2.3",
        "192.168.2.20",
        "every Monday",
        "good morning",
        "at 10:30",
        "port 8080",
        "x2023y",
        "file_2023",
        "a day",
        "next step",
        "last name",
        "3号线",
        "5号楼",
        "三本书",
        "上海",
        "下班",
        "每周三",
        "周围",
        "这样",
        "前面",
        "后来",
        "天气",
        "月亮",
        "年轻",
        "三点建议",
        "本来",
        "周杰伦",
        "我今后",
        "以前",
        "一天",
        "三个苹果",
    ];
    let wrong: Vec<_> =
        cases.iter().map(|text| (text, ranges(text, &now()))).filter(|c| !c.1.is_empty()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_mention_says_where_it_stands() {
    let text = "我上周三去了北京, and last Friday I flew back.";
    let found: Vec<_> = find_times(text, &now()).into_iter().map(|time| &text[time.span]).collect();
    assert_eq!(found, ["上周三", "last Friday"]);
}

#[test]
fn a_day_on_which_clocks_change_is_23_hours_long() {
    let zone = TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").unwrap();
    let now = date(2026, 3, 9).at(12, 0, 0, 0).to_zoned(zone).unwrap();
    let yesterday = &find_times("yesterday", &now)[0];
    assert_eq!(yesterday.end.duration_since(yesterday.start).as_hours(), 23);
}

#[test]
fn years_beyond_the_calendar_are_ignored() {
    for text in [
        "9999 years ago",
        "in 9999 years",
        "9999年后",
        "December 31, 9999",
        "9999-12-31",
        "30 Feb 2023",
        "2023-13-45",
    ] {
        let last = Timestamp::MAX.to_zoned(TimeZone::UTC);
        assert!(find_times(text, &last).len() <= 1, "{text}");
        assert!(find_times(text, &now()).len() <= 1, "{text}");
    }
    assert_eq!(find_times("9999 years ago", &Timestamp::MIN.to_zoned(TimeZone::UTC)), []);
}

#[test]
fn texts_that_mention_a_time_are_seen() {
    let cases = [
        "I moved here last May",
        "see you at 3pm",
        "the meeting is at 10:30",
        "Mondays are hard",
        "I'll do it soon",
        "we have been married for two years",
        "it took three weeks",
        "for a year",
        "every week",
        "at 5 o'clock",
        "Friday",
        "我上周去了北京",
        "下午三点见",
        "三点半开会",
        "我们结婚两年了",
        "花了三个小时",
        "每周三",
        "最近三天",
        "刚才",
        "5月8日",
    ];
    let wrong: Vec<_> = cases.iter().filter(|text| !mentions_time(text)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn texts_that_mention_none_are_not() {
    let cases = [
        "I like tea",
        "you may say so",
        "have a nice day",
        "good morning!",
        "one of them",
        "two cats",
        "http://a.b/c",
        "我喜欢喝茶",
        "有一点累",
        "天气不错",
        "三个苹果",
        "上海很大",
        "她有两只猫",
    ];
    let wrong: Vec<_> = cases.iter().filter(|text| mentions_time(text)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn hostile_texts_take_no_longer_than_others() {
    for unit in [
        "last ",
        "between ",
        "一",
        "第",
        "2023-",
        "半",
        "a ",
        "上",
        "May 8 to ",
        "’s",
        "几",
        "from the ",
    ] {
        let text = unit.repeat(100_000 / unit.len());
        let began = std::time::Instant::now();
        find_times(&text, &now());
        mentions_time(&text);
        find_sessions(&text);
        asks_when(&text);
        // Linear parsing takes a fifth of a second in a debug build, anything quadratic minutes.
        assert!(began.elapsed().as_secs() < 20, "{unit:?} took {:?}", began.elapsed());
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in "\\PC*") {
        for time in find_times(&text, &now()) {
            prop_assert!(time.start < time.end);
            prop_assert!(text.get(time.span).is_some());
        }
        mentions_time(&text);
        find_sessions(&text);
        asks_when(&text);
    }

    #[test]
    fn any_sequence_of_time_words_is_read_without_panic(
        parts in prop::collection::vec(prop::sample::select(vec![
            "last", "May", "8", "2023", "-", "/", "上", "个月", "周", "三", "前", "号", "月", "年", "to", "between", "and",
            "since", "9999", "years", "ago", "half", "a", "Friday", "春节", "the", "of", "next", "in", "第", "29", "到", " ",
        ]), 0..12),
        year in -9998_i16..9999,
    ) {
        let now = date(year, 2, 28).at(23, 59, 0, 0).to_zoned(TimeZone::UTC).unwrap();
        let text = parts.concat();
        for time in find_times(&text, &now).iter().chain(&find_times(&parts.join(" "), &now)) {
            prop_assert!(time.start < time.end);
        }
    }
}
