//! Conversations told by their number: "our third session", 上次聊天.

use super::lex::{Token, lex};
use super::words::Word;

/// Which conversation, counted from one of the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionOrdinal {
    /// The n-th from the start; the first is 1.
    First(u32),
    /// The n-th from the end; the last is 1.
    Last(u32),
}

/// What may stand between "last time" and "talked": only the two who talk, for 上次跟朋友聊天 is no session of ours.
const GAP: &[&str] = &[
    "we", "i", "you", "us", "and", "had", "a", "我", "们", "咱", "你", "您", "跟", "和", "与",
    "的", "一起",
];

/// The most of them: last time you and I had a chat.
const MAX_GAP: usize = 5;

/// Finds the conversation that `text` names by its number, if it does.
pub fn find_session_ordinal(text: &str) -> Option<SessionOrdinal> {
    let tokens = lex(text);
    (0..tokens.len())
        .find_map(|at| before_noun(text, &tokens[at..]).or_else(|| after_noun(&tokens[at..])))
}

/// The third session, last session, second to last session, 第三次对话, 倒数第二次对话, the last time we talked.
fn before_noun(text: &str, tokens: &[Token]) -> Option<SessionOrdinal> {
    let (ordinal, used) = ordinal(tokens)?;
    let rest = &tokens[used..];
    let found = word(rest, 0) == Word::Session || talked(text, rest);
    found.then_some(ordinal)
}

fn ordinal(tokens: &[Token]) -> Option<(SessionOrdinal, usize)> {
    let ordinal = match (word(tokens, 0), word(tokens, 1), word(tokens, 2)) {
        (Word::Nth(n) | Word::Ordinal(n), Word::To, Word::Shift(-1)) => {
            return Some((SessionOrdinal::Last(n), 3));
        }
        (Word::FromEnd, Word::Ordinal(n), _) => return Some((SessionOrdinal::Last(n), 2)),
        (Word::Nth(n) | Word::Ordinal(n), ..) => SessionOrdinal::First(n),
        (Word::Shift(-1) | Word::Latest, ..) => SessionOrdinal::Last(1),
        (Word::Shift(-2), ..) => SessionOrdinal::Last(2),
        _ => return None,
    };
    let is_counted = !matches!(ordinal, SessionOrdinal::First(0));
    is_counted.then_some((ordinal, 1))
}

/// "time we talked", 次我们聊: a counter, then soon the talking.
fn talked(text: &str, rest: &[Token]) -> bool {
    let [counter, near @ ..] = rest else { return false };
    let in_gap = |token: &&Token| {
        GAP.iter().any(|word| text[token.start..token.end].eq_ignore_ascii_case(word))
    };
    let gap = near.iter().take(MAX_GAP).take_while(in_gap).count();
    counter.word == Word::Counter && word(near, gap) == Word::Session
}

/// Session 3, conversation #2, the session before last.
fn after_noun(tokens: &[Token]) -> Option<SessionOrdinal> {
    match (word(tokens, 0), word(tokens, 1), word(tokens, 2)) {
        (Word::Session, Word::Number { value: n @ 1.., digits: 1..=3 }, next) if !counts(next) => {
            Some(SessionOrdinal::First(n))
        }
        (Word::Session, Word::Before, Word::Shift(-1)) => Some(SessionOrdinal::Last(2)),
        _ => None,
    }
}

fn counts(word: Word) -> bool {
    matches!(word, Word::Unit(_) | Word::Counter)
}

fn word(tokens: &[Token], n: usize) -> Word {
    tokens.get(n).map_or(Word::End, |token| token.word)
}

#[cfg(test)]
mod tests {
    use super::SessionOrdinal::{First, Last};
    use super::*;

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
        ];
        for (text, ordinal) in cases {
            assert_eq!(find_session_ordinal(text), Some(ordinal), "{text}");
        }
    }

    #[test]
    fn other_ordinals_are_no_sessions() {
        let cases = [
            "the third book",
            "last week",
            "a session on Rust",
            "we talked for a second",
            "session 3 hours",
            "第一次见面",
            "上次买的书",
            "上次跟朋友聊天",
            "这次对话",
            "上周聊天",
        ];
        for text in cases {
            assert_eq!(find_session_ordinal(text), None, "{text}");
        }
    }
}
