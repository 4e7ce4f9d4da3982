//! The words of time expressions, English and Chinese side by side: the lexicon that [`super::lex`] reads with.

use std::sync::LazyLock;

use super::numerals;
use super::when::{Holiday, Part, Season, Unit};

/// What a token can be in a time expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Word {
    /// Nothing that takes part in one.
    Other,
    /// Past the last token.
    End,
    /// A number; `digits` is 0 if it was spelled out.
    Number {
        value: u32,
        digits: u8,
    },
    /// 8th, 第三.
    Ordinal(u32),
    /// third, twenty-eighth: kept apart from 3rd, because "second may" is no date.
    Nth(u32),
    Article,
    Few,
    Half,
    Month(i8, Trust),
    Weekday(i8, Trust),
    /// Mondays: a habit, not a day.
    Habit,
    Season(Season),
    Holiday(Holiday),
    /// Eve and the like after a holiday.
    Eve,
    Part(Part),
    /// 上午 and 下午, which mean today's when they stand alone.
    HalfDay(Part),
    Quarter(i8),
    /// 上半年, 下半年.
    HalfYear(i8),
    Unit(Unit),
    /// 年 after its number.
    YearMark,
    /// 月 after its number.
    MonthMark,
    /// 日 after its number.
    DayMark,
    /// 号 after its number.
    DateMark,
    /// today, yesterday.
    Day(i8),
    /// tonight, 昨晚.
    DayPart(i8, Part),
    /// 去年, 今年.
    Year(i8),
    /// last, this, next.
    Shift(i8),
    Past,
    Coming,
    Ago,
    Later,
    /// 以来 after a moment.
    Onward,
    /// 来 after an amount.
    Long,
    In,
    On,
    Of,
    The,
    And,
    Amid,
    To,
    Between,
    From,
    Since,
    Before,
    After,
    Until,
    For,
    Dash,
    Slash,
    Dot,
    Comma,
    Colon,
    Each,
    /// A word that tells a time without naming one.
    Cue,
    /// 3pm, o'clock.
    Clock,
    /// 点 after its number.
    Hour,
    /// time, 次: what ordinals count.
    Counter,
    /// conversation, 对话.
    Session,
    /// talked, 聊: what is done in a session.
    Talked,
    /// earlier, 早些时候: of a stretch that is going on, what is over.
    Earlier,
    /// most recent, 最近一次.
    Latest,
    /// 倒数.
    FromEnd,
}

/// How much a name of a month or weekday needs around it before it is believed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Trust {
    /// Nothing: it has no other meaning.
    Sure,
    /// A capital letter inside a sentence, or a link such as "in": "may" is mostly a verb.
    Capital,
    /// A link such as "in" or "last": "sat" and "mar" are words of their own.
    Linked,
}

use Trust::{Capital, Linked, Sure};

/// Words by meaning. Where several fit, the longest is read; those under `Other` are there to shadow shorter ones.
#[rustfmt::skip]
const WORDS: &[(Word, &[&str])] = &[
    (Word::Day(0), &["today", "今天", "今日", "今儿", "当天", "本日"]),
    (Word::Day(-1), &["yesterday", "昨天", "昨日", "昨儿"]),
    (Word::Day(1), &["tomorrow", "明天", "明日", "明儿"]),
    (Word::Day(-2), &["day before yesterday", "前天", "前日"]),
    (Word::Day(2), &["day after tomorrow", "后天", "後天"]),
    (Word::Day(-3), &["大前天"]),
    (Word::Day(3), &["大后天", "大後天"]),
    (Word::DayPart(0, Part::Night), &["tonight", "今晚", "今夜"]),
    (Word::DayPart(-1, Part::Night), &["昨晚", "昨夜"]),
    (Word::DayPart(-2, Part::Night), &["前晚"]),
    (Word::DayPart(1, Part::Night), &["明晚"]),
    (Word::DayPart(0, Part::Morning), &["今早", "今晨", "一大早"]),
    (Word::DayPart(-1, Part::Morning), &["昨早", "昨晨"]),
    (Word::DayPart(1, Part::Morning), &["明早", "明晨"]),
    (Word::Year(0), &["今年"]),
    (Word::Year(-1), &["去年"]),
    (Word::Year(-2), &["前年"]),
    (Word::Year(-3), &["大前年"]),
    (Word::Year(1), &["明年"]),
    (Word::Year(2), &["后年", "後年"]),
    (Word::Part(Part::Dawn), &["dawn", "凌晨", "清晨"]),
    (Word::Part(Part::Morning), &["morning", "早上", "早晨", "早"]),
    (Word::Part(Part::Noon), &["noon", "lunchtime", "中午"]),
    (Word::Part(Part::Afternoon), &["afternoon", "午后"]),
    (Word::Part(Part::Evening), &["evening", "傍晚"]),
    (Word::Part(Part::Night), &["night", "晚上", "夜里", "夜晚", "半夜", "晚"]),
    (Word::HalfDay(Part::Morning), &["上午"]),
    (Word::HalfDay(Part::Afternoon), &["下午"]),
    (Word::Shift(-1), &["last", "previous", "上", "上个", "上個", "上一", "上一个", "最后一"]),
    (Word::Shift(0), &["this", "current", "本", "这", "這", "这个", "這個", "这一", "这一个", "当前"]),
    (Word::Shift(1), &["next", "coming", "upcoming", "下", "下个", "下個", "下一", "下一个"]),
    (Word::Shift(-2), &["上上", "上上个", "上上個"]),
    (Word::Shift(2), &["下下", "下下个", "下下個"]),
    (Word::Past, &["past", "过去", "過去", "过去的", "最近", "最近的", "近", "这段"]),
    (Word::Coming, &["未来", "未來", "接下来", "今后", "往后"]),
    (Word::Ago, &["ago", "前", "以前", "之前", "多前"]),
    (Word::Later, &["from now", "hence", "后", "後", "以后", "之后", "以後", "之後", "过后"]),
    (Word::Onward, &["onward", "onwards", "以来", "以來", "起", "开始", "開始", "至今", "到现在"]),
    (Word::Long, &["来", "來"]),
    (Word::Unit(Unit::Minute), &["minute", "minutes", "min", "mins", "分钟", "分鐘"]),
    (Word::Unit(Unit::Hour), &["hour", "hours", "hr", "hrs", "小时", "小時", "个小时", "個小時", "钟头", "个钟头"]),
    (Word::Unit(Unit::Day), &["day", "days", "天"]),
    (Word::Unit(Unit::Week), &["week", "weeks", "周", "週", "星期", "个星期", "個星期", "礼拜", "禮拜", "个礼拜", "個禮拜"]),
    (Word::Unit(Unit::Weekend), &["weekend", "weekends", "周末", "週末"]),
    (Word::Unit(Unit::Month), &["month", "months", "个月", "個月"]),
    (Word::Unit(Unit::Quarter), &["quarter", "quarters", "季度", "个季度"]),
    (Word::Unit(Unit::Year), &["year", "years", "yr", "yrs"]),
    (Word::YearMark, &["年"]),
    (Word::MonthMark, &["月", "月份"]),
    (Word::DayMark, &["日"]),
    (Word::DateMark, &["号", "號"]),
    (Word::HalfYear(1), &["上半年"]),
    (Word::HalfYear(2), &["下半年"]),
    (Word::Quarter(1), &["q1"]),
    (Word::Quarter(2), &["q2"]),
    (Word::Quarter(3), &["q3"]),
    (Word::Quarter(4), &["q4"]),
    (Word::Month(1, Sure), &["january"]),
    (Word::Month(2, Sure), &["february"]),
    (Word::Month(3, Capital), &["march"]),
    (Word::Month(4, Capital), &["april"]),
    (Word::Month(5, Capital), &["may"]),
    (Word::Month(6, Capital), &["june"]),
    (Word::Month(7, Sure), &["july"]),
    (Word::Month(8, Capital), &["august"]),
    (Word::Month(9, Sure), &["september"]),
    (Word::Month(10, Sure), &["october"]),
    (Word::Month(11, Sure), &["november"]),
    (Word::Month(12, Sure), &["december"]),
    (Word::Month(1, Linked), &["jan"]),
    (Word::Month(2, Linked), &["feb"]),
    (Word::Month(3, Linked), &["mar"]),
    (Word::Month(4, Linked), &["apr"]),
    (Word::Month(6, Linked), &["jun"]),
    (Word::Month(7, Linked), &["jul"]),
    (Word::Month(8, Linked), &["aug"]),
    (Word::Month(9, Linked), &["sep", "sept"]),
    (Word::Month(10, Linked), &["oct"]),
    (Word::Month(11, Linked), &["nov"]),
    (Word::Month(12, Linked), &["dec"]),
    (Word::Weekday(1, Sure), &["monday"]),
    (Word::Weekday(2, Sure), &["tuesday"]),
    (Word::Weekday(3, Sure), &["wednesday"]),
    (Word::Weekday(4, Sure), &["thursday"]),
    (Word::Weekday(5, Sure), &["friday"]),
    (Word::Weekday(6, Sure), &["saturday"]),
    (Word::Weekday(7, Sure), &["sunday"]),
    (Word::Weekday(1, Linked), &["mon"]),
    (Word::Weekday(2, Linked), &["tue", "tues"]),
    (Word::Weekday(3, Linked), &["wed"]),
    (Word::Weekday(4, Linked), &["thu", "thur", "thurs"]),
    (Word::Weekday(5, Linked), &["fri"]),
    (Word::Weekday(6, Linked), &["sat"]),
    (Word::Weekday(7, Linked), &["sun"]),
    (Word::Habit, &["mondays", "tuesdays", "wednesdays", "thursdays", "fridays", "saturdays", "sundays"]),
    (Word::Season(Season::Spring), &["spring", "春天", "春季"]),
    (Word::Season(Season::Summer), &["summer", "夏天", "夏季", "暑假"]),
    (Word::Season(Season::Autumn), &["autumn", "fall", "秋天", "秋季"]),
    (Word::Season(Season::Winter), &["winter", "冬天", "冬季"]),
    (Word::Holiday(Holiday::NewYear), &["new year", "new years", "元旦", "跨年"]),
    (Word::Holiday(Holiday::Valentine), &["valentine", "valentines", "情人节"]),
    (Word::Holiday(Holiday::Easter), &["easter", "复活节"]),
    (Word::Holiday(Holiday::Thanksgiving), &["thanksgiving", "感恩节"]),
    (Word::Holiday(Holiday::Halloween), &["halloween", "万圣节"]),
    (Word::Holiday(Holiday::Christmas), &["christmas", "xmas", "圣诞", "圣诞节", "聖誕節"]),
    (Word::Holiday(Holiday::SpringFestival), &["chinese new year", "lunar new year", "spring festival", "春节", "春節", "除夕", "过年"]),
    (Word::Holiday(Holiday::Qingming), &["清明", "清明节"]),
    (Word::Holiday(Holiday::LabourDay), &["五一", "劳动节", "五一劳动节"]),
    (Word::Holiday(Holiday::DragonBoat), &["dragon boat festival", "端午", "端午节"]),
    (Word::Holiday(Holiday::MidAutumn), &["mid-autumn festival", "中秋", "中秋节"]),
    (Word::Holiday(Holiday::NationalDay), &["国庆", "國慶", "国庆节", "十一黄金周"]),
    (Word::Eve, &["eve", "前夕", "假期", "期间", "长假"]),
    (Word::Article, &["a", "an"]),
    (Word::Few, &["few", "several", "几", "幾", "几个", "好几", "好几个", "数", "些"]),
    (Word::Half, &["half", "half a", "half an", "半", "半个", "半個"]),
    (Word::Number { value: 2, digits: 0 }, &["couple", "couple of"]),
    (Word::Number { value: 12, digits: 0 }, &["dozen"]),
    (Word::In, &["in", "during", "within", "throughout", "early", "late", "mid", "by", "在"]),
    (Word::On, &["on", "over"]),
    (Word::Of, &["of", "的"]),
    (Word::The, &["the"]),
    (Word::And, &["and", "和", "与", "跟"]),
    (Word::Amid, &["之间", "间"]),
    (Word::To, &["to", "through", "到", "至"]),
    (Word::Between, &["between"]),
    (Word::From, &["from", "从", "從", "自", "自从"]),
    (Word::Since, &["since"]),
    (Word::Before, &["before"]),
    (Word::After, &["after"]),
    (Word::Until, &["until", "till", "直到"]),
    (Word::For, &["for"]),
    (Word::Each, &["every", "each", "每", "每个", "每逢"]),
    (Word::Cue, &["soon", "recently", "lately", "nowadays", "someday", "daily", "weekly", "monthly", "yearly",
        "later today", "midnight", "刚才", "刚刚", "马上", "很快", "近期", "近来", "近年", "近日", "不久", "小时候", "最近一段时间"]),
    (Word::Clock, &["pm", "o'clock", "o’clock", "点钟", "點鐘", "一点半", "一点钟"]),
    (Word::Hour, &["点", "點", "点半"]),
    (Word::Counter, &["time", "times", "次", "回", "个", "個", "场", "位", "名", "件", "篇", "种"]),
    (Word::Session, &["session", "sessions", "conversation", "conversations", "chat", "chats", "talk", "talks", "dialogue",
        "dialogues", "discussion", "discussions", "对话", "對話", "会话", "會話", "聊天", "谈话", "談話", "交谈", "交談"]),
    (Word::Talked, &["talked", "spoke", "speak", "spoken", "chatted", "discuss", "discussed", "聊", "谈", "談"]),
    (Word::Earlier, &["earlier", "early on", "早些时候", "早些時候", "早先", "稍早", "稍早前"]),
    (Word::Latest, &["most recent", "latest", "最近一次", "最新一次"]),
    (Word::FromEnd, &["倒数", "倒數"]),
    (Word::Other, &["下午茶", "一共", "一直", "一起", "一些", "一样", "一定", "一般", "一下", "一点", "一边", "一家", "天气", "天才",
        "天空", "天然", "年轻", "年龄", "年纪", "年级", "年头", "日子", "日本", "日程", "日常", "日志", "号码", "号称",
        "号召", "号线", "号楼", "号院", "号店", "号门", "号桌", "号机", "号房", "前面", "前端", "前台", "前提", "前后",
        "前往", "前女友", "前男友", "后来", "后端", "后台", "后面", "后悔", "后续", "后果", "周围", "周年", "周期",
        "周边", "下来", "上来", "上去", "下去", "本人", "本来", "这样", "月亮", "月球", "起来", "开始的",
        "早餐", "早饭", "早点", "晚餐", "晚饭", "晚点", "晚安", "早安", "附近", "接近", "半径", "到达", "到底"]),
];

type Entry = ([u8; 3], &'static str, Word);

struct Lexicon {
    /// Sorted by the first three bytes: a Chinese character, or the first letters of an English word; then the
    /// longest first.
    entries: Vec<Entry>,
    /// A bit for each hash of such a start, because most words of a text start like none.
    starts: [u64; 64],
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let words = WORDS.iter().flat_map(|(word, names)| names.iter().map(move |name| (*name, *word)));
    let words = words.chain(numerals::words());
    let mut entries: Vec<Entry> = words.map(|(name, word)| (key(name), name, word)).collect();
    entries.sort_by_key(|(key, name, _)| (*key, std::cmp::Reverse(name.len())));
    let mut starts = [0; 64];
    for (key, ..) in &entries {
        let (slot, bit) = hash(*key);
        starts[slot] |= bit;
    }
    Lexicon { entries, starts }
});

/// The longest word of the lexicon that `rest`, in lower case, starts with, and its length in bytes.
pub(super) fn look_up(rest: &str) -> Option<(Word, usize)> {
    let lexicon = &*LEXICON;
    let key = key(rest);
    let (slot, bit) = hash(key);
    if lexicon.starts[slot] & bit == 0 {
        return None;
    }
    let first = lexicon.entries.partition_point(|entry| entry.0 < key);
    let near = lexicon.entries[first..].iter().take_while(|entry| entry.0 == key);
    near.map(|(_, name, word)| (*word, name))
        .find(|(_, name)| rest.starts_with(**name) && ends_a_word(rest, name.len()))
        .map(|(word, name)| (word, name.len()))
}

/// The place of a start among 64 times 64 bits, by multiplicative hashing with the golden ratio.
fn hash([a, b, c]: [u8; 3]) -> (usize, u64) {
    let mixed = u32::from_be_bytes([0, a, b, c]).wrapping_mul(0x9E37_79B1);
    ((mixed >> 26) as usize, 1 << ((mixed >> 20) & 63))
}

/// The first three bytes, those after the first word replaced by zeros.
fn key(text: &str) -> [u8; 3] {
    let mut key = [0; 3];
    for (slot, byte) in key.iter_mut().zip(text.bytes()) {
        if byte.is_ascii() && !byte.is_ascii_alphanumeric() {
            break;
        }
        *slot = byte;
    }
    key
}

/// Whether an English word of this length ends there; Chinese words need no end.
fn ends_a_word(text: &str, length: usize) -> bool {
    let is_latin = |c: char| c.is_alphanumeric() && !is_han(c) || c == '_';
    !text.as_bytes()[0].is_ascii() || !text[length..].chars().next().is_some_and(is_latin)
}

/// Whether `c` is a Chinese character.
pub(super) fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' | '〇')
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_word_has_two_meanings() {
        let mut seen = HashSet::new();
        let twice: Vec<_> = LEXICON.entries.iter().filter(|entry| !seen.insert(entry.1)).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    #[test]
    fn the_longest_word_is_read() {
        assert_eq!(look_up("上个月"), Some((Word::Shift(-1), "上个".len())));
        assert_eq!(look_up("new year's eve"), Some((Word::Holiday(Holiday::NewYear), 8)));
        assert_eq!(look_up("in"), Some((Word::In, 2)));
        assert_eq!(look_up("inside"), None);
    }
}
