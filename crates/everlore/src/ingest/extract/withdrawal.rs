//! Requests to forget something: what they name, and the statement that may stand beside them.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::fragments;
use crate::text::language::is_cjk;

/// Most words beside the cue of a correction that says nothing new, such as "no wait, scratch that".
pub(super) const MAX_BARE_WORDS: usize = 2;

/// Words beside a cue that say nothing.
static BARE_FILLERS: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:oh|ok|okay|no|nah|sorry|please|pls|actually|hmm|um|and|so|just|lol|wait|you can|scratch that)\b|算了|刚才|刚刚|上面|这个|那个|这条|那条|我|吧|了|啊|哦|哈|呀|先|就|别记",
    )
});

/// Requests to forget something.
static WITHDRAWS: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\bforget (?:(?:all |everything |about )?(?:what|that|the thing|the bit) i|i (?:ever )?(?:said|mentioned|told)|about (?:that|it|the)|that\b|it\b)|\b(?:ignore|disregard|delete|drop|erase|remove|bin) (?:(?:all |everything )?(?:what|that) i (?:said|told|wrote)|what i|that note|that warning|my earlier)|\b(?:don't|do not|dont|no need to|you don't (?:have|need) to) (?:note|remember|save|store|record|write (?:that|it) down|keep) (?:that|this|it|any of)|\b(?:scratch|strike|scrap|cancel) (?:that|what i said)|\bi take (?:that|it) back|\bnever ?mind (?:(?:all |everything )?(?:what|that|the (?:thing|bit|part)) i|about (?:the|my|that|what))\b|别记|不用记|不要记|甭记|不必记|忘了(?:我|刚才|之前|那)|忘掉|当我没说|就当没说|收回(?:刚才|之前|这句|那句|前面)|删(?:了|掉)(?:吧|那|它|这|$)|撤回(?:刚才|上面|那)|作废",
    )
});

/// Words before "forget" or 忘了 with which nobody asks to forget: "don't forget", "I always forget", 我忘了.
static NO_REQUEST: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?:n't|\b(?:not|dont|never|always|often|sometimes|to|i|we|he|she|they|people|will|'ll|might|may|could|would|did|i'd)) $|[别我他她们不没都快会常要又老差就]$",
    )
});

/// Returns the words with which a sentence asks to forget something.
pub(super) fn find_withdrawal(sentence: &str) -> Option<regex::Match<'_>> {
    let is_request = |found: &regex::Match<'_>| {
        let forgets =
            found.as_str().to_lowercase().starts_with("forget") || found.as_str().starts_with('忘');
        !forgets || !NO_REQUEST.is_match(&sentence[..found.start()])
    };
    WITHDRAWS.find_iter(sentence).find(is_request)
}

/// Returns the clauses of a sentence beside the one with the match.
pub(super) fn beside(sentence: &str, found: regex::Match<'_>) -> String {
    let clause = clause_around(sentence, found);
    format!("{} {}", &sentence[..clause.start], &sentence[clause.end..])
}

/// Returns the clause of a sentence with the match.
fn clause_around(sentence: &str, found: regex::Match<'_>) -> Range<usize> {
    let marks = [',', '，', ';', '；', ':', '：', '—', '–'];
    let start = sentence[..found.start()].rfind(marks).unwrap_or(0);
    let end = sentence[found.end()..].find(marks).map_or(sentence.len(), |at| found.end() + at);
    start..end
}

/// Requests that name what is to be forgotten: "scratch that" means what was said directly before.
static FORGETS: LazyLock<Regex> =
    LazyLock::new(|| compile(r"^(?:forget|never ?mind|ignore|disregard|delete|drop|erase|忘)"));

/// Words that name nothing to forget.
static NAMES_NOTHING: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:what|that|this|it|i|just|said|told|mentioned|wrote|you|about|the|my|earlier|before|please|all|everything)\b|[说說讲講]|的|话|我|这|那|刚才|之前|前面|上面",
    )
});

/// Returns where a sentence is to be cut between a request to forget what it names and another statement: each counts
/// on its own. A correction that says nothing without the request stays with it.
pub(super) fn withdrawal_boundary(sentence: &str) -> Option<usize> {
    let found = find_withdrawal(sentence).filter(|found| FORGETS.is_match(found.as_str()))?;
    let clause = clause_around(sentence, found);
    let named = format!(
        "{} {}",
        &sentence[clause.start..found.start()],
        &sentence[found.end()..clause.end]
    );
    let (at, rest) = match clause.end < sentence.len() {
        true => (clause.end, &sentence[clause.end..]),
        false => (clause.start, &sentence[..clause.start]),
    };
    let rest = rest.trim_matches(|c: char| !c.is_alphanumeric());
    let is_whole = count_words(rest) > MAX_BARE_WORDS
        && find_withdrawal(rest).is_none()
        && !(fragments::lacks_subject(rest) && fragments::has_value(rest));
    (is_whole && count_words(&NAMES_NOTHING.replace_all(&named, " ")) > 0).then_some(at)
}

/// Counts the words of a text, and its Chinese characters, without those that say nothing.
pub(super) fn count_words(text: &str) -> usize {
    let rest = BARE_FILLERS.replace_all(text, " ");
    let words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| word.chars().filter(|c| is_cjk(*c)).count().max(1)).sum()
}

fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){}", pattern.replace('\'', "['’]"))).expect("valid")
}
