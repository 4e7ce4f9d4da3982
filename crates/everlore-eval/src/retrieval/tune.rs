//! Searches ranking constants and scores them on conversations that did not take part in the search.
//!
//! Every configuration runs all queries once; folds only select which conversations or sets count. So one search serves
//! all folds, and configurations that folds share run once.

use std::collections::HashMap;

use anyhow::{Context, Result};
use everlore::config::RecallConfig;

use super::{
    Retriever,
    data::DataSet,
    engine::EngineRetriever,
    metrics::{EXCLUDED_CATEGORY, score_answer},
    run::{ScopeQueries, groups, search},
};
use crate::random::SplitMix64;

/// Ranking constant with the values to try.
pub(crate) struct Knob {
    pub(crate) name: &'static str,
    pub(crate) values: &'static [f64],
    of: fn(&mut RecallConfig) -> &mut f64,
}

/// Constants to search. Field weights are left out: no set that we have names or describes its memories.
#[rustfmt::skip]
pub(crate) const KNOBS: &[Knob] = &[
    Knob { name: "semantic", values: &[0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0], of: |c| &mut c.semantic },
    Knob { name: "k1", values: &[0.6, 0.75, 0.9, 1.2, 1.6], of: |c| &mut c.k1 },
    Knob { name: "b", values: &[0.3, 0.4, 0.5, 0.6, 0.75], of: |c| &mut c.b },
    Knob { name: "neighbour", values: &[0.4, 0.5, 0.6, 0.7, 0.8], of: |c| &mut c.neighbour },
    Knob { name: "later_neighbour", values: &[0.1, 0.2, 0.3, 0.4, 0.5], of: |c| &mut c.later_neighbour },
    Knob { name: "speaker", values: &[0.0, 0.5, 1.0, 2.0], of: |c| &mut c.speaker },
    Knob { name: "speaker_boost", values: &[1.5, 2.0, 2.5, 3.0], of: |c| &mut c.speaker_boost },
    Knob { name: "when_boost", values: &[0.0, 0.4, 0.7, 1.0, 1.5], of: |c| &mut c.when_boost },
    Knob { name: "date_boost", values: &[1.0, 2.0, 2.5, 3.0, 4.0], of: |c| &mut c.date_boost },
    Knob { name: "bridge", values: &[0.0, 1.0, 2.0, 3.0, 4.0], of: |c| &mut c.bridge },
    Knob { name: "session_prior", values: &[0.0, 0.1, 0.2, 0.3], of: |c| &mut c.session_prior },
    Knob { name: "synonym", values: &[0.0, 0.2, 0.3, 0.4, 0.5], of: |c| &mut c.synonym },
    Knob { name: "single_character", values: &[0.1, 0.3, 0.5, 0.7], of: |c| &mut c.single_character },
    Knob { name: "recency_share", values: &[0.0, 0.1, 0.2, 0.3], of: |c| &mut c.recency_share },
    Knob { name: "recency_half_life_days", values: &[60.0, 180.0, 400.0], of: |c| &mut c.recency_half_life_days },
];

/// Returns the constant of this name.
pub(crate) fn find_knob(name: &str) -> Result<&'static Knob> {
    let names = || KNOBS.iter().map(|knob| knob.name).collect::<Vec<_>>().join(", ");
    KNOBS
        .iter()
        .find(|knob| knob.name == name)
        .with_context(|| format!("`{name}` is none of the constants that are tuned: {}", names()))
}

impl Knob {
    pub(crate) fn get(&self, config: &RecallConfig) -> f64 {
        *(self.of)(&mut config.clone())
    }

    pub(crate) fn set(&self, config: &RecallConfig, value: f64) -> RecallConfig {
        let mut config = config.clone();
        *(self.of)(&mut config) = value;
        config
    }
}

/// Data set with engines that hold its rows.
pub(crate) struct TuneSet<'a> {
    pub(crate) name: String,
    loaded: Vec<(EngineRetriever, Vec<ScopeQueries<'a>>)>,
}

/// Scores of a query.
#[derive(Debug, Clone, Copy)]
struct TuneOutcome {
    set: usize,
    /// Number of the conversation in the set.
    scope: usize,
    recall_10: f64,
    ndcg_10: f64,
}

/// Subset of the queries that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum QuestionSplit {
    /// All queries.
    All,
    /// All conversations of every set but each `of`-th, counted from `fold`.
    AllBut { fold: usize, of: usize },
    /// Each `of`-th conversation of every set, counted from `fold`.
    Only { fold: usize, of: usize },
    /// All sets but one.
    Without(usize),
    /// One set.
    Set(usize),
}

impl QuestionSplit {
    fn contains(self, outcome: &TuneOutcome) -> bool {
        match self {
            Self::All => true,
            Self::AllBut { fold, of } => outcome.scope % of != fold,
            Self::Only { fold, of } => outcome.scope % of == fold,
            Self::Without(set) => outcome.set != set,
            Self::Set(set) => outcome.set == set,
        }
    }
}

/// Means of a set within a split.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct SplitFigures {
    pub(crate) recall_10: f64,
    pub(crate) ndcg_10: f64,
}

impl<'a> TuneSet<'a> {
    /// Loads a set into engines.
    pub(crate) fn new(name: String, set: &'a DataSet) -> Result<Self> {
        let load = |group: Vec<ScopeQueries<'a>>| {
            let mut engine = EngineRetriever::new()?;
            group.iter().try_for_each(|scope| engine.load(&scope.rows))?;
            Ok((engine, group))
        };
        Ok(Self { name, loaded: groups(set).into_iter().map(load).collect::<Result<_>>()? })
    }

    /// Runs all queries that count.
    fn evaluate(&mut self, set: usize, config: &RecallConfig) -> Result<Vec<TuneOutcome>> {
        let (mut outcomes, mut first) = (Vec::new(), 0);
        for (engine, group) in &mut self.loaded {
            engine.configure(|recall| *recall = config.clone());
            for (number, scope) in group.iter().enumerate() {
                for query in
                    scope.queries.iter().filter(|query| query.category != EXCLUDED_CATEGORY)
                {
                    let (answer, _) = search(engine, query, &scope.rows)?;
                    let scores = score_answer(&answer, &query.relevant);
                    let (recall_10, ndcg_10) = (scores.recall_10, scores.ndcg_10);
                    outcomes.push(TuneOutcome { set, scope: first + number, recall_10, ndcg_10 });
                }
            }
            first += group.len();
        }
        Ok(outcomes)
    }
}

/// Search over all sets, with a cache of the outcomes by configuration.
pub(crate) struct ConstantSearch<'a> {
    pub(crate) sets: Vec<TuneSet<'a>>,
    /// Constants to search.
    pub(crate) knobs: Vec<&'static Knob>,
    outcome_cache: HashMap<Vec<u64>, Vec<TuneOutcome>>,
}

impl<'a> ConstantSearch<'a> {
    pub(crate) fn new(sets: Vec<TuneSet<'a>>) -> Self {
        Self { sets, knobs: KNOBS.iter().collect(), outcome_cache: HashMap::new() }
    }

    /// Restricts the search to the constants of these names, if there are any.
    pub(crate) fn restrict_to(&mut self, names: &[String]) -> Result<()> {
        if !names.is_empty() {
            self.knobs = names.iter().map(|name| find_knob(name)).collect::<Result<_>>()?;
        }
        Ok(())
    }

    /// Returns the means of each set, `None` for a set without a query in the split.
    pub(crate) fn figures(
        &mut self,
        config: &RecallConfig,
        split: QuestionSplit,
    ) -> Result<Vec<Option<SplitFigures>>> {
        let sets = self.sets.len();
        let outcomes = self.outcomes(config)?;
        let of_set = |set: usize| {
            let counted =
                || outcomes.iter().filter(|outcome| outcome.set == set && split.contains(outcome));
            let n = counted().count() as f64;
            let mean = |measure: fn(&TuneOutcome) -> f64| counted().map(measure).sum::<f64>() / n;
            (n > 0.0).then(|| SplitFigures {
                recall_10: mean(|outcome| outcome.recall_10),
                ndcg_10: mean(|outcome| outcome.ndcg_10),
            })
        };
        Ok((0..sets).map(of_set).collect())
    }

    fn objective(&mut self, config: &RecallConfig, split: QuestionSplit) -> Result<f64> {
        Ok(worth(&self.figures(config, split)?))
    }

    /// Finds the best constants for a split: starts from the best of `begin` and `tries` random configurations, then
    /// changes one constant at a time while that helps.
    pub(crate) fn best(
        &mut self,
        begin: &RecallConfig,
        split: QuestionSplit,
        tries: u64,
    ) -> Result<RecallConfig> {
        let mut best = (self.objective(begin, split)?, begin.clone());
        for number in 0..tries {
            let config = random_config(&self.knobs, begin, number);
            let worth = self.objective(&config, split)?;
            if worth > best.0 {
                best = (worth, config);
            }
        }
        loop {
            let before = best.0;
            for knob in self.knobs.clone() {
                for value in knob.values {
                    let config = knob.set(&best.1, *value);
                    let worth = self.objective(&config, split)?;
                    if worth > best.0 {
                        best = (worth, config);
                    }
                }
            }
            // An improvement below a hundredth of a point does not count.
            if best.0 < before + 1e-4 {
                return Ok(best.1);
            }
        }
    }

    fn outcomes(&mut self, config: &RecallConfig) -> Result<&[TuneOutcome]> {
        let key: Vec<u64> = KNOBS.iter().map(|knob| knob.get(config).to_bits()).collect();
        if !self.outcome_cache.contains_key(&key) {
            let outcomes = evaluate_all(&mut self.sets, config)?;
            self.outcome_cache.insert(key.clone(), outcomes);
        }
        Ok(&self.outcome_cache[&key])
    }
}

/// Returns the objective: the mean of recall@10 and ndcg@10 over the sets, each set with the same weight.
pub(crate) fn worth(figures: &[Option<SplitFigures>]) -> f64 {
    let of = |figures: &SplitFigures| (figures.recall_10 + figures.ndcg_10) / 2.0;
    let sets = figures.iter().flatten();
    sets.clone().map(of).sum::<f64>() / sets.count().max(1) as f64
}

/// Evaluates the sets in parallel.
fn evaluate_all(benches: &mut [TuneSet<'_>], config: &RecallConfig) -> Result<Vec<TuneOutcome>> {
    std::thread::scope(|scope| {
        let spawn = |(set, bench): (usize, _)| {
            let bench: &mut TuneSet<'_> = bench;
            scope.spawn(move || bench.evaluate(set, config))
        };
        let threads: Vec<_> = benches.iter_mut().enumerate().map(spawn).collect();
        let mut outcomes = Vec::new();
        for thread in threads {
            outcomes.extend(thread.join().map_err(|_| anyhow::anyhow!("a set failed"))??);
        }
        Ok(outcomes)
    })
}

/// Draws configuration `number`: half of the constants as in `begin`, the others from their values.
fn random_config(knobs: &[&Knob], begin: &RecallConfig, number: u64) -> RecallConfig {
    let mut random = SplitMix64::from_keys(&[number]);
    knobs.iter().fold(begin.clone(), |config, knob| {
        if random.chance(50) { knob.set(&config, random.pick(knob.values)) } else { config }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::data::{BenchQuery, CorpusRow};

    fn set() -> DataSet {
        let row = |scope: &str, id: &str, text: &str| CorpusRow {
            id: format!("{scope}{id}"),
            scope: scope.into(),
            text: text.into(),
            ..CorpusRow::default()
        };
        let query = |scope: &str, text: &str, relevant: &str| BenchQuery {
            scope: scope.into(),
            text: text.into(),
            category: "c".into(),
            relevant: vec![format!("{scope}{relevant}")],
            ..BenchQuery::default()
        };
        DataSet {
            rows: vec![
                row("a", "1", "the kid plays chess"),
                row("a", "2", "we sail on Sundays"),
                row("b", "1", "the kid plays chess"),
                row("b", "2", "we sail on Sundays"),
            ],
            // Only a synonym finds the answer of the second.
            queries: vec![query("a", "who sails?", "2"), query("b", "which child?", "1")],
            noise: vec![],
        }
    }

    #[test]
    fn a_constant_is_judged_by_the_conversations_of_a_part() {
        let set = set();
        let mut search = ConstantSearch::new(vec![TuneSet::new("x".into(), &set).unwrap()]);
        let begin = RecallConfig { synonym: 0.0, semantic: 0.0, ..RecallConfig::default() };
        let worth = |search: &mut ConstantSearch<'_>, config: &RecallConfig| {
            let parts = [
                QuestionSplit::All,
                QuestionSplit::Only { fold: 1, of: 2 },
                QuestionSplit::AllBut { fold: 1, of: 2 },
            ];
            parts.map(|part| search.objective(config, part).unwrap())
        };
        assert_eq!(worth(&mut search, &begin), [0.5, 0.0, 1.0]);
        let with = find_knob("synonym").unwrap().set(&begin, 0.3);
        assert_eq!(worth(&mut search, &with), [1.0, 1.0, 1.0]);
    }

    #[test]
    fn the_search_finds_the_constant_that_helps_and_leaves_the_others() {
        let set = set();
        let mut search = ConstantSearch::new(vec![TuneSet::new("x".into(), &set).unwrap()]);
        let begin = RecallConfig { synonym: 0.0, semantic: 0.0, ..RecallConfig::default() };
        let found = search.best(&begin, QuestionSplit::All, 0).unwrap();
        assert_eq!(search.objective(&found, QuestionSplit::All).unwrap(), 1.0);
        assert_eq!(found.k1, begin.k1);
    }

    #[test]
    fn an_unknown_constant_is_named_with_those_there_are() {
        let error = find_knob("k9").err().unwrap().to_string();
        assert!(error.contains("`k9`") && error.contains("semantic, k1"), "{error}");
    }
}
