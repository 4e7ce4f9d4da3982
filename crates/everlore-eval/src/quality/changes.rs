//! Pairs of statements: is the older one superseded when the newer one is remembered?

use std::{collections::BTreeMap, sync::Arc};

use anyhow::Result;
use everlore::{Engine, RememberRequest, Scope, store::RamStore};
use serde::Serialize;

/// Two statements of one person.
pub(crate) struct ChangePair<'a> {
    /// `replaces`, `stands` or `partly`.
    pub(crate) label: &'a str,
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
}

/// Engine that is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ChangeWay {
    Classifier,
    Rules,
}

/// Pairs of one label.
#[derive(Debug, Default, Serialize)]
pub(crate) struct ChangeFigures {
    pub(crate) pairs: usize,
    /// Pairs whose older statement was superseded.
    pub(crate) superseded: usize,
}

/// Remembers each pair in a home of its own, and counts by label the older statements that were superseded.
pub(crate) fn count_superseded(
    pairs: &[ChangePair<'_>],
    way: ChangeWay,
) -> Result<BTreeMap<String, ChangeFigures>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let builder = Engine::builder(Arc::new(RamStore::default()));
    let engine = match way {
        ChangeWay::Classifier => builder.builtin_encoder().build(),
        ChangeWay::Rules => builder.build(),
    };
    let mut figures: BTreeMap<String, ChangeFigures> = BTreeMap::new();
    for (number, pair) in pairs.iter().enumerate() {
        let scope = Scope::new("eval", &format!("pair-{number}"))?;
        let remember = |text: &str| engine.remember(&scope, RememberRequest::new(text));
        runtime.block_on(remember(pair.old))?;
        let saved = runtime.block_on(remember(pair.new))?;
        let figures = figures.entry(pair.label.to_owned()).or_default();
        figures.pairs += 1;
        figures.superseded += usize::from(!saved.superseded.is_empty());
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classifier_supersedes_what_no_rule_knows_and_leaves_the_rest() {
        let (kids, zh_kids) = ("Grandma picks up the kids on Wednesdays", "我妈每周三来接孩子");
        let pairs = [
            ("replaces", kids, "Grandma hurt her back, so Dad picks up the kids now"),
            ("replaces", zh_kids, "我妈腰扭了，孩子现在都是我爸接"),
            ("stands", kids, "Grandma brought the kids new boots"),
            ("stands", zh_kids, "我妈给孩子买了新书包"),
        ];
        let pairs = pairs.map(|(label, old, new)| ChangePair { label, old, new });
        let by = |way| {
            let figures = count_superseded(&pairs, way).unwrap();
            ["replaces", "stands"].map(|label| figures[label].superseded)
        };
        assert_eq!(by(ChangeWay::Rules)[1], 0);
        assert_eq!(by(ChangeWay::Classifier), [2, 0]);
    }
}
