//! Rivals of a new statement: stored statements that cannot hold beside it. Precision counts more than finding all: a
//! memory that is superseded by mistake is missed, one that stands beside its rival is not.
//!
//! By rules, two statements are rivals if one denies what the other says ("I'm vegetarian", "I'm no longer vegetarian"),
//! or if both give another value to something that has one ("I live in Paris", "I live in Rome"). Where there is a
//! classifier, it tells which of the nearest others may no longer hold ("my laptop runs arch", "it's on fedora now").

mod attributes;
mod change_patterns;
mod changes;
mod chinese_changes;
mod chinese_endings;
mod chinese_value;
mod chinese_frames;
mod chinese_numbers;
mod endings;
mod event_year;
mod frames;
mod number_kinds;
mod english_value;
mod numbers;
mod part_denials;
mod parts;
mod places;
mod replaced;
mod roles;
mod single_value;
mod statement;
mod unrelated;
mod words;

use std::sync::Arc;

use jiff::tz::TimeZone;

use super::{
    TextSketch,
    agent_notes::agent_note,
    documents::chunk_origin,
    extract::{Draft, SentenceJudge},
    neighbours::{self, StatementVector},
    reconcile,
};
use crate::{
    error::Result,
    store::Store,
    text::attribution::is_same_name,
    types::{Attribute, Kind, Memory, MemoryId, Slot, Status, Trust, Vector},
};
use changes::{may_change, related_to_change};
use replaced::doubted_statement;
use single_value::SingleValue;
use statement::{MAX_BYTES, NewStatement, StatementClash, is_plain};
use words::{denial_key, habit_key, habit_words, is_denial, normalized_words};

/// Metadata key of the nodes of a knowledge graph: its observations all stand until a client deletes them.
const GRAPH_KEY: &str = "graph";

/// Stored statements that a new one affects.
#[derive(Default)]
pub(super) struct Rivals {
    /// Statements that no longer hold.
    pub(super) superseded: Vec<Memory>,
    /// Statement that may no longer hold.
    pub(super) doubted: Option<Memory>,
    /// Statement that says the same in the same words.
    pub(super) restated: Option<Memory>,
}

/// Returns the active memories of the same scope that a new memory of this trust makes untrue.
pub(super) async fn find_rivals(
    store: &dyn Store,
    judge: Option<&Arc<dyn SentenceJudge>>,
    new: &Memory,
    trust: Trust,
) -> Result<Rivals> {
    if !is_comparable(new) {
        return Ok(Rivals::default());
    }
    let related = single_value::related_words(&new.content);
    let habits = habit_words(&new.content);
    let text = format!("{} {related} {habits} {}", new.content, related_to_change(&new.content));
    let vector = judge.map(|judge| statement_vector(&**judge, &new.content));
    let near = neighbours::neighbours_like(store, &new.scope, &text, vector).await?;
    let may_be_rival = |old: &Memory| {
        old.id != new.id
            && old.status == Status::Active
            && old.at <= new.at
            && is_same_speaker(old, new)
            && is_comparable(old)
            && may_replace(trust, old)
    };
    let near: Vec<Memory> = near.into_iter().filter(may_be_rival).collect();
    if let Some(known) = near.iter().find(|old| restates(new, old)) {
        return Ok(Rivals { restated: Some(known.clone()), ..Rivals::default() });
    }
    judge_rivals(judge, &new.content, near).await
}

/// Returns `true` if two memories of one line differ in nothing but the case of the first letter, spaces, the form of an
/// apostrophe and the mark at the end. Any other case may be what is told: "my handle is JoeDoe".
fn restates(new: &Memory, old: &Memory) -> bool {
    let is_equal = |one: &str, other: &str| plain_line(one) == plain_line(other);
    let is_line = !new.content.contains(char::is_control);
    is_line
        && new.kind == old.kind
        && is_equal(&new.content, &old.content)
        && is_equal(&new.name, &old.name)
}

fn plain_line(text: &str) -> String {
    let text = text.trim_end_matches(['.', '!', '。', '！', ' ']).replace('’', "'");
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    let line: String = first.chain(letters).collect();
    line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Tells by rules which neighbours a statement contradicts, and by the classifier which of the others it may replace.
async fn judge_rivals(
    judge: Option<&Arc<dyn SentenceJudge>>,
    new: &str,
    near: Vec<Memory>,
) -> Result<Rivals> {
    let statement = NewStatement::parse(new);
    let (mut superseded, mut doubted, mut others) = (Vec::new(), None, Vec::new());
    for old in near {
        let clash = statement.as_ref().and_then(|new| new.clash_with(&old.content, year_of(&old)));
        match clash {
            Some(StatementClash::Certain) => superseded.push(old),
            Some(StatementClash::Possible) if doubted.is_none() => doubted = Some(old),
            _ => others.push(old),
        }
    }
    if !superseded.is_empty() {
        return Ok(Rivals { superseded, ..Rivals::default() });
    }
    if doubted.is_none() {
        doubted = doubted_statement(judge, new, others).await?;
    }
    Ok(Rivals { doubted, ..Rivals::default() })
}

/// Returns the year in which a memory was told.
fn year_of(memory: &Memory) -> i16 {
    memory.at.to_zoned(TimeZone::UTC).year()
}

fn statement_vector(judge: &dyn SentenceJudge, text: &str) -> StatementVector {
    let vector = Vector::quantize(&judge.quick_vector(text));
    StatementVector { model: judge.quick_model(), vector }
}

/// Returns `true` if a memory gives a value or denies something: of two such statements saved at the same time one must
/// know of the other.
pub(super) fn may_have_rivals(memory: &Memory) -> bool {
    is_comparable(memory) && NewStatement::parse(&memory.content).is_some_and(|it| may_clash(&it))
}

fn may_clash(statement: &NewStatement) -> bool {
    !statement.values.is_empty()
        || is_denial(&statement.words)
        || may_change(&statement.text)
        || number_kinds::number_key(&statement.text).is_some()
}

/// Returns the active neighbours of a draft that it makes untrue and that have no slot to compare.
pub(super) async fn rivals_of_draft(
    draft: &Draft,
    neighbours: &[Memory],
    judge: Option<&Arc<dyn SentenceJudge>>,
) -> Result<Rivals> {
    let has_slots =
        |old: &Memory| draft.slot.is_some() && Slot::from_metadata(&old.metadata).is_some();
    let may_be_rival = |old: &&Memory| {
        old.status == Status::Active
            && old.at <= draft.at
            && !has_slots(old)
            && reconcile::is_same_speaker(draft, old)
            && is_comparable(old)
            && may_replace(draft.trust, old)
    };
    let near = neighbours.iter().filter(may_be_rival).cloned().collect();
    judge_rivals(judge, &draft.content, near).await
}

/// Returns `true` if a statement cannot be a change of a stored one.
pub(super) fn leaves_alone(new: &str, old: &str) -> bool {
    unrelated::leaves_alone(new, old)
}

/// Returns `true` if a stored statement has a part that a change leaves as it is.
pub(super) fn changes_one_part(new: &str, old: &str) -> bool {
    parts::other_part_stands(new, old)
}

/// Returns `true` if two values of a single-valued attribute hold beside each other: a part and its whole, unless a move
/// was said, and the names of two brothers.
pub(super) fn hold_together(new: &Slot, old: &Slot, statement: &str) -> bool {
    match new.attribute {
        Attribute::Home => {
            let (new, old) = (new.value.to_lowercase(), old.value.to_lowercase());
            single_value::holds_in_both(&new, &old, single_value::says_move(statement))
        }
        Attribute::Name => single_value::is_one_of_several(&new.subject),
        _ => false,
    }
}

/// Returns hashes of which two memories share one if they may be rivals: of the value that each gives to a subject, of
/// the statement without its denial, and of the habit that it names.
pub(crate) fn rival_keys(memory: &Memory) -> Vec<u64> {
    let text = &memory.content;
    if memory.status != Status::Active || !is_comparable(memory) || !is_plain(text) {
        return Vec::new();
    }
    let words = normalized_words(text);
    let values = SingleValue::all_in(text).into_iter();
    let values = values.map(|value| format!("value {} {}", value.subject, value.attribute));
    let key = |text: String| xxhash_rust::xxh3::xxh3_64(text.as_bytes());
    let keys = values.chain(denial_key(&words)).chain(habit_key(&words));
    keys.chain(number_kinds::number_key(text)).map(key).collect()
}

/// Returns `true` if the newer of two memories makes the older one untrue.
pub(crate) fn are_rivals(new: &Memory, old: &Memory) -> bool {
    let clash = || NewStatement::parse(&new.content)?.clash_with(&old.content, year_of(old));
    old.at <= new.at && is_same_speaker(old, new) && clash() == Some(StatementClash::Certain)
}

/// Returns the turns that a memory without evidence may have been drawn from: those that say all of it.
pub(super) async fn turns_that_say(store: &dyn Store, memory: &Memory) -> Result<Vec<MemoryId>> {
    let turns = neighbours::turns_near_text(store, &memory.scope, &memory.content).await?;
    let words = normalized_words(&memory.content).join(" ");
    let stated = TextSketch::of(&words);
    let says_it = |turn: &&Memory| {
        let turn_words = normalized_words(&turn.content).join(" ");
        stated.is_covered_by(&TextSketch::of(&turn_words))
    };
    Ok(turns.iter().filter(says_it).map(|turn| turn.id).collect())
}

/// Returns `true` if the same person said both: "I" of two speakers are two people. Without a name it is the user.
fn is_same_speaker(one: &Memory, other: &Memory) -> bool {
    let name = |memory: &Memory| memory.source.speaker.clone().unwrap_or_default();
    is_same_name(&name(one), &name(other))
}

/// A less trusted statement must not change a more trusted one.
fn may_replace(trust: Trust, old: &Memory) -> bool {
    trust >= Trust::Inferred || trust >= old.trust()
}

/// Returns `true` for single statements; chunks of documents, the agent's files, solutions and summaries are none.
fn is_comparable(memory: &Memory) -> bool {
    memory.kind.is_statement()
        && !matches!(memory.kind, Kind::Session | Kind::Experience)
        && memory.content.len() <= MAX_BYTES
        && chunk_origin(memory).is_none()
        && agent_note(memory).is_none()
        && !memory.metadata.contains_key(GRAPH_KEY)
}

#[cfg(test)]
mod both_hold_tests;
#[cfg(test)]
mod change_tests;
#[cfg(test)]
mod tests {
    use super::change_tests::contradict;

    #[test]
    #[expect(clippy::too_many_lines, reason = "it is a table")]
    fn what_cannot_hold_together_is_told_from_what_can() {
        let rivals = [
            ("I live in Paris.", "I live in Rome."),
            ("I live in Paris", "The user now lives in Rome"),
            ("The user lives in Paris.", "I moved to Rome last month"),
            ("I'm vegetarian", "I'm no longer vegetarian"),
            ("The user is a vegetarian.", "User is not vegetarian anymore."),
            ("I drink coffee", "I don't drink coffee any more"),
            ("I no longer work at Nokia", "I work at Nokia again"),
            ("I work at Nokia", "I work for Spotify now"),
            ("My name is Novak", "My name is Nowak"),
            ("My sister lives in Lyon", "My sister lives in Oslo"),
            ("The staging server runs on port 8443.", "The staging server runs on port 9000."),
            ("The grant proposal is due on March 20", "The grant proposal is due on March 27"),
            ("My favourite colour is blue", "My favourite colour is green"),
            ("我住在巴黎。", "我现在住在罗马"),
            ("用户住在巴黎。", "我上个月搬到了罗马"),
            ("我吃素", "我不再吃素了"),
            ("我是素食者", "我已经不是素食者了。"),
            ("我喝咖啡", "我不喝咖啡了"),
            ("我在腾讯上班", "我现在在美团上班"),
            ("我叫章伟", "我叫张伟"),
            ("我妹妹住在里昂", "我妹妹住在奥斯陆"),
            ("我的生日是5月14日", "我的生日是5月15日"),
            ("项目的截止日期是3月20日", "项目的截止日期是3月27日"),
            ("I live in Paris", "我住在罗马"),
            ("我住在巴黎", "I live in Rome now"),
            ("I live in Paris", "I moved to Italy"),
            ("I live in Paris", "I moved to France"),
            ("我住在北京", "我搬到上海浦东了"),
            ("我住在朝阳区", "我现在住在海淀区"),
            ("My favourite colour is blue", "My favorite color is green"),
            ("My favourite colour is blue", "我最喜欢的颜色是绿色"),
            ("我最喜欢的电影是《英雄》", "我最喜欢的电影是《活着》"),
            ("I am 29", "I'm 30 now"),
            ("I'm 29 years old", "I turned 30"),
            ("我29岁", "我今年30岁了"),
            ("I am 29 years old.", "我30岁"),
            ("My son is 5", "My son is 6 years old"),
            ("I am allergic to peanuts", "I'm not allergic to peanuts after all"),
            ("我对花生过敏", "我其实不对花生过敏"),
            ("我对花生过敏", "我对花生其实不过敏"),
            ("我抽烟", "我戒烟了"),
            ("我每天喝酒", "我已经戒酒了"),
            ("我抽烟", "我把烟戒了"),
            ("我戒烟了", "我又开始抽烟了"),
            ("I smoke", "I quit smoking"),
            ("I drink coffee every day", "I gave up coffee"),
            ("我在腾讯上班", "我跳槽到字节了"),
            ("我在腾讯上班", "我从腾讯跳槽到了美团"),
            ("我在腾讯工作", "我跳槽了，现在在美团上班"),
            ("I work at Nokia", "我跳槽到字节了"),
            ("I am a teacher", "I'm a lawyer now"),
            ("我是一名老师", "我现在是律师"),
            ("I'm a nurse", "我转行做程序员了"),
            ("I'm single", "I got married last week"),
            ("我单身", "我结婚了"),
            ("我结婚了", "我离婚了"),
            ("I am married", "我离婚了"),
            ("The user is married.", "The user got divorced."),
            ("The deadline is March 20", "The deadline was moved to March 27"),
            (
                "The project deadline is Friday",
                "The deadline of the project has been pushed back to Monday",
            ),
            ("截止日期是3月20日", "截止日期改到3月27日了"),
            ("报告的截止日期是周五", "报告的截止日期推迟到下周一"),
            ("The project deadline is March 20", "项目的截止日期改到3月27日"),
            ("My name is Novak", "Call me Nowak"),
            ("Call me Ann", "Please call me Lily"),
            ("我叫张伟", "我改名叫李雷了"),
            ("我叫张伟", "以后叫我小李就好"),
            ("My name is Novak", "我改名叫李雷"),
            ("我老婆在腾讯上班", "My wife works at Nokia"),
        ];
        for (old, new) in rivals {
            assert!(contradict(new, old), "{old} then {new}");
        }
        let both_hold = [
            ("I live in Paris.", "My sister lives in Rome."),
            ("I live in Paris", "I live in Paris, France"),
            ("I live in Paris", "I work in Rome"),
            ("I like coffee", "I like tea"),
            ("I work at Nokia", "I also work at Spotify"),
            ("I work with Anna", "I work with Ben"),
            ("My brother is tall", "My brother is a doctor"),
            ("My brother is in Paris", "My brother is a doctor"),
            ("I was in Paris", "I was in Rome"),
            ("I have a meeting in Paris", "I have a meeting in Rome"),
            ("I am allergic to nuts", "I am allergic to milk"),
            ("I'm vegetarian", "My wife is not vegetarian"),
            ("I live in Paris. I'm allergic to nuts.", "I live in Rome"),
            ("我住在巴黎", "我妹妹住在罗马"),
            ("我住在里斯本", "我住在葡萄牙里斯本"),
            ("我在学日语", "我在学法语"),
            ("我喜欢茶", "我喜欢咖啡"),
            ("我对花生过敏", "我对牛奶过敏"),
            ("我在腾讯上班", "我老婆在美团上班"),
            ("我吃素", "我老婆不吃素"),
            ("I live in Paris", "I live in France"),
            ("I live in France", "I live in Paris"),
            ("I live in Paris", "我住在巴黎"),
            ("I live in Paris", "我住在法国"),
            ("I live in Paris", "我搬到巴黎了"),
            ("我住在北京", "我住在朝阳区"),
            ("我住在朝阳区", "我住在北京"),
            ("I live in Smallville", "I live in the USA"),
            ("My brother is called Tom", "My brother is called Jack"),
            ("My brother's name is Tom", "My brother's name is Jack"),
            ("我哥哥叫大明", "我哥哥叫小明"),
            ("我的猫叫咪咪", "我的猫叫花花"),
            ("My son is 8", "My son is 5"),
            ("My brother is a doctor", "My brother is a lawyer"),
            ("I am 29", "I am 30 minutes late"),
            ("I am 29", "My sister is 30"),
            ("I'm a teacher", "I'm a vegetarian"),
            ("I'm a teacher", "我是老师"),
            ("I'm single", "I'm a single mother"),
            ("I'm single", "My brother got married"),
            ("我单身", "我妹妹结婚了"),
            ("我单身", "我的结婚戒指丢了"),
            ("My name is Novak", "Call me tomorrow"),
            ("My name is Novak", "Call me when you are done"),
            ("我叫张伟", "明天早上叫我起床"),
            ("My favourite colour is blue", "My favourite food is rice"),
            ("我最喜欢的颜色是蓝色", "绿色是我最喜欢的颜色之一"),
            ("The deadline is March 20", "The meeting was moved to March 27"),
            ("The report deadline is Friday", "The thesis deadline is Monday"),
            ("我抽烟", "我老公戒烟了"),
            ("我抽烟", "我想戒烟"),
            ("我喝茶", "我戒烟了"),
            ("I drink tea", "I gave up coffee"),
            ("I smoke", "I quit my job"),
            (
                "I live in Paris, and I teach piano to the children of my neighbours",
                "I live in Rome",
            ),
            ("I am allergic to peanuts", "I'm not allergic to milk after all"),
            ("我对花生过敏", "我其实不对牛奶过敏"),
        ];
        for (old, new) in both_hold {
            assert!(!contradict(new, old), "{old} then {new}");
        }
    }
}
