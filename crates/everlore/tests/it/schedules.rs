//! Phrases of schedules, half of them written by people who had not seen the parser: kind, cron and the next five runs.

use std::collections::BTreeSet;

use everlore::engine::ScheduleAnswer;
use jiff::{Timestamp, Zoned, tz::TimeZone};
use serde::Deserialize;

use crate::support::ram;

const ENGLISH: [&str; 2] = [
    include_str!("../data/schedules/schedules_en_a.jsonl"),
    include_str!("../data/schedules/schedules_en_b.jsonl"),
];
const CHINESE: [&str; 2] = [
    include_str!("../data/schedules/schedules_zh_a.jsonl"),
    include_str!("../data/schedules/schedules_zh_b.jsonl"),
];

/// Phrases by somebody who had not seen the parser, with runs worked out by other calendar libraries; a phrase may have
/// several right answers.
const UNSEEN: [&str; 2] = [
    include_str!("../data/schedules/unseen_en.jsonl"),
    include_str!("../data/schedules/unseen_zh.jsonl"),
];

/// Phrases as people say them, with their runs worked out before the parser was asked: requests to cancel, clauses with
/// times of their own, words about time that a parser could take for the task.
const FRESH: [&str; 2] = [
    include_str!("../data/schedules/fresh_en.jsonl"),
    include_str!("../data/schedules/fresh_zh.jsonl"),
];

/// Phrases that people rarely use, with their runs worked out by plain date arithmetic: exceptions, parts of a year, nights,
/// conditions.
const UNUSUAL: [&str; 2] = [
    include_str!("../data/schedules/unusual_en.jsonl"),
    include_str!("../data/schedules/unusual_zh.jsonl"),
];

/// Phrases by somebody who only used the command, with their runs worked out before it was asked.
const OUTSIDE: [&str; 2] = [
    include_str!("../data/schedules/outside_en.jsonl"),
    include_str!("../data/schedules/outside_zh.jsonl"),
];

/// Phrases said in Shanghai on Wednesday, 11 November 2026, at 10:07, each with a line of cron, `@` its only run, `~` its first runs
/// (`$` if there are no more) or `?` if it is unclear.
const COMMON: [&str; 2] = [
    include_str!("../data/schedules/common_en.tsv"),
    include_str!("../data/schedules/common_zh.tsv"),
];

/// Least share of phrases that are read as their author meant; the rest must be answered as unclear.
const MIN_RIGHT: f64 = 0.97;

#[derive(Deserialize)]
struct PhraseCase {
    text: String,
    kind: String,
    tz: String,
    now: Timestamp,
    cron: Option<String>,
    #[serde(default)]
    next: Vec<String>,
}

fn cases(files: [&str; 2]) -> Vec<PhraseCase> {
    let lines = files.into_iter().flat_map(str::lines);
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn read(case: &PhraseCase) -> ScheduleAnswer {
    ram().explain_schedule(&case.text, Some(&case.tz), Some(case.now)).unwrap()
}

fn is_right(case: &PhraseCase, answer: &ScheduleAnswer) -> bool {
    let cron = |line: Option<&str>| line.map(cron_fields);
    case.kind == answer.kind
        && case.next == answer.next
        && cron(case.cron.as_deref()) == cron(answer.cron.as_deref())
}

/// Returns the values of each field, so that 1,3,5 and 1-5/2 are the same.
fn cron_fields(line: &str) -> Vec<BTreeSet<u32>> {
    let most = [59, 23, 31, 12, 6];
    line.split(' ').zip(most).map(|(field, most)| field_values(field, most)).collect()
}

fn field_values(field: &str, most: u32) -> BTreeSet<u32> {
    let least = u32::from(matches!(most, 31 | 12));
    let parts = field.split(',').flat_map(|part| {
        let (range, step) = part.split_once('/').unwrap_or((part, "1"));
        let (from, to) = match range.split_once('-') {
            _ if range == "*" => (least, most),
            Some((from, to)) => (from.parse().unwrap(), to.parse().unwrap()),
            None => (range.parse().unwrap(), range.parse().unwrap()),
        };
        (from..=to).step_by(step.parse().unwrap())
    });
    // Both 0 and 7 are Sunday.
    parts.map(|value| if most == 6 { value % 7 } else { value }).collect()
}

fn check_language(files: [&str; 2]) {
    let cases = cases(files);
    assert!(cases.len() >= 150, "{} phrases", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let answer = read(case);
        if !is_right(case, &answer) {
            assert_eq!(answer.kind, "unclear", "{}: {answer:?}", case.text);
            assert!(answer.unclear.is_some(), "{}", case.text);
            wrong.push(&case.text);
        }
    }
    let right = (cases.len() - wrong.len()) as f64 / cases.len() as f64;
    assert!(right >= MIN_RIGHT, "{right}: {wrong:?}");
}

#[test]
fn english_phrases_are_read_as_meant_or_called_unclear() {
    check_language(ENGLISH);
}

#[test]
fn chinese_phrases_are_read_as_meant_or_called_unclear() {
    check_language(CHINESE);
}

#[derive(Deserialize)]
struct UnseenPhrase {
    text: String,
    tz: String,
    now: Timestamp,
    /// Answers that count as right.
    answers: Vec<UnseenAnswer>,
}

#[derive(Debug, Deserialize)]
struct UnseenAnswer {
    kind: String,
    #[serde(default)]
    next: Vec<String>,
}

#[test]
fn phrases_by_somebody_who_had_not_seen_the_parser_are_read_as_meant_or_called_unclear() {
    check_unseen(UNSEEN, 200);
}

#[test]
fn phrases_that_cancel_or_hold_other_times_are_read_as_meant_or_called_unclear() {
    check_unseen(FRESH, 80);
}

#[test]
fn unusual_phrases_are_read_as_meant_or_answered_with_what_is_unclear() {
    check_unseen(UNUSUAL, 45);
}

#[test]
fn phrases_of_somebody_outside_are_read_as_meant_or_called_unclear() {
    check_unseen(OUTSIDE, 120);
}

#[test]
fn common_phrases_have_exactly_one_meaning() {
    let lines = COMMON.into_iter().flat_map(str::lines);
    let wrong: Vec<String> = lines.filter_map(common_fault).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns how the answer to a common phrase differs from the one beside it.
fn common_fault(line: &str) -> Option<String> {
    let (text, meant) = line.split_once('\t').unwrap();
    let now = "2026-11-11T02:07:00Z".parse().unwrap();
    let answer = ram().explain_schedule(text, Some("Asia/Shanghai"), Some(now)).unwrap();
    let (first, rest) = meant.split_at(1);
    let with_seconds = |run: &str| {
        let seconds = if run.matches(':').count() == 1 { ":00" } else { "" };
        format!("{run}{seconds}+08:00")
    };
    let runs: Vec<String> = rest.trim_end_matches('$').split(',').map(with_seconds).collect();
    let is_right = match first {
        "?" => answer.kind == "unclear",
        "@" => answer.kind == "once" && answer.next == runs,
        "~" if rest.ends_with('$') => answer.kind == "recurring" && answer.next == runs,
        "~" => answer.kind == "recurring" && answer.next.starts_with(&runs),
        _ => answer.cron.as_deref().map(cron_fields) == Some(cron_fields(meant)),
    };
    (!is_right).then(|| format!("{text}: {meant}, but {answer:?}"))
}

fn check_unseen(files: [&str; 2], least: usize) {
    for file in files {
        let cases: Vec<UnseenPhrase> =
            file.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(cases.len() >= least, "{} phrases", cases.len());
        let mut unclear = Vec::new();
        for case in &cases {
            let answer =
                ram().explain_schedule(&case.text, Some(&case.tz), Some(case.now)).unwrap();
            let is_right = |it: &UnseenAnswer| it.kind == answer.kind && it.next == answer.next;
            if !case.answers.iter().any(is_right) {
                assert_eq!(answer.kind, "unclear", "{}: {answer:?}", case.text);
                unclear.push(&case.text);
            }
        }
        let right = (cases.len() - unclear.len()) as f64 / cases.len() as f64;
        assert!(right >= MIN_RIGHT, "{right}: {unclear:?}");
    }
}

/// Returns the next five runs by another implementation of cron than the engine's.
fn independent_runs(cron: &str, zone: &str, now: Timestamp) -> Vec<Zoned> {
    let cron = cronexpr::parse_crontab(&format!("{cron} {zone}")).unwrap();
    let runs = cron.iter_after(cronexpr::MakeTimestamp(now)).unwrap();
    runs.take(5).map(Result::unwrap).collect()
}

#[test]
fn the_runs_of_cron_lines_are_those_of_an_independent_implementation() {
    let mut compared = 0;
    for case in cases(ENGLISH).iter().chain(&cases(CHINESE)) {
        let answer = read(case);
        let Some(cron) = &answer.cron else { continue };
        let runs = independent_runs(cron, &case.tz, case.now);
        let format = |run: &Zoned| run.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
        let runs: Vec<String> = runs.iter().map(format).collect();
        if runs == answer.next {
            compared += 1;
            continue;
        }
        // On days of a change of the clocks implementations differ; the authors' own runs decide.
        let zone = TimeZone::get(&case.tz).unwrap();
        let last: Timestamp = answer.next.last().unwrap().parse().unwrap();
        let changes = zone.following(case.now).next().is_some_and(|it| it.timestamp() <= last);
        assert!(changes && case.next == answer.next, "{}: {cron}\n{runs:?}", case.text);
    }
    assert!(compared >= 150, "{compared}");
}

#[test]
fn cron_lines_and_short_forms_are_phrases_too() {
    let explain = |text: &str| {
        let now = "2026-03-02T12:00:00Z".parse().unwrap();
        ram().explain_schedule(text, Some("UTC"), Some(now)).unwrap()
    };
    assert_eq!(explain("0 9 * * 1-5").next[0], "2026-03-03T09:00:00+00:00");
    assert_eq!(explain("every 2h").cron.as_deref(), Some("0 */2 * * *"));
    assert_eq!(explain("every 1d at 09:00").cron.as_deref(), Some("0 9 * * *"));
    assert_eq!(explain("9am ET on weekdays").next[0], "2026-03-02T14:00:00+00:00");
    assert_eq!(explain("wake me at 6:30").next, ["2026-03-03T06:30:00+00:00"]);
    assert_eq!(explain("8pm tonight").next, ["2026-03-02T20:00:00+00:00"]);
    assert_eq!(explain("61 9 * * *").kind, "unclear");
    assert_eq!(explain("0 9 31 2 *").kind, "unclear");
    assert_eq!(explain("0 0 9 * * MON").cron.as_deref(), Some("0 9 * * MON"));
    assert_eq!(explain("30 0 9 * * MON").kind, "unclear");
}

#[test]
fn a_time_inside_the_task_is_no_time_of_the_schedule() {
    let explain = |text: &str| {
        let now = "2026-03-11T02:00:00Z".parse().unwrap();
        ram().explain_schedule(text, Some("Asia/Shanghai"), Some(now)).unwrap()
    };
    let told = explain("tell me at 6pm on Fridays that the shop closes at 8");
    assert_eq!(told.cron.as_deref(), Some("0 18 * * 5"));
    let told = explain("每周五下午6点提醒我店8点关门");
    assert_eq!(
        (told.cron.as_deref(), told.task.as_deref()),
        (Some("0 18 * * 5"), Some("店8点关门"))
    );
    assert_eq!(explain("今天晚上提醒我明天9点开会").next, ["2026-03-11T20:00:00+08:00"]);
    assert_eq!(
        explain("take pills at 8am and vitamins at 8pm every day").cron.as_deref(),
        Some("0 8,20 * * *")
    );
    assert_eq!(explain("每天9点提醒我，周末10点").kind, "unclear");
    assert_eq!(explain("every Friday at 6pm check whether the shop closes at 8").kind, "unclear");
}

#[test]
fn the_number_of_a_thing_stays_in_the_task() {
    let task = |text: &str| {
        let now = "2026-03-11T02:00:00Z".parse().unwrap();
        ram().explain_schedule(text, Some("Asia/Shanghai"), Some(now)).unwrap().task.unwrap()
    };
    for (text, meant) in [
        ("晚上十点提醒我读第三章", "读第三章"),
        ("下午五点去12号线接人", "去12号线接人"),
        ("每天晚上十点看第七章", "看第七章"),
        ("下午三点考第四单元", "考第四单元"),
        ("晚上九点复习第5到8页", "复习第5到8页"),
        ("send the 2nd draft at 4pm", "send the 2nd draft"),
        ("meet Ravi on the 3rd floor at 5pm", "meet Ravi on the 3rd floor"),
        ("submit my 3rd report by email at 5pm", "submit my 3rd report by email"),
        ("on the 20th pay rent", "pay rent"),
        ("5号交房租", "交房租"),
    ] {
        assert_eq!(task(text), meant, "{text}");
    }
}

#[test]
fn the_same_time_and_lengths_from_a_day_are_read() {
    let explain = |text: &str| {
        let now = "2026-03-11T02:00:00Z".parse().unwrap();
        ram().explain_schedule(text, Some("Asia/Shanghai"), Some(now)).unwrap()
    };
    assert_eq!(explain("this time tomorrow").next, ["2026-03-12T10:00:00+08:00"]);
    assert_eq!(explain("后天这个时候").next, ["2026-03-13T10:00:00+08:00"]);
    assert_eq!(explain("three weeks from Friday at 1pm").next, ["2026-04-03T13:00:00+08:00"]);
    assert_eq!(explain("at 9 every day in New York").next[0], "2026-03-11T21:00:00+08:00");
    assert_eq!(explain("every 20 minutes past the hour").cron.as_deref(), Some("20 * * * *"));
    assert_eq!(explain("每天早8晚8").cron.as_deref(), Some("0 8,20 * * *"));
    for text in ["every 6 hours starting at 8am", "从早上8点开始每6小时"] {
        assert_eq!(explain(text).cron.as_deref(), Some("0 2,8,14,20 * * *"), "{text}");
    }
    let hour = explain("every 15 minutes for the next hour").next;
    assert_eq!(hour.len(), 4);
    assert_eq!(hour[3], "2026-03-11T11:00:00+08:00");
}

#[test]
fn a_request_to_cancel_makes_no_schedule_and_names_the_command() {
    for text in ["cancel my 9am reminder tomorrow", "不用每天9点叫我了", "取消明天9点的提醒"]
    {
        let answer = ram().explain_schedule(text, None, None).unwrap();
        assert!(answer.unclear.unwrap().contains("schedule rm"), "{text}");
    }
    for text in ["remind me at 9 not to forget the keys", "每天9点提醒我不要忘记吃药"] {
        assert_ne!(ram().explain_schedule(text, None, None).unwrap().kind, "unclear", "{text}");
    }
}

#[test]
fn a_word_that_names_no_time_is_named_in_the_language_of_the_phrase() {
    let explain = |text: &str| ram().explain_schedule(text, None, None).unwrap().unclear.unwrap();
    assert!(explain("every now and then").contains("every now and then"));
    assert!(explain("过几天提醒我").contains("过几天"));
    assert!(explain("Friday week at 3pm").contains("week"));
    assert!(explain("三点提醒我").contains("上午"));
    let unknown = ram().explain_schedule("daily", Some("Mars/Olympus"), None).unwrap_err();
    assert!(unknown.hint().contains("Europe/Berlin"));
}
