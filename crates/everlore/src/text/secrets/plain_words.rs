//! Passwords of plain words and of digits in groups, which only their label and the end of their clause tell: "the password
//! is banana", 口令：天王盖地虎, 密码锁是 0 7 2, "the lock opens with 8812".

use std::sync::LazyLock;

use regex::Regex;

use super::{SecretKind, SecretMatch, labelled::is_form_value};

/// English words that say something about a password, in place of it.
#[rustfmt::skip]
const PREDICATES: &[&str] = &[
    "weak", "long", "short", "strong", "safe", "secure", "easy", "hard", "simple", "valid", "different", "unique", "common", "good",
    "fine", "okay", "terrible", "awful", "stupid", "silly", "funny", "great", "perfect", "visible", "public", "private", "temporary",
    "permanent", "mandatory", "necessary", "obvious", "complex", "ready", "gone", "dead", "here", "there", "nowhere", "somewhere",
    "elsewhere", "everywhere", "online", "offline", "yours", "mine", "ours", "this", "that", "what", "which", "nothing", "something",
    "anything", "everything", "longer", "shorter", "stronger", "weaker", "better", "worse", "enough", "written", "stolen", "broken",
    "known", "given", "taken", "alphanumeric", "active", "inactive", "outdated", "insecure", "lost", "kept", "sent", "case",
    "personal", "confidential", "crap", "rubbish", "garbage", "trash", "ugly", "annoying", "back", "older", "newer", "next", "about",
    "probably", "maybe", "just", "still", "also", "already", "always", "never", "really", "very", "hers", "theirs", "sensitive",
    "used", "tied", "currently", "possibly", "definitely", "actually", "basically", "likely", "easily", "typically", "usually", "normally",
];

/// Endings of English participles and adjectives.
const PREDICATE_ENDINGS: [&str; 7] = ["ed", "ing", "able", "ible", "ful", "less", "ous"];

/// Fewest letters of a word whose ending counts: "king" and "seed" are plain nouns.
const MIN_PREDICATE_LEN: usize = 6;

/// Chinese beginnings of what is said about a password, in place of it.
#[rustfmt::skip]
const CHINESE_PREDICATES: &[&str] = &[
    "见", "找", "问", "由", "请", "看", "在", "存", "无", "暂", "同", "和", "与", "跟", "待", "必", "可", "不", "未", "已", "没", "忘", "需", "要", "长", "至", "默认",
    "初始", "统一", "通用", "随机", "随便", "任意", "任何", "联系", "参", "另", "微信", "短信", "邮件", "邮箱", "手机", "电话", "自己", "保密", "机密", "略", "详", "输入",
    "填", "写", "字母", "数字", "大写", "小写", "大小写", "包含", "包括", "最", "区分", "使用", "用", "每", "定期", "为", "空", "错", "对", "正确", "一样", "相同", "一种", "一个",
    "一串", "一组", "多少", "什么", "自动", "临时", "动态", "固定", "加密", "明文", "哈希", "纯", "生日", "学号", "身份", "姓名", "名字", "拼音", "谁", "哪", "第", "从", "以", "按", "只",
    "很", "太", "非常", "比较", "有", "否", "个人", "隐私", "安全", "重要", "关键", "基础", "老", "新", "旧", "原", "之前", "刚", "现在", "今天", "昨天", "明天", "下", "上", "大家",
    "公司", "学校", "人", "你", "您", "我", "他", "她", "它", "咱", "这", "那", "能", "会", "应", "怎", "几", "乱", "密", "账", "帐", "用户", "登录", "通过", "绝", "国家", "技术", "因为", "如果", "曾",
];

/// Chinese words that no password has and a sentence about one does.
#[rustfmt::skip]
const CHINESE_SENTENCE_WORDS: &[&str] = &[
    "的", "了", "吗", "呢", "么", "吧", "设置", "设定", "生成", "分配", "提供", "发送", "管理", "保存", "存放", "字符", "组合", "系统", "位", "过期", "泄露", "强度", "规则", "问题", "负责",
    "控制", "保护", "验证", "修改", "重置", "找回", "服务",
];

/// Label and verb of an English sentence, with the word that it names.
static ENGLISH: LazyLock<Regex> = LazyLock::new(|| {
    let owner = r"(?:(?:my|our|the|his|her|their|its|your)(?: [a-z0-9'’-]{1,20}){0,3} (?:password|passcode)(?: (?:for|to|of|on)(?: [a-z0-9'’-]{1,20}){1,4})?|(?:password|passcode) (?:for|to|of|on)(?: [a-z0-9'’-]{1,20}){1,4})";
    let verb = r"(?: is| was|'s|’s)(?: now| still| simply| just| literally)?(?: the word)?";
    Regex::new(&format!(r#"(?i)(?-u:\b){owner}{verb} ["'“‘]?(?P<v>[a-zA-Z]{{4,20}})"#))
        .expect("valid")
});

/// Chinese label with the words behind it.
static CHINESE: LazyLock<Regex> = LazyLock::new(|| {
    let verb = r"[ ]?(?P<sep>[：:]|就?是|改成了?|换成了?|设成了?|设为|改为)[ ]?";
    Regex::new(&format!(r"(?:密码|密碼|口令|暗号|通行码){verb}[“「『]?(?P<v>[一-鿿]{{2,16}})"))
        .expect("valid")
});

/// Digits that a label of a lock or a password announces: in groups, behind the number of their places, as turns of a dial.
static DIGITS: LazyLock<Regex> = LazyLock::new(|| {
    let groups = "[0-9](?:[ -][0-9]){2,9}|[0-9]{2,4}(?:[ -][0-9]{2,4}){1,3}";
    let verb = r"(?:是|为|：|:|改成了?|设成了?|换成了?)?";
    let turn = r"[左右](?:[一二两三四五0-9]圈)?到?[0-9]{1,3}";
    let opens = r"(?:opens?|opened|unlocks?|unlocked)(?: up)? (?:with|by|using)(?: the)?(?: code| combination| number| pin)?";
    let locks = "lock|padlock|safe|gate|door|locker|garage|shed|suitcase|lockbox|cabin|vault";
    let alternatives = [
        format!(r"密码锁?[ ]?{verb}[ ]?(?P<a>{groups})"),
        format!(r"(?:锁|门|门禁|保险[箱柜]|行李箱|开机|锁屏)密码[ ]?{verb}[ ]?(?P<b>{groups}|[0-9]{{3,10}}[#*]?)"),
        r"密码[是为][一二三四五六七八九十0-9]{1,2}位数?的?[ ：:]?(?P<c>[0-9]{4,10})".to_owned(),
        format!(r"密码[ ]?{verb}[ ]?(?P<d>{turn}(?:[，, ]?(?:再|然后)?{turn}){{1,4}})"),
        r"(?i:(?-u:\b)puk)(?i:[ -]?(?:code|number|码))?(?: is|是|为|：|:)?[ ]?(?P<e>[0-9]{8})".to_owned(),
        format!(r"(?i:(?-u:\b)(?:{locks})(?-u:\b)[a-z '’]{{0,40}}? {opens}:? (?P<f>[0-9]{{3,10}}[#*]?))"),
        r"(?:锁|门|保险[箱柜]|门禁)[^。！？\n，0-9]{0,10}?(?:按|输入?)(?:密码)?[ ]?(?P<g>[0-9]{3,10}[#*]?)[ ]?(?:就|可以|即可|能|便)".to_owned(),
    ];
    Regex::new(&alternatives.join("|")).expect("valid")
});

/// Network and its password behind `wifi:`.
static NETWORK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i:(?-u:\b)wi-?fi)[：:] ?[^\s/:：]{1,32} ?/ ?(?P<v>[a-z][!-~]{7,62})")
        .expect("valid")
});

/// Number of a passport or a licence.
static IDENTITY: LazyLock<Regex> = LazyLock::new(|| {
    let english = r"(?i:(?-u:\b)(?:passport|driver['’]?s? licen[sc]e|driving licen[sc]e))(?i: (?:number|no\.?|num|id))?(?: is|'s|’s| =|:)? #?";
    let chinese = r"(?:护照|通行证|驾照|驾驶证|行驶证|社保卡?)(?:号码?|编号)?(?:是|为|：|:)?[ ]?";
    Regex::new(&format!(r"(?:{english}|{chinese})(?P<v>[A-Za-z0-9]{{7,18}})")).expect("valid")
});

/// Chinese words of a wallet.
static CHINESE_SEED: LazyLock<Regex> = LazyLock::new(|| {
    let blanks = r"[一-鿿]{1,4}(?: [一-鿿]{1,4}){2,23}";
    let marks = r"[一-鿿]{1,4}(?:[、，,][一-鿿]{1,4}){5,23}";
    Regex::new(&format!(r"助[记記][词詞](?:是|为|：|:)?[ ]?(?P<v>{blanks}|{marks})"))
        .expect("valid")
});

pub(super) fn find(text: &str, found: &mut Vec<SecretMatch>) {
    push_values(&ENGLISH, text, SecretKind::Password, is_english_word, found);
    push_values(&CHINESE, text, SecretKind::Password, are_chinese_words, found);
    push_values(&DIGITS, text, SecretKind::Password, |_, after| !counts(after), found);
    push_values(
        &NETWORK,
        text,
        SecretKind::Password,
        |value, _| has_letters_and_digits(value),
        found,
    );
    push_values(&IDENTITY, text, SecretKind::IdNumber, is_document_number, found);
    push_values(&CHINESE_SEED, text, SecretKind::SeedPhrase, |_, _| true, found);
}

/// Adds the last group of each match whose value and following text pass a check.
fn push_values(
    pattern: &Regex,
    text: &str,
    kind: SecretKind,
    is_value: impl Fn(&str, &str) -> bool,
    found: &mut Vec<SecretMatch>,
) {
    let values = pattern
        .captures_iter(text)
        .filter_map(|captured| captured.iter().skip(1).flatten().max_by_key(regex::Match::end));
    let values = values.filter(|value| is_value(value.as_str(), &text[value.end()..]));
    found.extend(values.map(|value| SecretMatch { kind, span: value.range() }));
}

/// Returns `true` for a word that ends its clause and says nothing about a password.
fn is_english_word(word: &str, after: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let says_something = PREDICATES.contains(&&*lower)
        || is_form_value(&lower)
        || lower.len() >= MIN_PREDICATE_LEN
            && PREDICATE_ENDINGS.iter().any(|ending| lower.ends_with(ending));
    let after = after.trim_start_matches(['"', '\'', '”', '’']);
    let next = after.chars().next();
    let goes_on = [" and ", " but ", " so "].iter().any(|word| after.starts_with(word));
    !says_something && (goes_on || next.is_none_or(|c| ".,;!)\n\r。，；！）".contains(c)))
}

fn are_chinese_words(words: &str, after: &str) -> bool {
    let ends = after.chars().next().is_none_or(|c| "。，！；、,.!;\n\r)）”」』".contains(c));
    ends && !CHINESE_PREDICATES.iter().any(|word| words.starts_with(word))
        && !CHINESE_SENTENCE_WORDS.iter().any(|word| words.contains(word))
}

/// Returns `true` if a number counts what follows it, or goes on.
fn counts(after: &str) -> bool {
    let bare = after.trim_start_matches([' ', '-']);
    let units = [
        "位", "个", "年", "月", "日", "次", "条", "行", "元", "块", "天", "分", "秒", "字", "号楼",
    ];
    units.iter().any(|unit| bare.starts_with(unit))
        || after.starts_with(|c: char| c.is_ascii_alphanumeric())
        || bare.starts_with(|c: char| c.is_ascii_alphanumeric()) && after.starts_with(' ')
}

fn has_letters_and_digits(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Returns `true` for five digits or more with few letters, which are no date.
fn is_document_number(value: &str, after: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let is_date =
        digits == 8 && value.len() == 8 && (value.starts_with("19") || value.starts_with("20"));
    let is_upper = !value.bytes().any(|byte| byte.is_ascii_lowercase());
    let goes_on = after.starts_with(|c: char| c.is_ascii_alphanumeric() || "年到".contains(c));
    digits >= 5 && !is_date && is_upper && !goes_on
}
