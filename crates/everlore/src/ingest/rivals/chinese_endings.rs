//! Endings in Chinese: 西班牙语我不学了, 我爸退休了, 医生把阿司匹林停了, 跟客户的会推迟到周四了.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    chinese_changes::{DATED, MOVED, UNREAL, people, plain, thing_of},
    chinese_value,
    endings::ends_work,
    single_value::{SingleValue, USER},
    statement::StatementClash,
    words::{AMOUNT, CHINESE_OFTEN},
};

static STOPPED: LazyLock<Regex> =
    LazyLock::new(|| compile("^(?P<before>[^不]*)(?:再也不|不再|不)(?P<verb>[^不]+?)了$"));
/// Times since when something is over, and words between them and the denial.
static SINCE: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        "[0-9一二三四五六七八九十]+月份?(?:起|开始)?|上个?月|上周|去年|今年|前年|早就|已经|现在|其实|最近|也?都|就",
    )
});
static RETIRED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        "^(?P<who>我.{0,3}?)(?:已经|刚刚?|终于|昨天|上个?月|上周|今年|去年|年初|年底|[0-9一二三四五六七八九十]+月份?)*(?:正式)?退休了?$",
    )
});
static FIRED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        "^我(?:上周|上个?月|昨天|刚刚?)?被(?P<x>.{2,10}?)(?:给)?(?:开除|辞退|裁员?|裁掉|炒)了?$|^(?P<y>.{2,10}?)把我(?:给)?(?:开除|辞退|裁掉?|炒|开)了$",
    )
});
static DOSE_STOPPED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        "^(?:医生|大夫)?(?:让我|叫我|给我|帮我)?把?(?P<x>.{2,8}?)(?:给我|给|已经)?停(?:掉)?了$|^(?:医生|大夫)?(?:让我|叫我|给我)?停(?:掉|了)+(?P<y>.{2,8})$",
    )
});
static BORN: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        "^我(?:昨天|前天|今天|上周|刚刚?|已经)*生(?:完孩子)?了(?:一?个?(?:女儿|儿子|男孩|女孩|宝宝|孩子|双胞胎))?$",
    )
});
static BACK: LazyLock<Regex> = LazyLock::new(|| {
    compile("^我?(?:们)?(?:已经|刚刚?)?(?P<what>出差|休假|度假|年假)?(?:回来|结束)了$")
});

/// Fewest characters of what a denial ends: its verb and its object.
const MIN_ENDED: usize = 2;

/// Most characters of a stated appointment beside its time and what the new statement names.
const MAX_UNNAMED: usize = 2;

/// Compares a new statement with one whose end it may tell; `None` if it tells none.
pub(super) fn clash_of_ending(new: &str, old: &str) -> Option<StatementClash> {
    let old_plain = plain(old);
    if ["以前", "之前", "曾", "如果", "要是", "不", "没"].iter().any(|it| old_plain.contains(it))
    {
        return None;
    }
    let clauses = new.split([',', '，', ';', '；', '。']).map(plain);
    clauses.filter(|clause| !clause.is_empty() && !UNREAL.is_match(clause)).find_map(|clause| {
        if let Some(clash) = ends_job(&clause, old) {
            return Some(clash);
        }
        if people(&old_plain) != people(&clause) {
            return None;
        }
        ends_deed(&clause, &old_plain).or_else(|| {
            let is_over = ends_dose(&clause, &old_plain)
                || BORN.is_match(&clause) && old_plain.starts_with("我怀孕")
                || ends_absence(&clause, &old_plain)
                || moves_appointment(&clause, &old_plain);
            is_over.then_some(StatementClash::Certain)
        })
    })
}

/// Reads 我不学西班牙语了 and 西班牙语我不学了. What more is said may be another thing: 吃鱼油 is no 吃鱼.
fn ends_deed(clause: &str, old: &str) -> Option<StatementClash> {
    let found = STOPPED.captures(clause)?;
    let before = SINCE.replace_all(&found["before"], "").replace('我', "");
    let deed = format!("{}{before}", &found["verb"]);
    let is_ours = old.starts_with('我') && clause.contains('我') && before.chars().count() != 1;
    let old = bare_deed(old);
    if !is_ours || deed.chars().count() < MIN_ENDED {
        return None;
    }
    match old.as_str() {
        it if it == deed => Some(StatementClash::Certain),
        it if it.starts_with(&deed) || it.ends_with(&deed) => Some(StatementClash::Possible),
        _ => None,
    }
}

/// Returns what somebody does, without subject, times and amounts: 抽烟 for 我每天抽一包烟.
fn bare_deed(text: &str) -> String {
    let text = chinese_value::without_fillers(text);
    let text = AMOUNT.replace_all(&text, "").replace('我', "");
    let text = CHINESE_OFTEN.iter().fold(text, |text, word| text.replace(word, ""));
    text.trim_start_matches(['们', '在', '正']).to_owned()
}

/// Reads 我爸退休了 and 我被西门子裁了: an employer is over; whoever retires may still be a teacher.
fn ends_job(clause: &str, old: &str) -> Option<StatementClash> {
    if let Some(found) = FIRED.captures(clause) {
        let value = SingleValue::only_in(old)?;
        let name = found.name("x").or_else(|| found.name("y"))?.as_str();
        let is_over =
            value.attribute == "employer" && value.subject == USER && value.value.contains(name);
        return is_over.then_some(StatementClash::Certain);
    }
    ends_work(&RETIRED.captures(clause)?["who"], old)
}

/// Reads 医生把阿司匹林停了.
fn ends_dose(clause: &str, old: &str) -> bool {
    let Some(found) = DOSE_STOPPED.captures(clause) else { return false };
    let name = found.name("x").or_else(|| found.name("y"));
    let taken = old.split_once("吃").or_else(|| old.split_once("服用"));
    let taken = taken.filter(|(who, _)| who.starts_with('我'));
    name.zip(taken).is_some_and(|(name, (_, taken))| taken.contains(name.as_str()))
}

/// Reads 我出差回来了.
fn ends_absence(clause: &str, old: &str) -> bool {
    let Some(what) = BACK.captures(clause).and_then(|found| found.name("what")) else {
        return false;
    };
    let is_away = ["我在", "我正在", "我们在"].iter().any(|it| old.starts_with(it));
    is_away && old.contains(what.as_str())
}

/// Reads 跟客户的会推迟到周四了, where the old statement says the appointment in other words: 周二跟客户开会.
fn moves_appointment(clause: &str, old: &str) -> bool {
    let Some(found) = MOVED.captures(clause).filter(|it| DATED.is_match(&it["value"])) else {
        return false;
    };
    let thing = thing_of(&found["thing"]);
    let old = DATED.replace_all(old, "").replace(['我', '在', '有', '要', '个', '半'], "");
    let is_named = thing.chars().count() > 2 && thing.chars().all(|c| old.contains(c));
    let unnamed = old.chars().filter(|c| !thing.contains(*c)).count();
    is_named
        && unnamed <= MAX_UNNAMED
        && old.chars().count() + 1 >= thing.chars().count()
        && DATED.is_match(&found["value"])
}

fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){pattern}")).expect("valid")
}
