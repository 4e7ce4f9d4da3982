//! Numbers of what a Chinese statement tells about its subject: 办公室在三楼, 数据库用的是Postgres 14, 我鞋码42, 我儿子上五年级.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    chinese_changes::{masked, plain},
    chinese_value::count,
    number_kinds::clash_of_grades,
    statement::StatementClash,
};

/// Words between a subject and what is so.
static PREDICATE: LazyLock<Regex> = LazyLock::new(|| compile("是|在|用|上|住|跑|读|为|坐"));

/// Nouns with a number of which one has one.
static MEASURE: LazyLock<Regex> = LazyLock::new(|| {
    compile("(?:鞋码|尺码|体重|身高|血压|血糖|视力|心率|近视|度数|工号|房号|座位|版本)(?:是|为)?$")
});

/// Places with a number: the one where somebody lives or sits.
static ROOM: LazyLock<Regex> =
    LazyLock::new(|| compile("^(?:号(?:楼|房间?|桌|工位|座)|室|单元|号$)"));

/// Things of which a house has several.
static SCATTERED: LazyLock<Regex> = LazyLock::new(|| {
    compile("厕所|洗手间|卫生间|打印机|会议室|电梯|食堂|茶水间|教室|店|餐厅|门|患者|病人")
});

/// Events that come again at the same time.
static RECURRING: LazyLock<Regex> =
    LazyLock::new(|| compile("例会|晨会|早会|周会|站会|组会|闹钟|门禁|日会"));

/// Events of which one may have several.
static EVENT: LazyLock<Regex> = LazyLock::new(|| {
    compile("航班|飞机|火车|高铁|车票|会议|考试|面试|课|讲座|比赛|订单|成绩|电话|答案|题|页|章")
});

/// Part of the day before a time: 上午九点, and 九点 beside it.
static DAY_PART: LazyLock<Regex> =
    LazyLock::new(|| compile("(?:上午|下午|早上|晚上|中午)(?P<time>[0-9一二三四五六七八九十]+点)"));

/// Words around a grade: 上小学五年级, 今年读五年级.
static AROUND_GRADE: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        "(?:今年|现在|刚|已经|都)*(?:上|读|在|念|升|是)*(?:小学|到)*(?P<grade>[0-9一二三四五六七八九]+年级)",
    )
});

/// Two Chinese statements that differ in nothing but numbers.
struct NumberedFrame {
    /// Text with its numbers masked.
    masked: String,
    numbers: Vec<String>,
}

/// Compares two statements that differ in a number; `None` if both hold.
pub(super) fn clash_of_numbers(new: &str, old: &str) -> Option<StatementClash> {
    let (new, old) = (NumberedFrame::read(new), NumberedFrame::read(old));
    if new.masked != old.masked || new.numbers.len() != old.numbers.len() {
        return None;
    }
    let pairs = || new.numbers.iter().zip(&old.numbers).enumerate().filter(|(_, (a, b))| a != b);
    let (index, (new_number, old_number)) = pairs().next()?;
    let (before, after) = new.around(index)?;
    if MEASURE.is_match(before) && !has_several(before) {
        return Some(StatementClash::Certain);
    }
    let is_only = pairs().count() == 1;
    clash_at(before, after, new_number, old_number).filter(|_| is_only)
}

/// Returns what two statements have in common that differ in a number.
pub(super) fn number_key(text: &str) -> Option<String> {
    let read = NumberedFrame::read(text);
    let tells = |index| {
        read.around(index)
            .is_some_and(|(before, _)| PREDICATE.is_match(before) || MEASURE.is_match(before))
    };
    let has_number = (0..read.numbers.len()).any(tells) || read.masked.contains("#年级");
    has_number.then(|| format!("number {}", read.masked))
}

impl NumberedFrame {
    fn read(text: &str) -> Self {
        let text = DAY_PART.replace_all(&plain(text), "$time").into_owned();
        let text = AROUND_GRADE.replace_all(&text, "$grade").into_owned();
        let (masked, numbers) = masked(&text);
        let masked = masked.trim_end_matches('了').to_owned();
        Self { masked, numbers }
    }

    /// Returns the text before and behind a number.
    fn around(&self, index: usize) -> Option<(&str, &str)> {
        let (at, _) = self.masked.match_indices('#').nth(index)?;
        Some((&self.masked[..at], &self.masked[at + 1..]))
    }
}

fn clash_at(before: &str, after: &str, new: &str, old: &str) -> Option<StatementClash> {
    if after.starts_with("年级") && after.chars().count() <= 3 {
        let (new, old) = (count(new)?, count(old)?);
        return clash_of_grades(new, old);
    }
    let (certain, possible) = (Some(StatementClash::Certain), Some(StatementClash::Possible));
    let subject = PREDICATE.find(before).map(|it| &before[..it.start()])?;
    let is_user = matches!(subject, "我" | "我们" | "咱们");
    let is_version = before.ends_with(|c: char| c.is_ascii_alphabetic()) && after.is_empty();
    match () {
        () if has_several(subject) => None,
        () if new.contains('点') && RECURRING.is_match(subject) => certain,
        () if new.contains('点') => {
            possible.filter(|_| !is_user && before.ends_with(['在', '是']))
        }
        () if matches!(after, "楼" | "层") => certain.filter(|_| !SCATTERED.is_match(subject)),
        () if EVENT.is_match(subject) => possible.filter(|_| is_version || ROOM.is_match(after)),
        () if ROOM.is_match(after) && before.ends_with(['在', '住', '是']) => {
            certain.filter(|_| !SCATTERED.is_match(subject))
        }
        () if is_version && is_user && !before.contains('是') => possible,
        () if is_version => certain,
        () => None,
    }
}

/// Returns `true` for a subject of which one may have several, and one of the past.
fn has_several(subject: &str) -> bool {
    [
        "哥", "弟", "姐", "妹", "儿子", "女儿", "孩子", "朋友", "同事", "同学", "有", "昨天",
        "上周", "上次", "去年", "曾", "个",
    ]
    .iter()
    .any(|it| subject.contains(it))
}

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("valid")
}
