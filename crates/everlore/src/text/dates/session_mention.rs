//! Conversations named by their number: "our third session", "sessions 3 through 5", 上次聊天.

use std::ops::Range;

use serde::Serialize;

use super::lexer::{TimeToken, lex};
use super::lexicon::TimeWord;

/// Position of a conversation, counted from one of the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionOrdinal {
    /// From the start; the first is 1.
    First(u32),
    /// From the end; the last is 1.
    Last(u32),
}

/// Consecutive conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SessionRange {
    /// First of them.
    pub from: SessionOrdinal,
    /// Last of them; equal to the first if only one is meant.
    pub to: SessionOrdinal,
}

/// Conversations that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionMention {
    /// Range of conversations.
    pub sessions: SessionRange,
    /// Bytes of the text that name them.
    pub span: Range<usize>,
}

use SessionOrdinal::{First, Last};

/// Words allowed between "last time" and "talked": only the two who talk, for 上次跟朋友聊天 is no session of ours.
const FILLER_WORDS: &[&str] = &[
    "we", "i", "you", "us", "and", "had", "a", "我", "们", "咱", "你", "您", "跟", "和", "与",
    "的", "一起",
];

/// Most filler words: last time you and I had a chat.
const MAX_FILLER_WORDS: usize = 5;

/// Largest count of conversations.
const MAX_COUNT: u32 = 9_999;

/// Finds the conversations that `text` names by number, if any.
pub(crate) fn find_sessions(text: &str) -> Option<SessionMention> {
    let tokens = lex(text);
    (0..tokens.len()).find_map(|at| {
        let (before, rest) = tokens.split_at(at);
        let forms = [before_noun(text, rest), counted(text, rest), after_noun(rest)];
        let found = forms.into_iter().flatten().next().or_else(|| last_time(text, before, rest));
        let (sessions, used) = found?;
        let (sessions, used) = step_back_one(text, rest, (sessions, used));
        let span = rest[0].start..rest[used - 1].end;
        sessions.is_valid().then_some(SessionMention { sessions, span })
    })
}

/// Parses "What did we discuss last time?": the verb comes before, and nothing else is said of that time.
fn last_time(text: &str, before: &[TimeToken], tokens: &[TimeToken]) -> Option<ParsedSessions> {
    let talks = |token: &TimeToken| matches!(token.word, TimeWord::TalkVerb | TimeWord::Session);
    let is_last = matches!(word_at(tokens, 0), TimeWord::Shift(-1))
        && word_at(tokens, 1) == TimeWord::Counter;
    let ends = tokens.get(2).is_none_or(|token| {
        text[token.start..].starts_with(|c: char| !c.is_alphanumeric()) && token.follows_directly
    });
    let last = SessionRange { from: Last(1), to: Last(1) };
    (is_last && ends && before.iter().any(talks)).then_some((last, 2))
}

/// Most tokens between a session and "the one before that".
const MAX_LOOKAHEAD: usize = 6;

/// Steps back by one: "not the last session but the one before that".
fn step_back_one(
    text: &str,
    tokens: &[TimeToken],
    (sessions, used): ParsedSessions,
) -> ParsedSessions {
    let is_one = |at: &usize| {
        let that = tokens.get(at + 2).map_or("", |token| &text[token.start..token.end]);
        matches!(word_at(tokens, *at), TimeWord::Number { value: 1, .. })
            && word_at(tokens, at + 1) == TimeWord::Before
            && ["that", "it", "this"].iter().any(|word| that.eq_ignore_ascii_case(word))
    };
    match (sessions.from, (used..used + MAX_LOOKAHEAD).find(is_one)) {
        (Last(n), Some(at)) if n < MAX_COUNT => {
            (SessionRange { from: Last(n + 1), to: Last(n + 1) }, at + 3)
        }
        _ => (sessions, used),
    }
}

/// Parsed sessions, and the number of their tokens.
type ParsedSessions = (SessionRange, usize);

/// Parses the third session, third through fifth sessions, second to last session, 第三次对话, the last time we talked.
fn before_noun(text: &str, tokens: &[TimeToken]) -> Option<ParsedSessions> {
    let (from, mut used) = ordinal(tokens)?;
    let mut to = from;
    if let Some((last, more)) = range_end(&tokens[used..]) {
        (to, used) = (last, used + more);
    }
    let noun = session_noun(text, &tokens[used..])?;
    Some((SessionRange { from, to }, used + noun))
}

fn ordinal(tokens: &[TimeToken]) -> Option<(SessionOrdinal, usize)> {
    let ordinal = match (word_at(tokens, 0), word_at(tokens, 1), word_at(tokens, 2)) {
        (TimeWord::SpelledOrdinal(n) | TimeWord::Ordinal(n), TimeWord::To, TimeWord::Shift(-1)) => {
            return Some((Last(n), 3));
        }
        (TimeWord::FromEnd, TimeWord::Ordinal(n), _) => return Some((Last(n), 2)),
        (TimeWord::SpelledOrdinal(n) | TimeWord::Ordinal(n), ..) => First(n),
        (TimeWord::Shift(-1) | TimeWord::Latest, ..) => Last(1),
        (TimeWord::Shift(-2), ..) => Last(2),
        _ => return None,
    };
    Some((ordinal, 1))
}

/// Parses the "through fifth" after the third, the 次到第五 after 第三.
fn range_end(tokens: &[TimeToken]) -> Option<(SessionOrdinal, usize)> {
    let counter = usize::from(word_at(tokens, 0) == TimeWord::Counter);
    let is_link =
        matches!(word_at(tokens, counter), TimeWord::To | TimeWord::Dash | TimeWord::Until);
    let article = usize::from(word_at(tokens, counter + 1) == TimeWord::The);
    let (last, used) = ordinal(tokens.get(counter + 1 + article..)?)?;
    is_link.then_some((last, counter + 1 + article + used))
}

/// Parses "session", 次对话, "time we talked", 次我们聊: a noun, or a counter and soon the verb.
fn session_noun(text: &str, rest: &[TimeToken]) -> Option<usize> {
    if word_at(rest, 0) == TimeWord::Session {
        return Some(1);
    }
    let [counter, following @ ..] = rest else { return None };
    let in_gap = |token: &&TimeToken| {
        FILLER_WORDS.iter().any(|word| text[token.start..token.end].eq_ignore_ascii_case(word))
    };
    let gap = following.iter().take(MAX_FILLER_WORDS).take_while(in_gap).count();
    let talks = matches!(word_at(following, gap), TimeWord::Session | TimeWord::TalkVerb);
    (counter.word == TimeWord::Counter && talks).then_some(gap + 2)
}

/// Parses 5 sessions ago, the last three sessions, the first two chats, 三次对话前, 最近三次聊天, 前三次对话.
fn counted(text: &str, tokens: &[TimeToken]) -> Option<ParsedSessions> {
    let number = |at| match word_at(tokens, at) {
        TimeWord::Number { value: value @ 1..=MAX_COUNT, .. } => Some(value),
        TimeWord::Article => Some(1),
        _ => None,
    };
    if let Some(n) = number(0) {
        let used = 1 + session_noun(text, &tokens[1..])?;
        let ago = SessionRange { from: Last(n), to: Last(n) };
        return (word_at(tokens, used) == TimeWord::Ago).then_some((ago, used + 1));
    }
    let n = number(1)?;
    let sessions = match word_at(tokens, 0) {
        TimeWord::Shift(-1) | TimeWord::Past | TimeWord::Latest => {
            SessionRange { from: Last(n), to: Last(1) }
        }
        TimeWord::SpelledOrdinal(1) | TimeWord::Ago => {
            SessionRange { from: First(1), to: First(n) }
        }
        _ => return None,
    };
    Some((sessions, 2 + session_noun(text, &tokens[2..])?))
}

/// Parses session 3, sessions 3 through 5, conversation #2, the session before last.
fn after_noun(tokens: &[TimeToken]) -> Option<ParsedSessions> {
    let number = |at| match word_at(tokens, at) {
        TimeWord::Number { value: value @ 1.., digits: 0..=3 } => Some(value),
        _ => None,
    };
    if word_at(tokens, 0) != TimeWord::Session {
        return None;
    }
    if (word_at(tokens, 1), word_at(tokens, 2)) == (TimeWord::Before, TimeWord::Shift(-1)) {
        return Some((SessionRange { from: Last(2), to: Last(2) }, 3));
    }
    let first = number(1)?;
    let is_link = matches!(
        word_at(tokens, 2),
        TimeWord::To | TimeWord::Dash | TimeWord::Until | TimeWord::And
    );
    let (last, used) = match number(3).filter(|_| is_link) {
        Some(last) => (last, 4),
        None => (first, 2),
    };
    let sessions = SessionRange { from: First(first), to: First(last) };
    (!is_counted_noun(word_at(tokens, used))).then_some((sessions, used))
}

fn is_counted_noun(word: TimeWord) -> bool {
    matches!(word, TimeWord::Unit(_) | TimeWord::Counter | TimeWord::Session)
}

fn word_at(tokens: &[TimeToken], n: usize) -> TimeWord {
    tokens.get(n).map_or(TimeWord::End, |token| token.word)
}

impl SessionRange {
    /// Returns `true` if the range is possible: nothing is the 0th, and a range goes forward.
    fn is_valid(&self) -> bool {
        let (First(from) | Last(from)) = self.from;
        let forward = match (self.from, self.to) {
            (First(from), First(to)) => from <= to,
            (Last(from), Last(to)) => from >= to,
            _ => true,
        };
        from > 0 && forward
    }

    /// Returns the indices of these conversations among `count` in order of time.
    pub fn index_range(&self, count: usize) -> Range<usize> {
        let index = |ordinal| match ordinal {
            First(n) => Some(n as usize - 1),
            Last(n) => count.checked_sub(n as usize),
        };
        // "Five sessions ago" of four is none, but "the last five sessions" of four are all.
        let is_one = self.from == self.to;
        let from = index(self.from).or_else(|| (!is_one).then_some(0));
        match (from, index(self.to)) {
            (Some(from), Some(to)) if from < count => from..(to + 1).clamp(from, count),
            _ => 0..0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<(SessionOrdinal, SessionOrdinal)> {
        find_sessions(text).map(|found| (found.sessions.from, found.sessions.to))
    }

    #[test]
    fn sessions_are_found_by_their_number() {
        let cases = [
            ("What did we decide in our third session?", First(3)),
            ("the first conversation", First(1)),
            ("in the 12th chat", First(12)),
            ("in session 3 you said", First(3)),
            ("what did I say last session?", Last(1)),
            ("our previous conversation", Last(1)),
            ("our most recent chat", Last(1)),
            ("the second to last session", Last(2)),
            ("the conversation before last", Last(2)),
            ("the last time we talked", Last(1)),
            ("the first time we spoke", First(1)),
            ("第三次对话里说了什么", First(3)),
            ("第2次聊天", First(2)),
            ("上次聊天的内容", Last(1)),
            ("上一次对话", Last(1)),
            ("上上次对话", Last(2)),
            ("最后一次会话", Last(1)),
            ("倒数第二次对话", Last(2)),
            ("上次我们聊到哪里了", Last(1)),
            ("我们第一次聊天是什么时候", First(1)),
            ("in our twenty-first session", First(21)),
            ("What did we discuss 5 sessions ago?", Last(5)),
            ("what we talked about two discussions ago", Last(2)),
            ("What did we talk one session ago?", Last(1)),
            ("Tell me what we discussed last time.", Last(1)),
            ("not the last discussion, but the one before that", Last(2)),
            ("三次对话前", Last(3)),
            ("两次聊天之前说了什么", Last(2)),
        ];
        for (text, ordinal) in cases {
            assert_eq!(found(text), Some((ordinal, ordinal)), "{text}");
        }
    }

    #[test]
    fn several_sessions_in_a_row_are_found() {
        let cases = [
            ("over sessions 3 through 5", First(3), First(5)),
            ("sessions 3-5", First(3), First(5)),
            ("from the third through fifth sessions", First(3), First(5)),
            ("the 3rd to the 5th session", First(3), First(5)),
            ("our first three sessions", First(1), First(3)),
            ("the last two conversations", Last(2), Last(1)),
            ("第三次到第五次对话", First(3), First(5)),
            ("第三到第五次聊天", First(3), First(5)),
            ("最近三次聊天", Last(3), Last(1)),
            ("前两次对话", First(1), First(2)),
        ];
        for (text, from, to) in cases {
            assert_eq!(found(text), Some((from, to)), "{text}");
        }
    }

    #[test]
    fn sessions_are_counted_among_those_there_are() {
        let indices = |from, to, count| SessionRange { from, to }.index_range(count);
        assert_eq!(indices(First(3), First(5), 4), 2..4);
        assert_eq!(indices(Last(1), Last(1), 4), 3..4);
        assert_eq!(indices(Last(5), Last(1), 4), 0..4);
        assert_eq!(indices(First(1), Last(1), 4), 0..4);
        assert!(indices(Last(5), Last(5), 4).is_empty());
        assert!(indices(First(5), First(5), 4).is_empty());
        assert!(indices(First(1), First(1), 0).is_empty());
    }

    #[test]
    fn other_ordinals_are_no_sessions() {
        let cases = [
            "the third book",
            "last week",
            "a session on Rust",
            "we talked for a second",
            "session 3 hours",
            "we discussed 3 things",
            "we discussed what you bought last time we met",
            "the tool from last time",
            "the 0th session",
            "sessions 5 to 3",
            "第一次见面",
            "上次买的书",
            "上次跟朋友聊天",
            "这次对话",
            "上周聊天",
        ];
        for text in cases {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
