//! Chinese statements of one frame: 我们用Zoom开会 and 我们现在用腾讯会议开会, 每天七点叫我 and 以后六点半叫我.

use std::sync::LazyLock;

use regex::Regex;

use super::{chinese_changes::DATED, statement::StatementClash, words::normalized_words};

/// Words that say that a value is the one of now.
static NOW: LazyLock<Regex> =
    LazyLock::new(|| compile("从今以后|从现在起|以后|今后|现在|如今|目前"));

/// Words that say nothing about what is done.
static FILLERS: LazyLock<Regex> = LazyLock::new(|| compile("每天|请|都|就|改|已经|了|的"));

/// Words of a value that is none of one frame: it denies, adds or tells a deed of its own.
static NO_VALUE: LazyLock<Regex> =
    LazyLock::new(|| compile("[不没也还我你他她写做看听吃喝管拍画付买卖聊查记玩学教说想要爱和跟]"));

/// Deeds and requests behind a value: 用Zoom开会, 在乐刻健身, 用英文回答我.
static DEED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        "^(?:开会|健身|锻炼|游泳|跑步|回答我?|回复我?|跟我说|叫我|叫我起床|提醒我|写代码|记笔记|记账|办公|通勤|上课|做设计|管项目|看诊|看病|理发|写邮件|称呼我|聊工作|部署|写文档|打车|存钱)$",
    )
});

/// Characters of a time.
const TIME: &str = "0123456789一二三四五六七八九十点半分";

/// Last characters of a language: 英文, 德语, 普通话.
const LANGUAGE: &[char] = &['文', '语', '话'];

/// Most characters of a value.
const MAX_VALUE: usize = 8;

/// Compares a new statement that says how it is now with one of the same frame; `None` if they have none.
pub(super) fn clash_of_frames(new: &str, old: &str) -> Option<StatementClash> {
    let new = normalized_words(new).concat();
    if !NOW.is_match(&new) {
        return None;
    }
    let (new, old) = (bare(&new), bare(&normalized_words(old).concat()));
    let frame = CharacterFrame::of(&new, &old);
    frame.is_of_one_value().then_some(StatementClash::Certain)
}

/// Characters that two statements share, around another value in each.
struct CharacterFrame {
    before: String,
    values: [String; 2],
    deed: String,
}

fn bare(text: &str) -> Vec<char> {
    FILLERS.replace_all(&NOW.replace_all(text, ""), "").chars().collect()
}

impl CharacterFrame {
    fn of(new: &[char], old: &[char]) -> Self {
        let shared = new.iter().zip(old).take_while(|(a, b)| a == b).count();
        // 七点 and 七点半 share their beginning, 中文 and 英文 their end.
        let time = new[..shared].iter().rev().take_while(|c| TIME.contains(**c)).count();
        let before = shared - time;
        let (new_rest, old_rest) = (&new[before..], &old[before..]);
        let pairs = new_rest.iter().rev().zip(old_rest.iter().rev());
        let shared: Vec<char> = pairs.take_while(|(a, b)| a == b).map(|(c, _)| *c).collect();
        let language = shared.iter().rev().take_while(|c| LANGUAGE.contains(*c)).count();
        let after = shared.len() - language;
        Self {
            before: new[..before].iter().collect(),
            values: [new_rest, old_rest].map(|rest| rest[..rest.len() - after].iter().collect()),
            deed: new_rest[new_rest.len() - after..].iter().collect(),
        }
    }

    /// Returns `true` if only one of the values holds: a tool or place of one deed, or its time.
    fn is_of_one_value(&self) -> bool {
        let is_value = |value: &String| {
            (1..=MAX_VALUE).contains(&value.chars().count()) && !NO_VALUE.is_match(value)
        };
        let dated = self.values.each_ref().map(|value| DATED.is_match(value));
        let has_verb = self.before.ends_with(['用', '在', '去', '坐']);
        let is_time = dated[0] && (self.before.is_empty() || self.before == "我");
        self.values.iter().all(is_value)
            && dated[0] == dated[1]
            && (has_verb || is_time)
            && self.fits_answer()
            && DEED.is_match(&self.deed)
    }

    /// Returns `true` unless it asks for answers in something else than two languages: 用表格回答我 holds beside 用英文回答我.
    fn fits_answer(&self) -> bool {
        let is_answer = ["回答", "回复", "跟我说"].iter().any(|verb| self.deed.starts_with(verb));
        !is_answer || self.values.iter().all(|value| value.ends_with(LANGUAGE))
    }
}

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("valid")
}
