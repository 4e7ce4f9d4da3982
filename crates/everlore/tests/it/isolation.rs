//! Scope isolation: no scope can see, count or change anything of another. Random scopes, ids, uris and operations on
//! one file, compared with a plain model of each scope.

use std::collections::{BTreeMap, BTreeSet};

use everlore::{
    Engine, Error, MemoryEdit, MemoryId, Scope, Status,
    engine::{ImportOptions, UndoTarget},
    store::JournalQuery,
};
use proptest::{
    prelude::*,
    test_runner::{RngSeed, TestRunner},
};

use crate::support::{all, engine, id, noon, say, seed, turn};

/// Names that are prefixes of each other, look alike, or mean something to a pattern or to SQL.
const NAMES: [&str; 14] =
    ["a", "ab", "a b", "a-b", "A", "а", "ａ", "é", "e\u{301}", "%", "_", "'; --", "王", "\u{200b}"];

const TEXTS: [&str; 6] = [
    "I like tea",
    "我喜欢龙井茶",
    "the staging port is 8443",
    "my kitten is grey",
    "likes tea",
    "设备在C盘",
];

#[derive(Debug, Clone)]
enum ScopeStep {
    Remember(usize),
    Observe(usize),
    Edit(usize),
    Archive,
    Restore,
    Supersede,
    Delete,
    Forget,
    Undo(u64),
    Import(usize),
}

/// Operation: index of the acting scope, index of the target among all ids ever assigned, and step.
type ScopeAct = (usize, usize, ScopeStep);

fn acts() -> impl Strategy<Value = (Vec<Scope>, Vec<ScopeAct>)> {
    let name = || prop::sample::select(NAMES.to_vec());
    let scope = (name(), name()).prop_map(|(agent, user)| Scope::new(agent, user).unwrap());
    let text = 0..TEXTS.len();
    let step = prop_oneof![
        5 => text.clone().prop_map(ScopeStep::Remember),
        3 => text.clone().prop_map(ScopeStep::Observe),
        3 => text.clone().prop_map(ScopeStep::Edit),
        1 => Just(ScopeStep::Archive),
        1 => Just(ScopeStep::Restore),
        1 => Just(ScopeStep::Supersede),
        2 => Just(ScopeStep::Delete),
        1 => Just(ScopeStep::Forget),
        1 => (1..20u64).prop_map(ScopeStep::Undo),
        1 => (0..5usize).prop_map(ScopeStep::Import),
    ];
    let scopes = prop::collection::btree_set(scope, 3..6);
    (
        scopes.prop_map(|scopes| scopes.into_iter().collect()),
        prop::collection::vec((0..5usize, any::<usize>(), step), 1..40),
    )
}

/// Expected content of a scope.
#[derive(Debug, Clone, Default, PartialEq)]
struct ScopeModel {
    memories: BTreeMap<MemoryId, (String, Status)>,
    /// Ids that the scope ever had.
    ids: BTreeSet<MemoryId>,
}

struct IsolationWorld {
    engine: Engine,
    scopes: Vec<Scope>,
    models: Vec<ScopeModel>,
    /// Ids of all scopes, which any actor may guess.
    ids: Vec<MemoryId>,
}

impl IsolationWorld {
    async fn new(scopes: Vec<Scope>) -> Self {
        let models = vec![ScopeModel::default(); scopes.len()];
        Self { engine: engine().await, scopes, models, ids: vec![id(1)] }
    }

    async fn act(&mut self, (actor, target, step): &ScopeAct) {
        let actor = actor % self.scopes.len();
        let (scope, target) = (self.scopes[actor].clone(), self.ids[target % self.ids.len()]);
        let engine = self.engine.clone();
        let outcome = match step {
            ScopeStep::Remember(text) => engine.remember(&scope, say(TEXTS[*text])).await.map(drop),
            ScopeStep::Observe(text) => {
                engine.observe(&scope, vec![turn("s", "Ann", TEXTS[*text])]).await.map(drop)
            }
            ScopeStep::Edit(text) => {
                let edit =
                    MemoryEdit { content: Some(TEXTS[*text].into()), ..MemoryEdit::default() };
                engine.edit(&scope, target, &edit).await.map(drop)
            }
            ScopeStep::Archive => engine.archive(&scope, target).await.map(drop),
            ScopeStep::Restore => engine.restore(&scope, target).await.map(drop),
            ScopeStep::Supersede => engine.supersede(&scope, self.ids[0], target).await.map(drop),
            ScopeStep::Delete => engine.delete(&scope, target).await.map(drop),
            ScopeStep::Forget => engine.forget(&scope, target).await.map(drop),
            ScopeStep::Undo(seq) => engine.undo(&scope, &UndoTarget::Change(*seq)).await.map(drop),
            ScopeStep::Import(from) => self.import(*from, &scope).await,
        };
        self.check_step(actor, target, step, outcome.err()).await;
    }

    /// Copies memories from one scope to another, which is allowed as the caller names both; the copies belong to `to`.
    async fn import(&self, from: usize, to: &Scope) -> everlore::Result<()> {
        let (mut file, from) = (Vec::new(), &self.scopes[from % self.scopes.len()]);
        self.engine.export(from, true, &mut file, &mut |_| ()).await?;
        let options = ImportOptions { keep_going: true, dry_run: false, keep_secrets: false };
        self.engine.import(to, &file[..], options, &mut |_| ()).await.map(drop)
    }

    /// Checks that a guessed id of another scope is not found, and that the other scopes are unchanged.
    async fn check_step(
        &mut self,
        actor: usize,
        target: MemoryId,
        step: &ScopeStep,
        error: Option<Error>,
    ) {
        let about_target = matches!(
            step,
            ScopeStep::Edit(_)
                | ScopeStep::Archive
                | ScopeStep::Restore
                | ScopeStep::Delete
                | ScopeStep::Forget
        );
        let model = &self.models[actor];
        let is_own = match step {
            // A deleted memory can still be erased.
            ScopeStep::Forget => model.ids.contains(&target),
            _ => model.memories.contains_key(&target),
        };
        if about_target && !is_own {
            assert!(matches!(error, Some(Error::NotFound { .. })), "{step:?} gave {error:?}");
        }
        for (index, scope) in self.scopes.clone().iter().enumerate() {
            let now = self.memories(scope).await;
            if index == actor {
                self.record(index, now, step).await;
            } else {
                assert_eq!(now, self.models[index].memories, "{step:?} changed another scope");
            }
        }
    }

    /// Records the actor's memories, with those that an import added and deleted at once.
    async fn record(
        &mut self,
        actor: usize,
        now: BTreeMap<MemoryId, (String, Status)>,
        step: &ScopeStep,
    ) {
        let mut fresh: BTreeSet<_> = now.keys().copied().collect();
        if let ScopeStep::Import(_) = step {
            let query = JournalQuery::default();
            let journal = self.engine.history(&self.scopes[actor], &query).await.unwrap();
            fresh.extend(journal.iter().map(|entry| entry.id));
        }
        let known: BTreeSet<_> = self.ids.iter().copied().collect();
        self.ids.extend(fresh.difference(&known));
        self.models[actor].ids.extend(fresh);
        self.models[actor].memories = now;
    }

    async fn memories(&self, scope: &Scope) -> BTreeMap<MemoryId, (String, Status)> {
        let memories = all(&self.engine, scope).await;
        assert!(memories.iter().all(|memory| memory.scope == *scope));
        let entry = |memory: everlore::Memory| (memory.id, (memory.content, memory.status));
        memories.into_iter().map(entry).collect()
    }

    /// Checks that everything readable in a scope is its own.
    async fn check(&self, index: usize) {
        let (engine, scope, model) = (&self.engine, &self.scopes[index], &self.models[index]);
        let own = |id: &MemoryId| model.memories.contains_key(id);
        let foreign: Vec<_> = self.ids.iter().filter(|id| !own(id)).copied().collect();
        for query in ["tea port kitten", "茶 设备", "who am I", "what did we say today"] {
            let mut request = engine.recall_request(scope, query);
            request.limit = 1_000;
            request.filter.statuses = Status::ALL.to_vec();
            let recall = engine.recall(&request).await.unwrap();
            assert!(recall.hits.iter().all(|hit| own(&hit.memory.id)), "{query}");
            let past = engine.recall_as_of(&request, noon()).await.unwrap();
            assert!(past.hits.iter().all(|hit| model.ids.contains(&hit.memory.id)), "{query}");
            for id in &foreign {
                assert_eq!(engine.why_not(&request, *id).await.unwrap_err().code(), "not_found");
            }
        }
        for id in &foreign {
            assert_eq!(engine.get(scope, *id).await.unwrap_err().code(), "not_found");
            assert_eq!(
                engine.resolve(scope, &id.to_string()).await.unwrap_err().code(),
                "not_found"
            );
        }
        let counts = engine.count(scope).await.unwrap();
        let total: usize = counts.memories.iter().map(|(_, _, count)| count).sum();
        assert_eq!(total, model.memories.len());
        let journal = engine.history(scope, &JournalQuery::default()).await.unwrap();
        assert!(journal.iter().all(|entry| model.ids.contains(&entry.id)));
        let seqs: Vec<_> = journal.iter().rev().map(|entry| entry.seq).collect();
        let expected: Vec<_> = (1..=counts.changes as u64).collect();
        assert_eq!(seqs, expected, "sequence numbers reveal nothing of other scopes");
        assert_eq!(engine.admin().check_index(scope).await.unwrap(), Vec::<String>::new());
    }

    /// Checks that a uri leads to the scope's own memory: scopes of one agent share uris.
    async fn check_uris(&self) {
        for (scope, model) in self.scopes.iter().zip(&self.models) {
            for memory in all(&self.engine, scope).await {
                let found = self.engine.resolve(scope, &memory.uri).await.unwrap();
                assert!(found == memory.id && model.memories.contains_key(&found));
            }
        }
    }
}

#[test]
fn scopes_know_nothing_of_each_other_whatever_is_done() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    // Each case opens a file and reads every scope after every step.
    let config = ProptestConfig {
        cases: 24,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed()),
        ..ProptestConfig::default()
    };
    let outcome = TestRunner::new(config).run(&acts(), |(scopes, acts)| {
        runtime.block_on(async {
            let mut world = IsolationWorld::new(scopes).await;
            for act in &acts {
                world.act(act).await;
            }
            for index in 0..world.scopes.len() {
                world.check(index).await;
            }
            world.check_uris().await;
            world.engine.admin().close().await;
        });
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}
