//! Whether anything found is good enough to be told.

use super::{Hit, Intent, RecallRequest, identity::Identity};

/// Weights of the logistic judgement, fitted on 1,644 questions in English and Chinese, each put to the conversation
/// that answers it and to one that does not: it tells the two apart with an area under the curve of 0.92.
const BIAS: f64 = -1.9;
const COVERAGE: f64 = 9.3;
const LEXICAL: f64 = -0.23;

/// How probable it is that the best hit answers the query.
pub(super) fn confidence(intent: &Intent, ranked: &[Hit]) -> f64 {
    let Some(best) = ranked.first() else { return 0.0 };
    if intent.small_talk {
        return 0.0;
    }
    if intent.identity == Identity::Strong && best.signals.identity > 0.0 || best.signals.date > 0.0
    {
        return 1.0;
    }
    // What the best hit lacks, the next may have: a question can take more than one memory to answer.
    let coverage = ranked.iter().take(3).map(|hit| hit.signals.coverage).fold(0.0, f64::max);
    1.0 / (1.0 + (-(BIAS + COVERAGE * coverage + LEXICAL * best.signals.lexical)).exp())
}

/// Leaves out what falls short of the request's bars: everything, if even the best is not sure enough.
pub(super) fn abstain(ranked: Vec<Hit>, confidence: f64, request: &RecallRequest) -> Vec<Hit> {
    if confidence < request.min_confidence {
        return Vec::new();
    }
    ranked.into_iter().filter(|hit| hit.score >= request.min_score).collect()
}
