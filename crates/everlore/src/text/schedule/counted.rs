//! Numbers of things, which are no days: 第三章, 12号线, "on the 3rd floor", "the 2nd draft".
//!
//! A number that may name a day or a thing is vague, never silently one of them.

use super::lexer::is_han;
use super::lexer_numbers::{number, starts_with};
use super::part::Cursor;
use super::word::Word;

/// Part that a word may play behind an ordinal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CountedRole {
    /// Thing that is numbered: floor, chapter, draft.
    Thing,
    /// Verb that begins a task: pay, call.
    Verb,
    /// Word that nobody counts: with, my.
    Function,
    Other,
}

/// Meaning of an ordinal in digits that a word follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OrdinalMeaning {
    Day,
    Thing,
    /// May be either.
    Open,
}

const THINGS: &str = "floor floors story storey level street avenue ave page line row column door deck platform gate lane \
    terminal grade grader graders attempt try draft edition version coat dose chapter episode season semester anniversary \
    century generation place degree installment instalment paragraph symphony amendment trimester inning lap";

const VERBS: &str = "pay call send buy renew go check submit file take bring meet pick drop book cancel return order email \
    text ring visit clean wash water feed change replace move start finish do make get give put review post mail sign \
    register apply collect cook bake print charge back backup run restart update fetch turn close open lock unlock write \
    read study practice practise attend join leave travel fly drive pack prepare ship deliver transfer deposit withdraw \
    invoice plan ask tell contact follow reply respond deploy release publish rotate fix repair mow prune walk exercise";

const FUNCTIONS: &str = "with without by if unless because so since about regarding via near then but or please i we you \
    my our your his her their its a an some it he she they is was are will not be";

/// Returns the part that the first word of a token may play behind an ordinal.
pub(super) fn counted_role(text: &[char]) -> CountedRole {
    let first: String = text.iter().take_while(|c| c.is_ascii_alphabetic()).collect();
    let is_of = |list: &str| !first.is_empty() && list.split_whitespace().any(|word| word == first);
    if is_of(THINGS) {
        CountedRole::Thing
    } else if is_of(VERBS) {
        CountedRole::Verb
    } else if is_of(FUNCTIONS) {
        CountedRole::Function
    } else {
        CountedRole::Other
    }
}

/// Returns the meaning of the ordinal in digits before the cursor.
pub(super) fn ordinal_meaning(c: &Cursor<'_>) -> OrdinalMeaning {
    match c.peek(0) {
        Word::Time | Word::Half => return OrdinalMeaning::Thing,
        Word::Quarter => return OrdinalMeaning::Open,
        Word::Task => {}
        _ => return OrdinalMeaning::Day,
    }
    let role = c.role(0);
    let lead = if c.behind(2) == Word::The { 3 } else { 2 };
    let is_owned = c.role_behind(lead) == CountedRole::Function;
    match (c.behind(lead), role) {
        (_, CountedRole::Function) => OrdinalMeaning::Day,
        (_, CountedRole::Thing) => OrdinalMeaning::Thing,
        (Word::Article | Word::At | Word::In | Word::Of, _) => OrdinalMeaning::Thing,
        (Word::Task, _) if is_owned => OrdinalMeaning::Thing,
        (Word::Task, CountedRole::Other) => OrdinalMeaning::Thing,
        (Word::On | Word::Every | Word::From | Word::Until | Word::Starting, CountedRole::Verb) => {
            OrdinalMeaning::Day
        }
        _ => OrdinalMeaning::Open,
    }
}

/// Reads the number of a thing in Chinese and returns its word and end: 第三 of a chapter, 12号 of a line.
pub(super) fn numbered_thing(chars: &[char], at: usize) -> Option<(Word, usize)> {
    if chars[at] == '第' {
        let end = ordinal_list_end(chars, at)?;
        return (!counts_time(chars, end)).then_some((Word::Task, end));
    }
    let (_, end) = number(chars, at)?;
    if chars.get(end) == Some(&'日') && chars.get(end + 1) == Some(&'游') {
        return Some((Word::Task, end + 2));
    }
    (chars.get(end) == Some(&'号') && !is_of_month(chars, at)).then_some(())?;
    let after = &chars[end + 1..];
    let is_named = |list: &str| list.split_whitespace().any(|name| starts_with(after, 0, name));
    let is_event = is_named(EVENTS);
    if is_named(THINGS_WITH_NUMBERS) && !is_event {
        return Some((Word::Task, end + 1));
    }
    let speaks_of_months = chars[..at].iter().any(|c| matches!(c, '月' | '年'));
    let next = after.first().filter(|c| is_han(**c) && !speaks_of_months)?;
    let follows_carrier = at > 0 && CARRIERS.contains(chars[at - 1]);
    let is_object = follows_carrier && (*next == '的' || !begins_schedule(after));
    let is_begun = begins_schedule(after) || is_event || VERB_STARTS.contains(*next);
    let is_open = is_object || !is_begun;
    is_open.then_some((Word::Vague, end + 1))
}

/// Returns the end of 第三, 第5到8, 第一、二.
fn ordinal_list_end(chars: &[char], at: usize) -> Option<usize> {
    let (_, mut end) = number(chars, at + 1)?;
    while let Some(next) = listed_ordinal_end(chars, end) {
        end = next;
    }
    Some(end)
}

/// Returns the end of 和第四, 、4 or 到8 behind an ordinal.
fn listed_ordinal_end(chars: &[char], end: usize) -> Option<usize> {
    let separator = end + usize::from(chars.get(end) == Some(&'个'));
    let joins = ['和', '与', '及', ',', '/', '到', '至', '-', '~'];
    chars.get(separator).filter(|c| joins.contains(c))?;
    let is_marked = chars.get(separator + 1) == Some(&'第');
    let (_, next) = number(chars, separator + 1 + usize::from(is_marked))?;
    let is_thing =
        |c: &char| is_han(*c) && !matches!(c, '点' | '时' | '分' | '号' | '日' | '月' | '年');
    (is_marked || chars.get(next).is_some_and(is_thing)).then_some(next)
}

/// Returns `true` if an ordinal that ends here counts days or other times: 第三个周五, 第十分钟.
fn counts_time(chars: &[char], end: usize) -> bool {
    const UNITS: [&str; 12] =
        ["周", "星期", "礼拜", "工作日", "月", "季度", "小时", "分钟", "天", "日", "年", "双休日"];
    const NAMES: [&str; 6] = ["周年", "年级", "日语", "天线", "月刊", "年会"];
    let at = end + usize::from(chars.get(end) == Some(&'个'));
    UNITS.iter().any(|unit| starts_with(chars, at, unit))
        && !NAMES.iter().any(|name| starts_with(chars, at, name))
}

/// Returns `true` if a month or a list of days leads to the number: 每月5号, 3月15号, 1号和15号.
fn is_of_month(chars: &[char], at: usize) -> bool {
    let before = |n: usize| at.checked_sub(n).map_or(' ', |at| chars[at]);
    let last = match before(1) {
        '的' | ' ' | '和' | ',' | '/' | '到' | '至' | '-' => before(2),
        last => last,
    };
    matches!(last, '月' | '年' | '号' | '日' | '度')
}

/// Things that have a number of their own: 12号线, 3号楼.
const THINGS_WITH_NUMBERS: &str = "线 楼 栋 桌 会议室 会议厅 厅 仓 码头 馆 窗口 柜 床 病房 公寓 教室 教学楼 站 球 选手 厂房 航站楼 \
        登机口 检票口 出口 入口 口 舱 井 矿 基地 单元 电池 展厅 展台 展位 展馆 场地 场馆 店铺 服务器 节点 机 台 座 桩 泵 炉 \
        塔 池 泳池 区 地块 地铁 巷 弄 包间 包厢 包房 电梯 通道 站台 月台 车 房 门 院 路 店 诊室 影厅 跑道 缆车 手术室 实验室 \
        库房 仓库 球场 食堂 宿舍 令 交响曲";

/// Words that begin like such a thing, and happen on a day: 25号门诊, 3号车贷.
const EVENTS: &str = "线上 线下 楼市 站会 口试 机票 机考 机会 机检 机场 台风 座谈 区块 车险 车贷 车检 车展 车票 车审 \
        房租 房贷 房东 房产 房补 门诊 门票 门禁 院庆 院长 路考 路演 路测 店庆 店长 店休 馆休 球赛 床垫 桌游 桌布 令人 电池检 \
        塔吊 池塘 柜子 炉子 厅里";

/// Returns `true` if a word of the schedule follows a day: 早上, 之前, 提醒我.
fn begins_schedule(after: &[char]) -> bool {
    const WORDS: &str = "早 晚 上午 下午 中午 凌晨 清晨 傍晚 半夜 午夜 夜里 正午 零点 之前 以前 前 之后 以后 后 起 开始 到 至 和 或 与 \
        及 提醒 叫我 喊我 通知我 记得 别忘 要 得 该 都 我 请 是 的 那天 当天 也 还是 周 星期 礼拜 除外 不 全天 整天 截止 为止 每 \
        一 二 三 四 五 六 七 八 九 十";
    WORDS.split_whitespace().any(|word| starts_with(after, 0, word))
}

/// Verbs that have somebody or something with a number as their object: 坐3号, 给6号的客人.
const CARRIERS: &str = "坐乘搭给叫让找把帮向住取送接拿寄喂喊换修抓";

/// First characters of the verbs with which a task begins behind its day: 5号交房租.
const VERB_STARTS: &str = "交还付缴去来开见给打买卖取拿送接写做办看听学考复体面出飞回寄发收签订退续换洗搬拜聚吃喝跑参检查\
    报提准带约结领汇转充存预申截帮陪找问修装扫整安值休放过生搞抢租选评审核对盘进补注更清备同邀召举练游爬骑入离返登录种浇遛理剪";
