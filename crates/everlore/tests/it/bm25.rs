//! Ranking compared with a naive BM25F computed from the memories themselves, and between stores, whatever segments
//! they hold.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use everlore::{
    Config, Memory, MemoryId, Recall, Scope,
    config::RecallConfig,
    engine::QueryTerm,
    internal::{recall, text::terms::terms},
    store::{RamStore, Store},
    types::Change,
};
use jiff::tz::TimeZone;
use proptest::{
    prelude::*,
    test_runner::{RngSeed, TestRunner},
};

use crate::support::{self, add, days_ago, engine_on, noon, scope, seed, spoken, sqlite, write};

const TEXTS: [&str; 12] = [
    "the staging port is 8443",
    "port port port",
    "likes green tea and 龙井茶",
    "我的设备在C盘",
    "设备 设备 支付",
    "Caroline adopted a kitten",
    "the kids went to the beach yesterday",
    "her child loves the sea",
    "早报 on the train",
    "readFile panics on empty input",
    "the",
    "a long walk along the river with the dog and the port in sight and much more to say about tea",
];

const QUERIES: [&str; 9] = [
    "staging port",
    "设备",
    "茶",
    "Where did the kids go?",
    "Caroline kitten tea",
    "when did we walk yesterday",
    "readFile port 支付 早报",
    "who am I",
    "上次聊天说了什么设备",
];

#[derive(Debug, Clone)]
enum Bm25Step {
    /// One batch of this many memories, in a session or none.
    Add {
        count: usize,
        session: Option<u8>,
        text: usize,
    },
    Edit {
        which: usize,
        text: usize,
    },
    Delete {
        which: usize,
    },
}

fn steps() -> impl Strategy<Value = Vec<Bm25Step>> {
    let text = 0..TEXTS.len();
    // Writes of 64 and more are sealed at once, smaller ones wait in the tail.
    let count = prop_oneof![4 => 1..6usize, 1 => 60..80usize];
    let step = prop_oneof![
        5 => (count, proptest::option::weighted(0.7, 0..3u8), text.clone())
            .prop_map(|(count, session, text)| Bm25Step::Add { count, session, text }),
        2 => (any::<usize>(), text).prop_map(|(which, text)| Bm25Step::Edit { which, text }),
        2 => any::<usize>().prop_map(|which| Bm25Step::Delete { which }),
    ];
    proptest::collection::vec(step, 1..25)
}

/// Memories of a scope in the order of writing, with gaps for deleted ones.
#[derive(Default)]
struct MemoryRows {
    owner: Scope,
    rows: Vec<Option<Memory>>,
}

impl MemoryRows {
    fn changes(&mut self, step: &Bm25Step) -> Vec<Change> {
        match step {
            Bm25Step::Add { count, session, text } => {
                (0..*count).map(|index| self.add(*session, text + index)).collect()
            }
            Bm25Step::Edit { which, text } => {
                let text = TEXTS[*text];
                let edit = |memory: &mut Memory| {
                    memory.content = text.into();
                    memory.version += 1;
                    Change::Update(Box::new(memory.clone()))
                };
                self.pick(*which).and_then(Option::as_mut).map(edit).into_iter().collect()
            }
            Bm25Step::Delete { which } => {
                let deleted = self.pick(*which).and_then(Option::take);
                deleted.map(|memory| Change::Delete(memory.id)).into_iter().collect()
            }
        }
    }

    fn add(&mut self, session: Option<u8>, text: usize) -> Change {
        let (number, text) = (self.rows.len() as u32, TEXTS[text % TEXTS.len()]);
        let mut memory = match session {
            None => support::memory(&self.owner, number, text),
            Some(session) => spoken(&self.owner, number, &format!("s{session}"), text),
        };
        match session {
            None => {
                // A name that begins the text is not counted twice; another is.
                memory.name = if number % 2 == 0 { text.into() } else { "kitten port".into() };
                memory.description = "about 设备".into();
                memory.tags = vec!["tea".into(), "旅行".into()];
            }
            Some(_) => {
                memory.source.speaker = Some(["Caroline", "小明"][number as usize % 2].into());
            }
        }
        memory.at = days_ago(i64::from(number % 3));
        self.rows.push(Some(memory.clone()));
        add(&memory)
    }

    fn pick(&mut self, which: usize) -> Option<&mut Option<Memory>> {
        let count = self.rows.len();
        (count > 0).then(|| &mut self.rows[which % count])
    }
}

/// Textbook BM25F, one document and one term at a time.
struct NaiveBm25<'a> {
    live: Vec<&'a Memory>,
    /// Neighbouring turns of each memory, with their share.
    around: HashMap<MemoryId, Vec<(&'a Memory, f64)>>,
    config: RecallConfig,
}

impl<'a> NaiveBm25<'a> {
    fn new(rows: &'a [Option<Memory>], sessions: &[Option<String>]) -> Self {
        let config = RecallConfig::default();
        let mut by_session: BTreeMap<&String, Vec<Option<&Memory>>> = BTreeMap::new();
        for (row, session) in rows.iter().zip(sessions) {
            if let Some(session) = session {
                by_session.entry(session).or_default().push(row.as_ref());
            }
        }
        let mut around: HashMap<_, Vec<_>> = HashMap::new();
        let span = config.neighbour_span as isize;
        for turns in by_session.values() {
            for (position, turn) in turns.iter().enumerate() {
                let Some(turn) = turn else { continue };
                for step in (-span..=span).filter(|step| *step != 0) {
                    let other = position.checked_add_signed(step).and_then(|at| turns.get(at));
                    if let Some(Some(other)) = other {
                        let worth =
                            if step < 0 { config.neighbour } else { config.later_neighbour };
                        let share = worth / step.unsigned_abs() as f64;
                        around.entry(turn.id).or_default().push((*other, share));
                    }
                }
            }
        }
        Self { live: rows.iter().flatten().collect(), around, config }
    }

    fn own(&self, memory: &Memory, mut measure: impl FnMut(&str) -> usize) -> f64 {
        let config = &self.config;
        let name = if memory.content.starts_with(&memory.name) { "" } else { &memory.name };
        let tags: usize = memory.tags.iter().map(|tag| measure(tag)).sum();
        let speaker = memory.source.speaker.as_deref().unwrap_or_default();
        config.content * measure(&memory.content) as f64
            + config.name * measure(name) as f64
            + config.description * measure(&memory.description) as f64
            + config.tags * tags as f64
            + config.speaker * measure(speaker) as f64
    }

    /// Sums a memory's own fields by weight and its neighbours' content by share.
    fn total(&self, memory: &Memory, mut measure: impl FnMut(&str) -> usize) -> f64 {
        let own = self.own(memory, &mut measure);
        let around = self.around.get(&memory.id).into_iter().flatten();
        own + around.map(|(other, share)| share * measure(&other.content) as f64).sum::<f64>()
    }

    fn frequency(&self, memory: &Memory, term: &str) -> f64 {
        self.total(memory, |text| terms(text).iter().filter(|found| *found == term).count())
    }

    fn scores(&self, query: &[QueryTerm]) -> HashMap<MemoryId, f64> {
        let lengths: HashMap<_, _> =
            self.live.iter().map(|memory| (memory.id, self.length(memory))).collect();
        let mean = lengths.values().sum::<f64>() / self.live.len().max(1) as f64;
        let mut scores = HashMap::new();
        for term in query {
            let variants: Vec<_> = std::iter::once((term.text.as_str(), 1.0))
                .chain(term.synonyms.iter().map(|(text, worth)| (text.as_str(), *worth)))
                .collect();
            let idf = self.idf(&variants);
            for memory in &self.live {
                let tf: f64 =
                    variants.iter().map(|(text, worth)| worth * self.frequency(memory, text)).sum();
                let (k1, b) = (self.config.k1, self.config.b);
                let relative = if mean > 0.0 { lengths[&memory.id] / mean } else { 1.0 };
                if tf > 0.0 {
                    *scores.entry(memory.id).or_insert(0.0) +=
                        term.weight * idf * tf * (k1 + 1.0) / (tf + k1 * (1.0 - b + b * relative));
                }
            }
        }
        scores
    }

    fn length(&self, memory: &Memory) -> f64 {
        self.total(memory, |text| terms(text).len())
    }

    /// Returns the idf by the memories that the term reaches or, where it reaches none, the first synonym that reaches
    /// any.
    fn idf(&self, variants: &[(&str, f64)]) -> f64 {
        let mut reached = BTreeSet::new();
        for (text, _) in variants {
            let has = |memory: &&&Memory| self.frequency(memory, text) > 0.0;
            reached.extend(self.live.iter().filter(has).map(|memory| memory.id));
            if !reached.is_empty() {
                break;
            }
        }
        let (docs, df) = (self.live.len() as f64, reached.len() as f64);
        (1.0 + (docs - df + 0.5) / (df + 0.5)).ln()
    }
}

async fn recall_all(store: &Arc<dyn Store>, owner: &Scope, query: &str) -> Recall {
    let mut config = Config::default();
    config.memory.long_term.max_return = 1_000;
    let engine = engine_on(Arc::clone(store)).rebuild().config(config).build();
    let mut request = engine.recall_request(owner, query);
    request.limit = 1_000;
    engine.recall(&request).await.unwrap()
}

async fn compare(steps: &[Bm25Step]) {
    let (sqlite, ram): (Arc<dyn Store>, Arc<dyn Store>) =
        (sqlite().await, Arc::new(RamStore::default()));
    let mut written = MemoryRows { owner: scope("ann"), rows: Vec::new() };
    let mut sessions = Vec::new();
    for step in steps {
        let changes = written.changes(step);
        for change in &changes {
            if let Change::Add(memory) = change {
                sessions.push(memory.source.session.clone());
            }
        }
        sqlite.apply(write(&written.owner, changes.clone())).await.unwrap();
        ram.apply(write(&written.owner, changes)).await.unwrap();
    }
    let naive = NaiveBm25::new(&written.rows, &sessions);
    for query in QUERIES {
        let (found, model) = (
            recall_all(&sqlite, &written.owner, query).await,
            recall_all(&ram, &written.owner, query).await,
        );
        assert_same(&found, &model, query);
        let now = noon().to_zoned(TimeZone::UTC);
        let expected = naive.scores(&recall::analyze(query, &RecallConfig::default(), &now).terms);
        for hit in &found.hits {
            let expected = expected.get(&hit.memory.id).copied().unwrap_or(0.0);
            let bm25 = hit.signals.bm25;
            assert!((bm25 - expected).abs() < 1e-4, "{query}: {bm25} is not {expected}");
        }
        let returned: BTreeSet<_> = found.hits.iter().map(|hit| hit.memory.id).collect();
        assert!(expected.keys().all(|id| returned.contains(id)), "{query} misses a memory");
    }
    sqlite.admin().close().await;
}

/// Asserts the same hits with the same numbers; sums in another order may differ in the last digits.
fn assert_same(found: &Recall, model: &Recall, query: &str) {
    assert_eq!(found.candidates, model.candidates, "{query}");
    let scores = |recall: &Recall| -> BTreeMap<MemoryId, (Memory, f64, f64)> {
        let score = |hit: &everlore::Hit| {
            (hit.memory.id, (hit.memory.clone(), hit.score, hit.signals.fused))
        };
        recall.hits.iter().map(score).collect()
    };
    let (found, model) = (scores(found), scores(model));
    assert!(found.keys().eq(model.keys()), "{query}");
    for ((memory, score, fused), (other, expected, sum)) in found.values().zip(model.values()) {
        assert_eq!(memory, other);
        assert!((score - expected).abs() < 1e-4, "{query}: {score} is not {expected}");
        assert!((fused - sum).abs() < 1e-3, "{query}: {fused} is not {sum}");
    }
}

#[test]
fn ranking_is_exact_and_the_same_on_every_store() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    // Each case opens a file; a dozen of them with nine queries each meet every border of blocks.
    let config = ProptestConfig {
        cases: 12,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed()),
        ..ProptestConfig::default()
    };
    let outcome = TestRunner::new(config).run(&steps(), |steps| {
        runtime.block_on(compare(&steps));
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

/// Seventy turns are sealed into a block, two more wait in the tail: the last sealed one still has its neighbours.
#[tokio::test]
async fn neighbours_are_found_across_the_border_of_a_block() {
    let owner = scope("ann");
    let store: Arc<dyn Store> = sqlite().await;
    let turns: Vec<_> = (0..70).map(|n| spoken(&owner, n, "monday", "nothing here")).collect();
    store.apply(write(&owner, turns.iter().map(add).collect())).await.unwrap();
    store.apply(write(&owner, vec![add(&spoken(&owner, 70, "monday", "kitten"))])).await.unwrap();
    let found = recall_all(&store, &owner, "kitten").await;
    let frequency = |number: usize| {
        let hit = found.hits.iter().find(|hit| hit.memory.id == crate::support::id(number as u32));
        hit.map(|hit| hit.signals.terms[0].frequency as f32)
    };
    let near = RecallConfig::default().later_neighbour as f32;
    let expected = [Some(1.0), Some(near), Some(near / 2.0), None];
    assert_eq!([70, 69, 68, 67].map(frequency), expected);
}

/// Stores a sealed block of seventy turns and one more, the only one of yesterday and of its session, which is deleted.
async fn with_a_deleted_turn(store: &Arc<dyn Store>, owner: &Scope, last_session: &str) {
    let mut turns: Vec<_> =
        (0..70).map(|n| spoken(owner, n, "monday", TEXTS[n as usize % 3])).collect();
    turns.iter_mut().for_each(|turn| turn.at = days_ago(9));
    let mut last = spoken(owner, 70, last_session, "nothing");
    last.at = days_ago(1);
    turns.push(last.clone());
    store.apply(write(owner, turns.iter().map(add).collect())).await.unwrap();
    store.apply(write(owner, vec![Change::Delete(last.id)])).await.unwrap();
}

#[tokio::test]
async fn a_deleted_turn_has_no_say_in_what_is_found() {
    let owner = scope("ann");
    for last_session in ["monday", "tuesday"] {
        let stores: [Arc<dyn Store>; 2] = [sqlite().await, Arc::new(RamStore::default())];
        for store in &stores {
            with_a_deleted_turn(store, &owner, last_session).await;
        }
        for query in ["tea yesterday", "tea in our last session", "上次聊天说的龙井茶"] {
            let [found, model] = [&stores[0], &stores[1]];
            let (found, model) =
                (recall_all(found, &owner, query).await, recall_all(model, &owner, query).await);
            assert_same(&found, &model, query);
        }
    }
}
