//! Explanations of recall for people: query intent, confidence, and the parts of each score.

use everlore::{
    Hit, Recall,
    engine::{
        ConfidenceBasis, ConfidenceEstimate, FeatureContribution, IdentityQuestion, Intent,
        MemoryNeed, QueryKind, QueryTerm,
    },
    types::{CheckStatus, MemoryFeedback},
};

use super::check_args::check_status_line;
use crate::messages::translate;
use crate::render::{indent, new_table, pluralize, render_table, sanitize};

/// Renders the intent of a query and the confidence of the answer.
pub(super) fn render_intent(recall: &Recall) -> String {
    let terms: Vec<_> = recall.intent.terms.iter().map(render_term).collect();
    let terms = if terms.is_empty() { "no word".to_owned() } else { terms.join(", ") };
    let reason = recall.without_meaning.as_ref();
    let words_only = reason.map(|reason| format!("by words only: {reason}\n")).unwrap_or_default();
    format!(
        "looked up: {terms}{}{}; {}\n{words_only}{}\n",
        render_domain_terms(&recall.intent),
        render_query_signals(&recall.intent),
        pluralize(recall.candidates, "candidate", "candidates"),
        render_confidence(&recall.judgement)
    )
}

/// Renders the confidence that the best memory answers the query, and its reasons.
pub(super) fn render_confidence(estimate: &ConfidenceEstimate) -> String {
    let confidence = format!("confidence {:.2}", estimate.confidence);
    let reason = match estimate.basis {
        ConfidenceBasis::Nothing => "nothing was found".to_owned(),
        ConfidenceBasis::NoNeed => "the message needs no memory".to_owned(),
        ConfidenceBasis::Profile => "it asks who you are, and that is known".to_owned(),
        ConfidenceBasis::Period => "it asks for a time, and something was said then".to_owned(),
        ConfidenceBasis::Named => "it names the memory".to_owned(),
        ConfidenceBasis::Call | ConfidenceBasis::Evidence => {
            return format!("{confidence}, because\n{}", render_features(estimate));
        }
    };
    format!("{}: {}\n", translate(&confidence), translate(&reason))
}

/// Renders each feature with what it adds to the log odds.
fn render_features(estimate: &ConfidenceEstimate) -> String {
    let features = estimate.parts.iter().map(|part| (describe_feature(part), part.adds));
    let intent = match estimate.intent {
        added if added < 0.0 => Some(("general knowledge answers the question".to_owned(), added)),
        added if added > 0.0 => {
            Some(("it is about your habits, and so is the memory".to_owned(), added))
        }
        _ => None,
    };
    let line = |(words, adds): (String, f64)| format!("   {adds:+.2} {}\n", translate(&words));
    features.chain(intent).filter(|(_, adds)| *adds != 0.0).map(line).collect()
}

fn describe_feature(part: &FeatureContribution) -> String {
    let percent = (part.value * 100.0).round();
    match part.name {
        "usual" => "base rate of all questions".to_owned(),
        "coverage" => format!("the best memory covers {percent}% of the query terms by idf"),
        "matched" => format!("summed idf of the matched terms: {:.2}", part.value),
        "strength" => format!("strength of the match: {percent}% of the maximum"),
        "known" => format!("{percent}% of the query terms occur in any memory"),
        "meaning" => format!("semantic similarity is {:+.2} from the mean", part.value),
        "need" => format!("log odds that such a message calls for memory: {:+.2}", part.value),
        "cosine" => format!("similarity by the encoder is {:+.2} from the usual", part.value),
        "sought" => {
            format!("likeness to what the message calls for is {:+.2} from the usual", part.value)
        }
        "max sim" => format!("match word by word is {:+.2} from the usual", part.value),
        "speaker" => "the named person is the speaker".to_owned(),
        "strangers" => format!("names that occur in no memory: {}", part.value),
        "feedback" => format!("good verdicts on the best memory beyond bad ones: {}", part.value),
        "date" => "it falls into the named time".to_owned(),
        "small" => format!("there are few memories: {percent}% of the way to a single one"),
        "coverage if small" => {
            format!("coverage counts more among few memories: {percent}%")
        }
        other => other.to_owned(),
    }
}

fn render_term(term: &QueryTerm) -> String {
    let synonyms: Vec<_> = term.synonyms.iter().map(|(text, _)| text.as_str()).collect();
    if synonyms.is_empty() {
        return term.text.clone();
    }
    format!("{} (or {})", term.text, synonyms.join(", "))
}

/// Renders the domain terms of the query.
fn render_domain_terms(intent: &Intent) -> String {
    let terms = intent.domain_terms.iter();
    terms.map(|term| format!("; {}: {} × {}", term.domain, term.term, term.weight)).collect()
}

/// Renders the signals of the query beside its terms.
fn render_query_signals(intent: &Intent) -> String {
    let kind = match intent.kind {
        QueryKind::Preference => "; asks for a preference",
        QueryKind::Knowledge => "; asks for a fact",
        QueryKind::Experience => "; asks for an experience",
        QueryKind::Code => "; asks for something technical",
        QueryKind::General => "",
    };
    let signals = [
        (intent.identity != IdentityQuestion::None, "; about the user"),
        (intent.small_talk, "; small talk"),
        (!intent.small_talk && intent.need == MemoryNeed::Nothing, "; needs no memory"),
        (intent.need == MemoryNeed::General, "; a general question"),
        (intent.asks_when, "; asks when"),
        (intent.sessions.is_some(), "; names a session"),
        (intent.asks_period, "; asks for all of that time"),
    ];
    let signals =
        signals.iter().filter(|(set, _)| *set).map(|(_, signal)| translate(signal).into_owned());
    let times = intent
        .times
        .iter()
        .map(|(start, end)| translate(&format!("; from {start} to {end}")).into_owned());
    signals.chain(times).fold(translate(kind).into_owned(), |all, signal| all + &signal)
}

/// Renders the terms of a hit as a table, then its signals and factors.
pub(super) fn render_hit(hit: &Hit) -> String {
    let mut text = String::new();
    if !hit.signals.terms.is_empty() {
        let mut terms = new_table(&["term", "idf", "frequency", "score"]);
        for term in &hit.signals.terms {
            let numbers =
                [term.idf, term.frequency, term.score].map(|number| format!("{number:.2}"));
            terms.add_row(std::iter::once(term.term.clone()).chain(numbers));
        }
        text += &indent(&render_table(terms), 3);
        text.push('\n');
    }
    text + &render_signals(hit) + &render_factors(hit) + &render_check(hit)
}

/// Renders the result of a hit's check; a stale hit is ranked after fresh ones.
fn render_check(hit: &Hit) -> String {
    let Some(check) = &hit.check else { return String::new() };
    let rank = match check.verdict {
        CheckStatus::Stale => "; ranked after memories that hold",
        _ => "",
    };
    format!(
        "   {}: {}{}\n",
        translate("check"),
        sanitize(&check_status_line(check)),
        translate(rank)
    )
}

/// Renders the lexical score and the boosts, added up.
fn render_signals(hit: &Hit) -> String {
    let signals = &hit.signals;
    let boosts = [
        ("semantic", signals.semantic),
        ("speaker", signals.speaker),
        ("when", signals.when),
        ("date", signals.date),
        ("identity", signals.identity),
        ("session", signals.session),
        ("bridge", signals.bridge),
    ];
    // Only a local model reranks.
    let rerank = Some(("words", signals.rerank)).filter(|(_, value)| *value != 0.0);
    let boosts: String = boosts
        .iter()
        .chain(&rerank)
        .map(|(name, value)| format!(" + {} {value:.2}", translate(name)))
        .collect();
    format!(
        "   bm25 {:.2}, coverage {:.2}\n   lexical {:.2}{boosts} = fused {:.2}\n",
        signals.bm25, signals.coverage, signals.lexical, signals.fused
    )
}

/// Renders the factors of the score, multiplied, then mapped to 0–1.
fn render_factors(hit: &Hit) -> String {
    let factors = &hit.factors;
    // Few hits are updates, so a neutral factor is left out.
    let update = if factors.update == 1.0 {
        String::new()
    } else {
        format!(" × update {:.3}", factors.update)
    };
    let feedback = MemoryFeedback::of_memory(&hit.memory).map_or_else(String::new, |it| {
        format!("   feedback {} good, {} bad, in the weight\n", it.good, it.bad)
    });
    let product = factors.relevance
        * factors.recency
        * factors.weight
        * factors.importance
        * factors.kind
        * factors.update;
    format!(
        "   relevance {:.2} × recency {:.3} × weight {:.3} × importance {:.3} × kind {:.2}{update} = {product:.2}\n   \
         score {product:.2} / (1 + {product:.2}) = {:.2}\n{feedback}",
        factors.relevance,
        factors.recency,
        factors.weight,
        factors.importance,
        factors.kind,
        hit.score
    )
}
