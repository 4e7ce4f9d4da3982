//! Statements that give one value to one attribute of a subject: home, employer, name, birthday, port, deadline.
//!
//! The tables list only what has one value at a time. "I work with Anna" and "I work with Ben" both hold; "I work at
//! Nokia" and "I work at Spotify" do not.

use super::words::normalized_words;
use crate::text::language::is_cjk;

/// Most words of a subject, such as "my sister's new landlord".
const MAX_SUBJECT_WORDS: usize = 5;

/// Most words of a value; a longer one is a story.
const MAX_VALUE_WORDS: usize = 10;

/// Attribute, and the words between its subject and its value.
#[rustfmt::skip]
const VERBS: &[(&str, &str)] = &[
    ("home", "live in"), ("home", "reside in"), ("home", "am based in"), ("home", "moved to"), ("home", "relocated to"),
    ("home", "settled in"),
    ("employer", "work at"), ("employer", "work for"), ("employer", "am employed by"), ("employer", "am employed at"),
    ("occupation", "work as a"), ("occupation", "work as an"),
    ("port", "run on port"), ("port", "listen on port"), ("port", "am on port"), ("port", "use port"),
    ("host", "am hosted on"), ("host", "am hosted at"), ("host", "am deployed on"), ("host", "am deployed to"),
    ("due", "am due on"), ("due", "am due"), ("due", "am scheduled for"),
    ("name", "am called"), ("name", "am named"),
];

/// Chinese attributes: words before the value, and words that must follow it.
#[rustfmt::skip]
const CHINESE_VERBS: &[(&str, &str, &str)] = &[
    ("home", "住在", ""), ("home", "搬到", ""), ("home", "定居在", ""), ("home", "定居", ""), ("home", "常住", ""), ("home", "居住在", ""),
    ("employer", "在", "上班"), ("employer", "在", "工作"), ("employer", "在", "任职"), ("employer", "跳槽到", ""), ("employer", "入职", ""),
    ("name", "名叫", ""), ("name", "叫", ""),
];

/// Nouns that have one value: "my name is", "the deadline of the project is".
#[rustfmt::skip]
const NOUNS: &[&str] = &[
    "name", "birthday", "age", "email", "phone", "number", "address", "occupation", "profession", "employer", "deadline", "port",
    "version", "colour", "color", "budget", "timezone", "zone", "salary", "height", "hometown", "nickname", "branch",
];

/// Chinese nouns that have one value.
#[rustfmt::skip]
const CHINESE_NOUNS: &[&str] = &[
    "名字", "姓名", "昵称", "生日", "年龄", "邮箱", "电话", "手机号", "地址", "职业", "公司", "老板", "截止日期", "截止时间", "端口", "版本", "颜色",
    "预算", "时区", "工资", "身高", "体重", "尺码", "家乡", "老家", "分支",
];

/// Copulas after such a noun.
const CHINESE_COPULAS: &[&str] = &["改成了", "改成", "改为", "改到", "是", "为", "叫", "在"];

/// Words around a value that are no part of it.
#[rustfmt::skip]
const CHINESE_FILLERS: &[&str] =
    &["现在", "目前", "如今", "已经", "刚刚", "刚", "最近", "一直", "上个月", "上周", "去年", "今年", "了", "的"];

/// English words around a subject or value that are no part of it.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "now", "currently", "just", "recently", "actually", "still", "already", "have", "finally", "again", "the", "new", "today",
];

/// Words after which a value is over: "to Rome last month".
const VALUE_ENDS: &[&str] = &[
    "last",
    "this",
    "since",
    "because",
    "and",
    "but",
    "with",
    "in",
    "for",
    "yesterday",
    "ago",
    "from",
];

/// Words of no single subject.
#[rustfmt::skip]
const NO_SUBJECT: &[&str] = &[
    "a", "an", "some", "one", "who", "what", "where", "if", "when", "not", "no", "never", "longer", "would", "might", "will",
];

/// Words of a value that is no name.
const NO_NAME: &[&str] =
    &["a", "an", "my", "our", "his", "her", "their", "home", "night", "nights", "peace", "myself"];

/// Value of a subject's attribute.
#[derive(Debug, PartialEq)]
pub(super) struct SingleValue {
    subject: String,
    attribute: String,
    value: String,
}

impl SingleValue {
    /// Parses normalized words; `None` if they give no such value.
    pub(super) fn parse(words: &[String]) -> Option<Self> {
        if words.iter().any(|word| word.contains(is_cjk)) {
            let text = words.concat();
            return by_chinese_noun(&text).or_else(|| by_chinese_verb(&text));
        }
        by_verb(words).or_else(|| by_noun(words))
    }

    /// Returns `true` if both give another value to the same thing. A value that contains the other only says more.
    pub(super) fn differs_from(&self, other: &Self) -> bool {
        self.subject == other.subject
            && self.attribute == other.attribute
            && !self.value.contains(&other.value)
            && !other.value.contains(&self.value)
    }

    fn new(subject: &str, attribute: &str, value: &str) -> Option<Self> {
        let (subject, attribute, value) =
            (subject.to_owned(), attribute.to_owned(), value.to_owned());
        (!subject.is_empty() && !value.is_empty()).then_some(Self { subject, attribute, value })
    }
}

/// Returns words by which statements about the same attribute are found, whatever words they use.
pub(super) fn related_words(text: &str) -> &'static str {
    match SingleValue::parse(&normalized_words(text)).map(|value| value.attribute).as_deref() {
        Some("home") => "live lives moved based 住 住在 搬到 定居",
        Some("employer") => "work works working 上班 工作 入职",
        Some("name") => "name named called 名字 叫",
        _ => "",
    }
}

/// Parses "SUBJECT live in VALUE".
fn by_verb(words: &[String]) -> Option<SingleValue> {
    VERBS.iter().find_map(|(attribute, verb)| {
        let verb: Vec<&str> = verb.split(' ').collect();
        let at = words.windows(verb.len()).position(|part| part == &verb[..])?;
        let mut subject = without_fillers(&words[..at]);
        // "I am living in".
        subject.pop_if(|word| word == "am");
        let value = value_of(&words[at + verb.len()..]).filter(|value| is_name(value))?;
        let fits = (1..=MAX_SUBJECT_WORDS).contains(&subject.len()) && is_subject(&subject);
        SingleValue::new(&subject.join(" "), attribute, &value).filter(|_| fits)
    })
}

/// Parses "my NOUN is VALUE" and "the NOUN of X is VALUE".
fn by_noun(words: &[String]) -> Option<SingleValue> {
    let at = words.iter().position(|word| word == "am")?;
    let subject = without_fillers(&words[..at]);
    let is_favourite = subject.iter().any(|word| word == "favourite" || word == "favorite");
    let names_it = subject.iter().any(|word| NOUNS.contains(&word.as_str())) || is_favourite;
    let fits = (2..=MAX_SUBJECT_WORDS).contains(&subject.len()) && is_subject(&subject);
    let value = value_of(&words[at + 1..])?;
    SingleValue::new(&subject.join(" "), "is", &value).filter(|_| names_it && fits)
}

/// "A meeting in Paris" is one of several, "the meeting" is one; and what is denied or asked has no value.
fn is_subject(words: &[String]) -> bool {
    !words.iter().any(|word| NO_SUBJECT.contains(&word.as_str()))
}

/// "In a small flat" and "at home" hold beside any place.
fn is_name(value: &str) -> bool {
    !value.split(' ').any(|word| NO_NAME.contains(&word))
}

fn without_fillers(words: &[String]) -> Vec<String> {
    words.iter().filter(|word| !FILLERS.contains(&word.as_str())).cloned().collect()
}

fn value_of(words: &[String]) -> Option<String> {
    let end = words.iter().position(|word| VALUE_ENDS.contains(&word.as_str()));
    let value = without_fillers(&words[..end.unwrap_or(words.len())]);
    let is_denied = value.iter().any(|word| word == "not");
    let fits = (1..=MAX_VALUE_WORDS).contains(&value.len()) && !is_denied;
    fits.then(|| value.join(" "))
}

/// Parses 我住在罗马 and 我在美团上班.
fn by_chinese_verb(text: &str) -> Option<SingleValue> {
    let text = CHINESE_FILLERS.iter().fold(text.to_owned(), |text, word| text.replace(word, ""));
    CHINESE_VERBS.iter().find_map(|(attribute, before, after)| {
        let (subject, rest) = text.split_once(before)?;
        let value = rest.strip_suffix(after)?;
        let is_plain = !subject.contains(['不', '没', '想', '要']) && subject.chars().count() <= 8;
        let fits = value.chars().count() <= 2 * MAX_VALUE_WORDS;
        SingleValue::new(subject, attribute, value).filter(|_| is_plain && fits)
    })
}

/// Parses 我的生日是5月15日.
fn by_chinese_noun(text: &str) -> Option<SingleValue> {
    let (at, noun) =
        CHINESE_NOUNS.iter().filter_map(|noun| Some((text.find(noun)?, *noun))).min()?;
    let (subject, rest) = (&text[..at], &text[at + noun.len()..]);
    let rest = rest.trim_start_matches(['现', '已', '经']);
    let value = CHINESE_COPULAS.iter().find_map(|copula| rest.strip_prefix(copula))?;
    let subject = CHINESE_FILLERS.iter().fold(subject.to_owned(), |it, word| it.replace(word, ""));
    let fits = value.chars().count() <= 2 * MAX_VALUE_WORDS && !value.starts_with(['不', '没']);
    SingleValue::new(&subject, noun, value.trim_end_matches('了')).filter(|_| fits)
}
