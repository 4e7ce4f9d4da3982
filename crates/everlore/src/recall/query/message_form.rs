//! Form of a message: plain features that, beside its meaning, tell whether it calls for memory.

use super::{
    identity::IdentityQuestion,
    memory_need::MemoryNeed,
    phrases::{PhraseMatcher, has, is_han, is_question, normalize},
};

/// Number of features.
pub const FORM_COUNT: usize = 22;

/// Bytes of a message that are read: what comes later is material, not the request.
const MAX_BYTES: usize = 2_000;

/// Words of a long message; its length says no more beyond that.
const LONG_WORDS: f64 = 40.0;

/// Words of a speaker's question for one fact about themselves; a longer one tells of a situation, for which many memories
/// may matter.
const MAX_FACT_WORDS: f64 = 8.0;

/// Words of a question for one fact about others.
const MAX_OTHERS_FACT_WORDS: f64 = 30.0;

/// Characters of a Chinese question for one fact.
const MAX_FACT_CHARS: usize = 18;

/// Features of a message, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MessageForm {
    /// Inputs of the logistic model of need.
    pub features: [f64; FORM_COUNT],
    /// Plain question for one fact.
    pub(crate) fact: FactQuestion,
    /// `true` if the message has Chinese characters.
    pub(crate) is_chinese: bool,
}

/// Subject of a plain question that one fact answers. If no memory states the fact, others do not help; they may well help
/// with a task or a situation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FactQuestion {
    /// The message asks for more, or for nothing.
    None,
    /// A short question about the speaker: "Where did I learn to ski?".
    AboutSpeaker,
    /// A question about others: "When did Ann move to the coast?".
    AboutOthers,
}

impl MessageForm {
    /// Reads the form of a message whose need and identity question the rules have classified.
    pub(crate) fn of(message: &str, need: MemoryNeed, identity: IdentityQuestion) -> Self {
        let head = beginning(message, MAX_BYTES);
        let plain = normalize(head);
        let text = PhraseMatcher::new(&plain);
        let any = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
        let begins = |phrases: &[&str]| phrases.iter().any(|phrase| begins_with(&plain, phrase));
        let words = word_count(&plain);
        let is_chinese = plain.contains(is_han);
        let asks = begins(WH_STARTS) || is_chinese && any(CHINESE_WH);
        let requests = begins(REQUESTS) || is_chinese && any(CHINESE_REQUESTS);
        let flags = [
            true,
            need == MemoryNeed::Nothing,
            need == MemoryNeed::General,
            identity != IdentityQuestion::None,
            any(&["my", "mine", "our", "ours", "us"]),
            any(&["i", "me", "we", "myself"]),
            any(&["我", "咱", "俺"]),
            any(CHINESE_OWN),
            any(EARLIER_TALK),
            any(NEAR_TIMES),
            any(OTHER_PEOPLE),
            any(HYPOTHETICAL),
            any(GREETINGS) && words <= 6.0,
            any(&["the", "那个", "那家", "那次", "这边"]),
            any(&["a", "an", "one", "people", "一个", "一般", "人们"]),
            any(&["you", "your", "你", "您"]),
            requests,
            head.contains([':', '：', '"', '“', '「', '`', '\n']),
            is_question(head),
            asks,
            is_chinese,
        ];
        let mut features = [0.0; FORM_COUNT];
        for (feature, flag) in features.iter_mut().zip(flags) {
            *feature = f64::from(u8::from(flag));
        }
        features[FORM_COUNT - 1] = words.min(LONG_WORDS) / LONG_WORDS;
        let is_short = if is_chinese {
            plain.chars().count() <= MAX_FACT_CHARS
        } else {
            words <= MAX_FACT_WORDS
        };
        let fact = match any(OWN) {
            _ if requests || !is_question(head) => FactQuestion::None,
            true if asks && is_short => FactQuestion::AboutSpeaker,
            // A Chinese question without a subject is about the speaker more often than about others.
            false if is_chinese && asks && is_short => FactQuestion::AboutSpeaker,
            false if is_chinese => FactQuestion::None,
            false if (asks || begins(OTHERS_STARTS)) && words <= MAX_OTHERS_FACT_WORDS => {
                FactQuestion::AboutOthers
            }
            _ => FactQuestion::None,
        };
        Self { features, fact, is_chinese }
    }
}

/// Returns the number of words, three Chinese characters counted as two.
fn word_count(plain: &str) -> f64 {
    let han = plain.chars().filter(|c| is_han(*c)).count();
    let latin = plain.split(' ').filter(|word| !word.is_empty() && !word.starts_with(is_han));
    latin.count() as f64 + han as f64 / 1.5
}

fn begins_with(plain: &str, phrase: &str) -> bool {
    let head = beginning(plain, phrase.len() + MAX_LEAD_BYTES);
    plain.starts_with(phrase)
        || LEADS.iter().any(|lead| head.starts_with(lead)) && has(head, phrase)
}

/// Returns the first `max` bytes of a text, less a character that they cut.
fn beginning(text: &str, max: usize) -> &str {
    let end = (0..=max.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

/// Bytes of the words before the first one that counts.
const MAX_LEAD_BYTES: usize = 24;

/// Words before the first one that counts.
const LEADS: &[&str] =
    &["so ", "and ", "hey ", "btw ", "ok ", "please ", "can you ", "could you ", "um "];

/// Beginnings of questions for a fact.
#[rustfmt::skip]
const WH_STARTS: &[&str] = &[
    "what", "which", "who", "whose", "whom", "where", "when", "how much", "how many", "how old", "how tall", "how long", "how big", "how often", "how far",
];

/// Beginnings of further questions for a fact about others; about the speaker they begin requests for advice.
const OTHERS_STARTS: &[&str] = &["how", "why", "would", "did", "does", "is", "was", "has"];

/// Words of the speaker.
const OWN: &[&str] =
    &["my", "mine", "our", "ours", "us", "i", "me", "we", "myself", "我", "咱", "俺"];

/// Chinese question words for a fact.
const CHINESE_WH: &[&str] =
    &["什么", "哪", "谁", "几", "多少", "啥", "多高", "多大", "多久", "何时", "多远", "多重"];

/// Chinese possessives of the speaker.
const CHINESE_OWN: &[&str] =
    &["我们", "咱们", "我家", "我的", "我妈", "我爸", "我老", "我女", "我儿", "我公司", "我这"];

/// References to earlier talk.
#[rustfmt::skip]
const EARLIER_TALK: &[&str] = &[
    "again", "remember", "remind", "last time", "told you", "i said", "i mentioned", "as usual", "the usual", "earlier", "we discussed", "we agreed", "any news",
    "上次", "之前", "记得", "说过", "来着", "老样子", "照旧", "讲过", "提过", "定了", "还是那",
];

/// Times near enough that the speaker's own plans matter.
#[rustfmt::skip]
const NEAR_TIMES: &[&str] = &[
    "today", "tonight", "tomorrow", "this week", "next week", "this weekend", "weekend", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "this month", "this evening",
    "今天", "今晚", "明天", "后天", "这周", "下周", "周末", "周一", "周二", "周三", "周四", "周五", "周六", "周日", "这个月", "下个月", "待会", "晚上",
];

/// Other people whose affairs are not the speaker's.
#[rustfmt::skip]
const OTHER_PEOPLE: &[&str] = &[
    "a friend", "a coworker", "a colleague", "someone", "somebody", "a guy", "my friend", "my cousin", "my neighbor", "my neighbour", "a woman", "a man", "the character", "novel", "neighbor's", "his", "her", "their", "he", "she",
    "朋友", "同事", "哥们", "表弟", "表哥", "表妹", "表姐", "邻居", "有人", "别人", "网友", "小说", "主角", "他", "她",
];

/// Hypothetical cases.
#[rustfmt::skip]
const HYPOTHETICAL: &[&str] = &[
    "if someone", "if somebody", "if a", "if you", "suppose", "imagine", "hypothetically", "what would happen", "would it", "假如", "假设", "如果一个", "要是一个", "万一", "会怎样", "会咋样",
];

/// Greetings, thanks and nods.
#[rustfmt::skip]
const GREETINGS: &[&str] = &[
    "hi", "hello", "hey", "thanks", "thank", "thx", "cheers", "ok", "okay", "bye", "good morning", "good night", "lol", "haha", "great", "perfect", "awesome", "cool", "nice", "sure",
    "谢", "你好", "好的", "哈哈", "早上好", "晚安", "再见", "收到", "明白", "嗯", "辛苦", "厉害", "不错",
];

/// Beginnings of requests.
#[rustfmt::skip]
const REQUESTS: &[&str] = &[
    "write", "draft", "plan", "suggest", "recommend", "book", "order", "find", "pick", "choose", "help", "give", "make", "set up", "prepare", "list", "send", "schedule", "remind", "design",
    "create", "organize", "put together", "come up with", "need", "looking for", "any ideas", "ideas for", "what should", "where should", "which should", "what can", "what could", "what to", "where to", "where can",
];

/// Chinese phrases of requests.
#[rustfmt::skip]
const CHINESE_REQUESTS: &[&str] = &[
    "帮", "推荐", "写个", "写封", "写份", "写一", "安排", "计划", "规划", "订", "选个", "选一", "怎么选", "挑", "准备", "列", "发个", "定个", "想个", "给个", "出个", "来个", "建议", "怎么安排", "该", "吃啥", "吃什么", "做什么好", "去哪", "穿什么", "买什么", "送什么", "看什么",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(message: &str) -> FactQuestion {
        MessageForm::of(message, MemoryNeed::Open, IdentityQuestion::None).fact
    }

    #[test]
    fn a_plain_question_asks_for_one_fact_in_both_languages() {
        for (message, expected) in [
            ("Where did I learn to ski?", FactQuestion::AboutSpeaker),
            ("what's my shoe size?", FactQuestion::AboutSpeaker),
            ("hey what is my wifi password?", FactQuestion::AboutSpeaker),
            ("我的沙发多少钱买的？", FactQuestion::AboutSpeaker),
            ("我外婆最喜欢的花是什么？", FactQuestion::AboutSpeaker),
            ("我投票给了哪位候选人？", FactQuestion::AboutSpeaker),
            ("外婆最喜欢的花是什么？", FactQuestion::AboutSpeaker),
            ("When did Ann tell the others that she would move?", FactQuestion::AboutOthers),
            ("Why did the builders leave?", FactQuestion::AboutOthers),
            ("plan dinner for saturday", FactQuestion::None),
            ("can i take the kids along on thursday?", FactQuestion::None),
            ("where did i put the spare key, cant find it anywhere", FactQuestion::None),
            ("what did the doctor tell me about it at the last checkup?", FactQuestion::None),
            ("why do I always sleep so badly?", FactQuestion::None),
            ("what should the guests bring to the potluck on saturday?", FactQuestion::None),
            ("晚上吃啥", FactQuestion::None),
            ("帮我写封请假邮件", FactQuestion::None),
            ("", FactQuestion::None),
        ] {
            assert_eq!(fact(message), expected, "{message}");
        }
    }

    #[test]
    fn features_are_shares() {
        for message in ["", "hi", "我今天又失眠了", &"word ".repeat(5_000)] {
            let form = MessageForm::of(message, MemoryNeed::Open, IdentityQuestion::None);
            assert!(form.features.iter().all(|value| (0.0..=1.0).contains(value)), "{message}");
        }
    }
}
