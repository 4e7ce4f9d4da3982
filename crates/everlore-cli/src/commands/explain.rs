//! Every number that made a score, for people.

use everlore::{
    Hit, Recall,
    recall::{
        ConfidenceBasis, ConfidenceEstimate, FeatureContribution, IdentityQuestion, Intent,
        MemoryNeed, QueryTerm, query_kind::QueryKind,
    },
    types::CheckStatus,
};

use super::check_args::verdict_line;
use crate::render::{indent, new_table, pluralize, render_table, sanitize};

/// How the query was understood.
pub(super) fn render_intent(found: &Recall) -> String {
    let terms: Vec<_> = found.intent.terms.iter().map(render_term).collect();
    let terms = if terms.is_empty() { "no word".to_owned() } else { terms.join(", ") };
    let reason = found.without_meaning.as_ref();
    let words_alone = reason.map(|why| format!("by words alone: {why}\n")).unwrap_or_default();
    format!(
        "looked up: {terms}{}{}; {}\n{words_alone}{}\n",
        render_domain_terms(&found.intent),
        render_query_signals(&found.intent),
        pluralize(found.candidates, "candidate", "candidates"),
        render_confidence(&found.judgement)
    )
}

/// How sure recall is that the best memory answers, and why.
pub(super) fn render_confidence(judgement: &ConfidenceEstimate) -> String {
    let sure = format!("confidence {:.2}", judgement.confidence);
    let why = match judgement.basis {
        ConfidenceBasis::Nothing => "nothing was found".to_owned(),
        ConfidenceBasis::NoNeed => "the message needs no memory".to_owned(),
        ConfidenceBasis::Profile => "it asks who you are, and that is known".to_owned(),
        ConfidenceBasis::Period => "it asks for a time, and something was said then".to_owned(),
        ConfidenceBasis::Named => "it names the memory".to_owned(),
        ConfidenceBasis::Evidence => {
            return format!("{sure}, because\n{}", render_features(judgement));
        }
    };
    format!("{sure}: {why}\n")
}

/// Each part of the evidence with what it added to the odds.
fn render_features(judgement: &ConfidenceEstimate) -> String {
    let said = judgement.parts.iter().map(|part| (describe_feature(part), part.adds));
    let intent = match judgement.intent {
        added if added < 0.0 => Some(("the world answers such a question".to_owned(), added)),
        added if added > 0.0 => {
            Some(("it touches on your ways, and this is about you".to_owned(), added))
        }
        _ => None,
    };
    let line = |(words, adds): (String, f64)| format!("   {adds:+.2} {words}\n");
    said.chain(intent).filter(|(_, adds)| *adds != 0.0).map(line).collect()
}

fn describe_feature(part: &FeatureContribution) -> String {
    let percent = (part.value * 100.0).round();
    match part.name {
        "usual" => "where every question begins".to_owned(),
        "coverage" => format!("the best memory has {percent}% of what the words are worth"),
        "matched" => format!("how rare the words that it has are together: {:.2}", part.value),
        "strength" => format!("how strongly they match: {percent}% of what they could"),
        "known" => format!("{percent}% of the words were ever said here"),
        "meaning" => format!("its meaning is {:+.2} from what is usual", part.value),
        "speaker" => "the one who is named speaks here".to_owned(),
        "strangers" => format!("names that were never said here: {}", part.value),
        "date" => "it was said in the time that is named".to_owned(),
        "small" => format!("there are few memories: {percent}% of the way to one alone"),
        "coverage if small" => {
            format!("so what the best one has of the words says more: {percent}%")
        }
        other => other.to_owned(),
    }
}

fn render_term(term: &QueryTerm) -> String {
    let others: Vec<_> = term.synonyms.iter().map(|(text, _)| text.as_str()).collect();
    if others.is_empty() {
        return term.text.clone();
    }
    format!("{} (or {})", term.text, others.join(", "))
}

/// The words of a trade that it has.
fn render_domain_terms(intent: &Intent) -> String {
    let found = intent.domain_terms.iter();
    found.map(|found| format!("; {}: {} × {}", found.domain, found.term, found.weight)).collect()
}

/// What the query asks for beside its words.
fn render_query_signals(intent: &Intent) -> String {
    let aim = match intent.aim {
        QueryKind::Preference => "; after a preference",
        QueryKind::Knowledge => "; after a fact",
        QueryKind::Experience => "; after an experience",
        QueryKind::Code => "; after something technical",
        QueryKind::General => "",
    };
    let signs = [
        (intent.identity != IdentityQuestion::None, "; about the user"),
        (intent.small_talk, "; small talk"),
        (!intent.small_talk && intent.need == MemoryNeed::Nothing, "; needs no memory"),
        (intent.need == MemoryNeed::General, "; a general question"),
        (intent.asks_when, "; asks when"),
        (intent.sessions.is_some(), "; names a session"),
        (intent.asks_period, "; asks for all of that time"),
    ];
    let signs = signs.iter().filter(|(shown, _)| *shown).map(|(_, sign)| (*sign).to_owned());
    let times = intent.times.iter().map(|(start, end)| format!("; from {start} to {end}"));
    signs.chain(times).fold(aim.to_owned(), |all, sign| all + &sign)
}

/// The terms of a hit as a table, then the two sums.
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

/// What its check tells, and what that means for its place.
fn render_check(hit: &Hit) -> String {
    let Some(check) = &hit.check else { return String::new() };
    let moved = match check.verdict {
        CheckStatus::Stale => "; it stands after those that hold",
        _ => "",
    };
    format!("   check: {}{moved}\n", sanitize(&verdict_line(check)))
}

/// Lexical and the boosts, added up.
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
    // Only a local model compares word by word.
    let rerank = Some(("words", signals.rerank)).filter(|(_, value)| *value != 0.0);
    let boosts: String =
        boosts.iter().chain(&rerank).map(|(name, value)| format!(" + {name} {value:.2}")).collect();
    format!(
        "   bm25 {:.2}, coverage {:.2}\n   lexical {:.2}{boosts} = fused {:.2}\n",
        signals.bm25, signals.coverage, signals.lexical, signals.fused
    )
}

/// Relevance and what moves it, multiplied, then brought between 0 and 1.
fn render_factors(hit: &Hit) -> String {
    let factors = &hit.factors;
    // Few hits are updates; the others need not tell that they are none.
    let update = if factors.update == 1.0 {
        String::new()
    } else {
        format!(" × update {:.3}", factors.update)
    };
    let product = factors.relevance
        * factors.recency
        * factors.weight
        * factors.importance
        * factors.kind
        * factors.update;
    format!(
        "   relevance {:.2} × recency {:.3} × weight {:.3} × importance {:.3} × kind {:.2}{update} = {product:.2}\n   \
         score {product:.2} / (1 + {product:.2}) = {:.2}\n",
        factors.relevance,
        factors.recency,
        factors.weight,
        factors.importance,
        factors.kind,
        hit.score
    )
}
