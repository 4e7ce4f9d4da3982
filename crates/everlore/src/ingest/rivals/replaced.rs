//! Statement that a newer one may replace, by the classifier, which understands changes that no rule names: "my laptop runs
//! arch", "wiped the laptop, it's on fedora now".
//!
//! Only a statement with words of a change is compared: numbered notes, a list of like things, the same fact told again or
//! in the other language say nothing of one. The nearest statements compete, and that none is replaced is one of the
//! possibilities. The outcome is a doubt, never more: a memory that is superseded by mistake is missed.

use std::{collections::HashSet, sync::Arc};

use super::{
    super::extract::SentenceJudge,
    part_denials::{NO_CHANGE, says_same},
    words::normalized_words,
};
use crate::{
    error::Result,
    sync::run_blocking,
    text::{language::is_cjk, terms::terms},
    types::{Memory, dot},
};

/// Statements that compete, as in training; each takes the encoder a millisecond.
const MAX_READ: usize = 6;

/// Weight of shared terms beside the cosine by the built-in table, as in training.
const TERM_WEIGHT: f32 = 0.35;

/// Least probability of a statement that is doubted. In homes of authors outside the fit, written to mislead, 3 in 100
/// statements doubt something that holds.
const MIN_DOUBTED: f32 = 0.9;

/// Returns the statement that may no longer hold after a new one; none without a classifier.
pub(super) async fn doubted_statement(
    judge: Option<&Arc<dyn SentenceJudge>>,
    new: &str,
    near: Vec<Memory>,
) -> Result<Option<Memory>> {
    let is_compared = !near.is_empty() && says_change(new);
    let Some(judge) = judge.filter(|_| is_compared).cloned() else { return Ok(None) };
    let new_words = normalized_words(new);
    let says_other = |old: &Memory| !says_same(&new_words, &normalized_words(&old.content));
    let near = near.into_iter().filter(says_other).collect();
    let new = new.to_owned();
    run_blocking(move || judge_doubted(&*judge, &new, near)).await
}

fn judge_doubted(
    judge: &dyn SentenceJudge,
    new: &str,
    near: Vec<Memory>,
) -> Result<Option<Memory>> {
    let near = most_alike(judge, new, near);
    let log_odds = near.iter().map(|old| judge.replaces_log_odds(&old.content, new));
    let probabilities = compete(&log_odds.collect::<Result<Vec<f32>>>()?);
    let best = near.into_iter().zip(probabilities).max_by(|one, other| one.1.total_cmp(&other.1));
    match best {
        Some((old, probability)) if probability >= MIN_DOUBTED => {
            Ok(judge.asserts(new)?.then_some(old))
        }
        _ => Ok(None),
    }
}

/// Returns `true` if a statement has words of a change, such as "now", "moved" or 改.
fn says_change(text: &str) -> bool {
    if text.contains(is_cjk) && CHINESE_CHANGE.iter().any(|word| text.contains(word)) {
        return true;
    }
    let words = format!(" {} ", normalized_words(text).join(" "));
    let words = NO_CHANGE.iter().fold(words, |words, it| words.replace(&format!(" {it} "), " "));
    words.split(' ').any(|word| ENGLISH_CHANGE.contains(&word))
}

/// Words that say that something is not as it was.
#[rustfmt::skip]
const ENGLISH_CHANGE: &[&str] = &[
    "now", "anymore", "longer", "instead", "actually", "scratch", "scrap", "correction", "wrong", "mistaken", "forget", "ignore", "rather",
    "moved", "moving", "changed", "switched", "swapped", "replaced", "dropped", "quit", "stopped", "cancelled", "canceled", "postponed",
    "pushed", "slipped", "rescheduled", "sold", "left", "retired", "resigned", "broke", "died", "passed", "gone", "ended", "finished", "over",
    "bumped", "upgraded", "migrated", "renamed", "wiped", "decommissioned", "extended", "raised", "lowered", "new", "used",
];

#[rustfmt::skip]
const CHINESE_CHANGE: &[&str] = &[
    "改", "换", "換", "搬", "不再", "现在", "現在", "如今", "戒", "取消", "挪", "推迟", "推遲", "延", "提前", "不对", "不對", "更正", "说错", "說錯", "停", "没了", "沒了",
    "不用", "不干", "不做", "辞", "辭", "离职", "退", "卖", "賣", "分手", "去世", "走了", "结束", "結束", "升到", "涨到", "降到", "转", "轉", "记错", "別記", "别记", "算了", "作废",
];

/// Returns the statements that are most like a new one, by the built-in table and by shared terms.
fn most_alike(judge: &dyn SentenceJudge, new: &str, near: Vec<Memory>) -> Vec<Memory> {
    let (vector, new_terms) = (judge.quick_vector(new), distinct_terms(new));
    let likeness = |old: &Memory| {
        let old_terms = distinct_terms(&old.content);
        let fewest = new_terms.len().min(old_terms.len());
        let shared = new_terms.intersection(&old_terms).count() as f32 / (1 + fewest) as f32;
        dot(&vector, &judge.quick_vector(&old.content)) + TERM_WEIGHT * shared
    };
    let mut near: Vec<(f32, Memory)> = near.into_iter().map(|old| (likeness(&old), old)).collect();
    near.sort_by(|one, other| other.0.total_cmp(&one.0));
    near.into_iter().take(MAX_READ).map(|(_, old)| old).collect()
}

fn distinct_terms(text: &str) -> HashSet<String> {
    terms(text).into_iter().collect()
}

/// Returns the probability of each statement to be the one that is replaced, given the log odds of each alone; what is
/// left to 1 is that none is.
fn compete(log_odds: &[f32]) -> Vec<f32> {
    let highest = log_odds.iter().copied().fold(0.0, f32::max);
    let weights: Vec<f32> = log_odds.iter().map(|odds| (odds - highest).exp()).collect();
    let sum: f32 = (-highest).exp() + weights.iter().sum::<f32>();
    weights.into_iter().map(|weight| weight / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_change_are_told_from_plain_statements_in_both_languages() {
        for text in
            ["wiped the laptop, it's on fedora now", "咖啡戒了，改喝茶", "我們上個月搬到安平了"]
        {
            assert!(says_change(text), "{text}");
        }
        for text in [
            "Note number 3 第3条",
            "The launch party is on 7 March in the garden",
            "我喜欢喝龙井茶",
            "from now on use metric units",
            "the server should be up by now",
            "for now the tests pass",
        ] {
            assert!(!says_change(text), "{text}");
        }
    }

    #[test]
    fn two_equal_candidates_leave_each_other_unsure() {
        let [one] = compete(&[8.0])[..] else { panic!() };
        let [first, second] = compete(&[8.0, 8.0])[..] else { panic!() };
        assert!(one > 0.99 && first < 0.51 && first == second, "{one} {first} {second}");
        assert!(compete(&[-3.0, -4.0]).iter().all(|probability| *probability < 0.1));
        assert_eq!(compete(&[]), Vec::<f32>::new());
    }
}
