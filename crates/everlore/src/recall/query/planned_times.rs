//! Planned times: what was said tonight does not answer "What should I cook tonight?".

use super::phrases::{PhraseMatcher, normalize};
use crate::{text::dates::TimeMention, types::Timestamp};

/// Longest message, in bytes, whose words are read as a plan; a longer one speaks of many things.
const MAX_BYTES: usize = 1_000;

/// Leaves nothing of the times that have begun and are not over, if the message plans ahead: nothing said so far belongs
/// to them.
pub(super) fn without_begun_plans(
    query: &str,
    mut times: Vec<TimeMention>,
    now: Timestamp,
) -> Vec<TimeMention> {
    let is_ongoing = |mention: &TimeMention| {
        (mention.start..mention.end).contains(&now) && mention.end < Timestamp::MAX
    };
    if times.iter().any(is_ongoing) && plans_ahead(query) {
        for mention in times.iter_mut().filter(|mention| is_ongoing(mention)) {
            mention.start = mention.end;
            mention.widened = (mention.end, mention.end);
        }
    }
    times
}

/// Returns `true` if a message asks for something to come, in words that no question about the past has.
fn plans_ahead(query: &str) -> bool {
    if query.len() > MAX_BYTES {
        return false;
    }
    let plain = normalize(query);
    let text = PhraseMatcher::new(&plain);
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    has(PLAN_PHRASES) && !has(PAST_PHRASES)
}

#[rustfmt::skip]
const PLAN_PHRASES: &[&str] = &[
    "should i", "should we", "shall i", "shall we", "can i", "can we", "could i", "could we", "recommend", "suggest", "plan", "help me", "i want", "i'd like", "i would like", "i need", "let's", "going to", "what to",
    "该", "要", "想", "打算", "帮我", "推荐", "建议", "安排", "能不能", "适合", "做什么好", "吃什么", "穿什么", "去哪",
];

#[rustfmt::skip]
const PAST_PHRASES: &[&str] = &[
    "did", "was", "were", "had", "have", "has", "said", "told", "talked", "discussed", "mentioned", "happened", "decided", "asked", "earlier", "so far", "already",
    "了", "过", "说", "聊", "提到", "刚才", "刚刚", "已经", "决定",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::dates::find_times;

    fn begun(query: &str) -> bool {
        let now: jiff::Zoned = "2026-11-17T20:00:00[UTC]".parse().unwrap();
        let times = without_begun_plans(query, find_times(query, &now), now.timestamp());
        assert!(!times.is_empty(), "{query}");
        times.iter().any(|mention| mention.start <= now.timestamp())
    }

    #[test]
    fn a_plan_for_an_evening_that_has_begun_asks_for_nothing_that_was_said_in_it() {
        for query in [
            "What should I cook tonight?",
            "今晚吃什么好？",
            "Can we meet today?",
            "帮我安排今天的晚饭",
        ] {
            assert!(!begun(query), "{query}");
        }
    }

    #[test]
    fn a_question_for_what_was_said_keeps_its_time() {
        for query in [
            "What did I say I want tonight?",
            "今天我说想吃什么？",
            "what is new today",
            "今晚聊了什么",
        ] {
            assert!(begun(query), "{query}");
        }
    }
}
