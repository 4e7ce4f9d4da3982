//! Conversations told by their number: "our third session", "sessions 3 through 5", 上次聊天.

use std::ops::Range;

use serde::Serialize;

use super::lex::{Token, lex};
use super::words::Word;

/// Which conversation, counted from one of the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionOrdinal {
    /// The n-th from the start; the first is 1.
    First(u32),
    /// The n-th from the end; the last is 1.
    Last(u32),
}

/// Conversations in a row, told by the first and the last of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Sessions {
    /// The first of them.
    pub from: SessionOrdinal,
    /// The last of them; the first itself where only one is meant.
    pub to: SessionOrdinal,
}

/// Conversations that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionMention {
    /// Which ones.
    pub sessions: Sessions,
    /// Where in the text they stand, in bytes.
    pub span: Range<usize>,
}

use SessionOrdinal::{First, Last};

/// What may stand between "last time" and "talked": only the two who talk, for 上次跟朋友聊天 is no session of ours.
const GAP: &[&str] = &[
    "we", "i", "you", "us", "and", "had", "a", "我", "们", "咱", "你", "您", "跟", "和", "与",
    "的", "一起",
];

/// The most of them: last time you and I had a chat.
const MAX_GAP: usize = 5;

/// More conversations than this nobody counts.
const MAX_COUNT: u32 = 9_999;

/// Finds the conversations that `text` names by number, if it does.
pub fn find_sessions(text: &str) -> Option<SessionMention> {
    let tokens = lex(text);
    (0..tokens.len()).find_map(|at| {
        let (before, rest) = tokens.split_at(at);
        let forms = [before_noun(text, rest), counted(text, rest), after_noun(rest)];
        let found = forms.into_iter().flatten().next().or_else(|| last_time(text, before, rest));
        let (sessions, used) = found?;
        let (sessions, used) = one_before(text, rest, (sessions, used));
        let span = rest[0].start..rest[used - 1].end;
        sessions.is_told().then_some(SessionMention { sessions, span })
    })
}

/// "What did we discuss last time?": the talking stands before, and nothing else is said of that time.
fn last_time(text: &str, before: &[Token], tokens: &[Token]) -> Option<Read> {
    let talks = |token: &Token| matches!(token.word, Word::Talked | Word::Session);
    let is_last = matches!(word(tokens, 0), Word::Shift(-1)) && word(tokens, 1) == Word::Counter;
    let ends = tokens.get(2).is_none_or(|token| {
        text[token.start..].starts_with(|c: char| !c.is_alphanumeric()) && token.glued
    });
    let last = Sessions { from: Last(1), to: Last(1) };
    (is_last && ends && before.iter().any(talks)).then_some((last, 2))
}

/// How far behind a session "the one before that" may follow.
const REACH: usize = 6;

/// "Not the last session but the one before that" is the one before.
fn one_before(text: &str, tokens: &[Token], (sessions, used): Read) -> Read {
    let is_one = |at: &usize| {
        let that = tokens.get(at + 2).map_or("", |token| &text[token.start..token.end]);
        matches!(word(tokens, *at), Word::Number { value: 1, .. })
            && word(tokens, at + 1) == Word::Before
            && ["that", "it", "this"].iter().any(|word| that.eq_ignore_ascii_case(word))
    };
    match (sessions.from, (used..used + REACH).find(is_one)) {
        (Last(n), Some(at)) if n < MAX_COUNT => {
            (Sessions { from: Last(n + 1), to: Last(n + 1) }, at + 3)
        }
        _ => (sessions, used),
    }
}

/// Sessions read, and how many tokens tell them.
type Read = (Sessions, usize);

/// The third session, third through fifth sessions, second to last session, 第三次对话, the last time we talked.
fn before_noun(text: &str, tokens: &[Token]) -> Option<Read> {
    let (from, mut used) = ordinal(tokens)?;
    let mut to = from;
    if let Some((last, more)) = up_to(&tokens[used..]) {
        (to, used) = (last, used + more);
    }
    let noun = noun(text, &tokens[used..])?;
    Some((Sessions { from, to }, used + noun))
}

fn ordinal(tokens: &[Token]) -> Option<(SessionOrdinal, usize)> {
    let ordinal = match (word(tokens, 0), word(tokens, 1), word(tokens, 2)) {
        (Word::Nth(n) | Word::Ordinal(n), Word::To, Word::Shift(-1)) => return Some((Last(n), 3)),
        (Word::FromEnd, Word::Ordinal(n), _) => return Some((Last(n), 2)),
        (Word::Nth(n) | Word::Ordinal(n), ..) => First(n),
        (Word::Shift(-1) | Word::Latest, ..) => Last(1),
        (Word::Shift(-2), ..) => Last(2),
        _ => return None,
    };
    Some((ordinal, 1))
}

/// The "through fifth" after the third, the 次到第五 after 第三.
fn up_to(tokens: &[Token]) -> Option<(SessionOrdinal, usize)> {
    let counter = usize::from(word(tokens, 0) == Word::Counter);
    let is_link = matches!(word(tokens, counter), Word::To | Word::Dash | Word::Until);
    let article = usize::from(word(tokens, counter + 1) == Word::The);
    let (last, used) = ordinal(tokens.get(counter + 1 + article..)?)?;
    is_link.then_some((last, counter + 1 + article + used))
}

/// "session", 次对话, "time we talked", 次我们聊: what is counted, or a counter and soon the talking.
fn noun(text: &str, rest: &[Token]) -> Option<usize> {
    if word(rest, 0) == Word::Session {
        return Some(1);
    }
    let [counter, near @ ..] = rest else { return None };
    let in_gap = |token: &&Token| {
        GAP.iter().any(|word| text[token.start..token.end].eq_ignore_ascii_case(word))
    };
    let gap = near.iter().take(MAX_GAP).take_while(in_gap).count();
    let talks = matches!(word(near, gap), Word::Session | Word::Talked);
    (counter.word == Word::Counter && talks).then_some(gap + 2)
}

/// 5 sessions ago, the last three sessions, the first two chats, 三次对话前, 最近三次聊天, 前三次对话.
fn counted(text: &str, tokens: &[Token]) -> Option<Read> {
    let number = |at| match word(tokens, at) {
        Word::Number { value: value @ 1..=MAX_COUNT, .. } => Some(value),
        Word::Article => Some(1),
        _ => None,
    };
    if let Some(n) = number(0) {
        let used = 1 + noun(text, &tokens[1..])?;
        let ago = Sessions { from: Last(n), to: Last(n) };
        return (word(tokens, used) == Word::Ago).then_some((ago, used + 1));
    }
    let n = number(1)?;
    let sessions = match word(tokens, 0) {
        Word::Shift(-1) | Word::Past | Word::Latest => Sessions { from: Last(n), to: Last(1) },
        Word::Nth(1) | Word::Ago => Sessions { from: First(1), to: First(n) },
        _ => return None,
    };
    Some((sessions, 2 + noun(text, &tokens[2..])?))
}

/// Session 3, sessions 3 through 5, conversation #2, the session before last.
fn after_noun(tokens: &[Token]) -> Option<Read> {
    let number = |at| match word(tokens, at) {
        Word::Number { value: value @ 1.., digits: 0..=3 } => Some(value),
        _ => None,
    };
    if word(tokens, 0) != Word::Session {
        return None;
    }
    if (word(tokens, 1), word(tokens, 2)) == (Word::Before, Word::Shift(-1)) {
        return Some((Sessions { from: Last(2), to: Last(2) }, 3));
    }
    let first = number(1)?;
    let is_link = matches!(word(tokens, 2), Word::To | Word::Dash | Word::Until | Word::And);
    let (last, used) = match number(3).filter(|_| is_link) {
        Some(last) => (last, 4),
        None => (first, 2),
    };
    let sessions = Sessions { from: First(first), to: First(last) };
    (!counts(word(tokens, used))).then_some((sessions, used))
}

fn counts(word: Word) -> bool {
    matches!(word, Word::Unit(_) | Word::Counter | Word::Session)
}

fn word(tokens: &[Token], n: usize) -> Word {
    tokens.get(n).map_or(Word::End, |token| token.word)
}

impl Sessions {
    /// Whether they can be: nothing is the 0th, and a range goes forward.
    fn is_told(&self) -> bool {
        let (First(from) | Last(from)) = self.from;
        let forward = match (self.from, self.to) {
            (First(from), First(to)) => from <= to,
            (Last(from), Last(to)) => from >= to,
            _ => true,
        };
        from > 0 && forward
    }

    /// Those meant among sessions in order of time, as a range of their indexes.
    pub fn among(&self, count: usize) -> Range<usize> {
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
        let among = |from, to, count| Sessions { from, to }.among(count);
        assert_eq!(among(First(3), First(5), 4), 2..4);
        assert_eq!(among(Last(1), Last(1), 4), 3..4);
        assert_eq!(among(Last(5), Last(1), 4), 0..4);
        assert_eq!(among(First(1), Last(1), 4), 0..4);
        assert!(among(Last(5), Last(5), 4).is_empty());
        assert!(among(First(5), First(5), 4).is_empty());
        assert!(among(First(1), First(1), 0).is_empty());
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
