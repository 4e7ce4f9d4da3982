//! Reasons for a missing memory as sentences for the user.

use super::WhyNot;
use crate::types::Tier;

const SAME_QUESTION: &str =
    "it is an earlier question that repeats the query and does not answer it";

const NO_ANSWER: &str = "it is an answer that only says that nothing is known";

const OPEN_QUESTION: &str = "it is a question that carries no fact";

const TOOL_CALL: &str =
    "it is a record of a tool call; prompts tell the experience that came of it instead";

const FILLER: &str = "it is a greeting, thanks or an acknowledgement";

const VISIBLE: &str =
    "the model still sees it, or the turns it was extracted from, in this conversation";

const SETTINGS: &str = "it is good enough, but the settings allow no memories for this message; see [memory] and \
    [memory.inject] in `everlore config show`";

const FIRST_ROUND: &str = "it is good enough, but the settings keep the first message of a conversation free of \
    memories; see [memory.inject] in `everlore config show`";

const HELD_OUT: &str = "it is good enough, but held out of this session at random, to measure whether memories are of \
    use; see [memory.inject] in `everlore config show`";

const NOT_A_CURE: &str = "the message tells a failure, and it does not say how to solve that";

const BETTER_CURES: &str = "the message tells a failure, and better cures of it took its place";

impl WhyNot {
    /// Returns the reason as a sentence; `option` renders the name of an option such as `limit` for the interface in
    /// use.
    pub fn sentence(&self, option: impl Fn(&str) -> String) -> String {
        match self {
            Self::Returned { rank, hit } => {
                format!("it is in the answer: number {rank}, with score {:.2}", hit.score)
            }
            Self::Filter { by, has } => filter_sentence(by, has, option),
            Self::SameQuestion => SAME_QUESTION.to_owned(),
            Self::NoAnswer => NO_ANSWER.to_owned(),
            Self::OpenQuestion => OPEN_QUESTION.to_owned(),
            Self::Filler => FILLER.to_owned(),
            Self::ToolCall => TOOL_CALL.to_owned(),
            Self::Echo { of } => format!("it is a reply that only repeats {of}, which is found"),
            Self::ToldByMemory { memory } => {
                format!("the memory {memory} was drawn from it and tells the same")
            }
            Self::Seen => VISIBLE.to_owned(),
            Self::NoTerm { query_terms, memory_terms } => format!(
                "it has nothing in common with the query: the query was looked up by {}; the memory is found \
                 by {}",
                term_list(query_terms),
                term_list(memory_terms)
            ),
            Self::Rank { rank, limit, lowest, hit } => format!(
                "others are better: it is number {rank} with score {:.2}, and only {limit} are returned, the last \
                 with score {lowest:.2}; ask for more with {} {rank}",
                hit.score,
                option("limit")
            ),
            Self::Floor { floor, hit } => match hit.probability {
                Some(probability) => format!(
                    "others bear on the message more: its probability {probability:.3} is below {floor:.3}"
                ),
                None => format!(
                    "the best hit is far more relevant than this one with {:.2}",
                    hit.factors.relevance
                ),
            },
            Self::Score { min_score, hit } => {
                let name = option("min-score");
                format!("its score {:.2} is below {name} {min_score:.2}", hit.score)
            }
            Self::Gate { confidence, min_confidence, .. } => format!(
                "nothing stored seems to answer the query: confidence {confidence:.2}, at least {min_confidence:.2} is \
                 needed"
            ),
            Self::Told { tier, .. } => format!("it is in the block, {}", tier_phrase(*tier)),
            Self::Budget { budget, tokens, .. } => format!(
                "it is good enough, but does not fit: the block has {tokens} of {budget} tokens, and even one \
                 line of it is too much; raise {}",
                option("budget")
            ),
            Self::Settings { .. } => SETTINGS.to_owned(),
            Self::FirstRound { .. } => FIRST_ROUND.to_owned(),
            Self::HeldOut { .. } => HELD_OUT.to_owned(),
            Self::NotACure => NOT_A_CURE.to_owned(),
            Self::BetterCures => BETTER_CURES.to_owned(),
        }
    }
}

fn tier_phrase(tier: Tier) -> &'static str {
    match tier {
        Tier::L2 => "in full",
        Tier::L1 => "by the passage that answers, or as an overview",
        Tier::L0 => "as one line",
    }
}

fn filter_sentence(by: &str, has: &str, option: impl Fn(&str) -> String) -> String {
    let has = if has.is_empty() { "none" } else { has };
    match by {
        "status" => format!("its status is {has}; ask with {} any to find it", option("status")),
        "since" => format!("it is of {has}, which is before {}", option("since")),
        "until" => format!("it is of {has}, which is not before {}", option("until")),
        "tags" => format!("it lacks a tag that {} asks for; its tags: {has}", option("tag")),
        by => format!("its {by} is {has}, which {} leaves out", option(by)),
    }
}

fn term_list(terms: &[String]) -> String {
    if terms.is_empty() { "no word at all".to_owned() } else { terms.join(", ") }
}
