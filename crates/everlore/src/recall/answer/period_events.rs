//! Events of a period: memories of the time that a question names, if its words alone find none of them.
//!
//! 去年国庆我们去哪了 shares no word with "the train to Guilin left at six", but it can only mean what was said then.

use super::confidence::ConfidenceBasis;
use crate::{
    recall::{Hit, Recall, RecallRequest, rank::RankedHits},
    types::Timestamp,
};

/// Returns the hits of the period, in order of time, if the query asks what happened then.
pub(crate) fn events_of_period(ranked: &RankedHits<'_>) -> Vec<Hit> {
    let intent = ranked.fusion.intent;
    let is_bounded =
        |time: &(Timestamp, Timestamp)| time.0 > Timestamp::MIN && time.1 < Timestamp::MAX;
    if !intent.asks_events || intent.asks_period || !intent.times.iter().all(is_bounded) {
        return Vec::new();
    }
    let mut hits: Vec<Hit> =
        ranked.hits.iter().filter(|hit| hit.signals.date > 0.0).cloned().collect();
    hits.sort_by_key(|hit| (hit.memory.at, hit.address));
    hits
}

/// Answers with the events of the period if recall abstained.
pub(crate) fn add_events(answer: Recall, mut events: Vec<Hit>, request: &RecallRequest) -> Recall {
    if !answer.hits.is_empty() || events.is_empty() {
        return answer;
    }
    events.retain(|hit| hit.score >= request.min_score);
    events.truncate(request.limit);
    let mut judgement = answer.judgement;
    (judgement.basis, judgement.confidence) = (ConfidenceBasis::Period, 1.0);
    Recall {
        abstained: events.is_empty(),
        hits: events,
        confidence: judgement.confidence,
        judgement,
        ..answer
    }
}
