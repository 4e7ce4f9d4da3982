//! Chinese statements that give one value to one attribute of a subject: 我住在罗马, 我今年30岁, 项目的截止日期改到3月27日.

use std::collections::BTreeSet;

use super::{
    attributes::{
        CHINESE_COPULAS, CHINESE_VERBS, FAVOURITES, MARITAL_STATUS, MOVES, NOUNS, OCCUPATIONS,
    },
    single_value::{MAX_VALUE_WORDS, SingleValue, USER},
};
use crate::text::dialogue::is_chinese_name;

/// Words around a value that are no part of it.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "现在", "目前", "如今", "已经", "刚刚", "刚", "最近", "一直", "上个月", "上周", "去年", "今年", "请", "以后", "了", "的",
];

/// Most characters of a subject.
const MAX_SUBJECT_CHARS: usize = 8;

/// Words of a subject that deny, wish or ask.
const NO_SUBJECT: &[char] = &['不', '没', '想', '要', '会', '谁', '如', '若'];

/// Nouns of people and things that have a name.
const NAMED: &[&str] = &[
    "boss",
    "team lead",
    "tech lead",
    "project manager",
    "product manager",
    "dentist",
    "landlord",
    "handset",
];

/// Nouns of a person of whom a team has one: 组长是老马.
const TEAM_ROLES: &[&str] = &["team lead", "tech lead", "project manager", "product manager"];

/// Times before a change of the status: 我昨天订婚了.
const TIMES: &[&str] = &["昨天", "前天", "今天", "上周末", "上周", "周末", "这周", "前几天"];

/// Digits from nought to ten by their place.
const CHINESE_DIGITS: &str = "零一二三四五六七八九十";

/// Endings of a request for a name: 叫我小王就好.
const REQUEST_ENDINGS: &[&str] = &["就可以", "就好", "就行", "即可", "吧", "啦", "好"];

/// Parses a clause without blanks and marks.
pub(super) fn parse(text: &str) -> Option<SingleValue> {
    by_favourite(text)
        .or_else(|| by_noun(text))
        .or_else(|| by_status(text))
        .or_else(|| by_age(text))
        .or_else(|| by_request(text))
        .or_else(|| by_verb(text))
        .or_else(|| by_occupation(text))
}

/// Parses 我最喜欢的颜色是蓝色.
fn by_favourite(text: &str) -> Option<SingleValue> {
    let (subject, rest) = text.split_once("最喜欢的").or_else(|| text.split_once("最爱的"))?;
    let (thing, value) = rest.split_once('是')?;
    let english = FAVOURITES.iter().find(|(_, chinese)| *chinese == thing);
    let thing = english.map_or(thing, |(english, _)| english);
    let fits = !thing.ends_with("之一") && !value.ends_with("之一") && is_plain(subject);
    let value = value.trim_end_matches('了');
    SingleValue::new(&without_fillers(subject), &format!("favourite {thing}"), value)
        .filter(|it| fits && is_short(&it.value))
}

/// Parses 我的生日是5月15日 and 截止日期改到3月27日了.
fn by_noun(text: &str) -> Option<SingleValue> {
    let nouns =
        NOUNS.iter().flat_map(|(name, _, chinese)| chinese.iter().map(move |it| (*name, *it)));
    let places = nouns
        .filter_map(|(name, noun)| Some((text.find(noun)?, usize::MAX - noun.len(), name, noun)));
    let places: BTreeSet<_> = places.collect();
    let told = |(at, _, name, noun): (usize, usize, &'static str, &'static str)| {
        let rest = text[at + noun.len()..].trim_start_matches(['现', '在', '已', '经', '又']);
        let value = CHINESE_COPULAS.iter().find_map(|copula| rest.strip_prefix(copula))?;
        Some((&text[..at], name, rest, value))
    };
    let (subject, name, rest, value) = places.into_iter().find_map(told)?;
    let subject = without_fillers(subject).trim_end_matches('新').to_owned();
    let value = value.trim_start_matches('了').trim_end_matches('了');
    let fits = is_short(value)
        && !value.starts_with(['不', '没', '什', '哪', '个', '很', '位'])
        && is_plain(&subject);
    // 我的手机在充电 and 我的手机是黑色的 do not tell which one it is.
    let is_told = !NAMED.contains(&name)
        || rest.starts_with(['是', '叫', '换', '变', '改']) && !value.ends_with('的');
    let is_role = TEAM_ROLES.contains(&name);
    let is_it = subject.is_empty() && (name == "deadline" || is_role);
    let subject = if is_it { "it".to_owned() } else { subject };
    let is_person = !is_role || is_chinese_name(value) && !value.ends_with(['子', '手', '人']);
    SingleValue::new(&subject, name, value).filter(|_| fits && is_told && is_person)
}

/// Parses 我结婚了 and 我单身.
fn by_status(text: &str) -> Option<SingleValue> {
    let text = without_fillers(text);
    MARITAL_STATUS.iter().find_map(|(status, _, phrases)| {
        let phrase = phrases.iter().find(|phrase| text.contains(**phrase))?;
        let (subject, rest) = text.split_once(phrase)?;
        let subject = TIMES.iter().fold(subject.to_owned(), |subject, it| subject.replace(it, ""));
        let subject = subject.trim_end_matches(['还', '是', '又', '和']);
        let ends = rest.is_empty()
            || rest.chars().count() <= 2 && !rest.contains(['吗', '纪', '戒', '礼']);
        SingleValue::new(subject, "marital status", status)
            .filter(|_| ends && is_plain(subject) && subject.chars().count() <= 4)
    })
}

/// Parses 我29岁 and 我今年30岁了; 快30岁 is no age.
fn by_age(text: &str) -> Option<SingleValue> {
    let text = without_fillers(text).replace("满", "");
    let before = text.strip_suffix('岁')?.trim_end_matches("周");
    let is_digit = |c: char| c.is_ascii_digit() || CHINESE_DIGITS.contains(c);
    let digits = before.len() - before.trim_end_matches(is_digit).len();
    let (subject, age) = before.split_at(before.len() - digits);
    let subject = subject.trim_end_matches('是');
    let age = count(age).unwrap_or_default();
    let is_age = (1..=120).contains(&age)
        && !subject.contains(['快', '近', '约', '岁', '比', '差', '大', '小']);
    SingleValue::new(subject, "age", &age.to_string()).filter(|_| is_age && is_plain(subject))
}

/// Reads a number up to 99 in digits of either script: 34, 三十四.
pub(super) fn count(text: &str) -> Option<u32> {
    if text.chars().all(|c| c.is_ascii_digit()) {
        return text.parse().ok();
    }
    let digit = |c: char| CHINESE_DIGITS.chars().position(|it| it == c).map(|at| at as u32);
    let one = |text: &str| match text.chars().collect::<Vec<_>>()[..] {
        [] => Some(None),
        [c] => digit(c).map(Some),
        _ => None,
    };
    match text.split_once('十') {
        Some((tens, ones)) => Some(10 * one(tens)?.unwrap_or(1) + one(ones)?.unwrap_or(0)),
        None => one(text)?,
    }
}

/// Parses 叫我小王就好.
fn by_request(text: &str) -> Option<SingleValue> {
    let text = without_fillers(text);
    let (before, name) = text.split_once("叫我").or_else(|| text.split_once("称呼我"))?;
    let name = REQUEST_ENDINGS.iter().fold(name, |name, ending| name.trim_end_matches(ending));
    let name = name.trim_start_matches("为");
    let is_request =
        ["", "你可以", "可以", "大家都", "大家", "朋友都", "你就", "就"].contains(&before);
    let is_name =
        (1..=6).contains(&name.chars().count()) && !name.contains(['起', '去', '来', '做', '吃']);
    SingleValue::new(USER, "name", name).filter(|_| is_request && is_name)
}

/// Parses 我住在罗马 and 我从腾讯跳槽到美团.
fn by_verb(text: &str) -> Option<SingleValue> {
    let text = without_fillers(text);
    CHINESE_VERBS.iter().find_map(|(attribute, before, after)| {
        let (subject, rest) = text.split_once(before)?;
        let value = rest.strip_suffix(after)?;
        let subject = subject.split('从').next().unwrap_or_default();
        // 现在在字节上班, as a clause after one about the user.
        let subject = if subject.is_empty() && *attribute != "name" { "我" } else { subject };
        let found = SingleValue::new(subject, attribute, value)?;
        let fits = is_plain(subject) && is_short(value) && value != "一起";
        Some(found.moved(MOVES.iter().any(|verb| before.starts_with(verb)))).filter(|_| fits)
    })
}

/// Parses 我是一名老师 and 我当律师.
fn by_occupation(text: &str) -> Option<SingleValue> {
    let text = without_fillers(text);
    let (job, english) = OCCUPATIONS.iter().find_map(|(english, names)| {
        let name =
            names.split('/').filter(|name| text.ends_with(name)).max_by_key(|name| name.len())?;
        Some((name, *english))
    })?;
    let before = text.strip_suffix(job)?;
    let before = ["一名", "一位", "一个", "名", "个"]
        .iter()
        .find_map(|it| before.strip_suffix(it))
        .unwrap_or(before);
    let subject =
        ["转行做", "改行做", "是", "当", "成"].iter().find_map(|verb| before.strip_suffix(verb))?;
    SingleValue::new(subject, "occupation", english).filter(|_| is_plain(subject))
}

pub(super) fn without_fillers(text: &str) -> String {
    FILLERS.iter().fold(text.to_owned(), |text, word| text.replace(word, ""))
}

fn is_plain(subject: &str) -> bool {
    !subject.contains(NO_SUBJECT) && subject.chars().count() <= MAX_SUBJECT_CHARS
}

fn is_short(value: &str) -> bool {
    value.chars().count() <= 2 * MAX_VALUE_WORDS
}
