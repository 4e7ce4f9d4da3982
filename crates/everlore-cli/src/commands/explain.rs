//! Every number that made a score, for people.

use everlore::{
    Hit, Recall,
    recall::{Basis, Identity, Intent, Judgement, Need, Part, QueryTerm, intent::Aim},
    types::Verdict,
};

use super::checks::sentence;
use crate::words::{count, indented, rendered, table, visible};

/// How the query was understood.
pub(super) fn intent(found: &Recall) -> String {
    let terms: Vec<_> = found.intent.terms.iter().map(term).collect();
    let terms = if terms.is_empty() { "no word".to_owned() } else { terms.join(", ") };
    let reason = found.without_meaning.as_ref();
    let words_alone = reason.map(|why| format!("by words alone: {why}\n")).unwrap_or_default();
    format!(
        "looked up: {terms}{}{}; {}\n{words_alone}{}\n",
        trade(&found.intent),
        signs(&found.intent),
        count(found.candidates, "candidate", "candidates"),
        judgement(&found.judgement)
    )
}

/// How sure recall is that the best memory answers, and why.
pub(super) fn judgement(judgement: &Judgement) -> String {
    let sure = format!("confidence {:.2}", judgement.confidence);
    let why = match judgement.basis {
        Basis::Nothing => "nothing was found".to_owned(),
        Basis::NoNeed => "the message needs no memory".to_owned(),
        Basis::Profile => "it asks who you are, and that is known".to_owned(),
        Basis::Period => "it asks for a time, and something was said then".to_owned(),
        Basis::Named => "it names the memory".to_owned(),
        Basis::Evidence => return format!("{sure}, because\n{}", parts(judgement)),
    };
    format!("{sure}: {why}\n")
}

/// Each part of the evidence with what it added to the odds.
fn parts(judgement: &Judgement) -> String {
    let said = judgement.parts.iter().map(|part| (part_words(part), part.adds));
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

fn part_words(part: &Part) -> String {
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

fn term(term: &QueryTerm) -> String {
    let others: Vec<_> = term.synonyms.iter().map(|(text, _)| text.as_str()).collect();
    if others.is_empty() {
        return term.text.clone();
    }
    format!("{} (or {})", term.text, others.join(", "))
}

/// The words of a trade that it has.
fn trade(intent: &Intent) -> String {
    let found = intent.domain_terms.iter();
    found.map(|found| format!("; {}: {} × {}", found.domain, found.term, found.weight)).collect()
}

/// What the query asks for beside its words.
fn signs(intent: &Intent) -> String {
    let aim = match intent.aim {
        Aim::Preference => "; after a preference",
        Aim::Knowledge => "; after a fact",
        Aim::Experience => "; after an experience",
        Aim::Code => "; after something technical",
        Aim::General => "",
    };
    let signs = [
        (intent.identity != Identity::None, "; about the user"),
        (intent.small_talk, "; small talk"),
        (!intent.small_talk && intent.need == Need::Nothing, "; needs no memory"),
        (intent.need == Need::General, "; a general question"),
        (intent.asks_when, "; asks when"),
        (intent.sessions.is_some(), "; names a session"),
        (intent.asks_period, "; asks for all of that time"),
    ];
    let signs = signs.iter().filter(|(shown, _)| *shown).map(|(_, sign)| (*sign).to_owned());
    let times = intent.times.iter().map(|(start, end)| format!("; from {start} to {end}"));
    signs.chain(times).fold(aim.to_owned(), |all, sign| all + &sign)
}

/// The terms of a hit as a table, then the two sums.
pub(super) fn hit(hit: &Hit) -> String {
    let mut text = String::new();
    if !hit.signals.terms.is_empty() {
        let mut terms = table(&["term", "idf", "frequency", "score"]);
        for term in &hit.signals.terms {
            let numbers =
                [term.idf, term.frequency, term.score].map(|number| format!("{number:.2}"));
            terms.add_row(std::iter::once(term.term.clone()).chain(numbers));
        }
        text += &indented(&rendered(terms), 3);
        text.push('\n');
    }
    text + &signals(hit) + &factors(hit) + &verified(hit)
}

/// What its check tells, and what that means for its place.
fn verified(hit: &Hit) -> String {
    let Some(check) = &hit.check else { return String::new() };
    let moved = match check.verdict {
        Verdict::Stale => "; it stands after those that hold",
        _ => "",
    };
    format!("   check: {}{moved}\n", visible(&sentence(check)))
}

/// Lexical and the boosts, added up.
fn signals(hit: &Hit) -> String {
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
fn factors(hit: &Hit) -> String {
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
