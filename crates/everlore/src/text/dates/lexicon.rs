//! Lexicon of time words, English and Chinese side by side, for [`super::lexer`].

use std::sync::LazyLock;

use super::expr::{DayPart, Holiday, Season, TimeUnit};
use super::numerals;

/// Class of a token in a time expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TimeWord {
    /// Word that takes no part in one.
    Other,
    /// Position past the last token.
    End,
    /// Number; `digits` is 0 if it was spelled out.
    Number {
        value: u32,
        digits: u8,
    },
    /// 8th, 第三.
    Ordinal(u32),
    /// third, twenty-eighth: separate from 3rd, because "second may" is no date.
    SpelledOrdinal(u32),
    Article,
    Few,
    Half,
    Month(i8, NameAmbiguity),
    Weekday(i8, NameAmbiguity),
    /// Mondays: a habit, not a day.
    PluralWeekday,
    Season(Season),
    Holiday(Holiday),
    /// Days around a holiday that belong to it.
    HolidaySuffix,
    /// eve after a holiday: the day before it.
    Eve,
    /// 前夕 after a holiday: the days before it.
    EveSuffix,
    /// 次日 after a date.
    NextDay,
    /// 当天, which means today when it stands alone.
    SameDay,
    /// 那个 between a date and what lies beside it.
    That,
    /// around before a date, 前后 after it.
    Around,
    Part(DayPart),
    /// 上午 and 下午, which mean today's when they stand alone.
    HalfDay(DayPart),
    Quarter(i8),
    /// 上半年, 下半年.
    HalfYear(i8),
    Unit(TimeUnit),
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
    DayPart(i8, DayPart),
    /// 去年, 今年.
    Year(i8),
    /// last, this, next.
    Shift(i8),
    Past,
    Coming,
    Ago,
    Later,
    /// 以来 after a moment.
    SinceSuffix,
    /// 来 after an amount.
    DurationSuffix,
    In,
    On,
    Of,
    The,
    And,
    BetweenSuffix,
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
    /// Word that implies a time without naming one.
    TimeHint,
    /// 3pm, o'clock.
    Clock,
    /// 点 after its number.
    Hour,
    /// time, 次: what ordinals count.
    Counter,
    /// conversation, 对话.
    Session,
    /// talked, 聊: the activity of a session.
    TalkVerb,
    /// earlier, 早些时候: the past part of a current period.
    Earlier,
    /// most recent, 最近一次.
    Latest,
    /// 倒数.
    FromEnd,
}

/// Context that the name of a month or weekday needs before it counts as one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum NameAmbiguity {
    /// None: it has no other meaning.
    Unambiguous,
    /// A capital letter inside a sentence, or a link such as "in": "may" is mostly a verb.
    NeedsCapital,
    /// A preposition such as "in" or "last": "sat" and "mar" are words of their own.
    NeedsPreposition,
}

use NameAmbiguity::{NeedsCapital, NeedsPreposition, Unambiguous};

/// Words by class. Where several match, the longest wins; those under `Other` shadow shorter ones.
#[rustfmt::skip]
const TIME_WORDS: &[(TimeWord, &[&str])] = &[
    (TimeWord::Day(0), &["today", "今天", "今日", "今儿", "本日"]),
    (TimeWord::Day(-1), &["yesterday", "昨天", "昨日", "昨儿"]),
    (TimeWord::Day(1), &["tomorrow", "明天", "明日", "明儿"]),
    (TimeWord::Day(-2), &["day before yesterday", "前天", "前日"]),
    (TimeWord::Day(2), &["day after tomorrow", "后天", "後天"]),
    (TimeWord::Day(-3), &["大前天"]),
    (TimeWord::Day(3), &["大后天", "大後天"]),
    (TimeWord::DayPart(0, DayPart::Night), &["tonight", "今晚", "今夜"]),
    (TimeWord::DayPart(-1, DayPart::Night), &["昨晚", "昨夜"]),
    (TimeWord::DayPart(-2, DayPart::Night), &["前晚"]),
    (TimeWord::DayPart(1, DayPart::Night), &["明晚"]),
    (TimeWord::DayPart(0, DayPart::Morning), &["今早", "今晨", "一大早"]),
    (TimeWord::DayPart(-1, DayPart::Morning), &["昨早", "昨晨"]),
    (TimeWord::DayPart(1, DayPart::Morning), &["明早", "明晨"]),
    (TimeWord::Year(0), &["今年"]),
    (TimeWord::Year(-1), &["去年"]),
    (TimeWord::Year(-2), &["前年"]),
    (TimeWord::Year(-3), &["大前年"]),
    (TimeWord::Year(1), &["明年"]),
    (TimeWord::Year(2), &["后年", "後年"]),
    (TimeWord::Part(DayPart::Dawn), &["dawn", "凌晨", "清晨"]),
    (TimeWord::Part(DayPart::Morning), &["morning", "早上", "早晨", "早"]),
    (TimeWord::Part(DayPart::Noon), &["noon", "lunchtime", "中午"]),
    (TimeWord::Part(DayPart::Afternoon), &["afternoon", "午后"]),
    (TimeWord::Part(DayPart::Evening), &["evening", "傍晚"]),
    (TimeWord::Part(DayPart::Night), &["night", "晚上", "夜里", "夜晚", "半夜", "晚"]),
    (TimeWord::HalfDay(DayPart::Morning), &["上午"]),
    (TimeWord::HalfDay(DayPart::Afternoon), &["下午"]),
    (TimeWord::Shift(-1), &["last", "previous", "上", "上个", "上個", "上一", "上一个", "最后一"]),
    (TimeWord::Shift(0), &["this", "current", "本", "这", "這", "这个", "這個", "这一", "这一个", "当前"]),
    (TimeWord::Shift(1), &["next", "coming", "upcoming", "下", "下个", "下個", "下一", "下一个"]),
    (TimeWord::Shift(-2), &["上上", "上上个", "上上個"]),
    (TimeWord::Shift(2), &["下下", "下下个", "下下個"]),
    (TimeWord::Past, &["past", "过去", "過去", "过去的", "最近", "最近的", "近", "这段"]),
    (TimeWord::Coming, &["未来", "未來", "接下来", "今后", "往后"]),
    (TimeWord::Ago, &["ago", "前", "以前", "之前", "多前"]),
    (TimeWord::Later, &["from now", "hence", "后", "後", "以后", "之后", "以後", "之後", "过后"]),
    (TimeWord::SinceSuffix, &["onward", "onwards", "以来", "以來", "起", "开始", "開始", "至今", "到现在"]),
    (TimeWord::DurationSuffix, &["来", "來"]),
    (TimeWord::Unit(TimeUnit::Minute), &["minute", "minutes", "min", "mins", "分钟", "分鐘"]),
    (TimeWord::Unit(TimeUnit::Hour), &["hour", "hours", "hr", "hrs", "小时", "小時", "个小时", "個小時", "钟头", "个钟头"]),
    (TimeWord::Unit(TimeUnit::Day), &["day", "days", "天"]),
    (TimeWord::Unit(TimeUnit::Week), &["week", "weeks", "周", "週", "星期", "个星期", "個星期", "礼拜", "禮拜", "个礼拜", "個禮拜"]),
    (TimeWord::Unit(TimeUnit::Weekend), &["weekend", "weekends", "周末", "週末"]),
    (TimeWord::Unit(TimeUnit::Month), &["month", "months", "个月", "個月"]),
    (TimeWord::Unit(TimeUnit::Quarter), &["quarter", "quarters", "季度", "个季度"]),
    (TimeWord::Unit(TimeUnit::Year), &["year", "years", "yr", "yrs"]),
    (TimeWord::YearMark, &["年"]),
    (TimeWord::MonthMark, &["月", "月份"]),
    (TimeWord::DayMark, &["日"]),
    (TimeWord::DateMark, &["号", "號"]),
    (TimeWord::HalfYear(1), &["上半年"]),
    (TimeWord::HalfYear(2), &["下半年"]),
    (TimeWord::Quarter(1), &["q1"]),
    (TimeWord::Quarter(2), &["q2"]),
    (TimeWord::Quarter(3), &["q3"]),
    (TimeWord::Quarter(4), &["q4"]),
    (TimeWord::Month(1, Unambiguous), &["january"]),
    (TimeWord::Month(2, Unambiguous), &["february"]),
    (TimeWord::Month(3, NeedsCapital), &["march"]),
    (TimeWord::Month(4, NeedsCapital), &["april"]),
    (TimeWord::Month(5, NeedsCapital), &["may"]),
    (TimeWord::Month(6, NeedsCapital), &["june"]),
    (TimeWord::Month(7, Unambiguous), &["july"]),
    (TimeWord::Month(8, NeedsCapital), &["august"]),
    (TimeWord::Month(9, Unambiguous), &["september"]),
    (TimeWord::Month(10, Unambiguous), &["october"]),
    (TimeWord::Month(11, Unambiguous), &["november"]),
    (TimeWord::Month(12, Unambiguous), &["december"]),
    (TimeWord::Month(1, NeedsPreposition), &["jan"]),
    (TimeWord::Month(2, NeedsPreposition), &["feb"]),
    (TimeWord::Month(3, NeedsPreposition), &["mar"]),
    (TimeWord::Month(4, NeedsPreposition), &["apr"]),
    (TimeWord::Month(6, NeedsPreposition), &["jun"]),
    (TimeWord::Month(7, NeedsPreposition), &["jul"]),
    (TimeWord::Month(8, NeedsPreposition), &["aug"]),
    (TimeWord::Month(9, NeedsPreposition), &["sep", "sept"]),
    (TimeWord::Month(10, NeedsPreposition), &["oct"]),
    (TimeWord::Month(11, NeedsPreposition), &["nov"]),
    (TimeWord::Month(12, NeedsPreposition), &["dec"]),
    (TimeWord::Weekday(1, Unambiguous), &["monday"]),
    (TimeWord::Weekday(2, Unambiguous), &["tuesday"]),
    (TimeWord::Weekday(3, Unambiguous), &["wednesday"]),
    (TimeWord::Weekday(4, Unambiguous), &["thursday"]),
    (TimeWord::Weekday(5, Unambiguous), &["friday"]),
    (TimeWord::Weekday(6, Unambiguous), &["saturday"]),
    (TimeWord::Weekday(7, Unambiguous), &["sunday"]),
    (TimeWord::Weekday(1, NeedsPreposition), &["mon"]),
    (TimeWord::Weekday(2, NeedsPreposition), &["tue", "tues"]),
    (TimeWord::Weekday(3, NeedsPreposition), &["wed"]),
    (TimeWord::Weekday(4, NeedsPreposition), &["thu", "thur", "thurs"]),
    (TimeWord::Weekday(5, NeedsPreposition), &["fri"]),
    (TimeWord::Weekday(6, NeedsPreposition), &["sat"]),
    (TimeWord::Weekday(7, NeedsPreposition), &["sun"]),
    (TimeWord::PluralWeekday, &["mondays", "tuesdays", "wednesdays", "thursdays", "fridays", "saturdays", "sundays"]),
    (TimeWord::Season(Season::Spring), &["spring", "春天", "春季"]),
    (TimeWord::Season(Season::Summer), &["summer", "夏天", "夏季", "暑假"]),
    (TimeWord::Season(Season::Autumn), &["autumn", "fall", "秋天", "秋季"]),
    (TimeWord::Season(Season::Winter), &["winter", "冬天", "冬季"]),
    (TimeWord::Holiday(Holiday::NewYear), &["new year", "new years", "元旦", "跨年"]),
    (TimeWord::Holiday(Holiday::Valentine), &["valentine", "valentines", "情人节"]),
    (TimeWord::Holiday(Holiday::Easter), &["easter", "复活节"]),
    (TimeWord::Holiday(Holiday::Thanksgiving), &["thanksgiving", "感恩节"]),
    (TimeWord::Holiday(Holiday::Halloween), &["halloween", "万圣节"]),
    (TimeWord::Holiday(Holiday::Christmas), &["christmas", "xmas", "圣诞", "圣诞节", "聖誕節"]),
    (TimeWord::Holiday(Holiday::SpringFestival), &["chinese new year", "lunar new year", "spring festival", "春节", "春節", "除夕", "过年"]),
    (TimeWord::Holiday(Holiday::Qingming), &["清明", "清明节"]),
    (TimeWord::Holiday(Holiday::LabourDay), &["五一", "劳动节", "五一劳动节"]),
    (TimeWord::Holiday(Holiday::DragonBoat), &["dragon boat festival", "端午", "端午节"]),
    (TimeWord::Holiday(Holiday::MidAutumn), &["mid-autumn festival", "中秋", "中秋节"]),
    (TimeWord::Holiday(Holiday::NationalDay), &["国庆", "國慶", "国庆节", "十一黄金周"]),
    (TimeWord::HolidaySuffix, &["假期", "期间", "长假", "放假", "小长假"]),
    (TimeWord::Eve, &["eve"]),
    (TimeWord::EveSuffix, &["前夕"]),
    (TimeWord::NextDay, &["次日", "翌日", "隔天", "隔日"]),
    (TimeWord::SameDay, &["当天", "当日"]),
    (TimeWord::That, &["那", "那个", "那個", "那一"]),
    (TimeWord::Around, &["around", "前后", "前後"]),
    (TimeWord::Article, &["a", "an"]),
    (TimeWord::Few, &["few", "several", "几", "幾", "几个", "好几", "好几个", "数", "些"]),
    (TimeWord::Half, &["half", "half a", "half an", "半", "半个", "半個"]),
    (TimeWord::Number { value: 2, digits: 0 }, &["couple", "couple of"]),
    (TimeWord::Number { value: 12, digits: 0 }, &["dozen"]),
    (TimeWord::In, &["in", "during", "within", "throughout", "early", "late", "mid", "by", "在"]),
    (TimeWord::On, &["on", "over"]),
    (TimeWord::Of, &["of", "的"]),
    (TimeWord::The, &["the"]),
    (TimeWord::And, &["and", "和", "与", "跟"]),
    (TimeWord::BetweenSuffix, &["之间", "间"]),
    (TimeWord::To, &["to", "through", "到", "至"]),
    (TimeWord::Between, &["between"]),
    (TimeWord::From, &["from", "从", "從", "自", "自从"]),
    (TimeWord::Since, &["since"]),
    (TimeWord::Before, &["before"]),
    (TimeWord::After, &["after"]),
    (TimeWord::Until, &["until", "till", "直到"]),
    (TimeWord::For, &["for"]),
    (TimeWord::Each, &["every", "each", "每", "每个", "每逢"]),
    (TimeWord::TimeHint, &["soon", "recently", "lately", "nowadays", "someday", "daily", "weekly", "monthly", "yearly",
        "later today", "midnight", "刚才", "刚刚", "马上", "很快", "近期", "近来", "近年", "近日", "不久", "小时候", "最近一段时间"]),
    (TimeWord::Clock, &["pm", "o'clock", "o’clock", "点钟", "點鐘", "一点半", "一点钟"]),
    (TimeWord::Hour, &["点", "點", "点半"]),
    (TimeWord::Counter, &["time", "times", "次", "回", "个", "個", "场", "位", "名", "件", "篇", "种"]),
    (TimeWord::Session, &["session", "sessions", "conversation", "conversations", "chat", "chats", "talk", "talks", "dialogue",
        "dialogues", "discussion", "discussions", "对话", "對話", "会话", "會話", "聊天", "谈话", "談話", "交谈", "交談"]),
    (TimeWord::TalkVerb, &["talked", "spoke", "speak", "spoken", "chatted", "discuss", "discussed", "聊", "谈", "談"]),
    (TimeWord::Earlier, &["earlier", "early on", "早些时候", "早些時候", "早先", "稍早", "稍早前"]),
    (TimeWord::Latest, &["most recent", "latest", "最近一次", "最新一次"]),
    (TimeWord::FromEnd, &["倒数", "倒數"]),
    (TimeWord::Other, &["下午茶", "一共", "一直", "一起", "一些", "一样", "一定", "一般", "一下", "一点", "一边", "一家", "天气", "天才",
        "天空", "天然", "年轻", "年龄", "年纪", "年级", "年头", "日子", "日本", "日程", "日常", "日志", "号码", "号称",
        "号召", "号线", "号楼", "号院", "号店", "号门", "号桌", "号机", "号房", "前面", "前端", "前台", "前提",
        "前往", "前女友", "前男友", "后来", "后端", "后台", "后面", "后悔", "后续", "后果", "周围", "周年", "周期",
        "周边", "下来", "上来", "上去", "下去", "本人", "本来", "这样", "月亮", "月球", "起来", "开始的",
        "早餐", "早饭", "早点", "晚餐", "晚饭", "晚点", "晚安", "早安", "附近", "接近", "半径", "到达", "到底"]),
];

type LexiconEntry = ([u8; 3], &'static str, TimeWord);

struct TimeLexicon {
    /// Entries sorted by their first three bytes: a Chinese character, or the first letters of an English word; then
    /// the longest first.
    entries: Vec<LexiconEntry>,
    /// Bloom filter of those first bytes, because most words of a text begin like none.
    prefix_bits: [u64; 64],
}

static LEXICON: LazyLock<TimeLexicon> = LazyLock::new(|| {
    let words =
        TIME_WORDS.iter().flat_map(|(word, names)| names.iter().map(move |name| (*name, *word)));
    let words = words.chain(numerals::numeral_words());
    let mut entries: Vec<LexiconEntry> =
        words.map(|(name, word)| (prefix_key(name), name, word)).collect();
    entries.sort_by_key(|(key, name, _)| (*key, std::cmp::Reverse(name.len())));
    let mut starts = [0; 64];
    for (key, ..) in &entries {
        let (slot, bit) = prefix_bit(*key);
        starts[slot] |= bit;
    }
    TimeLexicon { entries, prefix_bits: starts }
});

/// Returns the longest word of the lexicon at the start of `rest`, which is in lower case, and its length in bytes.
pub(super) fn look_up(rest: &str) -> Option<(TimeWord, usize)> {
    let lexicon = &*LEXICON;
    let key = prefix_key(rest);
    let (slot, bit) = prefix_bit(key);
    if lexicon.prefix_bits[slot] & bit == 0 {
        return None;
    }
    let first = lexicon.entries.partition_point(|entry| entry.0 < key);
    let candidates = lexicon.entries[first..].iter().take_while(|entry| entry.0 == key);
    candidates
        .map(|(_, name, word)| (*word, name))
        .find(|(_, name)| rest.starts_with(**name) && ends_a_word(rest, name.len()))
        .map(|(word, name)| (word, name.len()))
}

/// Returns the bit of a start among 64 times 64, by multiplicative hashing with the golden ratio.
fn prefix_bit([a, b, c]: [u8; 3]) -> (usize, u64) {
    let mixed = u32::from_be_bytes([0, a, b, c]).wrapping_mul(0x9E37_79B1);
    ((mixed >> 26) as usize, 1 << ((mixed >> 20) & 63))
}

/// Returns the first three bytes, those after the first word replaced by zeros.
fn prefix_key(text: &str) -> [u8; 3] {
    let mut key = [0; 3];
    for (slot, byte) in key.iter_mut().zip(text.bytes()) {
        if byte.is_ascii() && !byte.is_ascii_alphanumeric() {
            break;
        }
        *slot = byte;
    }
    key
}

/// Returns `true` if an English word of this length ends there; Chinese words need no end.
fn ends_a_word(text: &str, length: usize) -> bool {
    let is_latin = |c: char| c.is_alphanumeric() && !is_han(c) || c == '_';
    !text.as_bytes()[0].is_ascii() || !text[length..].chars().next().is_some_and(is_latin)
}

/// Returns `true` if `c` is a Chinese character.
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
        assert_eq!(look_up("上个月"), Some((TimeWord::Shift(-1), "上个".len())));
        assert_eq!(look_up("new year's eve"), Some((TimeWord::Holiday(Holiday::NewYear), 8)));
        assert_eq!(look_up("in"), Some((TimeWord::In, 2)));
        assert_eq!(look_up("inside"), None);
    }
}
