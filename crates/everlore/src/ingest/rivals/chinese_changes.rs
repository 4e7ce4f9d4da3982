//! Changes in Chinese: 我从华为离职了, 房租涨到三千五了, 我把思域卖了, 我现在体重75公斤.

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;

use super::{
    attributes::CHINESE_RELATIVES,
    chinese_value,
    single_value::{SingleValue, USER},
    words::normalized_words,
};

/// Most characters of a statement that a change can end.
const MAX_OLD_CHARS: usize = 30;

/// Fewest characters of a thing or value that is named: one is found in too many words.
const MIN_NAMED_CHARS: usize = 2;

pub(super) static UNREAL: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        "如果|要是|假如|想|打算|可能|也许|考虑|准备|差点|没|要不|希望|计划|应该会|不打算|明年|以后",
    )
});
static OVER: LazyLock<Regex> =
    LazyLock::new(|| compile("以前|之前|曾|当时|那时|过去|去年|前年|年去过|如果|要是"));

static LEFT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        "从(?P<x>.+?)(?:那边|公司)?(?:离职|辞职|离开|跳槽|辞了|出来)|(?:离开|辞掉)(?:了)?(?P<y>.+?)(?:了|的工作)",
    )
});
static SOLD: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        "把(?P<x>.+?)(?:给)?(?:卖|处理|送人)|卖(?:了|掉了?)(?P<y>.+)$|^(?P<z>[^我他她]{2,8}?)(?:已经)?卖(?:掉)?了$",
    )
});
static SWITCHED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        "从(?P<x>.+?)(?:换|切|迁移?|转|改|搬)(?:成|到|为|用|去)|(?:不用|不再用|弃用|停用)(?P<y>.+?)了?$|把(?P<z>.+?)(?:换|改)成",
    )
});
static PARTED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        "^我?(?:已经|刚|最近|终于)*[和跟与](?P<x>.+?)(?:已经)?(?:分手|分开|离婚|离)|^(?P<y>[^我]+)(?:和|跟)我(?:分手|离婚)",
    )
});
static RELATION: LazyLock<Regex> = LazyLock::new(|| {
    compile("女朋友|男朋友|女友|男友|对象|在一起|老婆|老公|妻子|丈夫|未婚|恋爱|订婚")
});
static GRADUATED: LazyLock<Regex> =
    LazyLock::new(|| compile("^我(?:已经|刚|终于)*(?:从(?P<x>.+?)|.{1,6}?)?(?:毕业|退学)"));
static EATS_MEAT: LazyLock<Regex> =
    LazyLock::new(|| compile("又?开始吃(?:肉|荤)|又吃(?:肉|荤)|开荤"));
pub(super) static MOVED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        "^(?:.{0,4}把)?(?P<thing>.+?)(?:又|已经|被|都|现在|就|给)*(?:推迟|延期|延后|延长|延|提前|改|调整|调|挪|移|升级|升|降|涨|跌|减|加|增加|减少|搬|换|变|推)(?:到|成|为|至|用)了?(?P<value>.+?)了?$",
    )
});
/// Beginnings of statements about the user or the user's things.
static OURS: LazyLock<Regex> = LazyLock::new(|| {
    compile("^(?:我|咱|公司|团队|项目|数据库|系统|后端|前端|服务|网站|测试|线上)")
});
static DIED: LazyLock<Regex> =
    LazyLock::new(|| compile("^我(?:家)?(?P<x>[^，]{1,3}?)(?:去世|死了|过世|走丢|没了)"));
static CANCELLED: LazyLock<Regex> =
    LazyLock::new(|| compile("^(?P<thing>.{2,10}?)(?:已经|被|临时|又|都)*取消了?$"));
static TAKES: LazyLock<Regex> =
    LazyLock::new(|| compile("^我(?:已经|现在|刚)*(?:换成|改用|换用)了?(?P<value>.+?)了?$"));
static WEIGHT: LazyLock<Regex> =
    LazyLock::new(|| compile("^我(?:现在|已经)*(?:瘦|胖|减|重)?到了?[0-9.]+(?P<unit>公斤|斤|kg)"));
static REPLACED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        "^我(?:们)?(?:又|刚|最近|已经)*换(?:了|掉)?(?:个|家|新的?)*(?P<noun>手机号|号码|电话|手机|邮箱|牙医|医生|老板|领导|组长|房东|导师|车|电脑|工作|公司|健身房|银行)了?$",
    )
});
pub(super) static DATED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        "[0-9一二三四五六七八九十]+(?:月|号|日|点)|周[一二三四五六日天]|星期|礼拜|上午|下午|晚上|早上|明天|后天|月底|年底",
    )
});
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        "(?P<n>[0-9][0-9.,]*|[零一二两三四五六七八九十百千万]+半?)(?P<unit>毫克|公斤|斤|公里|千米|秒|分钟|小时|个月|元|块|万元|人|次|杯|楼|层|岁|平米?|kg|mg|[a-zA-Z]{0,3})",
    )
});
/// Number with its unit behind a verb of what lasts: the one of now. 昨天跑了5公里 tells of a day.
static LASTING_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        "(?:是|有|共|要|吃|服用|喝|付|交|睡)[0-9零一二两三四五六七八九十百千万.,]+(?:毫克|克|片|粒|公斤|斤|公里|秒|分钟|小时|元|块|万|欧元?|美元|个人|人|杯|岁|平米?|mg|g|ml)",
    )
});
pub(super) static PLAIN_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        "(?P<day>周|星期|礼拜)?(?:[0-9][0-9.,:]*|[零一二两三四五六七八九十百千万]+)(?:点半|点[0-9一二三四五六七八九十]+分?|点)?",
    )
});

/// Returns `true` if a new statement says that what an old one says is over, by naming it.
pub(super) fn changes(new: &str, old: &str) -> bool {
    let old = plain(old);
    if old.chars().count() > MAX_OLD_CHARS
        || OVER.is_match(&old)
        || new.trim_end().ends_with(['?', '？', '吗'])
    {
        return false;
    }
    let clauses: Vec<String> = new
        .split([',', '，', ';', '；', '。', ' '])
        .map(plain)
        .filter(|it| !it.is_empty())
        .collect();
    if clauses.iter().any(|clause| clause.contains("如果") || clause.contains("要是")) {
        return false;
    }
    clauses.iter().any(|clause| !UNREAL.is_match(clause) && is_changed(&old, clause))
}

/// Returns `true` if a statement has words of a change.
pub(super) fn may_change(text: &str) -> bool {
    let patterns = [
        &LEFT, &SOLD, &SWITCHED, &PARTED, &GRADUATED, &EATS_MEAT, &MOVED, &WEIGHT, &REPLACED,
        &TAKES,
    ];
    let mut clauses = text.split([',', '，', ';', '；', '。', ' ']).map(plain);
    clauses.any(|clause| patterns.iter().any(|pattern| pattern.is_match(&clause)))
}

fn is_changed(old: &str, clause: &str) -> bool {
    if let Some(name) = named(&PARTED, clause) {
        return RELATION.is_match(old) && old.contains(&name);
    }
    if people(old) != people(clause) {
        return false;
    }
    is_left(old, clause) || is_moved(old, clause) || gives_other_number(old, clause)
}

/// Returns `true` if a clause says that a value of a statement is over, and names it.
fn is_left(old: &str, clause: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| old.contains(word));
    let names = |pattern: &Regex| {
        named(pattern, clause)
            .is_some_and(|it| it.chars().count() >= MIN_NAMED_CHARS && old.contains(&it))
    };
    let is_theirs = |it: &SingleValue| it.subject == USER || !people(old).is_empty();
    let is_employer =
        || SingleValue::only_in(old).is_some_and(|it| it.attribute == "employer" && is_theirs(&it));
    let is_ours = || OURS.is_match(old) || first_two(old) == first_two(clause);
    let is_known = has(&["喜欢", "知道", "学过", "讨厌", "会说"]);
    names(&LEFT) && is_employer()
        || names(&SOLD) && is_ours() && has(&["开", "有", "车"])
        || names(&SWITCHED)
            && is_ours()
            && !is_known
            && has(&["用", "是", "在", "跑", "开", "喝", "住"])
        || GRADUATED.captures(clause).is_some_and(|found| {
            has(&["学生", "读", "上大学"])
                && found.name("x").is_none_or(|it| old.contains(it.as_str()))
        })
        || has(&["吃素", "素食"]) && EATS_MEAT.is_match(clause)
        || DIED.captures(clause).is_some_and(|found| has_one(old, &found["x"]))
        || TAKES.captures(clause).is_some_and(|found| {
            old.starts_with('我')
                && old.contains('用')
                && last_two(old) == last_two(&found["value"])
        })
        || REPLACED.captures(clause).is_some_and(|found| replaces(old, &found["noun"]))
}

/// Returns `true` if a statement says that the user has one of these: 我有一只猫.
fn has_one(old: &str, thing: &str) -> bool {
    let (owner, rest) = old.split_once('有').unwrap_or_default();
    is_owner(owner) && rest.starts_with(['一', '1']) && rest.ends_with(thing)
}

fn first_two(text: &str) -> Vec<char> {
    text.chars().take(2).collect()
}

fn last_two(text: &str) -> Vec<char> {
    text.chars().rev().take(2).collect()
}

/// Returns `true` if a statement says who or what somebody's only one of these is.
fn replaces(old: &str, noun: &str) -> bool {
    let nouns: &[&str] = match noun {
        "号码" | "电话" => &["手机号", "号码", "电话"],
        "医生" => &["医生", "牙医"],
        other => &[other],
    };
    nouns.iter().any(|noun| {
        let rest = old
            .split_once(noun)
            .filter(|(owner, _)| ["我", "我的", "我们", "我们的"].contains(owner));
        rest.is_some_and(|(_, rest)| rest.starts_with(['是', '叫']))
    })
}

/// Returns `true` if a clause gives another value to the thing that a statement speaks of.
fn is_moved(old: &str, clause: &str) -> bool {
    if let Some(found) = WEIGHT.captures(clause) {
        return old.contains(&found["unit"]) && old.contains('重') && old.starts_with('我');
    }
    if let Some(found) = CANCELLED.captures(clause) {
        let split = split_at_thing(old, &thing_of(&found["thing"]));
        return split.is_some_and(|(before, rest)| is_owner(&before) && DATED.is_match(&rest));
    }
    let Some(found) = MOVED.captures(clause) else { return false };
    let (thing, value) = (thing_of(&found["thing"]), &found["value"]);
    let Some((before, rest)) = split_at_thing(old, &thing) else { return false };
    if DATED.is_match(value) {
        return is_owner(&before) && DATED.is_match(&rest);
    }
    if let Some(unit) =
        NUMBER.captures(value).filter(|it| it.get(0).is_some_and(|it| it.start() == 0))
    {
        let units = |text: &str| NUMBER.captures_iter(text).any(|it| it["unit"] == unit["unit"]);
        // 我每天吃20毫克降压药 has its number before the thing.
        return is_owner(&before) && units(&rest) || before.starts_with('我') && units(&before);
    }
    let is_value = rest.starts_with(['是', '用', '在']) || last_two(value) == last_two(&rest);
    is_owner(&before) && is_value && !is_description(&rest)
}

/// Splits a statement around a thing, or around the noun of it: 接口端口 in 接口跑在3000端口.
fn split_at_thing(old: &str, thing: &str) -> Option<(String, String)> {
    if thing.chars().count() < MIN_NAMED_CHARS {
        return None;
    }
    if let Some((before, rest)) = old.split_once(thing) {
        return Some((before.to_owned(), rest.to_owned()));
    }
    let base = ["端口", "版本", "时间", "价格"].iter().find(|noun| thing.ends_with(**noun))?;
    let owner = thing.strip_suffix(base).filter(|it| it.chars().count() >= MIN_NAMED_CHARS)?;
    let (before, rest) = old.split_once(owner)?;
    rest.contains(base).then(|| (before.to_owned(), rest.to_owned()))
}

pub(super) fn is_owner(before: &str) -> bool {
    ["", "我", "我们", "咱们", "咱", "我们公司", "公司", "我家", "我们组", "我们团队", "这个"]
        .contains(&before)
}

fn is_description(rest: &str) -> bool {
    ["是个", "是很", "是一", "在忙", "很"].iter().any(|it| rest.starts_with(it))
}

/// Returns `true` if a clause is the statement with another number, and says that it is the one of now.
fn gives_other_number(old: &str, clause: &str) -> bool {
    let is_now = ["现在", "目前", "如今", "已经"].iter().any(|it| clause.contains(it))
        || clause.ends_with('了')
        || ["体重", "身高", "工资", "房租"].iter().any(|it| clause.contains(it))
        || LASTING_NUMBER.is_match(clause);
    let ((masked, numbers), (old_masked, old_numbers)) = (masked(clause), masked(old));
    let is_alike = masked == old_masked
        || old_masked.strip_suffix(masked.as_str()).is_some_and(is_owner)
            && masked.chars().count() > 3;
    // 5号楼 and 第5章 are names.
    let is_name = masked.starts_with('#') || masked.starts_with("第#");
    is_now && is_alike && !is_name && !numbers.is_empty() && numbers != old_numbers
}

/// Returns a text with its numbers masked, and the numbers. Days of the week are no numbers.
pub(super) fn masked(text: &str) -> (String, Vec<String>) {
    let text = chinese_value::without_fillers(text);
    let mut numbers = Vec::new();
    let masked = PLAIN_NUMBER.replace_all(&text, |found: &regex::Captures<'_>| {
        if found.name("day").is_some() {
            return found[0].to_owned();
        }
        numbers.push(found[0].to_owned());
        "#".to_owned()
    });
    (masked.into_owned(), numbers)
}

pub(super) fn thing_of(text: &str) -> String {
    let text = chinese_value::without_fillers(text);
    let owners = ["我们公司", "我们", "咱们", "我"];
    let bare = owners.iter().find_map(|it| text.strip_prefix(it)).unwrap_or(&text);
    bare.trim_end_matches("时间").trim_end_matches("日期").to_owned()
}

/// Returns the people whom a statement speaks of beside the user.
pub(super) fn people(text: &str) -> BTreeSet<&'static str> {
    let text = text.replace("我的", "我").replace("我家", "我");
    let is_named = |word: &&&str| text.contains(&format!("我{word}")) || text.starts_with(**word);
    // 我的猫去世了 and 我有一只猫 speak of the same animal.
    let is_animal = |word: &&str| matches!(*word, "猫" | "狗") && !text.contains('重');
    let named = CHINESE_RELATIVES.iter().filter(is_named).copied();
    named.filter(|word| !is_animal(word)).collect()
}

fn named(pattern: &Regex, clause: &str) -> Option<String> {
    let found = pattern.captures(clause)?;
    let names = pattern.capture_names().flatten();
    let value = names.filter_map(|name| found.name(name)).next()?;
    Some(thing_of(value.as_str()))
}

/// Returns a text without blanks, marks and 的, the user as 我.
pub(super) fn plain(text: &str) -> String {
    normalized_words(text).concat().replace('的', "")
}

fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){pattern}")).expect("valid")
}
