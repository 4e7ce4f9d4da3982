//! Every number that made a score, for people.

use everlore::{
    Hit, Recall,
    recall::{Identity, Intent, QueryTerm, intent::Aim},
};

use crate::words::{count, indented, rendered, table};

/// How the query was understood.
pub(super) fn intent(found: &Recall) -> String {
    let terms: Vec<_> = found.intent.terms.iter().map(term).collect();
    let terms = if terms.is_empty() { "no word".to_owned() } else { terms.join(", ") };
    format!(
        "looked up: {terms}{}; {}; confidence {:.2}\n\n",
        signs(&found.intent),
        count(found.candidates, "candidate", "candidates"),
        found.confidence
    )
}

fn term(term: &QueryTerm) -> String {
    let others: Vec<_> = term.synonyms.iter().map(|(text, _)| text.as_str()).collect();
    if others.is_empty() {
        return term.text.clone();
    }
    format!("{} (or {})", term.text, others.join(", "))
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
    text + &signals(hit) + &factors(hit)
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
