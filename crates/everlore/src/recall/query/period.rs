//! Query period: the times and sessions that a query names, and whether it asks for nothing but them.

use std::{cmp::Reverse, collections::HashMap, ops::Range};

use jiff::SignedDuration;

use super::analyze::Intent;
use crate::{
    store::DocAddress,
    text::{
        dates::SessionRange,
        language::is_cjk,
        stop_words::{is_function_character, is_stop_word},
    },
    types::Timestamp,
};

/// Silence after which a conversation counts as over.
const SESSION_TIMEOUT: SignedDuration = SignedDuration::from_mins(30);

/// Times and sessions that a query names, resolved in one scope.
pub(crate) struct QueryPeriod<'a> {
    times: &'a [(Timestamp, Timestamp)],
    /// Numbers of the sessions that belong to the period; `None` allows any.
    sessions: Option<Vec<u32>>,
    /// Current session, if the query excludes it ("earlier today").
    current_session: Option<u32>,
}

impl<'a> QueryPeriod<'a> {
    /// Resolves the period of `intent` among memories with these addresses and times; `None` if it names none.
    pub(crate) fn new(
        intent: &'a Intent,
        memories: impl Iterator<Item = (DocAddress, Timestamp)> + Clone,
    ) -> Option<Self> {
        if intent.times.is_empty() && intent.sessions.is_none() {
            return None;
        }
        let exact = Self::from_ranges(&intent.times, intent, memories.clone());
        let is_loose = intent.asks_period && intent.wider_times != intent.times;
        if is_loose && !memories.clone().any(|(address, at)| exact.contains(address, at)) {
            return Some(Self::from_ranges(&intent.wider_times, intent, memories));
        }
        Some(exact)
    }

    fn from_ranges(
        times: &'a [(Timestamp, Timestamp)],
        intent: &Intent,
        memories: impl Iterator<Item = (DocAddress, Timestamp)>,
    ) -> Self {
        let mut period = Self { times, sessions: None, current_session: None };
        if intent.sessions.is_some() || intent.is_earlier {
            let all = session_times(memories);
            let in_time: Vec<_> =
                all.iter().filter(|session| period.includes_session(session)).collect();
            let numbers = |named: SessionRange| {
                let named = &in_time[named.index_range(in_time.len())];
                named.iter().map(|session| session.number).collect()
            };
            let current = all.last().filter(|session| is_current_session(session, intent));
            period.current_session = current.map(|session| session.number);
            period.sessions = intent.sessions.map(numbers);
        }
        period
    }

    /// Returns `true` if a memory with this address and time lies in the period.
    pub(crate) fn contains(&self, address: DocAddress, at: Timestamp) -> bool {
        let session = address.session();
        let in_session = self.sessions.as_ref().is_none_or(|sessions| sessions.contains(&session));
        let is_current = session > 0 && self.current_session == Some(session);
        // A session that began in the period belongs to it as a whole.
        let in_time = self.sessions.is_some() || self.times.is_empty() || self.is_in_time(at);
        in_session && in_time && !is_current
    }

    fn is_in_time(&self, at: Timestamp) -> bool {
        self.times.iter().any(|(start, end)| *start <= at && at < *end)
    }

    /// Returns `true` if a session began in these times.
    fn includes_session(&self, session: &SessionTimes) -> bool {
        self.times.is_empty() || self.is_in_time(session.first)
    }
}

/// Session with its first and last moment.
struct SessionTimes {
    number: u32,
    first: Timestamp,
    last: Timestamp,
}

/// Returns the sessions in the order in which they began.
fn session_times(memories: impl Iterator<Item = (DocAddress, Timestamp)>) -> Vec<SessionTimes> {
    let mut found: HashMap<u32, (Timestamp, Timestamp)> = HashMap::new();
    for (address, at) in memories.filter(|(address, _)| address.session() > 0) {
        let (first, last) = found.entry(address.session()).or_insert((at, at));
        *first = (*first).min(at);
        *last = (*last).max(at);
    }
    let mut sessions: Vec<_> = found
        .into_iter()
        .map(|(number, (first, last))| SessionTimes { number, first, last })
        .collect();
    sessions.sort_by_key(|session| (session.first, session.number));
    sessions
}

/// Returns `true` if the query was asked in this session and looks back beyond it.
fn is_current_session(session: &SessionTimes, intent: &Intent) -> bool {
    intent.is_earlier && intent.asked_at.duration_since(session.last) < SESSION_TIMEOUT
}

/// Returns `true` if a query without these spans only asks what was said: "What did we talk about …?", 聊了什么. It
/// must have at least one span, and must look back: "What should I do today?" does not.
pub(super) fn is_content_free(query: &str, spans: &[Range<usize>]) -> bool {
    let classes = classify_rest(query, spans, &|_| false);
    classes.is_some_and(|all| all.is_empty() || all.contains(&NonContentWord::Conversation))
}

/// Returns `true` if a query without these spans asks only what happened then: "Where did we eat …?", 去哪了. Its words
/// name nothing that a memory of that time must contain.
pub(super) fn asks_events(query: &str, spans: &[Range<usize>]) -> bool {
    let is_event = |word: &str| EVENT_WORDS.iter().any(|event| word.starts_with(event));
    classify_rest(query, spans, &is_event)
        .is_some_and(|all| all.contains(&NonContentWord::Conversation))
}

/// Classifies the words outside the spans; `None` if there are no spans, or if a word has content. `extra` are words
/// that have none here; of Chinese it is asked for the rest of a run.
fn classify_rest(
    query: &str,
    spans: &[Range<usize>],
    extra: &dyn Fn(&str) -> bool,
) -> Option<Vec<NonContentWord>> {
    if spans.is_empty() {
        return None;
    }
    let mut rest = query.to_owned();
    let mut spans = spans.to_vec();
    spans.sort_by_key(|span| Reverse(span.start));
    for span in &spans {
        // Mentions of times and of sessions may overlap.
        let end = span.end.min(rest.len());
        if rest.is_char_boundary(span.start.min(end)) && rest.is_char_boundary(end) {
            rest.replace_range(span.start.min(end)..end, " ");
        }
    }
    let lower = rest.to_lowercase().replace('’', "'");
    let words = lower.split(|c: char| !is_word_part(c)).filter(|word| !word.is_empty());
    words.flat_map(script_runs).map(|run| classify_word(&run, extra)).collect()
}

/// Class of a word without content of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
enum NonContentWord {
    /// Word for talking, or for something past.
    Conversation,
    /// Word that says nothing by itself.
    Filler,
}

fn is_word_part(c: char) -> bool {
    c.is_alphanumeric() || c == '\''
}

/// Splits a word into parts of one script each.
fn script_runs(word: &str) -> Vec<String> {
    let characters: Vec<char> = word.chars().collect();
    characters.chunk_by(|a, b| is_cjk(*a) == is_cjk(*b)).map(String::from_iter).collect()
}

/// Classifies a word or a run of Chinese; `None` if it has content.
fn classify_word(run: &str, extra: &dyn Fn(&str) -> bool) -> Option<NonContentWord> {
    if run.starts_with(is_cjk) {
        classify_chinese(run, extra)
    } else {
        classify_english(run).or_else(|| extra(run).then_some(NonContentWord::Filler))
    }
}

fn classify_english(word: &str) -> Option<NonContentWord> {
    let bare = word.strip_suffix("'s").unwrap_or(word);
    if CONVERSATION_WORDS.contains(&bare) {
        return Some(NonContentWord::Conversation);
    }
    let is_empty = is_stop_word(word) || is_stop_word(bare) || FILLER_WORDS.contains(&bare);
    is_empty.then_some(NonContentWord::Filler)
}

/// Classifies a run of Chinese by removing the longest phrase or one function character at a time.
fn classify_chinese(run: &str, extra: &dyn Fn(&str) -> bool) -> Option<NonContentWord> {
    let (mut rest, mut found) = (run, NonContentWord::Filler);
    while let Some(c) = rest.chars().next() {
        let longest = |phrases: &[&str]| {
            let fitting = phrases.iter().filter(|phrase| rest.starts_with(**phrase));
            fitting.map(|phrase| phrase.len()).max().unwrap_or(0)
        };
        let conversation = longest(CHINESE_CONVERSATION_WORDS);
        let filler = longest(CHINESE_FILLER_WORDS);
        let empty = is_function_character(c) || extra(rest);
        let function = if empty { c.len_utf8() } else { 0 };
        let length = conversation.max(filler).max(function);
        if length == 0 {
            return None;
        }
        if conversation == length {
            found = NonContentWord::Conversation;
        }
        rest = &rest[length..];
    }
    Some(found)
}

/// English words for talking, and for the past.
#[rustfmt::skip]
const CONVERSATION_WORDS: &[&str] = &[
    "talk", "talks", "talked", "talking", "discuss", "discusses", "discussed", "discussing", "discussion", "discussions",
    "say", "says", "said", "saying", "mention", "mentions", "mentioned", "chat", "chats", "chatted", "chatting", "speak",
    "spoke", "spoken", "speaking", "conversation", "conversations", "session", "sessions", "dialogue", "message", "messages",
    "remember", "recall", "remind", "told", "review", "summary", "summarize", "summarise", "recap", "overview", "highlights",
    "topic", "topics", "cover", "covered", "happen", "happened", "happening", "shared", "exchanged", "did", "memory",
    "memories", "history", "log", "logs", "notes", "came", "went",
];

/// English words that accompany them without naming a topic.
#[rustfmt::skip]
const FILLER_WORDS: &[&str] = &[
    "tell", "show", "list", "give", "find", "know", "subject", "subjects", "thing", "things", "stuff", "sort", "sorts", "kind",
    "kinds", "type", "types", "go", "come", "bring", "brought", "share", "exchange", "exactly", "please", "main", "various",
    "time", "like", "hi", "hey", "hello", "back", "around", "last", "earlier", "previously", "ago", "together", "communicate",
    "content", "contents", "early", "late", "mid", "middle", "beginning", "start", "end",
];

/// Chinese words for talking, and for the past; 了 and 过 mark the past.
#[rustfmt::skip]
const CHINESE_CONVERSATION_WORDS: &[&str] = &[
    "聊天", "聊", "谈论", "谈话", "谈", "談", "說", "说", "讲", "講", "讨论", "討論", "提到", "提过", "提起", "提及", "对话", "對話",
    "会话", "會話", "交流", "沟通", "交谈", "告诉", "告訴", "记得", "記得", "记录", "記錄", "回忆", "回憶", "回顾", "总结", "總結", "概括",
    "话题", "話題", "发生", "發生", "了", "过", "過", "消息",
];

/// Chinese words that accompany them without naming a topic.
#[rustfmt::skip]
const CHINESE_FILLER_WORDS: &[&str] = &[
    "列出", "列一下", "看看", "看一下", "查一下", "什么", "什麼", "哪些", "哪个", "啥", "内容", "事情", "事", "东西", "方面", "主题",
    "我们", "我們", "咱们", "咱", "一起", "一下", "一些", "时候", "時候", "期间", "期間", "里", "裡", "中", "时", "時", "当时", "初", "底",
    "帮我", "请", "关于", "做", "干", "当中", "之间", "都有", "主要", "大概", "具体", "次", "回", "跟", "来着", "为了", "起", "呗", "呐",
];

/// Words of events in both languages: something happened, but what is the question.
#[rustfmt::skip]
const EVENT_WORDS: &[&str] = &[
    "eat", "ate", "eaten", "meet", "met", "see", "saw", "seen", "visit", "visited", "buy", "bought", "travel", "traveled", "travelled", "stay", "stayed", "spend",
    "spent", "celebrate", "celebrated", "drive", "drove", "fly", "flew", "play", "played", "watch", "watched", "trip", "place", "places", "people", "plan", "plans",
    "去", "玩", "吃", "见", "里", "儿", "买", "住", "看", "逛", "飞", "过", "怎", "安", "排", "样", "地", "方", "人", "谁", "打", "算",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::RecallConfig, recall::analyze};

    fn intent(query: &str) -> Intent {
        analyze(query, &RecallConfig::default(), &"2026-03-04T10:30[+08:00]".parse().unwrap())
    }

    fn at(time: &str) -> Timestamp {
        format!("{time}+08:00").parse().unwrap()
    }

    /// Three conversations on 2 March and two on 4 March; the last one is the current one.
    fn memories() -> Vec<(DocAddress, Timestamp)> {
        let times = ["02T09:00", "02T12:00", "02T20:00", "04T08:00", "04T10:20"];
        let at = |time| at(&format!("2026-03-{time}"));
        (1..).zip(times).map(|(session, time)| (DocAddress::new(session, 0), at(time))).collect()
    }

    /// Returns the sessions in the period of a query.
    fn sessions_in(query: &str) -> Vec<u32> {
        let intent = intent(query);
        let period = QueryPeriod::new(&intent, memories().into_iter()).unwrap();
        let inside = memories().into_iter().filter(|(address, at)| period.contains(*address, *at));
        inside.map(|(address, _)| address.session()).collect()
    }

    #[test]
    fn a_period_holds_what_was_said_in_it() {
        assert_eq!(sessions_in("What did we talk about on Monday?"), [1, 2, 3]);
        assert_eq!(sessions_in("周一聊了什么"), [1, 2, 3]);
        assert_eq!(sessions_in("in our second session"), [2]);
        assert_eq!(sessions_in("over sessions 2 through 4"), [2, 3, 4]);
        assert_eq!(sessions_in("最近两次对话"), [4, 5]);
        assert_eq!(sessions_in("two sessions ago"), [4]);
    }

    #[test]
    fn sessions_are_counted_within_the_time_that_is_named() {
        assert_eq!(sessions_in("our second session on Monday"), [2]);
        assert_eq!(sessions_in("the last session on Monday"), [3]);
    }

    #[test]
    fn earlier_is_before_the_conversation_that_is_going_on() {
        assert_eq!(sessions_in("what did we discuss today"), [4, 5]);
        assert_eq!(sessions_in("what did we discuss earlier today"), [4]);
        assert_eq!(sessions_in("今天早些时候说了什么"), [4]);
    }

    #[test]
    fn a_day_on_which_nothing_was_said_may_have_been_miscounted() {
        assert_eq!(sessions_in("What did we talk about 2 days ago?"), [1, 2, 3]);
        assert_eq!(sessions_in("What did we talk about 3 days ago?"), [1, 2, 3]);
        assert_eq!(sessions_in("三天前聊了什么"), [1, 2, 3]);
        assert!(sessions_in("What did we talk about 5 days ago?").is_empty());
        assert_eq!(sessions_in("周一凌晨聊了什么"), [1, 2, 3]);
        assert!(sessions_in("What did Ann say of the house 3 days ago?").is_empty());
    }

    #[test]
    fn no_period_is_none() {
        let intent = intent("what tea do I like");
        assert!(QueryPeriod::new(&intent, memories().into_iter()).is_none());
    }

    #[test]
    fn questions_for_a_period_are_told_from_questions_about_something_in_it() {
        let free = [
            "What did we talk about 5 months ago?",
            "Tell me the sorts of things we discussed last Friday.",
            "What was talked about between May 8th and June 9th?",
            "What did we discuss in our third session?",
            "Last Wednesday, what did we chat about?",
            "What happened yesterday?",
            "yesterday",
            "Summarize what we discussed over the last week",
            "上周三聊了什么",
            "三个月前我们讨论了哪些内容？",
            "去年国庆我们说了什么",
            "我们第三次对话都聊了些什么",
            "昨天发生了什么事情",
            "What did I do yesterday?",
            "what did we talk about in early May",
            "上个月底我们聊了啥",
        ];
        let wrong: Vec<_> = free.iter().filter(|query| !intent(query).asks_period).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        let about = [
            "What did we say about the invoice last week?",
            "What did Caroline do in May?",
            "上周三聊的旅行计划",
            "去年国庆去了哪里玩",
            "What did we talk about?",
            "What will happen tomorrow?",
            "What should I do today?",
            "Are you there today?",
            "今天做什么",
            "明天做什么",
            "我们聊了什么",
        ];
        let wrong: Vec<_> = about.iter().filter(|query| intent(query).asks_period).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
